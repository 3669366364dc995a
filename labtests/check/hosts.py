"""Checks of devices by themselves and beside each other: versions, RDMA, clocks, what is left."""

import re
from collections.abc import Iterator, Mapping
from statistics import median

from labtests.capabilities.facts import ClockReading, RoceFacts
from labtests.check.finding import CheckFinding, Level, Unknown
from labtests.check.gathering import Known
from labtests.inventory import Testbed

CLOCKS_APART_S = 1.0
"""More makes it hard to put logs of two devices beside each other."""

_BOARD = re.compile(r"^(?P<version>\S+) \((?P<board>[^)]+)\)$")
SAME_ON_ALL = {
    "perftest": ("failure", "install the same perftest on all hosts: both ends must match"),
    "ofed": ("warning", "install the same OFED on all hosts"),
    "driver": ("warning", "install the same NIC driver on all hosts"),
}


def obstacles(known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """lldpad, DCBX in firmware, configuration that hides what is set: it would undo a setting."""
    for device in known.values():
        found = device.obstacles
        if isinstance(found, Unknown):
            yield _unknown("obstacles", device.name, found)
            continue
        for sentence in found:
            yield CheckFinding(
                check="obstacles",
                level="failure",
                device=device.name,
                finding=sentence,
                remedy="remove it as described: it would override or distort a setting",
            )
        if not found:
            yield _ok("obstacles", device.name, "nothing overrides settings")
        yield from _caveats(device)


def obstacles_of(device: str, said: tuple[str, ...] | Unknown) -> tuple[CheckFinding, ...]:
    """The same by what one device says, and only what is not good."""
    known = Known(name=device, obstacles=said)
    return tuple(found for found in obstacles({device: known}) if found.level != "ok")


def _caveats(device: Known) -> Iterator[CheckFinding]:
    """What makes numbers mean less, and prevents nothing: it only warns."""
    if isinstance(device.caveats, Unknown):
        yield _unknown("obstacles", device.name, device.caveats)
        return
    for sentence in device.caveats:
        yield CheckFinding(
            check="obstacles",
            level="warning",
            device=device.name,
            finding=sentence,
            remedy="fix it as described, or allow for it when interpreting the numbers",
        )


def versions(known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """Equal on all hosts with RDMA; firmware on all cards of one kind; of others just told."""
    told = {}
    for device in known.values():
        if isinstance(device.versions, Unknown):
            yield _unknown("versions", device.name, device.versions)
        elif device.versions is not None:
            told[device.name] = device.versions
    hosts = {name: found for name, found in told.items() if known[name].roces}
    for tool, rule in SAME_ON_ALL.items():
        yield from _same(tool, _those_with(tool, hosts), rule)
    yield from _same_firmware(_those_with("firmware", hosts))
    for name in [name for name in told if name not in hosts]:
        said = ", ".join(f"{what} {version}" for what, version in told[name].items() if version)
        yield _ok("versions", name, said)


def _those_with(what: str, hosts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Of the hosts that have such a thing at all; "" where one does not say which."""
    return {name: found[what] for name, found in hosts.items() if what in found}


def _same(what: str, found: Mapping[str, str], rule: tuple[str, str]) -> Iterator[CheckFinding]:
    common = max(found.values(), key=list(found.values()).count, default="")
    for name, version in found.items():
        if not version:
            why = Unknown(why=f"{what}: version not reported")
            yield _unknown("versions", name, why)
        elif version == common or not common:
            yield _ok("versions", name, f"{what} {version}")
        else:
            others = ", ".join(n for n, v in found.items() if v == common)
            level: Level = "failure" if rule[0] == "failure" else "warning"
            yield CheckFinding(
                check="versions",
                level=level,
                device=name,
                finding=f"{what} is {version}, and {common} on {others}",
                remedy=rule[1],
            )


def _same_firmware(found: Mapping[str, str]) -> Iterator[CheckFinding]:
    boards: dict[str, dict[str, str]] = {}
    for name, text in found.items():
        match = _BOARD.match(text)
        boards.setdefault(match["board"] if match else "", {})[name] = text
    for board, of_board in boards.items():
        rule = ("failure" if board else "warning", "bring the cards to one firmware (mlxfwmanager)")
        yield from _same("firmware", of_board, rule)


def rdma(testbed: Testbed, known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """The RDMA link is active where the testbed file has a cable, and the port's address has a
    RoCEv2 GID. Of a port without RDMA device nothing is asked unless the testbed file names one."""
    for device in known.values():
        for at in testbed.device(device.name).ports:
            if at.rdma is not None and device.host and at.interface not in device.roces:
                yield _absent(device.name, at.interface, at.rdma)
        for port, facts in device.roces.items():
            if isinstance(facts, Unknown):
                yield _unknown("rdma", device.name, facts, port)
            else:
                at = next(p for p in testbed.device(device.name).ports if p.interface == port)
                if testbed.link_of(at.endpoint) is None:
                    yield _ok("rdma", device.name, "the testbed file has no cable there", port)
                else:
                    yield _active(device.name, port, facts)
                yield _gid(device.name, port, facts, at.address)


def _absent(device: str, port: str, rdma: str) -> CheckFinding:
    return CheckFinding(
        check="rdma",
        level="failure",
        device=device,
        port=port,
        finding=f"no RDMA device belongs to it, and the testbed file says {rdma}",
        remedy="load its driver (see `rdma link`), or take `rdma:` out of the testbed file",
    )


def _active(device: str, port: str, facts: RoceFacts) -> CheckFinding:
    if facts.active:
        return _ok("rdma", device, f"{facts.rdma} is active", port)
    return CheckFinding(
        check="rdma",
        level="failure",
        device=device,
        port=port,
        finding=f"the RDMA link {facts.rdma} is not active",
        remedy="see `rdma link` and the cable; bring the interface up",
    )


def _gid(device: str, port: str, facts: RoceFacts, address: str | None) -> CheckFinding:
    if facts.v2_addresses is None:
        return _unknown("gid", device, Unknown(why="the host does not report its GIDs"), port)
    if address is None:
        return _ok("gid", device, "the testbed file gives no address to look for", port)
    if address in facts.v2_addresses:
        return _ok("gid", device, f"{address} has a RoCEv2 GID", port)
    there = ", ".join(sorted(facts.v2_addresses)) or "none"
    return CheckFinding(
        check="gid",
        level="failure",
        device=device,
        port=port,
        finding=f"{address} has no RoCEv2 GID (addresses that have one: {there})",
        remedy="give the interface the address of the testbed file (`ip address`)",
    )


def clocks(known: Mapping[str, Known], *, backend: str) -> Iterator[CheckFinding]:
    """How far apart the devices' clocks are: from the runner's, in a simulated lab from most."""
    ahead: dict[str, float] = {}
    for device in known.values():
        if isinstance(device.clock, Unknown):
            yield _unknown("clock", device.name, device.clock)
        elif isinstance(device.clock, ClockReading):
            ahead[device.name] = device.clock.device_s - device.clock.lab_s
    if not ahead:
        return
    middle = 0.0 if backend != "simulated" else median(ahead.values())
    for name, offset_s in ahead.items():
        reading = known[name].clock
        assert isinstance(reading, ClockReading)
        apart_s = offset_s - middle
        if abs(apart_s) <= CLOCKS_APART_S + reading.resolution_s:
            yield _ok("clock", name, f"within {CLOCKS_APART_S + reading.resolution_s:g} s")
            continue
        yield CheckFinding(
            check="clock",
            level="warning",
            device=name,
            finding=f"its clock is {apart_s:+.1f} s from "
            + ("the runner's" if backend != "simulated" else "the others'"),
            remedy="set up NTP or chrony on it: log times cannot be compared",
        )


def left_behind(known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """Processes that carry the mark of a run."""
    for device in known.values():
        if isinstance(device.left, Unknown):
            yield _unknown("leftovers", device.name, device.left)
            continue
        for process in device.left or ():
            yield CheckFinding(
                check="leftovers",
                level="failure",
                device=device.name,
                finding=f"a process of another run is there: {process.pid} {process.command}",
                remedy="`labtests restore` of that run ends it; or by hand on that host: "
                f"kill {process.pid}",
            )
        if device.left == ():
            yield _ok("leftovers", device.name, "no leftover processes")


def _unknown(check: str, device: str, unknown: Unknown, port: str = "") -> CheckFinding:
    return CheckFinding(
        check=check, level="not known", device=device, port=port, finding=unknown.why
    )


def _ok(check: str, device: str, text: str, port: str = "") -> CheckFinding:
    return CheckFinding(check=check, level="ok", device=device, port=port, finding=text)
