"""Somebody else's traffic in the lab: in a queue under test nothing passes, in another all does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from labtests.report import read_run

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "h3c-s6550-cx4.yaml"
NOISE = {
    "kind": "background", "device": "ServerB", "to": "192.168.10.12", "tos": 0, "mbit_per_s": 1,
}  # fmt: skip

SUITE = """
import pytest

from labtests.experiment import Class
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.verdicts import lossless


@pytest.mark.parametrize("first", [0, 3])
def test_nothing_is_lost(incast, first):
    early = Class(tos=first << 5, offered_share=0.78)
    traffic = incast.udp(early, Class(tos=0xA0, offered_share=0.515))
    incast.trust_dscp()
    for number, sender in enumerate(incast.senders):
        own = frozenset({5} if number else {first})
        incast.set(sender.nic, PFC, PfcSetting(mode="on", priorities=own))
    incast.no_pfc_anywhere()
    incast.prove_counters("PFC off", traffic, queues={first, 5})
    incast.pfc_at_switch(PfcSetting(mode="on", priorities=frozenset(range(8))))
    seen = incast.run("PFC on", traffic)
    incast.judge(lossless(seen, {first, 5}, controls=incast.controls))
"""


def run(folder: Path) -> tuple[int, str]:
    """On links of 1 Gb/s, which make a tenth of the packets."""
    text = TESTBED.read_text()
    assert "speed_gbit_per_s: 10" in text
    slow = text.replace("speed_gbit_per_s: 10", "speed_gbit_per_s: 1")
    (folder / "lab.yaml").write_text(slow)
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (folder / "test_suite.py").write_text(SUITE)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "test_suite.py", "-p", "no:cacheprovider",
         "--testbed", "lab.yaml", "--dry-run", "--run-dir", "run", "--fault", json.dumps(NOISE)],
        cwd=folder, env=clean | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_background_traffic_spoils_the_queue_that_it_uses_and_no_other(tmp_path: Path) -> None:
    status, said = run(tmp_path)
    assert status == 1, said
    told: dict[str, Any] = read_run(tmp_path / "run")
    noisy = [f for f in told["check"] if f["check"] == "noise" and f["device"] == "S6550"]
    assert {f["level"] for f in noisy} == {"warning"}
    queues = [f["finding"] for f in noisy if "queue" in f["finding"]]
    assert len(queues) == 1
    assert "queue 0 forwarded_packets grew by" in queues[0]

    spoilt, clean = told["tests"]
    assert (spoilt["outcome"], clean["outcome"]) == ("inconclusive", "pass")
    for test in (spoilt, clean):
        assert all(v["outcome"] == "fail" for v in test["verdicts"] if v["role"] == "control")
        seen = [n for n in test["phases"][-1]["noise"] if n["device"] == "S6550"]
        in_queues = {(n["index"], n["when"].split()[2]) for n in seen if n["scope"] == "queue"}
        assert in_queues == {(0, "check"), (0, "quiet")}

    page = (tmp_path / "run" / "report.html").read_text()
    assert "counters increased while labtests was idle" in page
    main = [v for v in spoilt["verdicts"] if v["role"] == "main" and v["outcome"] != "pass"]
    because = main[-1]["because"]
    for part in ("S6550 Twenty-FiveGigE1/0/13 queue 0 forwarded_packets grew by",
                 "in the check before the run", "find and stop the source"):  # fmt: skip
        assert part in because
        assert part in page
