"""The worked example of the white paper (S19): green as printed there, red where it is broken."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from platform_runs import ROOT, run_pytest

FIRST, LAST = "DeviceA", "DeviceB"
PORT = "Twenty-FiveGigE1/0/"
NIC = "ens1f0np0"


def run(folder: Path, *options: str) -> dict[str, Any]:
    """On links of 1 Gb/s, which make fewer packets."""
    return run_pytest("h3c-dot1p", folder, {25: 1}, ROOT, "suites/test_priority_tags.py", *options)


def fault(**told: object) -> tuple[str, str]:
    return "--fault", json.dumps(told)


def deaf(device: str, number: int) -> tuple[str, str]:
    return fault(kind="ignores-dscp", device=device, port=f"{PORT}{number}")


def settings(phase: dict[str, Any], ability: str) -> dict[tuple[str, str], Any]:
    seen = (each for each in phase["settings"] if each["ability"] == ability)
    return {(each["device"], each["port"]): each["value"] for each in seen}


def grown(phase: dict[str, Any], device: str, counter: str) -> int:
    return sum(
        each["increase"] or 0
        for each in phase["counters"]
        if (each["device"], each["counter"]) == (device, counter)
    )


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    (test,) = run(tmp_path_factory.mktemp("healthy"))["tests"]
    return dict(test)


def test_it_runs_as_printed(healthy: dict[str, Any]) -> None:
    assert healthy["outcome"] == "pass", healthy["verdicts"]
    roles = [(each["role"], each["outcome"]) for each in healthy["verdicts"]]
    assert roles.count(("control", "fail")) == 2
    assert roles.count(("main", "pass")) == len(roles) - 2 >= 3


OF_TRUST_AND_PFC = {
    "qos trust dot1p",
    "priority-flow-control enable",
    "priority-flow-control no-drop dot1p 5",
}
OF_DCBX = {"lldp tlv-enable dot1-tlv dcbx", "dcbx version rev101"}
OF_SCHEDULING = {"qos wrr byte-count", "qos wrr 5 group sp"}
PRINTED = {
    (FIRST, f"{PORT}1"): OF_TRUST_AND_PFC | OF_DCBX,
    (FIRST, f"{PORT}2"): OF_TRUST_AND_PFC | OF_DCBX,
    (FIRST, f"{PORT}3"): OF_TRUST_AND_PFC | OF_SCHEDULING | {"qos wred apply TABLE"},
    (FIRST, "TABLE"): {
        "queue 5 weighting-constant 12",
        "queue 5 drop-level 0 low-limit 10 high-limit 20 discard-probability 30",
        "queue 5 ecn",
    },
    (LAST, f"{PORT}1"): OF_TRUST_AND_PFC,
    (LAST, f"{PORT}2"): OF_TRUST_AND_PFC | OF_DCBX | OF_SCHEDULING,
}
"""The lines of the example, by view; `lldp enable`, of a port and of the switch, is as it was."""


def test_the_switches_were_told_the_lines_of_the_example_and_no_others(
    healthy: dict[str, Any],
) -> None:
    told: dict[tuple[str, str], set[str]] = {}
    view = ""
    for change in healthy["changes"]:
        line = re.sub(r"labtests-\w+", "TABLE", change["command"])
        if change["device"] not in (FIRST, LAST) or change["text"].startswith("put back"):
            continue
        if line.startswith(("interface ", "qos wred queue table ")):
            view = line.rpartition(" ")[2]
        elif line != "quit":
            told.setdefault((change["device"], view), set()).add(line)
    assert told == PRINTED


def test_every_port_on_the_way_trusts_tags_and_holds_priority_5(healthy: dict[str, Any]) -> None:
    *_, phase = healthy["phases"]
    trust, pfc = settings(phase, "trust"), settings(phase, "pfc")
    ports = {(FIRST, f"{PORT}{n}") for n in (1, 2, 3)} | {(LAST, f"{PORT}{n}") for n in (1, 2)}
    assert set(trust) == set(pfc) == ports | {(f"Server{n}", NIC) for n in (1, 2, 3)}
    assert set(trust.values()) == {"source: dot1p, override: False"}
    assert set(pfc.values()) == {"mode: on, priorities: 5"}


def test_marks_are_the_first_switchs_and_drops_nobodys(healthy: dict[str, Any]) -> None:
    control, full, slowed = healthy["phases"]
    for phase in (full, slowed):
        assert grown(phase, FIRST, "ecn_marked_packets") > 0
        assert grown(phase, LAST, "ecn_marked_packets") == 0
        for counter in ("buffer_dropped_in_packets", "buffer_dropped_out_packets"):
            assert grown(phase, FIRST, counter) == grown(phase, LAST, counter) == 0
        assert grown(phase, FIRST, "wred_dropped_packets") == 0
    assert grown(control, FIRST, "buffer_dropped_out_packets") > 0
    assert grown(full, FIRST, "pfc_tx_frames") > 0
    assert grown(slowed, "Server1", "rp_cnp_handled") > 0


BROKEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "the first switch puts a sender's packets into queue 0": deaf(FIRST, 1),
    "the last switch puts all packets into queue 0": deaf(LAST, 1),
    "one host tags otherwise": (
        *fault(kind="egress-map", device="Server2", port=NIC, map="4:3"),
        "--tolerate",
        "vlan",
    ),
    "a NIC goes on trusting DSCP": (
        *fault(kind="dscp-map", device="Server1", classes=[dscp // 8 for dscp in range(64)]),
        *fault(kind="lie", device="Server1"),
    ),
    "the last switch loses packets": fault(
        kind="drop-packets", device=LAST, port=f"{PORT}2", queue=5, per_million=2000
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_it_is_red_where(tmp_path: Path, broken: str) -> None:
    (test,) = run(tmp_path, *BROKEN[broken])["tests"]
    assert test["outcome"] not in ("pass", "skipped"), test


def test_both_senders_have_to_be_paused(tmp_path: Path) -> None:
    dead = fault(kind="dead-counter", device=FIRST, port=f"{PORT}2", counter="pfc")
    (test,) = run(tmp_path, *dead)["tests"]
    said = [each["because"] for each in test["verdicts"] if not each["as_expected"]]
    assert test["outcome"] != "pass"
    assert any(f"{FIRST} {PORT}2 priority 5 pfc_tx_frames" in each for each in said), said
