"""What can be set on a Comware switch but for ECN (marking.py): how it shows, and how it is set.

Syntax: H3C and HPE command references for Comware 7 (Layer 2 - LAN switching: PFC; ACL and QoS:
priority mapping, congestion management; Ethernet interfaces: jumbo frames) and document 000. The
lines start in system view and carry the `interface ...` and `quit` that enter and leave other
views. `priority-flow-control dot1p P headroom N` is in the PFC references of S9825, S9855 and
S12500 and in public configurations; its `undo` is from memory.
"""

import re
from typing import ClassVar

from labtests.capabilities import settings as s
from labtests.capabilities.device import DscpClasses, FrameLengths, QueueShares, Shares
from labtests.capabilities.records import (
    PfcSetting,
    QueueSchedule,
    SchedulingSetting,
    TrustSetting,
)
from labtests.capabilities.settings import Commands, Headrooms
from labtests.core.errors import CommandRejected
from labtests.drivers.comware.configuration import configured_pfc, priority_list
from labtests.drivers.comware.maps import parse_map_table
from labtests.drivers.comware.names import wrong_port
from labtests.drivers.comware.pfc import parse_priority_flow_control
from labtests.drivers.comware.rejections import expect_accepted, is_refusal
from labtests.drivers.comware.scheduling import parse_queue_schedule, shows_no_scheduler
from labtests.drivers.comware.session import QUIT, ComwarePart, in_interface, interface, line, show
from labtests.drivers.comware.trust import parse_qos_trust
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

QUEUES = range(8)
DEFAULT_FRAME_BYTES = 9216
"""What data-centre models pass at least when nothing is configured (S6850: 9416)."""

_NO_DROP = ("priority-flow-control", "no-drop", "dot1p")
_MODES = {
    "on": line("priority-flow-control", "enable"),
    "auto": line("priority-flow-control", "auto"),
    "off": line("undo", "priority-flow-control"),
}
_JUMBO = re.compile(r"jumboframe enable(?: (?P<bytes>[0-9]+))?")
_HEADROOM = re.compile(
    r"priority-flow-control dot1p (?P<priority>[0-7]) headroom (?P<cells>[0-9]+)"
)
_LARGEST_WEIGHT = 127


class ComwareSetting(s.Setting[s.T]):
    """A setting of a Comware switch. `port` may be written in full or abbreviated."""

    remedy = (
        "look at `display this` in that view: another setting may contradict it, or this model "
        "takes the command and does nothing"
    )

    def __init__(self, switch: ComwarePart) -> None:
        self.switch = switch

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises CommandRejected with the line that was refused."""
        for reply in replies:
            expect_accepted(reply, commands)


class ComwarePfc(ComwareSetting[PfcSetting]):
    """The mode of a port, and its no-drop list."""

    kind = s.PFC

    def read(self, port: str) -> Asking[PfcSetting]:
        """As configured on the port, which is exact even while no PFC frame was counted. Refused
        when `display priority-flow-control` contradicts it: then the system view says otherwise."""
        full = self.switch.port(port)
        configured = configured_pfc(*(yield from interface(full)))
        shown = yield from show("display", "priority-flow-control", "interface", full)
        for row in parse_priority_flow_control(shown):
            if row.interface != full:
                wrong_port(shown, full, row.interface)
            if row.mode != configured.mode:
                refuse(
                    shown,
                    f"PFC of {full} is {row.mode}, its configuration says {configured.mode}",
                    "take `priority-flow-control` out of the system view: it is set per port here",
                )
        return configured

    def commands(
        self, port: str, earlier: PfcSetting, wanted: PfcSetting, around: None = None
    ) -> Commands:
        """The no-drop list first, so that PFC never works with the list of somebody else."""
        lines: list[CliLine] = []
        if wanted.priorities != earlier.priorities:
            if not wanted.priorities >= earlier.priorities:
                # whether a shorter list replaces a longer one is not written anywhere
                lines.append(line("undo", *_NO_DROP))
            if wanted.priorities:
                lines.append(line(*_NO_DROP, priority_list(wanted.priorities)))
        if wanted.mode != earlier.mode:
            lines.append(_MODES[wanted.mode])
        return in_interface(self.switch.port(port), *lines)


class ComwareTrust(ComwareSetting[TrustSetting]):
    """`qos trust`."""

    kind = s.TRUST

    def read(self, port: str) -> Asking[TrustSetting]:
        """What the port trusts now, defaults included."""
        full = self.switch.port(port)
        reply = yield from show("display", "qos", "trust", "interface", full)
        found = parse_qos_trust(reply)
        if set(found) != {full}:
            wrong_port(reply, full, ", ".join(found))
        return found[full]

    def commands(
        self, port: str, earlier: TrustSetting, wanted: TrustSetting, around: None = None
    ) -> Commands:
        """`undo qos trust` is the model's default, which is no trust on the models known here."""
        if earlier == wanted:
            return ()
        full = self.switch.port(port)
        if wanted.source == "none":
            return in_interface(full, line("undo", "qos", "trust"))
        override = ("override",) if wanted.override else ()
        return in_interface(full, line("qos", "trust", wanted.source, *override))


