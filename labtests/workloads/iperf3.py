"""iperf3 as a workload: command lines and judgement.

The client runs with `-J`, so its figures are exact and come at its end; its exit status says
nothing (3.12 exits with 0 after an error). The server prints text, because in JSON it would not say
that it listens; with `-1` it ends after its one test.
"""

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from labtests.capabilities.flows import FlowResult, FlowStatus, Interval
from labtests.core.errors import UnreadableOutput, WorkloadError
from labtests.core.output import lines_said
from labtests.core.units import BitsPerSecond, Bytes
from labtests.transport.commands import Shell, program
from labtests.workloads.attempt import Attempt, Party, signal_of
from labtests.workloads.iperf3_json import parse_json
from labtests.workloads.iperf3_report import Iperf3Report
from labtests.workloads.iperf3_uncounted import first_datagrams

_LATE = re.compile(r" (\d{1,18}) datagrams received out-of-order$", re.MULTILINE)
_SERVER_ENDED = re.compile(r" receiver$", re.MULTILINE)
_LINE_BUFFERED = ("stdbuf", "-oL")
_INTERRUPTED = "interrupt - the client has terminated"
_MAY_PASS = ("unable to connect to server", "server is busy")
_ENDS_WITHIN_S = 5.0  # after its duration, both sides' results exchanged; then it hangs

PROCESS_BITS_PER_S = 10e9
PROCESS_DATAGRAMS_PER_S = 300_000
"""What one process is asked to send over UDP. Up to 3.15 all its streams share one thread, so that
-P adds nothing. 10 Gbit/s in datagrams of 65500 bytes it did in document 000; 300 000 system calls
a second are what one core of an older server still makes (3.5 Gbit/s in packets of 1472 bytes)."""

MOST_PROCESSES = 16
"""For one flow: more would only wait for each other on the cores of a usual server."""

