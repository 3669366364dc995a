"""How a host and its NICs suffer the faults of losses.py: discards, wrong CNPs, programs that stand
still, counters that grow."""

from collections.abc import Iterator

from labtests.network import Nic
from labtests.simlab.faults import Met, UnknownFault
from labtests.simlab.linux import mlx5_counters, rdma_counters
from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.sysfs import STATISTICS, snmp_counters
from labtests.simlab.losses import Fault, Growth

PRIORITIES = range(8)
NS_PER_S, NS_PER_MS = 1_000_000_000, 1_000_000
PERIOD_MS = 20
"""A limited program's turn comes once in this time. (cpu.max of a cgroup: 100 ms unless told; less
here, so that a second of traffic is even.)"""
DISCARDS = ("rx_discards_phy", "rx_out_of_buffer", "nothing")


class Hindered:
    """What may be wrong with one host. Its faults know of it from now on."""

    def __init__(self, host: Machine) -> None:
        self._host, self._losses = host, host.faults.losses
        self._stopped_until_ns = 0
        self._share: float | None = None
        self._limiting = False
        self._losses.acts |= {
            "nic-discards": self._discard,
            "cnp-dscp": self._mark_cnps,
            "cnp-interval": self._space_cnps,
            "forgets-cnps": self._forget_cnps,
            "heeds-few-cnps": self._heed_few_cnps,
            "freeze": self._freeze,
            "cpu-limit": self._limit,
            "growing-counter": self._grow,
            "tunnel": self._spoil_tunnels,
        }
        self._losses.on_heal.append(self._heal)

    # -- NICs --

    def _port(self, fault: Fault) -> NicPort:
        port = self._host.port(str(fault["port"]))
        if port is None:
            raise UnknownFault(f"{self._host.name} has no port {fault['port']!r}")
        return port

    def _nic(self, port: NicPort) -> Nic:
        if port.nic is None:
            raise UnknownFault(f"{self._host.name} {port.interface} is no NIC with a cable")
        return port.nic

    def _nics(self) -> Iterator[Nic]:
        return (port.nic for port in self._host.ports if port.nic is not None)

    def _discard(self, fault: Fault) -> Met:
        port, counted = self._port(fault), fault.get("counted", DISCARDS[0])
        nic = self._nic(port)
        if counted not in DISCARDS:
            raise UnknownFault(f"counted is {counted!r}, not one of {', '.join(DISCARDS)}")
        chosen = [fault["priority"]] if fault.get("priority") is not None else PRIORITIES
        discarded = [_since_now(nic, int(priority)) for priority in chosen]
        for priority in chosen:
            nic.discard_randomly(int(priority), int(fault["per_million"]))
            if counted == DISCARDS[0]:
                name = f"rx_prio{priority}_discards"
                self._losses.grow(port.interface, name, _since_now(nic, int(priority)))
            if counted != "nothing":
                self._losses.grow(port.interface, counted, _since_now(nic, int(priority)))
            if counted == DISCARDS[1]:
                grown = _since_now(nic, int(priority))
                self._losses.grow(port.interface, "out_of_buffer", grown)
        return lambda: "" if any(each() for each in discarded) else "no packet was discarded by it"

    def _spoil_tunnels(self, fault: Fault) -> None:
        tunnels = self._host.tunnels
        if fault["loses"] not in ("dscp", "marks"):
            raise UnknownFault(f"a tunnel loses 'dscp' or 'marks', not {fault['loses']!r}")
        tunnels.deaf |= fault["loses"] == "dscp"
        tunnels.losing |= fault["loses"] == "marks"

    def _mark_cnps(self, fault: Fault) -> None:
        self._nic(self._port(fault)).mark_cnps(int(fault["dscp"]))

    def _space_cnps(self, fault: Fault) -> None:
        self._nic(self._port(fault)).space_cnps(int(fault["microseconds"]))

    def _forget_cnps(self, fault: Fault) -> None:
        """Of flows that are under way, and of those to come."""
        address, lab = str(fault["to"]), self._host.lab
        hosts = (face for face in lab.devices.values() if isinstance(face, Machine))
        ports = (port for host in hosts for port in host.ports if port.address == address)
        peer = next((port.nic for port in ports if port.nic is not None), None)
        if peer is None:
            raise UnknownFault(f"no NIC with a cable has the address {address!r}")
        self._nic(self._port(fault)).forget_cnps_to(peer)

    def _heed_few_cnps(self, fault: Fault) -> Met:
        nic = self._nic(self._port(fault))
        before = nic.counters().rp_cnp_handled
        nic.heed_one_cnp_in(int(fault["one_in"]))
        return lambda: "" if nic.counters().rp_cnp_handled > before else "no CNP was handled"

    # -- programs --

    def _freeze(self, fault: Fault) -> None:
        ends_ns = self._now_ns() + round(float(fault["seconds"]) * NS_PER_S)
        self._stopped_until_ns = max(self._stopped_until_ns, ends_ns)
        self._hold()

    def _hold(self) -> None:
        """Until then they stand still; the flows of those that start meanwhile, too."""
        now_ns = self._now_ns()
        for nic in self._nics():
            if now_ns >= self._stopped_until_ns:
                nic.programs.go_on()
            else:
                nic.programs.hold(self._stopped_until_ns)
        left_ns = self._stopped_until_ns - now_ns
        if left_ns > 0:
            self._host.faults.later(min(NS_PER_MS, left_ns), self._hold)

    def _limit(self, fault: Fault) -> None:
        share = float(fault["share"])
        if not 0 < share < 1:
            raise UnknownFault(f"a share is between 0 and 1, not {share}")
        self._share = share
        if not self._limiting:
            self._limiting = True
            self._take_turns()

    def _take_turns(self) -> None:
        if self._share is None:
            self._limiting = False
            return
        self._freeze({"seconds": (1 - self._share) * PERIOD_MS / 1000})
        self._host.faults.later(PERIOD_MS * NS_PER_MS, self._take_turns)

    # -- counters --

    def _grow(self, fault: Fault) -> None:
        port, counter, by = str(fault["port"]), str(fault["counter"]), int(fault["by"])
        if port:
            self._port(fault)
        if counter not in (_of_ports() if port else snmp_counters(self._host)):
            where = "ethtool -S, hw_counters or statistics/" if port else "/proc/net/snmp"
            raise UnknownFault(f"{counter!r} is no counter of {where}")
        self._losses.grow(port, counter, lambda: by)

    def _heal(self) -> None:
        for nic in self._nics():
            nic.mark_cnps(None)
            nic.space_cnps(None)
            nic.heed_one_cnp_in(0)
            nic.forget_cnps_to(None)
            for priority in PRIORITIES:
                nic.discard_randomly(priority, 0)
            nic.programs.go_on()
        self._stopped_until_ns, self._share = 0, None

    def _now_ns(self) -> int:
        return self._host.kernel.now_ns


def _of_ports() -> frozenset[str]:
    every = frozenset(PRIORITIES)
    shown = (*mlx5_counters.names(every), *mlx5_counters.names(frozenset()))
    return frozenset({*shown, *rdma_counters.NAMES, *STATISTICS})


def _since_now(nic: Nic, priority: int) -> Growth:
    before = nic.discarded[priority]
    return lambda: nic.discarded[priority] - before
