"""ib_send_bw, ib_write_bw and ib_read_bw: while they measure, and how they end.

What happens when the other side dies, or was started with other options, is as recorded on
soft-RoCE with perftest 25.01: survivors print a figure and hang (with -R), or end with status 0.
"""

from collections.abc import Generator

from labtests.network import RcFlow, RcRequest
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import Refused
from labtests.simlab.linux.perftest import report
from labtests.simlab.linux.perftest.contact import Contact
from labtests.simlab.linux.perftest.meeting import Meeting
from labtests.simlab.linux.perftest.plan import VERBS, PerftestPlan, read_plan, usage
from labtests.simlab.linux.perftest_builds import Build
from labtests.simlab.linux.ports import NicPort, gids
from labtests.simlab.linux.processes import Pause, Program
from labtests.simlab.linux.sockets import Connected
from labtests.simlab.linux.streams import Stdio

NS_PER_S = 1_000_000_000
CONNECTING_NS = 5_000_000
LOOK_NS = 20_000_000  # how often a running client looks for an error
FIRST_LOOK_NS = 50_000
MESSAGE_NS, PS_PER_US = 5_000, 1_000_000
MISMATCH_NS = 21_000_000_000  # recorded: `ib_send_bw -D 3` at an `ib_write_bw` ends after 24.7 s
COMPLETION_ERROR = 17  # exit status after a completion with error, as recorded
EPHEMERAL_PORTS = (32768, 60999)


