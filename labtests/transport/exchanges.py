"""Fewer exchanges with a device: the same question is asked once, and many go in one exchange.

`Exchanges` is a transport in front of another one. Inside `with exchanges.remembered():` an answer
is kept for the thread that asked, and a command that was answered already is not sent again;
`ask_ahead` sends many commands to a shell as one. Whatever changes the device, by any thread,
forgets what is known of it. Outside it only passes on and counts.

`at_once` is both for a moment that comes again and again (a snapshot, a sample): what was asked the
last time goes ahead in one exchange. The time of such an answer is when the whole exchange had
ended: nothing in it is newer.

`change_ahead` makes many changes and reads back in one exchange. Whoever makes them one by one
afterwards (`made_ahead`) finds the answers: what was before, what the device said, what is now.

What was read a moment ago, and `kept`, need not be read again (`recall`): see FRESH_S.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from labtests.core.errors import CommandRejected, CommandTimeout
from labtests.transport.batching import MORE_S_PER_COMMAND, Joined, block_reply
from labtests.transport.commands import Command
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Transport

_BOOT_TIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while suspended

FRESH_S = 5.0
"""How long a reading may be `recall`ed, by the lab's clock and by ours: a plan, and applying it at
once. The device may be changed by others in the meantime; who has the lab's lease keeps them off.
"""


def _now_s() -> float:
    return time.clock_gettime(_BOOT_TIME)


@dataclass(frozen=True, slots=True)
class Known:
    """What a device has answered, the first of it at this time of ours, as of so many changes."""

    answers: dict[str, Reply]
    changes: int
    since_s: float


@dataclass(slots=True)
class _Memory:
    """What one thread knows of the device, as of so many changes."""

    changes: int
    known: dict[str, Reply] = field(default_factory=dict)
    since_s: float = field(default_factory=_now_s)
    wanted: dict[Command, None] = field(
        default_factory=dict
    )  # what somebody really asked, in order


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes that were sent together: what was known before, and what each was answered. A change
    that was not sent, because one before it failed, has no answers."""

    before: dict[str, Reply]
    answers: dict[tuple[str, ...], Reply]
    after: dict[str, Reply]
    changes: int
    """How often the device had been changed then: once more, and all of this is out of date."""