FIRST_PORT, PORTS_APART = 5201, 100
"""Between the processes of one flow: flows themselves have ports side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3:
    """One UDP or TCP flow of `duration_s`. `offered_bits_per_s` None: as fast as it can."""

    name = "iperf3"
    of_rdma, probes, pulls = False, False, False
    protocol: Literal["udp", "tcp"]
    tos: int
    port: int = FIRST_PORT
    offered_bits_per_s: float | None
    duration_s: int = 1
    datagram_bytes: int = 65500
    parallel: int = 1
    interval_s: float = 1
    window_bytes: int | None = None  # of the sockets at both ends; None: the kernel's default

    def __post_init__(self) -> None:
        if not (0 <= self.tos <= 255 and 0 < self.port < 65536):
            raise WorkloadError(f"iperf3: TOS {self.tos} or port {self.port} is out of range")
        if self.window_bytes is not None and self.window_bytes < 1:
            raise WorkloadError(
                f"iperf3: a socket buffer of {self.window_bytes} bytes is not possible"
            )
        if self.duration_s < 1 or self.parallel < 1 or not 0.1 <= self.interval_s <= 60:
            raise WorkloadError(
                f"iperf3: {self.duration_s} s, {self.parallel} streams or a report every "
                f"{self.interval_s:g} s (0.1 to 60) is out of range"
            )

    def of_flow(self, number: int, *, seconds: float, row_every_s: int) -> "Iperf3":
        """See FlowTool."""
        port, duration_s = FIRST_PORT + number, math.ceil(seconds)
        return replace(self, port=port, duration_s=duration_s, interval_s=row_every_s)

    def shares(self) -> tuple["Iperf3", ...]:
        """Each with its share of the rate and a port of its own."""
        if self.processes == 1 or self.offered_bits_per_s is None:
            return (self,)
        share = self.offered_bits_per_s / self.processes
        ports = range(self.port, self.port + self.processes * PORTS_APART, PORTS_APART)
        return tuple(replace(self, port=port, offered_bits_per_s=share) for port in ports)

    @property
    def processes(self) -> int:
        """How many it takes to send this over UDP. TCP, and what has no rate, is left to one."""
        if self.protocol == "tcp" or self.offered_bits_per_s is None:
            return 1
        datagrams_per_s = self.offered_bits_per_s / (8 * self.datagram_bytes)
        cores = max(
            self.offered_bits_per_s / PROCESS_BITS_PER_S, datagrams_per_s / PROCESS_DATAGRAMS_PER_S
        )
        return min(max(math.ceil(cores), 1), MOST_PROCESSES)

    @property
    def first_report_s(self) -> float:
        """The report is printed at the end."""
        return float(self.duration_s)

    @property
    def ends_after_s(self) -> float | None:
        """It ends by itself."""
        return float(self.duration_s)

    def server_command(self, server: Party, *, rdma: str | None) -> Shell:
        """`iperf3 -s -p PORT -1`."""
        return program(*_LINE_BUFFERED, "iperf3", "-s", "-p", self.port, "-1")

    def client_command(self, server: Party, *, rdma: str | None) -> Shell:
        """As in document 000: `iperf3 -c ADDRESS -p 1000 -t 100 -i 2 -S 0x60 -u -b 10g ...`."""
        words = ["iperf3", "-c", server.address, "-p", str(self.port)]
        words += ["-t", str(self.duration_s), "-i", f"{self.interval_s:g}", "-S", hex(self.tos)]
        if self.protocol == "udp" or self.offered_bits_per_s is not None:
            each = (self.offered_bits_per_s or 0) / self.parallel  # 0: no limit
            words += [*(["-u"] if self.protocol == "udp" else []), "-b", f"{each:.0f}"]
        if self.protocol == "udp":
            words += ["-l", str(self.datagram_bytes)]
        if self.window_bytes is not None:
            words += ["-w", str(self.window_bytes)]
        if self.parallel > 1:
            words += ["-P", str(self.parallel)]
        return program(*_LINE_BUFFERED, *words, "-J")

    def is_ready(self, server_output: str) -> bool:
        """It says on which port it listens."""
        return f"Server listening on {self.port}" in server_output

    def is_running(self, client_output: str, server_output: str) -> bool:
        """The server has a client. (In JSON the client says nothing before its end.)"""
        return "Accepted connection from" in server_output

    def may_retry(self, attempt: Attempt) -> bool:
        """It never connected, in words that another try may not meet."""
        said = attempt.client.text + attempt.client.errors
        return attempt.running_s is None and any(words in said for words in _MAY_PASS)

    def judge(self, blank: FlowResult, attempt: Attempt) -> FlowResult:
        """COMPLETE only with a whole report of a whole test in which both sides counted."""
        failed = FlowStatus.INFRASTRUCTURE if attempt.running_s is None else FlowStatus.FAILED
        complaints = _complaints(attempt)
        if not attempt.client.text.strip():
            because = complaints or "it printed no report"
            return replace(blank, status=failed, because=because)
        try:
            report = parse_json(attempt.client)
        except UnreadableOutput as unreadable:
            because = "; ".join(filter(None, (unreadable.problem, complaints)))
            return replace(blank, status=failed, because=because)
        against = _error(report, attempt) or complaints
        started = bool(report.spans)
        if against:
            status = FlowStatus.FAILED if started else FlowStatus.INFRASTRUCTURE
        else:
            against = _implausible(self, report, attempt)
            status = FlowStatus.FAILED if against else FlowStatus.COMPLETE
        return replace(_seen(self, blank, report, attempt), status=status, because=against)


def _complaints(attempt: Attempt) -> str:
    """What it said on stderr, and how it ended when that was not as it should."""
    words = [s for s in lines_said(attempt.client.errors) if not s.startswith("warning:")]
    status = attempt.client.status
    if not attempt.ended_by_us and status:
        words.append(f"exit status {status}{signal_of(status)}")
    if attempt.server_left_early:
        server = attempt.server
        words.append(f"its server on {server.device} ended with status {server.status}")
        words += lines_said(server.errors)
    return "; ".join(dict.fromkeys(words))


def _error(report: Iperf3Report, attempt: Attempt) -> str:
    """The error of the report, unless we interrupted it."""
    if attempt.ended_by_us and report.error == _INTERRUPTED and not attempt.server_left_early:
        return ""
    return report.error


def _implausible(tool: Iperf3, report: Iperf3Report, attempt: Attempt) -> str:
    """Why a report without an error is still no proof of traffic."""
    checks = (
        _of_another_run(tool, report),
        _stood_still(tool, report, attempt),
        "" if attempt.ended_by_us else _of_another_length(tool, report),
    )
    return next((problem for problem in checks if problem), "")


def _of_another_run(tool: Iperf3, report: Iperf3Report) -> str:
    if report.protocol is not None and report.protocol != tool.protocol.upper():
        return f"it ran {report.protocol}, not {tool.protocol.upper()}"
    if report.tos is not None and report.tos != tool.tos:
        return f"it used TOS {report.tos}, not {tool.tos}"
    if not any(span.payload_bytes for span in report.spans):
        return "it sent nothing in any interval"
    return ""


def _stood_still(tool: Iperf3, report: Iperf3Report, attempt: Attempt) -> str:
    """A process that was stopped prints one long row when it goes on (recorded with 3.18: it makes
    up for the lost time in one burst, so that its means look as they should)."""
    for span in report.spans:
        if span.length_s > 2 * tool.interval_s + 1:
            return (
                f"it stalled: its row of {span.start_s:.1f} s to {span.end_s:.1f} s should be "
                f"of {tool.interval_s:g} s"
            )
    for one, other in pairwise(report.spans):
        if other.start_s - one.end_s > tool.interval_s / 2:
            return f"its report has no row of {one.end_s:.1f} s to {other.start_s:.1f} s"
    if not attempt.ended_by_us or attempt.running_s is None:
        return ""
    late_s = attempt.ended_s - attempt.running_s - tool.duration_s
    if late_s > _ENDS_WITHIN_S:
        return f"it had not ended {late_s:.1f} s after its {tool.duration_s} s were over"
    return ""


def _of_another_length(tool: Iperf3, report: Iperf3Report) -> str:
    """It ended by itself, but not when it should have, or without the receiver's figures."""
    spans, sent = report.spans, report.sent
    if spans[-1].end_s < tool.duration_s - tool.interval_s:
        return f"it reported {spans[-1].end_s:g} s of {tool.duration_s} s"
    if sent is not None and sent.seconds > 1.1 * tool.duration_s + 1:
        return f"it sent for {sent.seconds:.1f} s, not {tool.duration_s} s"
    if report.received is None:
        return "the receiver counted nothing of what was sent"
    return ""


