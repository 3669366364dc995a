"""Checks of devices by themselves and beside each other: versions, RDMA, clocks, what is left."""

import re
from collections.abc import Iterator, Mapping
from statistics import median

from labtests.capabilities.facts import RoceFacts, Tags
from labtests.capabilities.readings import ClockReading
from labtests.check.finding import CheckFinding, Level, Subject, Unknown
from labtests.check.gathering import Known
from labtests.inventory import Endpoint, Testbed, Vlan

CLOCKS_APART_S = 1.0
"""More makes it hard to put logs of two devices beside each other."""

Pairs = tuple[tuple[int, int], ...]

_BOARD = re.compile(r"^(?P<version>\S+) \((?P<board>[^)]+)\)$")
SAME_ON_ALL: dict[str, tuple[Level, str]] = {
    "perftest": ("failure", "install the same perftest on all hosts: both ends must match"),
    "ofed": ("warning", "install the same OFED on all hosts"),
    "driver": ("warning", "install the same NIC driver on all hosts"),
}


def obstacles(known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """lldpad, DCBX in firmware, configuration that hides what is set: it would undo a setting."""
    for device in known.values():
        found = device.obstacles
        if isinstance(found, Unknown):
            yield Subject("obstacles", device.name).unknown(found.why)
            continue
        for sentence in found:
            yield Subject("obstacles", device.name).says(
                "failure",
                sentence,
                "remove it as described: it would override or distort a setting",
            )
        if not found:
            yield Subject("obstacles", device.name).ok("nothing overrides settings")
        yield from _caveats(device)


def obstacles_of(device: str, said: tuple[str, ...] | Unknown) -> tuple[CheckFinding, ...]:
    """The same by what one device says, and only what is not good."""
    known = Known(name=device, obstacles=said)
    return tuple(found for found in obstacles({device: known}) if found.level != "ok")


def _caveats(device: Known) -> Iterator[CheckFinding]:
    """What makes numbers mean less, and prevents nothing: it only warns."""
    if isinstance(device.caveats, Unknown):
        yield Subject("obstacles", device.name).unknown(device.caveats.why)
        return
    for sentence in device.caveats:
        yield Subject("obstacles", device.name).says(
            "warning",
            sentence,
            "fix it as described, or allow for it when interpreting the numbers",
        )


def versions(known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """Equal on all hosts with RDMA; firmware on all cards of one kind; of others just told."""
    told = {}
    for device in known.values():
        if isinstance(device.versions, Unknown):
            yield Subject("versions", device.name).unknown(device.versions.why)
        elif device.versions is not None:
            told[device.name] = device.versions
    hosts = {name: found for name, found in told.items() if known[name].roces}
    for tool, rule in SAME_ON_ALL.items():
        yield from _same(tool, _those_with(tool, hosts), rule)
    yield from _same_firmware(_those_with("firmware", hosts))
    for name in [name for name in told if name not in hosts]:
        said = ", ".join(f"{what} {version}" for what, version in told[name].items() if version)
        yield Subject("versions", name).ok(said)


def _those_with(what: str, hosts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Of the hosts that have such a thing at all; "" where one does not say which."""
    return {name: found[what] for name, found in hosts.items() if what in found}


def _same(what: str, found: Mapping[str, str], rule: tuple[Level, str]) -> Iterator[CheckFinding]:
    common = max(found.values(), key=list(found.values()).count, default="")
    for name, version in found.items():
        if not version:
            yield Subject("versions", name).unknown(f"{what}: version not reported")
        elif version == common or not common:
            yield Subject("versions", name).ok(f"{what} {version}")
        else:
            others = ", ".join(n for n, v in found.items() if v == common)
            yield Subject("versions", name).says(
                rule[0], f"{what} is {version}, and {common} on {others}", rule[1]
            )


def _same_firmware(found: Mapping[str, str]) -> Iterator[CheckFinding]:
    boards: dict[str, dict[str, str]] = {}
    for name, text in found.items():
        match = _BOARD.match(text)
        boards.setdefault(match["board"] if match else "", {})[name] = text
    for board, of_board in boards.items():
        level: Level = "failure" if board else "warning"
        remedy = "bring the cards to one firmware (mlxfwmanager)"
        yield from _same("firmware", of_board, (level, remedy))


def rdma(testbed: Testbed, known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """The RDMA link is active where the testbed file has a cable, and the port's address has a
    RoCEv2 GID. Of a port without RDMA device nothing is asked unless the testbed file names one."""
    for device in known.values():
        for at in testbed.device(device.name).ports:
            if at.rdma is not None and device.host and at.interface not in device.roces:
                yield _absent(device.name, at.interface, at.rdma)
        for port, facts in device.roces.items():
            if isinstance(facts, Unknown):
                yield Subject("rdma", device.name, port).unknown(facts.why)
            else:
                at = next(p for p in testbed.device(device.name).ports if p.interface == port)
                yield _active(
                    device.name, port, facts, cable=testbed.link_of(at.endpoint) is not None
                )
                yield _gid(device.name, port, facts, at.address)


def _absent(device: str, port: str, rdma: str) -> CheckFinding:
    return Subject("rdma", device, port).says(
        "failure",
        f"no RDMA device belongs to it, and the testbed file says {rdma}",
        "load its driver (see `rdma link`), or take `rdma:` out of the testbed file",
    )


def _active(device: str, port: str, facts: RoceFacts, *, cable: bool) -> CheckFinding:
    at = Subject("rdma", device, port)
    if not cable:
        return at.ok("the testbed file has no cable there")
    if facts.active:
        return at.ok(f"{facts.rdma} is active")
    return at.says(
        "failure",
        f"the RDMA link {facts.rdma} is not active",
        "see `rdma link` and the cable; bring the interface up",
    )


def _gid(device: str, port: str, facts: RoceFacts, address: str | None) -> CheckFinding:
    at = Subject("gid", device, port)
    if facts.v2_addresses is None:
        return at.unknown("the host does not report its GIDs")
    if address is None:
        return at.ok("the testbed file gives no address to look for")
    if address in facts.v2_addresses:
        return at.ok(f"{address} has a RoCEv2 GID")
    there = ", ".join(sorted(facts.v2_addresses)) or "none"
    return at.says(
        "failure",
        f"{address} has no RoCEv2 GID (addresses that have one: {there})",
        "give the interface the address of the testbed file (`ip address`)",
    )


def vlans(testbed: Testbed, known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """The VLAN interface of the testbed file is there, and tags as the file says."""
    for device in known.values():
        for port, tags in device.tags.items():
            at = testbed.port(Endpoint(device=device.name, interface=port))
            assert at.vlan is not None
            yield _vlan(Subject("vlan", device.name, port), at.vlan, port, tags)


def _vlan(at: Subject, vlan: Vlan, port: str, tags: Tags | Unknown | None) -> CheckFinding:
    name = vlan.interface(port)
    if isinstance(tags, Unknown):
        return at.unknown(tags.why)
    if tags is None:
        made = f"`ip link add link {port} name {name} type vlan id {vlan.id}{_map(vlan.egress)}`"
        return at.says(
            "failure",
            f"the host has no VLAN interface {name}",
            f"make it, and give it the address of the testbed file: {made}",
        )
    if vlan.egress is None or dict(vlan.egress) == dict(tags.egress):
        return at.ok(f"{name} tags by the egress-qos-map {_pairs(tags.egress) or '(empty)'}")
    wanted = dict.fromkeys(dict(tags.egress), 0) | dict(vlan.egress)  # it only adds
    return at.says(
        "failure",
        f"the egress-qos-map of {name} is {_pairs(tags.egress) or 'empty'}, and "
        f"{_pairs(vlan.egress) or 'empty'} in the testbed file",
        f"`ip link set dev {name} type vlan{_map(tuple(sorted(wanted.items())))}`, or correct "
        "`egress:` in the testbed file",
    )


def _map(egress: Pairs | None) -> str:
    return f" egress-qos-map {_pairs(egress)}" if egress else ""


def _pairs(egress: Pairs) -> str:
    return " ".join(f"{priority}:{pcp}" for priority, pcp in egress)


def clocks(known: Mapping[str, Known], *, backend: str) -> Iterator[CheckFinding]:
    """How far apart the devices' clocks are: from the runner's, in a simulated lab from most."""
    ahead: dict[str, float] = {}
    for device in known.values():
        if isinstance(device.clock, Unknown):
            yield Subject("clock", device.name).unknown(device.clock.why)
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
            yield Subject("clock", name).ok(f"within {CLOCKS_APART_S + reading.resolution_s:g} s")
            continue
        yield Subject("clock", name).says(
            "warning",
            f"its clock is {apart_s:+.1f} s from "
            + ("the runner's" if backend != "simulated" else "the others'"),
            "set up NTP or chrony on it: log times cannot be compared",
        )


def left_behind(known: Mapping[str, Known]) -> Iterator[CheckFinding]:
    """Processes that carry the mark of a run."""
    for device in known.values():
        if isinstance(device.left, Unknown):
            yield Subject("leftovers", device.name).unknown(device.left.why)
            continue
        for process in device.left or ():
            yield Subject("leftovers", device.name).says(
                "failure",
                f"a process of another run is there: {process.pid} {process.command}",
                "`labtests restore` of that run ends it; or by hand on that host: "
                f"kill {process.pid}",
            )
        if device.left == ():
            yield Subject("leftovers", device.name).ok("no leftover processes")
