"""A testbed file of two tiers: hosts on leaf switches, each leaf with a cable to each spine."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

import yaml

from labtests.core.errors import LabError
from labtests.inventory.schema import FASTEST_GBIT_PER_S, SLOWEST_GBIT_PER_S

HOST_PORT = "ens1f0np0"
HOST_NETWORK = IPv4Network("10.64.0.0/16")
_HOST_CABLE_M, _LEAF_CABLE_M = 3, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafSpine:
    """How many of each. `down` and `up` are names of switch ports, with {} for their number: of a
    leaf towards hosts, and of a leaf and a spine towards each other."""

    hosts: int
    leaves: int
    spines: int
    platform: str
    down: str
    up: str
    host_gbit_per_s: float
    spine_gbit_per_s: float

    def __post_init__(self) -> None:
        if self.hosts < 3 or self.leaves < 2 or self.spines < 1 or self.hosts < self.leaves:
            raise LabError(
                f"{self.hosts} hosts on {self.leaves} leaves below {self.spines} spines are no "
                "two tiers\n  remedy: three hosts, two leaves with a host each and one spine"
            )
        for gbit_per_s in (self.host_gbit_per_s, self.spine_gbit_per_s):
            if not SLOWEST_GBIT_PER_S <= gbit_per_s <= FASTEST_GBIT_PER_S:
                raise LabError(
                    f"{gbit_per_s:g} Gb/s: give {SLOWEST_GBIT_PER_S} to {FASTEST_GBIT_PER_S}"
                )
        if "{}" not in self.down or "{}" not in self.up:
            raise LabError(
                f"{self.down!r} and {self.up!r}: ports need {{}} where their number goes\n"
                "  remedy: such as 'Twenty-FiveGigE1/0/{}'"
            )

    def _leaf(self, host: int) -> int:
        """Of a host; those with low numbers are together."""
        return host * self.leaves // self.hosts

    def text(self, name: str) -> str:
        """The testbed file: the last host is the receiver, all others send."""
        hosts = [f"h{host + 1}" for host in range(self.hosts)]
        devices = {**self._hosts(hosts), **self._switches()}
        tree: dict[str, Any] = {
            "name": name,
            "description": f"{self.hosts} hosts on {self.leaves} leaves below {self.spines} spines",
            "defaults": {"user": "root", "host_keys": "strict"},
            "groups": {
                "servers": {"platform": "connectx"},
                "switches": {"platform": self.platform, "user": "admin"},
            },
            "devices": devices,
            "links": [*self._links(hosts)],
            "roles": {"senders": hosts[:-1], "receiver": hosts[-1]},
        }
        return yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=120)

    def _hosts(self, hosts: list[str]) -> dict[str, Any]:
        return {
            each: _device(
                each, "servers", {HOST_PORT: {"rdma": "mlx5_0", "address": f"{address}/16"}}
            )
            for each, address in zip(hosts, HOST_NETWORK.hosts(), strict=False)
        }

    def _switches(self) -> dict[str, Any]:
        found = {}
        for leaf in range(self.leaves):
            below = [h for h in range(self.hosts) if self._leaf(h) == leaf]
            ports = [_port(self.down, n + 1) for n in range(len(below))]
            ports += [self._uplink(spine) for spine in range(self.spines)]
            found[f"leaf{leaf + 1}"] = _device(f"leaf{leaf + 1}", "switches", _plain(ports))
        for spine in range(self.spines):
            ports = [_port(self.up, leaf + 1) for leaf in range(self.leaves)]
            found[f"spine{spine + 1}"] = _device(f"spine{spine + 1}", "switches", _plain(ports))
        return found

    def _uplink(self, spine: int) -> str:
        """Of every leaf; numbers go on behind those of hosts where the names are alike."""
        widest = -(-self.hosts // self.leaves)
        return _port(self.up, widest + 1 + spine)

    def _links(self, hosts: list[str]) -> Iterator[dict[str, Any]]:
        below = [0] * self.leaves
        for number, host in enumerate(hosts):
            leaf = self._leaf(number)
            below[leaf] += 1
            port = f"leaf{leaf + 1}:{_port(self.down, below[leaf])}"
            yield _link(f"{host}:{HOST_PORT}", port, self.host_gbit_per_s, _HOST_CABLE_M)
        for leaf in range(self.leaves):
            for spine in range(self.spines):
                ends = f"leaf{leaf + 1}:{self._uplink(spine)}", _port(self.up, leaf + 1)
                yield _link(
                    ends[0], f"spine{spine + 1}:{ends[1]}", self.spine_gbit_per_s, _LEAF_CABLE_M
                )


def _device(name: str, group: str, ports: dict[str, Any]) -> dict[str, Any]:
    return {"groups": [group], "management": {"host": f"{name}.lab.example"}, "ports": ports}


def _port(named: str, number: int) -> str:
    return named.replace("{}", str(number))


def _plain(ports: list[str]) -> dict[str, Any]:
    return {port: {} for port in ports}


def _link(a: str, b: str, gbit_per_s: float, length_m: int) -> dict[str, Any]:
    return {"between": [a, b], "speed_gbit_per_s": gbit_per_s, "length_m": length_m}
