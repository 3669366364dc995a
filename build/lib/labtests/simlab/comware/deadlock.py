"""PFC deadlock detection: its lines for the switch and in interface view, and what it does.

H3C, "Configuring PFC". The length of a tick is that of Broadcom's timers. The network has one time
of each kind at a port: that of the lowest CoS that has one.
"""

from dataclasses import replace

from labtests.network import DeadlockDetection
from labtests.simlab import switch_cli as kit

_ALL = "priority-flow-control deadlock"
_TICK_MS = {"high": 1, "normal": 10, "low": 100}
IN_SYSTEM_VIEW = (
    kit.setting(
        f"{_ALL} cos <cos> interval <ticks>",
        key=f"{_ALL} cos <cos>",
        line=f"{_ALL} cos <cos> interval <ticks>",
    ),
    kit.setting(f"{_ALL} precision {{ high | normal | low }}", default=f"{_ALL} precision normal"),
    kit.setting(
        f"{_ALL} auto-recover cos <cos> delay <ticks>", key=f"{_ALL} auto-recover cos <cos>"
    ),
    kit.setting(
        f"{_ALL} auto-recover action {{ discard | forwarding }}",
        default=f"{_ALL} auto-recover action forwarding",
    ),
)
AT_A_PORT = (
    kit.setting(f"{_ALL} recover-mode {{ auto | manual }}", default=f"{_ALL} recover-mode auto"),
    kit.setting(f"{_ALL} enable"),
)


def _recover(session: kit.CliSession, call: kit.CliCall) -> str:
    for section in session.sections("interface"):
        if section.name in session.switch.network.ports:
            session.switch.network.guards.restore_all(section.name)
    return ""


RECOVER = {f"{_ALL} recover": kit.CliCommand(_recover, changes=True)}


def guard(switch: kit.EmulatedSwitch, port: kit.CliSection) -> DeadlockDetection | None:
    """What looks for deadlocks at the port."""
    root = switch.configuration.root
    tick_ms = _TICK_MS[root.rest(f"{_ALL} precision") or "normal"]
    detect = _times_ms(root, f"{_ALL} cos", tick_ms)
    release = _times_ms(root, f"{_ALL} auto-recover cos", tick_ms)
    manual = port.rest(f"{_ALL} recover-mode") == "manual"
    watched = detect if manual else {cos: ms for cos, ms in detect.items() if cos in release}
    if f"{_ALL} enable" not in port.lines or not watched:
        return None
    found = DeadlockDetection(
        interval_ms=watched[min(watched)],
        delay_ms=release.get(min(watched), tick_ms),
        recover_mode="manual" if manual else "auto",
        precision_ms=tick_ms,
        priorities=frozenset(watched),
    )
    discards = root.rest(f"{_ALL} auto-recover action") == "discard"
    return replace(found, action="drop") if discards else found


def _times_ms(root: kit.CliSection, beginning: str, tick_ms: int) -> dict[int, int]:
    return {each.values["cos"]: each.values["ticks"] * tick_ms for each in root.under(beginning)}
