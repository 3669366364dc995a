"""What is more than one iperf3 process can send is several processes, and one result."""

from dataclasses import replace

import pytest
from stage import PaperClock, PaperHost, Script
from traffic_recordings import recording

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.workloads import Iperf3, Party, Stream, incast

ACCEPTED = "Server listening on 1\nAccepted connection from 10.0.0.1, port 2\n"
REPORT = recording("iperf3", "json-3.18-udp.txt").reply.text
BROKEN = recording("iperf3", "error-json-3.18-server-killed.txt").reply.text


def udp(offered_bits_per_s: float | None, datagram_bytes: int = 65500) -> Iperf3:
    return Iperf3(
        protocol="udp",
        tos=0x60,
        port=5201,
        offered_bits_per_s=offered_bits_per_s,
        duration_s=2,
        datagram_bytes=datagram_bytes,
    )


@pytest.mark.parametrize(
    ("tool", "processes"),
    [
        (udp(10e9), 1),
        (udp(78e9), 8),
        (udp(3.5e9, 1472), 1),
        (udp(20e9, 1472), 6),
        (udp(400e9, 1472), 16),
        (udp(None), 1),
        (replace(udp(78e9), protocol="tcp"), 1),
    ],
)
def test_the_rate_in_bits_and_in_datagrams_says_how_many_processes_it_takes(
    tool: Iperf3, processes: int
) -> None:
    assert tool.processes == processes


def run(plays: dict[int, str], offered_bits_per_s: float) -> tuple[FlowResult, PaperHost]:
    """One stream from one paper host to another; each client prints what its port's test does."""
    clock = PaperClock()

    def client(command: str, before: int) -> Script:
        port = int(command.split(" -p ")[1].split()[0])
        return Script(prints=((2.4, plays.get(port, REPORT)),), ends=(2.5, 0))

    def server(command: str, before: int) -> Script:
        return Script(prints=((0.1, ACCEPTED.replace("on 1", f"on {command.split()[5]}")),))

    sender, receiver = PaperHost("ServerA", clock, client), PaperHost("ServerC", clock, server)
    stream = Stream(
        sender=Party(name="ServerA", transport=sender, address="10.0.0.1"),
        receiver=Party(name="ServerC", transport=receiver, address="10.0.0.2"),
        tool=udp(offered_bits_per_s, 1472),
    )
    (flow,) = incast((stream,), clock=clock, duration_s=3.0)
    return flow, sender


def test_the_processes_of_a_flow_have_ports_of_their_own_share_its_rate_and_are_summed() -> None:
    flow, sender = run({}, 10e9)
    asked = [process.command.split() for process in sender.started]
    assert [words[words.index("-p") + 1] for words in asked] == ["5201", "5301", "5401"]
    assert {words[words.index("-b") + 1] for words in asked} == {"3333333333"}
    assert (flow.status, flow.because) == (FlowStatus.COMPLETE, "")
    assert flow.offered_bits_per_s == 10e9
    assert (flow.sent_datagrams, flow.lost_datagrams, flow.extra_packets) == (3 * 3389, 0, 3)
    assert flow.goodput_bits_per_s == pytest.approx(3 * 1.99269e7, rel=1e-4)
    assert flow.sent_bits_per_s == pytest.approx(3 * 1.99314e7, rel=1e-4)
    assert [row.goodput_bits_per_s for row in flow.intervals] == [
        pytest.approx(3 * 1.99988e7, rel=1e-4),
        pytest.approx(3 * 1.98633e7, rel=1e-4),
    ]


def test_a_flow_of_which_one_process_failed_is_not_complete_and_its_sums_are_not_known() -> None:
    flow, _ = run({5301: BROKEN}, 10e9)
    assert flow.status is FlowStatus.FAILED
    assert "control socket has closed unexpectedly" in flow.because
    assert (flow.sent_datagrams, flow.goodput_bits_per_s) == (None, None)
