"""What iperf3 reported, as records, and what no report can say."""

from dataclasses import dataclass

from labtests.core.units import BitsPerSecond, Bytes
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

TINY_SHARE = 0.1
"""A last interval shorter than this share of the others is the tail of the test (`5.00-5.00`)."""

ROUNDING_S = 0.011
"""How far a printed time may be off by rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3Interval:
    """One interval, all streams together; times are seconds since the test began."""

    start_s: float
    end_s: float
    payload_bytes: Bytes
    goodput_bits_per_s: BitsPerSecond
    datagrams: int | None = None
    lost_datagrams: int | None = None
    retransmits: int | None = None

    @property
    def length_s(self) -> float:
        """How long it is."""
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """One side's sum over the test. At the receiver `datagrams` includes those it missed."""

    seconds: float
    payload_bytes: Bytes
    goodput_bits_per_s: BitsPerSecond
    datagrams: int | None = None
    lost_datagrams: int | None = None
    retransmits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3Report:
    """One test. A side that reported 0 bytes did not measure (a broken test): it is None. `error`
    is the tool's own word."""

    version: str | None = None
    protocol: str | None = None  # "TCP", "UDP"; None: not printed
    tos: int | None = None
    receive_buffer_bytes: Bytes | None = None  # of one socket; None: not printed
    spans: tuple[Iperf3Interval, ...] = ()
    sent: Totals | None = None
    received: Totals | None = None
    error: str = ""


def tidy(
    reply: Reply, spans: list[Iperf3Interval], nominal_s: float | None = None
) -> tuple[Iperf3Interval, ...]:
    """The intervals in order, without the tiny tail of a test that ended. The last one may be
    printed twice, as a test that broke off does (seen: peer killed, peer interrupted; it has an
    error then). Other overlaps are refused."""
    kept: list[Iperf3Interval] = []
    for span in spans:
        if kept and span == kept[-1]:
            continue
        if span.end_s < span.start_s or (kept and span.start_s < kept[-1].end_s - ROUNDING_S):
            refuse(reply, f"interval {span.start_s:g}-{span.end_s:g} s is out of order")
        kept.append(span)
    usual_s = nominal_s or max((span.length_s for span in kept), default=0.0)
    if len(kept) > 1 and kept[-1].length_s < TINY_SHARE * usual_s:
        kept.pop()
    return tuple(kept)


def measured(reply: Reply, totals: Totals) -> Totals | None:
    """These totals, or None when nothing was measured; impossible ones are refused."""
    if totals.payload_bytes == 0 or totals.datagrams == 0:
        return None
    lost, of = totals.lost_datagrams, totals.datagrams
    if lost is not None and of is not None and lost > of:
        refuse(reply, f"{lost} datagrams lost of {of} is impossible")
    return totals
