"""What the switch's gNMI server has: OpenConfig, and NVIDIA's own leaves in it (metrics of Cumulus
Linux 5.16).

Counters are refreshed as those of `nv show`; lengths and occupancies are those of the moment. Peaks
since the last sample are those of the subscription that is told them.
"""

from collections.abc import Iterator

from labtests.simlab.cumulus.box import CumulusBox
from labtests.simlab.cumulus.chassis import CELL_BYTES, CumulusChassis
from labtests.simlab.streaming import openconfig
from labtests.simlab.streaming.served import Leaf, PeakRegister, Peaks, ServedValue

_NVIDIA = ("openconfig-qos-ext", "NVIDIA", "0.1.0")


def served(face: CumulusBox) -> ServedValue:
    """Of this switch."""
    box, ever = face.chassis, _Ever()

    def leaves(port: str, peaks: Peaks) -> Iterator[tuple[str, Leaf]]:
        ever.note(peaks)
        qos = f"openconfig:/qos/interfaces/interface[interface-id={port}]"
        yield from openconfig.interface(box, port, port)
        for path, value in (*_queues(box, port, ever), *_groups(box, port, peaks, ever)):
            yield f"{qos}/{path}", value

    models = (openconfig.INTERFACES, openconfig.QOS, _NVIDIA)
    return openconfig.served(box, leaves, models, peaks=PeakRegister(box.network))


class _Ever:
    """The most since the switch has started: samples clear what the chip has."""

    def __init__(self) -> None:
        self.queue: dict[tuple[str, int], int] = {}
        self.headroom: dict[tuple[str, int], int] = {}

    def note(self, peaks: Peaks) -> None:
        """These have been read."""
        for held, new in ((self.queue, peaks.queue), (self.headroom, peaks.headroom)):
            for key, cells in new.items():
                held[key] = max(held.get(key, 0), cells)


def _queues(box: CumulusChassis, port: str, ever: _Ever) -> Iterator[tuple[str, Leaf]]:
    live = box.network.queue_counters(port)
    for number, queue in enumerate(box.shown.queue_counters(port)):
        most = max(live[number].peak_cells, ever.queue.get((port, number), 0))
        for leaf, value in (
            *openconfig.sent(queue),
            ("ecn-marked-pkts", queue.marked_packets),
            ("wred-dropped-pkts", queue.wred_dropped_packets),
            ("no-buffer-uc-dropped-pkts", queue.dropped_packets - queue.wred_dropped_packets),
            ("instant-queue-len", live[number].length_cells * CELL_BYTES),
            ("max-queue-len", most * CELL_BYTES),
        ):
            yield f"output/queues/queue[name={number}]/state/{leaf}", value


def _groups(
    box: CumulusChassis, port: str, peaks: Peaks, ever: _Ever
) -> Iterator[tuple[str, Leaf]]:
    pauses = box.shown.pfc_counters(port)
    for number, group in enumerate(box.network.group_counters(port)):
        counters = f"switch-priority[priority={number}]/state/counters"
        yield f"{counters}/in-pause-pkts", pauses[number].rx_frames
        yield f"{counters}/out-pause-pkts", pauses[number].tx_frames
        yield f"{counters}/in-discards", group.headroom_drops + group.buffer_drops
        key = (port, number)
        lately = max(peaks.headroom.get(key, 0), group.headroom_used_cells)
        most = max(group.peak_headroom_cells, ever.headroom.get(key, 0))
        primary = f"input/headroom-buffer[buffer-type=primary]/priority-group[pg-id={number}]/state"
        for leaf, cells in (
            ("instant-occupancy", group.headroom_used_cells),
            ("max-occupancy-since-last-sample", lately),
            ("max-occupancy", most),
        ):
            yield f"{primary}/{leaf}", cells * CELL_BYTES
