"""Every check has a fault that turns it: absent before, there after, with device and remedy."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typed import typed

from labtests.capabilities.facts import LinkFacts, RoceFacts
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.capabilities.settings import kind_of
from labtests.check import cables, check, hosts, judged
from labtests.check.gathering import Known
from labtests.inventory import Endpoint

sys.path.insert(0, str(Path(__file__).parents[1] / "snapshot"))

from snapshot_lab import OUT, open_bench

A, B, C = (
    ("ServerA", "enp3s0f0np0"),
    ("ServerB", "ens6f0np0"),
    ("ServerC", "ens6f0np0"),
)
IN_A = "Twenty-FiveGigE1/0/14"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with open_bench(tmp_path_factory.mktemp("check")) as opened:
        yield opened


def found(bench, idle_s=0.0, check_name=None):
    done = check(bench.lab, idle_s=idle_s)
    return [each for each in judged(done.findings) if check_name in (None, each.check)]


def bad(findings):
    return {(f.check, f.level, f.device) for f in findings if f.level in ("failure", "warning")}


def test_a_fresh_lab_has_no_failure_and_what_is_not_told_is_said(bench):
    findings = found(bench, idle_s=1)
    assert [f for f in findings if f.level == "failure"] == []
    assert {f.check for f in findings if f.level == "warning"} == {"trust"}  # nobody has set it
    dark = {(f.check, f.device) for f in findings if f.level == "not known"}
    assert ("fec", "S6550") in dark
    assert ("versions", "ServerA") in dark  # no OFED on the emulated host
    good = {f.check for f in findings if f.level == "ok"}
    assert good >= {
        "reachable", "obstacles", "leftovers", "versions", "rdma", "gid", "cabling", "speed",
        "mtu", "pfc", "clock", "errors", "noise",
    }  # fmt: skip


FAULTS = [
    ("cabling", "failure", "S6550", {"kind": "cabling", "port": IN_A, "neighbour": ":".join(B)}),
    ("mtu", "failure", "ServerB", {"kind": "mtu", "port": B[1], "bytes": 9000}),
    ("mtu", "failure", "S6550", {"kind": "mtu", "port": OUT, "bytes": 1518}),
    ("versions", "failure", "ServerC", {"kind": "firmware", "version": "12.20.1010"}),
    ("speed", "failure", "ServerA", {"kind": "link-speed", "port": A[1], "mbit_per_s": 1000}),
    ("rdma", "failure", "ServerB", {"kind": "rdma-down", "port": B[1]}),
    ("clock", "warning", "ServerC", {"kind": "clock", "seconds": 90}),
    ("obstacles", "failure", "ServerC", {"kind": "willing-dcbx", "port": C[1]}),
    ("leftovers", "failure", "ServerB",
     {"kind": "leftover", "command": "ib_send_bw -d mlx5_0", "run": "dead-1"}),
    ("obstacles", "failure", "ServerA", {"kind": "lldpad"}),
    ("versions", "failure", "ServerB", {"kind": "perftest", "version": "6.06"}),
    ("versions", "warning", "ServerB", {"kind": "driver", "version": "5.9-0.5.6"}),
    ("gid", "failure", "ServerA", {"kind": "no-roce-v2", "port": A[1]}),
    ("fec", "warning", "ServerB", {"kind": "fec", "port": B[1], "encoding": "RS"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "level", "device", "fault"), FAULTS, ids=[f["kind"] for *_, f in FAULTS]
)
def test_a_fault_turns_its_check(bench, name, level, device, fault):
    assert (name, level, device) not in bad(found(bench, check_name=name))
    bench.simulated.fault(device=device, **fault)
    findings = found(bench, check_name=name)
    assert (name, level, device) in bad(findings)
    assert all(f.remedy and f.finding for f in findings if f.level in ("failure", "warning"))


def test_an_account_that_may_only_look_is_no_good_and_one_that_may_configure_is(bench):
    wrong = ("obstacles", "failure", "S6550")
    assert wrong not in bad(found(bench, check_name="obstacles"))
    bench.simulated.fault(kind="role", device="S6550", role="network-operator")
    (finding,) = (f for f in found(bench, check_name="obstacles") if f.device == "S6550")
    assert finding.level == "failure"
    assert "Permission denied" in finding.finding
    assert "network-admin" in finding.finding
    bench.simulated.fault(kind="role", device="S6550", role="network-admin")
    assert wrong not in bad(found(bench, check_name="obstacles"))


def test_an_rdma_link_is_active_where_there_is_a_cable_and_elsewhere_it_need_not_be(bench):
    nic, testbed = "ens6f0np0", bench.lab.testbed
    dark = RoceFacts(rdma="mlx5_0", active=False, active_mtu_bytes=None, v2_addresses=frozenset())
    known = {"ServerC": Known(name="ServerC", host=True, roces={nic: dark})}
    assert [f.level for f in hosts.rdma(testbed, known) if f.check == "rdma"] == ["failure"]
    uncabled = replace(testbed, links=())
    assert [f.level for f in hosts.rdma(uncabled, known) if f.check == "rdma"] == ["ok"]


def test_hosts_with_another_ofed_are_warned_of_and_none_is_not_known(bench):
    dark = {(f.level, f.device) for f in found(bench, check_name="versions") if "ofed" in f.finding}
    assert dark == {("not known", name) for name in ("ServerA", "ServerB", "ServerC")}
    for name, version in (("ServerA", "5.8-1.0.1.1"), ("ServerB", "5.8-1.0.1.1"),
                          ("ServerC", "5.9-0.5.6.0")):  # fmt: skip
        bench.simulated.fault(kind="ofed", device=name, version=f"MLNX_OFED_LINUX-{version}")
    told = {f.device: f for f in found(bench, check_name="versions") if "ofed" in f.finding}
    assert {name: f.level for name, f in told.items()} == {
        "ServerA": "ok", "ServerB": "ok", "ServerC": "warning",
    }  # fmt: skip
    assert "MLNX_OFED_LINUX-5.8-1.0.1.1 on ServerA, ServerB" in told["ServerC"].finding


def between_switches(bench, here, there):
    """A cable whose ends are no hosts, with these settings and FECs."""
    testbed = bench.testbed
    link = testbed.links[0]

    def known(end, facts):
        link_facts = LinkFacts(up=True, fec=facts.pop("fec", None))
        settings = {(end.interface, name): value for name, value in facts.items()}
        return Known(name=end.device, links={end.interface: link_facts}, settings=settings)

    ends = {link.a.device: known(link.a, here), link.b.device: known(link.b, there)}
    return cables.CheckedLab(replace(testbed, links=(link,)), ends)


ON, OFF = (PfcSetting(mode=m, priorities=frozenset({3})) for m in ("on", "off"))
DSCP, DOT1P = (TrustSetting(source=s) for s in ("dscp", "dot1p"))


@pytest.mark.parametrize(
    ("of_cables", "check_name", "here", "there"),
    [
        (cables.fec, "fec", {"fec": "rs"}, {"fec": "off"}),
        (cables.pfc, "pfc", {"pfc": ON}, {"pfc": OFF}),
        (cables.trust, "trust", {"trust": DSCP}, {"trust": DOT1P}),
        (cables.trust, "dscp map", {"trust": DSCP, "dscp_map": (0, 1)},
         {"trust": DSCP, "dscp_map": (0, 2)}),
    ],
)  # fmt: skip
def test_a_cable_that_no_suite_sets_fails_when_its_ends_differ(
    bench, of_cables, check_name, here, there
):
    alike = list(of_cables(between_switches(bench, dict(here), dict(here))))
    assert ("ok", check_name) in {(f.level, f.check) for f in alike}
    assert "failure" not in {f.level for f in alike}
    differing = [f for f in of_cables(between_switches(bench, here, there)) if f.level == "failure"]
    assert [f.check for f in differing] == [check_name]
    assert differing[0].remedy


@pytest.mark.parametrize(("device", "port"), [A, ("S6550", OUT)])
def test_errors_that_grow_fail_and_errors_that_stand_still_do_not(bench, device, port):
    assert (("errors", "failure", device)) not in bad(found(bench, 1, "errors"))
    bench.simulated.fault(kind="broken-frames", device=device, port=port, per_s=3)
    assert (("errors", "failure", device)) in bad(found(bench, 1, "errors"))


def test_nobody_at_the_other_end_is_not_known_and_never_good(bench):
    bench.simulated.fault(kind="cabling", device="S6550", port=OUT, neighbour="")
    findings = found(bench, check_name="cabling")
    of_port = [f for f in findings if "ServerC" in f.finding]
    assert {f.level for f in of_port} == {"not known"}


def test_settings_that_differ_along_a_path_are_warned_of(bench):
    nic = Endpoint(device=A[0], interface=A[1])
    switch = Endpoint(device="S6550", interface=IN_A)
    with bench.lab.restoring():
        bench.lab.change(nic, kind_of("pfc"), PfcSetting(mode="on", priorities=frozenset({3})))
        assert ("pfc", "warning", "ServerA") in bad(found(bench, check_name="pfc"))
        bench.lab.change(switch, kind_of("pfc"), PfcSetting(mode="on", priorities=frozenset({3})))
        assert ("pfc", "warning", "ServerA") not in bad(found(bench, check_name="pfc"))
        for end in (nic, switch):
            bench.lab.change(end, kind_of("trust"), TrustSetting(source="dscp"))
        assert ("trust", "warning", "ServerA") not in bad(found(bench, check_name="trust"))
        whole = bench.lab.current(nic, kind_of("dscp_map"))
        bench.lab.change(nic, kind_of("dscp_map"), (*whole[:26], 5, *whole[27:]))
        differing = [f for f in found(bench, check_name="dscp map") if f.device == A[0]]
        assert [f.level for f in differing] == ["failure"]  # no suite sets a map
        assert "DSCP 26: 5" in differing[0].finding


def test_background_traffic_is_noise_per_counter(bench):
    receiver, sender = bench.lab.transports["ServerC"], bench.lab.transports["ServerB"]
    assert bad(found(bench, 1, "noise")) == set()
    server = receiver.start(typed("iperf3 -s -p 5299"), limit_s=60)
    client = sender.start(typed("iperf3 -c 192.168.10.12 -p 5299 -u -b 10M -t 30"), limit_s=60)
    try:
        noisy = found(bench, 1, "noise")
    finally:
        client.close()
        server.close()
    assert ("noise", "warning", "S6550") in bad(noisy)
    told = [f.finding for f in noisy if f.device == "S6550" and f.port == OUT]
    assert any("queue 0 forwarded_packets grew by" in text for text in told)
