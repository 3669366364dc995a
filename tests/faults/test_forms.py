"""Which faults can be asked for: known before any lab is there, and as the guide lists them."""

from pathlib import Path

import pytest

from labtests.simlab.fault_forms import FORMS, mistake_in, table
from labtests.simlab.faults import KINDS

ROOT = Path(__file__).parents[2]
A, B = "ServerA", "ServerB"
DEVICES = {A: "host", B: "host", "S6550": "switch"}


def test_each_kind_that_is_made_has_a_form_and_none_more() -> None:
    assert sorted(FORMS) == sorted(KINDS)


def test_the_guide_has_every_kind_with_its_keys() -> None:
    guide = (ROOT / "docs" / "simulated-lab.md").read_text(encoding="utf-8")
    assert "\n".join(table()) in guide


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({}, f'"kind" is missing (one of {", ".join(FORMS)})'),
        ({"kind": ["cut"]}, "\"kind\" is ['cut'], which is none of "),
        ({"kind": "cut"}, f'"device" is missing (one of {A}, {B}, S6550)'),
        ({"kind": "cut", "device": "S9"}, "\"device\" is 'S9', which is none of ServerA"),
        ({"kind": "role", "device": A}, "'role' applies to switches only; ServerA is a host"),
        ({"kind": "lossy-cable", "device": A, "port": "e"}, 'needs "per_million" or "frames"'),
        (
            {"kind": "lossy-cable", "device": A, "port": "e", "frames": 1, "share": 0.1},
            "'lossy-cable' has no key \"share\"; its keys: port, per_million, frames, counted",
        ),
        ({"kind": "heal", "device": A, "port": "e"}, 'no key "port"; its keys: none'),
        ({"kind": "clock", "device": A, "seconds": "5"}, "\"seconds\" is a number, not '5'"),
        ({"kind": "clock", "device": A, "seconds": True}, '"seconds" is a number, not True'),
        ({"kind": "lie", "device": A, "after_s": "1"}, "\"after_s\" is a number, not '1'"),
        ({"kind": "lie", "device": A, "at": 1}, '"at" is the beginning of a line of progress'),
    ],
)
def test_what_is_wrong_with_a_fault_is_said(fault: dict, words: str) -> None:
    assert words in mistake_in(fault, DEVICES)
