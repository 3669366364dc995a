"""One exchange with each host for what is asked of it at one moment, again and again.

A moment is a snapshot of counters, a sample, the settings before a phase. Only hosts that know in
advance what they will be asked (facts.Foresight: those with a shell) are asked so; a CLI is asked
line by line.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeVar, runtime_checkable

from labtests.capabilities.facts import Foresight
from labtests.transport.commands import Command
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Transport

Able = TypeVar("Able")


@runtime_checkable
class Sessions(Protocol):
    """Open sessions, and the drivers on them by ability (lab.Lab has both)."""

    transports: Mapping[str, Transport]

    def able(self, ability: type[Able]) -> dict[str, Able]:
        """The devices that have an ability, by name."""
        ...


def at_once(
    sessions: object, device: str, occasion: str, foreseen: Callable[[Foresight], Sequence[Command]]
) -> AbstractContextManager[None]:
    """Inside, this thread asks this host nothing twice and, ahead, in one exchange what it asked
    the last time on this occasion (exchanges.Exchanges.at_once). Answers that cannot be told apart
    are asked for again, one by one."""
    if not isinstance(sessions, Sessions):
        return nullcontext()
    transport, driver = sessions.transports.get(device), sessions.able(Foresight).get(device)
    if driver is None or not isinstance(transport, Exchanges):
        return nullcontext()
    return transport.at_once(occasion, foreseen(driver))


def usual(sessions: object, device: str, occasion: str) -> tuple[Command, ...]:
    """What was asked of this host the last time on this occasion; nothing where none is kept."""
    transport = sessions.transports.get(device) if isinstance(sessions, Sessions) else None
    return transport.usual(occasion) if isinstance(transport, Exchanges) else ()
