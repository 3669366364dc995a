"""The suites on an Onyx switch: they pass with their controls red, and a fault is not green."""

import json
from pathlib import Path

import pytest
from platform_runs import expect_loss_is_red, expect_passed, run

TESTBED, SWITCH = "onyx-cx5", "SN2700"
THEIRS = (
    "enable",
    "configure terminal",
    "interface ethernet 1/1-1/3 qos trust both",
    *(f"interface ethernet 1/1-1/3 qos map dscp {n} to switch-priority 4" for n in range(24, 32)),
    *(f"interface ethernet 1/1-1/3 qos map dscp {n} to switch-priority 3" for n in range(32, 40)),
    "interface ethernet 1/1 traffic-class 0 congestion-control red minimum-relative 50 "
    "maximum-relative 90",
)


@pytest.mark.parametrize(
    ("suites", "gbit", "by_hand"),
    [
        ("s1 or classification", 1, ("show clock",)),
        ("s1 or owes", 1, THEIRS),
        ("s2 or s3", 5, ("show clock",)),
    ],
    ids=["as installed", "configured by somebody", "ecn"],
)
def test_suites_pass_with_their_controls_red_and_all_is_put_back(
    suites: str, gbit: int, by_hand: tuple[str, ...], tmp_path: Path
) -> None:
    typed = json.dumps({"kind": "somebody", "device": SWITCH, "command": "\n".join(by_hand)})
    told = run(TESTBED, tmp_path, suites, "--fault", typed, gbit=gbit)
    expect_passed(told, tmp_path, SWITCH, suites)


def test_a_queue_of_the_switch_that_loses_packets_is_not_green(tmp_path: Path) -> None:
    expect_loss_is_red(TESTBED, tmp_path, SWITCH, "Eth1/1")
