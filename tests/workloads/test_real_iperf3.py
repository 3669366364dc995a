"""The real iperf3 over loopback, through the same incast that runs on the lab."""

import os
import shutil
import socket
import struct
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from local_transport import LocalTransport, WallClock

from labtests.capabilities.flows import FlowStatus
from labtests.workloads import Iperf3, Party, Stream, incast
from labtests.workloads.iperf3_json import parse_json

pytestmark = pytest.mark.skipif(
    shutil.which("iperf3") is None or shutil.which("pgrep") is None,
    reason="iperf3 or pgrep is not installed on this machine",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def stream(port: int, *, tos: int, starts_after_s: float = 0.0) -> Stream:
    here = Party(name="localhost", transport=LocalTransport(), address="127.0.0.1")
    tool = Iperf3(
        protocol="udp",
        tos=tos,
        port=port,
        offered_bits_per_s=8e6,
        duration_s=1,
        datagram_bytes=1400,
    )
    return Stream(sender=here, receiver=here, tool=tool, starts_after_s=starts_after_s)


def test_two_real_udp_flows_are_complete_and_leave_nothing_behind() -> None:
    first, second = free_port(), free_port()
    streams = (stream(first, tos=0x60), stream(second, tos=0xA0, starts_after_s=0.5))
    flows = incast(streams, clock=WallClock(), duration_s=1.5)
    assert [(flow.status, flow.because) for flow in flows] == [(FlowStatus.COMPLETE, "")] * 2
    for flow in flows:
        assert flow.sent_datagrams is not None
        assert flow.sent_datagrams > 500
        assert flow.lost_datagrams == 0
        assert 1e6 < flow.goodput_bits_per_s < 8.8e6  # a busy machine sends less
    assert flows[1].intervals[0].start_s > flows[0].intervals[0].start_s + 0.4
    for port in (first, second):
        listed = subprocess.run(["pgrep", "-f", f"[i]perf3 .*-p {port}"], capture_output=True)
        assert listed.returncode == 1


def test_a_port_that_is_taken_is_infrastructure_in_iperf3s_own_words() -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        (flow,) = incast(
            (stream(taken.getsockname()[1], tos=0),), clock=WallClock(), duration_s=1.0
        )
    assert flow.status is FlowStatus.INFRASTRUCTURE
    assert "Address already in use" in flow.because


def test_the_real_json_of_a_refused_connection_is_an_error_whatever_its_exit_status() -> None:
    command = f"iperf3 -c 127.0.0.1 -p {free_port()} -t 1 -J"
    assert "Connection refused" in parse_json(LocalTransport().run(command)).error


ARRIVES = 0  # PACKET_HOST: on the loopback device each packet is seen as leaving, too


SO_RCVBUFFORCE = 33  # socket(7); the module has no name for it


@contextmanager
def counted(port: int) -> Iterator[Counter[int]]:
    """How many UDP packets to this port each TOS byte had on the loopback device. It listens up to
    a datagram of its own: silence may be long in coming where other tests talk."""
    seen: Counter[int] = Counter()
    done, last = threading.Event(), free_port()

    def listen(wire: socket.socket) -> None:
        while True:
            try:
                frame, address = wire.recvfrom(2048)
            except TimeoutError:
                if done.is_set():
                    return
                continue
            packet = frame[14:]
            start = (packet[0] & 15) * 4
            if address[2] == ARRIVES and packet[9] == socket.IPPROTO_UDP:
                (to,) = struct.unpack("!H", packet[start + 2 : start + 4])
                if to == last:
                    return
                seen.update([packet[1]] if to == port else [])

    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)) as wire:
        wire.bind(("lo", 0x0800))
        wire.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 2**26)  # for a starved listener
        wire.settimeout(0.3)
        listener = threading.Thread(target=listen, args=(wire,))
        listener.start()
        try:
            yield seen
        finally:
            done.set()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
                end.sendto(b"", ("127.0.0.1", last))
            listener.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may count packets")
@pytest.mark.parametrize("streams", [1, 3])
def test_the_packets_of_a_class_are_the_datagrams_and_as_many_more_as_the_release_says(
    streams: int,
) -> None:
    port = free_port()
    one = stream(port, tos=0x60)
    with counted(port) as seen:
        crowd = replace(one, tool=replace(one.tool, parallel=streams))
        (flow,) = incast((crowd,), clock=WallClock(), duration_s=1.5)
    assert (flow.status, flow.because) == (FlowStatus.COMPLETE, "")
    assert flow.sent_datagrams is not None
    assert flow.extra_packets is not None
    assert flow.unsure_datagrams == 0
    assert seen[0x60] == flow.sent_datagrams + flow.extra_packets
    assert seen.total() == flow.sent_datagrams + streams
    assert flow.offered_bits_per_s == pytest.approx(flow.sent_bits_per_s, rel=0.1)
