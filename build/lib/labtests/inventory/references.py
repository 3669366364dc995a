"""Checks what the names in a file refer to: groups, platforms, ports, addresses, roles.

Works on the tree, so that it also finds these mistakes in a file that has others. What does not
have the right form is passed over: form.py has reported it.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from labtests.inventory.mistakes import Mistakes, Path, nearest, quoted
from labtests.inventory.names import split_address
from labtests.inventory.precedence import Keys, at, mapping, sequence, setting
from labtests.inventory.testbed import LONGEST_INTERFACE, Endpoint

TRAFFIC_ROLES = ("senders", "receiver")
"""Roles that send or receive test traffic: their ports need a link and an address."""


def check_references(tree: object, platforms: frozenset[str], mistakes: Mistakes) -> None:
    """Every name that refers to nothing, or twice to what can be used once, is noted."""
    check = _ReferenceCheck(tree=tree, mistakes=mistakes)
    check.groups()
    check.platforms(platforms)
    check.managements()
    check.telemetries()
    check.addresses()
    check.rdma_devices()
    check.vlans()
    check.links()
    check.roles()
    check.lease()


@dataclass(slots=True, kw_only=True)
class _Uses:
    """Things of one kind that can be used once, and where each was first used."""

    mistakes: Mistakes
    first: dict[Hashable, Path] = field(default_factory=dict)

    def note(self, thing: Hashable, path: Path, problem: str) -> None:
        """A second use is a mistake, and names the line of the first."""
        if thing in self.first:
            line = self.mistakes.place(self.first[thing]).value.line
            self.mistakes.add(path, f"{problem} (first in line {line})")
        else:
            self.first[thing] = path


@dataclass(slots=True, kw_only=True)
class _ReferenceCheck:
    tree: object
    mistakes: Mistakes
    linked: _Uses = field(init=False)
    unclear_links: bool = False  # some link is wrong, so who has none cannot be said

    def __post_init__(self) -> None:
        self.linked = _Uses(mistakes=self.mistakes)

    def groups(self) -> None:
        known = mapping(self.tree, "groups")
        for device in mapping(self.tree, "devices"):
            uses = _Uses(mistakes=self.mistakes)
            for number, group in enumerate(sequence(self.tree, "devices", device, "groups")):
                path: Path = ("devices", device, "groups", number)
                if not isinstance(group, str) or self.mistakes.known_wrong(path):
                    continue
                if group not in known:
                    hint = nearest(group, known)
                    self.mistakes.add(path, f"unknown group {quoted(group)}: {hint}")
                uses.note(group, path, f"group {quoted(group)} is listed twice")

    def platforms(self, known: frozenset[str]) -> None:
        for device, body in mapping(self.tree, "devices").items():
            found = setting(self.tree, device, "platform")
            if found is None or found.value is None:
                if isinstance(body, dict) and not self._wrong_group(device):
                    self.mistakes.add(("devices", device), _no_platform(known), key=True)
            elif isinstance(found.value, str) and found.value not in known:
                self._unknown_platform(found.value, found.path, known)

    def _wrong_group(self, device: str) -> bool:
        """Whether a group of this device has been reported: it may have had the platform."""
        count = len(sequence(self.tree, "devices", device, "groups"))
        return any(
            self.mistakes.known_wrong(("devices", device, "groups", n)) for n in range(count)
        )

    def _unknown_platform(self, platform: str, path: Path, known: frozenset[str]) -> None:
        if not self.mistakes.known_wrong(path):  # written in a group, it is wrong once
            name = platform if platform.isidentifier() else "<platform>"
            self.mistakes.add(
                path,
                f"unknown platform {quoted(platform)}: {nearest(platform, known)}; "
                f"a new one is the file labtests/drivers/{name}.py",
            )

    # -- what may be used once -----------------------------------------------------------------

    def managements(self) -> None:
        uses = _Uses(mistakes=self.mistakes)
        for device in mapping(self.tree, "devices"):
            path: Keys = ("devices", device, "management", "host")
            host, port = at(self.tree, *path), setting(self.tree, device, "port")
            number = 22 if port is None or port.value is None else port.value
            if isinstance(host, str) and type(number) is int:
                what = f"management address {quoted(host)} port {number} is used twice"
                uses.note((host.lower(), number), path, what)

    def telemetries(self) -> None:
        """A stream without TLS is one that somebody has asked for."""
        for device in mapping(self.tree, "devices"):
            path: Keys = ("devices", device, "telemetry")
            given = mapping(self.tree, *path)
            plain = given.get("insecure") is True
            if given and plain == (given.get("tls") is not None):
                problem = (
                    "it has both `tls:` and `insecure: true`"
                    if plain
                    else "name `tls:` (ca, certificate, key), or say `insecure: true`"
                )
                self.mistakes.add(path, problem)
            dials = given.get("kind") == "dial-out"
            if dials and not _is_ipv4(given.get("address")):
                problem = "dial-out needs `address`: our IPv4 address, as the switch reaches it"
                self.mistakes.add(path, problem)
            elif given.get("kind") == "gnmi" and given.get("port") == 0:
                self.mistakes.add((*path, "port"), "a gNMI server has a port of its own")

    def addresses(self) -> None:
        uses = _Uses(mistakes=self.mistakes)
        for path in self._ports():
            text = at(self.tree, *path, "address")
            try:
                address = split_address(text)[0] if isinstance(text, str) else None
            except ValueError:
                continue  # form.py says so
            if address is not None:
                uses.note(address, (*path, "address"), f"address {address} is used twice")

    def rdma_devices(self) -> None:
        uses = _Uses(mistakes=self.mistakes)
        for path in self._ports():
            rdma = at(self.tree, *path, "rdma")
            if isinstance(rdma, str):
                what = f"RDMA device {quoted(rdma)} is used twice on one device"
                uses.note((path[1], rdma), (*path, "rdma"), what)

    def vlans(self) -> None:
        """Each has an address on it; who sends and who receives are on the same one."""
        for path in self._ports():
            given = mapping(self.tree, *path)
            vlan = given.get("vlan")
            if vlan is not None and given.get("address") is None:
                self.mistakes.add((*path, "vlan"), "a VLAN interface without `address` on it")
            elif isinstance(vlan, dict) and "name" not in vlan and "id" in vlan:
                name = f"{path[-1]}.{vlan['id']}"
                if len(name) > LONGEST_INTERFACE:
                    problem = f"{name} is too long for an interface of Linux: give it a `name:`"
                    self.mistakes.add((*path, "vlan"), problem)

    def _ports(self) -> Iterator[Keys]:
        for device in mapping(self.tree, "devices"):
            for interface in mapping(self.tree, "devices", device, "ports"):
                yield ("devices", device, "ports", interface)

    # -- links and roles -----------------------------------------------------------------------

    def links(self) -> None:
        self.unclear_links = self.mistakes.known_wrong(("links",))
        for number, link in enumerate(sequence(self.tree, "links")):
            ends = sequence(link, "between")
            self.unclear_links |= len(ends) != 2
            for side, text in enumerate(ends):
                path: Path = ("links", number, "between", side)
                port = self._resolve(text, path)
                if port is None:
                    self.unclear_links = True
                elif self.linked.first.get(port, ())[:2] == path[:2]:
                    problem = f"a link needs two different ports, this is {port} twice"
                    self.mistakes.add(path, problem)
                else:
                    self.linked.note(port, path, f"port {port} is linked twice")

    def roles(self) -> None:
        traffic = _Uses(mistakes=self.mistakes)
        vlans: dict[object, Endpoint] = {}
        for role, value in mapping(self.tree, "roles").items():
            single = isinstance(value, str)
            texts = [value] if single else sequence(self.tree, "roles", role)
            if role == "receiver" and len(texts) > 1:
                problem = f"there must be exactly one receiver, not {len(texts)}"
                self.mistakes.add(("roles", role), problem)
            carries = role in TRAFFIC_ROLES
            uses = traffic if carries else _Uses(mistakes=self.mistakes)
            for number, text in enumerate(texts):
                path: Path = ("roles", role) if single else ("roles", role, number)
                port = self._resolve(text, path)
                if port is not None:
                    uses.note(port, path, f"port {port} is given a role twice")
                    if carries:
                        self._check_traffic_port(port, path)
                        self._check_one_vlan(vlans, port, path)

    def lease(self) -> None:
        host, devices = at(self.tree, "lease", "host"), mapping(self.tree, "devices")
        path: Path = ("lease", "host")
        if isinstance(host, str) and host not in devices and not self.mistakes.known_wrong(path):
            hint = nearest(host, devices)
            self.mistakes.add(path, f"unknown device {quoted(host)}: {hint}")

    def _check_traffic_port(self, port: Endpoint, path: Path) -> None:
        if port not in self.linked.first and not self.unclear_links:
            self.mistakes.add(path, f"port {port} is to carry traffic but has no link")
        place: Keys = ("devices", port.device, "ports", port.interface)
        given = mapping(self.tree, *place)
        misspelled = any(self.mistakes.known_wrong((*place, key)) for key in given)
        if given.get("address") is None and not misspelled:
            self.mistakes.add(path, f"port {port} is to carry traffic but has no address")

    def _check_one_vlan(self, vlans: dict[object, Endpoint], port: Endpoint, path: Path) -> None:
        """`vlans`: of the ports with roles before this one."""
        own = at(self.tree, "devices", port.device, "ports", port.interface, "vlan", "id")
        if vlans and own not in vlans:
            ((other, first), *_) = vlans.items()
            self.mistakes.add(
                path,
                f"port {port} is on {_in_words(own)}, and {first} on {_in_words(other)}: they do "
                "not reach each other",
            )
        vlans.setdefault(own, port)

    def _resolve(self, text: object, path: Path) -> Endpoint | None:
        """The port a text names; None, with the reason noted, when it names none."""
        if not isinstance(text, str) or self.mistakes.known_wrong(path):
            return None
        found = resolved(self.tree, text)
        if isinstance(found, Endpoint):
            return found
        self.mistakes.add(path, found)
        return None


def _in_words(vlan: object) -> str:
    return "no VLAN" if vlan is None else f"VLAN {vlan}"


def _no_platform(known: frozenset[str]) -> str:
    return (
        "no platform: write `platform:` here, in one of its groups or in defaults "
        f"(known: {', '.join(sorted(known)) or 'none'})"
    )


def resolved(tree: object, text: str) -> Endpoint | str:
    """The port that `Device:interface`, or `Device` with one port, means; else why it means none.
    A device's name has no colon, an interface's may (`HundredGigE1/0/1:1`)."""
    device, colon, interface = text.partition(":")
    devices = mapping(tree, "devices")
    if device not in devices:
        return f"unknown device {quoted(device)}: {nearest(device, devices)}"
    ports = mapping(tree, "devices", device, "ports")
    if not colon:
        if len(ports) == 1:
            return Endpoint(device=device, interface=next(iter(ports)))
        some = f"{len(ports)} ports ({', '.join(ports)})" if ports else "no ports"
        return f"{device} alone is not clear, it has {some}: write {device}:interface"
    if interface not in ports:
        return f"{device} has no port {quoted(interface)}: {nearest(interface, ports)}"
    return Endpoint(device=device, interface=interface)


def _is_ipv4(text: object) -> bool:
    try:
        return isinstance(text, str) and bool(IPv4Address(text))
    except ValueError:
        return False
