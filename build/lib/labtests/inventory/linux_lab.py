"""A testbed file's `linux_lab:`: what such a lab asks of the rest of the file, and gives it."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import replace

from labtests.inventory.mistakes import Mistakes, Path, quoted
from labtests.inventory.names import split_address
from labtests.inventory.precedence import Keys, at, mapping, sequence, setting
from labtests.inventory.references import resolved
from labtests.inventory.schema import LinuxLabForm
from labtests.inventory.testbed import LINUX_LAB_FOLDER, Device, LinuxLab, LinuxLabEcn

HOST, SWITCH = "linux", "linux-switch"
PLATFORMS = (HOST, SWITCH)
TAKEN = frozenset({"lo", "mgmt0", "br0"})
"""Interfaces that every device, or every switch, of such a lab has besides its ports."""

_IFNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_KEYS = "the lab makes its own SSH keys and known_hosts: remove this line"
_WAYS = {
    "key_file": _KEYS,
    "known_hosts": _KEYS,
    "password_env": _KEYS,
    "host_keys": _KEYS,
    "jump": "the devices of such a lab are reached from this machine: remove this line",
    "become": "one logs in as root there: remove this line",
    "legacy_ssh": "such a lab has a current sshd: remove this line",
    "ssh_config": "such a lab does not look at ~/.ssh/config: remove this line",
}


def linux_lab(part: LinuxLabForm | None) -> LinuxLab | None:
    """The section as a record."""
    if part is None:
        return None
    address, prefix_length = split_address(part.runner_address)
    assert prefix_length is not None
    ecn = part.ecn
    return LinuxLab(
        runner_address=address,
        prefix_length=prefix_length,
        mtu_bytes=part.mtu,
        queue_limit_bytes=part.queue_limit_bytes,
        scheduling=part.scheduling,
        weights=tuple(part.weights or ()),
        shaped_senders=part.shaped_senders,
        ecn=None if ecn is None else LinuxLabEcn(**ecn.model_dump()),
    )


def reached_in_lab(lab: str, devices: Iterable[Device]) -> tuple[Device, ...]:
    """The devices with the keys that the lab makes for itself."""
    folder = f"{LINUX_LAB_FOLDER}/{lab}"
    return tuple(
        replace(
            device,
            management=replace(
                device.management,
                user="root",
                key_file=f"{folder}/id_ed25519",
                known_hosts=f"{folder}/known_hosts",
                ssh_config=False,
            ),
        )
        for device in devices
    )


def check_linux_lab(tree: object, mistakes: Mistakes) -> None:
    """Notes what such a lab cannot make of the file. Nothing when it has no such section."""
    if not isinstance(at(tree, "linux_lab"), dict):
        return
    check = _LinuxLabCheck(tree, mistakes)
    check.section()
    for device in mapping(tree, "devices"):
        check.platform(device)
        check.way(device)
        check.management(device)
        check.ports(device)


class _LinuxLabCheck:
    def __init__(self, tree: object, mistakes: Mistakes) -> None:
        self._tree, self._mistakes = tree, mistakes
        ends = [
            resolved(tree, text)
            for link in sequence(tree, "links")
            for text in sequence(link, "between")
            if isinstance(text, str)
        ]
        self._linked = {str(end) for end in ends}

    def section(self) -> None:
        """What its own values must be to each other."""
        address = at(self._tree, "linux_lab", "runner_address")
        if isinstance(address, str) and "/" not in address:
            self._note(("linux_lab", "runner_address"), "write the prefix too, such as /24")
        weighted = at(self._tree, "linux_lab", "scheduling") == "weighted"
        weights = at(self._tree, "linux_lab", "weights")
        if weighted and weights is None:
            self._note(("linux_lab", "scheduling"), "weighted needs `weights:`, one for each queue")
        if weights is not None and not weighted:
            self._note(("linux_lab", "weights"), "weights need `scheduling: weighted`")
        low, high = (at(self._tree, "linux_lab", "ecn", f"{end}_bytes") for end in ("min", "max"))
        if type(low) is type(high) is int and low >= high:
            self._note(("linux_lab", "ecn", "max_bytes"), "must be greater than min_bytes")

    def platform(self, device: str) -> None:
        """Only Linux can be made of namespaces."""
        found = setting(self._tree, device, "platform")
        if found is not None and isinstance(found.value, str) and found.value not in PLATFORMS:
            self._note(
                found.path,
                f"{device} cannot be {quoted(found.value)} in a lab of network namespaces: "
                f"only {HOST} and {SWITCH} can be made there; remove `linux_lab:` if this is real",
            )

    def way(self, device: str) -> None:
        """How devices are reached is the lab's own affair, but for host and port."""
        for key, why in _WAYS.items():
            found = setting(self._tree, device, key)
            if found is not None and found.value is not None:
                self._note(found.path, why)
        user = setting(self._tree, device, "user")
        if user is not None and user.value not in (None, "root"):
            self._note(user.path, "one logs in as root to the devices of such a lab")

    def management(self, device: str) -> None:
        """The lab makes the address, so it must be one, in the runner's network."""
        path: Keys = ("devices", device, "management", "host")
        host, runner = at(self._tree, *path), at(self._tree, "linux_lab", "runner_address")
        if not isinstance(host, str) or not isinstance(runner, str) or "/" not in runner:
            return
        try:
            own = ipaddress.IPv4Interface(runner)
        except ValueError:
            return  # form.py says so
        try:
            fits = ipaddress.IPv4Address(host) in own.network
        except ValueError:
            fits = False
        if not fits:
            self._note(path, f"must be an address in {own.network}, the management network")
        elif host == str(own.ip):
            self._note(path, "is the runner's own address (linux_lab.runner_address)")

    def ports(self, device: str) -> None:
        """Every port becomes one end of a cable between two namespaces."""
        platform = setting(self._tree, device, "platform")
        switch = platform is not None and platform.value == SWITCH
        for interface in mapping(self._tree, "devices", device, "ports"):
            path: Path = ("devices", device, "ports", interface)
            if not _IFNAME.fullmatch(interface) or interface in TAKEN:
                others = ", ".join(sorted(TAKEN))
                problem = (
                    f"no name for a port here: at most 15 letters, digits, . _ -; not {others}"
                )
                self._mistakes.add(path, problem, key=True)
                continue
            if f"{device}:{interface}" not in self._linked and not self._mistakes.known_wrong(path):
                problem = "a port without a link cannot be made of namespaces: add it to `links:`"
                self._mistakes.add(path, problem, key=True)
            address = at(self._tree, "devices", device, "ports", interface, "address")
            if switch and address is not None:
                self._note((*path, "address"), "a port of the bridge has no address: remove it")
            elif isinstance(address, str) and "/" not in address:
                self._note((*path, "address"), "write the prefix too, such as /24")
            if at(self._tree, "devices", device, "ports", interface, "vlan") is not None:
                self._note((*path, "vlan"), "the lab makes no VLAN interfaces: remove it")

    def _note(self, path: Path, problem: str) -> None:
        if not self._mistakes.known_wrong(path):
            self._mistakes.add(path, problem)
