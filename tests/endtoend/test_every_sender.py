"""Classification looks at every sender's port, on other maps and other frames as well."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from labtests.report import read_run

ROOT = Path(__file__).parents[2]
HOSTS = {"ServerA": "enp3s0f0np0", "ServerB": "ens6f0np0", "ServerC": "ens6f0np0"}
DEAF = {"kind": "ignores-dscp", "device": "S6550", "port": "Twenty-FiveGigE1/0/15"}
FOLDED = [(dscp >> 3) % 3 for dscp in range(64)]
MAPS = [{"kind": "dscp-map", "device": name, "classes": FOLDED} for name in (*HOSTS, "S6550")]
JUMBO = [
    {"kind": "mtu", "device": name, "port": port, "bytes": 9000} for name, port in HOSTS.items()
]


def suite(folder: Path, name: str, *faults: dict[str, Any]) -> dict[str, Any]:
    """On links of 1 Gb/s, which make a tenth of the packets."""
    text = (ROOT / "testbeds" / "h3c-s6550-cx4.yaml").read_text()
    assert "speed_gbit_per_s: 10" in text
    file = folder / "lab.yaml"
    file.write_text(text.replace("speed_gbit_per_s: 10", "speed_gbit_per_s: 1"))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    words = [word for fault in faults for word in ("--fault", json.dumps(fault))]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", f"suites/test_{name}.py", "-p", "no:cacheprovider", "-q",
         "--testbed", str(file), "--dry-run", "--run-dir", str(folder / "run"), *words],
        cwd=ROOT, env=clean, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    told: dict[str, Any] = read_run(folder / "run")
    return told


def test_a_second_senders_port_that_ignores_dscp_is_red(tmp_path: Path) -> None:
    (test,) = suite(tmp_path, "classification", DEAF)["tests"]
    assert test["outcome"] == "fail"
    (main,) = [v for v in test["verdicts"] if v["role"] == "main"]
    assert main["because"].startswith("ServerB: queue 0 got 2160 of 188 packets, queue 1 got 0 of")
    rounds = [phase["name"] for phase in test["phases"]]
    assert rounds[-1] == "round 9 of 9, ServerB"


def test_classification_passes_where_three_queues_take_all_dscps(tmp_path: Path) -> None:
    (test,) = suite(tmp_path, "classification", *MAPS)["tests"]
    assert test["outcome"] == "pass", test["error"]


def test_s1_takes_its_classes_from_the_map(tmp_path: Path) -> None:
    (test,) = suite(tmp_path, "s1_pfc", *MAPS)["tests"]
    assert test["outcome"] == "pass", test["error"]
    (lossless,) = [
        v for v in test["verdicts"] if v["role"] == "main" and "lossless" in v["question"]
    ]
    assert "in queues 1 and 2 under congestion" in lossless["because"]


def test_s1_knows_the_ceiling_of_long_frames(tmp_path: Path) -> None:
    (test,) = suite(tmp_path, "s1_pfc", *JUMBO)["tests"]
    assert test["outcome"] == "pass", test["error"]
    facts = [fact for v in test["verdicts"] if v["role"] == "main" for fact in v["facts"]]
    (ceiling,) = [
        fact for fact in facts if fact["name"].startswith("total goodput / theoretical maximum")
    ]
    assert 0.98 < ceiling["measured"] < 1.05  # by 1500 B it would be 3 % more
