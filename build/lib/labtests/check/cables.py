"""Checks of each cable of the testbed, end against end: who is there, speed, FEC, MTU, settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from labtests.capabilities.facts import DcbxState, LinkFacts, Neighbour, RoceFacts
from labtests.capabilities.records import DcbxSetting, PfcSetting, TrustSetting
from labtests.check.finding import CheckFinding, Level, Subject, Unknown
from labtests.check.gathering import Known
from labtests.inventory import Endpoint, Link, Testbed
from labtests.journal.values import readable
from labtests.lab.paths import transit_ports

HEADER_BYTES = 22
"""What a frame has beside its IP packet: Ethernet header 14, VLAN tag 4, checksum 4 (802.3)."""

_SET_ALIKE = "configure both ends identically: `labtests plan` shows how (docs/profiles.md)"


@dataclass(frozen=True, slots=True)
class CheckedLab:
    """The testbed and what is known of its devices."""

    testbed: Testbed
    known: Mapping[str, Known]

    def link(self, at: Endpoint) -> LinkFacts | Unknown:
        """Link facts of a port."""
        found = self.known[at.device].links.get(at.interface)
        return Unknown(why="not reported by the device") if found is None else found

    def between_switches(self, link: Link) -> bool:
        """Whether neither end is a host."""
        return not any(self.known[end.device].host for end in (link.a, link.b))

    def level(self, link: Link) -> Level:
        """What ends that differ mean: a suite sets trust and PFC where its hosts are plugged in,
        and between switches on their way, and nowhere else."""
        return (
            "failure" if self.between_switches(link) and link.a not in self._transit else "warning"
        )

    @property
    def _transit(self) -> tuple[Endpoint, ...]:
        """Ends of the cables between switches on the senders' way to the receiver."""
        senders, receivers = (
            {at.device for end in self.testbed.roles.get(role, ())
             if (at := self.testbed.peer(end)) is not None}
            for role in ("senders", "receiver")
        )  # fmt: skip
        if len(receivers) != 1:
            return ()
        return transit_ports(self.testbed, senders, *receivers)

    def either_has(self, link: Link, name: str) -> bool:
        """Whether an end of a cable has a setting at all; where none has, nothing can differ."""
        return any(
            (end.interface, name) in self.known[end.device].settings for end in (link.a, link.b)
        )

    def setting(self, at: Endpoint, name: str) -> object:
        """A setting of a port, Unknown included."""
        absent = Unknown(why=f"the device has no {name}")
        return self.known[at.device].settings.get((at.interface, name), absent)

    @property
    def ends(self) -> Iterator[tuple[Endpoint, Link]]:
        """Both ends of every cable."""
        for link in self.testbed.links:
            yield link.a, link
            yield link.b, link


def cabling(lab: CheckedLab) -> Iterator[CheckFinding]:
    """LLDP equals the links of the testbed file. One end that hears the other is enough."""
    for link in lab.testbed.links:
        heard = [each for end in (link.a, link.b) for each in _heard(lab, end)]
        if not heard:
            yield _at("cabling", link.a).unknown(
                f"no end of {link.a} - {link.b} shows its neighbour"
            )
        for end, neighbour in heard:
            peer = link.b if end == link.a else link.a
            if _is(lab, neighbour, peer):
                yield _at("cabling", end).ok(f"{peer} is at the other end")
                continue
            where = neighbour.port_description or neighbour.port_id
            yield _at("cabling", end).says(
                "failure",
                f"{neighbour.name or 'a device without a name'} ({where}) is at the other end, "
                f"and {peer} should be",
                "move the cable, or correct `links:` of the testbed file",
            )


def _heard(lab: CheckedLab, end: Endpoint) -> list[tuple[Endpoint, Neighbour]]:
    neighbours = lab.known[end.device].neighbours
    if neighbours is None or isinstance(neighbours, Unknown):
        return []
    return [(end, each) for each in neighbours if each.port == end.interface]


def _is(lab: CheckedLab, neighbour: Neighbour, peer: Endpoint) -> bool:
    """By the port's MAC address, or by the names of device and port."""
    link = lab.link(peer)
    digits = neighbour.port_id.replace("-", "").replace(":", "").lower()
    if isinstance(link, LinkFacts) and link.mac is not None and digits == link.mac:
        return True
    named = neighbour.name.partition(".")[0].lower() == peer.device.lower()
    return named and peer.interface in (neighbour.port_id, neighbour.port_description)


