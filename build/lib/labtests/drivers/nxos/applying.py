"""Settings that are a policy, applied at a port."""

import re
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

from labtests.capabilities.settings import Commands, T
from labtests.drivers.nxos.configuration import (
    SYSTEM,
    Block,
    Classes,
    Configured,
    PolicyPlace,
    configured,
)
from labtests.drivers.nxos.policies import Use, unused
from labtests.drivers.nxos.session import NxosSetting
from labtests.transport.asking import Asking

IPQOS = "show running-config ipqos"


class PolicySetting(NxosSetting[T]):
    """What one kind of policy (`slot`) does at a port."""

    slot: ClassVar[str]
    template: ClassVar[str] = ""
    """How the switch calls its own eight classes of this type, but for the queue."""

    def place(self, port: str) -> PolicyPlace:
        """Where it is applied."""
        return PolicyPlace(self.port(port), self.slot)

    def read(self, port: str) -> Asking[T]:
        """As configured."""
        of, place = (yield from configured()), self.place(port)
        of.lines(self.device, place.port)  # it is there
        return self.value(of, place)

    def around(self, port: str, values: tuple[T, ...]) -> Asking[Any]:
        """All policies of the switch."""
        return configured()

    def commands(self, port: str, earlier: T, wanted: T, around: Any) -> Commands:
        """From what is configured, or would be after `earlier`."""
        of, place = around, self.place(port)
        if not self.same(self.value(of, place), earlier):
            of = self._use(of, place, earlier).after(of)
        if self.same(earlier, wanted):
            return tuple(unused(of))
        return tuple(self._use(of, place, wanted).commands(of))

    @abstractmethod
    def value(self, of: Configured, place: PolicyPlace) -> T:
        """What is in force there. Raises CommandRejected for what labtests cannot tell."""

    @abstractmethod
    def _use(self, of: Configured, place: PolicyPlace, wanted: T) -> Use:
        """What has to be applied there. Raises CommandRejected for what the switch cannot hold."""

    @abstractmethod
    def _means(self, of: Configured, classes: Classes) -> Hashable:
        """What classes do, whatever they are called and in whatever order they are."""

    def using(
        self, place: PolicyPlace, classes: Iterable[Block], maps: Classes = (), plain: Classes = ()
    ) -> Use:
        """What has to be applied there."""
        return Use(self.device, place, self._means, plain, tuple(classes), maps)

    def queue(self, block: Block) -> int:
        """Of a class of the switch's own eight; others have no number."""
        name = block.name.removeprefix(self.template)
        if block.name == name or re.fullmatch("[1-7]|-default", name) is None:
            raise self.reject(
                f"class type {self.slot.split()[0]} {block.name}",
                f"this class is none of the switch's own eight ({self.template}1 ...)",
                "write the policy with the classes of the 8-queue template",
            )
        return 0 if name == "-default" else int(name)

    def named(self, queue: int) -> str:
        """The switch's own class of a queue."""
        return f"{self.template}{queue or '-default'}"


def of_switch(of: Configured, place: PolicyPlace, delivered: Classes) -> Classes:
    """What a port does that applies nothing itself: as `system qos` says, else as delivered."""
    found = of.of(PolicyPlace(SYSTEM, place.slot))
    return delivered if found is None else found


def in_force(of: Configured, place: PolicyPlace, delivered: Classes) -> Classes:
    """What is applied at the place, else what the switch does."""
    found = of.of(place)
    return of_switch(of, place, delivered) if found is None else found


def without(block: Block, beginnings: tuple[str, ...]) -> tuple[str, ...]:
    """Its lines, but for those that begin so."""
    return tuple(text for text in block.lines if not text.startswith(beginnings))
