"""Testbeds that no one has drawn by hand, each of a healthy lab: made from a seed.

What a lab must be like is in SHAPES; names, ports, addresses, cables and maps are drawn by the
seed. What a testbed file does not say (MTU, DSCP maps) is given to the simulated devices as faults.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

Fault = Mapping[str, Any]
Map = Literal["eighths", "permuted", "scattered", "folded"]

PORT_NAMES = {
    1: "GigabitEthernet1/0/{}",
    10: "Ten-GigabitEthernet1/0/{}",
    25: "Twenty-FiveGigE1/0/{}",
    40: "FortyGigE1/0/{}",
    100: "HundredGigE1/0/{}",
    400: "FourHundredGigE1/0/{}",
}
OTHER_PORT_NAMES = {
    "cumulus": "swp{}",
    "linux-switch": "swp{}",
    "nxos": "Ethernet1/{}",
    "onyx": "Eth1/{}",
    "sonic": "Ethernet{}",
}
NIC_NAMES = ("eth{}", "ens{}f0np0", "enp{}s0f1np1", "p{}p2", "roce{}")
HOST_NAMES = ("gpu", "node", "store", "n", "blade")
SWITCH_NAMES = ("tor", "leaf", "sw", "access")
FOLDED_CLASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`switches`: for each, what it is plugged into (None: nothing). Senders and receiver: (switch,
    Gb/s) of each. `trunk_gbit`: of every cable between switches. `longest_m`: of hosts' cables."""

    name: str
    senders: tuple[tuple[int, int], ...]
    receiver: tuple[int, int]
    switches: tuple[int | None, ...] = (None,)
    trunk_gbit: int = 100
    longest_m: int = 30
    mtu_bytes: int = 1500
    map: Map = "eighths"
    switch: str = "comware"
    host: str = "connectx"


