"""Each fault of losses.py acts on packets, or is shown, as it says; and heals."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from labtests.inventory import load
from labtests.network import RcRequest, TcpRequest, UdpRequest
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.loss_faults import Unheard

ROOT = Path(__file__).parents[2]
MS = 1_000_000
SWITCH, OUT = "S6550", "Twenty-FiveGigE1/0/13"
FROM_A, FROM_B = "Twenty-FiveGigE1/0/14", "Twenty-FiveGigE1/0/15"
A, NIC_A = "ServerA", "enp3s0f0np0"
B, NIC_B = "ServerB", "ens6f0np0"
C, NIC_C = "ServerC", "ens6f0np0"
ENDS = {"device": A, "interface": NIC_A, "destination": "192.168.10.12", "tos": 0x60}


class Heard(Unheard):
    """A console whose output is kept."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


class Box:
    """A lab of no SSH: time passes when a test says so."""

    def __init__(self, testbed: str) -> None:
        self.lab = SimulatedLab(load(ROOT / "testbeds" / f"{testbed}.yaml"), seed=1)
        self.flows: list = []

    def says(self, device: str, command: str) -> str:
        heard = Heard()
        self.lab.devices[device].execute(command, heard)
        return heard.text

    def counters(self, host: str, port: str) -> dict[str, int]:
        """All that a host counts at a port: ethtool, hw_counters, statistics/ and the carrier."""
        files = (
            f"/sys/class/infiniband/mlx5_0/ports/1/hw_counters/* /sys/class/net/{port}/carrier_*"
        )
        found = self.says(host, f"ethtool -S {port}") + self.says(
            host, f"grep -H . {files} /sys/class/net/{port}/statistics/*"
        )
        pairs = re.findall(r"^(?:.*/)?\s*(\w+): ?(\d+)$", found, re.M)
        return {name: int(value) for name, value in pairs}

    def snmp(self, host: str) -> dict[str, int]:
        lines = [line.split() for line in self.says(host, "cat /proc/net/snmp").splitlines()]
        pairs = zip(lines[::2], lines[1::2], strict=True)
        return {
            titles[0].rstrip(":") + name: int(value)
            for titles, values in pairs
            for name, value in zip(titles[1:], values[1:], strict=True)
        }

    def queues(self, port: str) -> list[int]:
        """What each queue of a switch port has forwarded, by its own account."""
        text = self.says(SWITCH, f"display qos queue-statistics interface {port} outbound")
        return [int(n) for n in re.findall(r"^  Forwarded: (\d+) packets", text, re.M)]

    def udp(self, **more):
        asked = {"datagram_bytes": 1472, "rate_bits_per_s": 1e9, **ENDS, **more}
        return self._begun(self.lab.network.start_udp(UdpRequest(**asked)))

    def rdma(self, **more):
        return self._begun(self.lab.network.start_rc(RcRequest(**ENDS | more)))

    def tcp(self):
        return self._begun(self.lab.network.start_tcp(TcpRequest(**ENDS)))

    def _begun(self, flow):
        self.flows.append(flow)
        return flow

    def end_traffic(self) -> None:
        for flow in self.flows:
            flow.stop()
        self.flows.clear()
        self.pass_ms(20)

    def hurt(self, kind: str, device: str, **more) -> None:
        self.lab.inject({"kind": kind, "device": device, **more})

    def heal(self, device: str) -> None:
        self.hurt("heal", device)

    def pass_ms(self, milliseconds: int) -> None:
        self.lab.advance(milliseconds * MS)


@pytest.fixture(scope="module")
def opened() -> Box:
    return Box("h3c-s6550-cx4")


@pytest.fixture
def box(opened) -> Iterator[Box]:
    """Nothing flows in it, nothing is wrong; counters have what earlier tests left."""
    opened.says(A, f"mlnx_qos -i {NIC_A} --trust dscp")
    opened.says(C, f"mlnx_qos -i {NIC_C} --trust dscp")
    for port in (OUT, FROM_A, FROM_B):
        opened.says(SWITCH, f"system-view\ninterface {port}\nqos trust dscp")
    yield opened
    for device in (A, B, C, SWITCH):
        opened.heal(device)
    opened.end_traffic()


