"""Command line, environment and markers."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from labtests.check.command import expect_checks
from labtests.core.errors import LabError
from labtests.core.seeds import SEED_AT_MOST
from labtests.core.shipped import shipped
from labtests.inventory import Readable, chosen, is_path, located, to_dial
from labtests.inventory.finding import names_in
from labtests.profile.reader import Profile
from labtests.profile.reader import load as load_profile
from labtests.recovery.snapshot.session import expect_dry

MARKERS = (
    "requires(*settings, hosts=(), switches=()): capabilities that some device of the testbed "
    "must have, "
    "or every host of the roles, or every switch they are plugged into, by the name of what they "
    "read (pfc, trust, ecn, reaction_point, queue_counters, pfc_counters, nic_counters, ...); "
    "otherwise the test is skipped and the reason says what is missing",
    "covers(*cases): cases of a list that the test covers, by their numbers; it changes nothing, "
    "and docs/coverage.md is made of it",
)


LAB_SECONDS_AT_LEAST, LAB_SECONDS_AT_MOST = 5, 3600
"""Shorter phases have no report row of every sender alone and of all together."""

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
SOAK_AT_LEAST_S, SOAK_AT_MOST_S = 10, 7 * 86400
"""Shorter ones have too few parts to compare."""

WAIT_AT_MOST_MINUTES = 7 * 24 * 60
MOST_PORT = 65535

_LISTING = (
    "help",
    "version",
    "markers",
    "showfixtures",
    "show_fixtures_per_test",
    "cacheshow",
    "collectonly",
    "setupplan",
)


_OPTIONS = {
    "--testbed --inventory FILE": "testbed file, or the name of one in testbeds/ "
    "[LABTESTS_TESTBED]",
    "--dry-run": "run against simulated devices made from the testbed file; no box is touched",
    "--plan": "print, per device, the commands a run would use to change it; change nothing",
    "--no-controls": "leave out the phases that drop on purpose; drop counters are then unproven, "
    "so lossless verdicts are inconclusive",
    "--profile PROFILE": "configure the lab by this profile before the tests, and put it back at "
    "the end: a file, or the name of one in profiles/ (docs/profiles.md)",
    "--recover": "first undo changes left on this lab by a crashed run",
    "--wait-for-lease MINUTES": "wait this long for the lease when somebody else has the lab "
    "(default: 0)",
    "--under-lock": "work under the lock that you have taken by `labtests lock`",
    "--tolerate CHECK": "a failure of this pre-flight check only warns (docs/check.md); may be "
    "repeated",
    "--fault JSON": "with --dry-run: inject this fault into the simulated lab "
    "(docs/simulated-lab.md)",
    "--run-dir DIR": "run folder (default: reports/<testbed>/<time>) [LABTESTS_RUN_DIR]",
    "--seed N": "seed of a simulated lab, 0 or more (default: 1; dry run only)",
    "--lab-seconds S": "duration of each phase with staggered senders (docs/pace.md; default: 20 "
    "on hardware and 5 in a dry run)",
    "--soak TIME": "run the suites that take hours, too, so long: 8h, 30m, 90s (default: they are "
    "skipped)",
    "--hardware-pace": "take the durations of a lab whose switches refresh their counters every "
    "few seconds, whatever this lab is (default on such hardware; docs/pace.md)",
    "--stream-influx FILE": "add what switches stream to this file in InfluxDB's line protocol, "
    "while it comes (docs/telemetry.md)",
    "--stream-metrics N": "answer Prometheus at this port of 127.0.0.1 with what switches stream",
    "--idle-s S": "how long the pre-flight check watches counters of the idle lab (default: 5 on "
    "hardware, 0.5 in a dry run; 0: not at all)",
}
"""Each option and its help text, with the environment variable; without a value it is a flag."""

_VALUES: Mapping[str, Mapping[str, Any]] = {
    "": {"action": "store_true"},
    "FILE": {"default": None},
    "PROFILE": {"default": None},
    "DIR": {"default": None},
    "CHECK": {"action": "append", "default": []},
    "JSON": {"action": "append", "default": []},
    "N": {"type": int, "default": None},
    "S": {"type": float, "default": None},
    "TIME": {"default": None},
    "MINUTES": {"type": float, "default": 0.0},
}


@dataclass(frozen=True)
class TakenNames:
    """Options that would be ours if they were not somebody else's here. Known to pytest as a plugin
    without hooks."""

    names: tuple[str, ...]


_TAKEN = "labtests-taken-names"


def add_options(parser: pytest.Parser, plugins: pytest.PytestPluginManager) -> None:
    """Every option of ours, each under its name and as --labtests-NAME. A name that somebody else
    has (a conftest.py, another plugin) stays theirs."""
    usages = [_Usage.of(text, words) for text, words in _OPTIONS.items()]
    taken = [name for usage in usages for name in usage.names if _is_taken(parser, name)]
    plugins.register(TakenNames(tuple(taken)), _TAKEN)
    theirs = f"; {', '.join(taken)} are somebody else's here" if taken else ""
    group = parser.getgroup("labtests", f"labtests: a lossless-Ethernet lab{theirs}")
    for usage in usages:
        names = [name for name in usage.names if name not in taken]
        named = {"metavar": usage.value} if usage.value else {}
        group.addoption(
            *names, usage.own, dest=_dest(usage.own), help=usage.words,
            **named, **_VALUES[usage.value],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Usage:
    """An option: its names, the word for its value, its help text."""

    names: tuple[str, ...]
    value: str
    words: str

    @classmethod
    def of(cls, text: str, words: str) -> "_Usage":
        parts = text.split()
        names = tuple(part for part in parts if part.startswith("--"))
        return cls(names, "".join(parts[len(names) :]), words)

    @property
    def own(self) -> str:
        """The name that nobody else has."""
        return f"--labtests-{self.names[0].removeprefix('--')}"


def _is_taken(parser: pytest.Parser, name: str) -> bool:
    try:
        _, unknown = parser.parse_known_and_unknown_args([f"{name}=1"])
    except pytest.UsageError:  # it takes no value, or another one
        return True
    return not unknown


def _dest(own: str) -> str:
    return own.removeprefix("--").replace("-", "_")


def option(config: pytest.Config, name: str) -> Any:
    """What was said for an option of ours, by the name that it has after --, with _ for -."""
    return config.getoption(f"labtests_{name}")


def spelled(config: pytest.Config, name: str) -> str:
    """An option of ours as one types it here, by the name that it has after -- elsewhere."""
    taken = config.pluginmanager.get_plugin(_TAKEN)
    theirs = isinstance(taken, TakenNames) and f"--{name}" in taken.names
    return f"--labtests-{name}" if theirs else f"--{name}"


def testbed_words(config: pytest.Config) -> str:
    """The testbed as one names it in pytest's rootdir."""
    file = asked_testbed(config)
    assert file is not None
    if not is_path(asked := _testbed_text(config)) and file != Path(asked):
        return asked
    return near(config.rootpath, file)


