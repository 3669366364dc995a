"""What a device is asked, apart from who sends it.

An `Asking` is a generator: it yields commands that change nothing, is sent an answer to each, and
returns what they mean. A second question may depend on the first answer. Whoever has a session runs
many of them side by side, each round of theirs in one exchange (exchanges.py).
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Generic, TypeVar, cast

from labtests.core.errors import DeviceError, LabError, UnreadableOutput
from labtests.transport.commands import Command
from labtests.transport.protocol import Reply

T = TypeVar("T")
A = TypeVar("A")
K = TypeVar("K")
B = TypeVar("B")

Answer = Reply | DeviceError
"""What a device said; or why that is not known."""
Asking = Generator[tuple[Command, ...], tuple[Answer, ...], T]


def ask(command: Command) -> Asking[Reply]:
    """One question. Raises DeviceError where there is no answer."""
    (reply,) = yield from ask_each(command)
    return reply


def ask_each(*commands: Command) -> Asking[tuple[Reply, ...]]:
    """Several questions in one round."""
    return tuple(map(_said, (yield commands)))


def _said(answer: Answer) -> Reply:
    if isinstance(answer, DeviceError):
        raise answer
    return answer


def known(value: T) -> Asking[T]:
    """Nothing is asked."""
    yield from ()
    return value


def both(first: Asking[A], second: Asking[B]) -> Asking[tuple[A, B]]:
    """Two, round by round. Raises the failure of the first, else of the second."""
    found = yield from outcomes([_as_object(first), _as_object(second)])
    (one,), (other,) = expect_all(found)
    return cast(A, one), cast(B, other)


def _as_object(asking: Asking[A]) -> Asking[tuple[object]]:
    """In a tuple: a failure that it returned (attempt) is a value, and none that it raised."""
    return ((yield from asking),)


def attempt(asking: Asking[T]) -> Asking[T | LabError]:
    """What it returns; or why it does not."""
    (found,) = yield from outcomes([asking])
    return found


def outcomes(askings: Iterable[Asking[T]]) -> Asking[list[T | LabError]]:
    """All of them, round by round; what became of each."""
    running = list(askings)
    found: dict[int, T | LabError] = {}
    waiting: dict[int, tuple[Command, ...]] = {}

    def advance(number: int, answers: tuple[Answer, ...] | None) -> None:
        asking = running[number]
        try:
            waiting[number] = _next_round(asking, answers)
        except StopIteration as end:
            found[number] = end.value
        except LabError as error:
            found[number] = error

    for number in range(len(running)):
        advance(number, None)
    while waiting:
        asked = dict(waiting)
        waiting.clear()
        together = tuple(dict.fromkeys(c for commands in asked.values() for c in commands))
        answers = dict(zip(together, (yield together), strict=True))
        for number, commands in asked.items():
            advance(number, tuple(answers[command] for command in commands))
    return [found[number] for number in range(len(running))]


def _next_round(asking: Asking[T], answers: tuple[Answer, ...] | None) -> tuple[Command, ...]:
    """What it asks next. Raises StopIteration at its end, and UnreadableOutput for whatever it
    stumbles over: one device's answer that nobody foresaw is no reason to leave the others."""
    if not answers:
        return next(asking) if answers is None else asking.send(answers)
    try:
        return asking.send(answers)
    except (StopIteration, LabError):
        raise
    except Exception as error:
        what = f"labtests fails at this answer: {type(error).__name__}: {error}"
        remedy = "this is a defect of labtests: report it with the run's journal"
        raise UnreadableOutput(answers[0].device, answers[0].command, what, remedy) from error


def side_by_side(askings: Iterable[Asking[T]]) -> Asking[list[T]]:
    """All of them, round by round. Raises the first failure, when all have ended."""
    return expect_all((yield from outcomes(askings)))


def by_name(askings: Mapping[K, Asking[T]]) -> Asking[dict[K, T]]:
    """The same, each by its name."""
    return dict(zip(askings, (yield from side_by_side(askings.values())), strict=True))


def expect_all(found: Iterable[T | LabError]) -> list[T]:
    """What was found. Raises the first failure."""
    values: list[T] = []
    for each in found:
        if isinstance(each, LabError):
            raise each
        values.append(each)
    return values


class Running(Generic[T]):
    """An asking on its way to its end. Nothing is asked twice on it."""

    def __init__(self, asking: Asking[T]) -> None:
        self._asking = asking
        self._known: dict[Command, Answer] = {}
        self._wanted: tuple[Command, ...] = ()
        self._asked: dict[Command, None] = {}
        self._result: list[T] = []
        self._advance(None)

    @property
    def open(self) -> tuple[Command, ...]:
        """What of its next round is not answered yet, each once; none at its end."""
        return tuple(each for each in dict.fromkeys(self._wanted) if each not in self._known)

    @property
    def asked(self) -> tuple[Command, ...]:
        """What it has wanted to know so far, each once."""
        return tuple(self._asked)

    @property
    def result(self) -> T:
        """What it returned, at its end."""
        return self._result[0]

    def tell(self, answers: Iterable[tuple[Command, Answer]]) -> None:
        """These were answered. Raises what the asking raises."""
        self._known.update(answers)
        while not self._result and not self.open:
            self._advance(tuple(self._known[each] for each in self._wanted))

    def _advance(self, answers: tuple[Answer, ...] | None) -> None:
        try:
            self._wanted = _next_round(self._asking, answers)
        except StopIteration as end:
            self._wanted = ()
            self._result.append(end.value)
        self._asked |= dict.fromkeys(self._wanted)


def answered(running: Running[T], answer: Callable[[tuple[Command, ...]], Sequence[Answer]]) -> T:
    """What it returns, when everything is answered round by round. Raises what it raises."""
    running.tell(())
    while asked := running.open:
        running.tell(zip(asked, answer(asked), strict=True))
    return running.result