SHAPES = (
    Shape(name="1g-linux", senders=((0, 1),) * 2, receiver=(0, 1), switch="linux-switch"),
    Shape(
        name="10g-linux-jumbo-map",
        senders=((0, 10),) * 3,
        receiver=(0, 10),
        mtu_bytes=9000,
        map="permuted",
        switch="linux-switch",
        host="linux",
    ),
    Shape(
        name="10g-nexus-map",
        senders=((0, 10),) * 3,
        receiver=(0, 10),
        map="permuted",
        switch="nxos",
    ),
    Shape(name="40g-nexus", senders=((0, 40),) * 2, receiver=(0, 40), switch="nxos"),
    Shape(
        name="10g-sonic-map",
        senders=((0, 10),) * 3,
        receiver=(0, 10),
        map="permuted",
        switch="sonic",
    ),
    Shape(
        name="10g-cumulus-map",
        senders=((0, 10),) * 3,
        receiver=(0, 10),
        map="permuted",
        switch="cumulus",
    ),
    Shape(
        name="10g-onyx-map",
        senders=((0, 10),) * 3,
        receiver=(0, 10),
        map="permuted",
        switch="onyx",
    ),
    Shape(name="1g", senders=((0, 1),) * 3, receiver=(0, 1)),
    Shape(name="10g-slow-last", senders=((0, 10), (0, 10), (0, 1)), receiver=(0, 10)),
    Shape(name="10g-eight", senders=((0, 10),) * 8, receiver=(0, 10)),
    Shape(name="25g-thirty-two", senders=((0, 25),) * 32, receiver=(0, 25), longest_m=300),
    Shape(name="10g-map", senders=((0, 10),) * 2, receiver=(0, 10), map="permuted"),
    Shape(name="10g-three-queues", senders=((0, 10),) * 2, receiver=(0, 10), map="folded"),
    Shape(name="25g-4200", senders=((0, 25),) * 4, receiver=(0, 25), mtu_bytes=4200),
    Shape(name="25g-scattered", senders=((0, 25),) * 5, receiver=(0, 25), map="scattered"),
    Shape(name="40g-jumbo", senders=((0, 40),) * 3, receiver=(0, 40), mtu_bytes=9000),
    Shape(name="100g-jumbo", senders=((0, 100),) * 2, receiver=(0, 100), mtu_bytes=9000),
    Shape(
        name="10g-chain",
        senders=((0, 10), (0, 10), (1, 10)),
        receiver=(2, 10),
        switches=(None, 0, 1),
        trunk_gbit=40,
    ),
    Shape(
        name="25g-tree",
        senders=((1, 25), (1, 25), (2, 25), (2, 25)),
        receiver=(2, 25),
        switches=(None, 0, 0),
        mtu_bytes=9000,
    ),
    Shape(
        name="400g-sonic",
        senders=((0, 400),) * 4,
        receiver=(0, 400),
        mtu_bytes=9000,
        switch="sonic",
    ),
    Shape(
        name="25g-cumulus-far",
        senders=((0, 25),) * 3,
        receiver=(0, 25),
        longest_m=5000,
        switch="cumulus",
    ),
    Shape(
        name="25g-sonic-three-tiers",
        senders=((3, 25), (3, 25), (4, 25)),
        receiver=(4, 25),
        switches=(None, 0, 0, 1, 2),
        switch="sonic",
    ),
    Shape(name="mixed-into-10g", senders=((0, 25), (0, 10), (0, 40)), receiver=(0, 10)),
    Shape(
        name="1g-access-into-10g",
        senders=((1, 1),) * 4,
        receiver=(0, 10),
        switches=(None, 0),
        trunk_gbit=10,
    ),
    Shape(
        name="10g-into-1g-access",
        senders=((0, 10), (0, 1), (0, 10)),
        receiver=(1, 1),
        switches=(None, 0),
        trunk_gbit=10,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A testbed file, and what its devices are found like."""

    name: str
    text: str
    faults: tuple[Fault, ...]

    def options(self, file: str) -> list[str]:
        """Of a dry run of it."""
        words = ["--testbed", file, "--dry-run"]
        for fault in self.faults:
            words += ["--fault", json.dumps(fault)]
        return words


def made(shape: Shape, seed: int) -> Made:
    """The lab of this shape that a seed draws."""
    return _Drawing(shape, Random(f"{shape.name} {seed}")).made(seed)


def dscp_map(kind: Map, random: Random) -> tuple[int, ...]:
    """The class of each DSCP."""
    if kind == "permuted":
        classes = random.sample(range(8), 8)
        return tuple(classes[dscp >> 3] for dscp in range(64))
    if kind == "scattered":
        return tuple(random.sample([dscp & 7 for dscp in range(64)], 64))
    if kind == "folded":
        return tuple((dscp >> 3) % FOLDED_CLASSES for dscp in range(64))
    return tuple(dscp >> 3 for dscp in range(64))


class _Drawing:
    def __init__(self, shape: Shape, random: Random) -> None:
        self._shape, self._random = shape, random
        host, switch = random.choice(HOST_NAMES), random.choice(SWITCH_NAMES)
        self._nic, self._subnet = random.choice(NIC_NAMES), random.randrange(1, 250)
        self._hosts = [f"{host}{n:02}" for n in range(1, len(shape.senders) + 2)]
        self._switches = [f"{switch}-{n}" for n in range(1, len(shape.switches) + 1)]
        self._ports: dict[str, list[str]] = {name: [] for name in self._switches}
        self._links: list[str] = []

    def made(self, seed: int) -> Made:
        shape = self._shape
        for name, (at, gbit) in zip(self._hosts, (*shape.senders, shape.receiver), strict=True):
            self._cable(f"{name}:{self._nic_of(name)}", self._port(at, gbit), gbit, shape.longest_m)
        for n, upper in enumerate(shape.switches):
            if upper is not None:
                ends = [self._port(at, shape.trunk_gbit) for at in (n, upper)]
                self._cable(*ends, shape.trunk_gbit, 100)
        name = f"{shape.name}-{seed}"
        return Made(name=name, text="\n".join(self._lines(name)), faults=tuple(self._faults()))

    def _nic_of(self, host: str) -> str:
        return self._nic.format(1 + self._hosts.index(host) % 3)

    def _port(self, switch: int, gbit: int) -> str:
        name = self._switches[switch]
        number = len(self._ports[name]) + 1
        port = OTHER_PORT_NAMES.get(self._shape.switch, PORT_NAMES[gbit]).format(number)
        self._ports[name].append(port)
        return f"{name}:{port}"

    def _cable(self, a: str, b: str, gbit: int, most_m: int) -> None:
        length_m = self._random.randint(1, most_m)
        self._links.append(
            f'  - {{between: ["{a}", "{b}"], speed_gbit_per_s: {gbit}, length_m: {length_m}}}'
        )

    def _lines(self, name: str) -> Iterator[str]:
        shape = self._shape
        yield f"# Made by tests/healthy: {shape.mtu_bytes} B, DSCP map: {shape.map}."
        yield f"name: {name}"
        yield "defaults: {user: root}"
        yield "devices:"
        for number, host in enumerate(self._hosts, start=1):
            yield f"  {host}:"
            yield f"    platform: {shape.host}"
            yield f"    management: {{host: {host}.example}}"
            address = f"10.{self._subnet}.0.{number}/24"
            yield f"    ports: {{{self._nic_of(host)}: {{address: {address}}}}}"
        for switch in self._switches:
            yield f"  {switch}:"
            yield f"    platform: {shape.switch}"
            yield f"    management: {{host: {switch}.example}}"
            ports = ", ".join(f"{port}: {{}}" for port in self._ports[switch])
            yield f"    ports: {{{ports}}}"
        yield "links:"
        yield from self._links
        yield "roles:"
        yield f"  senders: [{', '.join(self._hosts[:-1])}]"
        yield f"  receiver: {self._hosts[-1]}"
        yield ""

    def _faults(self) -> Iterator[Fault]:
        shape = self._shape
        if shape.mtu_bytes != 1500:
            ends = [(host, self._nic_of(host)) for host in self._hosts]
            if shape.switch == "linux-switch":
                ends += [(name, port) for name, ports in self._ports.items() for port in ports]
            for device, port in ends:
                yield {"kind": "mtu", "device": device, "port": port, "bytes": shape.mtu_bytes}
        if shape.map != "eighths":
            classes = dscp_map(shape.map, self._random)
            hosts = self._hosts if shape.host == "connectx" else []
            for device in (*hosts, *self._switches):
                yield {"kind": "dscp-map", "device": device, "classes": list(classes)}
