"""FCoE as far as pauses go: virtual interfaces on ports, and the pause time-out of edge ports.

An edge port is one that an F port (`interface vfc`) is bound to. Where `pause mode edge` is on, a
port that a pause keeps from sending for the time-out drops all that it has to send, of all classes
(FCoE configuration guide of the Nexus 9000, document 001). Chosen: a watchdog goes before it.
"""

from labtests.network import PauseTimeout
from labtests.simlab import switch_cli as kit

VFC = "vfc"
_PAUSE = "system default interface pause"
USUAL_MS = 500
IN_ROOT = (
    kit.setting("feature-set fcoe"),
    kit.setting(f"{_PAUSE} mode edge"),
    kit.setting(
        f"{_PAUSE} timeout <timeout> mode edge",
        undo=(f"{_PAUSE} timeout [ <timeout> ] mode edge",),
        default=f"{_PAUSE} timeout {USUAL_MS} mode edge",
    ),
)
SETTINGS = (
    kit.setting("bind interface <port>", optional=True),
    kit.setting("switchport mode { e | f | np }", default="switchport mode f", optional=True),
    kit.setting("shutdown", default="shutdown", default_on=True),
)
KIND = kit.SectionKind(
    header="interface vfc{name}",
    typed="interface vfc <number>",
    prompt="{host}(config-if)# ",
    settings=SETTINGS,
)


def delivered(ports: tuple[str, ...]) -> list[str]:
    """What is typed so that every port is an edge port."""
    lines = ["configure terminal", "feature-set fcoe"]
    for number, port in enumerate(ports, start=1):
        lines += [f"interface vfc {number}", f"bind interface {port}", "no shutdown"]
    return lines


def time_out(switch: kit.EmulatedSwitch, port: kit.CliSection) -> PauseTimeout | None:
    """What ends long pauses at the port."""
    root = switch.configuration.root
    if f"{_PAUSE} mode edge" not in root.lines or not _is_edge(switch, port.name):
        return None
    return PauseTimeout(timeout_ms=root.value(f"{_PAUSE} timeout", "timeout", USUAL_MS))


def _is_edge(switch: kit.EmulatedSwitch, port: str) -> bool:
    return any(
        each.value("bind interface", "port", "") == port
        and each.rest("switchport mode") in ("", "f")
        and each.text("shutdown") == "no shutdown"  # it is shut down as it is made (guide)
        for each in switch.configuration.of(VFC).values()
    )
