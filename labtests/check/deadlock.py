"""Can buffers of switches wait for each other in a cycle, with PFC as it is set?

By routes as they would be (all shortest paths), for a switch is not asked for its own; failures and
changing routes: `labtests topology`.
"""

import importlib
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
    yield _judged(lab.testbed, known, unknown)


def _judged(testbed: Testbed, known: Lossless, unknown: list[tuple[str, str]]) -> CheckFinding:
    told = _warned(testbed, {**known, **dict.fromkeys(unknown, frozenset())})
    if told is not None:
        return told
    somewhere = frozenset().union(*known.values()) or frozenset(range(8))
    doubtful = _warned(testbed, {**known, **dict.fromkeys(unknown, somewhere)}) if unknown else None
    if doubtful is None:
        return Subject("deadlock", testbed.name).ok("no buffers with PFC that wait in a cycle")
    at = Subject("deadlock", doubtful.device, doubtful.port)
    return at.unknown(f"whether PFC is on at all of these ports: {doubtful.finding}")


def _warned(testbed: Testbed, lossless: Lossless) -> CheckFinding | None:
    if not any(lossless.values()):
        return None
    wording: Any = importlib.import_module("labtests.topology.wording")
    of_testbed: Any = importlib.import_module("labtests.topology.of_testbed")
    fabric = of_testbed.fabric_of(testbed, everywhere=frozenset(), lossless=lossless)
    told = wording.warned(fabric)
    if told is None:
        return None
    device, port = told.at
    at = Subject("deadlock", device, port)
    if told.switches <= ring_of(testbed):
        return at.says("note", f"{told.text}: this ring is made to have it (role `{RING}`)")
    return at.says("warning", told.text, told.remedy)


def of_priorities(testbed: Testbed, priorities: frozenset[int]) -> CheckFinding | None:
    """The same with PFC for these priorities on every port, as a profile makes it."""
    ends = [end for link in testbed.links for end in (link.a, link.b)]
    return _warned(testbed, {(end.device, end.interface): priorities for end in ends})


def ring_of(testbed: Testbed) -> frozenset[str]:
    """The switches of the ring that a testbed has on purpose."""
    ends = (testbed.peer(end) for end in testbed.roles.get(RING, ()))
    return frozenset(end.device for end in ends if end is not None)
