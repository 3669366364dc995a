"""The suites on a Cumulus switch: they pass with their controls red, and a fault is not green."""

import json
from pathlib import Path

import pytest
from platform_runs import expect_loss_is_red, expect_passed, run

TESTBED, SWITCH = "cumulus-cx5", "SN2700"


ROCE = "nv set qos roce && nv config apply -y"
THEIRS = (
    "nv set qos mapping gold trust both",
    "nv set qos mapping gold dscp 24-31 switch-priority 4",
    "nv set qos mapping gold dscp 32-39 switch-priority 3",
    "nv set qos congestion-control gold traffic-class 0-7 ecn enable",
    "nv set interface swp1-3 qos mapping profile gold",
    "nv set interface swp1-3 qos congestion-control profile gold",
    "nv config apply -y",
)


@pytest.mark.parametrize(
    ("suites", "gbit", "by_hand"),
    [
        ("s1 or classification", 1, "true"),
        ("s1 or owes", 1, " && ".join(THEIRS)),
        ("s2 or s3", 5, "true"),
        ("watchdog", 1, "true"),
        ("roce_mode", 5, "true"),
        ("roce_mode", 5, ROCE),
    ],
    ids=["as installed", "with profiles of somebody", "ecn", "watchdog", "roce", "found in roce"],
)
def test_suites_pass_with_their_controls_red_and_all_is_put_back(
    suites: str, gbit: int, by_hand: str, tmp_path: Path
) -> None:
    typed = json.dumps({"kind": "somebody", "device": SWITCH, "command": by_hand})
    told = run(TESTBED, tmp_path, suites, "--fault", typed, gbit=gbit)
    expect_passed(told, tmp_path, SWITCH, suites)


def test_memory_for_one_lossless_priority_skips_what_needs_another(tmp_path: Path) -> None:
    typed = json.dumps({"kind": "somebody", "device": SWITCH, "command": ROCE})
    (test,) = run(TESTBED, tmp_path, "pauses_of_a_lossy", "--fault", typed, gbit=1)["tests"]
    assert test["outcome"] == "skipped"
    assert "no memory is for lossless traffic of priority" in test["error"]


def test_a_queue_of_the_switch_that_loses_packets_is_not_green(tmp_path: Path) -> None:
    expect_loss_is_red(TESTBED, tmp_path, SWITCH, "swp1")
