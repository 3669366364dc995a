"""Who is served before whom: SchedulingSettings of bands and of htb classes, without a device.

`level` says who is served before whom (0 first, equals share by weight), a weight is a quantum in
bytes. htb keeps a quantum for every queue, also for one that is alone in its level.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from labtests.capabilities.records import QueueSchedule, SchedulingSetting
from labtests.drivers.linux_switch.classes import HtbClass
from labtests.drivers.linux_switch.qdiscs import Bands

Queues = tuple[QueueSchedule, ...]
WHOLE_PORT = (QueueSchedule(queue=0, group="sp", weight=None, level=0),)
"""A port that nothing divides: one queue, served alone."""


def of_bands(bands: Bands) -> Queues:
    """prio serves band 0 first; so does ets its strict bands, and then the others by quantum."""
    strict = (
        QueueSchedule(queue=band, group="sp", weight=None, level=band)
        for band in range(bands.strict)
    )
    shared = (
        QueueSchedule(queue=bands.strict + n, group="1", weight=quantum, level=bands.strict)
        for n, quantum in enumerate(bands.quanta_bytes)
    )
    return (*strict, *shared)


def of_classes(classes: Sequence[HtbClass]) -> Queues:
    """Queues in the order of their classes; a level is htb's prio."""
    return _grouped(
        QueueSchedule(queue=queue, group="1", weight=each.quantum_bytes, level=each.prio)
        for queue, each in enumerate(classes)
    )


def setting(queues: Queues) -> SchedulingSetting:
    """The record of them."""
    strict = all(each.group == "sp" for each in queues)
    return SchedulingSetting(
        discipline="sp" if strict else "wrr", unit="" if strict else "byte-count", queues=queues
    )


def meant(wanted: SchedulingSetting, now: Queues, *, htb: bool) -> Queues | None:
    """What a setting means at a port whose queues are served as `now`: queues that the port has
    not are left out, and where no level is given strict queues come first: with htb the highest
    number before all, with bands 0. None when a queue of the port is not in the setting."""
    asked = {each.queue: each for each in wanted.queues}
    if any(each.queue not in asked for each in now):
        return None
    mine = [asked[each.queue] for each in now]
    strict = [each.queue for each in mine if each.group == "sp"]
    order = sorted(strict, reverse=htb)
    levelled = (
        each if each.level is not None else replace(each, level=_level(each, order))
        for each in mine
    )
    if not htb:
        return tuple(levelled)
    return _grouped(
        each if each.weight is not None else replace(each, weight=old.weight)
        for each, old in zip(levelled, now, strict=True)
    )


def _level(each: QueueSchedule, order: Sequence[int]) -> int:
    return order.index(each.queue) if each.group == "sp" else min(len(order), 7)


def _grouped(queues: Iterable[QueueSchedule]) -> Queues:
    """Alone in its level is strict priority, whatever the weight."""
    found = tuple(queues)
    levels = [each.level for each in found]
    return tuple(
        replace(each, group="sp" if levels.count(each.level) == 1 else "1") for each in found
    )