def speed(lab: CheckedLab) -> Iterator[CheckFinding]:
    """Up, and as fast as the testbed file says."""
    for end, link in lab.ends:
        facts = lab.link(end)
        if isinstance(facts, Unknown):
            yield _at("speed", end).unknown(facts.why)
        elif not facts.up:
            yield _at("speed", end).says(
                "failure", "the link is down", "see the cable and both ports"
            )
        elif facts.virtual:
            yield _at("speed", end).ok("up; a virtual port has no speed of its own")
        elif facts.speed_bits_per_s is None:
            yield _at("speed", end).unknown("the device does not report its speed")
        elif facts.speed_bits_per_s != link.speed_bits_per_s:
            yield _at("speed", end).says(
                "failure",
                f"link runs at {facts.speed_bits_per_s / 1e9:g} Gb/s; "
                f"testbed file says {link.speed_bits_per_s / 1e9:g}",
                "set the speed of both ports, or correct speed_gbit_per_s",
            )
        else:
            yield _at("speed", end).ok(f"{link.speed_bits_per_s / 1e9:g} Gb/s")


def fec(lab: CheckedLab) -> Iterator[CheckFinding]:
    """The same at both ends. Where no switch tells, hosts of one speed are held against each other:
    all we have, so it only warns."""
    yield from _fec_of_hosts(lab)
    for link in lab.testbed.links:
        told: dict[Endpoint, str] = {}
        for end in (link.a, link.b):
            facts = lab.link(end)
            if isinstance(facts, LinkFacts) and facts.fec is not None:
                told[end] = facts.fec
        dark = [end for end in (link.a, link.b) if end not in told and not _virtual(lab, end)]
        yield from (_fec_untold(end, told) for end in dark)
        if len(set(told.values())) > 1:
            yield _at("fec", link.a).says(
                "failure",
                f"{told[link.a]} here, {told[link.b]} at {link.b}",
                "set one FEC at both ends",
            )
        elif len(told) == 2:
            yield _at("fec", link.a).ok(f"{told[link.a]} at both ends")


def _virtual(lab: CheckedLab, end: Endpoint) -> bool:
    facts = lab.link(end)
    return isinstance(facts, LinkFacts) and facts.virtual


def _fec_untold(end: Endpoint, told: Mapping[Endpoint, str]) -> CheckFinding:
    """One end's silence is not agreement: what the other end says, to be compared by hand."""
    there = [f"{peer} has {encoding}" for peer, encoding in told.items()]
    other = there[0] if there else "nor does the other end"
    return _at("fec", end).says(
        "not known",
        f"this end does not report its active FEC; {other}",
        "compare both ends by hand (for a switch: its port's configuration)",
    )


def _fec_of_hosts(lab: CheckedLab) -> Iterator[CheckFinding]:
    speeds: dict[int, dict[Endpoint, str]] = {}
    for end, link in lab.ends:
        facts, peer = lab.link(end), lab.link(link.b if end == link.a else link.a)
        told = isinstance(peer, LinkFacts) and peer.fec is not None
        if isinstance(facts, LinkFacts) and facts.fec is not None and not told:
            speeds.setdefault(link.speed_bits_per_s, {})[end] = facts.fec
    for found in speeds.values():
        common = max(found.values(), key=list(found.values()).count)
        for end, encoding in found.items():
            if encoding != common:
                text = f"{encoding} is in force; other hosts of this speed have {common}"
                yield _at("fec", end).says("warning", text, "set one FEC at both ends")


def mtu(lab: CheckedLab) -> Iterator[CheckFinding]:
    """The same on all hosts, for IP and for RDMA, and switches let such frames pass."""
    ends = [end for end, _ in lab.ends]
    ip: dict[Endpoint, int] = {}
    for end in ends:
        facts = lab.link(end)
        if isinstance(facts, LinkFacts) and facts.mtu_bytes is not None:
            ip[end] = facts.mtu_bytes
    yield from _alike(ip, "MTU", "set one MTU: `ip link set dev IF mtu N`")
    yield from _rdma_mtu(lab, ends)
    needed = max(ip.values(), default=0) + HEADER_BYTES
    for end in ends:
        if end not in ip:
            yield _passes(end, lab.link(end), needed)


