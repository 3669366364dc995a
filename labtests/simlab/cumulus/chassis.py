"""The box below the shell: revisions, what they mean to packets, and the ports."""

from typing import Any

from labtests.inventory import Device
from labtests.network import PfcWatchdog, Schedule, WredCurve
from labtests.simlab.cumulus.model import DEFAULT, FEATURES, MAP, QUEUES, Tree, in_force
from labtests.simlab.cumulus.revisions import Revisions
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.refreshing import Counted
from labtests.simlab.switch_cli import Chassis, CountingRules, PortBehaviour

CELL_BYTES = 208
_REFRESHED: dict[Counted, float] = {"traffic": 2, "pfc": 1, "drops": 1, "queues": 1}
"""The first is the user guide's; the others are chosen."""
_RULES = CountingRules(
    growing={"in-errors": "crc_errors", "rx-buffer-discards": "input_buffer_drops"}
)
_POOLS = {"default-lossless": {"memory-percent": 50}, "default-lossy": {"memory-percent": 50}}


class CumulusChassis(Chassis):
    """The box below the shell."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        super().__init__(lab, device, _RULES, _REFRESHED)
        self.revisions = Revisions(self.ports)
        self._cleared: dict[str, list[int]] = {}
        tree, _ = self.revisions.begin("root")
        tree["qos"] = {"traffic-pool": _POOLS}
        self.commit("root")
        self.revisions.startup = self.revisions.tree

    def commit(self, user: str, number: str = "") -> str:
        """`nv config apply`. Raises Refused."""
        if self.faults.lies:
            waiting = self.revisions.pending.pop(user, (self.revisions.last, {}))
            return f"applied [rev_id: {waiting[0]}]\n"
        said = self.revisions.apply(user, self.now, number)
        self.apply_all()
        return said

    def apply_all(self) -> None:
        """All ports do what is applied."""
        whole = in_force(self.ports, self.revisions.tree)
        for port in self.ports:
            self.apply(port, behaviour(whole, port))
        queues = whole["qos"]["egress-queue-mapping"][DEFAULT]["switch-priority"]
        self.map_queues(queues[n]["traffic-class"] for n in QUEUES)

    def guarded(self, port: str) -> tuple[tuple[bool, int], ...]:
        """Of each queue of a port: whether its watchdog has shut it, and how often since it was
        cleared; nothing where there is no cable."""
        counted = self.guard_counters(port)
        cleared = self._cleared.get(port, [0] * 8)
        return tuple(
            (each.shut, each.shutdowns - n) for each, n in zip(counted, cleared, strict=False)
        )

    def clear_deadlocks(self, port: str) -> None:
        """They count from 0 again."""
        if port in self.network.ports:
            self._cleared[port] = [each.shutdowns for each in self.network.guards.counters(port)]

    def renew(self, port: str) -> None:
        """See Chassis."""
        self.apply(port, behaviour(in_force(self.ports, self.revisions.tree), port))

    def load_saved(self) -> None:
        """See Chassis."""
        self.revisions.pending.clear()
        self.revisions.tree = self.revisions.startup
        self.apply_all()


# -- what it means ---------------------------------------------------------------------------------


def behaviour(whole: Tree, port: str) -> PortBehaviour:
    """What a port does to packets."""
    interface, found = whole["interface"][port], profiles_of(whole, port)
    classes = found["congestion-control"].get("traffic-class", {})
    served = found["egress-scheduler"].get("traffic-class", {})
    lossless = _lossless(found["pfc"], whole["qos"]["traffic-pool"])
    return PortBehaviour(
        shutdown="down" in interface["link"]["state"],
        pfc="on" if lossless else "off",
        no_drop=lossless,
        cable_m=found["pfc"].get("cable-length"),
        trust="dscp",  # by the port's own map; of what is not trusted, all is of one priority
        dscp_map=mapped(found["mapping"]),
        schedule=Schedule(queues=tuple(_served(served.get(n, {})) for n in QUEUES)),
        curves=tuple(_curve(classes.get(n)) for n in QUEUES),
        guard=_guard(interface, whole["qos"]["pfc-watchdog"], lossless),
    )


def profiles_of(whole: Tree, port: str) -> Tree:
    """By feature, what the profile says that a port applies; without a port, the default."""
    applies = whole["interface"][port].get("qos", {}) if port else {}
    named = {each: applies.get(each, {}).get("profile", DEFAULT) for each in (*FEATURES, MAP)}
    return {feature: whole["qos"][feature].get(name, {}) for feature, name in named.items()}


def _guard(interface: Tree, times: Tree, lossless: frozenset[int]) -> PfcWatchdog | None:
    """It looks once in an interval, and serves a queue again after one without a pause (guide)."""
    state = interface.get("qos", {}).get("pfc-watchdog", {}).get("state")
    if state != "enable" or not lossless:
        return None
    interval, intervals = times["polling-interval"], times["robustness"]
    return PfcWatchdog(
        interval_ms=interval * intervals,
        auto_restore_multiplier=1 / intervals,
        poll_ms=interval,
        priorities=lossless,
    )


def _lossless(pfc: Tree, pools: Tree) -> frozenset[int]:
    """Only where there is memory for it: of RoCE mode for its own. One way only is none here."""
    told = pfc.get("switch-priority", {}) if pfc.get("tx") == pfc.get("rx") == "enable" else {}
    any_of = "memory-percent" in pools.get("default-lossless", {})
    roce = pools.get("roce-lossless", {}).get("switch-priority", {})
    return frozenset(int(n) for n in told if any_of or n in roce)


def mapped(mapping: Tree) -> tuple[int, ...]:
    """Frames here have no tag."""
    if mapping.get("trust") not in ("l3", "both"):
        return (mapping.get("port-default-sp", 0),) * 64
    told = mapping.get("dscp", {})
    return tuple(told.get(str(n), {}).get("switch-priority", n // 8) for n in range(64))


def _served(scheduler: Tree) -> tuple[str, int]:
    """A class without a share gets what others leave: chosen, a hundredth of a percent."""
    if scheduler.get("mode") == "strict":
        return "sp", 0
    return "1", 100 * scheduler.get("bw-percent", 0) or 1


def _curve(told: Any) -> WredCurve | None:
    """Chosen: what is marked and not dropped by RED, is marked when it leaves."""
    if told is None or "enable" not in (told["ecn"], told["red"]):
        return None
    return WredCurve(
        low_limit=told["min-threshold"] // CELL_BYTES,
        high_limit=max(told["min-threshold"], told["max-threshold"]) // CELL_BYTES,
        probability_percent=told["probability"],
        weighting_exponent=0,
        ecn=told["ecn"] == "enable",
        mark_leaving=told["red"] != "enable",
    )
