"""Nothing that a lab would make is there already, made by somebody else."""

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError, LabErrors
from labtests.inventory import LINUX_LAB_FOLDER
from labtests.linuxlab.inspection import exists, interfaces
from labtests.linuxlab.plan import LinuxLabPlan, network_of, runner_interface
from labtests.linuxlab.programs import MACHINE, run


def expect_no_clash(plan: LinuxLabPlan) -> None:
    """Nothing that we would make is there already, made by somebody else."""
    clashes = list(_clashes(plan))
    if clashes:
        raise LabErrors(f"lab {plan.name} conflicts with what already exists", clashes)


def _clashes(plan: LinuxLabPlan) -> Iterator[LabError]:
    for name in plan.namespaces:
        if exists(name):
            yield LabError(
                f"{MACHINE}: namespace {name} exists, and no lab has recorded creating it\n"
                f"  remedy: if nobody needs it: ip netns del {name}"
            )
    there = interfaces("", MACHINE)
    if plan.runner_interface in there:
        yield LabError(
            f"{MACHINE}: link {plan.runner_interface} is there, and no lab has noted that it made "
            f"it\n  remedy: if nobody needs it: ip link del {plan.runner_interface}"
        )
    network = network_of(plan.lab.runner_address, plan.lab.prefix_length)
    for name, link in there.items():
        for held in link.get("addr_info", []):
            yield from _address_clash(name, held, network)
    for route in run(["ip", "-4", "route", "show"]).splitlines():
        yield from _route_clash(route, network)


def _address_clash(
    interface: str, held: dict[str, Any], network: ipaddress.IPv4Network
) -> Iterator[LabError]:
    if held.get("family") != "inet":
        return
    if network.overlaps(network_of(held["local"], held["prefixlen"])):
        yield LabError(
            f"{MACHINE}: {interface}{_whose(interface)} has {held['local']}/{held['prefixlen']}, "
            f"which overlaps with the lab's management network {network}\n"
            "  remedy: another runner_address and other management hosts in the file"
        )


def _whose(interface: str) -> str:
    """The lab that has this link, in brackets."""
    labs = Path(LINUX_LAB_FOLDER)
    names = [folder.name for folder in labs.iterdir()] if labs.is_dir() else []
    return "".join(f" (lab {n})" for n in names if runner_interface(n) == interface)


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
