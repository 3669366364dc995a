"""Policies of labtests: how a port, or the switch, comes to apply one, and how it goes back.

A policy-map of somebody else is never changed. What is wanted goes into a policy-map of ours, which
has its content in its name and never changes either, so ports that want the same share it; behind
the content stands the name of what it replaced there, so that any later process knows the way back.
One that nobody applies any more is removed.
"""

import re
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import ClassVar

from labtests.capabilities.settings import Commands, T
from labtests.core.output import excerpt
from labtests.drivers.nxos.configuration import Classes, Configured, Place, PolicyClass, configured
from labtests.drivers.nxos.session import CLI, EXIT, NxosSetting, line
from labtests.drivers.states import StateSetting
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine

IPQOS = "show running-config ipqos"
QUEUES = range(8)
OURS = "labtests-"
_OUR_NAME = re.compile(rf"{OURS}[0-9a-f]{{8}}(?:\..+)?")
_LONGEST_NAME = 40  # of a policy-map (guides)
_HERE = "labtests/drivers/nxos/policies.py"
_OUR_MAP = ("class-map", "type", "qos", "match-any")

_COPIED = re.compile(
    "(?:bandwidth|priority|shape|queue-limit|random-detect|afd|congestion-control|mtu|pause|set"
    "|match|police) .+|priority|pause"
)
"""Lines of a class that are sent again, by their first word: none of them is a command anywhere
else, or leads out of the class."""


def is_ours(name: str) -> bool:
    """Whether labtests has made it: a name as `named` makes them, perhaps with what it replaces."""
    return _OUR_NAME.fullmatch(name) is not None


def named(what: object) -> str:
    """A name of ours for this content."""
    return OURS + sha256(repr(what).encode()).hexdigest()[:8]


def _last_others(each: PolicyClass) -> tuple[bool, str]:
    """The order of classes: by name, and what stands for all others last."""
    return each.name == "class-default", each.name


def unused(of: Configured) -> Iterator[CliLine]:
    """What is ours and nobody needs."""
    gone = {key for key in of.policies.keys() - of.needed if is_ours(key[1])}
    for kind, name in sorted(gone):
        yield line("no", "policy-map", "type", kind, name)
    kept = (classes for key, classes in of.policies.items() if key not in gone)
    used = {each.name for classes in kept for each in classes}
    yield from (line("no", *_OUR_MAP, n) for n in sorted(of.class_maps - used) if is_ours(n))


class PolicySetting(NxosSetting[T], StateSetting[T, Configured]):
    """What one kind of policy (`slot`) does at a port, or in the switch."""

    slot: ClassVar[str]
    of_switch: ClassVar[bool] = False
    """Whether it is applied to the whole switch, and not at a port."""
    delivered: ClassVar[Classes] = ()
    """What is done where nothing is applied."""

    @abstractmethod
    def _classes(self, of: Configured, port: str, wanted: T) -> Classes:
        """Those of a policy that does it. Raises CommandRejected for what the switch cannot
        hold."""

    @abstractmethod
    def _means(self, classes: Classes) -> Hashable:
        """What classes do, whatever they are called and in whatever order they are."""

    @property
    def type(self) -> str:
        """Of the policy-map."""
        return self.slot.split()[0]

    def place(self, port: str) -> Place:
        """Where it is applied."""
        return "" if self.of_switch else self.port(port), self.slot

    def state(self, port: str) -> Asking[Configured]:
        """All policies of the switch, which has this port."""
        of = yield from configured()
        of.lines(self.device, self.port(port))
        return of

    def in_force(self, of: Configured, port: str) -> Classes:
        """What is applied, else what the switch does."""
        found = of.of(self.place(port))
        return self._plain(of) if found is None else found

    def others(self, of: Configured, port: str) -> tuple[str | None, Classes]:
        """What somebody else applies there, which one of ours may stand for, and what it does; or
        None, and what happens then."""
        name = of.at(self.place(port))
        if name is not None and is_ours(name):
            name = name.partition(".")[2] or None
        if name is None:
            return None, self._plain(of)
        key = self.type, name
        if key not in of.policies:
            problem = "this policy-map is applied, or was before, and is not there"
            remedy = "make it again, or take its `service-policy` line away"
            raise self.reject(f"policy-map type {' '.join(key)}", problem, remedy)
        return name, of.policies[key]

    def _plain(self, of: Configured) -> Classes:
        """What a place does that applies nothing itself: a port as `system qos` says, else as
        delivered."""
        found = None if self.of_switch else of.of(("", self.slot))
        return self.delivered if found is None else found

    def _made(self, state: Configured, port: str, wanted: T) -> Configured:
        """With somebody's own policy, if it does it; or none; else with one of ours."""
        if self.same(self.value(state, port), wanted):
            return state
        place, classes = self.place(port), self._classes(state, port, wanted)
        earlier, there = self.others(state, port)
        if self._means(classes) == self._means(there):
            return state.applying(place, earlier)
        ordered = sorted(classes, key=_last_others)
        name = named([(each.name, sorted(each.lines)) for each in ordered])
        name = f"{name}.{earlier}" if earlier else name
        if len(name) > _LONGEST_NAME:
            problem = f"the name {earlier!r} is too long to be remembered in a name of ours"
            remedy = f"give that policy-map a name of at most {_LONGEST_NAME - 18} characters"
            raise self.reject(f"service-policy type {self.slot} {earlier}", problem, remedy)
        return state.having(self.type, name, classes).applying(place, name)

    def _change(self, port: str, before: Configured, after: Configured) -> Commands:
        """Make it, apply it instead of what is applied, remove what nobody applies then."""
        place = self.place(port)
        name = after.at(place)
        if name == before.at(place):
            return tuple(unused(after))
        made = self._created(name, after.of(place) or ()) if name and is_ours(name) else ()
        return (*made, *self._applied(port, before, name), *unused(after))

    def _created(self, name: str, classes: Classes) -> Iterator[CliLine]:
        """The same lines again do no harm to what is there."""
        for each in classes:
            if each.matches is not None:
                yield from self._filled(line(*_OUR_MAP, each.name), each.matches)
        yield line("policy-map", "type", self.type, name)
        typed = () if self.type == "qos" else ("type", self.type)
        for each in sorted(classes, key=_last_others):
            yield from self._filled(line("class", *typed, each.name), each.lines)
        yield EXIT

    def _filled(self, head: CliLine, lines: tuple[str, ...]) -> Iterator[CliLine]:
        """What the switch showed of a class, sent to it again: only what can stand in a class."""
        yield head
        for text in lines:
            if _COPIED.fullmatch(text) is None:
                problem = f"{excerpt(text, 80)!r} is not a line of a class that labtests can send"
                remedy = f"take it out of the policy, or add its first word to _COPIED in {_HERE}"
                raise self.reject(str(head), f"{problem} again", remedy)
            yield line(*text.split())
        yield EXIT

    def _applied(self, port: str, before: Configured, name: str | None) -> Commands:
        words = ("service-policy", "type", *self.slot.split())
        earlier, more = before.applied.get(self.place(port), ("", ""))
        lines = [line("no", *words, earlier, *more.split())] if earlier else []
        lines += [line(*words, name, *more.split())] if name is not None else []
        system = (line("system", "qos"), *lines, EXIT)
        return system if self.of_switch else CLI.at(self.port(port), *lines)


