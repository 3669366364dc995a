"""perftest (`ib_send_bw -R`, and write and read) as a workload: command lines and judgement.

Its exit status is never trusted alone: it exits 0 after its peer was killed, and with 0 iterations
(both recorded). What counts is a table with iterations in it, the end that was expected, and no
complaint.
"""

from dataclasses import dataclass, replace
from typing import Literal

from labtests.capabilities.flows import FlowResult, FlowStatus, Interval
from labtests.core.errors import UnreadableOutput, WorkloadError
from labtests.core.output import quoted_excerpt
from labtests.core.units import BitsPerSecond
from labtests.transport.commands import Shell, program
from labtests.workloads.attempt import Attempt, Party, signal_of
from labtests.workloads.perftest_report import PerftestRow, Report, parse_report
from labtests.workloads.perftest_words import (
    PerftestProgram,
    complaints_on_stderr,
    complaints_on_stdout,
)

_LINE_BUFFERED = ("stdbuf", "-oL")
"""Into a pipe perftest is block-buffered: its server's banner would only show at its end."""

Verb = Literal["send", "write", "read"]
_TITLES: dict[Verb, str] = {"send": "Send", "write": "RDMA_Write", "read": "RDMA_Read"}
"""What the title of its report begins with."""

FIRST_PORT = 18515
FEWEST_MESSAGES = 5
"""Of a queue pair (-n)."""
USUAL_MESSAGE_BYTES = 65536

_CLOCK_S = 2.0
"""Between two rows perftest may measure its CPU's clock, on a busy guest for so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perftest(PerftestProgram):
    """One RDMA flow, which runs until it is ended, a row every `report_every_s`; or until each
    queue pair has sent so many `messages`, with one row of all.

    `-T` sets the TOS byte of the queue pairs of rdma_cm only, so it is always used (`-R`). Of a
    read the client gets the data, and the server's NIC sends it.
    """

    probes = False
    tos: int
    port: int = FIRST_PORT
    report_every_s: int = 5
    verb: Verb = "send"
    message_bytes: int = USUAL_MESSAGE_BYTES
    queue_pairs: int = 1
    messages: int | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.tos <= 255 and 0 < self.port < 65536):
            raise WorkloadError(f"{self.name}: TOS {self.tos} or port {self.port} is out of range")
        if self.report_every_s < 1:
            raise WorkloadError(f"{self.name}: report_every_s must be at least 1")
        if not (1 <= self.message_bytes < 2**31 and 1 <= self.queue_pairs <= 16384):
            raise WorkloadError(
                f"{self.name}: messages of {self.message_bytes} bytes or {self.queue_pairs} queue "
                "pairs are out of range"
            )
        if self.messages is not None and not FEWEST_MESSAGES <= self.messages <= 2**32:
            raise WorkloadError(f"{self.name}: {self.messages} messages are out of range")

    @property
    def name(self) -> str:
        """The program."""
        return f"ib_{self.verb}_bw"

    @property
    def pulls(self) -> bool:
        """See FlowTool."""
        return self.verb == "read"

    def of_flow(self, number: int, *, seconds: float, row_every_s: int) -> "Perftest":
        """See FlowTool."""
        return replace(self, port=FIRST_PORT + number, report_every_s=row_every_s)

    @property
    def first_report_s(self) -> float:
        """The first row comes after one report interval; of a number of messages, behind them."""
        return float(self.report_every_s) if self.messages is None else 0.0

    def server_command(self, server: Party, *, rdma: str | None) -> Shell:
        """As in document 000: `ib_send_bw -d mlx5_0 --report_gbits -F --run_infinitely -R ...`."""
        return program(*_LINE_BUFFERED, *self._arguments(rdma))

    def client_command(self, server: Party, *, rdma: str | None) -> Shell:
        """The same command with the server's data address."""
        return program(*_LINE_BUFFERED, *self._arguments(rdma), server.address)

    def _arguments(self, rdma: str | None) -> list[str]:
        device = [] if rdma is None else ["-d", rdma]
        span = ["--run_infinitely", "-D", str(self.report_every_s)]
        if self.messages is not None:
            span = ["-n", str(self.messages)]
        marking = ["-R", "-T", str(self.tos)]
        load = [] if self.message_bytes == USUAL_MESSAGE_BYTES else ["-s", str(self.message_bytes)]
        load += [] if self.queue_pairs == 1 else ["-q", str(self.queue_pairs)]
        ends = ["-p", str(self.port)]
        return [self.name, *device, "--report_gbits", "-F", *span, *marking, *load, *ends]

    def judge(self, blank: FlowResult, attempt: Attempt) -> FlowResult:
        """COMPLETE only with iterations wherever they must be, and with nothing against it."""
        try:
            report = parse_report(attempt.client)
        except UnreadableOutput as unreadable:
            return replace(blank, status=FlowStatus.FAILED, because=unreadable.problem)
        against = _complaints(report, attempt)
        if not report.started:
            words = against or "it showed no table and said nothing"
            return replace(blank, status=FlowStatus.INFRASTRUCTURE, because=words)
        against = against or _implausible(self, report, attempt)
        rows = tuple(_with_rate(self, row) for row in report.rows if not row.section)
        return replace(
            blank,
            status=FlowStatus.FAILED if against else FlowStatus.COMPLETE,
            because=against,
            intervals=_intervals(self, rows, attempt),
            goodput_bits_per_s=_mean(rows),
            iterations=sum(row.iterations for row in rows) if rows else None,
            ran_s=None if self.messages is None else sum(_seconds(row) for row in rows) or None,
        )


