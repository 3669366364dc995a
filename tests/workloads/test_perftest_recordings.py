"""Every recording of perftest is read rightly, or refused in words that say why."""

import re

import pytest
from traffic_recordings import Recording, recording, recordings

from labtests.core.errors import UnreadableOutput
from labtests.transport.protocol import Reply
from labtests.workloads.perftest_report import PerftestRow, Report, parse_report
from labtests.workloads.perftest_words import complaints_on_stderr, complaints_on_stdout

TABLES = recordings("perftest")


def row_in_words(row: PerftestRow) -> str:
    words = [f"{row.iterations} x {row.message_bytes} B: {row.goodput_bits_per_s:.6g} bit/s"]
    return ", ".join([*words, *filter(None, [row.section])])


def in_words(reply: Reply) -> str:
    try:
        report = parse_report(reply)
    except UnreadableOutput as refused:
        return f"refused: {refused.problem}\n"
    facts = [f"test: {report.test}, tos: {report.tos}"]
    facts += ["started"] * report.started
    facts += [row_in_words(row) for row in report.rows]
    said = complaints_on_stderr(reply.errors) + complaints_on_stdout(report.others)
    return "\n".join([*facts, *(f"complaint: {line}" for line in said)]) + "\n"


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.path.stem)
def test_a_table_is_read_as_expected(case: Recording) -> None:
    assert in_words(case.reply) == case.expected


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.path.stem)
def test_a_table_that_is_cut_anywhere_never_gives_another_number(case: Recording) -> None:
    read = [rows_or_none(case.cut(length)) for length in cuts(case.reply.text)]
    known = [rows for rows in (*read, rows_or_none(case.reply)) if rows is not None]
    whole = rows_or_none(case.reply) or max(known, key=len)  # of a refused one: what came before
    assert all(rows == whole[: len(rows)] for rows in known)


def rows_or_none(reply: Reply) -> tuple[PerftestRow, ...] | None:
    try:
        return parse_report(reply).rows
    except UnreadableOutput:
        return None


def cuts(text: str) -> list[int]:
    """After every line, and after every character of the last table row and what follows."""
    lines = [match.end() for match in re.finditer("\n", text)]
    rows = list(re.finditer(r"^ ?\d+ +\d+ .*$", text, re.MULTILINE))
    tail = range(rows[-1].start(), min(len(text), rows[-1].end() + 300)) if rows else ()
    return sorted({*lines, *tail})


# -- single rules ------------------------------------------------------------------------------

HEADER = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
ROW = " 65536      88282            0.00               9.26   \t\t     0.017656"


def report(text: str, errors: str = "") -> Report:
    return parse_report(Reply(device="ServerA", command="ib_send_bw", text=text, errors=errors))


def test_a_complete_row_needs_no_newline() -> None:
    assert [row.iterations for row in report(HEADER + ROW).rows] == [88282]


def test_a_row_one_digit_short_is_refused() -> None:
    with pytest.raises(UnreadableOutput, match="is cut") as refused:
        report(HEADER + ROW[:-1])
    assert "ServerA" in str(refused.value)
    assert "remedy" in str(refused.value)


def test_what_is_glued_to_a_row_is_a_line_of_its_own() -> None:
    seen = report(HEADER + ROW + " Completion with error at client\n Failed status 12: wr_id 0\n")
    assert len(seen.rows) == 1
    assert complaints_on_stdout(seen.others) == (
        "Completion with error at client",
        "Failed status 12: wr_id 0 [RETRY_EXC_ERR]",
    )


def test_two_rows_glued_together_are_refused() -> None:
    with pytest.raises(UnreadableOutput, match="other columns"):
        report(HEADER + ROW + ROW)


@pytest.mark.parametrize(
    "row",
    [
        " 65536      88282            0.00              -9.26   \t\t     -0.017656\n",
        " 65536      0                0.00               nan    \t\t     nan\n",
        " 65536      0                0.00               -nan   \t\t     0.000000\n",
        "-65536      88282            0.00               9.26   \t\t     0.017656\n",
        " 65536      88282            0.00               inf    \t\t     0.017656\n",
    ],
)
def test_figures_that_cannot_be_are_refused(row: str) -> None:
    with pytest.raises(UnreadableOutput, match="impossible figure"):
        report(HEADER + row)


