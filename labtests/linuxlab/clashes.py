"""Nothing that a lab would make is there already, made by somebody else."""

import ipaddress
from collections.abc import Iterator

from labtests.errors import LabError, LabErrors
from labtests.linuxlab.looking import exists, interfaces
from labtests.linuxlab.plan import Plan, network_of
from labtests.linuxlab.programs import MACHINE, run


def expect_no_clash(plan: Plan) -> None:
    """Nothing that we would make is there already, made by somebody else."""
    clashes = list(_clashes(plan))
    if clashes:
        raise LabErrors(f"lab {plan.name} cannot be made beside what is there", clashes)


def _clashes(plan: Plan) -> Iterator[LabError]:
    for name in plan.namespaces:
        if exists(name):
            yield LabError(
                f"{MACHINE}: namespace {name} is there, and no lab has noted that it made it\n"
                f"  remedy: if nobody needs it: ip netns del {name}"
            )
    network = network_of(plan.lab.runner_address, plan.lab.prefix_length)
    for name, link in interfaces("", MACHINE).items():
        for held in link.get("addr_info", []):
            if held.get("family") == "inet" and network.overlaps(
                network_of(held["local"], held["prefixlen"])
            ):
                yield LabError(
                    f"{MACHINE}: {name} has {held['local']}/{held['prefixlen']}, which overlaps "
                    f"with the lab's management network {network}\n"
                    "  remedy: another runner_address and other management hosts in the file"
                )
    for route in run(["ip", "-4", "route", "show"]).splitlines():
        yield from _route_clash(route, network)


def _route_clash(route: str, network: ipaddress.IPv4Network) -> Iterator[LabError]:
    words = route.split()
    try:
        there = ipaddress.IPv4Network(words[0], strict=False)
    except (ValueError, IndexError):
        return  # default, unreachable, ...
    if "kernel" not in words and there.overlaps(network):
        yield LabError(
            f"{MACHINE}: the route `{route.strip()}` overlaps with the lab's management network "
            f"{network}\n  remedy: another runner_address and other management hosts in the file"
        )
