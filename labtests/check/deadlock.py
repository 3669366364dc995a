"""Can buffers of switches wait for each other in a cycle, with PFC as it is set?

By routes as they would be (all shortest paths), for a switch is not asked for its own; failures and
changing routes: `labtests topology`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from labtests.capabilities.records import PfcSetting
from labtests.check.cables import CheckedLab
from labtests.check.finding import CheckFinding, Subject
from labtests.inventory import Testbed

RING = "ring"
"""The role of hosts on switches that are cabled in a ring on purpose (docs/testbeds.md)."""

Lossless = Mapping[tuple[str, str], frozenset[int]]


def deadlock(lab: CheckedLab) -> Iterator[CheckFinding]:
    """The shortest cycle around which PFC is on, and what breaks it. Nothing of one switch."""
    between = [link for link in lab.testbed.links if lab.between_switches(link)]
    if not between:
        return
    known, unknown = dict[tuple[str, str], frozenset[int]](), list[tuple[str, str]]()
    for end in (end for link in between for end in (link.a, link.b)):
        found = lab.setting(end, "pfc")
        if isinstance(found, PfcSetting) and found.mode != "auto":
            on = found.mode == "on"
            known[end.device, end.interface] = found.priorities if on else frozenset()
        else:
            unknown.append((end.device, end.interface))
    yield from _judged(lab.testbed, known, unknown)


def _judged(
    testbed: Testbed, known: Lossless, unknown: list[tuple[str, str]]
) -> Iterator[CheckFinding]:
    """A cycle outside of the ring on purpose comes first, then one that may be there, then the
    ring."""
    ring = ring_of(testbed)
    told = {**known, **dict.fromkeys(unknown, frozenset[int]())}
    somewhere = frozenset().union(*known.values()) or frozenset(range(8))
    doubted = {**known, **dict.fromkeys(unknown, somewhere)}
    found = _warned(testbed, told, ring)
    doubtful = None if found or not unknown else _warned(testbed, doubted, ring)
    meant = _warned(testbed, told if found else doubted) if ring else None
    if found is not None:
        yield Subject("deadlock", *found.at).says("warning", found.text, found.remedy)
    if doubtful is not None:
        at = Subject("deadlock", *doubtful.at)
        yield at.unknown(f"whether PFC is on at all of these ports: {doubtful.text}")
    if meant is not None and meant.switches <= ring:
        text = f"{meant.text}: this ring is made to have it (role `{RING}`)"
        yield Subject("deadlock", *meant.at).says("note", text)
    elif found is None and doubtful is None:
        yield Subject("deadlock", testbed.name).ok("no buffers with PFC that wait in a cycle")


def _warned(testbed: Testbed, lossless: Lossless, beside: frozenset[str] = frozenset()) -> Any:
    """The first cycle that is not all on switches of `beside` (wording.Warned), or None."""
    if not any(lossless.values()):
        return None
    from labtests.topology import of_testbed, wording

    fabric = of_testbed.fabric_of(testbed, everywhere=frozenset(), lossless=lossless)
    return wording.warned(fabric, beside)


def of_priorities(testbed: Testbed, priorities: frozenset[int]) -> tuple[CheckFinding, ...]:
    """The same with PFC for these priorities on every port, as a profile makes it: warnings, and
    notes of what is there on purpose."""
    ends = [end for link in testbed.links for end in (link.a, link.b)]
    known = {(end.device, end.interface): priorities for end in ends}
    return tuple(each for each in _judged(testbed, known, []) if each.level != "ok")


def ring_of(testbed: Testbed) -> frozenset[str]:
    """The switches of the ring that a testbed has on purpose."""
    ends = (testbed.peer(end) for end in testbed.roles.get(RING, ()))
    return frozenset(end.device for end in ends if end is not None)
