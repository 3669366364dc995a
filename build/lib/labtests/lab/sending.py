"""Steps on their way to one device: sent, heard, and read back."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic

from labtests.capabilities.settings import T
from labtests.core.errors import CommandRejected, LabError
from labtests.lab.changes import Step
from labtests.transport.asking import Asking, Running, answered, attempt, both, known, outcomes
from labtests.transport.commands import Shell
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Reply

Seen = tuple[Any, Any]
"""What a setting is, and what is around it."""


class Sending(Generic[T]):
    """Some steps of one device, and what is asked when they are made. `ready` is asked before
    anything is sent, `record` told of each step that was, or may have been."""

    def __init__(
        self,
        exchanges: Exchanges,
        steps: Sequence[Step],
        then: Asking[T] | None,
        *,
        ready: Callable[[], None],
        record: Callable[[Step], None],
    ) -> None:
        self.steps = steps
        self.result: T | None = None
        self._exchanges, self._then = exchanges, then
        self._ready, self._record = ready, record

    def outcomes(self) -> Iterator[LabError | None]:
        """Of each step, in order: None, or why it is not proved. A shell gets all in one exchange;
        behind one that it refused, nothing was sent. A CLI gets one after the other, as they are
        asked for."""
        if all(isinstance(command, Shell) for step in self.steps for command in step.commands):
            return self._at_once()
        return self._one_by_one()

    def _at_once(self) -> Iterator[LabError | None]:
        seen: Running[tuple[list[Seen | LabError], T | LabError | None]] = Running(
            both(outcomes(map(_seen, self.steps)), attempt(self._last()))
        )
        replies = self._in_one_block(seen)
        found, last = answered(seen, self._exchanges.answers)
        for step, told, each in zip(self.steps, replies, found, strict=True):
            yield _refusal(step, told) or _difference(step, each)
        self.result = _expect(last)

    def _in_one_block(self, seen: Running[Any]) -> list[tuple[Reply, ...]]:
        self._ready()
        sent = self.steps
        try:
            replies = self._exchanges.change([step.commands for step in self.steps], seen)
            sent = [step for step, told in zip(self.steps, replies, strict=True) if told]
            return replies
        finally:
            for step in sent:
                self._record(step)

    def _one_by_one(self) -> Iterator[LabError | None]:
        for step in self.steps:
            self._ready()
            self._record(step)
            reply = self._exchanges.configure(step.commands)
            yield _refusal(step, (reply,)) or _difference(
                step, self._exchanges.ask(attempt(_seen(step)))
            )
        self.result = self._exchanges.ask(self._last())

    def _last(self) -> Asking[T | None]:
        return known(None) if self._then is None else self._then


def _seen(step: Step) -> Asking[Seen]:
    """What is set now, and what is around it."""
    value = yield from step.setting.read(step.at.interface)
    return value, (yield from step.setting.around(step.at.interface, ()))


def _refusal(step: Step, replies: tuple[Reply, ...]) -> LabError | None:
    """Why the device did not take the step; None when it did."""
    device = step.at.device
    try:
        step.setting.accept(step.commands, replies)
    except LabError as error:
        return error
    if not replies:
        problem = "was skipped: an earlier command was rejected"
        return CommandRejected(device, step.commands[0], problem, "see what it said to that one")
    return None


def _difference(step: Step, seen: Seen | LabError) -> LabError | None:
    """Why what is read back is not as wanted; None when it is."""
    if isinstance(seen, LabError):
        return seen
    value, around = seen
    want, setting = step.intent, step.setting
    try:
        wrong = setting.wrong(want.wanted, value, step.around, around)
    except LabError as error:
        return error
    if not wrong:
        return None
    problem = f"accepted, but {want.setting} of {want.at.interface or 'the device'} {wrong}"
    shell = isinstance(step.commands[-1], Shell)
    sent = step.commands[-1] if shell else "; ".join(step.commands)
    return CommandRejected(want.at.device, sent, problem, setting.remedy)


def _expect(found: T | LabError | None) -> T | None:
    if isinstance(found, LabError):
        raise found
    return found
