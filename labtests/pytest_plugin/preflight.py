"""The check before the first change of a run: a failure stops it, a warning is said."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labtests.capabilities.device import Versions
from labtests.check import CheckFinding, check, judged
from labtests.core.errors import LabError
from labtests.core.private_files import write_told
from labtests.inventory import Device
from labtests.lab.lab import Lab
from labtests.measure.evidence import Difference

FILE_NAME = "check.json"


class NotFit(LabError):
    """The lab is not fit for a run: every failure, with its remedy."""


@dataclass(slots=True)
class Preflight:
    """What was found; nothing before it was looked for. `noise` goes with all evidence."""

    folder: Path
    found: tuple[CheckFinding, ...] = field(default=())
    noise: tuple[Difference, ...] = field(default=())

    def expect_fit(
        self, lab: Lab, *, idle_s: float, tolerated: frozenset[str], say: Callable[[str], None]
    ) -> None:
        """Look. Raises NotFit with every failure."""
        say(f"check: is the lab fit? Idle counters are watched for {idle_s:g} s")
        done = check(lab, idle_s=idle_s)
        self.found, self.noise = judged(done.findings, tolerated=tolerated), done.noise
        target = self.folder / FILE_NAME
        write_told(target, json.dumps([each.plain() for each in self.found], indent=1))
        if failures := [each for each in self.found if each.level == "failure"]:
            raise NotFit("\n".join(str(each) for each in failures))
        warnings = [each for each in self.found if each.level == "warning"]
        if warnings:
            say(f"check: {len(warnings)} warnings, see {target}")

    def plain(self) -> list[dict[str, Any]]:
        """As run.json has it: everything that is not good."""
        return [each.plain() for each in self.found if each.level != "ok"]


def versions_of(lab: Lab) -> dict[str, dict[str, str]]:
    """What every device runs, asked side by side; "unknown" with the reason where it cannot be
    told: it is good to know, not worth a run."""

    def read(device: Device) -> dict[str, str]:
        part = lab.drivers[device.name].able(Versions)
        if part is None:
            return {}
        try:
            return lab.ask(device.name, part.versions())
        except LabError as error:
            return {"unknown": str(error)}

    return {name: found for name, found in lab.of_each(read).items() if found}
