"""What the report says, and that nothing in a run can make it lie or run code."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.__main__ import main
from labtests.report import css, page, read_run, summary_html, test_html
from labtests.report.runs import UnreadableRun
from labtests.report.text import amount, gbit, moment, seconds, signed

Json = dict[str, Any]
Text = Callable[[str], str]
Tags = Callable[[str], list[tuple[str, dict[str, str | None]]]]

# -- the first screen --------------------------------------------------------------------------


def test_the_first_screen_has_lab_backend_time_seed_versions_and_verdicts(
    run: Json, text_of: Text
) -> None:
    text = text_of(summary_html(run))

    for words in (
        "h3c-s6550-cx4",
        "started 2026-11-21 09:30:00 UTC",
        "ended 2026-11-21 09:30:41 UTC",
        "seed 1",
        "exit code 0",
        "labtests 0.1.0",
        "1 PASS",
        "PASS the main question the main sentence",
        "control ✓ failed, as required the control question the control sentence",
        "perftest 6.24",
        "firmware — not known",
        "pytest suites --dry-run",
    ):
        assert words in text


def test_a_simulated_run_is_stamped_in_a_band_with_what_was_modelled(
    run: Json, text_of: Text
) -> None:
    html = summary_html(run)

    assert 'class="lt-band"' in html
    assert (
        "SIMULATED No hardware was touched, and nothing below ever counts as a hardware result. "
        "Modelled: Packets and queues are modelled; optics are not." in text_of(html)
    )


def test_a_hardware_run_has_no_such_band(hardware: Json, text_of: Text) -> None:
    html = page(hardware)

    assert "lt-band" not in html.replace(css(), "")
    assert "SIMULATED" not in text_of(html)
    assert "seed — hardware has none" in text_of(html)


def test_a_lab_on_one_machine_is_neither_simulated_nor_hardware(
    hardware: Json, text_of: Text
) -> None:
    hardware["backend"] = "namespaces"
    for test in hardware["tests"]:
        for verdict in test["verdicts"]:
            verdict["backend"] = "namespaces"

    shown = text_of(page(hardware))

    assert "backend ONE MACHINE" in shown
    assert "Nothing below counts as a hardware result." in shown
    assert "SIMULATED" not in shown


@pytest.mark.parametrize("backend", [None, "", "virtual", 1, True])
def test_a_run_that_does_not_say_hardware_never_counts_as_such(
    hardware: Json, text_of: Text, backend: object
) -> None:
    hardware["backend"] = backend

    text = text_of(summary_html(hardware))

    assert text.startswith("SIMULATED")
    assert "The run does not say that it used hardware." in text


def test_a_control_that_stayed_green_is_shown_loudly(
    run: Json, text_of: Text, verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0]["outcome"] = "inconclusive"
    run["tests"][0]["verdicts"] = [verdict_of(), verdict_of("control", "pass")]

    for html in (summary_html(run), test_html(run["tests"][0])):
        assert "NEGATIVE CONTROL PASSED (it has to fail)" in text_of(html)
        assert "as required" not in text_of(html)
    assert "Expected FAIL, got PASS." in text_of(test_html(run["tests"][0]))


def test_a_controls_claim_is_held_against_its_own_figures(
    run: Json, text_of: Text, verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0]["verdicts"] = [
        verdict_of(),
        verdict_of("control", "pass", as_expected=True),
    ]

    assert "NEGATIVE CONTROL PASSED (it has to fail)" in text_of(summary_html(run))
    assert "This test says that it passed, but a verdict below" in text_of(page(run))


@pytest.mark.parametrize("claim", [None, "yes", 1, False])
def test_a_control_without_a_clear_claim_did_not_go_red(
    run: Json, text_of: Text, verdict_of: Callable[..., Json], claim: object
) -> None:
    run["tests"][0]["verdicts"] = [verdict_of("control", "fail", as_expected=claim)]

    assert "CONTROL FAILED FOR THE WRONG REASON" in text_of(summary_html(run))


def test_a_verdict_without_control_says_that_its_counters_are_not_proven_alive(
    run: Json, text_of: Text, verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0]["verdicts"] = [verdict_of()]

    assert "no negative control: the drop counters are unproven" in text_of(summary_html(run))
    assert "the drop counters behind this verdict are unproven" in text_of(
        test_html(run["tests"][0])
    )


def test_an_inconclusive_test_is_its_own_group_and_not_green(
    run: Json, text_of: Text, test_of: Callable[..., Json], verdict_of: Callable[..., Json]
) -> None:
    verdict = verdict_of(outcome="inconclusive", disagreements=["sent 812, handled 790"])
    run["tests"].append(test_of("marks", "inconclusive", [verdict]))

    html = page(run)

    assert "1 INCONCLUSIVE 1 PASS" in text_of(html)
    assert "Witnesses disagree: sent 812, handled 790" in text_of(html)
    assert html.index("lt-row-inconclusive") < html.index("lt-row-pass")


@pytest.mark.parametrize("outcome", [None, "", "PASS", "passed", 0, True, ["pass"], {}])
def test_an_outcome_that_is_not_known_is_an_error_never_a_pass(
    run: Json, text_of: Text, outcome: object
) -> None:
    run["tests"][0]["outcome"] = outcome
    run["tests"][0]["verdicts"] = []

    html = summary_html(run)

    assert "1 ERROR" in text_of(html)
    assert "UNKNOWN OUTCOME" in text_of(html)
    assert "lt-pass" not in html


def test_a_run_without_tests_says_so(run: Json, text_of: Text) -> None:
    run["tests"] = []

    assert "NO TEST RAN" in text_of(page(run))
    assert "1 PASS" not in text_of(page(run))


def test_a_lab_that_was_not_usable_is_said_before_everything_else(run: Json, text_of: Text) -> None:
    run.update(problem="ServerA: 'ssh': no route to host", tests=[], exit_code=15)

    text = text_of(summary_html(run))

    assert "The lab was not usable. ServerA: 'ssh': no route to host" in text
    assert text.index("no route") < text.index("h3c-s6550-cx4")


# -- one test ----------------------------------------------------------------------------------


def test_a_tests_part_has_facts_counters_settings_commands_and_rerun(
    run: Json, text_of: Text
) -> None:
    text = text_of(test_html(run["tests"][0]))

    for words in (
        "queue 3 drops 0 exactly 0 — none given packets",
        "sum of goodputs 9.53 >= 9.0 +0.53 Gb/s",
        "S6550 Twenty-FiveGigE1/0/13 queue 3 forwarded_packets 1 000 37 715 815 "
        "+37 714 815 packets Forwarded:",
        "1 unchanged counters",
        "trust dscp scheduling wrr queue 0: weight 1",
        "ServerA → ServerC iperf3, TOS 96 complete 7.8 Gb/s 4.31 Gb/s",
        "16 375 / 16 375 / 0",
        "9.500 s ServerA mlnx_qos -i eth0 -f 0,0,0,1,0,0,0,0 pfc of eth0",
        "Run it again: pytest suites/test_pauses.py --testbed lab --dry-run --seed 1",
    ):
        assert words in text.replace("\u202f", " ")


def test_an_unusable_counter_is_flagged_with_its_reason_and_shows_no_number(
    run: Json, text_of: Text
) -> None:
    html = test_html(run["tests"][0])
    unusable = html[html.index("Counters that cannot be used") :]
    unusable = unusable[: unusable.index("</table>")]

    assert "lt-unusable" in unusable
    assert "— no value before the run: PFC is not enabled here" in text_of(unusable)
    assert ">0<" not in unusable.replace("\n", "")


def test_a_counter_with_a_reason_is_unusable_even_if_it_has_a_number(
    run: Json, text_of: Text
) -> None:
    row = run["tests"][0]["phases"][0]["counters"][0]
    row.update(unusable="ran backwards from 9 to 3", increase=0)

    text = text_of(test_html(run["tests"][0]))

    assert "— ran backwards from 9 to 3" in text
    assert "no counter changed" in text


def test_a_lab_that_was_broken_on_purpose_says_so(run: Json, text_of: Text) -> None:
    assert "on purpose" not in text_of(summary_html(run))
    run["faults"] = ['{"kind": "dead-counter", "device": "<sw>"}']
    said = text_of(summary_html(run))
    assert 'put into this lab on purpose: {"kind": "dead-counter", "device": "<sw>"}' in said


def test_unsettled_counters_and_unreachable_roles_are_said(run: Json, text_of: Text) -> None:
    run["tests"][0]["phases"][0].update(settled=False, unreachable=["ServerA to ServerC: 100 %"])

    text = text_of(test_html(run["tests"][0]))

    assert "Counters were still changing at the final read." in text
    assert "Unreachable: ServerA to ServerC: 100 %" in text


def test_the_way_of_a_packet_shows_what_each_station_lost_and_what_nobody_counts(
    run: Json, text_of: Text
) -> None:
    test = run["tests"][0]
    test["phases"][0]["changed_by_others"] = ["somebody else changed trust of sw p1"]
    test["phases"][0]["way"] = [
        {
            "name": "NIC r eth0",
            "part": "NIC",
            "lost": {"r nic_rx_discarded_packets": 447517},
            "counted": ["nic_rx_discarded_packets", "tx_dropped"],
            "unusable": {},
            "not_available": ["rx_fifo_errors"],
        },
        {"name": "cable a - b", "lost": {}, "counted": [], "not_available": ["rx_crc_errors"]},
        {"name": "sw p1", "lost": {}, "counted": ["wred_dropped_packets"], "unusable": {}},
    ]
    text = text_of(test_html(test))

    assert "NIC r eth0 r nic_rx_discarded_packets +447517 2 rx_fifo_errors" in text
    assert "cable a - b — no counter tells 0 rx_crc_errors" in text
    assert "sw p1 0 1" in text
    assert "Somebody else changed trust of sw p1" in text


def test_an_error_is_shown_as_it_was_raised(run: Json, text_of: Text) -> None:
    run["tests"][0].update(
        error="ServerA: 'mlnx_qos': not found\n  remedy: install it", outcome="error", verdicts=[]
    )

    assert "ServerA: 'mlnx_qos': not found remedy: install it" in text_of(page(run))


def test_counters_that_stood_still_share_a_row_per_port_with_their_values(
    run: Json, text_of: Text
) -> None:
    row = run["tests"][0]["phases"][0]["counters"][1]
    run["tests"][0]["phases"][0]["counters"] = [
        {**row, "index": index, "before": value, "after": value}
        for index, value in ((0, 0), (1, 0), (2, 0), (3, 7), (5, 0))
    ]

    text = text_of(test_html(run["tests"][0]))

    assert "5 unchanged counters" in text
    assert "S6550 Twenty-FiveGigE1/0/13 dropped_packets packets queue 0-2, 5: 0; queue 3: 7" in text


def test_of_two_answers_to_one_question_the_first_screen_names_the_phases(
    run: Json, text_of: Text
) -> None:
    first = run["tests"][0]["verdicts"][0]
    run["tests"][0]["verdicts"] = [first, {**first, "phase": "again"}]
    top = text_of(summary_html(run))
    assert f"{first['question']} in {first['phase']}" in top
    assert f"{first['question']} in again" in top
    run["tests"][0]["verdicts"] = [first]
    assert f"{first['question']} in " not in text_of(summary_html(run))


def test_a_long_sentence_is_short_on_the_first_screen_and_whole_with_its_test(
    run: Json, text_of: Text
) -> None:
    sentence = " ".join(f"queue {n} dropped;" for n in range(60))
    run["tests"][0]["verdicts"][0]["because"] = sentence

    first_screen = text_of(summary_html(run))

    assert sentence not in first_screen
    assert "queue 0 dropped;" in first_screen
    assert "… (whole below)" in first_screen
    assert sentence in text_of(test_html(run["tests"][0]))


# -- the whole page ----------------------------------------------------------------------------


def test_failed_tests_come_first_and_open_and_passed_ones_are_folded(
    run: Json, tags_of: Tags, test_of: Callable[..., Json], verdict_of: Callable[..., Json]
) -> None:
    run["tests"].append(test_of("loses", "fail", [verdict_of(outcome="fail")]))

    html = page(run)
    folds = [
        attributes
        for tag, attributes in tags_of(html)
        if tag == "details" and attributes.get("class") == "lt lt-fold"
    ]

    assert ["open" in fold for fold in folds] == [True, False]
    assert html.index("test_loses") < html.index("test_pauses")


def test_the_page_fetches_nothing_and_has_no_script(run: Json, tags_of: Tags) -> None:
    for tag, attributes in tags_of(page(run)):
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
        assert not any(name.startswith("on") for name in attributes)
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in css()
    assert "@import" not in css()


def test_every_link_leads_to_a_test_on_the_page(run: Json, tags_of: Tags) -> None:
    tags = tags_of(page(run))

    links = {attributes["href"] for tag, attributes in tags if tag == "a"}
    ids = {f"#{attributes['id']}" for _, attributes in tags if "id" in attributes}

    assert links
    assert links <= ids


def test_the_same_run_gives_the_same_page(run: Json) -> None:
    assert page(run) == page(copy.deepcopy(run))


# -- hostile and missing values ----------------------------------------------------------------

HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "'><svg onload=document.title='owned'>",
    "]]><script>x</script>",
    "</style><script>x</script>",
    "</title></details></pre><script>x</script>",
    "{{ 7*7 }}{% raw %}",
    "<!--",
    "javascript:alert(1)",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_in_every_place_stays_text(
    run: Json, tags_of: Tags, text_of: Text, spoiled: Callable[..., Json], hostile: str
) -> None:
    harmless = {tag for tag, _ in tags_of(page(run))} | {"b", "em", "span", "pre", "p", "li", "ul"}
    bad = spoiled(run, lambda leaf: hostile if isinstance(leaf, str) else leaf)

    html = page(bad)

    tags = tags_of(html)
    assert {tag for tag, _ in tags} <= harmless
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    assert " ".join(hostile.split()) in text_of(html)
    assert "49" not in text_of(test_html({"title": hostile, "id": "x"}))


def test_control_characters_are_shown_and_half_characters_do_not_break_the_page(
    run: Json, text_of: Text
) -> None:
    run["tests"][0]["error"] = "a\x1b[31mred\x00 \ud800 \u202egnp.exe"

    html = page(run)

    assert "a␛[31mred␀ \ufffd \ufffdgnp.exe" in text_of(html)
    assert html.encode("utf-8")


def test_a_run_of_nothing_but_nulls_shows_dashes_and_no_zero(
    run: Json, spoiled: Callable[..., Json], text_of: Text
) -> None:
    html = page(spoiled(run, lambda _: None))
    text = text_of(html)

    assert "—" in text
    assert "None" not in text
    assert "undefined" not in text.lower()
    assert "PASS" not in text
    counted = text[text.index("Counters that cannot be used") :]
    assert " 0 " not in counted[: counted.index("Settings")]


def test_a_fact_without_a_number_shows_its_reason(run: Json, text_of: Text) -> None:
    fact = run["tests"][0]["verdicts"][0]["facts"][0]
    fact.update(measured=None, note="the counter was never read")

    html = test_html(run["tests"][0])

    assert "queue 3 drops — the counter was never read exactly 0 — no value" in text_of(html)


def test_empty_objects_are_rendered(text_of: Text) -> None:
    assert "NO TEST RAN" in text_of(page({}))
    assert "UNKNOWN OUTCOME" in text_of(page({"tests": [{}]}))
    assert test_html({"phases": [{}], "verdicts": [{}], "changes": [{}]})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_value_in_any_place_gives_a_page(data: st.DataObject) -> None:
    keys = {
        "samples": "device port scope index counter time_s value",
        "counters": "device port scope index counter before after increase unusable",
        "flows": "sender intervals goodput_bits_per_s sent_datagrams status retries",
        "settings": "device port ability value",
    }
    phase: Json = {"start_s": data.draw(_JSON), "end_s": data.draw(_JSON)}
    for part, names in keys.items():
        row = {name: data.draw(_JSON) for name in names.split()}
        if part == "samples":
            row["counter"] = data.draw(st.sampled_from(["pfc_tx_frames", "queue_length_packets"]))
        phase[part] = [row, data.draw(_JSON), {**row, "value": data.draw(_JSON)}]
    test = {"phases": [phase], "verdicts": [data.draw(_JSON)], "outcome": data.draw(_JSON)}

    html = page({"tests": [test], "lab": data.draw(_JSON)})

    assert html.rstrip().endswith("</html>")
    assert "<script" not in html


# -- values ------------------------------------------------------------------------------------


def test_numbers_are_grouped_signed_and_rounded() -> None:
    assert str(amount(37714815)) == "37&#8239;714&#8239;815"
    assert str(amount(-3)) == "&minus;3"
    assert str(amount(0.123456)) == "0.1235"
    assert str(signed(5)) == "+5"
    assert str(signed(0)) == "0"
    assert str(signed(-2)) == "&minus;2"
    assert str(gbit(9.26e9)) == "9.26&#8239;Gb/s"
    assert str(gbit(0)) == "0&#8239;Gb/s"


@pytest.mark.parametrize(
    "nothing", [None, True, float("nan"), float("inf"), 10**400, -1.7e308, [], {}]
)
def test_what_is_no_number_is_a_dash_with_its_reason(nothing: object) -> None:
    for shown in (amount(nothing, "why"), signed(nothing, "why"), gbit(nothing, "why")):
        assert str(shown) == '<span class="lt-none">— why</span>'
    for shown in (seconds(nothing), moment(nothing)):
        assert str(shown) == '<span class="lt-none">— not recorded</span>'


def test_moments_are_lab_seconds_or_utc() -> None:
    assert str(moment(12.5)) == "12.500&#8239;s" or str(moment(12.5)) == "12.500\u202fs"
    assert str(moment(1795253400.25)) == "09:30:00.250 UTC"


# -- files -------------------------------------------------------------------------------------


def test_render_makes_an_old_run_again(run: Json, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(run))

    result = CliRunner().invoke(main, ["render", str(tmp_path)])

    assert (result.exit_code, result.stdout) == (0, f"{tmp_path}/rendered.html\n")
    assert (tmp_path / "rendered.html").read_text(encoding="utf-8") == page(read_run(tmp_path))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "a run is a JSON object"),
        (b'{"format": "labtests-run/9"}', "its format is 'labtests-run/9', this labtests renders"),
        (b'{"format": "labtests-run/1"}', "`tests` must be a list of objects"),
        (b'{"format": "labtests-run/1", "tests": [1]}', "`tests` must be a list of objects"),
    ],
)
def test_a_run_folder_that_cannot_be_rendered_is_a_sentence(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)

    with pytest.raises(UnreadableRun) as caught:
        read_run(tmp_path)
    result = CliRunner().invoke(main, ["render", str(tmp_path)])

    assert problem in str(caught.value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr
    assert "Traceback" not in result.stderr
