"""The interpreted and the compiled network agree to the last bit, in every optional form."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labtests.network.cases import Figures, load, run

CASE = """\
name: everything
duration_ms: 0.15
seed: 2
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
  - {between: [a, s], rate_gbit_per_s: 25, delay_us: 1, loss: 0.03, overhead_bytes: 0}
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


def both_ways(file: Path) -> Figures:
    """What the compiled network says of a case; twice, and interpreted, it says the same."""
    figures = run(load(file))
    done = subprocess.run(
        [sys.executable, "-m", "labtests", "network", "run", str(file), "--json"],
        env={**os.environ, "LABTESTS_INTERPRETED": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    told = json.dumps(figures.plain())
    assert json.dumps(run(load(file)).plain()) == told
    assert json.dumps(json.loads(done.stdout)) == told
    return figures


@pytest.mark.parametrize("form", FORMS)
def test_interpreted_and_compiled_runs_agree(tmp_path: Path, form: str) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(CASE % form, encoding="utf-8")
    figures = both_ways(file)
    assert sum(host.cnp_handled for host in figures.hosts) > 0
    assert figures.flows[0].retransmitted_packets > 0
    assert {(mark.port, mark.queue) for mark in figures.marks} >= {("c", 3), ("c", 4)}


def test_they_agree_about_everything_at_once() -> None:
    """ECMP, a tunnel, rate limits, pools, dynamic limits, guards, storms, slow hosts, 802.3x,
    polled RED, TCP with ECN, Poisson arrivals, scripts, links that go down, new routes, TTL."""
    figures = both_ways(Path(__file__).parent / "everything.yaml")
    for place in ("headroom", "output_buffer", "wred", "link_down", "lost_on_wire", "ttl"):
        assert sum(getattr(drop, place) for drop in figures.drops) > 0, place
    assert sum(drop.watchdog for drop in figures.drops) > 0
    assert sum(drop.crc for drop in figures.drops) > 0
    for count in ("cnp_sent", "cnp_handled", "nacks", "timeouts", "discards"):
        assert sum(getattr(host, count) for host in figures.hosts) > 0, count
    assert {(guard.switch, guard.port) for guard in figures.guards} == {
        ("y", "b1"),  # a watchdog
        ("y", "b3"),  # a pause timeout
        ("p", "y"),  # deadlock detection
    }
    assert all(guard.restored for guard in figures.guards)
    assert {pause.device for pause in figures.pauses if pause.priority is None} == {"a2", "x"}
    assert {mark.queue for mark in figures.marks} >= {1, 2, 3, 4}
    assert any(memory.peak_headroom_pool_bytes for memory in figures.memory)
    assert sum(flow.delivered_bytes > 0 for flow in figures.flows) == len(figures.flows) - 1