class ComwareScheduling(ComwareSetting[SchedulingSetting], QueueShares):
    """Strict priority, or WRR with every queue's group and weight."""

    kind = s.SCHEDULING

    def read(self, port: str) -> Asking[SchedulingSetting]:
        """Asked by discipline: WRR, strict priority, WFQ. The first that answers is in force."""
        full = self.switch.port(port)
        for discipline in ("wrr", "sp", "wfq"):
            reply = yield from ask(line("display", "qos", "queue", discipline, "interface", full))
            if is_refusal(reply) or shows_no_scheduler(reply):
                continue
            found = parse_queue_schedule(reply)
            if set(found) != {full}:
                wrong_port(reply, full, ", ".join(found))
            return found[full]
        raise CommandRejected(
            self.switch.device,
            f"display qos queue wrr|sp|wfq interface {full}",
            "the switch shows no scheduler for this port",
            "a queue scheduling profile (`qos apply qmprofile`) may be in force: take it off",
        )

    def commands(
        self, port: str, earlier: SchedulingSetting, wanted: SchedulingSetting, around: None = None
    ) -> Commands:
        """WFQ is read but not set: its minimum bandwidths would be lost."""
        full = self.switch.port(port)
        if earlier == wanted:
            return ()
        if {earlier.discipline, wanted.discipline} - {"sp", "wrr"}:
            raise CommandRejected(
                self.switch.device,
                f"interface {full}",
                f"labtests does not change {earlier.discipline} to {wanted.discipline}",
                "set the port to `qos wrr` or `qos sp` by hand first",
            )
        if wanted.discipline == "sp":
            return in_interface(full, line("qos", "sp"))
        same = (earlier.discipline, earlier.unit) == (wanted.discipline, wanted.unit)
        before = {q.queue: q for q in earlier.queues} if same else {}
        changed = [q for q in wanted.queues if before.get(q.queue) != q]
        lines = [line("qos", "wrr", q.queue, "group", *_group(q, wanted.unit)) for q in changed]
        return in_interface(full, line("qos", "wrr", wanted.unit), *lines)

    def scheduling_for(self, shares: Shares) -> SchedulingSetting:
        """Weighted round robin by bytes, with strict queues in the group `sp`."""
        return SchedulingSetting(
            discipline="wrr",
            unit="byte-count",
            queues=tuple(
                QueueSchedule(queue=q, group="sp", weight=None)
                if share is None
                else QueueSchedule(queue=q, group="1", weight=min(share, _LARGEST_WEIGHT))
                for q, share in enumerate(shares)
            ),
        )


def _group(q: QueueSchedule, unit: str) -> tuple[str, ...]:
    return ("sp",) if q.group == "sp" else (q.group, unit, str(q.weight))


class Map(ComwareSetting[tuple[int, ...]]):
    """A map of priorities: one for the whole switch, so `port` is not used."""

    wide = True
    table: ClassVar[str]

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """What each entry becomes."""
        reply = yield from show("display", "qos", "map-table", self.table)
        maps = [m for m in parse_map_table(reply) if not m.direction and not m.color]
        if [m.name for m in maps] != [self.table]:
            refuse(reply, f"there is no map {self.table} without direction")
        if max(maps[0].values) not in QUEUES:
            refuse(reply, "a value of it maps to a priority above 7")
        return maps[0].values

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """In the map's view: one line for each entry that changes."""
        changed = [
            line("import", entry, "export", after)
            for entry, (before, after) in enumerate(zip(earlier, wanted, strict=True))
            if before != after
        ]
        return (line("qos", "map-table", self.table), *changed, QUIT) if changed else ()


class ComwareDscpMap(Map, DscpClasses):
    """The 802.1p priority of each DSCP."""

    kind = s.DSCP_MAP
    table = "dscp-dot1p"

    def dscp_map(self, port: str) -> Asking[tuple[int, ...]]:
        """See DscpClasses."""
        return self.read(port)


class QueueMap(Map):
    """The local precedence, which is the queue, of each 802.1p priority."""

    kind = s.QUEUE_MAP
    table = "dot1p-lp"


class FrameLimit(ComwareSetting[int | None], FrameLengths):
    """`jumboframe enable SIZE`: 0 when long frames are refused, None for the model's default."""

    kind = s.FRAME_LIMIT

    def read(self, port: str) -> Asking[int | None]:
        """From the port's configuration."""
        reply, section = yield from interface(self.switch.port(port))
        if "undo jumboframe enable" in section.lines:
            return 0
        found = [m for line in section.lines if (m := _JUMBO.fullmatch(line))]
        if len(found) > 1:
            refuse(reply, f"{section.interface} has two frame lengths")
        return int(found[0]["bytes"]) if found and found[0]["bytes"] else None

    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """Nothing configured: the model's default, which no command shows."""
        return frame_bytes <= (DEFAULT_FRAME_BYTES if limit is None else limit)

    def commands(
        self, port: str, earlier: int | None, wanted: int | None, around: None = None
    ) -> Commands:
        """One line. Without a size it is the model's default again."""
        if earlier == wanted:
            return ()
        undo = ("undo",) if wanted == 0 else ()
        size = (wanted,) if wanted else ()
        return in_interface(self.switch.port(port), line(*undo, "jumboframe", "enable", *size))


class Headroom(ComwareSetting[Headrooms]):
    """Memory cells by priority."""

    kind = s.HEADROOM

    def read(self, port: str) -> Asking[Headrooms]:
        """As configured on the port; a model's default is not shown."""
        _, section = yield from interface(self.switch.port(port))
        found = [m for line in section.lines if (m := _HEADROOM.fullmatch(line))]
        return tuple(sorted((int(m["priority"]), int(m["cells"])) for m in found))

    def commands(
        self, port: str, earlier: Headrooms, wanted: Headrooms, around: None = None
    ) -> Commands:
        """One line for each priority that differs."""
        before, after = dict(earlier), dict(wanted)
        words = ("priority-flow-control", "dot1p")
        lines = [line("undo", *words, p, "headroom") for p in before if p not in after]
        lines += [
            line(*words, priority, "headroom", cells)
            for priority, cells in wanted
            if before.get(priority) != cells
        ]
        return in_interface(self.switch.port(port), *lines)