def _complaints(report: Report, attempt: Attempt) -> str:
    """What the tool said was wrong, or how it ended when that was not as it should."""
    words = complaints_on_stderr(attempt.client.errors) + complaints_on_stdout(report.others)
    status = attempt.client.status
    if not attempt.ended_by_us and status:
        words = (*words, f"exit status {status}{signal_of(status)}")
    if attempt.server_left_early:
        server = complaints_on_stderr(attempt.server.errors)
        ended = f"its server on {attempt.server.device} ended with status {attempt.server.status}"
        words = (*words, ended, *server)
    return "; ".join(dict.fromkeys(words))


def _implausible(tool: Perftest, report: Report, attempt: Attempt) -> str:
    """Why the figures of a run that nobody complained about are still no proof of traffic."""
    checks = (
        _not_in_time(tool, attempt),
        _no_messages(report.rows),
        _not_as_asked(tool, report),
        _wrong_end(tool, report, attempt),
    )
    return next((problem for problem in checks if problem), "")


def _not_in_time(tool: Perftest, attempt: Attempt) -> str:
    if tool.messages is None or not attempt.ended_by_us:
        return ""
    return f"its {tool.messages * tool.queue_pairs} messages were not all sent when time was over"


def _wrong_end(tool: Perftest, report: Report, attempt: Attempt) -> str:
    """Of the time that it was asked for, or of the messages."""
    if tool.messages is None:
        if not attempt.ended_by_us:
            return "it ended by itself although it should run until stopped"
        return _rows_missing(tool, report, attempt)
    due, told = tool.messages * tool.queue_pairs, sum(row.iterations for row in report.rows)
    return "" if told == due else f"it tells of {told} messages, not of {due}"


def _no_messages(rows: tuple[PerftestRow, ...]) -> str:
    if not rows:
        return "it ended before its first report row"
    if not any(row.iterations for row in rows):
        return "0 iterations: not one message was completed"
    idle = _idle_stretches(rows)
    if idle[-1] > 1 + max(idle[:-1], default=-1):
        return f"no message was completed in its last {idle[-1]} report rows: it stalled"
    return ""


def _idle_stretches(rows: tuple[PerftestRow, ...]) -> list[int]:
    """How many rows without a message there were before each row with one, and at last after it.

    A flow that retransmits much pauses, as `-R -T 96` over RED does."""
    idle = [0]
    for row in rows:
        if row.iterations:
            idle.append(0)
        else:
            idle[-1] += 1
    return idle


