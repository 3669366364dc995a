"""Where the next run finds journals that were not finished, whatever their output folders.

One small file a run in `unfinished/` of the state folder: LABTESTS_STATE_DIR, else
XDG_STATE_HOME/labtests, else ~/.local/state/labtests. It has the path of the change journal, the
runner and the lab's addresses. It goes when everything has been put back.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, expect_owned, open_private, private_folder
from labtests.core.trusted_files import NotAFile, believed, json_of
from labtests.inventory import Testbed
from labtests.journal.append_only import NotWritten, is_locked, sync_folder
from labtests.journal.changes import Begun, addresses
from labtests.journal.runner import Runner, State, expect_runner, state_of
from labtests.journal.values import NotStorable, pack, unpack

_MOST_BYTES = 2**20  # of an entry of the index
LOOPBACK = ("127.", "localhost:", "[::1]", "::1")


def state_folder() -> Path:
    """Where labtests remembers things between runs."""
    if asked := os.environ.get("LABTESTS_STATE_DIR"):
        return Path(asked)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "labtests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A run that has not (yet) put everything back."""

    file: Path | None  # of the index; None: of a folder that somebody may have handed over
    run: str
    journal: Path
    testbed: str
    addresses: tuple[str, ...]
    simulated: bool
    dry_run: bool
    runner: Runner

    @classmethod
    def of(cls, journal: Path, begun: Begun, *, file: Path | None) -> "Unfinished":
        """By what its journal begins with."""
        return cls(
            file=file,
            run=begun.run,
            journal=journal.resolve(),
            testbed=begun.testbed,
            addresses=tuple(addresses(begun.devices)),
            simulated=begun.backend == "simulated",
            dry_run=begun.dry_run,
            runner=begun.runner,
        )

    @property
    def state(self) -> State:
        """Whether its runner still lives: it holds its journal's lock, or its process is there."""
        return "alive" if is_locked(self.journal) else state_of(self.runner)

    def concerns(self, testbed: Testbed) -> bool:
        """Whether it changed (some of) these boxes. A dry run never did; a simulated lab is known
        by its addresses only, boxes also by the testbed's name."""
        if self.dry_run:
            return False
        common = set(self.addresses) & set(addresses(testbed.devices))
        return bool(common) or (self.testbed == testbed.name and not self.simulated)

    def remove(self) -> None:
        """It is finished. Removing twice is allowed."""
        if self.file is not None:
            self.file.unlink(missing_ok=True)

    @property
    def restore_command(self) -> str:
        """What puts it back."""
        return f"labtests restore {self.run}"


def register(journal: Path, begun: Begun) -> Unfinished:
    """The next run will find it. Raises LabError when the state folder cannot be written."""
    folder = state_folder() / "unfinished"
    file = folder / f"{begun.run}.json"
    entry = Unfinished.of(journal, begun, file=file)
    try:
        private_folder(state_folder())
        private_folder(folder)
        _write_whole(entry, file)
        sync_folder(folder)
    except (OSError, NotWritten, NotPrivate) as error:
        raise LabError(
            f"{folder}: the unfinished changes cannot be recorded for the next run: {error}\n"
            "  remedy: set LABTESTS_STATE_DIR to a folder of yours that lasts"
        ) from error
    return entry


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Nobody else on this machine looks and registers meanwhile. Without a state folder that can
    be written, nothing is held."""
    folder = state_folder()
    try:
        private_folder(folder)
        descriptor = open_private(folder / "lock", os.O_WRONLY | os.O_CREAT)
    except (OSError, NotPrivate):
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def unfinished_runs() -> list[Unfinished]:
    """Every run that is registered, the oldest first. A file that is none of ours is left alone.

    Raises NotPrivate when somebody else could have written there: what is registered is believed,
    and commands are sent to devices because of it."""
    folder = state_folder() / "unfinished"
    expect_owned(state_folder())
    expect_owned(folder)
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LabError(
            f"{folder}: whether an earlier run has left changes cannot be read: {error.strerror}\n"
            "  remedy: make it readable, or set LABTESTS_STATE_DIR to a folder of yours that lasts"
        ) from error
    found = [entry for file in files if (entry := _read(file)) is not None]
    return sorted(found, key=lambda entry: entry.runner.since)


def _expect_sound(**facts: Any) -> Unfinished:
    """Each fact is of its kind. Raises TypeError, ValueError."""
    run = Unfinished(**facts)
    expect_runner(run.runner)
    texts = (run.run, run.testbed, *run.addresses)
    if any(type(text) is not str for text in texts):
        raise TypeError("a fact of another kind")
    return run


def _write_whole(entry: Unfinished, place: Path) -> None:
    """All of it or nothing, also when the machine stops in between. Raises NotWritten, OSError."""
    facts = {name: getattr(entry, name) for name in ("run", "testbed", "simulated", "dry_run")}
    facts |= {"journal": str(entry.journal), "addresses": list(entry.addresses)}
    text = json.dumps(facts | {"runner": pack(entry.runner)}, indent=1)
    if len(text) >= _MOST_BYTES:
        raise NotWritten(f"{len(entry.addresses)} devices are more than an entry holds")
    fresh = place.with_suffix(".new")
    with os.fdopen(open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(place)


def _read(file: Path) -> Unfinished | None:
    try:
        facts: dict[str, Any] = json_of(believed(file, most_bytes=_MOST_BYTES))
        return _expect_sound(
            file=file,
            run=facts["run"],
            journal=Path(facts["journal"]),
            testbed=facts["testbed"],
            addresses=tuple(facts["addresses"]),
            simulated=facts["simulated"],
            dry_run=facts["dry_run"],
            runner=unpack(facts["runner"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, NotStorable, NotAFile):
        return None
