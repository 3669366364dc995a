"""Which testbeds have a ring in which hosts can lock each other, and why others have none."""

from dataclasses import replace
from pathlib import Path

import pytest

from labtests.experiment import NotHere
from labtests.experiment.ring import ring_of
from labtests.inventory import Endpoint, load

TESTBEDS = Path(__file__).parents[2] / "testbeds"
RING = load(TESTBEDS / "h3c-ring.yaml")


def without(testbed, *links):
    return replace(
        testbed, links=tuple(each for n, each in enumerate(testbed.links) if n not in links)
    )


def of_four(testbed):
    """The last switch is left out: its cables end at the first one."""
    first, last = testbed.links[5], testbed.links[8]
    closing = replace(last, b=replace(testbed.links[9].b))
    hosts = testbed.roles["ring"][:4]
    assert first.a.device == closing.b.device == "ring1"
    return replace(
        without(testbed, 8, 9),
        links=(*without(testbed, 8, 9).links, closing),
        roles=testbed.roles | {"ring": hosts},
    )


def test_each_host_sends_to_the_one_two_switches_on_by_the_cables_of_the_ring():
    ring = ring_of(RING)
    assert [host.name for host in ring.hosts] == ["srv1", "srv2", "srv3", "srv4", "srv5"]
    assert [ring.towards(host).name for host in ring.hosts] == [
        "srv3", "srv4", "srv5", "srv1", "srv2",
    ]  # fmt: skip
    assert [(a.device, b.device) for a, b in ring.cables] == [
        ("ring1", "ring2"), ("ring2", "ring3"), ("ring3", "ring4"), ("ring4", "ring5"),
        ("ring5", "ring1"),
    ]  # fmt: skip
    assert len(ring.as_roles.transit) == 10
    assert ring.as_roles.receiver.name == "srv3"


def test_the_other_way_round_it_is_a_ring_as_well():
    hosts = tuple(reversed(RING.roles["ring"]))
    ring = ring_of(replace(RING, roles=RING.roles | {"ring": hosts}))
    assert [(a.device, b.device) for a, b in ring.cables][:2] == [
        ("ring5", "ring4"), ("ring4", "ring3"),
    ]  # fmt: skip


FASTER = replace(
    RING,
    links=tuple(
        replace(each, speed_bits_per_s=10**11) if n >= 5 else each
        for n, each in enumerate(RING.links)
    ),
)
PARALLEL = replace(
    RING,
    links=(
        *RING.links,
        replace(
            RING.links[5],
            a=Endpoint(device="ring1", interface="x"),
            b=Endpoint(device="ring2", interface="y"),
        ),
    ),
)


@pytest.mark.parametrize(
    ("testbed", "says"),
    [
        (load(TESTBEDS / "h3c-s6550-cx4.yaml"), "has no ring"),
        (load(TESTBEDS / "two-leaves.yaml"), "has no ring"),
        (of_four(RING), "has no ring"),
        (without(RING, 7), "0 cables from ring3 to ring4"),
        (PARALLEL, "2 cables from ring1 to ring2"),
        (FASTER, "is faster than a host's"),
    ],
    ids=["one switch", "two switches", "four", "open", "parallel", "faster"],
)
def test_a_testbed_without_a_ring_that_can_lock_is_told_so(testbed, says):
    with pytest.raises(NotHere, match=says):
        ring_of(testbed)


def test_a_short_cut_across_the_ring_is_another_way():
    across = replace(
        RING.links[5],
        a=Endpoint(device="ring1", interface="x"),
        b=Endpoint(device="ring3", interface="y"),
    )
    with pytest.raises(NotHere, match="another way than the ring"):
        ring_of(replace(RING, links=(*RING.links, across)))
