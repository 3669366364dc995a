"""The way through several switches, read from a testbed's links."""

from collections import deque
from collections.abc import Iterable

from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint, Testbed


def transit_ports(testbed: Testbed, sources: Iterable[str], target: str) -> tuple[Endpoint, ...]:
    """Both ends of every cable between switches on a shortest way from one of these switches to the
    target, in the order of the links. Which of several ways a packet takes is not known: all of
    them. Empty where all are one switch, or the links do not lead there."""
    cables = [
        (link.a, link.b)
        for link in testbed.links
        if all(_is_switch(testbed.device(end.device)) for end in (link.a, link.b))
    ]
    steps = _steps(cables, target)
    used = set[tuple[Endpoint, Endpoint]]()
    reached, waiting = set(sources), deque(sources)
    while waiting:
        here = waiting.popleft()
        for cable in cables:
            ends = {end.device for end in cable}
            nearer = {name for name in ends if steps.get(name, -1) == steps.get(here, -1) - 1}
            if here in ends and here in steps and nearer:
                used.add(cable)
                waiting.extend(nearer - reached)
                reached |= nearer
    return tuple(end for cable in cables if cable in used for end in cable)


def towards(
    testbed: Testbed, ends: tuple[Endpoint, Endpoint], target: str
) -> tuple[Endpoint, Endpoint]:
    """The ends of a cable between switches in the order of packets to the target."""
    cables = [(link.a, link.b) for link in testbed.links]
    steps = _steps(cables, target)
    out, into = sorted(ends, key=lambda end: steps.get(end.device, 0), reverse=True)
    return out, into


def _steps(cables: list[tuple[Endpoint, Endpoint]], target: str) -> dict[str, int]:
    """How many cables each switch is from the target."""
    steps, waiting = {target: 0}, deque([target])
    while waiting:
        here = waiting.popleft()
        for cable in cables:
            names = [end.device for end in cable]
            for name in names if here in names else ():
                if name not in steps:
                    steps[name] = steps[here] + 1
                    waiting.append(name)
    return steps


def _is_switch(device: Device) -> bool:
    """Not to be guessed from its ports: one that routes has addresses, too."""
    return driver_module(device.platform).KIND == "switch"
