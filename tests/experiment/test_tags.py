"""Classes by 802.1p tags: read from the hosts, the same at all of them; and a bottleneck between
switches."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from labtests.capabilities.facts import TaggedPorts, Tags
from labtests.capabilities.settings import QUEUE_MAP
from labtests.core.errors import LabError
from labtests.experiment import NotHere
from labtests.experiment.choosing import queues_at, tags_of
from labtests.experiment.crossings import crossings, entries
from labtests.experiment.fitting import (
    at_the_trunk,
    expect_one_bottleneck,
    expect_room,
    other_trunks,
)
from labtests.experiment.incast import Incast
from labtests.experiment.roles import roles_of
from labtests.inventory import Endpoint, load
from labtests.transport.asking import Asking, known

TESTBEDS = Path(__file__).parents[2] / "testbeds"
TAGGED = load(TESTBEDS / "h3c-dot1p.yaml")
NIC = "ens1f0np0"
FULL, ENTRY, LAST = (
    Endpoint(device=device, interface=f"Twenty-FiveGigE1/0/{number}")
    for device, number in (("DeviceA", 3), ("DeviceB", 1), ("DeviceB", 2))
)


def tags(**of: int) -> Tags:
    """`six=5`: DSCP 6 has 5; others 0."""
    words = {"two": 2, "six": 6}
    of_dscp = [0] * 64
    for word, pcp in of.items():
        of_dscp[words[word]] = pcp
    return Tags(interface="x.100", vlan=100, egress=tuple(of.items()), of_dscp=tuple(of_dscp))  # type: ignore[arg-type]


class TaggingLab:
    """Hosts that tag so, by name; switches with this map from 802.1p to queue."""

    def __init__(self, queue_map: tuple[int, ...] = tuple(range(8)), **hosts: Tags | None) -> None:
        self.testbed, self.hosts, self.queue_map = TAGGED, hosts, queue_map

    def part(self, device: str, ability: type) -> object:
        assert ability is TaggedPorts

        def told(port: str, interface: str, vlan: int) -> Asking[Tags | None]:
            assert (port, interface, vlan) == (NIC, f"{NIC}.100", 100)
            return known(self.hosts[device])

        return SimpleNamespace(tags=told)

    def has(self, device: str, kind: object) -> bool:
        return kind is QUEUE_MAP and device not in self.hosts

    def setting(self, at: Endpoint, kind: object) -> object:
        return SimpleNamespace(read=lambda port: known(self.queue_map))

    def ask(self, device: str, asking: Asking[object]) -> object:
        try:
            next(asking)
        except StopIteration as done:
            return done.value
        raise AssertionError("nothing is asked here")


def lab(**hosts: Tags | None) -> TaggingLab:
    each = dict.fromkeys(("Server1", "Server2", "Server3"), tags(six=5))
    return TaggingLab(**each | hosts)


class TestTags:
    def test_are_what_all_hosts_tell(self) -> None:
        found = tags_of(lab(), roles_of(TAGGED))  # type: ignore[arg-type]
        assert [dscp for dscp in range(64) if found[dscp]] == [6]
        assert found[6] == 5

    def test_that_differ_are_an_error_with_host_and_remedy(self) -> None:
        differing = lab(Server3=tags(two=5))
        with pytest.raises(
            LabError, match=r"Server3:.* and Server1:.* tag packets differently.*\n"
        ):
            tags_of(differing, roles_of(TAGGED))  # type: ignore[arg-type]

    def test_of_an_interface_that_is_not_there_are_an_error(self) -> None:
        with pytest.raises(LabError, match=rf"Server2 has no VLAN interface {NIC}\.100"):
            tags_of(lab(Server2=None), roles_of(TAGGED))  # type: ignore[arg-type]

    def test_without_a_vlan_in_the_testbed_file_there_are_none(self) -> None:
        untagged = load(TESTBEDS / "two-leaves.yaml")
        with pytest.raises(NotHere, match=r"packets of srv1:\w+ have no 802\.1Q tag"):
            tags_of(SimpleNamespace(testbed=untagged), roles_of(untagged))  # type: ignore[arg-type]

    def test_lead_to_queues_by_the_switchs_map(self) -> None:
        swapped = TaggingLab((1, 0, 2, 3, 4, 7, 6, 5), Server1=tags(six=5))
        queues = queues_at(swapped, FULL, tags(six=5).of_dscp)  # type: ignore[arg-type]
        assert (queues[6], queues[0]) == (7, 1)

    def test_of_a_host_are_its_own_now(self) -> None:
        nic = Endpoint(device="Server1", interface=NIC)
        changed = lab(Server1=tags(six=3))
        assert queues_at(changed, nic, tags(six=5).of_dscp)[6] == 3  # type: ignore[arg-type]

    def test_a_class_is_the_first_dscp_with_the_priority(self) -> None:
        roles = replace(roles_of(TAGGED), tags=tags(two=3, six=5).of_dscp)
        incast = SimpleNamespace(roles=roles)
        assert Incast.tagged(incast, 5).tos == 24  # type: ignore[arg-type]
        assert Incast.tagged(incast, 3).tos == 8  # type: ignore[arg-type]
        with pytest.raises(
            NotHere, match=r"priority 4: the hosts' egress-qos-maps lead to 0, 3, 5"
        ):
            Incast.tagged(incast, 4)  # type: ignore[arg-type]


class TestBottleneckBetweenSwitches:
    def test_is_the_port_towards_the_receiver_and_the_last_one_is_behind_it(self) -> None:
        roles = roles_of(TAGGED)
        assert (roles.bottleneck, roles.behind) == (LAST, ())
        found = at_the_trunk(roles)
        assert (found.bottleneck, found.behind) == (FULL, (LAST,))
        assert found.line_bits_per_s == 25e9

    def test_its_cable_may_be_asked_for_more_than_it_carries_and_no_other(self) -> None:
        roles = roles_of(TAGGED)
        with pytest.raises(NotHere, match="that cable would be the bottleneck"):
            expect_one_bottleneck(roles.senders, roles)
        found = at_the_trunk(roles)
        expect_one_bottleneck(found.senders, found)
        assert other_trunks(found) == []
        expect_room({"Server1": 1e12}, other_trunks(found))

    def test_packets_cross_the_last_switch_behind_it(self) -> None:
        found = at_the_trunk(roles_of(TAGGED))
        assert entries(found) == (ENTRY,)
        queues = {ENTRY: tuple(range(64))}
        sent = [(role, 24) for role in found.senders]
        (crossing,) = crossings(found, queues, sent)
        assert crossing.port == (LAST.device, LAST.interface)
        assert crossing.queues == {0: 6, 1: 6}

    @pytest.mark.parametrize(
        ("testbed", "why"),
        [
            ("h3c-s6550-cx4", r"and there are 0 \(of 0 between switches"),
            ("two-leaves", "carries 100 Gb/s, the senders 50 and the receiver 25: it is not full"),
        ],
    )
    def test_a_lab_without_one_is_skipped_with_the_reason(self, testbed: str, why: str) -> None:
        with pytest.raises(NotHere, match=why):
            at_the_trunk(roles_of(load(TESTBEDS / f"{testbed}.yaml")))

    def test_a_cable_that_is_faster_than_the_receiver_is_none(self) -> None:
        roles = roles_of(TAGGED)
        slow = replace(roles, line_bits_per_s=10e9)  # type: ignore[arg-type]
        with pytest.raises(NotHere, match="not full before all else"):
            at_the_trunk(slow)
