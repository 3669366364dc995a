"""Processes of one emulated host: who runs, who waits for what, and what signals do.

A program is a generator. It runs until it yields a `Pause` and continues when something in it came
true. A pause may end early, so whoever paused looks again (as with a condition variable). Whatever
needs no simulated time therefore happens before the call that started it returns.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Self

from labtests.simlab.linux.streams import Event, Output, TextSource
from labtests.simlab.timeline import Timeline

SIGNAL_NUMBERS = {
    "HUP": 1,
    "INT": 2,
    "QUIT": 3,
    "KILL": 9,
    "USR1": 10,
    "SEGV": 11,
    "USR2": 12,
    "PIPE": 13,
    "ALRM": 14,
    "TERM": 15,
}
DEATH = 128  # what a shell adds to the number of the signal that ended a command
NOT_FOUND = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """What a program waits for: a time, or any of these events, or (neither) only a signal."""

    until_ns: int | None = None
    on: tuple[Event, ...] = ()


Program = Generator[Pause, None, int]
"""Ends with the exit status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardStreams:
    """Standard input, output and error of a process."""

    input: TextSource
    out: Output
    err: Output

    def hold(self) -> None:
        """One more process has these open."""
        for stream in (self.input, self.out, self.err):
            stream.hold()

    def release(self) -> None:
        """A process that had these open is gone."""
        for stream in (self.input, self.out, self.err):
            stream.release()


@dataclass(slots=True, kw_only=True, eq=False)
class HostProcess:
    """One process. Its program is unknown (None) once it has ended."""

    kernel: "Kernel"
    pid: int
    parent_pid: int
    group: int
    argv: tuple[str, ...]
    user: str
    streams: StandardStreams
    started_ns: int
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = "/root"
    program: Program | None = None
    status: int | None = None
    died_of: str | None = None
    ended: Event = field(default_factory=Event)
    caught: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    pending: list[str] = field(default_factory=list)
    doom: str | None = None
    waiting_on: tuple[Event, ...] = ()
    held: list[StandardStreams] = field(
        default_factory=list
    )  # put aside while others are redirected to
    inputs: dict[int, TextSource] = field(default_factory=dict)  # open for reading beside stdin
    at_end: list[Callable[[], None]] = field(default_factory=list)  # also when a signal ends it

    @property
    def name(self) -> str:
        """What ps calls `comm`: the program's name, at most 15 characters."""
        return self.argv[0].rpartition("/")[2][:15]

    @property
    def command_line(self) -> str:
        """What ps calls `args`."""
        return " ".join(self.argv)

    @property
    def alive(self) -> bool:
        """It has not ended."""
        return self.status is None

    def wake(self) -> None:
        """It looks again at what it waits for."""
        self.kernel.wake(self)

    def open_input(self, descriptor: int, source: TextSource) -> None:
        """The descriptor reads from there (`exec 3<&0`)."""
        self.close_input(descriptor)
        source.hold()
        self.inputs[descriptor] = source

    def close_input(self, descriptor: int) -> None:
        """It is open no more, if it was."""
        source = self.inputs.pop(descriptor, None)
        if source is not None:
            source.release()

    def take_signal(self) -> str | None:
        """The earliest signal that it catches and has not handled."""
        return self.pending.pop(0) if self.pending else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """What a new process inherits from whoever starts it."""

    parent_pid: int
    user: str
    streams: StandardStreams
    environment: dict[str, str]
    directory: str
    group: int | None = None  # None: it leads a group of its own

    @classmethod
    def of(cls, process: HostProcess, streams: StandardStreams) -> Self:
        """What this one's child inherits. There is no job control: it is of the same group."""
        return cls(
            parent_pid=process.pid,
            user=process.user,
            streams=streams,
            environment=process.environment,
            directory=process.directory,
            group=process.group,
        )


