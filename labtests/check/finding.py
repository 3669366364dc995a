"""What a check says: one line with device, finding and remedy."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

Level = Literal["failure", "warning", "not known", "note", "ok"]
LEVELS: tuple[Level, ...] = ("failure", "warning", "not known", "note", "ok")
"""Worst first. A failure stops a run; what a device does not tell is never taken for good; a note
hinders nothing, also with `--strict`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One line. `port` is "" for a whole device, `remedy` is "" where nothing is to be done."""

    check: str
    level: Level
    device: str
    port: str = ""
    finding: str
    remedy: str = ""

    def plain(self) -> dict[str, str]:
        """As JSON has it."""
        return asdict(self)

    def __str__(self) -> str:
        where = f"{self.device}:{self.port}" if self.port else self.device
        remedy = f"\n  remedy: {self.remedy}" if self.remedy else ""
        return f"{where}: {self.check}: {self.finding}{remedy}"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a check has looked at: a device, or a port of it."""

    check: str
    device: str
    port: str = ""

    def says(self, level: Level, finding: str, remedy: str = "") -> CheckFinding:
        """One line about it."""
        return CheckFinding(
            check=self.check,
            level=level,
            device=self.device,
            port=self.port,
            finding=finding,
            remedy=remedy,
        )

    def ok(self, finding: str) -> CheckFinding:
        """It is as it should be."""
        return self.says("ok", finding)

    def unknown(self, why: str) -> CheckFinding:
        """The device does not tell."""
        return self.says("not known", why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """In place of a fact: why the device does not tell; which one, and what helps, where an answer
    of it was refused."""

    why: str
    device: str = ""
    remedy: str = ""


def judged(
    findings: Iterable[CheckFinding],
    *,
    tolerated: frozenset[str] = frozenset(),
    strict: bool = False,
) -> tuple[CheckFinding, ...]:
    """Worst first, else in the order of the checks. Failures of `tolerated` checks are warnings;
    `strict` makes failures of all warnings, and of what is not known."""
    made = (
        replace(each, level=_judged(each.level, each.check in tolerated, strict))
        for each in findings
    )
    return tuple(sorted(made, key=lambda each: LEVELS.index(each.level)))


def _judged(level: Level, tolerated: bool, strict: bool) -> Level:
    if tolerated:
        return "warning" if level == "failure" else level
    return "failure" if strict and level in ("warning", "not known") else level
