"""Policies of labtests: how a port, or the switch, comes to apply one, and how it goes back.

A policy-map of somebody else is never changed. What is wanted goes into a policy-map of ours, which
has its content in its name and never changes either, so ports that want the same share it; behind
the content stands the name of what it replaced there, so that any later process knows the way back.
One that nobody applies any more is removed.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar

from labtests.capabilities.settings import Commands, T
from labtests.core.errors import CommandRejected
from labtests.core.output import excerpt
from labtests.drivers.nxos.configuration import (
    SYSTEM,
    Block,
    Classes,
    Configured,
    PolicyPlace,
    configured,
)
from labtests.drivers.nxos.session import EXIT, NxosSetting, line
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

OURS = "labtests-"
_OUR_NAME = re.compile(rf"{OURS}[0-9a-f]{{8}}(?:\..+)?")
_LONGEST_NAME = 40  # of a policy-map (guides)
_MATCHING = "match-any"

_COPIED = re.compile(
    "(?:bandwidth|priority|shape|queue-limit|random-detect|afd|congestion-control|mtu|pause|set"
    "|match|police) .+|priority|pause"
)
"""Lines of a class that are sent again, by their first word: none of them is a command anywhere
else, or leads out of the class."""

Means = Callable[[Configured, Classes], Hashable]
"""What the classes of a policy-map do, whatever they are called and in whatever order they are."""


def is_ours(name: str) -> bool:
    """Whether labtests has made it: a name as `named` makes them, perhaps with what it replaces."""
    return _OUR_NAME.fullmatch(name) is not None


def base(of: Configured, place: PolicyPlace) -> str | None:
    """What somebody else applies there, which one of ours may stand for."""
    name = of.at(place)
    if name is None or not is_ours(name):
        return name
    return name.partition(".")[2] or None


def named(what: object) -> str:
    """A name of ours for this content."""
    return OURS + sha256(repr(what).encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Use:
    """One change of one place. `plain`: what happens there while nothing is applied; `classes`:
    what is to happen, with the class-maps (`maps`) that it takes."""

    device: str
    place: PolicyPlace
    means: Means
    plain: Classes
    classes: Classes
    maps: Classes = ()

    def name(self, of: Configured) -> str | None:
        """Of the policy-map that does it: somebody's own, if it does; None: no policy-map."""
        earlier = base(of, self.place)
        there = self.plain if earlier is None else self._of_other(of, earlier)
        known = of.after(self.place, "", self.classes, self.maps)
        if self.means(known, self.classes) == self.means(of, there):
            return earlier
        name = named([(each.name, sorted(each.lines)) for each in sorted_classes(self.classes)])
        name = f"{name}.{earlier}" if earlier else name
        if len(name) > _LONGEST_NAME:
            raise CommandRejected(
                self.device,
                f"service-policy type {self.place.slot} {earlier}",
                f"the name {earlier!r} is too long to be remembered in a name of ours",
                f"give that policy-map a name of at most {_LONGEST_NAME - 18} characters",
            )
        return name

    def _of_other(self, of: Configured, name: str) -> Classes:
        found = of.policies.get((self.place.kind, name))
        if found is None:
            raise CommandRejected(
                self.device,
                f"policy-map type {self.place.kind} {name}",
                "this policy-map is applied, or was before, and is not there",
                "make it again, or take its `service-policy` line away",
            )
        return found

    def after(self, of: Configured) -> Configured:
        """The switch when that is done."""
        name = self.name(of)
        return of.after(self.place, name, self._made(of, name), self.maps)

    def _made(self, of: Configured, name: str | None) -> Classes:
        ours = name is None or is_ours(name)
        return self.classes if ours else self._of_other(of, str(name))

    def commands(self, of: Configured) -> Iterator[CliLine]:
        """Make it, apply it instead of what is applied, remove what nobody applies then."""
        name = self.name(of)
        if name != of.at(self.place):
            if name is not None and is_ours(name):
                yield from self._create(name)
            yield from self._apply(of, name)
        yield from unused(self.after(of))

    def _create(self, name: str) -> Iterator[CliLine]:
        """The same lines again do no harm to what is there."""
        for each in self.maps:
            yield line("class-map", "type", "qos", _MATCHING, each.name)
            yield from self._lines(each)
            yield EXIT
        kind = self.place.kind
        yield line("policy-map", "type", kind, name)
        for each in sorted_classes(self.classes):
            typed = () if kind == "qos" else ("type", kind)
            yield line("class", *typed, each.name)
            yield from self._lines(each)
            yield EXIT
        yield EXIT

    def _lines(self, block: Block) -> Iterator[CliLine]:
        """What the switch showed of a class, sent to it again: only what can stand in a class."""
        for text in block.lines:
            if _COPIED.fullmatch(text) is None:
                raise CommandRejected(
                    self.device,
                    f"class {block.name}",
                    f"{excerpt(text, 80)!r} is not a line of a class that labtests can send again",
                    "take it out of the policy, or add its first word to _COPIED in "
                    "labtests/drivers/nxos/policies.py",
                )
            yield line(*text.split())

    def _apply(self, of: Configured, name: str | None) -> Iterator[CliLine]:
        at_system = self.place.port == SYSTEM
        yield line("system", "qos") if at_system else line("interface", self.place.port)
        words = ("service-policy", "type", *self.place.slot.split())
        earlier, more = of.applied.get(self.place, ("", ""))
        if earlier:
            yield line("no", *words, earlier, *more.split())
        if name is not None:
            yield line(*words, name, *more.split())
        yield EXIT


def unused(of: Configured) -> Iterator[CliLine]:
    """What is ours and nobody needs."""
    needed = {(place.kind, name) for place, (name, _) in of.applied.items()}
    kept = {key: classes for key, classes in of.policies.items() if key in needed}
    for kind, name in sorted(of.policies.keys() - kept.keys()):
        if is_ours(name):
            yield line("no", "policy-map", "type", kind, name)
    others = (c for (_, name), c in of.policies.items() if not is_ours(name))
    used = {each.name for classes in (*kept.values(), *others) for each in classes}
    for name in sorted(of.class_maps.keys() - used):
        if is_ours(name):
            yield line("no", "class-map", "type", "qos", _MATCHING, name)


def sorted_classes(classes: Classes) -> list[Block]:
    """By name, and what stands for all others last."""
    return sorted(classes, key=lambda each: (each.name == "class-default", each.name))


# -- settings that are a policy, applied at a port -------------------------------------------------


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
