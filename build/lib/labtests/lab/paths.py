"""The way through several switches, read from a testbed's links."""

from collections import deque
from collections.abc import Iterable, Mapping

from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint, Testbed

Cable = tuple[Endpoint, Endpoint]
"""Its two ends."""


def transit_ports(testbed: Testbed, sources: Iterable[str], target: str) -> tuple[Endpoint, ...]:
    """Both ends of every cable between switches on a shortest way from one of these switches to the
    target, in the order of the links. Which of several ways a packet takes is not known: all of
    them. Empty where all are one switch, or the links do not lead there."""
    switches = {device.name for device in testbed.devices if _is_switch(device)}
    cables = [(link.a, link.b) for link in testbed.links
              if {link.a.device, link.b.device} <= switches]  # fmt: skip
    at = _by_device(cables)
    steps = _steps(at, target)
    used = set[Cable]()
    reached, waiting = set(sources), deque(sources)
    while waiting:
        here = waiting.popleft()
        for cable in at.get(here, ()) if here in steps else ():
            for name in {end.device for end in cable} - {here}:
                if steps.get(name) == steps[here] - 1:
                    used.add(cable)
                    if name not in reached:
                        reached.add(name)
                        waiting.append(name)
    return tuple(end for cable in cables if cable in used for end in cable)


def towards(testbed: Testbed, cables: Iterable[Cable], target: str) -> tuple[Cable, ...]:
    """The ends of each of these cables in the order of packets to the target."""
    steps = _steps(_by_device((link.a, link.b) for link in testbed.links), target)
    return tuple(
        (a, b) if steps.get(a.device, 0) >= steps.get(b.device, 0) else (b, a) for a, b in cables
    )


def _by_device(cables: Iterable[Cable]) -> dict[str, list[Cable]]:
    found: dict[str, list[Cable]] = {}
    for cable in cables:
        for name in {end.device for end in cable}:
            found.setdefault(name, []).append(cable)
    return found


def _steps(at: Mapping[str, list[Cable]], target: str) -> dict[str, int]:
    """How many cables each switch is from the target."""
    steps, waiting = {target: 0}, deque([target])
    while waiting:
        here = waiting.popleft()
        for cable in at.get(here, ()):
            for name in (end.device for end in cable):
                if name not in steps:
                    steps[name] = steps[here] + 1
                    waiting.append(name)
    return steps


def _is_switch(device: Device) -> bool:
    """Not to be guessed from its ports: one that routes has addresses, too."""
    return driver_module(device.platform).KIND == "switch"
