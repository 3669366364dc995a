"""Dial-out of gRPC: its lines in system, telemetry and their lower views, and where the switch
dials by them.

H3C, gRPC white paper (4.2) and Telemetry configuration guides; names of the lines of buffer alarms:
H3C, "Data buffer commands". Chosen: what those take (`ratio`, and 70 %), that a group that is used
cannot be deleted, and the sentences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from labtests.simlab.comware.sensors import EVENTS, SENSORS
from labtests.simlab.streaming.dialled import Dialled
from labtests.simlab.switch_cli import (
    CliCall,
    CliCommand,
    CliSection,
    CliSession,
    CliSetting,
    CommandRefused,
    EmulatedSwitch,
    SectionKind,
    enter,
    remove,
    setting,
    settings,
    top,
)
from labtests.simlab.switch_cli.configuration import Configuration
from labtests.simlab.switch_cli.grammar import TypedWord

TELEMETRY = "telemetry"
_HERE = top(TELEMETRY, TELEMETRY)
GROUPS = {"sensor-group": "sensor group", "destination-group": "destination group"}
SUBSCRIPTION = "subscription"
IN_SYSTEM_VIEW = (
    setting("grpc enable"),
    setting("buffer packet-drop alarm enable"),
    setting(
        "buffer usage threshold queue <queue> ratio <percent>",
        key="buffer usage threshold queue <queue>",
    ),
    setting(
        "buffer usage threshold headroom queue <queue> ratio <percent>",
        key="buffer usage threshold headroom queue <queue>",
    ),
)


@dataclass(frozen=True, slots=True)
class SensorPath:
    """A path that this switch has a sensor for, in any case."""

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        path = words[0].text.lower()
        return (path, 1) if path in SENSORS or path in EVENTS else None


@dataclass(frozen=True, slots=True)
class Ipv4Address:
    """Four numbers."""

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        parts = words[0].text.split(".")
        right = len(parts) == 4 and all(p.isascii() and p.isdigit() and int(p) < 256 for p in parts)
        return (words[0].text, 1) if right else None


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
    subscription: CliSection, groups: dict[tuple[str, str], CliSection]
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


def _there(switch: EmulatedSwitch, section: CliSection, call: CliCall) -> None:
    kind = next(kind for kind in GROUPS if kind in call.keywords)
    path = (*_HERE, (kind, call.values["group"]))
    if path[-1] not in switch.configuration.find(_HERE).sections:
        raise CommandRefused(f"The {GROUPS[kind]} does not exist.")


def follow(switch: Any, section: CliSection) -> None:
    """The switch dials as it is configured now."""
    switch.dials.follow()


_LINES: dict[str, tuple[CliSetting, ...]] = {
    "sensor-group": (setting("sensor path <path>", key="sensor path <path>"),),
    "destination-group": (
        setting("ipv4-address <address> port <tcp>", key="ipv4-address <address> port <tcp>"),
    ),
    SUBSCRIPTION: (
        setting(
            "sensor-group <group> [ sample-interval <interval> ]",
            key="sensor-group <group>",
            before=_there,
        ),
        setting("destination-group <group>", key="destination-group <group>", before=_there),
    ),
}
KINDS = {
    TELEMETRY: SectionKind(header=TELEMETRY, changed=follow),
    **{
        kind: SectionKind(
            header=f"{kind} {{name}}",
            settings=lines,
            inside=TELEMETRY,
            missing="It does not exist.",
            changed=follow,
        )
        for kind, lines in _LINES.items()
    },
}


def _remove(kind: str) -> CliCommand:
    def used(switch: EmulatedSwitch, name: str) -> str:
        sections = switch.configuration.find(_HERE).sections.values()
        used = kind in GROUPS and any(each.under(f"{kind} {name}") for each in sections)
        return f"The {GROUPS[kind]} is used by a subscription." if used else ""

    return remove(kind, used)


def _remove_all(session: CliSession, call: CliCall) -> str:
    configuration = session.switch.configuration
    if _has(configuration):
        telemetry = configuration.find(_HERE)
        configuration.remove(_HERE)
        session.switch.changed(telemetry)
    return ""


OF_SYSTEM_VIEW = {
    TELEMETRY: enter(TELEMETRY, create=True),
    f"undo {TELEMETRY}": CliCommand(_remove_all, changes=True),
}
OF_VIEWS = {
    TELEMETRY: {
        **{f"{kind} <group>": enter(kind, create=True) for kind in _LINES},
        **{f"undo {kind} <group>": _remove(kind) for kind in _LINES},
    },
    **{kind: settings(kind, "undo", lines) for kind, lines in _LINES.items()},
}
