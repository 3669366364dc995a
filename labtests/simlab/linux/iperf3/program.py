"""iperf3 as a program: `-s` serves tests one after the other, `-c` runs one.

Words and exit statuses of 3.12: errors end with 1 in text mode and with 0 under -J.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

from labtests.network import TcpRequest, UdpFlow, UdpRequest
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.system import system_info
from labtests.simlab.linux.iperf3.plan import (
    MSS_BYTES,
    USAGE_HINT,
    VERSION,
    Iperf3Plan,
    read_plan,
)
from labtests.simlab.linux.iperf3.rows import SERVER_RULER
from labtests.simlab.linux.iperf3.side import CAUGHT, Iperf3Side
from labtests.simlab.linux.iperf3.trial import NS_PER_S, Iperf3Stream, Trial
from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.processes import Birth, HostProcess, Pause, Program, StandardStreams
from labtests.simlab.linux.sockets import ReceiveSocket, turn_ns
from labtests.simlab.linux.streams import Event, Output, nothing

CONNECTING_NS = 3_000_000
SETTLING_NS = 10_000_000  # nothing new for so long: what was under way has arrived
SETTLING_LIMIT_NS = 500_000_000
EPHEMERAL_PORTS = (32768, 60999)
COOKIE_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(slots=True, kw_only=True, eq=False)
class Iperf3Listener:
    """A server; `trial` is the test that it runs at present, or will."""

    process: HostProcess
    trial: Trial | None = None
    met: Event = field(default_factory=Event)


def _iperf3(call: Call) -> Program:
    plan, options = read_plan(call.arguments)
    if "v" in options or "h" in options:
        call.out(f"{VERSION}\n{system_info(call.host.name)}\n" if "v" in options else USAGE_HINT)
        return 0
    if "D" in options and plan.server is None:
        return _behind(call, plan)
    return (yield from _side(call, plan))


def _side(call: Call, plan: Iperf3Plan) -> Program:
    call.process.caught |= CAUGHT
    if plan.server is None:
        return (yield from _Server(call, plan).program())
    return (yield from _Client(call, plan).program())


def _behind(call: Call, plan: Iperf3Plan) -> int:
    """A server that goes on without whoever started it, as daemon(3) makes one."""
    nowhere = StandardStreams(input=nothing(), out=Output(), err=Output())
    born = Birth(
        parent_pid=1,
        user=call.process.user,
        streams=nowhere,
        environment=call.process.environment,
        directory="/",
    )
    call.process.kernel.spawn(
        born, call.process.argv, lambda process: _side(replace(call, process=process), plan)
    )
    return 0


class _Server(Iperf3Side):
    """`iperf3 -s`."""

    side = "server"

    def __init__(self, call: Call, plan: Iperf3Plan) -> None:
        super().__init__(call, plan)
        self._listener = Iperf3Listener(process=call.process)

    def program(self) -> Program:
        """Serves until `-1` is done or a signal comes."""
        key = (self.call.host.name, "tcp", self.plan.port)
        listeners = self.call.host.lab.listeners
        if key in listeners:
            used = "unable to start listener for connections: Address already in use"
            more = "" if self.plan.json else "\niperf3: exiting"
            return self.failed(f"error - {used}{more}")
        listeners[key] = self._listener

        def close() -> None:
            if self._listener.trial is not None:
                self._listener.trial.leave("server")
            del listeners[key]

        self.call.process.at_end.append(close)
        return (yield from self._serve())

    def _serve(self) -> Program:
        number = 1
        while True:
            title = f"Server listening on {self.plan.port} (test #{number})\n"
            self.say(SERVER_RULER + title + SERVER_RULER)
            while self._listener.trial is None or not self._listener.trial.running:
                yield Pause(on=(self._listener.met,))
                if self.interrupted:
                    return self._interrupt(None)
            trial = self._listener.trial
            yield from self._one(trial)
            if self.interrupted:
                return self._interrupt(trial)
            self._listener.trial = None
            self.close()
            if self.plan.one_off:
                return 0
            number += 1

    def _one(self, trial: Trial) -> Generator[Pause, None, None]:
        self.say(f"Accepted connection from {trial.client_address}, port {trial.control_port}\n")
        self.begin(trial, self.plan.port)
        whole = round(trial.plan.duration_s * NS_PER_S)
        done = yield from self.follow(trial, whole)
        while done and not trial.over and not trial.broken and not self.interrupted:
            yield Pause(on=(trial.changed,))
        if self.interrupted:
            return
        if trial.broken or trial.interrupted:
            self.repeat(trial)
        else:
            self.report(trial)  # the last moment: what came after the last whole interval
        self.finish(trial, *self.results(trial))
        if trial.interrupted:
            self.complain("the client has terminated")
        elif trial.broken:
            self.complain("the client has unexpectedly closed the connection")

    def _interrupt(self, trial: Trial | None) -> int:
        if trial is not None:
            trial.interrupted = "server"
            self.report(trial)
            self.finish(trial, *self.results(trial))
        self.complain("interrupt - the server has terminated")
        self.close()
        return 1


class _Client(Iperf3Side):
    """`iperf3 -c HOST`."""

    side = "client"

    def program(self) -> Program:
        """One test."""
        port = self.call.host.route(self.plan.server or "")
        listener = self._find()
        if isinstance(listener, str) or port is None:
            words = listener if isinstance(listener, str) else "Network is unreachable"
            return self.failed(words)
        trial = self._trial(port)
        listener.trial = trial

        def leave() -> None:
            trial.leave("client")
            if not trial.running and listener.trial is trial:
                listener.trial = None

        self.call.process.at_end.append(leave)
        kernel = self.call.host.kernel
        due_ns = kernel.now_ns + CONNECTING_NS
        while kernel.now_ns < due_ns and not trial.broken and not self.interrupted:
            yield Pause(until_ns=due_ns, on=(trial.changed,))
        self._begin(trial, listener, port)
        return (yield from self._test(trial))

    def _find(self) -> Iperf3Listener | str:
        """The server, or why there is none."""
        lab, address = self.call.host.lab, self.plan.server or ""
        connecting = "error - unable to connect to server: "
        if not all(part.isdigit() for part in address.split(".")):
            return connecting + "Name or service not known"
        if self.call.host.route(address) is None:
            return connecting + "Network is unreachable"
        device = lab.device_with_address(address)
        if device is None:
            return connecting + "No route to host"
        listener = lab.listeners.get((device, "tcp", self.plan.port))
        if not isinstance(listener, Iperf3Listener):
            return connecting + "Connection refused"
        if listener.trial is not None:
            return "error - the server is busy running a test. try again later"
        return listener

    def _trial(self, port: NicPort) -> Trial:
        random = self.call.host.random
        return Trial(
            plan=self.plan,
            client=self.call.process,
            client_address=self._own_address(port),
            server_address=self.plan.server or "",
            control_port=random.randint(*EPHEMERAL_PORTS),
            cookie="".join(random.choice(COOKIE_LETTERS) for _ in range(36)),
            jitter_ms=random.uniform(0.002, 0.02),
        )

    def _own_address(self, port: NicPort) -> str:
        """Of the device that the server is reached by."""
        tunnel = self.call.host.tunnels.to(self.plan.server or "")
        inside = None if tunnel is None else tunnel.address
        return (port.address or "") if inside is None else str(inside.ip)

    def _begin(self, trial: Trial, listener: Iperf3Listener, port: NicPort) -> None:
        random = self.call.host.random
        trial.start_ns = self.call.host.kernel.now_ns
        trial.streams = tuple(
            Iperf3Stream(number=number, client_port=random.randint(*EPHEMERAL_PORTS))
            for number in range(self.plan.streams)
        )
        if self.plan.udp and self.plan.block_bytes > MSS_BYTES:
            self.call.err(
                f"warning: UDP block size {self.plan.block_bytes} exceeds TCP MSS {MSS_BYTES}, "
                "may result in fragmentation / drops\n"
            )
        self.say(f"Connecting to host {self.plan.server}, port {self.plan.port}\n")
        if self.plan.reverse:
            self.say(f"Reverse mode, remote host {self.plan.server} is sending\n")
        for stream in trial.streams:
            self._start(trial, stream, port)
        trial.running = True
        self.begin(trial, self.plan.port)
        listener.met.set()

    def _start(self, trial: Trial, stream: Iperf3Stream, port: NicPort) -> None:
        """The stream's sender, on whichever host, begins."""
        here, network, plan = self.call.host, self.call.host.lab.network, self.plan
        there, theirs = self._at(trial.server_address)
        sender, receiver, target = (here, port), there, trial.server_address
        answering = theirs
        if plan.reverse:
            sender, receiver, target = (there, theirs), here, trial.client_address
            answering = port
        tunnel, outer = sender[0].tunnels.to(target), sender[0].outer_to(target)
        target = receiver.address_below(target)
        if plan.udp:
            stream.udp = network.start_udp(
                UdpRequest(
                    device=sender[0].name,
                    interface=sender[1].interface,
                    destination=target,
                    tos=plan.tos,
                    rate_bits_per_s=plan.rate_bits_per_s or port.speed_mbit_per_s * 1e6,
                    datagram_bytes=plan.block_bytes,
                    mtu_bytes=(tunnel or sender[1]).mtu_bytes,
                    outer=outer,
                    pcp=sender[1].pcp(plan.tos),
                )
            )
            stream.receiver = receiver.sockets
            if plan.window_bytes:
                self._narrow(stream, stream.udp, receiver)
        else:
            # the client, which opens the connection, asks for ECN, and the server does not refuse
            ecn = here.sockets.tcp_ecn == 1 and there.sockets.tcp_ecn != 0
            stream.tcp = network.start_tcp(
                TcpRequest(
                    device=sender[0].name,
                    interface=sender[1].interface,
                    destination=target,
                    tos=plan.tos,
                    ecn=ecn,
                    outer=outer,
                    pcp=sender[1].pcp(plan.tos),
                    control_pcp=answering.pcp(plan.tos),
                )
            )
            sender[0].sockets.tcp.append(stream.tcp)

    def _at(self, address: str) -> tuple[Machine, NicPort]:
        """The host with this address, where the server has been found, and its port."""
        host = self.call.host.other(address)
        assert host is not None
        below = host.address_below(address)
        return host, next(port for port in host.ports if port.address == below)

    def _narrow(self, stream: Iperf3Stream, flow: UdpFlow, receiver: Machine) -> None:
        """The receiver's socket holds what was asked for, and loses the rest."""
        kernel = self.call.host.kernel
        socket = ReceiveSocket(
            flow=flow,
            asked_bytes=self.plan.window_bytes,
            datagram_bytes=self.plan.block_bytes,
            since_ns=kernel.now_ns,
            turn_ns=turn_ns(receiver.ports[0].speed_mbit_per_s),
        )
        receiver.sockets.narrow.append(socket)
        stream.lost_in_host = lambda: socket.lost(kernel.now_ns)

    def _test(self, trial: Trial) -> Program:
        done = yield from self.follow(trial, round(self.plan.duration_s * NS_PER_S))
        if self.interrupted:
            return self._interrupt(trial)
        if not done:
            return self._lost(trial)
        trial.stop()
        yield from self._settle(trial)
        sent, received = self.results(trial)  # what was in the socket at the end counts as sent
        for stream in trial.streams:
            stream.close()
        trial.over = True
        self.finish(trial, sent, received)
        self.say("\niperf Done.\n")
        self.close()
        return 0

    def _settle(self, trial: Trial) -> Generator[Pause, None, None]:
        """What is under way arrives before the results are exchanged."""
        kernel = self.call.host.kernel
        limit_ns = kernel.now_ns + SETTLING_LIMIT_NS
        before = None
        now = [stream.received()["sent_bytes"] for stream in trial.streams]
        while now != before and kernel.now_ns < limit_ns and not trial.broken:
            before = now
            due_ns = kernel.now_ns + SETTLING_NS
            while kernel.now_ns < due_ns:
                yield Pause(until_ns=due_ns)
            now = [stream.received()["sent_bytes"] for stream in trial.streams]

    def _interrupt(self, trial: Trial) -> int:
        """A partial interval, a summary without the receiver's part, and a complaint."""
        trial.interrupted = "client"
        self.report(trial)
        self.finish(trial, *self.results(trial, received=False))
        self.complain("interrupt - the client has terminated")
        self.close()
        return 1

    def _lost(self, trial: Trial) -> int:
        """The server is gone: politely (it was interrupted) or not."""
        if trial.interrupted:
            self.report(trial)
            self.finish(trial, *self.results(trial, received=False))
            return self.failed("error - the server has terminated")
        self.repeat(trial)
        if self.plan.udp:
            return self.failed("error - control socket has closed unexpectedly")
        return self.failed("error - unable to write to stream socket: Connection reset by peer")


TOOLS: Tools = {"iperf3": _iperf3}
