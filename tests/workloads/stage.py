"""A lab on paper: scripted hosts and processes on a clock that only moves when it is asked to."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

from labtests.core.errors import CommandTimeout
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Signal

HEADER = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
BANNER = "\n* Waiting for client to connect... *\n"


class PaperClock:
    def __init__(self) -> None:
        self._now_s = 100.0

    def now_s(self) -> float:
        return self._now_s

    def sleep(self, seconds: float) -> None:
        self._now_s += max(seconds, 1e-6)


@dataclass(kw_only=True)
class Script:
    """What one process does, in seconds since its start."""

    prints: tuple[tuple[float, str], ...] = ()
    complains: tuple[tuple[float, str], ...] = ()
    ends: tuple[float, int] | None = None  # when, and with which status
    survives: frozenset[Signal] = frozenset()


@dataclass
class PaperProcess:
    device: str
    command: str
    script: Script
    clock: PaperClock
    number: int
    started_s: float
    signals: list[str] = field(default_factory=list)
    ended: tuple[float, int] | None = None
    closed: bool = False
    on_signal: Callable[["PaperProcess"], None] = lambda process: None

    def _until_s(self) -> float:
        until_s = self.clock.now_s() if self.ended is None else self.ended[0]
        return until_s - self.started_s + 1e-6

    def _text(self, lines: tuple[tuple[float, str], ...]) -> str:
        assert not self.closed, "read after close"
        return "".join(text for at_s, text in lines if at_s <= self._until_s())

    def output(self) -> str:
        return self._text(self.script.prints)

    def errors(self) -> str:
        return self._text(self.script.complains)

    def status(self) -> int | None:
        ends = self.script.ends
        if self.ended is None and ends and self.clock.now_s() >= self.started_s + ends[0] - 1e-9:
            self.ended = (self.started_s + ends[0], ends[1])
        return None if self.ended is None else self.ended[1]

    def signal(self, name: Signal) -> None:
        self.signals.append(name)
        self.on_signal(self)
        if self.status() is None and name not in self.script.survives:
            numbers = {"INT": 130, "TERM": 143, "KILL": 137}
            self.ended = (self.clock.now_s(), numbers[name])

    def close(self) -> None:
        for name in ("INT", "TERM", "KILL"):
            if self.status() is None:
                self.signal(name)  # type: ignore[arg-type]
        self.closed = True
        if self.status() is None:
            raise CommandTimeout(self.device, self.command, "it survived KILL", "reboot the host")


@dataclass
class PaperHost:
    """A transport. `plays(command, how_often_before)` gives the script of each started process."""

    device: str
    clock: PaperClock
    plays: Callable[[str, int], Script]
    started: list[PaperProcess] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    listening: str = "[]"
    zombies: tuple[str, ...] = ()
    on_signal: Callable[[PaperProcess], None] = lambda process: None

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        self.ran.append(command)
        text, status = "", 1
        if command.startswith("pgrep"):
            pattern = re.compile(shlex.split(command)[-1])
            alive = [f"{p.number} {p.command}" for p in self.started if p.status() is None]
            lines = [line for line in (*alive, *self.zombies) if pattern.search(line)]
            text, status = "".join(f"{line}\n" for line in lines), 0 if lines else 1
        elif command.startswith("rdma"):
            text, status = self.listening, 0
        return Reply(device=self.device, command=command, text=text, status=status)

    def start(self, command: str, *, limit_s: float) -> Process:
        before = sum(process.command == command for process in self.started)
        script = self.plays(command, before)
        number = 4000 + len(self.started)
        process = PaperProcess(self.device, command, script, self.clock, number, self.clock.now_s())
        process.on_signal = self.on_signal
        self.started.append(process)
        return process

    def configure(self, commands: tuple[str, ...]) -> Reply:
        raise AssertionError("a workload configures nothing")

    def close(self) -> None:
        pass


def server() -> Script:
    return Script(prints=((0.2, BANNER),))


def rows(*goodputs_gbit_per_s: float, every_s: float = 1.0) -> tuple[tuple[float, str], ...]:
    """Complete rows of 65536-byte messages, connected 0.5 s after the start."""
    message_gbit = 65536 * 8 / 1e9
    lines = []
    for number, goodput in enumerate(goodputs_gbit_per_s, start=1):
        rate = goodput / message_gbit
        line = f" 65536      {rate * every_s:<10.0f}       0.00               {goodput:.2f}"
        lines.append((0.5 + number * every_s, f"{line}   \t\t     {rate / 1e6:.6f}\n"))
    return ((0.5, HEADER), *lines)