def _not_as_asked(tool: Perftest, report: Report) -> str:
    """The report is of another run than the one asked for."""
    title = _TITLES[tool.verb]
    if report.test is not None and report.test.split()[0] != title:
        return f"it ran a {quoted_excerpt(report.test)} test, not {title!r}"
    if report.tos is not None and report.tos != tool.tos:
        return f"it used TOS {report.tos}, not {tool.tos}"
    sizes = {row.message_bytes for row in report.rows}
    if len(sizes) > 1:
        return f"it sent messages of {sorted(sizes)} bytes: rates of several sizes have no mean"
    if sizes - {tool.message_bytes}:
        return f"it sent messages of {max(sizes)} bytes, not {tool.message_bytes}"
    return ""


def _rows_missing(tool: Perftest, report: Report, attempt: Attempt) -> str:
    """There must be rows all the time, none much later than the one before; the
    last may be under way, and one may be missing because an interval began later than we saw the
    connection.

    The next interval begins when a row is printed, and for that the tool first measures its CPU's
    clock: 200 times 0.1 to 2.09 ms (get_clock.c), 0.22 s together, on a busy guest 2 s."""
    if attempt.running_s is None:
        return ""
    longest_s = 1.5 * tool.report_every_s + 1.0
    if attempt.silent_s is not None:  # watched: then a row may take as long as it does
        if attempt.silent_s > longest_s:
            return f"its last row came {attempt.silent_s:.1f} s before it was ended: it stalled"
        usual_s = (attempt.ended_s - attempt.running_s) / (len(report.rows) + 1)
        if attempt.pause_s > max(longest_s + _CLOCK_S, 2 * usual_s):
            return f"it stalled: no row for {attempt.pause_s:.1f} s in the middle of its run"
        return ""
    due = int((attempt.ended_s - attempt.running_s) / longest_s) - 1
    if len(report.rows) < due:
        return f"only {len(report.rows)} report rows where {due} were due: it stalled"
    return ""


def _with_rate(tool: Perftest, row: PerftestRow) -> PerftestRow:
    """A row that has messages and no rate: the rate of its messages over its time."""
    if row.rate_is_known or tool.messages is not None:
        return row
    rate = row.iterations * row.message_bytes * 8 / tool.report_every_s
    return replace(row, goodput_bits_per_s=BitsPerSecond(rate))


def _intervals(
    tool: Perftest, rows: tuple[PerftestRow, ...], attempt: Attempt
) -> tuple[Interval, ...]:
    """The rows on the lab's clock: one after the other since the client was connected.

    Between them is the time in which the tool measures its clock (_rows_missing). There were no
    more rows than these, so one took at least its share of the run with one row more."""
    if attempt.running_s is None:
        return ()
    if tool.messages is not None:
        return tuple(
            Interval(
                start_s=attempt.running_s,
                end_s=attempt.running_s + _seconds(row),
                goodput_bits_per_s=row.goodput_bits_per_s,
            )
            for row in rows
        )
    length_s = float(tool.report_every_s)
    share_s = (attempt.ended_s - attempt.running_s) / (len(rows) + 1)
    every_s = max(length_s, share_s)
    return tuple(
        Interval(
            start_s=attempt.running_s + number * every_s,
            end_s=attempt.running_s + number * every_s + length_s,
            goodput_bits_per_s=row.goodput_bits_per_s,
        )
        for number, row in enumerate(rows)
    )


def _seconds(row: PerftestRow) -> float:
    """What its messages took."""
    rate = row.goodput_bits_per_s
    return 8 * row.iterations * row.message_bytes / rate if rate else 0.0


def _mean(rows: tuple[PerftestRow, ...]) -> BitsPerSecond | None:
    """Rows are equally long, so their mean is the mean over the flow: of one message size."""
    if len({row.message_bytes for row in rows}) != 1:
        return None
    return BitsPerSecond(sum(row.goodput_bits_per_s for row in rows) / len(rows))
