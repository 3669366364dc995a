"""Where a testbed file is wrong: places in it, and the list of everything found."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labtests.core.output import excerpt

Path = tuple[str | int, ...]
"""A place in the file's tree: keys and list positions from the top."""

MISTAKES_LIMIT = 1000
"""Mistakes of one file that are listed; nobody reads more, and each costs time to explain."""

HINT_WORDS = 100
"""Known words among which a near one is looked for. A hint is not worth a long search."""

HINT_LISTED = 20
"""Known words that a hint lists when they are too many."""

LONGEST_WORD = 200
"""Characters of a word for which a near one is looked for."""

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_./:@+-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Position:
    """A place in the file's text; both count from 1."""

    line: int
    column: int


START = Position(line=1, column=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlPlace:
    """Where a value stands, and where the key (or list dash) that names it stands."""

    key: Position
    value: Position


@dataclass(slots=True, kw_only=True)
class Mistakes:
    """Everything wrong with one file. One place is reported once: what follows from it is not."""

    file: str
    places: Mapping[Path, YamlPlace] = field(default_factory=dict)
    _found: dict[tuple[Position, str, str], None] = field(default_factory=dict)
    _wrong: set[Path] = field(default_factory=set)

    def add(self, path: Path, problem: str, *, key: bool = False) -> None:
        """Something is wrong with the value at this path, or with its key."""
        self._wrong.add(path)
        place = self.place(path)
        self.add_at(place.key if key else place.value, path, problem)

    def add_at(self, position: Position, path: Path, problem: str) -> None:
        """Something is wrong at a position that is not where the path's value stands."""
        if not self.full:
            self._found[(position, spelled(path), problem)] = None

    @property
    def full(self) -> bool:
        """Whether no more mistakes are listed."""
        return len(self._found) >= MISTAKES_LIMIT

    def place(self, path: Path) -> YamlPlace:
        """Where this path stands; the nearest place above it when the file does not have it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, YamlPlace(key=START, value=START))

    def known_wrong(self, path: Path) -> bool:
        """Whether this place, or one above it, has been reported."""
        return any(path[:end] in self._wrong for end in range(1, len(path) + 1))

    def wrong_below(self, path: Path) -> bool:
        """Whether this place, or one below it, has been reported."""
        return any(wrong[: len(path)] == path for wrong in self._wrong)

    def lines(self) -> tuple[str, ...]:
        """`file:line:column: path: what is wrong`, in the order of the file."""
        found = tuple(
            f"{self.file}:{position.line}:{position.column}: {path}: {problem}"
            for position, path, problem in sorted(self._found)
        )
        more = f"{self.file}:1:1: file: {MISTAKES_LIMIT} mistakes are listed, there may be more"
        return (*found, more) if self.full else found


def spelled(path: Path) -> str:
    """A path as a person writes it: `links[0].between[1]`, `devices.A.ports.eth0`; "file" on top.

    Keys that are not plain names are quoted, so that a hostile one stays on its line.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _PLAIN_KEY.fullmatch(part) else quoted(part)
            text += f".{name}" if text else name
    return text or "file"


def quoted(value: object) -> str:
    """A value from the file, on one line, short, in ASCII."""
    text = json.dumps(value if isinstance(value, str) else str(value))
    return text if len(text) <= 80 else f'{excerpt(text, 76)}..."'


def nearest(wrong: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or all of them when none is near."""
    words = sorted(known)
    if len(words) > HINT_WORDS or len(wrong) > LONGEST_WORD:
        return f"known: {', '.join(words[:HINT_LISTED])}, ..."
    close = difflib.get_close_matches(wrong, words, n=1, cutoff=0.6)
    if not close:
        folded = {word.lower(): word for word in words}
        close = [folded[wrong.lower()]] if wrong.lower() in folded else []
    if close:
        return f"did you mean {close[0]}?"
    return f"known: {', '.join(words)}" if words else "there are none"