def near(root: Path, path: Path) -> str:
    """A path as one writes it in a folder: relative where it is in there or beside."""
    path = Path(os.path.normpath(path.absolute()))
    beside = path.is_relative_to(root) or (path.is_relative_to(root.parent) and _is_own(root))
    return os.path.relpath(path, root) if beside else str(path)


def _is_own(root: Path) -> bool:
    """Whether what is beside a folder belongs to it: not in the root of the file system."""
    return root.parent != root.parent.parent


def only_lists(config: pytest.Config) -> bool:
    """Whether pytest was asked to show something, and no test runs: that leaves no run folder."""
    return any(config.getoption(name, None) for name in _LISTING)


def asked_profile(config: pytest.Config) -> Profile | None:
    """The profile of --profile. Raises InventoryError with every mistake of it, NotPrivate."""
    asked = option(config, "profile")
    if asked is None:
        return None
    meant = located if option(config, "dry_run") else chosen
    return load_profile(meant(asked, "profiles"))


def expect_possible(config: pytest.Config) -> None:
    """Raise UsageError for values that no run can have."""
    if not 0 <= option(config, "wait_for_lease") <= WAIT_AT_MOST_MINUTES:
        raise pytest.UsageError(f"--wait-for-lease: give 0 to {WAIT_AT_MOST_MINUTES} minutes")
    seconds = option(config, "lab_seconds")
    if seconds is not None and not LAB_SECONDS_AT_LEAST <= seconds <= LAB_SECONDS_AT_MOST:
        raise pytest.UsageError(
            f"--lab-seconds {seconds:g}: give {LAB_SECONDS_AT_LEAST} to {LAB_SECONDS_AT_MOST}; "
            "every sender needs some seconds alone and together with the others"
        )
    soak_seconds(config)
    if not 0 <= (option(config, "idle_s") or 0) <= LAB_SECONDS_AT_MOST:
        raise pytest.UsageError(f"--idle-s: give 0 to {LAB_SECONDS_AT_MOST} seconds")
    port = option(config, "stream_metrics")
    if port is not None and not 1 <= port <= MOST_PORT:
        raise pytest.UsageError(f"--stream-metrics {port}: give a port, 1 to {MOST_PORT}")
    seed = option(config, "seed")
    if seed is not None and not 0 <= seed <= SEED_AT_MOST:
        raise pytest.UsageError(f"--seed {seed}: give 0 to {SEED_AT_MOST}")
    try:
        expect_dry(option(config, "dry_run"), faults=option(config, "fault"), seed=seed)
        expect_checks(option(config, "tolerate"))
    except LabError as error:
        raise pytest.UsageError(str(error)) from None
    if config.getoption("numprocesses", None):
        raise pytest.UsageError("a lab takes one test at a time: leave out -n")