class PerftestRun:
    """One run of a perftest program, of either side."""

    def __init__(self, call: Call, plan: PerftestPlan, build: Build) -> None:
        self._call = call
        self._plan = plan
        self._build = build
        self._out: Stdio = call.stdio()
        self._name = "server" if plan.server is None else "client"

    def program(self) -> Program:
        """The whole run; what stdio holds at its end comes out, unless a signal ended it."""
        if self._plan.duration_s and self._build.warns:
            self._out.write(report.WARNING)
        contact = Contact(self._call, self._plan)
        try:
            port = contact.port()
            if self._name == "server":
                self._out.write(report.WAITING)
                status = yield from self._together((yield from contact.listen(port)))
            else:
                status = yield from self._ask(contact.meet(port))
        except Refused:
            self._out.flush()
            raise
        self._out.flush()
        return status

    def _ask(self, meeting: Meeting) -> Program:
        kernel = self._call.host.kernel
        due_ns = kernel.now_ns + CONNECTING_NS
        self._call.process.at_end.append(lambda: meeting.leave("client"))
        while kernel.now_ns < due_ns:
            yield Pause(until_ns=due_ns)
        if not meeting.hopeless:
            self._begin(meeting)
        return (yield from self._together(meeting))

    def _begin(self, meeting: Meeting) -> None:
        """Traffic starts."""
        meeting.start_ns = self._call.host.kernel.now_ns
        meeting.running = True
        fits = not meeting.mismatched and meeting.error_status is None
        if fits and not self._plan.latency:
            meeting.flow = self._flow(meeting)
        meeting.changed.set()

    def _flow(self, meeting: Meeting) -> RcFlow:
        sender, plan = meeting.client, meeting.client.plan
        tos = plan.tos
        if tos is None:
            tos = sender.port.default_roce_tos if plan.rdma_cm else 0
        return self._call.host.lab.network.start_rc(
            RcRequest(
                device=sender.device,
                interface=sender.port.interface,
                destination=meeting.server.address,
                tos=tos,
                verb=plan.verb,
                message_bytes=plan.size_bytes,
                tx_depth=plan.depth,
                qps=plan.qps,
                mtu_bytes=meeting.mtu_bytes,
                timeout_exponent=plan.timeout_exponent,
                retry_limit=plan.retry_limit,
                messages=1 if plan.latency else None if plan.duration_s else plan.iterations,
                pcp=_pcp(sender.port, tos if plan.rdma_cm else None),
            )
        )

    # -- together --

    def _together(self, meeting: Meeting) -> Program:
        if self._name == "server":
            self._call.process.at_end.append(lambda: meeting.leave("server"))
        while not meeting.running:
            yield Pause(on=(meeting.changed,))  # for ever when it is hopeless
        known = self._call.host.sockets.connected
        connected = self._connections(meeting)
        known += connected

        def disconnect() -> None:
            known[:] = [connection for connection in known if connection not in connected]

        self._call.process.at_end.append(disconnect)
        self._print_head(meeting)
        return (yield from self._measure(meeting))

    def _setup(self, meeting: Meeting) -> report.Setup:
        side = meeting.server if self._name == "server" else meeting.client
        index = self._plan.gid_index
        return report.Setup(
            plan=self._plan,
            build=self._build,
            device=side.port.rdma,
            mtu_bytes=meeting.mtu_bytes,
            gid_index=len(gids(side.port)) - 1 if index is None else index,
        )

    def _print_head(self, meeting: Meeting) -> None:
        setup = self._setup(meeting)
        own, other = meeting.client, meeting.server
        if setup.is_server:
            own, other = other, own
        self._out.write(report.header(setup))
        if setup.is_server and self._plan.rdma_cm:
            self._out.write(report.WAITING_RDMA_CM)
        self._out.write(report.addresses(setup, "local", own.address, own.pairs))
        self._out.write(report.addresses(setup, "remote", other.address, other.pairs))
        self._out.write(report.RULER)
        if self._counts:
            self._out.write(report.table_header(self._plan))

    @property
    def _counts(self) -> bool:
        """Whether this side prints a table: a server of write and read has nothing to count."""
        sent = self._plan.verb == "send"
        return self._name == "client" or sent or self._build.passive_rows

    def _measure(self, meeting: Meeting) -> Program:
        if self._name == "client" and meeting.error_status is not None:
            return self._completion_error(meeting)
        if self._plan.latency:
            return (yield from self._ping_pong(meeting))
        if not self._counts:
            return (yield from self._stand_by(meeting))
        if self._plan.forever:
            return (yield from self._rows_for_ever(meeting))
        if self._plan.duration_s:
            result = yield from self._window(meeting, self._plan.duration_s)
        else:
            result = yield from self._iterations(meeting)
        if result is None:
            return self._completion_error(meeting)
        self._print_row(result)
        return (yield from self._part(meeting))

    def _ping_pong(self, meeting: Meeting) -> Program:
        """Message by message; both sides tell the same times, which the client takes: half of each
        one's way there and of its acknowledgement's back, by the network's own clock."""
        kernel = self._call.host.kernel
        while self._name == "server" and not meeting.finished and not meeting.gone:
            yield Pause(on=(meeting.changed,))
        while self._name == "client" and len(meeting.times_us) < self._plan.iterations:
            while meeting.mismatched or meeting.gone:
                yield Pause()
            flow = meeting.flow = self._flow(meeting)
            while (took_ps := flow.completion_ps) is None:
                if meeting.error_status is not None:
                    return self._completion_error(meeting)
                yield Pause(until_ns=kernel.now_ns + MESSAGE_NS)
            meeting.times_us.append(took_ps / 2 / PS_PER_US)
        if meeting.times_us:
            self._out.write(report.latency_row(self._plan.size_bytes, meeting.times_us))
            self._out.flush()
            self._out.write("\n")
        return (yield from self._part(meeting))

    def _rows_for_ever(self, meeting: Meeting) -> Program:
        step_ns = (self._plan.duration_s or 0) * NS_PER_S
        due_ns, before = meeting.start_ns + step_ns, 0
        while (yield from self._until(meeting, due_ns)):
            count = meeting.messages(self._name)
            self._print_row(self._result(count - before, step_ns))
            before, due_ns = count, due_ns + step_ns
        return self._completion_error(meeting)

    def _window(
        self, meeting: Meeting, duration_s: int
    ) -> Generator[Pause, None, report.Result | None]:
        """Between the margins; None after an error."""
        margin_ns, total_ns = self._plan.margin_s * NS_PER_S, duration_s * NS_PER_S
        if not (yield from self._until(meeting, meeting.start_ns + margin_ns)):
            return None
        before = meeting.messages(self._name)
        if not (yield from self._until(meeting, meeting.start_ns + total_ns - margin_ns)):
            return None
        count = meeting.messages(self._name) - before
        extra_ns = MISMATCH_NS if meeting.mismatched else 0
        if not (yield from self._until(meeting, meeting.start_ns + total_ns + extra_ns)):
            return None
        return self._result(count, total_ns - 2 * margin_ns)

    def _iterations(self, meeting: Meeting) -> Generator[Pause, None, report.Result | None]:
        """Until so many messages are done, looked at ever less often; None after an error."""
        wanted = self._plan.iterations * self._plan.qps
        kernel = self._call.host.kernel
        while meeting.messages(self._name) < wanted:
            if meeting.gone or meeting.mismatched:
                yield Pause()
            if self._name == "client" and meeting.error_status is not None:
                return None
            spent_ns = kernel.now_ns - meeting.start_ns
            pause_ns = max(FIRST_LOOK_NS, spent_ns // 500)
            yield Pause(until_ns=kernel.now_ns + pause_ns)
        return self._result(wanted, kernel.now_ns - meeting.start_ns)

    def _until(self, meeting: Meeting, due_ns: int) -> Generator[Pause, None, bool]:
        """Time has passed; False when the client's queue pair failed before."""
        kernel = self._call.host.kernel
        while kernel.now_ns < due_ns:
            yield Pause(until_ns=min(due_ns, kernel.now_ns + LOOK_NS))
            if self._name == "client" and meeting.error_status is not None:
                return False
        return True

    def _result(self, iterations: int, duration_ns: int) -> report.Result:
        return report.Result(
            size_bytes=self._plan.size_bytes,
            iterations=iterations,
            seconds=duration_ns / NS_PER_S,
            peak_known=not self._plan.duration_s,
        )

    def _print_row(self, result: report.Result) -> None:
        """The row is flushed, its line end is not: so it is in recordings of interrupted runs."""
        self._out.write(report.row(result, self._build, gbits=self._plan.gbits))
        self._out.flush()
        self._out.write("\n")

    # -- the end --

    def _completion_error(self, meeting: Meeting) -> int:
        status = meeting.error_status
        syndrome = "0x81" if status == 12 else "0x0"
        self._call.err(
            " Completion with error at client\n"
            f" Failed status {status}: wr_id 0 syndrom {syndrome}\n"
            f"scnt={self._plan.depth}, ccnt={0 if status == 11 else meeting.messages('client')}\n"
        )
        return COMPLETION_ERROR

    def _part(self, meeting: Meeting) -> Program:
        """Agree with the other side that the test is over."""
        if self._name == "client":
            meeting.finished.add("client")
        while self._name == "server" and not meeting.finished and not meeting.gone:
            yield Pause(on=(meeting.changed,))
        meeting.finished.add(self._name)
        return (yield from self._close(meeting))

    def _stand_by(self, meeting: Meeting) -> Program:
        """A server of write and read waits for the client to be done."""
        while not meeting.finished and not meeting.gone:
            yield Pause(on=(meeting.changed,))
        meeting.finished.add("server")
        return (yield from self._close(meeting))

    def _close(self, meeting: Meeting) -> Program:
        other = "server" if self._name == "client" else "client"
        if other in meeting.gone:
            if self._plan.rdma_cm:
                while True:  # recorded: it hangs until a signal ends it
                    yield Pause()
            direction = "from" if self._name == "client" else "to"
            self._call.err(
                "ethernet_read_keys: Couldn't read remote address\n"
                f" Unable to read {direction} socket/rdma_cm\n"
                " Failed to close connection between server and client\n"
                " Trying to close this side resources\n"
            )
        self._out.write(report.RULER)
        return 0

    def _connections(self, meeting: Meeting) -> list[Connected]:
        own, other = meeting.client, meeting.server
        port = self._call.host.random.randint(*EPHEMERAL_PORTS)
        ends = [f"{own.address}:{port}", f"{other.address}:{self._plan.port}"]
        if not self._plan.rdma_cm:
            return []
        if self._name == "server":
            own = other
            ends.reverse()
        # one more connection exchanges the parameters, as recorded
        numbers = [*(pair.number for pair in own.pairs), self._call.host.new_qpn()]
        return [
            Connected(
                port=own.port,
                process=self._call.process,
                number=number,
                source=ends[0],
                destination=ends[1],
            )
            for number in numbers
        ]


def _pcp(port: NicPort, tos: int | None) -> int | None:
    """In the tag of RDMA: of a connection of rdma_cm by its TOS, else the service level 0."""
    return 0 if port.vlan is not None and tos is None else port.pcp(tos or 0)


def _perftest(call: Call) -> Program:
    build = call.host.perftest_build
    plan, options = read_plan(call.name, call.arguments)
    if "V" in options or "h" in options:
        version = call.host.faults.defects.perftest or build.version
        call.out(f"Version: {version}\n" if "V" in options else usage(call.name))
        return 1
    return (yield from PerftestRun(call, plan, build).program())


TOOLS: Tools = dict.fromkeys(VERBS, _perftest)
