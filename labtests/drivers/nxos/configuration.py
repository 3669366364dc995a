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
from labtests.drivers.nxos.box import SHOWN, SOURCE
from labtests.drivers.nxos.session import NXOS, NxosSetting, show_ended, told_port
from labtests.transport.asking import Asking, both
from labtests.transport.protocol import Reply

_CONFIGURATION = Indented(
    end=NXOS.shape(f"({SHOWN.shape.text})|{SOURCE}"),
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

SYSTEM = ""
"""As a place, beside the ports."""


@dataclass(frozen=True, slots=True)
class Block:
    """A class of a policy-map, or a class-map: name and lines."""

    name: str
    lines: tuple[str, ...]

    def is_told(self) -> bool:
        """Whether anything stands in it."""
        return bool(self.lines)


Classes = tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class PolicyPlace:
    """Where a policy-map can be applied: a port (full name) or SYSTEM, and as what."""

    port: str
    slot: str

    @property
    def kind(self) -> str:
        """The type of the policy-map."""
        return self.slot.split()[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """All policies of a switch, and the lines of its ports. `applied`: name, and what follows it;
    `alternatives`: class-maps that match when one line does (`match-any`); `virtual`: the sections
    of its interfaces of FCoE."""

    class_maps: Mapping[str, Block]
    alternatives: frozenset[str]
    policies: Mapping[tuple[str, str], Classes]
    applied: Mapping[PolicyPlace, tuple[str, str]]
    ports: Mapping[str, Nested]
    virtual: tuple[Nested, ...] = ()

    def at(self, place: PolicyPlace) -> str | None:
        """The name of what is applied there."""
        return self.applied[place][0] if place in self.applied else None

    def of(self, place: PolicyPlace) -> Classes | None:
        """What is applied there; None: nothing, or a policy-map that the switch itself has."""
        return self.policies.get((place.kind, self.at(place) or ""))

    def lines(self, device: str, port: str) -> tuple[str, ...]:
        """Under a port. Raises CommandRejected where the switch has no such port."""
        if port not in self.ports:
            raise CommandRejected(
                device,
                "show running-config interface",
                f"it has no port {port}",
                "check the interface name in the testbed file against `show interface brief`",
            )
        return self.ports[port].lines

    def after(
        self, place: PolicyPlace, name: str | None, classes: Classes, maps: Classes
    ) -> "Configured":
        """As it is when this is applied there."""
        applied = {at: what for at, what in self.applied.items() if at != place}
        if name is None:
            return replace(self, applied=applied)
        more = self.applied[place][1] if place in self.applied else ""
        return replace(
            self,
            class_maps={**self.class_maps, **{each.name: each for each in maps}},
            alternatives=self.alternatives | {each.name for each in maps},
            policies={**self.policies, (place.kind, name): classes},
            applied={**applied, place: (name, more)},
        )


def parse_configuration(reply: Reply) -> tuple[Nested, ...]:
    """Every section, in order; one without the clock behind it was cut."""
    return _CONFIGURATION.sections(reply)


def configured() -> Asking[Configured]:
    """By two questions, asked together."""
    qos, ports = yield from both(
        show_ended("running-config", "ipqos"), show_ended("running-config", "interface")
    )
    return _joined(qos, parse_configuration(qos), ports, parse_configuration(ports))


class NxosPortSetting(NxosSetting[T], ViewSetting[T]):
    """A setting that is a line of a port's own section."""

    def told(self, port: str) -> Asking[tuple[str, ...]]:
        """What stands there."""
        return (yield from configured()).lines(self.device, self.port(port))


def _joined(
    qos: Reply, of_qos: tuple[Nested, ...], ports: Reply, of_ports: tuple[Nested, ...]
) -> Configured:
    maps, policies, alternatives = dict[str, Block](), dict[tuple[str, str], Classes](), set[str]()
    for each in of_qos:
        if found := _CLASS_MAP.pattern.fullmatch(each.head):
            maps[found["name"]] = Block(found["name"], each.lines)
            alternatives |= {found["name"]} if found["match"] == "match-any" else set()
        elif found := _POLICY_MAP.pattern.fullmatch(each.head):
            policies[found["kind"], found["name"]] = tuple(map(_block, each.inner))
    sections = {name: each for each in of_ports if (name := told_port(each.head)) is not None}
    applied = {
        PolicyPlace(where, told["slot"]): (told["name"], told.get("more", ""))
        for reply, where, section in (
            *((qos, SYSTEM, each) for each in of_qos if each.head == "system qos"),
            *((ports, name, each) for name, each in sections.items()),
        )
        for told in section.each(reply, _SERVICE)
    }
    return Configured(
        class_maps=maps,
        alternatives=frozenset(alternatives),
        policies=policies,
        applied=applied,
        ports=sections,
        virtual=tuple(each for each in of_ports if each.head.startswith("interface vfc")),
    )


def _block(section: Nested) -> Block:
    found = _CLASS.pattern.fullmatch(section.head)
    return Block(section.head if found is None else found["name"], section.lines)