class Exchanges:
    """See transport.Transport: the same session. `sent` counts what went over it."""

    def __init__(self, transport: Transport) -> None:
        self.device = transport.device
        self.sent = 0
        self._transport = transport
        self._changes = 0
        self._mine = threading.local()
        self._usual: dict[
            str, tuple[Command, ...]
        ] = {}  # by occasion, what was asked the last time
        self._too_much: set[str] = set()

    @contextmanager
    def remembered(self) -> Iterator[None]:
        """Inside, this thread asks nothing twice. Scopes may nest: the outer one ends it."""
        outer: _Memory | None = getattr(self._mine, "memory", None)
        self._mine.memory = _Memory(self._changes) if outer is None else outer
        try:
            yield
        finally:
            self._mine.memory = outer

    def ask_ahead(self, commands: Sequence[Command]) -> None:
        """Ask a shell all of these, which change nothing, in one exchange. What cannot be told
        apart in the answer is asked again by whoever needs it."""
        known = self._known()
        if known is None:
            raise ValueError("answers are kept only inside `remembered`")
        fresh = [c for c in dict.fromkeys(commands) if c not in known]
        if not fresh:
            return
        joined, limit_s = Joined(fresh), DEFAULT_TIMEOUT_S + MORE_S_PER_COMMAND * len(fresh)
        self.sent += 1
        reply = self._transport.run(joined.script, timeout_s=limit_s)
        known |= {answer.command: answer for answer in joined.answers(reply)}

    def kept(self) -> Known:
        """What this thread knows, for `recall`; inside `remembered`."""
        memory: _Memory = self._mine.memory
        answers = dict(self._known() or {})
        return Known(answers, memory.changes, memory.since_s)

    def recall(self, known: Known, now_s: float) -> None:
        """This thread knows it, too; unless we have changed the device since, or it is older than
        FRESH_S, by our clock or by the lab's (`now_s`). Inside `remembered`."""
        ages_s = [_now_s() - known.since_s, *(now_s - a.time_s for a in known.answers.values())]
        fresh = all(0 <= age_s <= FRESH_S for age_s in ages_s)
        mine = self._known()
        if mine is not None and fresh and known.changes == self._changes:
            mine |= known.answers

    def usual(self, occasion: str) -> tuple[Command, ...]:
        """What was asked the last time on this occasion; nothing before the first time."""
        return self._usual.get(occasion, ())

    @contextmanager
    def at_once(self, occasion: str, foreseen: Sequence[Command] = ()) -> Iterator[None]:
        """Inside, this thread asks a shell nothing twice, and what it was asked the last time on
        this occasion comes in one exchange; the first time, what is foreseen. A device that does
        not manage so many at once is asked one by one from then on, as long as it is open."""
        with self.remembered():
            ahead = self._usual.get(occasion, tuple(dict.fromkeys(foreseen)))
            if len(ahead) > 1 and occasion not in self._too_much:
                try:
                    self.ask_ahead(ahead)
                except (CommandRejected, CommandTimeout):  # each by itself tells what is wrong
                    self._too_much.add(occasion)
            memory: _Memory = self._mine.memory
            memory.wanted.clear()
            yield
            self._usual[occasion] = tuple(memory.wanted)

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        known = self._known()
        if known is not None:
            self._mine.memory.wanted[command] = None
        if known is not None and command in known:
            return known[command]
        self.sent += 1
        reply = self._transport.run(command, timeout_s=timeout_s)
        if known is not None:
            known[command] = reply
        return reply

    def start(self, command: Command, *, limit_s: float) -> Process:
        """See Transport."""
        self._forget()
        return self._transport.start(command, limit_s=limit_s)

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """See Transport."""
        batch: Batch | None = getattr(self._mine, "batch", None)
        if batch is not None and self._is_new(batch) and commands in batch.answers:
            self._know(batch.after)
            return batch.answers.pop(commands)
        self._forget()
        return self._transport.configure(commands)

    def close(self) -> None:
        """See Transport."""
        self._transport.close()

    # -- many changes at once ------------------------------------------------------------------

    def change_ahead(
        self, changes: Sequence[tuple[Command, ...]], questions: Sequence[Command]
    ) -> Batch:
        """Send the commands of all these changes to a shell as one block, at the end of which the
        questions read everything back; where a command fails, they are asked afterwards. Inside
        `remembered`. Raises what the transport raises."""
        before = dict(self._known() or {})
        block = tuple(command for commands in changes for command in commands)
        read_back = Joined(tuple(dict.fromkeys(questions)))
        reply = self.configure((*block, read_back.script))
        sent = list(reply.parts or (reply,))
        if (known := self._known()) is not None and len(sent) > len(block):
            known |= {answer.command: answer for answer in read_back.answers(sent.pop())}
        answers: dict[tuple[str, ...], Reply] = {}
        for commands in changes:
            its, sent = sent[: len(commands)], sent[len(commands) :]
            if its:
                answers[commands] = block_reply(tuple(its))
        self.ask_ahead(questions)
        return Batch(before, answers, dict(self._known() or {}), self._changes)

    @contextmanager
    def made_ahead(self, batch: Batch) -> Iterator[None]:
        """Inside, this thread finds the device as it was before the batch; making a change of it
        sends nothing, is answered what the device has said, and shows the device as it is now."""
        if self._is_new(batch):
            self._know(batch.before)
        self._mine.batch = batch
        try:
            yield
        finally:
            self._mine.batch = None
            if self._is_new(batch):
                self._know(batch.after)

    # -- what is known -------------------------------------------------------------------------

    def _known(self) -> dict[str, Reply] | None:
        memory: _Memory | None = getattr(self._mine, "memory", None)
        if memory is None:
            return None
        if memory.changes != self._changes:
            memory.changes, memory.since_s = self._changes, _now_s()
            memory.known.clear()
        return memory.known

    def _know(self, answers: dict[str, Reply]) -> None:
        known = self._known()
        if known is not None:
            known.clear()
            known |= answers

    def _is_new(self, batch: Batch) -> bool:
        return batch.changes == self._changes

    def _forget(self) -> None:
        self.sent += 1
        self._changes += 1
