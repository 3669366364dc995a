"""The interpreted and the compiled network agree to the last bit, in every optional form."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CASE = """\
name: everything
duration_ms: 0.5
hosts: {a: , b: , c: }
switches: {s: }
nic: {pfc: [3], random_gap: 0.01, dcqcn: %s}
switch:
  pfc: [3]
  memory: {cell_bytes: 1, total_bytes: 2000000, guaranteed_bytes: 4096, xon_offset_bytes: 3072}
  ecn:
    - {queues: [3], low_bytes: 5000, high_bytes: 100000, probability: 0.5, mark: leaving}
    - {queues: [4], low_bytes: 500, high_bytes: 50000, probability: 0.5, weighting_exponent: 2,
       poll_period_us: 3}
  schedule: {discipline: sp}
links:
  - {between: [a, s], rate_gbit_per_s: 25, delay_us: 1, loss: 0.01, overhead_bytes: 0}
  - {between: [b, s], rate_gbit_per_s: 25, delay_us: 1}
  - {between: [c, s], rate_gbit_per_s: 25, delay_us: 1}
flows:
  - {source: a, target: c, control_priority: 7, nack_repeat_us: 10, go_back: message}
  - {source: b, target: c, control_priority: 7, nack_repeat_us: 10, header_bytes: 48}
  - {source: a, target: c, priority: 4, ack_every_packets: 7, timeout_exponent: 4}
  - {source: b, target: c, priority: 4, kind: udp, rate_gbit_per_s: 9, datagram_bytes: 1000,
     arrivals: poisson, ecn: true}
  - {source: b, target: a, priority: 4, kind: tcp, ecn: true}
"""
FORMS = (
    "{form: timers, cut_period_us: 10, increase_period_us: 20, cnp_interval_us: 3, "
    "cnp_pacing: port, cnp_in_order: true}",
    "{form: paper, byte_counter_bytes: 20000, increase_period_us: 20, cnp_interval_us: 10, "
    "cnp_polled: true, clamp_target: false}",
)


@pytest.mark.parametrize("form", FORMS)
def test_interpreted_and_compiled_runs_agree(tmp_path: Path, form: str) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(CASE % form, encoding="utf-8")
    told = []
    for interpreted in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-m", "labtests", "network", "run", str(file), "--json"],
            env={**os.environ, "LABTESTS_INTERPRETED": interpreted},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        told.append(json.loads(done.stdout))
    compiled, plain = told
    assert compiled == plain
    assert sum(host["cnp_handled"] for host in compiled["hosts"]) > 0
    assert compiled["flows"][0]["retransmitted_packets"] > 0
    assert sum(queue["marked_packets"] for queue in compiled["queues"]) > 0
    assert {(mark["port"], mark["queue"]) for mark in compiled["marks"]} >= {("c", 3), ("c", 4)}
