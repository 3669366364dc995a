"""`show running-config ipqos` and `show running-config interface`: what was asked for.

Policy-maps and class-maps are named objects; `service-policy` lines say where they are applied:
for the whole switch under `system qos`, or under a port. Sections and lines that nobody here knows
are kept and left alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from labtests.capabilities.settings import T
from labtests.core.errors import CommandRejected
from labtests.drivers.displays import Indented, Nested, ViewSetting
from labtests.drivers.nxos.box import BESIDE, SHOWN
from labtests.drivers.nxos.session import NXOS, NxosSetting, show_ended, told_port
from labtests.transport.asking import Asking, both
from labtests.transport.protocol import Reply

_CONFIGURATION = Indented(
    end=NXOS.shape(SHOWN.shape.text),
    beside=NXOS.shape(BESIDE),
    comment="!",
    cut_remedy="the output seems cut off; check that paging is off (`terminal length 0`), and that "
    "this software takes two commands on one line (` ; `)",
)
_CLASS_MAP = NXOS.shape("class-map type qos <match:match-any|match-all> <name>")
_POLICY_MAP = NXOS.shape("policy-map type <kind:qos|queuing|network-qos> <name>")
_CLASS = NXOS.shape("class( type <:queuing|network-qos|qos>)? <name>")
_SERVICE = NXOS.shape(
    "service-policy type <slot:qos input|queuing output|queuing input|network-qos> <name>"
    "( <more:no-stats>)?"
)


@dataclass(frozen=True, slots=True)
class PolicyClass:
    """A class of a policy-map: its lines; of type qos also those of its class-map (None: there is
    no such class-map), of which one is enough, or all have to match."""

    name: str
    lines: tuple[str, ...] = ()
    matches: tuple[str, ...] | None = None
    one_is_enough: bool = True

    def about(self, beginnings: tuple[str, ...]) -> tuple[str, ...]:
        """Its lines that begin so."""
        return tuple(text for text in self.lines if text.startswith(beginnings))

    def without(self, beginnings: tuple[str, ...]) -> "PolicyClass":
        """The same without those."""
        kept = (text for text in self.lines if not text.startswith(beginnings))
        return replace(self, lines=tuple(kept))


Classes = tuple[PolicyClass, ...]


Place = tuple[str, str]
"""Where a policy-map can be applied: a port (full name) or "" (`system qos`), and as what."""


def type_of(place: Place) -> str:
    """Of the policy-map."""
    return place[1].split()[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """All policies of a switch, and the lines of its ports. `class_maps`: their names; `applied`:
    name, and what follows it; `virtual`: the sections of its interfaces of FCoE; `shared`: whether
    another port than the one in question needs the lossless classes."""

    class_maps: frozenset[str]
    policies: Mapping[tuple[str, str], Classes]
    applied: Mapping[Place, tuple[str, str]]
    ports: Mapping[str, Nested]
    virtual: tuple[Nested, ...] = ()
    shared: bool = False

    @property
    def needed(self) -> set[tuple[str, str]]:
        """Type and name of all that is applied."""
        return {(type_of(place), name) for place, (name, _) in self.applied.items()}

    def at(self, place: Place) -> str | None:
        """The name of what is applied there."""
        return self.applied[place][0] if place in self.applied else None

    def of(self, place: Place) -> Classes | None:
        """What is applied there; None: nothing, or a policy-map that the switch itself has."""
        return self.policies.get((type_of(place), self.at(place) or ""))

    def lines(self, device: str, port: str) -> tuple[str, ...]:
        """Under a port. Raises CommandRejected where the switch has no such port."""
        if port not in self.ports:
            where, problem = "show running-config interface", f"it has no port {port}"
            remedy = "check the interface name in the testbed file against `show interface brief`"
            raise CommandRejected(device, where, problem, remedy)
        return self.ports[port].lines

    def applying(self, place: Place, name: str | None) -> "Configured":
        """As it is when this policy-map, or none, is applied there."""
        applied = {at: what for at, what in self.applied.items() if at != place}
        if name is not None:
            applied[place] = (name, self.applied.get(place, ("", ""))[1])
        return replace(self, applied=applied)

    def having(self, kind: str, name: str, classes: Classes) -> "Configured":
        """With this policy-map, and the class-maps that it takes."""
        maps = {each.name for each in classes if each.matches is not None}
        policies = {**self.policies, (kind, name): classes}
        return replace(self, class_maps=self.class_maps | maps, policies=policies)


parse_configuration = _CONFIGURATION.sections
"""Every section, in order; one without the clock behind it was cut."""


def configured() -> Asking[Configured]:
    """By two questions, asked together."""
    qos, ports = yield from both(
        show_ended("running-config", "ipqos"), show_ended("running-config", "interface")
    )
    return _joined(qos, ports)


class NxosPortSetting(NxosSetting[T], ViewSetting[T]):
    """A setting that is a line of a port's own section."""

    def told(self, port: str) -> Asking[tuple[str, ...]]:
        """What stands there."""
        return (yield from configured()).lines(self.device, self.port(port))


def _joined(qos: Reply, ports: Reply) -> Configured:
    of_qos, of_ports = parse_configuration(qos), parse_configuration(ports)
    maps = {
        found["name"]: (each.lines, found["match"] == "match-any")
        for each in of_qos
        if (found := _CLASS_MAP.pattern.fullmatch(each.head))
    }
    policies = {
        (found["kind"], found["name"]): tuple(_class(inner, maps) for inner in each.inner)
        for each in of_qos
        if (found := _POLICY_MAP.pattern.fullmatch(each.head))
    }
    sections = {name: each for each in of_ports if (name := told_port(each.head)) is not None}
    system = [(qos, "", each) for each in of_qos if each.head == "system qos"]
    applied = {
        (where, told["slot"]): (told["name"], told.get("more", ""))
        for reply, where, section in (*system, *((ports, *each) for each in sections.items()))
        for told in section.each(reply, _SERVICE)
    }
    return Configured(
        class_maps=frozenset(maps),
        policies=policies,
        applied=applied,
        ports=sections,
        virtual=tuple(each for each in of_ports if each.head.startswith("interface vfc")),
    )


def _class(section: Nested, maps: Mapping[str, tuple[tuple[str, ...], bool]]) -> PolicyClass:
    found = _CLASS.pattern.fullmatch(section.head)
    name = section.head if found is None else found["name"]
    return PolicyClass(name, section.lines, *maps.get(name, (None, True)))
