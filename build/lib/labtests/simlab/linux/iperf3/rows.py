"""iperf3's text: headings, rows of streams and sums.

Formats: esnet/iperf src/iperf_locale.c of 3.12, held against recordings.
"""

from dataclasses import dataclass

from labtests.simlab.linux.iperf3 import units

SEPARATOR = "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
SERVER_RULER = "-" * 59 + "\n"
_START = "[ ID] Interval           Transfer     Bitrate"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """What one stream (or all together) did between two times. None: not known to this side."""

    start_s: float
    end_s: float
    seconds: float  # measured; differs from end - start by rounding only
    sent_bytes: int = 0
    packets: int = 0
    lost: int = 0
    jitter_ms: float = 0.0
    retransmits: int = 0
    congestion_window: int = 0

    @property
    def bits_per_s(self) -> float:
        """Payload bits a second."""
        return self.sent_bytes * 8 / self.seconds if self.seconds > 0 else 0.0

    @property
    def lost_percent(self) -> float:
        """Of all datagrams."""
        return 100.0 * self.lost / self.packets if self.packets else 0.0


def heading(*, udp: bool, sender: bool, summary: bool = False) -> str:
    """The line above rows."""
    if not udp:
        tail = "         Retr" + ("" if summary else "  Cwnd") if sender else ""
    elif sender and not summary:
        tail = "         Total Datagrams"
    else:
        tail = "         Jitter    Lost/Total Datagrams"
    return f"{_START}{tail}\n"


def start_of(name: str, span: IntervalRow) -> str:
    """`[  5]   0.00-1.00   sec  2.39 GBytes  20.5 Gbits/sec`."""
    amount, rate = units.byte_count(span.sent_bytes), units.bit_rate(span.bits_per_s)
    return f"[{name:>3}] {span.start_s:6.2f}-{span.end_s:<6.2f} sec  {amount}  {rate}/sec"


def tcp_row(name: str, span: IntervalRow, *, sender: bool) -> str:
    """One interval of a TCP stream (a sender has Retr and Cwnd), or of their sum."""
    start = start_of(name, span)
    if not sender:
        return f"{start}                  \n"
    if name == "SUM":
        return f"{start}  {span.retransmits:3}             \n"
    window = units.byte_count(span.congestion_window)
    return f"{start}  {span.retransmits:3}   {window}       \n"


def tcp_summary(name: str, span: IntervalRow, role: str) -> str:
    """`sender` rows have Retr."""
    start = start_of(name, span)
    if role == "receiver":
        return f"{start}                  receiver\n"
    return f"{start}  {span.retransmits:3}             sender\n"


def udp_row(name: str, span: IntervalRow, *, sender: bool) -> str:
    """One interval of a UDP stream."""
    if sender:
        return f"{start_of(name, span)}  {span.packets}  \n"
    return udp_summary(name, span, "")


def udp_summary(name: str, span: IntervalRow, role: str) -> str:
    """Jitter and losses; a sender's own are zero."""
    return (
        f"{start_of(name, span)}  {span.jitter_ms:5.3f} ms  "
        f"{span.lost}/{span.packets} ({span.lost_percent:.2g}%)  {role}\n"
    )
