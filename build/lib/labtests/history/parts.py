"""An object of a run.json, read field by field: what is of another kind than it should be is said
with its place, and what is not there is empty (older runs have fewer fields)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labtests.core.output import quoted_excerpt
from labtests.report.runs import UnreadableRun, number

_MOST_INTEGER = 2**31  # of a column of PostgreSQL


@dataclass(frozen=True, slots=True)
class Part:
    """An object, the file that has it, and where it stands there ("" for the whole)."""

    told: dict[str, Any]
    file: Path
    at: str = ""

    def odd(self, name: str, what: str) -> UnreadableRun:
        """The error of a field that is not what it should be."""
        place = f"{self.at}.{name}" if self.at else name
        return UnreadableRun(
            f"{self.file}: {place} is {quoted_excerpt(self.told.get(name))}, {what}"
        )

    def text(self, name: str, *, most: int | None = None) -> str:
        """As any database takes it: no NUL, no half of a pair of surrogates; "" for null."""
        found = self.told.get(name)
        if found is None:
            return ""
        if not isinstance(found, str):
            raise self.odd(name, "not a text")
        if most is not None and len(found) > most:
            raise self.odd(name, f"longer than {most} characters")
        return printed(found)

    def word(self, name: str, among: tuple[str, ...]) -> str:
        """One of these."""
        found = self.told.get(name)
        if found not in among:
            raise self.odd(name, f"not one of {', '.join(among)}")
        return str(found)

    def number(self, name: str) -> int | float | None:
        """None for null, and for what is no finite number."""
        found = self.told.get(name)
        if isinstance(found, bool) or not isinstance(found, int | float | None):
            raise self.odd(name, "not a number")
        return number(found)

    def whole_number(self, name: str) -> int | None:
        """One that a database takes."""
        found = self.number(name)
        if found is None and self.told.get(name) is None:
            return None
        if not isinstance(found, int) or abs(found) >= _MOST_INTEGER:
            raise self.odd(name, f"not a whole number below {_MOST_INTEGER}")
        return found

    def when(self, name: str) -> str:
        """A moment, as ISO 8601 in UTC; "" for none."""
        found = self.text(name, most=64)
        if not found:
            return ""
        try:
            moment = datetime.fromisoformat(found)
            known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return known.astimezone(UTC).isoformat(timespec="seconds")
        except (ValueError, OverflowError):
            raise self.odd(name, "not a moment (ISO 8601)") from None

    def texts(self, name: str) -> list[str]:
        """Those of a list."""
        found = self.told.get(name)
        if not isinstance(found, list | None) or not all(isinstance(t, str) for t in found or ()):
            raise self.odd(name, "not a list of texts")
        return list(map(printed, found or ()))

    def parts(self, name: str) -> Iterator["Part"]:
        """The objects of a list."""
        found = self.told.get(name)
        if not isinstance(found, list | None):
            raise self.odd(name, "not a list")
        for place, each in enumerate(found or ()):
            at = f"{self.at}.{name}[{place}]" if self.at else f"{name}[{place}]"
            if not isinstance(each, dict):
                raise UnreadableRun(f"{self.file}: {at} is {quoted_excerpt(each)}, not an object")
            yield Part(each, self.file, at)


def printed(text: str) -> str:
    """As any database takes it: no NUL, and no half of a pair of surrogates."""
    return text.replace("\x00", "").encode(errors="replace").decode()