def grown(now: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    return {name: now[name] - before[name] for name in now if now[name] != before[name]}


@pytest.mark.parametrize("counted", ["rx_discards_phy", "rx_out_of_buffer", "nothing"])
def test_a_nic_discards_packets_that_it_has_counted_and_its_host_never_sees(box, counted):
    before, stack = box.counters(C, NIC_C), box.snmp(C)
    box.hurt("nic-discards", C, port=NIC_C, per_million=100_000, counted=counted)
    flow = box.udp()
    box.pass_ms(100)
    flow.stop()
    box.pass_ms(5)
    seen = grown(box.counters(C, NIC_C), before)
    lost = flow.lost_datagrams
    assert seen["rx_prio3_packets"] == flow.sent_datagrams
    assert grown(box.snmp(C), stack)["UdpInDatagrams"] == flow.sent_datagrams - lost
    assert 0.08 < lost / flow.sent_datagrams < 0.12
    shown = {
        "rx_discards_phy": {"rx_discards_phy", "rx_prio3_discards"},
        "rx_out_of_buffer": {"rx_out_of_buffer", "out_of_buffer"},
        "nothing": set(),
    }[counted]
    assert {name for name in seen if "discard" in name or "out_of_buffer" in name} == shown
    assert {seen[name] for name in shown} <= {lost}


def test_a_nic_discards_of_one_priority_only_and_heals(box):
    box.hurt("nic-discards", C, port=NIC_C, per_million=500_000, priority=5)
    other, hit = box.udp(), box.udp(tos=0xA0)
    box.pass_ms(20)
    assert other.lost_datagrams <= other.under_way_datagrams
    assert hit.lost_datagrams > 0.4 * hit.sent_datagrams
    box.heal(C)
    lost = hit.lost_datagrams - hit.under_way_datagrams
    box.pass_ms(20)
    for flow in (other, hit):
        flow.stop()
    box.pass_ms(5)
    assert hit.lost_datagrams <= lost + 1  # one was on its way


def test_fragments_that_a_nic_discards_fail_in_reassembly(box):
    before = box.snmp(C)
    box.hurt("nic-discards", C, port=NIC_C, per_million=2_000)
    flow = box.udp(datagram_bytes=65_500)
    box.pass_ms(200)
    flow.stop()
    box.pass_ms(5)
    assert flow.lost_datagrams > 3
    assert grown(box.snmp(C), before)["IpReasmFails"] == flow.lost_datagrams


def test_rdma_packets_that_a_nic_discards_are_sent_again(box):
    before = box.counters(C, NIC_C)
    box.hurt("nic-discards", C, port=NIC_C, per_million=1000)
    flow = box.rdma()
    box.pass_ms(20)
    flow.stop()
    box.pass_ms(50)
    assert flow.retransmitted_packets > 0
    assert grown(box.counters(C, NIC_C), before)["rx_discards_phy"] > 0


@pytest.mark.parametrize(
    ("counted", "counters"),
    [
        ("fcs", {"rx_crc_errors_phy", "rx_crc_errors", "rx_errors"}),
        ("symbol", {"rx_symbol_err_phy", "rx_errors"}),
        ("nothing", set()),
    ],
)
def test_a_cable_loses_frames_on_their_way_to_a_nic(box, counted, counters):
    before, dropped = box.counters(C, NIC_C), box.says(SWITCH, "display packet-drop summary")
    box.hurt("lossy-cable", C, port=NIC_C, per_million=50_000, counted=counted)
    flow = box.udp()
    box.pass_ms(100)
    flow.stop()
    box.pass_ms(5)
    seen = grown(box.counters(C, NIC_C), before)
    lost = flow.sent_datagrams - seen["rx_prio3_packets"]
    assert lost == flow.lost_datagrams > 0.03 * flow.sent_datagrams
    assert {name for name in seen if "err" in name} == counters
    assert {seen[name] for name in counters} <= {lost}
    assert box.says(SWITCH, "display packet-drop summary") == dropped


def test_a_cable_damages_frames_on_their_way_to_a_switch(box):
    def errors() -> int:
        shown = box.says(SWITCH, f"display interface {FROM_A}")
        return int(re.findall(r"(\d+) CRC", shown)[0])

    before = errors()
    box.hurt("lossy-cable", SWITCH, port=FROM_A, per_million=50_000)
    flow = box.udp()
    box.pass_ms(100)
    flow.stop()
    box.pass_ms(5)
    assert errors() - before == flow.lost_datagrams > 0


@pytest.mark.parametrize("counted", ["fcs", "nothing"])
def test_a_cable_loses_exactly_one_frame(box, counted):
    before = box.counters(C, NIC_C)
    flow = box.udp()
    box.pass_ms(10)
    box.hurt("lossy-cable", C, port=NIC_C, frames=1, counted=counted)
    box.pass_ms(10)
    flow.stop()
    box.pass_ms(5)
    assert flow.lost_datagrams == 1
    seen = grown(box.counters(C, NIC_C), before)
    assert seen.get("rx_crc_errors_phy", 0) == (counted == "fcs")


@pytest.mark.parametrize("size", [1472, 65_500])
def test_what_is_written_while_the_carrier_is_gone_is_dropped_by_the_host(box, size):
    before, stack = box.counters(A, NIC_A), box.snmp(A)
    flow = box.udp(datagram_bytes=size)
    box.pass_ms(20)
    box.hurt("carrier-flap", A, port=NIC_A, milliseconds=50)
    box.pass_ms(100)
    flow.stop()
    box.pass_ms(5)
    seen = grown(box.counters(A, NIC_A), before)
    fragments = -(-(size + 8) // 1480)
    assert seen["link_down_events_phy"] == seen["carrier_down_count"] == 1
    assert seen["carrier_changes"] == 2
    asked = 0.12 * 1e9 / 8 / size
    assert flow.sent_datagrams == pytest.approx(asked, rel=0.03)
    assert grown(box.snmp(A), stack)["UdpOutDatagrams"] == flow.sent_datagrams
    assert flow.lost_datagrams == pytest.approx(0.05 * 1e9 / 8 / size, abs=6)
    assert seen["tx_dropped"] == pytest.approx(flow.lost_datagrams * fragments, abs=2 * fragments)


def test_a_port_ignores_dscp_and_says_that_it_trusts_it(box):
    before = box.queues(OUT)
    box.hurt("ignores-dscp", SWITCH, port=FROM_A)
    shown = box.says(SWITCH, f"display qos trust interface {FROM_A}")
    assert "dscp" in shown
    box.says(SWITCH, f"system-view\ninterface {FROM_A}\nundo qos trust\nqos trust dscp")
    flow = box.udp()
    box.pass_ms(20)
    flow.stop()
    box.pass_ms(5)
    moved = [now - then for now, then in zip(box.queues(OUT), before, strict=True)]
    assert moved == [flow.sent_datagrams, 0, 0, 0, 0, 0, 0, 0]
    box.heal(SWITCH)
    flow = box.udp()
    box.pass_ms(20)
    flow.stop()
    box.pass_ms(5)
    assert box.queues(OUT)[3] - before[3] == flow.sent_datagrams


def test_cnps_have_another_dscp_than_the_setting(box):
    before = box.queues(FROM_A)
    box.hurt("cnp-dscp", C, port=NIC_C, dscp=8)
    assert box.says(C, f"cat /sys/class/net/{NIC_C}/ecn/roce_np/cnp_dscp").strip() == "48"
    box.says(C, f"echo 3 > /sys/class/net/{NIC_C}/ecn/roce_np/min_time_between_cnps")
    curve = "queue 3 low-limit 1 high-limit 2 discard-probability 100"
    box.says(SWITCH, f"system-view\nqos wred queue table t\nqueue 3 ecn\n{curve}")
    box.says(SWITCH, f"system-view\ninterface {OUT}\nqos wred apply t")
    box.udp(device=B, interface=NIC_B, tos=0, rate_bits_per_s=5e9)
    box.rdma()
    box.pass_ms(5)
    box.end_traffic()
    box.says(SWITCH, f"system-view\ninterface {OUT}\nundo qos wred apply")
    cnps = box.counters(C, NIC_C)["np_cnp_sent"]
    moved = [now - then for now, then in zip(box.queues(FROM_A), before, strict=True)]
    assert moved[1] == cnps > 0
    assert moved[6] == 0


ODD = {"802.3x": (None, ""), "no class": (frozenset({3}), "no class")}


@pytest.mark.parametrize("kind", ODD)
def test_a_port_that_heeds_any_pause_is_held_by_such_as_hold_nobody(box, kind):
    priorities, odd = ODD[kind]
    control = box.lab.network.nic(C, NIC_C).flow_control
    flow = box.udp()

    def came(ms=10):
        before = flow.received_bytes
        box.pass_ms(ms)
        return flow.received_bytes - before

    usual = came()
    control.storm(priorities, odd=odd)
    assert came() == pytest.approx(usual, rel=0.05)
    box.hurt("mistakes-pauses", SWITCH, port=OUT, how="heeds any")
    came(2)  # until the next frame of the storm
    assert came() == 0
    box.heal(SWITCH)
    came(8)  # the last pause runs out
    assert came() > 0.9 * usual
    control.end_storm()


def test_a_port_that_wants_a_source_takes_no_pause_from_the_address_0(box):
    box.says(SWITCH, f"system-view\ninterface {OUT}\npriority-flow-control enable")
    box.says(SWITCH, f"system-view\ninterface {OUT}\npriority-flow-control no-drop dot1p 3")
    control = box.lab.network.nic(C, NIC_C).flow_control
    seen = lambda: box.lab.network.switch(SWITCH).pfc_counters(OUT)[3].rx_frames  # noqa: E731
    control.storm(frozenset({3}), odd="no source", period_us=1000)
    box.pass_ms(10)
    before = seen()
    assert before >= 9
    box.hurt("mistakes-pauses", SWITCH, port=OUT, how="wants a source")
    box.pass_ms(10)
    assert seen() == before
    control.storm(frozenset({3}), period_us=1000)
    box.pass_ms(10)
    assert seen() > before + 8
    with pytest.raises(UnknownFault, match="pauses are mistaken as heeds any or wants a source"):
        box.hurt("mistakes-pauses", SWITCH, port=OUT, how="otherwise")
    control.end_storm()


def test_a_policy_asks_for_the_dscp_alone_where_the_fault_says_so(box):
    typed = ("acl advanced name r", "rule 0 permit udp destination-port eq 4791 dscp 24")
    typed += ("traffic classifier r", "if-match acl name r", "traffic behavior r")
    typed += ("remark local-precedence 5", "qos policy p", "classifier r behavior r")
    box.says(SWITCH, "\n".join(("system-view", *typed, f"interface {FROM_A}")))
    apply = f"system-view\ninterface {FROM_A}\nqos apply policy p inbound"
    box.says(SWITCH, apply)

    def in_queue_5():
        before = box.queues(OUT)[5]
        box.udp(tos=24 << 2, rate_bits_per_s=1e8)
        box.pass_ms(10)
        box.end_traffic()
        return box.queues(OUT)[5] - before

    assert in_queue_5() == 0
    box.hurt("ignores-udp-port", SWITCH, port=FROM_A)
    assert in_queue_5() > 0
    box.heal(SWITCH)
    assert in_queue_5() == 0
    box.says(SWITCH, f"system-view\ninterface {FROM_A}\nundo qos apply policy inbound")


def test_a_class_of_roce_gets_the_queue_that_the_fault_says(box):
    typed = ("acl advanced name q", "rule 0 permit udp destination-port eq 4791 dscp 24")
    typed += ("traffic classifier q", "if-match acl name q", "traffic behavior q")
    typed += ("remark local-precedence 5", "qos policy q", "classifier q behavior q")
    box.says(SWITCH, "\n".join(("system-view", *typed, f"interface {FROM_A}")))
    box.says(SWITCH, f"system-view\ninterface {FROM_A}\nqos apply policy q inbound")

    def used():
        before = box.queues(OUT)
        box.rdma(tos=24 << 2)
        box.pass_ms(10)
        box.end_traffic()
        return {queue for queue, n in enumerate(box.queues(OUT)) if n > before[queue]}

    assert 5 in used()
    box.hurt("misplaces-roce", SWITCH, port=FROM_A, dscp=24, queue=2)
    assert 2 in used()
    assert 5 not in used()
    box.heal(SWITCH)
    assert 5 in used()
    box.says(SWITCH, f"system-view\ninterface {FROM_A}\nundo qos apply policy inbound")


def test_the_dscp_of_a_policy_is_given_unless_the_fault_says_not(box):
    typed = ("traffic classifier w", "if-match any", "traffic behavior w", "remark dscp 16")
    typed += ("remark local-precedence 5", "qos policy w", "classifier w behavior w")
    box.says(SWITCH, "\n".join(("system-view", *typed, f"interface {FROM_A}")))
    box.says(SWITCH, f"system-view\ninterface {FROM_A}\nqos apply policy w inbound")

    def classes():
        before = [box.counters(C, NIC_C)[f"rx_prio{n}_packets"] for n in range(8)]
        box.udp(tos=24 << 2, rate_bits_per_s=1e8)
        box.pass_ms(10)
        box.end_traffic()
        after = [box.counters(C, NIC_C)[f"rx_prio{n}_packets"] for n in range(8)]
        return {n for n in range(8) if after[n] > before[n]}

    assert classes() == {2}
    box.hurt("ignores-remarks", SWITCH, port=FROM_A)
    assert classes() == {3}
    box.heal(SWITCH)
    assert classes() == {2}
    box.says(SWITCH, f"system-view\ninterface {FROM_A}\nundo qos apply policy inbound")


def test_cnps_come_as_often_as_the_fault_says(box):
    curve = "queue 3 low-limit 1 high-limit 2 discard-probability 100"
    box.says(SWITCH, f"system-view\nqos wred queue table t\nqueue 3 ecn\n{curve}")
    box.says(SWITCH, f"system-view\ninterface {OUT}\nqos wred apply t")
    box.says(C, f"echo 4 > /sys/class/net/{NIC_C}/ecn/roce_np/min_time_between_cnps")
    box.udp(device=B, interface=NIC_B, tos=0, rate_bits_per_s=5e9)
    box.rdma()
    sent = []
    for interval_us in (4, 1000):
        box.hurt("cnp-interval", C, port=NIC_C, microseconds=interval_us)
        before = box.counters(C, NIC_C)["np_cnp_sent"]
        box.pass_ms(20)
        sent.append(box.counters(C, NIC_C)["np_cnp_sent"] - before)
    assert sent[0] > 21 >= sent[1] > 0
    shown = box.says(C, f"cat /sys/class/net/{NIC_C}/ecn/roce_np/min_time_between_cnps")
    assert shown.strip() == "4"
    box.heal(C)
    box.end_traffic()
    box.says(SWITCH, f"system-view\ninterface {OUT}\nundo qos wred apply")


@pytest.mark.parametrize("kind", ["udp", "rc", "tcp"])
def test_a_frozen_host_sends_nothing_and_goes_on(box, kind):
    flow = {"udp": box.udp, "rc": box.rdma, "tcp": box.tcp}[kind]()
    done = lambda: flow.received_bytes if kind == "udp" else flow.delivered_bytes  # noqa: E731
    box.pass_ms(50)
    usual = done()
    box.hurt("freeze", A, seconds=0.5)
    box.pass_ms(10)  # what was handed over is sent
    held = done()
    box.pass_ms(480)
    assert done() == held < 1.3 * usual
    box.pass_ms(60)
    assert done() - held > 0.6 * usual
    flow.stop()
    box.pass_ms(5)
    if kind == "rc":
        assert flow.error_status is None


@pytest.mark.parametrize("kind", ["udp", "rc"])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_a_host_with_a_share_of_a_processor_sends_that_share(box, kind, share):
    box.hurt("cpu-limit", A, share=share)
    flow = box.udp() if kind == "udp" else box.rdma()
    box.pass_ms(200)
    got = flow.received_bytes if kind == "udp" else flow.delivered_bytes
    rate = 1e9 if kind == "udp" else 1e10 * 1024 / 1106
    assert got * 8 / 0.2 == pytest.approx(share * rate, rel=0.25)
    flow.stop()


def test_slow_counters_show_what_was_at_the_last_multiple_of_their_period(box):
    box.pass_ms(2000 - box.lab.timeline.now_ns // MS % 2000)
    box.hurt("slow-counters", SWITCH, seconds=2)

    def shown() -> tuple[str, ...]:
        commands = ("display packet-drop summary", f"display interface {OUT}")
        return (str(box.queues(OUT)), *(box.says(SWITCH, command) for command in commands))

    before, queue = shown(), box.queues(OUT)[3]
    flow = box.udp()
    box.pass_ms(300)
    flow.stop()
    box.pass_ms(1600)
    assert shown()[0] == before[0]
    assert re.findall("Output .total.*", shown()[2]) == re.findall("Output .total.*", before[2])
    box.pass_ms(200)
    assert box.queues(OUT)[3] - queue == flow.sent_datagrams
    again = box.udp()
    box.pass_ms(10)
    again.stop()
    assert box.queues(OUT)[3] - queue == flow.sent_datagrams
    box.heal(SWITCH)
    box.pass_ms(5)
    assert box.queues(OUT)[3] - queue == flow.sent_datagrams + again.sent_datagrams


@pytest.mark.parametrize(
    "counter",
    ["rx_discards_phy", "implied_nak_seq_err", "rx_missed_errors", "rx_prio4_discards"],
)
def test_a_counter_of_a_nic_grows_alone(box, counter):
    before = box.counters(C, NIC_C)
    box.hurt("growing-counter", C, port=NIC_C, counter=counter, by=7)
    assert grown(box.counters(C, NIC_C), before) == {counter: 7}
    box.hurt("reset-counters", C)
    assert box.counters(C, NIC_C)[counter] == 0


def test_a_counter_of_a_stack_grows_alone(box):
    before = box.snmp(C)
    box.hurt("growing-counter", C, port="", counter="IpReasmFails", by=1)
    assert grown(box.snmp(C), before) == {"IpReasmFails": 1}


@pytest.mark.parametrize("words", ["Input dropped", "Output dropped", "Packets of WRED dropped"])
def test_a_drop_counter_of_a_switch_port_grows_alone(box, words):
    command = f"display packet-drop interface {FROM_A}"
    before = int(re.findall(rf"{words}: (\d+)", box.says(SWITCH, command))[0])
    rest = re.sub(rf"{words}: \d+", "", box.says(SWITCH, command))
    box.hurt("growing-counter", SWITCH, port=FROM_A, counter=words, by=3)
    assert re.findall(rf"{words}: (\d+)", box.says(SWITCH, command)) == [str(before + 3)]
    assert re.sub(rf"{words}: \d+", "", box.says(SWITCH, command)) == rest


def test_somebody_changes_a_setting(box):
    line = "qos wrr 3 group 1 byte-count 7"
    box.hurt(
        "somebody", SWITCH, command=f"system-view\ninterface {OUT}\nqos wrr byte-count\n{line}"
    )
    assert "byte-count 7" in box.says(SWITCH, f"display current-configuration interface {OUT}")
    box.hurt("somebody", A, command=f"sleep 0.05; mlnx_qos -i {NIC_A} --trust pcp")
    assert "Priority trust state: dscp" in box.says(A, f"mlnx_qos -i {NIC_A}")
    box.pass_ms(60)
    assert "Priority trust state: pcp" in box.says(A, f"mlnx_qos -i {NIC_A}")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "nic-discards", "device": SWITCH, "port": OUT}, "applies to hosts only"),
        ({"kind": "freeze", "device": SWITCH, "seconds": 1}, "'freeze' applies to hosts only"),
        ({"kind": "slow-counters", "device": A, "seconds": 1}, "switches only; ServerA is a host"),
        ({"kind": "drop-packets", "device": A}, "switches only; ServerA is a host"),
        ({"kind": "nic-discards", "device": C, "port": "eth7", "per_million": 1}, "no port 'eth7'"),
        ({"kind": "nic-discards", "device": C, "port": NIC_C}, 'needs "per_million"'),
        (
            {"kind": "growing-counter", "device": C, "port": NIC_C, "counter": "rx_lost", "by": 1},
            "'rx_lost' is no counter of ethtool",
        ),
        (
            {"kind": "growing-counter", "device": SWITCH, "port": OUT, "counter": "X", "by": 1},
            "one of Input dropped, Output dropped",
        ),
        (
            {"kind": "lossy-cable", "device": SWITCH, "port": OUT, "per_million": 1,
             "counted": "symbol"},
            "are not counted as 'symbol'",
        ),
        ({"kind": "carrier-flap", "device": A, "port": "eth7", "milliseconds": 1}, "no cable in"),
    ],
)  # fmt: skip
def test_what_a_device_can_not_suffer_is_refused(box, fault, words):
    with pytest.raises(UnknownFault, match=re.escape(words)):
        box.lab.inject(fault)


