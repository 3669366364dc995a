"""Which device and port of a testbed a role in braces means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labtests.core.errors import LabError
from labtests.drivers import driver_module
from labtests.experiment import roles_of
from labtests.experiment.ring import ROLE, ring_of
from labtests.experiment.roles import Role, ways_out
from labtests.faults.declared import MIDDLE, START, TRAFFIC, Declared
from labtests.faults.suites import FaultedSuite
from labtests.inventory import Testbed
from labtests.simlab.fault_forms import mistake_in

MANY = 3
"""Senders in front of the fourth, which only larger labs have."""


class NotOfThisLab(LabError):
    """This testbed cannot have this fault; the text says why."""


@dataclass(frozen=True, slots=True)
class HostPlace:
    """A host, by its role."""

    role: Role

    def __str__(self) -> str:
        return self.role.name

    @property
    def nic(self) -> str:
        """Its port."""
        return self.role.nic.interface

    @property
    def switch(self) -> str:
        """That it is plugged into."""
        return self.role.switch.device

    @property
    def port(self) -> str:
        """The switch port opposite."""
        return self.role.switch.interface

    @property
    def address(self) -> str:
        """Of its port."""
        return self.role.address


@dataclass(frozen=True, slots=True, kw_only=True)
class TrunkPlace:
    """A cable between two switches."""

    switch: str
    port: str
    next: str
    next_port: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaysPlace:
    """A switch that has several equally short ways, and the ports of two of them."""

    switch: str
    port: str
    other: str


class Places:
    """The roles of a testbed."""

    def __init__(self, testbed: Testbed) -> None:
        roles = roles_of(testbed)
        self.testbed = testbed
        self._kinds = {d.name: driver_module(d.platform).KIND for d in testbed.devices}
        self._known: dict[str, Any] = {
            "sender1": HostPlace(roles.senders[0]),
            "sender2": HostPlace(roles.senders[1]),
            "receiver": HostPlace(roles.receiver),
            "switch": roles.bottleneck.device,
            "bottleneck": roles.bottleneck.interface,
        }
        if testbed.port(roles.senders[0].nic).vlan is not None:
            self._known["tagged"] = self._known["sender1"]
        if ROLE in testbed.roles:
            (first, second), *_ = ring_of(testbed).cables
            self._known["ring"] = TrunkPlace(
                switch=first.device,
                port=first.interface,
                next=second.device,
                next_port=second.interface,
            )
        if len(roles.senders) > MANY:
            self._known["sender4"] = HostPlace(roles.senders[MANY])
        for switch, ((_, one), (_, other), *_) in ways_out(testbed, roles).items():
            self._known.setdefault("ways", WaysPlace(switch=switch, port=one, other=other))
        for trunk in roles.trunks[:1]:
            first, second = trunk.ends
            self._known["trunk"] = TrunkPlace(
                switch=first.device,
                port=first.interface,
                next=second.device,
                next_port=second.interface,
            )

    def named(self, text: str) -> str:
        """The text with names. Raises NotOfThisLab."""
        try:
            return text.format_map(self._known)
        except KeyError as error:
            raise NotOfThisLab(f"{self.testbed.name} has no {error.args[0]}") from None

    def faults(self, declared: Declared, suite: FaultedSuite) -> list[dict[str, Any]]:
        """What `--fault` takes in a run of this suite. Raises NotOfThisLab."""
        self._expect(declared)
        self.named(f"{{{suite.needs}}}" if suite.needs else "")
        found = []
        for each in declared.how:
            value = {key: self._value(value) for key, value in each.items()}
            if mistake := mistake_in(value, self._kinds):
                raise NotOfThisLab(f"{declared.name}: {mistake}")
            found.append({**value, **_moment(declared.when, suite)})
        return found

    def _value(self, value: Any) -> Any:
        return self.named(value) if isinstance(value, str) else value

    def _expect(self, declared: Declared) -> None:
        for place, platforms in (("switch", declared.switches), ("sender1", declared.hosts)):
            platform = self.testbed.device(str(self._known[place])).platform
            if platforms and platform not in platforms:
                raise NotOfThisLab(
                    f"{declared.name}: for {', '.join(platforms)}, not for {platform}"
                )


def _moment(when: str, suite: FaultedSuite) -> Mapping[str, Any]:
    if when == START:
        return {}
    if when in (TRAFFIC, MIDDLE):
        return {"at": suite.at, **({"after_s": suite.middle_s} if when == MIDDLE else {})}
    return {"at": when}
