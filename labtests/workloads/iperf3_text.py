"""iperf3's text, with or without its white space, text -> records: people paste it.

A server prints one test after the other, so a text is a tuple of tests. Its figures have three
digits; the JSON form is exact. Prefixes are 2**10 for bytes and 10**3 for bits (iperf's units.c).
"""

import re
from dataclasses import dataclass, field, replace

from labtests.core.units import BitsPerSecond, Bytes
from labtests.drivers.parsing import lines, refuse
from labtests.transport.protocol import Reply
from labtests.workloads.iperf3_report import (
    BROKE_OFF,
    Direction,
    Iperf3Report,
    Span,
    Totals,
    measured,
    tidy,
)

_STAMP = (  # --timestamps: the default of strftime, ISO 8601, a time of day, or seconds
    r"(?:(?:[A-Z]\w\w +[A-Z]\w\w +\d+ +[\d:]{8} +\d{4}|\d{4}-\d\d-\d\d[T ][\d:]{8}\S*"
    r"|\d\d:\d\d:\d\d|\d{9,11}(?:\.\d+)?) )?"
)
_ROW = re.compile(
    r"\[ *(?P<id>\d+|SUM)\](?:\[(?P<role>[TR]X-[CS])\])?"
    r" +(?P<start>\d+\.\d\d)-\s*(?P<end>\d+\.\d\d) +sec"
    r" +(?P<size>\d+(?:\.\d+)?) (?P<size_prefix>[KMGT]?)Bytes"
    r" +(?P<rate>\d+(?:\.\d+)?) (?P<rate_prefix>[KMGT]?)(?P<rate_unit>bits|Bytes)/sec(?P<rest>.*)$"
)
_RESTS = {
    "tcp sender": re.compile(r" +(?P<retransmits>\d+) +\d+(?:\.\d+)? [KMGT]?Bytes$"),
    "retransmits": re.compile(r" +(?P<retransmits>\d+)$"),
    "udp sender": re.compile(r" +(?P<datagrams>\d+)$"),
    "udp receiver": re.compile(
        r" +\d+\.\d+ ms +(?P<lost>-?\d+)/(?P<datagrams>\d+) \((?:[\d.e+-]+|-?nan)%\)$"
    ),
    "bytes": re.compile(r"$"),
}
_HEADER = re.compile(
    r"\[ *ID\](?P<roles>\[Role\])? +Interval +Transfer +(?:Bitrate|Bandwidth)(?P<rest>.*)$"
)
_COLUMNS = (
    ("Retr", "Cwnd"),
    ("Retr",),
    ("Total", "Datagrams"),
    ("Jitter", "Lost/Total", "Datagrams"),
    (),
)
_LISTENS = re.compile(r"Server listening on \d+(?: \(test #\d+\))?$")
_RULER = re.compile(r"-[- ]{8,}$")
_SAID = re.compile(r"iperf3: (?P<words>.+)$")
_OTHERS = re.compile(
    r"Connecting to host |Reverse mode, remote host |Accepted connection from |warning: "
    r"|Time: |TCP MSS: |UDP MSS: |Cookie: |Test Complete\. Summary Results:|Starting Test: "
    r"|Target Bitrate: |Control connection MSS|Linux |Darwin |iperf \d|iperf Done\."
    r"|CPU Utilization: |(?:snd|rcv)_tcp_congestion |Server output:|rc=\d+$"
)
_CONNECTED = re.compile(r"\[ *\d+\](?:\[[TR]X-[CS]\])? +local \S+ port \d+ connected to ")
_WHOLE = re.compile(r"(?:\b(?:sender|receiver)|iperf Done\.|^)$")
"""A last line that is whole without a newline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3Text:
    """Every test of one output, and what the tool said besides (`the client has terminated`, ...).

    stderr is not buffered and stdout is, so a remark cannot be laid to one of several tests."""

    tests: tuple[Iperf3Report, ...] = ()
    listening: bool = False
    remarks: tuple[str, ...] = ()


def parse_text(reply: Reply) -> Iperf3Text:
    """All tests in this output. A line that no rule knows, or a row cut short, is refused."""
    reader = _Reader(reply)
    numbered = list(enumerate(lines(reply), start=1))
    for number, line in numbered:
        reader.read(line, number, last=number == len(numbered))
    reader.end_test()
    said = (line.strip().removeprefix("iperf3: ") for line in reply.errors.splitlines())
    remarks = (*reader.remarks, *(s for s in said if s and not s.startswith("warning:")))
    tests = tuple(reader.tests)
    if len(tests) == 1 and (wrong := [r for r in remarks if not r.startswith("OUT OF ORDER")]):
        tests = (replace(tests[0], error="; ".join(wrong)),)
    return Iperf3Text(tests=tests, listening=reader.listening, remarks=remarks)


@dataclass(slots=True)
class _Line:
    """One row as read."""

    span: Span
    side: str  # "sender", "receiver"; "" for an interval
    key: tuple[str, str]  # stream or SUM, and role


@dataclass(slots=True)
class _Reader:
    """One pass over the lines. `columns` are those of the last header, after the bitrate."""

    reply: Reply
    tests: list[Iperf3Report] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    rows: list[_Line] = field(default_factory=list)
    streams: int = 0
    columns: tuple[str, ...] | None = None
    headers: int = 0
    udp: bool = False
    listening: bool = False

    def read(self, line: str, number: int, *, last: bool) -> None:
        """Take one line in."""
        text = re.sub(rf"^{_STAMP}", "", line)
        if last and not self.reply.text.endswith("\n") and not _WHOLE.search(text):
            problem = f"line {number} has no end, so it may be cut: {line!r}"
            refuse(self.reply, problem, "give the text whole, with the newline at its end")
        text = text.strip()
        if not text or _RULER.match(text) or _OTHERS.match(text):
            return
        if _CONNECTED.match(text):
            self.streams += 1
        elif (row := _ROW.match(text)) is not None:
            self.rows.append(self._row(row, line, number))
        elif (header := _HEADER.match(text)) is not None:
            self._begin_table(header, line, number)
        elif _LISTENS.match(text):
            self.end_test()
            self.listening = True
        elif (said := _SAID.match(text)) is not None:
            self.remarks.append(said["words"])
        else:
            refuse(self.reply, f"line {number} is unrecognised: {line!r}")

    def _begin_table(self, header: re.Match[str], line: str, number: int) -> None:
        columns = tuple(header["rest"].split())
        if columns not in _COLUMNS:
            refuse(self.reply, f"line {number} has columns that are unrecognised: {line!r}")
        self.columns = columns
        self.udp = self.udp or "Datagrams" in columns
        self.headers += 1

    def _row(self, row: re.Match[str], line: str, number: int) -> _Line:
        rest, side = row["rest"].rstrip(), ""
        omitted = rest.endswith("(omitted)")
        rest = rest.removesuffix("(omitted)").rstrip()
        for word in ("sender", "receiver"):
            if rest.endswith(f" {word}"):
                rest, side = rest.removesuffix(word).rstrip(), word
        end = _RESTS[_kind(self.columns or (), row, side)].match(rest)
        if self.columns is None or end is None or (self.headers > 1) != bool(side):
            problem = f"line {number} is cut, or has other columns than its header: {line!r}"
            refuse(self.reply, problem)
        side = "omitted" if omitted else side
        span = self._span(row, end.groupdict(), number)
        return _Line(span=span, side=side, key=(row["id"], row["role"] or ""))

    def _span(self, row: re.Match[str], end: dict[str, str | None], number: int) -> Span:
        lost, datagrams, again = (end.get(k) for k in ("lost", "datagrams", "retransmits"))
        if lost is not None and int(lost) < 0:
            refuse(self.reply, f"line {number}: {lost} datagrams lost cannot be")
        size = float(row["size"]) * 2 ** (10 * "KMGT".find(row["size_prefix"] or "-") + 10)
        return Span(
            start_s=float(row["start"]),
            end_s=float(row["end"]),
            payload_bytes=Bytes(round(size)),
            goodput_bits_per_s=_rate(row),
            datagrams=None if datagrams is None else int(datagrams),
            lost_datagrams=None if lost is None else int(lost),
            retransmits=None if again is None else int(again),
        )

    def end_test(self) -> None:
        """What was read since the last test is one test."""
        if self.headers:
            read = [self._direction(role) for role in self._roles()]
            directions = [direction for direction, _ in read]
            self.tests.append(
                Iperf3Report(
                    protocol="UDP" if self.udp else None,
                    forward=directions[0] if directions else Direction(),
                    backward=directions[1] if len(directions) > 1 else None,
                    error=BROKE_OFF if any(broken for _, broken in read) else "",
                )
            )
        self.rows, self.streams, self.columns, self.headers, self.udp = [], 0, None, 0, False

    def _roles(self) -> list[str]:
        """The roles of the rows, the client's sending first. Without --bidir there is only ""."""
        roles = {row.key[1] for row in self.rows}
        return sorted(roles, key=lambda role: role not in ("", "TX-C", "RX-S"))

    def _direction(self, role: str) -> tuple[Direction, bool]:
        """The rows of one role, [SUM] where there are several streams; and whether it broke off."""
        mine = [row for row in self.rows if row.key[1] == role]
        streams = {row.key[0] for row in mine}
        connected = self.streams // (2 if role else 1)
        wanted = "SUM" if max(connected, len(streams)) > 1 else next(iter(streams), "")
        rows = [row for row in mine if row.key[0] == wanted]
        spans, broken = tidy(self.reply, [row.span for row in rows if not row.side])
        sent, received = self._totals(rows, "sender"), self._totals(rows, "receiver")
        direction = Direction(spans=spans, sent=sent, received=None if broken else received)
        return direction, broken

    def _totals(self, rows: list[_Line], side: str) -> Totals | None:
        spans = [row.span for row in rows if row.side == side]
        if len(spans) > 1:
            refuse(self.reply, f"two {side} rows in one test", "give the output of one test")
        if not spans:
            return None
        (span,) = spans
        totals = Totals(
            seconds=span.length_s,
            payload_bytes=span.payload_bytes,
            goodput_bits_per_s=span.goodput_bits_per_s,
            datagrams=span.datagrams,
            lost_datagrams=span.lost_datagrams if side == "receiver" else None,
            retransmits=span.retransmits,
        )
        return measured(self.reply, totals)


def _kind(columns: tuple[str, ...], row: re.Match[str], side: str) -> str:
    """How a row must end: by its table's columns, and by which end of the stream it speaks of."""
    receives = side == "receiver" or (not side and (row["role"] or "").startswith("RX"))
    if "Datagrams" in columns:
        sends = columns[0] == "Total" or (row["role"] is not None and not side and not receives)
        return "udp sender" if sends else "udp receiver"
    if "Retr" not in columns or receives:
        return "bytes"
    return "tcp sender" if "Cwnd" in columns and row["id"] != "SUM" else "retransmits"


def _rate(row: re.Match[str]) -> BitsPerSecond:
    """bits/s; `-f K` and the like print bytes, with prefixes of 2**10."""
    power = "KMGT".find(row["rate_prefix"] or "-") + 1
    if row["rate_unit"] == "Bytes":
        return BitsPerSecond(float(row["rate"]) * 2 ** (10 * power) * 8)
    return BitsPerSecond(float(row["rate"]) * 10 ** (3 * power))
