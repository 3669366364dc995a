"""Queues that share a port by weights, below those that are strict."""

from collections.abc import Callable
from dataclasses import replace

from labtests.capabilities.device import Shares
from labtests.capabilities.records import QueueSchedule, SchedulingSetting


def round_robin(shares: Shares, weight_of: Callable[[int], int] = int) -> SchedulingSetting:
    """By bytes, each queue with the weight of its share."""
    queues = (
        QueueSchedule(queue=queue, group="sp", weight=None)
        if share is None
        else QueueSchedule(queue=queue, group="1", weight=weight_of(share))
        for queue, share in enumerate(shares)
    )
    return SchedulingSetting(discipline="wrr", unit="byte-count", queues=tuple(queues))


def in_levels(scheduling: SchedulingSetting, shared: int) -> SchedulingSetting:
    """The same by levels: the highest strict queue in the first, and below all strict queues those
    that share, in the level `shared`."""
    strict = sorted((each.queue for each in scheduling.queues if each.weight is None), reverse=True)
    queues = (
        replace(each, level=strict.index(each.queue) if each.weight is None else shared)
        for each in scheduling.queues
    )
    return replace(scheduling, queues=tuple(queues))


def with_most(scheduling: SchedulingSetting, queue: int, most_bits_per_s: int) -> SchedulingSetting:
    """The same, but this queue is held to this rate."""
    queues = (
        replace(each, most_bits_per_s=most_bits_per_s) if each.queue == queue else each
        for each in scheduling.queues
    )
    return replace(scheduling, queues=tuple(queues))
