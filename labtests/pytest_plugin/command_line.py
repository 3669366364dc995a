"""What a run was asked for, as its command line says."""

import importlib.util
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from labtests.core.seeds import SEED_UNLESS_ASKED
from labtests.experiment import HARDWARE, SIMULATED, Pace, real_pace
from labtests.lab.lab import Lab
from labtests.profile.reader import Profile
from labtests.pytest_plugin.folder import home
from labtests.pytest_plugin.options import (
    asked_run_directory,
    near,
    option,
    soak_seconds,
    spelled,
    testbed_words,
)

STARTS_WITHIN_S = 120.0  # three tries of servers and clients, and reading all counters
PHASES_AT_MOST = 12


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The options of one run, with what they mean where they are left out."""

    config: pytest.Config
    profile: Profile | None = None  # as which the lab is set before the tests

    @property
    def dry(self) -> bool:
        """Whether the lab is a simulated one."""
        return bool(option(self.config, "dry_run"))

    @property
    def seed(self) -> int:
        """That of a simulated lab."""
        asked = option(self.config, "seed")
        return SEED_UNLESS_ASKED if asked is None else int(asked)

    @property
    def planning(self) -> bool:
        """Whether nothing is to be changed, only said."""
        return bool(option(self.config, "plan"))

    @property
    def faults(self) -> list[str]:
        """What a simulated lab is broken with, as it was spelled."""
        return list(option(self.config, "fault") or ())

    def pace(self, lab: Lab | None) -> Pace:
        """Durations of the phases, as asked or by default for this lab."""
        pace = SIMULATED if self.dry else real_pace(lab)
        if option(self.config, "hardware_pace"):
            pace = HARDWARE
        asked = option(self.config, "lab_seconds")
        return pace if asked is None else pace.lasting(asked)

    def idle_s(self, lab: Lab | None) -> float:
        """So long the check before the first change watches counters of the idle lab."""
        asked = option(self.config, "idle_s")
        if self.planning:
            return 0.0
        return self.pace(lab).quiet_s if asked is None else float(asked)

    def test_limit_s(self, lab: Lab | None) -> float:
        """Wall time in which any test has ended: a dozen phases that wait their longest."""
        soak_s = soak_seconds(self.config) or 0.0
        return PHASES_AT_MOST * (self.pace(lab).phase.most_s + STARTS_WITHIN_S) + soak_s

    @property
    def reports(self) -> Path:
        """Where runs are, unless somebody wants one elsewhere."""
        return home(self.config) / "reports"

    @property
    def kept_in(self) -> Path | None:
        """Where the history is that nobody names; a run that was told where to write has none."""
        return None if asked_run_directory(self.config) is not None else self.reports

    @property
    def typed(self) -> str:
        """As it was typed; it may have secrets."""
        return shlex.join(["pytest", *self.config.invocation_params.args])

    @property
    def whole_folders(self) -> bool:
        """Whether every argument means all suites of a folder."""
        return all(map(self._is_folder, self.config.args))

    def _is_folder(self, word: str) -> bool:
        """With --pyargs, also all suites of a package."""
        if (self.config.invocation_params.dir / word).is_dir():
            return True
        if not self.config.getoption("pyargs", False) or not word.replace(".", "").isidentifier():
            return False
        try:
            found = importlib.util.find_spec(word)
        except (ImportError, ValueError):
            return False
        return found is not None and found.submodule_search_locations is not None

    def rerun(self, nodeid: str) -> str:
        """The command line that runs one test again, the same way, from any folder."""
        config, root = self.config, self.config.rootpath
        words = [near(root, Path(sys.executable)), "-m", "pytest", nodeid]
        words += [spelled(config, "testbed"), testbed_words(config)]
        if self.dry:
            words += [spelled(config, "dry-run"), spelled(config, "seed"), str(self.seed)]
        for name in ("lab-seconds", "idle-s"):
            if (seconds := option(config, name.replace("-", "_"))) is not None:
                words += [spelled(config, name), f"{seconds:g}"]
        if soak := option(config, "soak"):
            words += [spelled(config, "soak"), soak]
        if self.profile is not None:
            words += [spelled(config, "profile"), near(root, self.profile.file)]
        flags = ("no-controls", "hardware-pace")
        words += [spelled(config, f) for f in flags if option(config, f.replace("-", "_"))]
        for name in ("tolerate", "fault"):
            words += [
                word
                for each in option(config, name) or ()
                for word in (spelled(config, name), each)
            ]
        return f"cd {shlex.quote(str(root))} && {shlex.join(words)}"