class QueuePolicySetting(PolicySetting[T]):
    """One whose policy has the switch's own eight classes. What the setting is not about stays in
    them."""

    template: ClassVar[str]
    """How they are called, but for the queue."""
    about: ClassVar[tuple[str, ...]]
    """How the lines begin that it makes."""
    understood: ClassVar[tuple[str, ...]] = ()
    """And all whose words do not matter, where these are more."""
    new: ClassVar[tuple[str, ...]] = ()
    """What a class has besides that was not there."""

    @abstractmethod
    def _wanted(self, of: Configured, port: str, wanted: T) -> Mapping[int, str]:
        """The line of each queue that has one. Raises CommandRejected for what the switch cannot
        hold."""

    @abstractmethod
    def _said(self, queue: int, block: PolicyClass) -> Hashable:
        """What those lines of a class do. Raises CommandRejected for what labtests cannot tell."""

    def _kept(self, of: Configured, port: str) -> Classes:
        """Whose other lines stay."""
        return self.in_force(of, port)

    def _classes(self, of: Configured, port: str, wanted: T) -> Classes:
        kept = self._by_queue(each.without(self.about) for each in self._kept(of, port))
        for queue, text in self._wanted(of, port, wanted).items():
            block = kept.get(queue, PolicyClass(self.named(queue), self.new))
            kept[queue] = PolicyClass(block.name, (*block.lines, text))
        return tuple(each for each in kept.values() if each.lines)

    def _means(self, classes: Classes) -> Hashable:
        about = self.understood or self.about
        return tuple(
            (self._said(queue, each), frozenset(each.without(about).lines))
            for queue, each in self.eight(classes)
        )

    def eight(self, classes: Classes) -> list[tuple[int, PolicyClass]]:
        """Queues 0 to 7, each with its class; one without has nothing in it."""
        found = self._by_queue(classes)
        return [(n, found.get(n, PolicyClass(self.named(n)))) for n in QUEUES]

    def _by_queue(self, classes: Iterable[PolicyClass]) -> dict[int, PolicyClass]:
        """Raises CommandRejected for others than the switch's own eight, which have no number."""
        own, found = {self.named(queue): queue for queue in QUEUES}, dict[int, PolicyClass]()
        for each in classes:
            if each.name not in own:
                where = f"class type {self.type} {each.name}"
                problem = f"this class is none of the switch's own eight ({self.template}1 ...)"
                remedy = "write the policy with the classes of the 8-queue template"
                raise self.reject(where, problem, remedy)
            found[own[each.name]] = each
        return found

    def named(self, queue: int) -> str:
        """The switch's own class of a queue."""
        return f"{self.template}{queue or '-default'}"
