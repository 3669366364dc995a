"""Who sends to whom with which tool, and the processes that this takes."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from labtests.core.errors import LabError, LabErrors, WorkloadError
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Clock, Process, Transport, wait_until
from labtests.workloads.attempt import Party
from labtests.workloads.tool import FlowTool

GONE_DEADLINE_S = 3.0
"""How long a killed process may still be listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """One flow, of data from `sender` to `receiver`. `starts_after_s` counts from the first
    sender's first packet."""

    sender: Party
    receiver: Party
    tool: FlowTool
    starts_after_s: float = 0.0

    @property
    def server(self) -> Party:
        """The end that waits."""
        return self.sender if self.tool.pulls else self.receiver

    @property
    def client(self) -> Party:
        """The end that connects, and prints the figures."""
        return self.receiver if self.tool.pulls else self.sender

    @property
    def server_command(self) -> Shell | None:
        """What the end that waits is started with."""
        return self.tool.server_command(self.server, rdma=self.server.rdma)

    @property
    def client_command(self) -> Shell:
        """What the end that connects is started with."""
        return self.tool.client_command(self.server, rdma=self.client.rdma)

    def __str__(self) -> str:
        return f"{self.tool.name} {self.sender.name} -> {self.receiver.name}:{self.tool.port}"


class Processes:
    """Every process of one run. Leaving the `with` block ends them all, whatever happened, and
    proves on every host that none of their command lines is still listed."""

    def __init__(self, clock: Clock, *, limit_s: float) -> None:
        self._clock, self._limit_s = clock, limit_s
        self._closers = ExitStack()
        self._errors: list[LabError] = []
        self._started: dict[str, tuple[Transport, set[str]]] = {}

    def __enter__(self) -> "Processes":
        return self

    def start(self, transport: Transport, command: Shell) -> Process:
        """Start it. It ends by itself after the limit, should this side die."""
        self._started.setdefault(transport.device, (transport, set()))[1].add(command)
        process = transport.start(command, limit_s=self._limit_s)
        self._closers.callback(self.end, process)
        return process

    def end(self, process: Process) -> None:
        """End it now. What goes wrong is kept until the block is left, so that nothing stops the
        others from being ended. Ending twice is fine."""
        self._keep(process.close)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with ExitStack() as proof:  # even when a second Ctrl-C interrupts the closing
            proof.callback(self._prove_gone)
            self._closers.close()
        if not self._errors:
            return
        problem: LabError = self._errors[0]
        if len(self._errors) > 1:
            problem = LabErrors("the traffic tools could not all be stopped", self._errors)
        if error is None:
            raise problem
        error.add_note(str(problem))

    def _keep(self, act: Callable[[], None]) -> None:
        try:
            act()
        except LabError as problem:
            self._errors.append(problem)

    def _prove_gone(self) -> None:
        for transport, commands in self._started.values():
            self._keep(partial(self._prove_gone_on, transport, commands))

    def _prove_gone_on(self, transport: Transport, commands: set[str]) -> None:
        listed: list[str] = []

        def none_listed() -> bool:
            listed[:] = _listed(transport, commands)
            return not listed

        if not wait_until(self._clock, none_listed, deadline_s=GONE_DEADLINE_S):
            pids = " ".join(line.split()[0] for line in listed)
            raise WorkloadError(
                f"{transport.device}: still running after the run: {'; '.join(listed)}\n"
                f"  remedy: end them there by hand: kill -9 {pids}"
            )


def _listed(transport: Transport, commands: set[str]) -> list[str]:
    """`PID command line` of each process of ours that the host still lists.

    The first letter stands in brackets so that the pattern does not find its own command line."""
    patterns = sorted(_pattern(command) for command in commands)
    command = program("pgrep", "-a", "-f", f"({'|'.join(patterns)})( |$)")
    reply = transport.run(command)
    if reply.status == 1 and not reply.text.strip():  # pgrep(1): no process matched
        return []
    if reply.status != 0:
        said = (reply.errors or reply.text).strip()
        raise WorkloadError(
            f"{reply.device}: {command!r}: cannot tell what is still running: {said}\n"
            "  remedy: install pgrep (package procps) there"
        )
    return [line.strip() for line in reply.text.split("\n") if line.strip()]


def _pattern(command: str) -> str:
    """The command line as pgrep lists it, without stdbuf, which replaces itself by the tool."""
    words = command.removeprefix("stdbuf -oL ")
    return f"[{words[0]}]{words[1:].replace('.', '[.]')}"
