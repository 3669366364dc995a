"""Command line, environment and markers."""

import os
from pathlib import Path

import pytest

LAB_FIXTURES = frozenset({"lab", "incast"})

MARKERS = (
    "requires(*settings): abilities some device of the testbed must have, by the name of what they "
    "read (pfc, trust, ecn, reaction_point, queue_counters, pfc_counters, nic_counters, ...); "
    "otherwise the test is skipped and says what is missing",
)


def add_options(parser: pytest.Parser) -> None:
    """Every option of ours, with its environment variable in the help text."""
    group = parser.getgroup("labtests", "labtests: a lossless-Ethernet lab")
    group.addoption(
        "--testbed",
        "--inventory",
        metavar="FILE",
        default=None,
        help="testbed file, or the name of one in testbeds/ [LABTESTS_TESTBED]",
    )
    group.addoption(
        "--dry-run",
        action="store_true",
        help="run against simulated devices made from the testbed file; no box is touched",
    )
    group.addoption(
        "--plan",
        action="store_true",
        help="print, per device, the commands a run would use to change it; change nothing",
    )
    group.addoption(
        "--no-controls",
        action="store_true",
        help="leave out the phases that drop on purpose; no drop counter is proven alive then, so "
        "lossless verdicts are inconclusive",
    )
    group.addoption(
        "--run-dir",
        metavar="DIR",
        default=None,
        help="run folder (default: reports/<testbed>/<time>) [LABTESTS_RUN_DIR]",
    )
    group.addoption(
        "--seed", metavar="N", type=int, default=1, help="seed of a simulated lab (default: 1)"
    )
    group.addoption(
        "--lab-seconds",
        metavar="S",
        type=float,
        default=None,
        help="duration of each traffic phase (default: 20 on hardware, 5 in a dry run)",
    )


def asked_testbed(config: pytest.Config) -> Path | None:
    """The testbed file that was asked for; a bare name means testbeds/<name>.yaml."""
    asked = config.getoption("testbed") or os.environ.get("LABTESTS_TESTBED")
    if not asked:
        return None
    path = Path(asked)
    named = config.rootpath / "testbeds" / f"{asked}.yaml"
    return named if not path.exists() and named.exists() else path


def asked_run_directory(config: pytest.Config) -> Path | None:
    """Where the run folder was asked to be."""
    asked = config.getoption("run_dir") or os.environ.get("LABTESTS_RUN_DIR")
    return Path(asked) if asked else None