def test_a_row_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(UnreadableOutput, match="contradicts itself"):
        report(HEADER + ROW.replace("9.26", "6.92"))


def test_mb_and_mib_are_the_same_number() -> None:
    row = " 65536      5000             0.00               6033.76\t\t   0.096540\n"
    old = report(HEADER.replace("Gb/sec", "MB/sec") + row)
    new = report(HEADER.replace("Gb/sec", "MiB/sec") + row)
    assert old.rows == new.rows
    assert old.rows[0].goodput_bits_per_s == 6033.76 * 2**20 * 8


def test_the_wrong_unit_is_found_by_the_row_itself() -> None:
    with pytest.raises(UnreadableOutput, match="contradicts itself"):
        report(HEADER.replace("Gb/sec", "MB/sec") + ROW)


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(UnreadableOutput, match="unit"):
        report(HEADER.replace("Gb/sec", "Tb/sec") + ROW)


def test_a_table_of_the_first_builds_has_no_message_rate() -> None:
    old = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]\n"
    seen = report(old + " 65536   1000           929.98            929.97\n")
    assert seen.rows[0].messages_per_s is None
    with pytest.raises(UnreadableOutput, match="is cut"):
        report(old + " 65536   1000           929.98            929.9")


def test_a_table_with_a_service_level_column_is_read() -> None:
    head = HEADER.replace("#bytes", "#bytes    #sl").replace("Gb/sec", "MB/sec")
    seen = report(head + " 65536    3       5000        0.00        6033.76      0.096540\n")
    assert seen.rows[0].iterations == 5000


def test_the_columns_of_two_ports_are_read() -> None:
    more = "   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]\n"
    figures = "        4.63            0.008828              4.63            0.008828\n"
    assert len(report(HEADER[:-1] + more + ROW + figures).rows) == 1
    with pytest.raises(UnreadableOutput, match="is cut"):
        report(HEADER[:-1] + more + ROW + figures[:-2])


def test_local_and_remote_results_are_kept_apart_from_their_sum() -> None:
    half = ROW.replace("9.26", "4.63").replace("0.017656", "0.008828")
    text = HEADER + ROW + "\n-----\n\n Local results: \n-----\n" + HEADER + half
    text += "\n-----\n\n Remote results: \n-----\n" + HEADER + half + "\n-----\n"
    assert [row.section for row in report(text).rows] == ["", "local", "remote"]


def test_stray_lines_inside_the_table_do_not_hide_rows() -> None:
    stray = (
        "Conflicting CPU frequency values detected: 1500.000000 != 3300.016000. "
        "CPU Frequency is not max.\n"
        "[INFO]: wr_id=0, data_size=1048576, latency=99 us, throughput 84.733414 Gbps\n\n"
        "libibverbs: Warning: couldn't load driver 'libmana-rdmav34.so': No such file\n"
    )
    seen = report(HEADER + stray + ROW + "\n" + stray + ROW + "\n")
    assert len(seen.rows) == 2
    assert complaints_on_stdout(seen.others) == ()


def test_rows_behind_a_log_prefix_are_refused() -> None:
    with pytest.raises(UnreadableOutput, match="not as a row"):
        report(HEADER + "DEBUG| [stdout] " + ROW + "\n")


def test_two_reports_in_one_output_are_refused() -> None:
    title = "                    Send BW Test\n"
    with pytest.raises(UnreadableOutput, match="second report"):
        report(title + HEADER + ROW + "\n-----\n" + title + HEADER + ROW)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (" Failed status 12: wr_id 0 syndrom 0x81", "RETRY_EXC_ERR"),
        (" Failed status-transport retry counter exceeded (12): wr_id 0", "RETRY_EXC_ERR"),
        (" Failed status 5: wr_id 1", "WR_FLUSH_ERR"),
        (" Failed status 77: wr_id 1", "an unknown status"),
    ],
)
def test_a_status_number_gets_its_name(line: str, name: str) -> None:
    assert complaints_on_stderr(line) == (f"{line.strip()} [{name}]",)


def test_words_on_stderr_that_nobody_knows_count_as_a_complaint() -> None:
    assert complaints_on_stderr("something new\n") == ("something new",)


def test_the_joined_message_of_old_builds_is_one_complaint() -> None:
    case = recording("perftest", "ib-write-bw-error-05.txt")
    assert len(complaints_on_stderr(case.reply.errors)) == 2
