"""ping: whether an address of the lab answers, in the words of iputils 20211215 (from memory).

It knows reachability and the MTU, and lets no packets through the network: its times are made up,
and both hosts count them, but no switch does.
With -Q its requests are packets in the network, of the length and the TOS byte that they have; the
answers are not.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass

from labtests.network import UdpFlow, UdpRequest
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, read_options, whole
from labtests.simlab.linux.ports import EchoFrames
from labtests.simlab.linux.processes import Pause, Program

NS_PER_S = 1_000_000_000
MTU_BYTES = 1500
IP_BYTES, ICMP_BYTES, ETHERNET_BYTES = 20, 8, 14
HEADER_BYTES = IP_BYTES + ICMP_BYTES
TIME_MS = "0.051"
BAD_USAGE = 2
LEAST_GAP_NS = 100_000
ANSWERED_NS = NS_PER_S // 10  # no queue of the simulated lab holds a packet for so long


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    target: str
    count: int | None  # None: until interrupted
    gap_ns: int
    wait_ns: int  # for the last answer
    size_bytes: int
    quiet: bool
    fragments: bool
    tos: int | None


def _ping(call: Call) -> Program:
    plan = _plan(call.arguments)
    if not re.fullmatch(r"[0-9]+(\.[0-9]+){3}", plan.target):
        if plan.target != "localhost":
            return call.fail(f"{plan.target}: Name or service not known", BAD_USAGE)
    elif call.host.route(plan.target) is None and not plan.target.startswith("127."):
        return call.fail("connect: Network is unreachable", BAD_USAGE)
    size = plan.size_bytes
    call.out(f"PING {plan.target} ({plan.target}) {size}({size + HEADER_BYTES}) bytes of data.\n")
    return (yield from _PingRun(call, plan).run())


def _plan(arguments: tuple[str, ...]) -> _Plan:
    options, words = read_options(arguments, "-nq -cWisMQ=")
    if len(words) != 1:
        raise BadOption("usage error: Destination address required")
    return _Plan(
        target=words[0],
        count=max(whole(options, "c", 1, "argument"), 1) if "c" in options else None,
        gap_ns=round(_seconds(options, "i", "1") * NS_PER_S),
        wait_ns=round(_seconds(options, "W", "10") * NS_PER_S),
        size_bytes=whole(options, "s", 56, "argument"),
        quiet="q" in options,
        fragments=options.get("M", "want") != "do",
        tos=_tos(options["Q"]) if "Q" in options else None,
    )


def _tos(text: str) -> int:
    try:
        tos = int(text, 0)
    except ValueError:
        tos = -1
    if not 0 <= tos <= 255:
        raise BadOption(f"bad TOS value: {text}")
    return tos


def _seconds(options: dict[str, str], letter: str, default: str) -> float:
    text = options.get(letter, default)
    if not re.fullmatch(r"[0-9]*\.?[0-9]+|[0-9]+\.", text):
        raise BadOption(f"invalid argument: '{text}'")
    return float(text)


class _PingRun:
    def __init__(self, call: Call, plan: _Plan) -> None:
        self._call, self._plan, self._kernel = call, plan, call.host.kernel
        self._start_ns = self._last_ns = self._kernel.now_ns
        self._sent = self._received = self._errors = 0
        own = plan.target == "localhost" or plan.target.startswith("127.")
        self._answers = own or call.host.lab.device_with_address(plan.target) is not None
        self._requests: UdpFlow | None = None  # in the network

    def run(self) -> Program:
        """Until the count or Ctrl-C; 0 when anything answered."""
        call, plan = self._call, self._plan
        call.process.caught.add("INT")
        if plan.tos is not None and self._answers:
            self._requests = self._begin_requests(plan.tos)
        while plan.count is None or self._sent < plan.count:
            self._send()
            if self._sent == plan.count:
                break
            if not (yield from self._pause(self._last_ns + plan.gap_ns)):
                break
        yield from self._end_requests()
        if not self._answers and self._sent == plan.count:
            yield from self._pause(self._last_ns + plan.wait_ns)
        self._report()
        return int(self._received == 0)

    def _begin_requests(self, tos: int) -> UdpFlow | None:
        """Packets of this length, one every gap, the first of them now."""
        host, plan = self._call.host, self._plan
        port, there = host.route(plan.target), host.other(plan.target)
        if port is None or there is None:
            return None
        flow = host.lab.network.start_udp(
            UdpRequest(
                device=host.name,
                interface=port.interface,
                destination=there.address_below(plan.target),
                outer=host.outer_to(plan.target),
                tos=tos,
                rate_bits_per_s=8 * plan.size_bytes * NS_PER_S / max(plan.gap_ns, LEAST_GAP_NS),
                datagram_bytes=plan.size_bytes,
                pcp=port.pcp(tos),
            )
        )
        host.sockets.pings_out.append(flow)
        there.sockets.pings_in.append(flow)
        return flow

    def _end_requests(self) -> Generator[Pause, None, None]:
        """No more than were sent; those that the network lost were not answered."""
        flow = self._requests
        if flow is None:
            return
        yield from self._pause(self._last_ns + max(self._plan.gap_ns, LEAST_GAP_NS) // 2)
        flow.stop()
        due_ns = self._kernel.now_ns + min(self._plan.wait_ns, ANSWERED_NS)
        while flow.received_datagrams < self._sent and self._kernel.now_ns < due_ns:
            if not (yield from self._pause(self._kernel.now_ns + LEAST_GAP_NS)):
                break
        self._received = min(self._received, flow.received_datagrams)

    def _send(self) -> None:
        self._sent += 1
        self._last_ns = self._kernel.now_ns
        too_long = self._plan.size_bytes + HEADER_BYTES > MTU_BYTES and not self._plan.fragments
        if too_long:
            self._errors += 1
            self._call.err(f"ping: local error: message too long, mtu={MTU_BYTES}\n")
            return
        if self._requests is None:
            self._count()
        if self._answers:
            self._received += 1
            if not self._plan.quiet:
                self._call.out(
                    f"{self._plan.size_bytes + 8} bytes from {self._plan.target}: "
                    f"icmp_seq={self._sent} ttl=64 time={TIME_MS} ms\n"
                )

    def _count(self) -> None:
        """At both hosts, by stack and NIC: a request, and the answer to it."""
        here, target = self._call.host, self._plan.target
        port, there = here.route(target), here.other(target)
        if port is None or there is here:  # by lo
            return
        here.sockets.requests_out += 1
        if not self._answers:
            return
        here.sockets.answers_in += 1
        self._count_frames(port.echoes, port.mtu_bytes)
        if there is None:
            return
        there.sockets.requests_in += 1
        opposite = there.route(port.address or "")
        if opposite is not None:
            self._count_frames(opposite.echoes, port.mtu_bytes)

    def _count_frames(self, echoes: EchoFrames, mtu_bytes: int) -> None:
        """As many in as out, and of the same length; a long one goes in fragments."""
        size = self._plan.size_bytes + ICMP_BYTES
        frames = max(-(-size // (mtu_bytes - IP_BYTES)), 1)
        echoes.rx_packets += frames
        echoes.tx_packets += frames
        echoes.rx_bytes += size + frames * (IP_BYTES + ETHERNET_BYTES)
        echoes.tx_bytes += size + frames * (IP_BYTES + ETHERNET_BYTES)

    def _pause(self, until_ns: int) -> Generator[Pause, None, bool]:
        """Whether the time came before Ctrl-C."""
        while self._kernel.now_ns < until_ns:
            yield Pause(until_ns=until_ns)
            if self._call.process.take_signal() is not None:
                return False
        return True

    def _report(self) -> None:
        errors = f", +{self._errors} errors" if self._errors else ""
        loss = 100 * (self._sent - self._received) / self._sent
        spent_ms = (self._last_ns - self._start_ns) // 1_000_000
        rtt = f"rtt min/avg/max/mdev = {TIME_MS}/{TIME_MS}/{TIME_MS}/0.000 ms"
        self._call.out(
            f"\n--- {self._plan.target} ping statistics ---\n"
            f"{self._sent} packets transmitted, {self._received} received{errors}, "
            f"{loss:g}% packet loss, time {spent_ms}ms\n"
            f"{rtt if self._received else ''}\n"
        )


TOOLS: Tools = {"ping": _ping}
