"""perftest's bandwidth tables, text -> records (format: linux-rdma/perftest perftest_parameters.h).

A figure is read only from a row that is complete: as many columns as its header, each with the
decimals that the tool prints (2, or 6 where the average is below 0.1 Gb/s; MsgRate always 6). A row
that was cut in its last number has fewer. Every row is checked once more against itself: average =
message rate x message size, in the header's unit. What breaks a rule is refused, never skipped.
"""

import re
from dataclasses import dataclass, field, replace

from labtests.core.output import quoted_excerpt
from labtests.core.units import BitsPerSecond, gbit_per_second, mib_per_second
from labtests.drivers.parsing import lines, refuse
from labtests.transport.protocol import Reply

_UNITS = {"Gb/sec": gbit_per_second, "MB/sec": mib_per_second, "MiB/sec": mib_per_second}
_DECIMALS = r"[0-9]+\.(?:[0-9]{6}|[0-9]{2})"
_RATE = r"[0-9]+\.[0-9]{6}"
_COLUMNS = (
    ("bytes", r"#bytes", r"[0-9]+"),
    ("level", r"#sl", r"[0-9]+"),
    ("iterations", r"#iterations", r"[0-9]+"),
    ("peak", r"BW peak\[(?P<peak_unit>[^\]]+)\]", _DECIMALS),
    ("average", r"BW average\[(?P<average_unit>[^\]]+)\]", _DECIMALS),
    ("rate", r"MsgRate\[Mpps\]", _RATE),
    ("average1", r"BW Port1\[[^\]]+\]", _DECIMALS),
    ("rate1", r"MsgRate Port1\[Mpps\]", _RATE),
    ("average2", r"BW Port2\[[^\]]+\]", _DECIMALS),
    ("rate2", r"MsgRate Port2\[Mpps\]", _RATE),
    ("cpu", r"CPU_Util\[%\]", r"[0-9]+\.[0-9]{2}"),
)
_OPTIONAL = {"level", "rate", "average1", "rate1", "average2", "rate2", "cpu"}
_HEADER = re.compile(
    r"\s*"
    + "".join(
        rf"(?:(?P<{name}>{title})(?:\s+|$))" + ("?" if name in _OPTIONAL else "")
        for name, title, _ in _COLUMNS
    )
    + "$"
)
_TITLE = re.compile(r"\s*(?P<test>(?:Send|RDMA_Write|RDMA_Read|Atomic|Raw)\b.*?) BW Test\s*$")
_TOS = re.compile(r".*\bTOS\s*:\s*(?P<tos>[0-9]+)\s*$")
_RULER = re.compile(r"\s*-{3,}\s*$")
_SECTION = re.compile(r"\s*(?P<section>Local|Remote) results:\s*$")
_STARTS_LIKE_A_ROW = re.compile(r"\s*[-+]?(?:[0-9]|\.[0-9]|nan\b|inf\b)", re.IGNORECASE)
_HOLDS_A_ROW = re.compile(r"\b[0-9]+\s+[0-9]+\s+-?[0-9]+\.[0-9]+\s+-?[0-9]+\.[0-9]+")
_BARE_NUMBER = re.compile(r"\s*-?[0-9]+\.[0-9]*\s*$")
_NOT_A_FIGURE = re.compile(r"(?<![\w.])-[0-9]|\b(?:nan|inf)\b", re.IGNORECASE)

