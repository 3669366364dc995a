"""`iperf3 -J`, text -> records. Shapes seen: 3.0, 3.1, 3.12, 3.18.

For UDP the loss is what the receiver counted: `sum_received`, or `sum` of builds that had no other;
`sum_sent` carries the same keys with zeros. The report of a test that broke has an `error`, or no
`end`; iperf3 exits with 0 all the same (3.12).
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from labtests.core.output import quoted_excerpt
from labtests.core.trusted_files import expect_parts
from labtests.core.units import BitsPerSecond, Bytes
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply
from labtests.workloads.figures import is_figure
from labtests.workloads.iperf3_report import (
    Iperf3Interval,
    Iperf3Report,
    Totals,
    measured,
    tidy,
)

Object = Mapping[str, Any]

_BEFORE = re.compile(r"(?:[^\S\n]*+(?:warning:.*)?\n)*+\s*+")
_BLANKS = re.compile(r"\s*+")
_AFTER = re.compile(r"\s*(?:rc=[0-9]+\s*)?$")
OLD_SUM_S = 0.2
"""3.9 has one `sum` for both sides: the rate is over the sender's time, `seconds` is the receiver's
(recorded: 1.06 for 1.00)."""

MOST_PARTS = 4_000_000
"""Of a report: the longest that a host may tell (streams.py) has fewer."""
_CUT = "give the report whole: it is printed at the end of the test only"


def parse_json(reply: Reply) -> Iperf3Report:
    """The one report in this output. A report that is cut or lacks a figure is refused."""
    return _report(reply, _document(reply))


def _document(reply: Reply) -> dict[str, Any]:
    """The one JSON object of the text; nothing else may be there but warnings."""
    try:
        expect_parts(reply.text, MOST_PARTS)
    except ValueError as error:
        refuse(reply, f"not a report of one test: {error}", "give one test's report alone")
    before = _BEFORE.match(reply.text)
    report, behind = _decoded(reply, before.end() if before else 0)
    if not _AFTER.match(reply.text, behind):
        _decoded(reply, behind)  # of something else that is told
        refuse(reply, "2 reports or more in one output", "give one test's report alone")
    return report


def _decoded(reply: Reply, position: int) -> tuple[dict[str, Any], int]:
    """The object that begins here, and where what comes after it does."""
    decoder = json.JSONDecoder(parse_constant=lambda word: _refuse_figure(reply, word))
    try:
        document, behind = decoder.raw_decode(reply.text, position)
    except (ValueError, RecursionError) as error:
        refuse(reply, f"not a JSON report, or one cut short: {error}", _CUT)
    if not isinstance(document, dict):
        refuse(reply, f"a JSON report is an object, not {quoted_excerpt(document)}", _CUT)
    found = _BLANKS.match(reply.text, behind)
    return document, found.end() if found else behind


def _refuse_figure(reply: Reply, word: str) -> NoReturn:
    refuse(reply, f"a figure is {word}")


def _report(reply: Reply, document: Object) -> Iperf3Report:
    error = document.get("error", "")
    start, intervals, end = (
        _part(reply, document, "start", dict),
        _part(reply, document, "intervals", list),
        _part(reply, document, "end", dict),
    )
    if not isinstance(error, str) or not (error or end):
        refuse(reply, "the report has neither results nor an error", _CUT)
    test = _part(reply, {"error": "", **start}, "test_start", dict)
    nominal_s = test.get("interval")
    reader = _Iperf3Reader(reply, nominal_s if is_figure(nominal_s) else None)
    return Iperf3Report(
        version=start.get("version"),
        protocol=test.get("protocol"),
        tos=test.get("tos"),
        receive_buffer_bytes=reader.receive_buffer_bytes(start),
        spans=reader.spans(intervals),
        **reader.sums(end, bool(error)),
        error=error,
    )


def _part(reply: Reply, document: Object, key: str, kind: type) -> Any:
    part = document.get(key)
    if part is None and "error" in document:
        return kind()
    if not isinstance(part, kind):
        refuse(reply, f"the report has no {key!r}", _CUT)
    return part


class _Iperf3Reader:
    """Reads the parts of a report. `nominal_s` is its report interval where it says so."""

    def __init__(self, reply: Reply, nominal_s: float | None) -> None:
        self._reply, self._nominal_s = reply, nominal_s

    def spans(self, intervals: list[Object]) -> tuple[Iperf3Interval, ...]:
        """The intervals, without those that were to be omitted."""
        sums = [
            self._object(interval, "sum")
            for interval in intervals
            if not (isinstance(interval, dict) and interval.get("streams") == [])
        ]
        spans = [self._span(one) for one in sums if one.get("omitted") is not True]
        return tidy(self._reply, spans, self._nominal_s)

    def receive_buffer_bytes(self, start: Object) -> Bytes | None:
        """As its kernel granted it."""
        buffer_bytes = self._optional(start, "rcvbuf_actual")
        return None if buffer_bytes is None else Bytes(buffer_bytes)

    def sums(self, end: Object, broken: bool) -> dict[str, Totals | None]:
        """What was `sent` and `received`. A broken test has no receiver's sum."""
        sent, received, only = (end.get(k) for k in ("sum_sent", "sum_received", "sum"))
        if received is None and only is not None and not broken:
            received = self._received_of_only_sum(only)
        if not (broken or received is not None):
            self._refuse("the results have neither sum_received nor sum")
        return {
            "sent": self._totals(sent if sent is not None else only, lost=False, old=sent is None),
            "received": None if broken else self._totals(received, lost=True, old=sent is None),
        }

    def _received_of_only_sum(self, only: Object) -> Object:
        """Builds before sum_received: what was sent, and what the receiver missed of it."""
        packets, lost = self._whole(only, "packets"), self._whole(only, "lost_packets")
        share = 1 - lost / packets if packets else 0.0
        scaled = ("bytes", "bits_per_second")
        return {**only, **{key: self._number(only, key) * share for key in scaled}}

    def _span(self, one: Object) -> Iperf3Interval:
        start_s, end_s = self._number(one, "start"), self._number(one, "end")
        return Iperf3Interval(
            start_s=start_s,
            end_s=end_s,
            payload_bytes=Bytes(self._whole(one, "bytes")),
            goodput_bits_per_s=BitsPerSecond(self._rate(one)),
            datagrams=self._optional(one, "packets"),
            lost_datagrams=self._optional(one, "lost_packets"),
            retransmits=self._optional(one, "retransmits"),
        )

    def _totals(self, one: Object | None, *, lost: bool, old: bool) -> Totals | None:
        if one is None:
            return None
        totals = Totals(
            seconds=self._number(one, "seconds"),
            payload_bytes=Bytes(round(self._number(one, "bytes"))),
            goodput_bits_per_s=BitsPerSecond(self._rate(one, slack_s=OLD_SUM_S if old else 0.0)),
            datagrams=self._optional(one, "packets"),
            lost_datagrams=self._optional(one, "lost_packets") if lost else None,
            retransmits=self._optional(one, "retransmits"),
        )
        return measured(self._reply, totals)

    def _rate(self, one: Object, slack_s: float = 0.0) -> float:
        """Its rate, which must be its bytes over its time (to 5 %: the sums of UDP differ a bit).
        An interval of no length has none; cJSON prints such a figure as null."""
        seconds, size = self._number(one, "seconds"), self._number(one, "bytes")
        if seconds < 0.01 and one.get("bits_per_second") is None:
            return 0.0
        rate = self._number(one, "bits_per_second")
        least, most = (size * 8 / max(seconds + way, 0.1) for way in (slack_s, -slack_s))
        if seconds >= 0.1 and not least - 0.05 * rate - 1 <= rate <= most + 0.05 * rate + 1:
            self._refuse(f"{size:g} bytes in {seconds:g} s are not {rate:g} bit/s")
        return rate

    def _object(self, holder: Object, key: str) -> Object:
        found = holder.get(key) if isinstance(holder, dict) else None
        if not isinstance(found, dict):
            self._refuse(f"an interval has no {key!r}")
        return found

    def _number(self, holder: Object, key: str) -> float:
        value = holder.get(key) if isinstance(holder, dict) else None
        if not is_figure(value):
            self._refuse(f"{key!r} should be a number from 0 on, not {quoted_excerpt(value)}")
        return float(value)

    def _whole(self, holder: Object, key: str) -> int:
        value = self._number(holder, key)
        if value != int(value):
            self._refuse(f"{key!r} should be a whole number, not {quoted_excerpt(value)}")
        return int(value)

    def _optional(self, holder: Object, key: str) -> int | None:
        return self._whole(holder, key) if key in holder else None

    def _refuse(self, problem: str) -> NoReturn:
        refuse(self._reply, problem)
