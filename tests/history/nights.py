"""Run folders of nights that never were, with the numbers that a test wants."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

S1 = "suites/test_s1_pfc.py::test_pfc_holds_a_udp_incast_without_loss"
S2 = "suites/test_s2_dcqcn.py::test_dcqcn_slows_an_rdma_incast_without_loss"
QUESTION = "Were queues 3 and 5 lossless?"
FIGURE = "mean egress use, by bytes"


@dataclass(frozen=True, kw_only=True)
class Night:
    """One run. `left` is the margin of S1's figure; `firmware` what ServerA's NIC has."""

    day: int
    left: float | None = 0.2
    outcome: str = "pass"
    other: str = "pass"
    firmware: str = "16.35.2000"
    dropped: int | None = 0
    backend: str = "hardware"
    testbed: str = "three-servers"
    pfc: str = "on"
    commit: str = "5ca1ab1e"
    more: tuple[tuple[str, Any], ...] = ()


def written(folder: Path, night: Night) -> Path:
    """The folder of the night's run, below this one."""
    name = f"202611{night.day:02}-020000-{night.day:06x}"
    place = folder / name
    place.mkdir(parents=True)
    (place / "run.json").write_text(json.dumps({**run(night), **dict(night.more)}))
    (place / "state-before.json").write_text(json.dumps(_state(night)))
    return place


def run(night: Night) -> dict[str, Any]:
    """Its run.json."""
    red = "pass" not in (night.outcome, night.other) or night.outcome != "pass"
    return {
        "format": "labtests-run/1",
        "lab": {"name": night.testbed, "file": "lab.yaml", "description": "", "devices": []},
        "backend": night.backend,
        "seed": None,
        "faults": [],
        "started": f"2026-11-{night.day:02}T02:00:00+00:00",
        "ended": f"2026-11-{night.day:02}T02:04:00+00:00",
        "command_line": "pytest suites --testbed lab.yaml",
        "labtests_version": "0.1.0",
        "commit_of_suites": night.commit,
        "exit_code": int(red or night.other != "pass"),
        "problem": "",
        "not_run": [],
        "tests": [_s1(night), _test(S2, night.other, [_s2(night)], [])],
    }


def _s2(night: Night) -> dict[str, Any]:
    because = "no packet was lost" if night.other == "pass" else "queue 3 dropped 17 packets"
    return {"question": "Were packets marked, and was nothing lost?", "outcome": night.other,
            "because": because, "phase": "ECN on", "role": "main", "expected": "pass",
            "as_expected": night.other == "pass", "facts": [], "disagreements": []}  # fmt: skip


def _s1(night: Night) -> dict[str, Any]:
    measured = None if night.left is None else 0.75 + night.left
    fact = {"name": FIGURE, "measured": measured, "bound": ">= 0.75", "margin": night.left,
            "unit": "ratio", "note": ""}  # fmt: skip
    main = {"question": QUESTION, "outcome": night.outcome, "because": "", "phase": "PFC on",
            "role": "main", "expected": "pass", "as_expected": True, "facts": [fact],
            "disagreements": []}  # fmt: skip
    counter = {"device": "S6550", "port": "XGE1/0/1", "scope": "queue", "index": 3,
               "counter": "dropped_packets", "increase": night.dropped}  # fmt: skip
    setting = {"device": "S6550", "port": "XGE1/0/1", "ability": "pfc", "value": night.pfc}
    phase = {"name": "PFC on", "kind": "experiment", "counters": [counter], "settings": [setting]}
    return _test(S1, night.outcome, [main, {**main, "role": "control", "facts": [fact]}], [phase])


def _test(name: str, outcome: str, verdicts: list[Any], phases: list[Any]) -> dict[str, Any]:
    return {"id": name, "title": "", "outcome": outcome, "duration_s": 12.5, "error": None,
            "verdicts": verdicts, "phases": phases}  # fmt: skip


def _state(night: Night) -> dict[str, Any]:
    versions = {"value": {"firmware": night.firmware}}
    port = {"settings": {}, "link": {"value": {"up": True}}}
    return {
        "format": "labtests-snapshot/1",
        "testbed": night.testbed,
        "file": "lab.yaml",
        "backend": night.backend,
        "taken": "2026-11-01T02:00:00+00:00",
        "devices": {"ServerA": {"versions": versions, "ports": {"ens1": port}}},
    }


WEEK = (
    Night(day=1, left=0.201),
    Night(day=2, left=0.198),
    Night(day=3, left=0.203),
    Night(day=4, left=0.199),
    Night(day=5, left=0.101, firmware="16.99.1000"),
    Night(day=6, left=0.099, firmware="16.99.1000", other="fail"),
    Night(day=7, left=0.102, firmware="16.99.1000"),
)
"""Seven nights: from the fifth on the firmware is another one and the margin half; the sixth is
red."""
