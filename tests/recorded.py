"""A journal as a lab: the same questions get the same answers, without any device.

The k-th time a command is asked it gets the k-th recorded answer; the last one repeats. What was
only asked together with others (transport/batching.py) is answered to whoever asks it alone, too.
What was never recorded is refused, with the nearest command that was. A process prints what it
printed by that moment of lab time, so a `RecordedClock` belongs to it.
"""

import difflib
import gzip
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, Self

from labtests.core import errors
from labtests.core.errors import CommandRejected, DeviceError
from labtests.transport.batching import Joined
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Signal


class RecordedClock:
    """The lab time of a recording. It passes when somebody sleeps, and an answer brings its own."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s
        self._lock = threading.Lock()

    def now_s(self) -> float:
        """Seconds of the recorded lab's clock."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """So much recorded time has passed; no wall time has."""
        with self._lock:
            self._now_s += max(seconds, 0.0)

    def reach(self, time_s: float) -> None:
        """It is this late, or later already."""
        with self._lock:
            self._now_s = max(self._now_s, time_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a process printed until a moment, and its exit status from then on, if it had ended."""

    time_s: float
    text: str = ""
    errors: str = ""
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One recorded process."""

    pieces: tuple[Piece, ...]
    started_s: float


Answer = Reply | DeviceError | Course


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One recorded question and its answer. A configuration block is one question of its lines."""

    kind: str  # "run", "configure", "start"
    question: tuple[str, ...]
    answer: Answer


class Recording:
    """See transport.Transport: a session with a device that is only a memory."""

    def __init__(
        self, device: str, exchanges: Iterable[Exchange], *, clock: RecordedClock | None = None
    ) -> None:
        self.device = device
        self.clock = clock or RecordedClock()
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, tuple[str, ...]], list[Answer]] = defaultdict(list)
        self._asked: dict[tuple[str, tuple[str, ...]], int] = defaultdict(int)
        for exchange in exchanges:
            self._answers[exchange.kind, exchange.question].append(exchange.answer)

    @classmethod
    def of(cls, device: str, outputs: Mapping[str, str]) -> Self:
        """A device that prints these texts, status 0, and accepts no configuration."""
        return cls(
            device,
            [
                Exchange(
                    kind="run",
                    question=(command,),
                    answer=Reply(device=device, command=command, text=text, status=0),
                )
                for command, text in outputs.items()
            ],
        )

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        return self._reply("run", (command,))

    def configure(self, commands: tuple[str, ...]) -> Reply:
        """See Transport. Only blocks that were recorded as they are."""
        return self._reply("configure", commands)

    def start(self, command: str, *, limit_s: float) -> Process:
        """See Transport."""
        answer = self._next("start", (command,))
        assert isinstance(answer, Course)
        return RecordedProcess(self.device, command, answer, self.clock)

    def close(self) -> None:
        """See Transport."""

    def _reply(self, kind: str, question: tuple[str, ...]) -> Reply:
        answer = self._next(kind, question)
        assert isinstance(answer, Reply)
        self.clock.reach(answer.time_s)
        return answer

    def _next(self, kind: str, question: tuple[str, ...]) -> Answer:
        with self._lock:
            answers = self._answers.get((kind, question))
            if answers is None:
                self._refuse(kind, question)
            number = self._asked[kind, question]
            self._asked[kind, question] += 1
        answer = answers[min(number, len(answers) - 1)]
        if isinstance(answer, DeviceError):
            raise answer
        return answer

    def _refuse(self, kind: str, question: tuple[str, ...]) -> NoReturn:
        asked = "; ".join(question)
        known = sorted({"; ".join(words) for its_kind, words in self._answers if its_kind == kind})
        near = difflib.get_close_matches(asked, known, n=1, cutoff=0.0)
        hint = f"the nearest that was is {near[0]!r}" if near else f"no {kind} was"
        raise CommandRejected(
            self.device,
            asked,
            f"this {kind} was not recorded; {hint}",
            "record a journal in which it is asked, or ask what was",
        )


class RecordedProcess:
    """See transport.Process: what it had printed at each moment of the recorded clock."""

    def __init__(self, device: str, command: str, course: Course, clock: RecordedClock) -> None:
        self.device, self.command = device, command
        self._pieces, self._clock = course.pieces, clock
        # a process that is replayed later or earlier than it ran keeps its own pace
        self._shift_s = clock.now_s() - course.started_s
        self._closed = False

    def output(self) -> str:
        """See Process."""
        return "".join(piece.text for piece in self._past())

    def errors(self) -> str:
        """See Process."""
        return "".join(piece.errors for piece in self._past())

    def status(self) -> int | None:
        """See Process."""
        return next((p.status for p in self._past() if p.status is not None), None)

    def signal(self, name: Signal) -> None:
        """See Process: what the signal did is in the recording."""

    def close(self) -> None:
        """See Process. Everything it ever printed is there."""
        self._closed = True

    def _past(self) -> tuple[Piece, ...]:
        if self._closed:
            return self._pieces
        now_s = self._clock.now_s() - self._shift_s
        return tuple(piece for piece in self._pieces if piece.time_s <= now_s)


def recorded_lab(journal: Path) -> dict[str, Recording]:
    """Every device of a journal by name, on one common clock."""
    reading = _Reading()
    for line in lines_of(journal):
        reading.add(json.loads(line))
    return reading.lab()


def lines_of(journal: Path) -> list[str]:
    """A journal's, plain or compressed."""
    content = journal.read_bytes()
    return (gzip.decompress(content) if journal.suffix == ".gz" else content).decode().splitlines()


@dataclass(slots=True)
class _Reading:
    """A journal while it is read."""

    exchanges: dict[str, list[Exchange]] = field(default_factory=lambda: defaultdict(list))
    courses: dict[int, tuple[str, int]] = field(default_factory=dict)  # where each process stands
    pieces: dict[tuple[str, int], list[Piece]] = field(default_factory=lambda: defaultdict(list))
    together: dict[str, list[Reply]] = field(default_factory=lambda: defaultdict(list))
    start_s: float | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """One line."""
        if line["device"] and line["kind"] != "note" and self.start_s is None:
            self.start_s = line["time_s"]
        add: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "run": self._add_reply,
            "configure": self._add_reply,
            "start": self._add_start,
            "output": self._add_piece,
            "signal": _ignored,
            "note": _ignored,
        }
        add[line["kind"]](line)

    def lab(self) -> dict[str, Recording]:
        """What was read."""
        clock = RecordedClock(self.start_s or 0.0)
        for (device, index), pieces in self.pieces.items():
            exchange = self.exchanges[device][index]
            assert isinstance(exchange.answer, Course)
            whole = replace(exchange.answer, pieces=tuple(pieces))
            self.exchanges[device][index] = replace(exchange, answer=whole)
        for device, answers in self.together.items():
            alone = {exchange.question for exchange in self.exchanges[device]}
            self.exchanges[device] += [
                Exchange(kind="run", question=(each.command,), answer=each)
                for each in answers
                if (each.command,) not in alone
            ]
        return {
            device: Recording(device, exchanges, clock=clock)
            for device, exchanges in self.exchanges.items()
        }

    def _add_reply(self, line: Mapping[str, Any]) -> None:
        question = tuple(line["commands"]) if "commands" in line else (line["command"],)
        answer = _failure(line) or _reply(line, line)
        self._add(line, Exchange(kind=line["kind"], question=question, answer=answer))
        joined = Joined.of(line["command"]) if line["kind"] == "run" else None
        if joined is not None and isinstance(answer, Reply):
            self.together[line["device"]] += joined.answers(answer)

    def _add_start(self, line: Mapping[str, Any]) -> None:
        answer = _failure(line) or Course(pieces=(), started_s=line["time_s"])
        if isinstance(answer, Course):
            place = (line["device"], len(self.exchanges[line["device"]]))
            self.courses[line["process"]] = place
        self._add(line, Exchange(kind="start", question=(line["command"],), answer=answer))

    def _add_piece(self, line: Mapping[str, Any]) -> None:
        piece = Piece(
            time_s=line["time_s"],
            text=line["text"],
            errors=line["errors"],
            status=line["status"],
        )
        self.pieces[self.courses[line["process"]]].append(piece)

    def _add(self, line: Mapping[str, Any], exchange: Exchange) -> None:
        self.exchanges[line["device"]].append(exchange)


def _reply(line: Mapping[str, Any], answer: Mapping[str, Any]) -> Reply:
    return Reply(
        device=line["device"],
        command=answer["command"],
        text=answer["text"],
        errors=answer["errors"],
        status=answer["status"],
        time_s=line["time_s"],
        parts=tuple(_reply(line, part) for part in answer.get("parts", ())),
    )


def _failure(line: Mapping[str, Any]) -> DeviceError | None:
    if "error" not in line:
        return None
    kind = getattr(errors, line["error"])
    command = line["command"] if "command" in line else "; ".join(line["commands"])
    failure: DeviceError = kind(line["device"], command, line["problem"], line["remedy"])
    return failure


def _ignored(line: Mapping[str, Any]) -> None:
    """A line that answers nothing."""
