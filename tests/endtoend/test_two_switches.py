"""An incast through two switches: pauses go back through both, a loss between them is not green."""

import json
from pathlib import Path
from typing import Any

from platform_runs import ROOT, run_pytest

TRUNK = {"device": "leaf1", "port": "HundredGigE1/0/25"}
LOSS = {"kind": "drop-packets", **TRUNK, "queue": 5, "per_million": 2000}

SUITE = """
from labtests.experiment import Class
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import lossless, paused

ON = PfcSetting(mode="on", priorities=frozenset(range(8)))


def test_nothing_is_lost(incast):
    traffic = incast.udp(Class(tos=0x60, offered_share=0.78), Class(tos=0xA0, offered_share=0.515))
    incast.trust_dscp()
    for number, sender in enumerate(incast.senders):
        own = frozenset({5 if number else 3})
        incast.set(sender.nic, PFC, PfcSetting(mode="on", priorities=own))
    incast.no_pfc_anywhere()
    incast.prove_counters("PFC off", traffic, queues={3, 5})
    incast.pfc_at_switch(ON)
    seen = incast.run("PFC on", traffic)
    incast.judge(lossless(seen, {3, 5}, controls=incast.controls), paused(seen))
"""


def run(folder: Path, *options: str) -> dict[str, Any]:
    """On links of 1 and 5 Gb/s, which make fewer packets."""
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (folder / "test_suite.py").write_text(SUITE)
    slower = {25: 1, 100: 5}
    return run_pytest("two-leaves", folder, slower, folder, "test_suite.py", *options)


def grown(phase: dict[str, Any], device: str, port: str, counter: str) -> int:
    return sum(
        c["increase"] or 0
        for c in phase["counters"]
        if (c["device"], c["port"], c["counter"]) == (device, port, counter)
    )


def test_pauses_go_back_through_both_switches_and_nothing_is_lost(tmp_path: Path) -> None:
    (test,) = run(tmp_path)["tests"]
    assert test["outcome"] == "pass", test["verdicts"]
    off, on = test["phases"]
    of_trunk = {s["device"]: s["value"] for s in on["settings"]
                if s["port"] == TRUNK["port"] and s["ability"] == "pfc"}  # fmt: skip
    assert set(of_trunk) == {"leaf1", "leaf2"}
    for device, port in (("leaf2", TRUNK["port"]), ("leaf1", "Twenty-FiveGigE1/0/1")):
        assert grown(off, device, port, "pfc_tx_frames") == 0
        assert grown(on, device, port, "pfc_tx_frames") > 0


def test_a_loss_between_the_switches_is_not_green(tmp_path: Path) -> None:
    (test,) = run(tmp_path, "--fault", json.dumps(LOSS))["tests"]
    assert test["outcome"] in ("fail", "inconclusive")
    main = next(v for v in test["verdicts"] if v["role"] == "main" and v["outcome"] != "pass")
    assert "queue 5" in main["because"]
