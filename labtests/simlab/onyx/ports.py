"""What is configured in the switch and at a port, and what the port does then."""

from labtests.network import Schedule, WredCurve
from labtests.simlab import switch_cli as kit
from labtests.simlab.onyx import pools

QUEUES = range(8)
CELL_BYTES, KB = 208, 1000
"""Of the network's memory; and of thresholds: whether 1000 or 1024 is not known."""
MTU, WEIGHTS = 1500, (12, 13)
"""Weights of even and odd classes by default (recorded)."""
_PFC = "dcb priority-flow-control"

ROOT = (
    kit.setting("hostname <name>"),
    kit.setting(  # on from the start, as the admin of a lossless network has it
        f"{_PFC} enable [ force ]",
        line=f"{_PFC} enable force",
        default=f"{_PFC} enable force",
        default_on=True,
        optional=True,
    ),
    kit.setting(
        f"{_PFC} priority <priority> enable",
        key=f"{_PFC} priority <priority>",
        undo=(f"{_PFC} priority <priority> enable",),
    ),
    *pools.ROOT,
)
_CURVE = "traffic-class <queue> congestion-control"
_ETS = "traffic-class <queue> dcb ets"
SETTINGS = (
    kit.setting("description <text>"),
    kit.setting("mtu <mtu> [ force ]", line="mtu <mtu> force", default=f"mtu {MTU} force"),
    *(
        kit.setting(
            f"flowcontrol {side} {{ on | off }} [ force ]", default=f"flowcontrol {side} off force"
        )
        for side in ("receive", "send")
    ),
    kit.setting(
        f"{_PFC} mode on [ force ]",
        key=f"{_PFC} mode",
        line=f"{_PFC} mode on force",
        undo=(f"{_PFC} mode [ force ]",),
    ),
    kit.setting("qos trust <trust>", default="qos trust L2"),
    kit.setting(
        "qos map dscp <dscp> to switch-priority <priority>",
        key="qos map dscp <dscp>",
        default="qos map dscp <dscp> to switch-priority <usual>",
        expand=lambda call: [{**call.values, "usual": call.values["dscp"] // 8}],
        undo=(),
    ),
    kit.setting(
        f"{_CURVE} <mode> minimum-absolute <low> maximum-absolute <high>", key=_CURVE, undo=()
    ),
    kit.setting(f"{_CURVE} <mode> minimum-relative <low%> maximum-relative <high%>", key=_CURVE),
    kit.setting(f"{_ETS} strict", key=_ETS),
    kit.setting(
        f"{_ETS} wrr <weight>",
        key=_ETS,
        default=f"{_ETS} wrr <usual>",
        expand=lambda call: [{**call.values, "usual": WEIGHTS[call.values["queue"] % 2]}],
        undo=(),
    ),
    kit.setting("shutdown"),
)


def pfc_enabled(switch: kit.EmulatedSwitch) -> bool:
    """In the whole switch."""
    return f"{_PFC} enable" not in switch.configuration.root.lines


def priorities(switch: kit.EmulatedSwitch) -> frozenset[int]:
    """The lossless ones of all ports."""
    lines = switch.configuration.root.under(f"{_PFC} priority")
    return frozenset(line.values["priority"] for line in lines)


def pfc_on(switch: kit.EmulatedSwitch, port: kit.CliSection) -> bool:
    """Whether it pauses, and obeys."""
    return pfc_enabled(switch) and f"{_PFC} mode" in port.lines


def trust(port: kit.CliSection) -> str:
    """As displays have it."""
    return port.rest("qos trust") or "L2"


def dscp_map(port: kit.CliSection) -> tuple[int, ...]:
    """The switch-priority of each DSCP."""
    usual = ((f"qos map dscp {dscp}", dscp // 8) for dscp in range(64))
    return tuple(port.value(key, "priority", each) for key, each in usual)


def curve(port: kit.CliSection, queue: int) -> tuple[str, str, int, int] | None:
    """ECN or RED, the unit of thresholds, and these."""
    line = port.lines.get(f"traffic-class {queue} congestion-control")
    if line is None:
        return None
    unit = "absolute" if "low" in line.values else "relative"
    low, high = (line.values.get(name, line.values.get(f"{name}%")) for name in ("low", "high"))
    return line.values["mode"].upper(), unit, low, high


def weight(port: kit.CliSection, queue: int) -> int | None:
    """None for strict priority."""
    key = f"traffic-class {queue} dcb ets"
    usual = WEIGHTS[queue % 2]
    return None if port.rest(key) == "strict" else port.value(key, "weight", usual)


def _network_curve(port: kit.CliSection, queue: int) -> WredCurve | None:
    """Chosen: what is marked and not dropped by RED, is marked when it leaves."""
    found = curve(port, queue)
    if found is None:
        return None
    mode, unit, *limits = found
    factor = KB if unit == "absolute" else pools.POOL_BYTES // 100
    low, high = (limit * factor // CELL_BYTES for limit in limits)
    return WredCurve(
        low_limit=low,
        high_limit=max(low, high),
        probability_percent=100,
        weighting_exponent=0,
        ecn=mode == "ECN",
        mark_leaving=mode == "ECN",
    )


def _served(share: int | None) -> tuple[str, int]:
    """A class of weight 0 gets what others leave: chosen, a hundredth of a weight of 1."""
    return ("sp", 0) if share is None else ("1", 100 * share or 1)


def _changed(switch: kit.EmulatedSwitch, port: kit.CliSection) -> None:
    mapped = dscp_map(port) if trust(port) in ("L3", "both") else (0,) * 64  # without a tag
    on, pooled = pfc_on(switch, port), pools.lossless(switch)
    told = priorities(switch) if on or not pooled else frozenset()
    switch.apply(
        port.name,
        kit.PortBehaviour(
            shutdown="shutdown" in port.lines,
            pfc="on" if on or pooled else "off",
            no_drop=told.union(pooled),
            thresholds=pooled,
            trust="dscp",
            dscp_map=mapped,
            schedule=Schedule(queues=tuple(_served(weight(port, n)) for n in QUEUES)),
            curves=tuple(_network_curve(port, n) for n in QUEUES),
        ),
    )


KINDS = {
    "": kit.SectionKind(settings=ROOT),
    "interface": kit.SectionKind(settings=SETTINGS, changed=_changed),
}


def lines_for(classes: tuple[int, ...], ports: tuple[str, ...]) -> list[str]:
    """What is typed so that each DSCP has this class at every port."""
    lines = ["enable", "configure terminal"]
    for port in ports:
        at = f"interface ethernet {port.removeprefix('Eth')} qos"
        lines.append(f"{at} trust L3")
        lines += [f"{at} map dscp {n} to switch-priority {c}" for n, c in enumerate(classes)]
    return lines
