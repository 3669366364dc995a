"""The suites on a SONiC box: experiments pass with their controls red, and a fault is not green."""

import json
from pathlib import Path

import pytest
from platform_runs import expect_loss_is_red, expect_passed, run

TESTBED, SWITCH = "sonic-cx5", "SN2700"


@pytest.mark.parametrize(
    ("suites", "gbit", "by_hand"),
    [
        ("s1 or classification", 1, "sudo config qos reload"),
        ("owes", 1, "counterpoll queue interval 10000"),  # as a box is installed
        ("s2 or s3", 5, "sudo config interface pfc asymmetric Ethernet0 on"),
        ("thresholds", 10, "true"),  # polled every 60 s, as a box is installed
    ],
)
def test_suites_pass_with_their_controls_red_and_all_is_put_back(
    suites: str, gbit: int, by_hand: str, tmp_path: Path
) -> None:
    typed = json.dumps({"kind": "somebody", "device": SWITCH, "command": by_hand})
    told = run(TESTBED, tmp_path, suites, "--fault", typed, gbit=gbit)
    expect_passed(told, tmp_path, SWITCH, suites)


def test_a_queue_of_the_switch_that_loses_packets_is_not_green(tmp_path: Path) -> None:
    expect_loss_is_red(TESTBED, tmp_path, SWITCH, "Ethernet0")