class Kernel:
    """The process table and scheduler of one host."""

    def __init__(self, clock: Timeline, *, first_pid: int) -> None:
        self._clock = clock
        self._next_pid = first_pid
        self._ready: deque[HostProcess] = deque()
        self._draining = False
        self._running: HostProcess | None = None
        self.table: dict[int, HostProcess] = {}
        self.on_birth: Callable[[HostProcess], None] = lambda process: None

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the lab's start."""
        return self._clock.now_ns

    def spawn(
        self, birth: Birth, argv: tuple[str, ...], start: Callable[[HostProcess], Program]
    ) -> HostProcess:
        """A new process exists and runs as soon as whoever runs now pauses."""
        pid = self._next_pid
        self._next_pid += 1
        process = HostProcess(
            kernel=self,
            pid=pid,
            parent_pid=birth.parent_pid,
            group=pid if birth.group is None else birth.group,
            argv=argv,
            user=birth.user,
            streams=birth.streams,
            started_ns=self.now_ns,
            environment=dict(birth.environment),
            directory=birth.directory,
        )
        birth.streams.hold()
        self.table[pid] = process
        self.on_birth(process)
        process.program = start(process)
        self.wake(process)
        return process

    def wake(self, process: HostProcess) -> None:
        """It continues: now, or right after whoever runs at present."""
        if process.alive and process not in self._ready:
            self._ready.append(process)
        if not self._draining:
            self._drain()

    def deliver(self, process: HostProcess, signal: str) -> None:
        """The signal arrives: it is caught, ignored, or the process's end."""
        if not process.alive or (signal in process.ignored and signal != "KILL"):
            return
        if signal in process.caught and signal != "KILL":
            process.pending.append(signal)
            self.wake(process)
        elif process is self._running:
            process.doom = signal
        else:
            self._end(process, 0, signal)

    def living(self) -> Iterator[HostProcess]:
        """All processes that have not ended, by PID."""
        yield from [self.table[pid] for pid in sorted(self.table)]

    def members(self, group: int) -> list[HostProcess]:
        """The processes of a group, by PID."""
        return [process for process in self.living() if process.group == group]

    def descendants(self, process: HostProcess) -> list[HostProcess]:
        """All that it has started, and what those have, by PID."""
        found = {process.pid: process}
        for each in self.living():
            if each.parent_pid in found:
                found[each.pid] = each
        return [each for each in found.values() if each is not process]

    def _drain(self) -> None:
        self._draining = True
        try:
            while self._ready:
                self._step(self._ready.popleft())
        finally:
            self._draining = False
            if self._ready:  # a mistake of ours must not hold up whoever waits behind it
                self._drain()

    def _step(self, process: HostProcess) -> None:
        if process.program is None:
            return
        for event in process.waiting_on:
            event.forget(process.wake)
        process.waiting_on = ()
        self._running = process
        try:
            pause = next(process.program)
        except StopIteration as stop:
            self._end(process, stop.value, process.doom)
            return
        except BrokenPipeError:
            self._end(process, 0, "PIPE")
            return
        except Exception:
            self._end(process, 0, "SEGV")  # a mistake of ours
            raise
        finally:
            self._running = None
        if process.doom is not None:
            self._end(process, 0, process.doom)
        else:
            self._arm(process, pause)

    def _arm(self, process: HostProcess, pause: Pause) -> None:
        process.waiting_on = pause.on
        for event in pause.on:
            event.remember(process.wake)
        if pause.until_ns is not None:
            self._clock.at(pause.until_ns, process.wake)

    def _end(self, process: HostProcess, status: int, signal: str | None) -> None:
        if process.status is not None:
            return
        program, process.program = process.program, None
        process.status = status if signal is None else DEATH + SIGNAL_NUMBERS[signal]
        process.died_of = signal
        for event in process.waiting_on:
            event.forget(process.wake)
        if program is not None:
            program.close()
        self.table.pop(process.pid, None)
        for act in process.at_end:
            act()
        for streams in (process.streams, *process.held):
            streams.release()
        for descriptor in tuple(process.inputs):
            process.close_input(descriptor)
        process.ended.set()
