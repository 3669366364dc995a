"""The suites on a Nexus: the experiments pass with their controls red, and a fault is not green."""

import json
from pathlib import Path

import pytest
from platform_runs import expect_loss_is_red, expect_passed, run

TESTBED, SWITCH = "nexus-cx5", "N9K"
DISCARDS = {
    "kind": "nic-discards",
    "device": "ServerC",
    "port": "enp59s0f0",
    "per_million": 50_000,
    "counted": "rx_discards_phy",
}


@pytest.mark.parametrize(
    ("suites", "gbit"),
    [("s1 or classification or owes", 1), ("s2 or s3", 5), ("watchdog or pause_timeout", 1)],
)
def test_suites_pass_with_their_controls_red_and_all_is_put_back(
    suites: str, gbit: int, tmp_path: Path
) -> None:
    told = run(TESTBED, tmp_path, suites, gbit=gbit)
    expect_passed(told, tmp_path, SWITCH, suites)


def test_packets_that_the_receiver_s_nic_discards_are_not_green(tmp_path: Path) -> None:
    (test,) = run(TESTBED, tmp_path, "s1", "--fault", json.dumps(DISCARDS))["tests"]
    assert test["outcome"] == "fail"
    assert any("ServerC enp59s0f0" in each["because"] for each in test["verdicts"])


def test_a_queue_of_the_switch_that_loses_packets_is_not_green(tmp_path: Path) -> None:
    expect_loss_is_red(TESTBED, tmp_path, SWITCH, "Ethernet1/13")
