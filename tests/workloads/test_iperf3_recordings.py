"""Every recording of iperf3 is read rightly, or refused in words that say why."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traffic_recordings import Recording, recording, recordings

from labtests.core.errors import UnreadableOutput
from labtests.transport.protocol import Reply
from labtests.workloads.iperf3_json import parse_json
from labtests.workloads.iperf3_report import Iperf3Report, Totals

JSON = [case for case in recordings("iperf3") if case.reply.text.lstrip().startswith("{")]


def totals_in_words(totals: Totals | None) -> str:
    if totals is None:
        return "not measured"
    words = [f"{totals.goodput_bits_per_s:.6g} bit/s"]
    if totals.datagrams is not None:
        words.append(f"{totals.datagrams} datagrams")
    if totals.lost_datagrams is not None:
        words.append(f"{totals.lost_datagrams} lost")
    if totals.retransmits is not None:
        words.append(f"{totals.retransmits} retransmits")
    return ", ".join(words)


def test_in_words(report: Iperf3Report) -> list[str]:
    lines = [f"version: {report.version}, protocol: {report.protocol}, tos: {report.tos}"]
    lines += [f"{s.start_s:g}-{s.end_s:g}: {s.goodput_bits_per_s:.6g}" for s in report.spans]
    lines += [f"{side}: {totals_in_words(getattr(report, side))}" for side in ("sent", "received")]
    return lines + ([f"error: {report.error}"] if report.error else [])


test_in_words.__test__ = False  # type: ignore[attr-defined]


def in_words(reply: Reply) -> str:
    try:
        return "\n".join(test_in_words(parse_json(reply))) + "\n"
    except UnreadableOutput as refused:
        return f"refused: {refused.problem}\n"


@pytest.mark.parametrize("case", JSON, ids=lambda case: case.path.stem)
def test_a_report_is_read_as_expected(case: Recording) -> None:
    assert in_words(case.reply) == case.expected


@pytest.mark.parametrize("case", JSON, ids=lambda case: case.path.stem)
def test_a_json_report_that_is_cut_is_refused(case: Recording) -> None:
    if "error" in case.path.stem or "stream" in case.path.stem:
        lengths = range(1, len(case.reply.text.rstrip()), 97)
    else:
        lengths = range(0, len(case.reply.text.rstrip()), 97)
    for length in lengths:
        with pytest.raises(UnreadableOutput):
            parse_json(case.cut(length))


# -- single rules ------------------------------------------------------------------------------


def text_reply(text: str) -> Reply:
    return Reply(device="ServerC", command="iperf3 -s", text=text)


def udp() -> dict[str, object]:
    report: dict[str, object] = json.loads(recording("iperf3", "json-3.12-udp.txt").reply.text)
    return report


def changed(report: dict[str, object]) -> Iperf3Report:
    return parse_json(text_reply(json.dumps(report)))


def end_of(report: dict[str, object], key: str) -> dict[str, object]:
    end = report["end"]
    assert isinstance(end, dict)
    part = end[key]
    assert isinstance(part, dict)
    return part


def test_loss_is_what_the_receiver_counted_not_the_zeros_of_the_sender() -> None:
    report = udp()
    end_of(report, "sum_received").update(lost_packets=5)
    received = changed(report).received
    assert received is not None
    assert received.lost_datagrams == 5


def test_a_build_with_only_one_sum_has_its_loss_there() -> None:
    report = udp()
    end = report["end"]
    assert isinstance(end, dict)
    del end["sum_received"], end["sum_sent"]
    packets = int(str(end["sum"]["packets"]))
    end["sum"]["lost_packets"] = packets // 2
    seen = changed(report)
    assert seen.sent is not None
    assert seen.received is not None
    assert seen.received.lost_datagrams == packets // 2
    assert seen.received.goodput_bits_per_s < 0.51 * seen.sent.goodput_bits_per_s


def test_a_receiver_that_counted_nothing_did_not_measure_zero_loss() -> None:
    report = udp()
    end_of(report, "sum_received").update(bytes=0, bits_per_second=0, packets=0, lost_packets=0)
    assert changed(report).received is None


@pytest.mark.parametrize("lost", [-1, 10**9, True, "0", None, 0.5])
def test_a_loss_that_cannot_be_is_refused(lost: object) -> None:
    report = udp()
    end_of(report, "sum_received").update(lost_packets=lost)
    with pytest.raises(UnreadableOutput):
        changed(report)


def test_a_rate_that_is_not_bytes_over_time_is_refused() -> None:
    report = udp()
    end_of(report, "sum_received").update(bits_per_second=1e9)
    with pytest.raises(UnreadableOutput, match="are not"):
        changed(report)


@pytest.mark.parametrize("key", ["start", "intervals", "end"])
def test_a_report_without_one_of_its_parts_is_refused(key: str) -> None:
    report = udp()
    del report[key]
    with pytest.raises(UnreadableOutput, match=key):
        changed(report)


def test_two_reports_in_one_output_are_refused() -> None:
    with pytest.raises(UnreadableOutput, match="2 reports"):
        parse_json(text_reply(json.dumps(udp()) + "\n" + json.dumps(udp())))


def test_a_warning_before_the_report_is_no_part_of_it() -> None:
    warning = "warning: UDP block size 65500 exceeds TCP MSS 1448, may result in fragmentation\n"
    assert parse_json(text_reply(warning + json.dumps(udp()))).protocol == "UDP"


def test_anything_else_around_the_report_is_refused() -> None:
    for text in ("noise\n" + json.dumps(udp()), json.dumps(udp()) + "noise"):
        with pytest.raises(UnreadableOutput, match="not a JSON report"):
            parse_json(text_reply(text))


JUNK = st.sampled_from([None, True, -1, "1", [], {}, float(10**30), 0, float("inf")])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_is_wrong_in_a_report_is_refused_and_not_a_crash(data: st.DataObject) -> None:
    report: object = udp()
    holder = report
    for _ in range(8):
        if not isinstance(holder, dict | list) or not holder:
            break
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()) or not isinstance(holder[key], dict | list):
            holder[key] = data.draw(JUNK)
            break
        holder = holder[key]
    text = json.dumps(report).replace("Infinity", "1e999")
    with suppress(UnreadableOutput):
        assert parse_json(text_reply(text)) is not None