def soak_seconds(config: pytest.Config) -> float | None:
    """How long suites that take hours are to take; None: they are not asked for. Raises
    UsageError."""
    asked = option(config, "soak")
    if asked is None:
        return None
    match = re.fullmatch(r"([0-9]{1,6})([smhd])", asked)
    seconds = int(match[1]) * _UNITS_S[match[2]] if match else 0
    if not SOAK_AT_LEAST_S <= seconds <= SOAK_AT_MOST_S:
        raise pytest.UsageError(f"--soak {asked}: give 10s to 7d, such as 90s, 30m or 8h")
    return float(seconds)


def asked_testbed(config: pytest.Config) -> Path | None:
    """The testbed file that was asked for; a bare name means testbeds/<name>.yaml, of pytest's
    rootdir or one that came with labtests."""
    if not (asked := _testbed_text(config)):
        return None
    path = Path(asked)
    named = [folder / f"{asked}.yaml" for folder in _folders(config)]
    return next((file for file in (path, *named) if file.is_file()), path)


def _folders(config: pytest.Config) -> tuple[Path, Path]:
    return config.rootpath / "testbeds", shipped("testbeds")


def testbed_source(config: pytest.Config, file: Path) -> Readable:
    """Read only where nobody else has put it in the user's way, unless nobody is dialled."""
    if option(config, "dry_run"):
        return Readable(file)
    return to_dial(file, named=is_path(_testbed_text(config)))


def _testbed_text(config: pytest.Config) -> str:
    return option(config, "testbed") or os.environ.get("LABTESTS_TESTBED") or ""


def known_testbeds(config: pytest.Config) -> str:
    """The names that --testbed takes, for a message."""
    return ", ".join(names_in(*_folders(config)))


def asked_run_directory(config: pytest.Config) -> Path | None:
    """Where the run folder was asked to be."""
    asked = option(config, "run_dir") or os.environ.get("LABTESTS_RUN_DIR")
    return Path(asked) if asked else None