_WHOLE = "give the tool's own output, whole, without log prefixes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PerftestRow:
    """One row: the goodput of `iterations` messages of `message_bytes` each."""

    message_bytes: int
    iterations: int
    goodput_bits_per_s: BitsPerSecond
    messages_per_s: float | None = None  # None: a build from before the MsgRate column
    section: str = ""  # --report-both: "local" and "remote" follow the sum of both

    @property
    def rate_is_known(self) -> bool:
        """Messages at a rate of 0: the tool could not measure its CPU's clock, so it divided by
        nothing (get_clock.c says `Correlation coefficient r^2: ... < 0.9`; seen on busy guests)."""
        return bool(self.goodput_bits_per_s) or not self.iterations


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one side printed. `started`: its table began."""

    test: str | None = None  # "Send", "RDMA_Write Bidirectional", ...; None: no title was printed
    tos: int | None = None
    started: bool = False
    rows: tuple[PerftestRow, ...] = ()
    others: tuple[str, ...] = ()  # every other line: parameters, libraries, hooks, complaints


def parse_report(reply: Reply) -> Report:
    """The report in this output. No table is no row; a row that is cut or cannot be is refused."""
    reader = _PerftestReader(reply)
    for number, line in enumerate(lines(reply), start=1):
        reader.read(line, number)
    return replace(reader.report, rows=tuple(reader.rows), others=tuple(reader.others))


@dataclass(slots=True)
class _PerftestReader:
    """One pass over the lines. `columns` is None outside a table."""

    reply: Reply
    report: Report = field(default_factory=Report)
    rows: list[PerftestRow] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    section: str = ""
    unit: str = ""
    columns: re.Pattern[str] | None = None

    def read(self, line: str, number: int) -> None:
        """Take one line in."""
        if _RULER.match(line):
            self.columns = None
        elif "#bytes" in line:
            self._begin_table(line, number)
        elif self.columns is not None and _STARTS_LIKE_A_ROW.match(line):
            self._read_row(self.columns, line, number)
        elif _HOLDS_A_ROW.search(line) or _BARE_NUMBER.match(line):
            shown = quoted_excerpt(line)
            problem = f"line {number} has figures, but not as a row below a header: {shown}"
            refuse(self.reply, problem, _WHOLE)
        elif line.strip():
            self._note(line, number)

    def _begin_table(self, line: str, number: int) -> None:
        header = _HEADER.match(line)
        if header is None:
            problem = (
                f"line {number} is not the header of a bandwidth table: {quoted_excerpt(line)}"
            )
            refuse(self.reply, problem, _WHOLE)
        if header["peak_unit"] != header["average_unit"] or header["peak_unit"] not in _UNITS:
            refuse(self.reply, f"line {number} has an unknown unit, or two: {quoted_excerpt(line)}")
        self.unit = header["average_unit"]
        wanted = [rf"(?P<{name}>{figure})" for name, _, figure in _COLUMNS if header[name]]
        self.columns = re.compile(r"\s*" + r"\s+".join(wanted) + r"(?![0-9.])(?P<rest>.*)$")
        self.report = replace(self.report, started=True)

    def _read_row(self, columns: re.Pattern[str], line: str, number: int) -> None:
        """Read a row. Text glued to its end is a line of its own: the tool flushes a row before its
        newline, so whoever prints next (stderr, the shell) may follow at once."""
        match = columns.match(line)
        if _NOT_A_FIGURE.search(line):
            refuse(
                self.reply,
                f"line {number} has an impossible figure: {quoted_excerpt(line)}",
                _WHOLE,
            )
        if match is None or _STARTS_LIKE_A_ROW.match(match["rest"]):
            shown = quoted_excerpt(line)
            problem = f"line {number} is cut, or has other columns than its header: {shown}"
            refuse(self.reply, problem, _WHOLE)
        self.rows.append(self._row(match, number))
        self.read(match["rest"], number)

    def _row(self, match: re.Match[str], number: int) -> PerftestRow:
        figures = match.groupdict()
        to_bits = _UNITS[self.unit]
        rate = figures.get("rate")
        row = PerftestRow(
            message_bytes=int(figures["bytes"]),
            iterations=int(figures["iterations"]),
            goodput_bits_per_s=to_bits(float(figures["average"])),
            messages_per_s=float(rate) * 1e6 if rate else None,
            section=self.section,
        )
        self._check(row, to_bits(_last_digit(figures["average"])), number)
        return row

    def _check(self, row: PerftestRow, last_digit_bits_per_s: float, number: int) -> None:
        """Average = message rate x message size, up to the rounding of both (print_report_bw in
        perftest_parameters.c computes both from the same cycles)."""
        if row.messages_per_s is None:
            return
        message_bits = row.message_bytes * 8
        rounding = (last_digit_bits_per_s + message_bits) * 0.51  # MsgRate's last digit: 1 per s
        if abs(row.goodput_bits_per_s - row.messages_per_s * message_bits) > rounding:
            problem = (
                f"line {number} contradicts itself: {row.messages_per_s:g} messages/s of "
                f"{row.message_bytes} bytes are not {row.goodput_bits_per_s:g} bit/s"
            )
            refuse(self.reply, problem, _WHOLE)

    def _note(self, line: str, number: int) -> None:
        """Anything else: parameters, banners, and lines of others."""
        if (title := _TITLE.match(line)) is not None:
            if self.report.started:
                problem = f"line {number} begins a second report: {quoted_excerpt(line.strip())}"
                refuse(self.reply, problem, "give the output of one side of one run")
            self.report = replace(self.report, test=title["test"])
        elif (section := _SECTION.match(line)) is not None:
            self.section = section["section"].lower()
        elif (tos := _TOS.match(line)) is not None:
            self.report = replace(self.report, tos=int(tos["tos"]))
        else:
            self.others.append(line)


def _last_digit(figure: str) -> float:
    """The weight of the last digit printed."""
    return float(10.0 ** -len(figure.partition(".")[2]))