def test_a_linux_switch_has_slow_counters_a_deaf_port_and_counters_that_grow():
    box = Box("linux-lab")

    def sent() -> str:
        return box.says(
            "sw", "tc -s qdisc show dev swp3; cat /sys/class/net/swp3/statistics/tx_packets"
        )

    box.hurt("ignores-dscp", "sw", port="swp1")
    box.hurt("slow-counters", "sw", seconds=1)
    before = sent()
    request = UdpRequest(device="h1", interface="eth1", destination="10.71.0.3", tos=0x60,
                         rate_bits_per_s=1e8, datagram_bytes=1472)  # fmt: skip
    flow = box.lab.network.start_udp(request)
    box.pass_ms(100)
    flow.stop()
    box.pass_ms(800)
    assert sent() == before
    box.pass_ms(200)
    counters = box.lab.network.switch("sw").queue_counters("swp3")
    assert [queue.forwarded_packets for queue in counters] == [flow.sent_datagrams] + 7 * [0]
    assert f" {flow.sent_datagrams} pkt" in sent()
    box.hurt("growing-counter", "sw", port="swp3", counter="tx_dropped", by=4)
    assert box.says("sw", "cat /sys/class/net/swp3/statistics/tx_dropped").strip() == "4"


def test_a_notification_point_forgets_one_sender(box):
    curve = "queue 3 low-limit 1 high-limit 2 discard-probability 100"
    box.says(SWITCH, f"system-view\nqos wred queue table v\nqueue 3 ecn\n{curve}")
    box.says(SWITCH, f"system-view\ninterface {OUT}\nqos wred apply v")
    box.udp(device=B, interface=NIC_B, tos=0, rate_bits_per_s=5e9)
    box.rdma()
    handled = []
    for address in ("192.168.10.10", None):
        if address:
            box.hurt("forgets-cnps", C, port=NIC_C, to=address)
        else:
            box.heal(C)
        before = box.counters(A, NIC_A)["rp_cnp_handled"]
        box.pass_ms(20)
        handled.append(box.counters(A, NIC_A)["rp_cnp_handled"] - before)
    assert handled[0] == 0 < handled[1]
    box.end_traffic()
    box.says(SWITCH, f"system-view\ninterface {OUT}\nundo qos wred apply")