def _seen(tool: Iperf3, blank: FlowResult, report: Iperf3Report, attempt: Attempt) -> FlowResult:
    """The report's figures. What a side did not count stays None."""
    sent, received = report.sent, report.received
    missed = received.lost_datagrams if received else None
    arrived = received.datagrams if received else None
    offset_s = attempt.running_s
    return replace(
        blank,
        intervals=()
        if offset_s is None
        else tuple(
            Interval(
                start_s=offset_s + span.start_s,
                end_s=offset_s + span.end_s,
                goodput_bits_per_s=span.goodput_bits_per_s,
            )
            for span in report.spans
        ),
        goodput_bits_per_s=BitsPerSecond(received.goodput_bits_per_s) if received else None,
        sent_bits_per_s=BitsPerSecond(sent.goodput_bits_per_s) if sent else None,
        asked_s=None if attempt.ended_by_us else float(tool.duration_s),
        ran_s=sent.seconds if sent else None,
        sent_bytes=sent.payload_bytes if sent else None,
        received_bytes=received.payload_bytes if received else None,
        sent_datagrams=sent.datagrams if sent else None,
        receive_buffer_bytes=_receive_buffer_bytes(tool, report),
        unsure_datagrams=_unsure_datagrams(tool, report),
        extra_packets=_extra_packets(tool, report),
        received_datagrams=None if arrived is None or missed is None else arrived - missed,
        lost_datagrams=missed,
        late_datagrams=_late_datagrams(attempt.server.text),
        retransmits=sent.retransmits if sent else None,
    )


def _receive_buffer_bytes(tool: Iperf3, report: Iperf3Report) -> Bytes | None:
    """The client tells its own; the server's is asked for alike, or the default of a host alike."""
    if report.receive_buffer_bytes is None:
        return None
    return Bytes(tool.parallel * report.receive_buffer_bytes)


def _late_datagrams(server: str) -> int | None:
    """Only the server says it, a line for each stream that had some: the client's report has an
    `out_of_order`, always 0 (3.12). A server that did not come to its end says nothing."""
    if not _SERVER_ENDED.search(server):
        return None
    return sum(int(found) for found in _LATE.findall(server))


def _extra_packets(tool: Iperf3, report: Iperf3Report) -> int | None:
    """Beside the counted datagrams."""
    if tool.protocol == "tcp":
        return None
    return first_datagrams(report.version, tos=tool.tos, streams=tool.parallel)


def _unsure_datagrams(tool: Iperf3, report: Iperf3Report) -> int | None:
    """A datagram is counted before it is written. From 3.16 on, each stream's thread may be ended
    in the middle of that (counted with 3.18: of 4 streams that waited for their link, none or one
    was not sent). What was written is in its bytes, what arrived has left."""
    sent, received = report.sent, report.received
    if sent is None or sent.datagrams is None:
        return None
    proven = sent.payload_bytes // tool.datagram_bytes
    if received is not None and received.datagrams is not None:
        proven = max(proven, received.datagrams)
    return max(sent.datagrams - proven, 0)
