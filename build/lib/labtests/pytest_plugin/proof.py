"""The proof that a run left the lab as it found it: its state before, and after the last undo."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.lab.lab import Lab
from labtests.recovery.snapshot import Snapshot, SnapshotDifference, compare, take, write
from labtests.recovery.snapshot.files import AFTER, BEFORE


@dataclass(slots=True)
class Proof:
    """Empty differences prove something only when `because` is empty too."""

    folder: Path
    before: Snapshot | None = None
    differences: tuple[SnapshotDifference, ...] | None = None
    because: str = "no snapshot: the lab was never opened"

    def begin(self, lab: Lab) -> None:
        """The lab as it is found, before the first change. Raises LabError."""
        self.because = "the run ended before the lab could be read again"
        self.before = take(lab)
        write(self.before, self.folder / BEFORE)

    def end(self, lab: Lab) -> None:
        """The lab as it is left, after the last undo. Never raises a LabError."""
        if self.before is None or self.differences is not None:
            return
        try:
            after = take(lab)
            self.differences = compare(self.before, after)
            self.because = ""
            write(after, self.folder / AFTER)
        except LabError as error:
            self.because = str(error)

    @property
    def red(self) -> bool:
        """Whether it was begun and did not come out as it has to."""
        return self.before is not None and self.differences != ()

    @property
    def unknown(self) -> bool:
        """Whether it is red because the lab, or a part of it, could not be read at the end."""
        return self.red and (self.differences is None or any(d.unread for d in self.differences))

    @property
    def problem(self) -> str:
        """Why it is red; "" when it is not."""
        if not self.red:
            return ""
        if self.differences is None:
            return f"cannot tell whether the lab was restored: {self.because}"
        names = ", ".join(f"{d.device}:{d.port} {d.setting}" for d in self.differences[:5])
        more = f" and {len(self.differences) - 5} more" if len(self.differences) > 5 else ""
        return (
            f"the lab is not as it was found: {names}{more}\n"
            f"  remedy: labtests restore {self.folder / BEFORE}"
        )

    def plain(self) -> dict[str, Any]:
        """As run.json has it."""
        told = None if self.differences is None else [d.plain() for d in self.differences]
        return {
            "before": BEFORE if self.before is not None else "",
            "after": AFTER if told is not None else "",
            "differences": told,
            "because": self.because,
        }
