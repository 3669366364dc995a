"""A flow that is more than one process can send, as several, and their results as one.

Each process has a server, a client and a port of its own and is asked for its share of the rate.
"""

from dataclasses import replace
from itertools import zip_longest
from typing import Any

from labtests.capabilities.flows import FlowResult, FlowStatus, Interval
from labtests.core.units import BitsPerSecond
from labtests.workloads.streams import Stream

_SUMS = (
    "goodput_bits_per_s",
    "offered_bits_per_s",
    "sent_bits_per_s",
    "sent_bytes",
    "received_bytes",
    "sent_datagrams",
    "receive_buffer_bytes",
    "unsure_datagrams",
    "extra_packets",
    "received_datagrams",
    "lost_datagrams",
    "late_datagrams",
)


def parts(stream: Stream) -> tuple[Stream, ...]:
    """One stream for each process, all from the same sender to the same receiver."""
    return tuple(replace(stream, tool=tool) for tool in stream.tool.shares())


def together(results: tuple[FlowResult, ...]) -> FlowResult:
    """The one flow that they are: sums, and not COMPLETE unless all are. A figure that one of them
    did not report is not known of the whole."""
    if len(results) == 1:
        return results[0]
    return replace(
        results[0],
        status=_worst(results),
        because="; ".join(dict.fromkeys(one.because for one in results if one.because)),
        command=" & ".join(one.command for one in results),
        intervals=_rows(results),
        ran_s=min((one.ran_s for one in results if one.ran_s is not None), default=None),
        **{name: _sum([getattr(one, name) for one in results]) for name in _SUMS},
        retries=tuple(retry for one in results for retry in one.retries),
    )


def _worst(results: tuple[FlowResult, ...]) -> FlowStatus:
    statuses = {one.status for one in results}
    order = (FlowStatus.INFRASTRUCTURE, FlowStatus.FAILED)
    return next((status for status in order if status in statuses), FlowStatus.COMPLETE)


def _rows(results: tuple[FlowResult, ...]) -> tuple[Interval, ...]:
    """Row by row their sum; a process without a row of that number sent nothing then."""
    rows = zip_longest(*(one.intervals for one in results))
    return tuple(_row([part for part in row if part is not None]) for row in rows)


def _row(row: list[Interval]) -> Interval:
    return Interval(
        start_s=min(part.start_s for part in row),
        end_s=max(part.end_s for part in row),
        goodput_bits_per_s=BitsPerSecond(sum(part.goodput_bits_per_s for part in row)),
    )


def _sum(figures: list[Any]) -> Any:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if len(known) == len(figures) else None
