"""Settings that are what a whole state of the switch says: tables of a database, a tree of NVUE."""

from abc import abstractmethod
from typing import Generic, TypeVar

from labtests.capabilities.settings import Commands, Setting, T
from labtests.drivers.parts import PlatformPart
from labtests.transport.asking import Asking

S = TypeVar("S")


class StateSetting(PlatformPart, Setting[T], Generic[T, S]):
    """A setting leads from the state that is there, or would be after `earlier`, to one that says
    what is wanted; whatever else the state says stays."""

    @abstractmethod
    def state(self, port: str) -> Asking[S]:
        """As it is now. Raises CommandRejected for one that labtests does not change."""

    @abstractmethod
    def value(self, state: S, port: str) -> T:
        """What it says. Raises CommandRejected for what labtests cannot tell."""

    @abstractmethod
    def _made(self, state: S, port: str, wanted: T) -> S:
        """The state that says so; the same where it does. Raises CommandRejected for what it
        cannot say."""

    @abstractmethod
    def _change(self, port: str, before: S, after: S) -> Commands:
        """From one to the other."""

    def read(self, port: str) -> Asking[T]:
        """See Setting."""
        return self.value((yield from self.state(port)), port)

    def around(self, port: str, values: tuple[T, ...] = ()) -> Asking[S]:
        """See Setting."""
        return self.state(port)

    def commands(self, port: str, earlier: T, wanted: T, around: S) -> Commands:
        """See Setting."""
        if not self.same(self.value(around, port), earlier):
            around = self._made(around, port, earlier)
        return self._change(port, around, self._made(around, port, wanted))
