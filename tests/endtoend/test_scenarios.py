"""Traffic that labs carry, in dry runs: a workload and a pattern of a suite's own, each one file;
the suites that stand on patterns; and that a fault is not green in them."""

import json
from pathlib import Path
from typing import Any

import pytest
from platform_runs import ROOT, run_pytest

PATTERN = '''
"""Two hosts that send to each other."""


def both_ways(roles):
    first, second, *_ = roles.hosts
    yield first, second
    yield second, first
'''

WORKLOAD = '''
"""ping as a flow: no server, no RDMA, and what it proves is that packets came back."""

import re
from dataclasses import dataclass, replace

from labtests.capabilities.flows import FlowStatus
from labtests.transport.commands import program

SECONDS, EVERY_S, BYTES = 2, 0.01, 1000
ANSWERED = re.compile(r"(\\d+) packets transmitted, (\\d+) received")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pings:
    tos: int
    port: int = 0
    name: str = "ping"
    of_rdma: bool = False
    pulls: bool = False
    probes: bool = False
    offered_bits_per_s: float | None = None
    first_report_s: float = 0.0
    ends_after_s: float | None = SECONDS

    def of_flow(self, number, *, seconds, row_every_s):
        return replace(self, port=number)

    def shares(self):
        return (self,)

    def server_command(self, server, *, rdma):
        return None

    def client_command(self, server, *, rdma):
        count = ("-i", EVERY_S, "-c", round(SECONDS / EVERY_S), "-s", BYTES, "-Q", self.tos)
        return program("stdbuf", "-oL", "ping", *count, server.address)

    def is_ready(self, server_output):
        return True

    def is_running(self, client_output, server_output):
        return "bytes from" in client_output

    def may_retry(self, attempt):
        return False

    def judge(self, blank, attempt):
        found = ANSWERED.search(attempt.client.text)
        if found is None or found[1] != found[2] or attempt.client.status:
            return replace(blank, status=FlowStatus.FAILED, because=attempt.client.text[-200:])
        return replace(blank, status=FlowStatus.COMPLETE,
                       goodput_bits_per_s=8.0 * BYTES * int(found[2]) / SECONDS)
'''

SUITE = """
from pattern import both_ways
from workload import Pings

from labtests.experiment import patterns
from labtests.verdicts import Outcome, sound_among
from labtests.workloads import LatencyProbe, Perftest


def test_pings_both_ways_beside_writes_in_a_ring(incast):
    incast.trust_dscp()
    (each,) = incast.classes(24, paused=True)
    incast.lossless_on_the_way(incast.priority_of(each))
    writes = Perftest(tos=each.tos, verb="write", message_bytes=4096, queue_pairs=2)
    ring = incast.flows(patterns.ring, writes)
    flows = incast.flows(both_ways, Pings(tos=each.tos), beside=ring)
    probes = LatencyProbe(tos=each.tos, messages=50), LatencyProbe(tos=0, messages=50, verb="write")
    traffic = incast.flows(patterns.outcast, *probes, beside=flows)
    seen = incast.run("ring and pings", traffic)
    assert [flow.tool for flow in seen.flows] == ["ib_write_bw"] * 3 + ["ping"] * 2
    incast.judge(sound_among(seen))
"""


def verdicts(test: dict[str, Any], role: str) -> list[str]:
    return [each["outcome"] for each in test["verdicts"] if each["role"] == role]


def test_a_workload_and_a_pattern_are_one_file_each(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    for name, text in (("pattern", PATTERN), ("workload", WORKLOAD), ("test_own", SUITE)):
        (tmp_path / f"{name}.py").write_text(text)
    told = run_pytest("h3c-s6550-cx4", tmp_path, {10: 1}, tmp_path, "test_own.py")
    (test,) = told["tests"]
    assert test["outcome"] == "pass", test["verdicts"]
    (phase,) = test["phases"]
    pings = [flow for flow in phase["flows"] if flow["tool"] == "ping"]
    assert [(flow["sender"], flow["receiver"]) for flow in pings] == [
        ("ServerA", "ServerB"),
        ("ServerB", "ServerA"),
    ]
    assert all(flow["goodput_bits_per_s"] == 800_000 for flow in pings)
    loaded, idle = (probe["latency"] for probe in phase["probes"])
    assert [probe["tool"] for probe in phase["probes"]] == ["ib_send_lat", "ib_write_lat"]
    assert loaded["messages"] == idle["messages"] == 50
    assert 1.0 < idle["least_us"] < loaded["p99_us"]


def test_the_documented_example_runs(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    blocks = (ROOT / "docs" / "suites.md").read_text().split("```")
    (example,) = [each for each in blocks if "def both_ways" in each]
    (tmp_path / "test_ring.py").write_text(example.removeprefix("python"))
    told = run_pytest("h3c-s6550-cx4", tmp_path, {10: 1}, tmp_path, "test_ring.py")
    (test,) = told["tests"]
    assert test["outcome"] == "pass", test["verdicts"]
    assert [f["tool"] for f in test["phases"][0]["flows"]] == ["ib_write_bw"] * 3 + ["iperf3"] * 2


SUITES = {"test_pfc_and_dcqcn": 5, "test_verbs": 2, "test_victim_flow": 5}
"""With the speed of links, in Gb/s: slower ones make fewer packets, and marks come too seldom."""


def run(testbed: str, folder: Path, suite: str, *options: str) -> dict[str, Any]:
    """One suite on slower links."""
    gbit = SUITES[suite]
    return run_pytest(testbed, folder, {25: gbit, 10: gbit}, ROOT, f"suites/{suite}.py", *options)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("testbed", ["h3c-s6550-cx4", "nexus-cx5", "two-leaves"])
def test_suites_of_patterns_pass_with_their_controls_red(
    testbed: str, suite: str, tmp_path: Path
) -> None:
    for test in run(testbed, tmp_path, suite)["tests"]:
        assert test["outcome"] == "pass", [each["because"] for each in test["verdicts"]]
        assert set(verdicts(test, "control")) == {"fail"}


LOSS = {"kind": "drop-packets", "device": "S6550", "queue": 3, "per_million": 200}
TO_A, TO_C = "Twenty-FiveGigE1/0/14", "Twenty-FiveGigE1/0/13"


@pytest.mark.parametrize(("suite", "port"), [("test_pfc_and_dcqcn", TO_C), ("test_verbs", TO_A)])
def test_a_queue_that_loses_packets_is_red_in_them(suite: str, port: str, tmp_path: Path) -> None:
    fault = json.dumps(LOSS | {"port": port})
    tests = run("h3c-s6550-cx4", tmp_path, suite, "--fault", fault)["tests"]
    concerned = [test for test in tests if port == TO_C or "every_host" in test["id"]]
    for test in concerned:
        assert test["outcome"] == "fail", test["id"]
        assert any(f"{port} queue 3 dropped" in each["because"] for each in test["verdicts"])
