"""Queues that share a port by weights, below those that are strict."""

from collections.abc import Callable

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