def test_a_reaction_point_heeds_as_few_cnps_as_the_fault_says(box):
    curve = "queue 3 low-limit 1 high-limit 2 discard-probability 100"
    box.says(SWITCH, f"system-view\nqos wred queue table u\nqueue 3 ecn\n{curve}")
    box.says(SWITCH, f"system-view\ninterface {OUT}\nqos wred apply u")
    folder = f"/sys/class/net/{NIC_A}/ecn/roce_rp"
    stuck = {"clamp_tgt_rate": 1, "rpg_byte_reset": 0, "rpg_time_reset": 100_000}
    usual = {name: box.says(A, f"cat {folder}/{name}").strip() for name in stuck}
    for name, value in stuck.items():
        box.says(A, f"echo {value} > {folder}/{name}")
    box.udp(device=B, interface=NIC_B, tos=0, rate_bits_per_s=5e9)
    flow = box.rdma()
    got = []
    for one_in in (1_000_000, 1):
        box.hurt("heeds-few-cnps", A, port=NIC_A, one_in=one_in)
        before, handled = flow.delivered_bytes, box.counters(A, NIC_A)["rp_cnp_handled"]
        box.pass_ms(50)
        got.append(flow.delivered_bytes - before)
        assert box.counters(A, NIC_A)["rp_cnp_handled"] > handled
    assert got[1] < 0.5 * got[0]
    for name, value in usual.items():
        box.says(A, f"echo {value} > {folder}/{name}")
    box.heal(A)
    box.end_traffic()
    box.says(SWITCH, f"system-view\ninterface {OUT}\nundo qos wred apply")