def _rdma_mtu(lab: CheckedLab, ends: list[Endpoint]) -> Iterator[CheckFinding]:
    rdma: dict[Endpoint, int] = {}
    for end in ends:
        roce = lab.known[end.device].roces.get(end.interface)
        if isinstance(roce, RoceFacts) and roce.active_mtu_bytes is not None:
            rdma[end] = roce.active_mtu_bytes
        elif roce is not None:
            yield _at("mtu", end).unknown("the host does not report the MTU of RDMA")
    yield from _alike(rdma, "RDMA MTU", "it follows the interface's MTU: set that, see ibv_devinfo")


def _passes(end: Endpoint, facts: LinkFacts | Unknown, needed: int) -> CheckFinding:
    if isinstance(facts, Unknown) or facts.frame_bytes is None:
        return _at("mtu", end).unknown("the device does not report its MTU")
    if facts.frame_bytes >= needed:
        return _at("mtu", end).ok(f"frames of {facts.frame_bytes} bytes pass")
    text = f"passes frames of up to {facts.frame_bytes} bytes, but hosts send up to {needed}"
    return _at("mtu", end).says(
        "failure", text, "raise the longest frame of the port (`jumboframe enable`, `mtu`)"
    )


def _alike(found: Mapping[Endpoint, int], what: str, remedy: str) -> Iterator[CheckFinding]:
    common = max(found.values(), key=list(found.values()).count, default=0)
    for end, value in found.items():
        if value == common:
            yield _at("mtu", end).ok(f"{what} {value}")
        else:
            yield _at("mtu", end).says(
                "failure", f"{what} is {value}, and {common} on most hosts", remedy
            )


def trust(lab: CheckedLab) -> Iterator[CheckFinding]:
    """The same source and the same map at both ends of a cable. No suite sets a map."""
    for link in lab.testbed.links:
        if not lab.either_has(link, "trust"):
            continue
        sources = [lab.setting(end, "trust") for end in (link.a, link.b)]
        yield _ends_alike("trust", link, sources, lab.level(link))
        if all(isinstance(s, TrustSetting) and s.source == "dscp" for s in sources):
            maps = [lab.setting(end, "dscp_map") for end in (link.a, link.b)]
            yield _ends_alike("dscp map", link, maps, "failure")


def queue_map(lab: CheckedLab) -> Iterator[CheckFinding]:
    """802.1p priority -> queue, of two switches with a cable between them; what classes a NIC has
    is its own. No suite sets this map."""
    for link in lab.testbed.links:
        whole = [Endpoint(device=end.device, interface="") for end in (link.a, link.b)]
        told = any(("", "queue_map") in lab.known[end.device].settings for end in whole)
        if told and lab.between_switches(link):
            maps = [lab.setting(end, "queue_map") for end in whole]
            yield _ends_alike("queue map", link, maps, "failure")


def pfc(lab: CheckedLab) -> Iterator[CheckFinding]:
    """The same priorities at both ends, and none that takes what the other end says."""
    for link in lab.testbed.links:
        if not lab.either_has(link, "pfc"):
            continue
        found = [lab.setting(end, "pfc") for end in (link.a, link.b)]
        yield _ends_alike("pfc", link, [_paused(each) for each in found], lab.level(link))
        for end, setting in zip((link.a, link.b), found, strict=True):
            if isinstance(setting, PfcSetting) and setting.mode == "auto":
                yield _at("pfc", end).says(
                    "warning",
                    "PFC is auto: the peer's DCBX may change it during a run",
                    "set it on or off",
                )


def dcbx(lab: CheckedLab) -> Iterator[CheckFinding]:
    """The same at both ends of a cable between switches, where one of them speaks it: they do not
    understand each other's versions. What a switch tells a host is in force there, and the host
    does not take it over: else it overwrites what is set on the host."""
    for link in lab.testbed.links:
        if not lab.between_switches(link):
            ends = sorted((link.a, link.b), key=lambda end: not lab.known[end.device].host)
            yield from _told_to_a_host(lab, *ends)
            continue
        found = [lab.setting(end, "dcbx") for end in (link.a, link.b)]
        if any(isinstance(each, DcbxSetting) and each.tells for each in found):
            yield _ends_alike("dcbx", link, found, "warning")


