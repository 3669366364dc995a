"""Dial-out of gRPC: its lines in system, telemetry and their lower views, and where the switch
dials by them.

H3C, gRPC white paper (4.2) and Telemetry configuration guides; names of the lines of buffer alarms:
H3C, "Data buffer commands". Chosen: what those take (`ratio`, and 70 %), that a group that is used
cannot be deleted, and the sentences.
"""

from collections.abc import Iterator
from typing import Any

from labtests.simlab import switch_cli as kit
from labtests.simlab.comware.objects import named
from labtests.simlab.comware.sensors import EVENTS, SENSORS
from labtests.simlab.streaming.dialled import Dialled
from labtests.simlab.switch_cli.arguments import one_of
from labtests.simlab.switch_cli.configuration import Configuration

TELEMETRY = "telemetry"
_HERE = kit.top(TELEMETRY, TELEMETRY)
GROUPS = {"sensor-group": "sensor group", "destination-group": "destination group"}
SUBSCRIPTION = "subscription"
IN_SYSTEM_VIEW = (
    kit.setting("grpc enable"),
    kit.setting("buffer packet-drop alarm enable"),
    *(
        kit.setting(f"{key} ratio <percent>", key=key)
        for words in ("", "headroom ")
        for key in (f"buffer usage threshold {words}queue <queue>",)
    ),
)


SENSOR_PATH = one_of(*SENSORS, *EVENTS)


def ipv4_address(text: str) -> str | None:
    """Four numbers."""
    parts = text.split(".")
    right = len(parts) == 4 and all(p.isascii() and p.isdigit() and int(p) < 256 for p in parts)
    return text if right else None


def dialled(configuration: Configuration) -> frozenset[Dialled]:
    """Where the switch dials, and what it sends there."""
    if "grpc enable" not in configuration.root.lines or not _has(configuration):
        return frozenset()
    groups = configuration.find(_HERE).sections
    found = (each for (kind, _), each in groups.items() if kind == SUBSCRIPTION)
    return frozenset(line for each in found for line in _lines(each, groups))


def _has(configuration: Configuration) -> bool:
    return _HERE[0] in configuration.root.sections


def _lines(
    subscription: kit.CliSection, groups: dict[tuple[str, str], kit.CliSection]
) -> Iterator[Dialled]:
    sensors = tuple(
        (path.values["path"], group.values.get("interval", 0))
        for group in subscription.under("sensor-group")
        for path in groups["sensor-group", group.values["group"]].under("sensor path")
        if ("interval" in group.values) == (path.values["path"] in SENSORS)
    )
    for group in subscription.under("destination-group"):
        for line in groups["destination-group", group.values["group"]].under("ipv4-address"):
            host, port = line.values["address"], line.values["tcp"]
            yield Dialled(subscription.name, host, port, sensors)


def follow(switch: Any, section: kit.CliSection) -> None:
    """The switch dials as it is configured now."""
    switch.dials.follow()


_LINES: dict[str, tuple[kit.CliSetting, ...]] = {
    "sensor-group": (kit.setting("sensor path <path>", key="sensor path <path>"),),
    "destination-group": (
        kit.setting("ipv4-address <address> port <tcp>", key="ipv4-address <address> port <tcp>"),
    ),
    SUBSCRIPTION: (
        kit.setting(
            "sensor-group <group> [ sample-interval <interval> ]",
            key="sensor-group <group>",
            before=kit.refers("sensor-group", "group"),
        ),
        kit.setting(
            "destination-group <group>",
            key="destination-group <group>",
            before=kit.refers("destination-group", "group"),
        ),
    ),
}


def _kind(kind: str, lines: tuple[kit.CliSetting, ...]) -> kit.SectionKind:
    called = GROUPS.get(kind, kind)
    return named(
        called,
        f"{kind} <group>",
        *lines,
        prompt=f"[{{host}}-telemetry-{kind}-{{name}}]",
        inside=TELEMETRY,
        used=kind,
        kept=kit.kept_by(f"The {called} is used by a subscription.", line=kind, argument="group"),
        changed=follow,
    )


KINDS = {
    TELEMETRY: kit.SectionKind(
        header=TELEMETRY,
        typed=TELEMETRY,
        removable=False,
        prompt="[{host}-telemetry]",
        changed=follow,
    ),
    **{kind: _kind(kind, lines) for kind, lines in _LINES.items()},
}


def _remove_all(session: kit.CliSession, call: kit.CliCall) -> str:
    configuration = session.switch.configuration
    if _has(configuration):
        telemetry = configuration.find(_HERE)
        configuration.remove(_HERE)
        session.switch.changed(telemetry)
    return ""


OF_SYSTEM_VIEW = {f"undo {TELEMETRY}": kit.CliCommand(_remove_all, changes=True)}
