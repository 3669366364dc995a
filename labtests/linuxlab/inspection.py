"""What is of a lab, and what of it is not as the testbed says."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected, LabError
from labtests.linuxlab.layout import difference, layout_now
from labtests.linuxlab.ledger import Ledger
from labtests.linuxlab.plan import BRIDGE, MANAGEMENT, Box, BoxPort, LinuxLabPlan
from labtests.linuxlab.processes import alive
from labtests.linuxlab.programs import NAMESPACES, run
from labtests.transport.commands import program
from labtests.transport.ssh.connecting import SHELL, connect

SINGLE_SEGMENT = 1
"""gso_max_segs of every data port: TCP hands down packets of one segment, so that a "packet" in a
queue is a frame and not up to 64 KiB. (No ethtool is needed for it.)"""

ACCEPTS_WITHIN_S = 2.0
Interfaces = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class LinuxLabFinding:
    """Something of a device that is not as it should be."""

    device: str
    problem: str

    def __str__(self) -> str:
        return f"{self.device}: {self.problem}"


def exists(namespace: str) -> bool:
    """Whether there is a namespace of this name."""
    return (NAMESPACES / namespace).exists()


def interfaces(namespace: str, device: str) -> Interfaces:
    """The links of a namespace with their addresses, by name; "" is the machine's own. None when
    there is no such namespace."""
    if namespace and not exists(namespace):
        return {}
    inside = ["-n", namespace] if namespace else []
    text = run(["ip", *inside, "-d", "-j", "addr", "show"], device=device)
    try:
        return {link["ifname"]: link for link in json.loads(text or "[]") if link}
    except (ValueError, KeyError):
        raise CommandRejected(
            device, "ip -d -j addr show", "did not print JSON", "install iproute2 5.0 or newer"
        ) from None


def network_findings(plan: LinuxLabPlan, ledger: Ledger) -> Iterator[LinuxLabFinding]:
    """What is wrong with namespaces, links, addresses and queues."""
    if not exists(plan.management):
        yield LinuxLabFinding("management network", f"namespace {plan.management} is missing")
    runner = interfaces("", "the runner").get(plan.runner_interface)
    address = f"{plan.lab.runner_address}/{plan.lab.prefix_length}"
    yield from (
        LinuxLabFinding("the runner", text)
        for text in _interface(runner, plan.runner_interface, address)
    )
    for box in plan.boxes:
        yield from box_findings(plan, ledger, box)


def box_findings(plan: LinuxLabPlan, ledger: Ledger, box: Box) -> Iterator[LinuxLabFinding]:
    """What is wrong with the network of one box."""
    if not exists(box.namespace):
        yield LinuxLabFinding(box.name, f"namespace {box.namespace} is missing")
        return
    there = interfaces(box.namespace, box.name)
    address = f"{box.device.management.host}/{plan.lab.prefix_length}"
    problems = list(_interface(there.get(MANAGEMENT), MANAGEMENT, address))
    if box.switch:
        problems += _interface(there.get(BRIDGE), BRIDGE, None)
    for port in box.ports:
        wrong = list(_port(there.get(port.interface), port, plan, box))
        queues = "" if wrong else queue_problem(ledger, box, port)
        problems += [*wrong, queues] if queues else wrong
    yield from (LinuxLabFinding(box.name, problem) for problem in problems)


def sshd_finding(ledger: Ledger, box: Box) -> LinuxLabFinding | None:
    """Whether the box's sshd lets the runner in, with the key of this lab, and is the box's own."""
    if not alive(ledger.runners.get(box.name)):
        return LinuxLabFinding(box.name, f"its sshd ({box.spoken}) does not run")
    if not listens(box, ACCEPTS_WITHIN_S):
        return LinuxLabFinding(box.name, f"its sshd ({box.spoken}) does not answer")
    try:
        session = connect(box.device, SHELL, clock=WallClock())
    except LabError as error:
        return LinuxLabFinding(box.name, f"its sshd cannot be used: {error}")
    try:
        name = session.run(program("hostname")).text.strip()
    finally:
        session.close()
    return (
        None if name == box.name else LinuxLabFinding(box.name, f"{box.spoken} answers as {name!r}")
    )


def listens(box: Box, within_s: float) -> bool:
    """Whether something accepts connections where the box's sshd should."""
    management = box.device.management
    try:
        socket.create_connection((management.host, management.port), timeout=within_s).close()
    except OSError:
        return False
    return True


def queue_problem(ledger: Ledger, box: Box, port: BoxPort) -> str:
    """What is wrong with the queues of a port; "" when they are as they were made."""
    should = ledger.queues.get(f"{box.name}:{port.interface}")
    if should is None:
        return f"queues of {port.interface} were never made"
    wrong = difference(should, layout_now(box.namespace, port.interface, box.name))
    return f"queues of {port.interface} are not as they were made: {wrong}" if wrong else ""


def _port(
    link: dict[str, Any] | None, port: BoxPort, plan: LinuxLabPlan, box: Box
) -> Iterator[str]:
    address = None if port.address is None else f"{port.address}/{port.prefix_length}"
    yield from _interface(link, port.interface, address)
    if link is None:
        return
    if link.get("mtu") != plan.lab.mtu_bytes:
        yield f"{port.interface} has MTU {link.get('mtu')}, not {plan.lab.mtu_bytes}"
    if link.get("gso_max_segs", SINGLE_SEGMENT) != SINGLE_SEGMENT:
        yield f"{port.interface} sends packets of several segments (gso_max_segs)"
    if box.switch and link.get("master") != BRIDGE:
        yield f"{port.interface} is not a port of {BRIDGE}"


def _interface(link: dict[str, Any] | None, name: str, address: str | None) -> Iterator[str]:
    if link is None:
        yield f"{name} is missing"
        return
    flags = link.get("flags", [])
    if "UP" not in flags:
        yield f"{name} is down"
    elif "LOWER_UP" not in flags:
        yield f"{name} has no carrier: the other end is down"
    elif link.get("operstate") == "DOWN":
        yield f"{name} is not ready: the kernel drops what is sent there"
    have = {f"{a.get('local')}/{a.get('prefixlen')}" for a in link.get("addr_info", [])}
    if address is not None and address not in have:
        yield f"{name} does not have the address {address}"
