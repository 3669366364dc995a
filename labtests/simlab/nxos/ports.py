"""`interface Ethernet1/1`: what is configured on a port, and what the port does then."""

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import fcoe, policies, watchdog
from labtests.simlab.switch_cli.chassis import PfcMode

MTU = 1500
_PFC = "priority-flow-control mode"
SETTINGS = (
    kit.setting("description <text>"),
    kit.setting(f"{_PFC} {{ auto | on | off }}", default=f"{_PFC} auto", optional=True),
    *watchdog.AT_A_PORT,
    kit.setting("mtu <mtu>", default=f"mtu {MTU}", optional=True),
    *policies.IN_PORT,
    kit.setting("shutdown"),
)


def pfc_mode(port: kit.CliSection) -> PfcMode:
    """As the port is told to, whatever its peer says."""
    modes: dict[str, PfcMode] = {"on": "on", "off": "off"}
    return modes.get(port.rest("priority-flow-control mode"), "auto")


def mtu_bytes(port: kit.CliSection) -> int:
    """The longest IP packet that passes."""
    longest: int = port.value("mtu", "mtu", MTU)
    return longest


def _changed(switch: kit.EmulatedSwitch, port: kit.CliSection) -> None:
    buffers = policies.pause_buffers(switch, port)
    switch.apply(
        port.name,
        kit.PortBehaviour(
            shutdown="shutdown" in port.lines,
            pfc=pfc_mode(port),
            no_drop=policies.no_drop(switch),
            # the network has one headroom for all lossless groups of a port: the largest counts
            headroom_cells=max((each.headroom_cells for each in buffers.values()), default=None),
            thresholds={queue: each.memory() for queue, each in buffers.items()},
            trust="dscp",  # by the port's own map, in which all may be of group 0
            dscp_map=policies.dscp_map(switch, port),
            schedule=policies.schedule(switch, port),
            curves=policies.curves(switch, port),
            guard=watchdog.guard(switch, port) or fcoe.time_out(switch, port),
        ),
    )


KIND = kit.SectionKind(
    header="interface {name}",
    prompt="{host}(config-if)# ",
    several="{host}(config-if-range)# ",
    settings=SETTINGS,
    changed=_changed,
)


def lines_for(classes: tuple[int, ...], ports: tuple[str, ...]) -> list[str]:
    """What is typed so that each DSCP has this class at every port."""
    maps, policy = list[str](), ["policy-map type qos as-delivered"]
    for group in sorted(set(classes) - {0}):
        dscps = ",".join(str(dscp) for dscp, each in enumerate(classes) if each == group)
        maps += [f"class-map type qos match-any group-{group}", f"match dscp {dscps}"]
        policy += [f"class group-{group}", f"set qos-group {group}"]
    for port in ports:
        policy += [f"interface {port}", "service-policy type qos input as-delivered"]
    return ["configure terminal", *maps, *policy]
