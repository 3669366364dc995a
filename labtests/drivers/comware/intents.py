"""What a profile asks of a Comware switch beyond the settings of the suites.

Syntax: `qos map-table dot1p-lp` from H3C's ACL and QoS references; `jumboframe enable SIZE` from
those of Ethernet interfaces; `priority-flow-control dot1p P headroom N` is in the PFC references of
S9825, S9855 and S12500 and in public configurations. The `undo` of the last is from memory.
"""

import re
from hashlib import sha256

from labtests.capabilities.device import Commands
from labtests.capabilities.profile import (
    DeviceWide,
    EcnCurves,
    FrameLimit,
    Headroom,
    Headrooms,
    QueueMap,
    QueueShares,
    Shares,
)
from labtests.capabilities.records import (
    EcnSetting,
    MarkingCurve,
    QueueSchedule,
    SchedulingSetting,
    WredQueue,
)
from labtests.drivers.comware import commands as lines
from labtests.drivers.comware.maps import parse_map_table
from labtests.drivers.comware.session import line
from labtests.drivers.comware.settings import Settings
from labtests.drivers.parsing import refuse

DEFAULT_FRAME_BYTES = 9216
"""What data-centre models pass at least when nothing is configured (S6850: 9416)."""
_QUEUE_MAP = ("display", "qos", "map-table", "dot1p-lp")
_JUMBO = re.compile(r"jumboframe enable(?: (?P<bytes>[0-9]+))?")
_HEADROOM = re.compile(
    r"priority-flow-control dot1p (?P<priority>[0-7]) headroom (?P<cells>[0-9]+)"
)
_LARGEST_WEIGHT = 127


class Intents(Settings, EcnCurves, QueueShares, QueueMap, FrameLimit, Headroom, DeviceWide):
    """Curves, shares, the dot1p-lp map, frame length and headroom."""

    def device_wide(self) -> frozenset[str]:
        """The maps are the switch's."""
        return frozenset({"dscp_map", "queue_map"})

    # -- ECN and scheduling in the field's units -------------------------------------------------

    def ecn_for(self, curves: tuple[MarkingCurve, ...], cell_bytes: int) -> EcnSetting:
        """A table of ours, named after its content, so that ports that mark alike share it.

        Models count limits in cells or in packets; here a unit stands for `cell_bytes`."""
        marking = {curve.queue: curve for curve in curves}
        queues = tuple(
            _wred(marking[q], cell_bytes) if q in marking else lines.default_curve(q, ecn=False)
            for q in lines.QUEUES
        )
        named = sha256(repr(queues).encode()).hexdigest()[:10]
        return EcnSetting(profile=f"{lines.OURS}-{named}", queues=queues)

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

    # -- 802.1p -> queue -------------------------------------------------------------------------

    def queue_map(self, port: str) -> tuple[int, ...]:
        """The local precedence, which is the queue, of each 802.1p priority, for all ports."""
        reply = self.cli.show(*_QUEUE_MAP)
        maps = [m for m in parse_map_table(reply) if not m.direction and not m.color]
        if [m.name for m in maps] != ["dot1p-lp"]:
            refuse(reply, "there is no map dot1p-lp without direction")
        return maps[0].values

    def queue_map_commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...]
    ) -> Commands:
        """In the map's view: one line for each priority that changes."""
        return lines.map_commands("dot1p-lp", earlier, wanted)

    def set_queue_map(self, port: str, wanted: tuple[int, ...]) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.queue_map_commands(port, self.queue_map(port), wanted))
        read = self.queue_map(port)
        self.cli.expect_read_back("the map dot1p-lp", read, wanted, same=read == wanted)

    # -- frames ----------------------------------------------------------------------------------

    def frame_limit(self, port: str) -> int | None:
        """From `jumboframe enable` in the port's configuration."""
        reply, section = self.cli.interface(self.cli.port(port))
        if "undo jumboframe enable" in section.lines:
            return 0
        found = [m for line in section.lines if (m := _JUMBO.fullmatch(line))]
        if len(found) > 1:
            refuse(reply, f"{section.interface} has two frame lengths")
        return int(found[0]["bytes"]) if found and found[0]["bytes"] else None

    def passes(self, limit: int | None, frame_bytes: int) -> bool:
        """Nothing configured: the model's default, which no command shows."""
        return frame_bytes <= (DEFAULT_FRAME_BYTES if limit is None else limit)

    def frame_limit_commands(self, port: str, earlier: int | None, wanted: int | None) -> Commands:
        """One line. Without a size it is the model's default again."""
        if earlier == wanted:
            return ()
        undo = ("undo",) if wanted == 0 else ()
        size = (wanted,) if wanted else ()
        change = line(*undo, "jumboframe", "enable", *size)
        return lines.in_interface(self.cli.port(port), change)

    def set_frame_limit(self, port: str, wanted: int | None) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.frame_limit_commands(port, self.frame_limit(port), wanted))
        read = self.frame_limit(port)
        self.cli.expect_read_back(f"frame length of {port}", read, wanted, same=read == wanted)

    # -- headroom --------------------------------------------------------------------------------

    def headroom(self, port: str) -> Headrooms:
        """Cells by priority, as configured on the port; a model's default is not shown."""
        _, section = self.cli.interface(self.cli.port(port))
        found = [m for line in section.lines if (m := _HEADROOM.fullmatch(line))]
        return tuple(sorted((int(m["priority"]), int(m["cells"])) for m in found))

    def headroom_commands(self, port: str, earlier: Headrooms, wanted: Headrooms) -> Commands:
        """One line for each priority that differs."""
        before, after = dict(earlier), dict(wanted)
        words = ("priority-flow-control", "dot1p")
        sent = [line("undo", *words, p, "headroom") for p in before if p not in after]
        sent += [
            line(*words, priority, "headroom", cells)
            for priority, cells in wanted
            if before.get(priority) != cells
        ]
        return lines.in_interface(self.cli.port(port), *sent)

    def set_headroom(self, port: str, wanted: Headrooms) -> None:
        """Apply it, and verify by read-back."""
        self.cli.configure(self.headroom_commands(port, self.headroom(port), wanted))
        read = self.headroom(port)
        self.cli.expect_read_back(f"headroom of {port}", read, wanted, same=read == wanted)


def _wred(curve: MarkingCurve, cell_bytes: int) -> WredQueue:
    return WredQueue(
        queue=curve.queue,
        low_limit=curve.kmin_bytes // cell_bytes,
        high_limit=max(curve.kmax_bytes // cell_bytes, curve.kmin_bytes // cell_bytes + 1),
        drop_probability_percent=curve.pmax_percent,
        weighting_exponent=curve.weighting_exponent,
        ecn=True,
    )
