"""A point where nothing went wrong shows nothing."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tripped import Evidence, not_tripped
from ways import WAYS

from labtests.capabilities.readings import ClockReading

PROOF: dict[str, dict[str, Any]] = {
    "kill -9": {"code": -9},
    "SIGTERM": {"told": ("interrupted: SIGTERM",)},
    "SIGHUP": {"told": ("interrupted: SIGHUP",)},
    "SIGINT": {"told": ("interrupted: SIGINT",)},
    "SIGINT twice": {"told": ("interrupted: SIGINT", "interrupted: SIGINT")},
    "cut": {"suffered": Counter(cut=1)},
    "reboot": {"suffered": Counter(reboot=1)},
    "hang": {"suffered": Counter(hang=1)},
    "lie": {"suffered": Counter(lie=1)},
    "full disk": {"told": ("disk: ENOSPC",)},
    "no growth": {"told": ("disk: EFBIG",)},
    "second run": {"second": "15\nthe lab is in use"},
    "clock": {"told": ("clock: -18000",)},
    "their clock": {"clocks": (0.0, 18000.0)},
    "frozen": {"told": ("stopped: T", "thawed: 1.0", "ended: 2.0")},
}


def why(way: str, line: str = "line: 3", **proof: Any) -> str:
    clocks = [
        SimpleNamespace(
            own_clock=lambda at=at: ClockReading(device_s=at, lab_s=0.0, resolution_s=1.0)
        )
        for at in proof.pop("clocks", (0.0, 1.0))
    ]
    lab: Any = SimpleNamespace(
        able=lambda ability: dict(enumerate(clocks)), ask=lambda device, asked: asked
    )
    facts: dict[str, Any] = {"code": 1, "suffered": Counter(), "second": "", "folder": Path()}
    told = (line, *proof.pop("told", ()))
    return not_tripped(way, Evidence(**{**facts, **proof, "told": told}), lab)


@pytest.mark.parametrize("way", WAYS)
def test_what_did_not_happen_is_not_tripped(way: str) -> None:
    assert "no evidence" in why(way)
    assert why(way, **PROOF[way]) == ""
    assert "never came to that line" in why(way, line="", **PROOF[way])


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("SIGTERM", ("interrupted: SIGINT",)),
        ("SIGINT twice", ("interrupted: SIGINT",)),
        ("full disk", ("disk: ",)),
        ("clock", ("clock: 0",)),
        ("frozen", ("stopped: T", "thawed: 1.0")),
    ],
)
def test_half_of_it_is_not_enough(way: str, told: tuple[str, ...]) -> None:
    assert "no evidence" in why(way, told=told)