_NOT_IN_FORCE = "see what PFC needs on this port: its mode, its trust, a link"


def _told_to_a_host(lab: CheckedLab, nic: Endpoint, port: Endpoint) -> Iterator[CheckFinding]:
    host = lab.known[nic.device].dcbx.get(nic.interface)
    switch = lab.known[port.device].dcbx.get(port.interface)
    keeps_its_own = isinstance(host, DcbxState) and host.willing is False
    if host is None or switch is None:
        return
    if isinstance(switch, Unknown) or switch.told is None:
        if not keeps_its_own:
            yield from _not_shown(lab, port, switch)
        return
    if switch.in_force not in (None, switch.told.pfc):
        both = f"tells PFC on {_listed(switch.told.pfc)}, and {_listed(switch.in_force)}"
        yield _at("dcbx", port).says("warning", f"{both} is in force here", _NOT_IN_FORCE)
    if isinstance(host, Unknown):
        yield _at("dcbx", nic).unknown(host.why)
    else:
        yield _taken(nic, host, port, switch.told.pfc)


def _not_shown(
    lab: CheckedLab, port: Endpoint, switch: DcbxState | Unknown
) -> Iterator[CheckFinding]:
    """Of a port that tells something, and nobody sees what."""
    setting = lab.setting(port, "dcbx")
    if isinstance(switch, Unknown):
        yield _at("dcbx", port).unknown(switch.why)
    elif isinstance(setting, DcbxSetting) and setting.tells:
        yield _at("dcbx", port).unknown(f"what it tells is not shown: {switch.unknown}")


def _taken(nic: Endpoint, host: DcbxState, port: Endpoint, told: frozenset[int]) -> CheckFinding:
    """What a host makes of what its switch port tells."""
    here = host.in_force
    said = f"{port} tells PFC on {_listed(told)}, and {_listed(here)} is in force here"
    if host.willing is None or here is None:
        return _at("dcbx", nic).unknown(f"{said}: {host.unknown}")
    if host.willing:
        return _at("dcbx", nic).says(
            "failure",
            f"{said}: DCBX of its {host.control} takes that over, whatever is set on the host",
            "let the host's OS set PFC and ETS (`mlnx_qos -d os`), or the switch port not tell",
        )
    if told != here:
        return _at("dcbx", nic).says("warning", said, _SET_ALIKE)
    return _at("dcbx", nic).ok(said)


def _listed(priorities: frozenset[int] | None) -> str:
    return ",".join(map(str, sorted(priorities or ()))) or "none"


def _paused(setting: object) -> object:
    """The priorities that are paused there, whatever is configured beside."""
    if not isinstance(setting, PfcSetting):
        return setting
    return setting.priorities if setting.mode != "off" else frozenset()


def _ends_alike(check: str, link: Link, found: list[object], level: Level) -> CheckFinding:
    dark = [each for each in found if isinstance(each, Unknown)]
    if dark:
        end = link.a if isinstance(found[0], Unknown) else link.b
        return _at(check, end).unknown(dark[0].why)
    if found[0] == found[1]:
        return _at(check, link.a).ok(f"as at {link.b}")
    of = "priority" if check == "queue map" else "DSCP"
    here, there = (_brief(each, found[1 - n], of) for n, each in enumerate(found))
    text = f"{here} here, {there} at {link.b}"
    return _at(check, link.a).says(level, text, _SET_ALIKE)


def _brief(value: object, other: object, of: str) -> str:
    """Of a map, from DSCP or priority, and of trust, only what the other end has not."""
    if isinstance(value, tuple) and isinstance(other, tuple):
        each = [
            f"{of} {n}: {v}" for n, (v, o) in enumerate(zip(value, other, strict=True)) if v != o
        ]
        return ", ".join(each[:4]) + (", ..." if len(each) > 4 else "")
    if isinstance(value, TrustSetting) and isinstance(other, TrustSetting):
        if value.override == other.override:
            return value.source
        return f"{value.source}, override {'on' if value.override else 'off'}"
    return readable(value)


def _at(check: str, end: Endpoint) -> Subject:
    return Subject(check, end.device, end.interface)
