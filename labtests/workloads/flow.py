"""One stream as it goes: its server, its client, another try when they missed each other."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.core.output import lines_said
from labtests.core.units import BitsPerSecond
from labtests.transport.commands import program
from labtests.transport.protocol import Clock, Process, Reply, wait_until
from labtests.workloads.attempt import Attempt, signal_of
from labtests.workloads.streams import Processes, Stream

READY_DEADLINE_S = 20.0
START_DEADLINE_S = 20.0
TRIES = 3
STEP_S = 0.1
LISTEN_EVERY_S = 1.0


@dataclass(slots=True, kw_only=True)
class IncastState:
    """What all flows of one incast share. `called_off` says why no more flows are started."""

    processes: Processes
    clock: Clock
    say: Callable[[str], None]
    called_off: str = ""


@dataclass(slots=True, kw_only=True)
class Flow:
    """One stream as it goes: a server, later a client, at last an attempt to be judged."""

    stream: Stream
    scene: IncastState
    server: Process | None = None
    client: Process | None = None
    started_s: float = 0.0
    running_s: float | None = None
    ended_s: float | None = None
    ended_by_us: bool = False
    heard: int = 0  # characters of the client's output so far
    last_words_s: float = 0.0
    silent_s: float | None = None
    silence_s: float = 0.0  # of now, as of the last look
    pause_s: float = 0.0  # the longest one that ended
    complaints: str = ""  # the client's stderr until we ended it
    server_status: int | None = None  # before we ended it
    retries: list[str] = field(default_factory=list)
    outcome: FlowResult | None = None

    # -- the server ------------------------------------------------------------------------

    def start_server(self) -> None:
        """Start it, without waiting."""
        command = self.stream.server_command
        if command is not None:
            self.server = self.scene.processes.start(self.stream.server.transport, command)

    def wait_for_server(self) -> None:
        """It waits for its client now; or this flow has failed and the run is called off."""
        if self.server is None:
            return
        server, looked_s = self.server, self.scene.clock.now_s()

        def settled() -> bool:
            nonlocal looked_s
            if self.stream.tool.is_ready(server.output()) or server.status() is not None:
                return True
            if not self.stream.tool.of_rdma:
                return False
            now_s = self.scene.clock.now_s()
            if now_s - looked_s < LISTEN_EVERY_S:
                return False
            looked_s = now_s
            return _listens(self.stream)

        in_time = wait_until(self.scene.clock, settled, deadline_s=READY_DEADLINE_S, step_s=STEP_S)
        if server.status() is not None:
            self._give_up(f"the server on {server.device} ended: {_last_words(server)}")
        elif not in_time:
            self._give_up(f"the server on {server.device} was not ready in {READY_DEADLINE_S:g} s")

    def _give_up(self, because: str) -> None:
        """This flow never started, so there is no incast."""
        self.ended_s = self.scene.clock.now_s()
        self.outcome = replace(self._blank(), because=because)
        self.scene.called_off = f"{self.stream}: {because}"
        self.scene.say(f"{self.stream}: {because}")

    # -- the client ------------------------------------------------------------------------

    def step(self, now_s: float, since_zero_s: float) -> None:
        """Start the client when it is due; see how it is when it runs."""
        if self.ended_s is not None or self.scene.called_off:
            return
        if self.client is None:
            if since_zero_s >= self.stream.starts_after_s - 1e-9:
                self._start_client(now_s)
            return
        self._see_running(now_s)
        self._listen(now_s)
        if self.client_has_ended():
            self._after_own_end()
        elif self.running_s is None and now_s - self.started_s > START_DEADLINE_S:
            self._give_up(
                f"the client did not start sending in {START_DEADLINE_S:g} s: "
                f"{_last_words(self.client)}"
            )

    def _start_client(self, now_s: float) -> None:
        party = self.stream.client
        self.scene.say(f"{self.stream}: starting")
        self.client = self.scene.processes.start(party.transport, self.stream.client_command)
        self.started_s = now_s

    def _see_running(self, now_s: float) -> None:
        assert self.client is not None
        served = "" if self.server is None else self.server.output()
        if self.running_s is None and self.stream.tool.is_running(self.client.output(), served):
            self.running_s = now_s

    def _listen(self, now_s: float) -> None:
        assert self.client is not None
        if (heard := len(self.client.output())) == self.heard:
            self.silence_s = now_s - self.last_words_s
            return
        if self.heard:  # of a silence that was not looked at to its end, what was seen counts
            self.pause_s = max(self.pause_s, self.silence_s)
        self.heard, self.last_words_s, self.silence_s = heard, now_s, 0.0

    def client_has_ended(self) -> bool:
        """It has ended by itself or was ended; a client that never started has nothing to end."""
        if self.client is None or self.ended_s is not None:
            return True
        if self.client.status() is None:
            return False
        self._see_running(self.started_s)  # its whole output is here now
        self.ended_s = self.scene.clock.now_s()
        return True

    def _after_own_end(self) -> None:
        attempt = self._attempt()
        if self.stream.tool.may_retry(attempt):
            self._retry(self.stream.tool.judge(self._blank(), attempt).because)
            return
        result = self.stream.tool.judge(self._blank(), attempt)
        if result.status is FlowStatus.INFRASTRUCTURE:
            self._give_up(result.because)
        elif result.status is FlowStatus.FAILED:
            self.scene.say(f"{self.stream}: {result.because}")

    def _retry(self, because: str) -> None:
        """A fresh server and a fresh client; the old server may wait for ever."""
        self.retries.append(because)
        if len(self.retries) >= TRIES:
            self._give_up(f"no connection in {TRIES} tries: {because}")
            return
        self.scene.say(f"{self.stream}: {because}; trying again")
        for process in (self.client, self.server):
            if process is not None:
                self.scene.processes.end(process)
        self.client, self.ended_s, self.heard, self.pause_s = None, None, 0, 0.0
        self.start_server()
        self.wait_for_server()

    # -- the end -----------------------------------------------------------------------------

    def ends_itself_by_now(self) -> bool:
        """Its tool has a duration of its own, which is over."""
        own_s = self.stream.tool.ends_after_s
        if own_s is None or self.running_s is None:
            return False
        return self.running_s + own_s <= self.scene.clock.now_s() + 1.0

    def interrupt(self) -> None:
        """Ask the client to end, if it still runs. From here on its complaints are our doing."""
        if self.client is None or self.client_has_ended():
            return
        now_s = self.scene.clock.now_s()
        self._listen(now_s)
        self.silent_s = now_s - self.last_words_s
        self.ended_by_us = True
        self.complaints = self.client.errors()
        self.server_status = None if self.server is None else self.server.status()
        self.client.signal("INT")

    def conclude(self) -> FlowResult:
        """What this flow came to. To be asked while its processes can still be read."""
        if self.outcome is not None:
            return self.outcome
        if self.client is None or (self.scene.called_off and self.ended_by_us):
            return replace(self._blank(), because=f"not run: {self.scene.called_off}")
        if self.ended_s is None:
            self.ended_s = self.scene.clock.now_s()
        return self.stream.tool.judge(self._blank(), self._attempt())

    def _attempt(self) -> Attempt:
        assert self.client is not None
        assert self.ended_s is not None
        client = _reply(self.client, self.ended_s)
        if self.ended_by_us:
            client = replace(client, errors=self.complaints)
        return Attempt(
            client=client,
            server=self._of_server(self.ended_s),
            running_s=self.running_s,
            ended_s=self.ended_s,
            ended_by_us=self.ended_by_us,
            silent_s=self.silent_s,
            pause_s=self.pause_s,
        )

    def _of_server(self, ended_s: float) -> Reply:
        if self.server is None:  # a tool without one
            device = self.stream.server.transport.device
            return Reply(device=device, command="", text="", status=None, time_s=ended_s)
        return replace(_reply(self.server, ended_s), status=self.server_status)

    def _blank(self) -> FlowResult:
        tool = self.stream.tool
        offered = tool.offered_bits_per_s
        return FlowResult(
            sender=self.stream.sender.name,
            receiver=self.stream.receiver.name,
            tool=tool.name,
            tos=tool.tos,
            status=FlowStatus.INFRASTRUCTURE,
            because="",
            command=self.stream.client_command,
            offered_bits_per_s=None if offered is None else BitsPerSecond(offered),
            retries=tuple(self.retries),
        )


def _reply(process: Process, time_s: float) -> Reply:
    return Reply(
        device=process.device,
        command=process.command,
        text=process.output(),
        errors=process.errors(),
        status=process.status(),
        time_s=time_s,
    )


def _last_words(process: Process) -> str:
    said = "; ".join(lines_said(process.errors()))
    status = process.status()
    ending = "" if status is None else f" (exit status {status}{signal_of(status)})"
    return f"{said or 'it said nothing'}{ending}"


def _listens(stream: Stream) -> bool:
    """The RDMA connection manager of the server's host has a listener on the port (a `-R` server is
    not in `ss`). Without the `rdma` tool there this stays unknown, which is no."""
    reply = stream.server.transport.run(program("rdma", "-j", "res", "show", "cm_id"))
    entries = reply.text.replace(" ", "").split("}")
    port = f':{stream.tool.port}"'
    return any('"state":"LISTEN"' in entry and port in entry for entry in entries)
