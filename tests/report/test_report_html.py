"""What the report says, and that nothing in a run can make it lie or run code."""

import base64
import copy
import hashlib
import html as escapes
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.__main__ import main
from labtests.report import Past, css, page, read_run
from labtests.report.ledger import ledger_of
from labtests.report.runs import UnreadableRun
from labtests.report.suites import suites_of
from labtests.report.text import amount, counter_words, gbit, plain, seconds, signed
from labtests.report.view import error_of
from labtests.transport.chronicle import Chronicle

Json = dict[str, Any]
Text = Callable[[str], str]
Data = Callable[[str], Json]
Tags = Callable[[str], list[tuple[str, dict[str, str | None]]]]

# -- the first screen --------------------------------------------------------------------------


def test_the_first_screen_has_lab_backend_time_seed_versions_and_verdicts(
    run: Json, text_of: Text
) -> None:
    text = text_of(page(run))

    for words in (
        "h3c-s6550-cx4",
        "2026-11-21 09:30:00 UTC, seed 1",
        "09:30:00 UTC to 2026-11-21 09:30:41 UTC, exit code 0",
        "with labtests 0.1.0",
        "✓ 1 PASS",
        "the main question Yes: the main sentence",
        "✓ PASS the main question in PFC on the main sentence",
        "Control: ✓ failed, as required the control question in PFC on the control sentence",
        "perftest 6.24",
        "not reported: firmware",
        "pytest suites --dry-run",
    ):
        assert words in text


def test_a_simulated_run_is_stamped_in_a_band_with_what_was_modelled(
    run: Json, text_of: Text
) -> None:
    html = page(run)

    assert "<title>labtests: h3c-s6550-cx4 (SIMULATED)</title>" in html
    assert (
        "SIMULATED No hardware was touched, and nothing below ever counts as a hardware result. "
        "Modelled: Packets and queues are modelled; optics are not." in text_of(html)
    )


def test_a_hardware_run_has_no_such_band(hardware: Json, text_of: Text) -> None:
    html = page(hardware)

    assert 'class="lt-band"' not in html
    assert "SIMULATED" not in text_of(html)
    assert "seed" not in text_of(html).partition("Run it again")[0]


def test_a_lab_on_one_machine_is_neither_simulated_nor_hardware(
    hardware: Json, text_of: Text
) -> None:
    hardware["backend"] = "namespaces"
    for test in hardware["tests"]:
        for verdict in test["verdicts"]:
            verdict["backend"] = "namespaces"

    shown = text_of(page(hardware))

    assert "h3c-s6550-cx4 ONE MACHINE" in shown
    assert "Nothing below counts as a hardware result." in shown
    assert "SIMULATED" not in shown


@pytest.mark.parametrize("backend", [None, "", "virtual", 1, True])
def test_a_run_that_does_not_say_hardware_never_counts_as_such(
    hardware: Json, text_of: Text, backend: object
) -> None:
    hardware["backend"] = backend

    text = text_of(page(hardware))

    assert "labtests h3c-s6550-cx4 SIMULATED" in text
    assert "The run does not say that it used hardware." in text


def test_a_control_that_stayed_green_is_shown_loudly(
    run: Json, text_of: Text, verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0]["outcome"] = "inconclusive"
    run["tests"][0]["verdicts"] = [verdict_of(), verdict_of("control", "pass")]

    text = text_of(page(run))
    assert "NEGATIVE CONTROL PASSED (it has to fail)" in text
    assert "No: 0 of 1 went as they must" in text
    assert "as required" not in text
    assert "Expected FAIL, got PASS." in text


def test_a_controls_claim_is_held_against_its_own_figures(
    run: Json, text_of: Text, verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0]["verdicts"] = [
        verdict_of(),
        verdict_of("control", "pass", as_expected=True),
    ]

    assert "NEGATIVE CONTROL PASSED (it has to fail)" in text_of(page(run))
    assert "This test says that it passed, but a verdict below" in text_of(page(run))


@pytest.mark.parametrize("claim", [None, "yes", 1, False])
def test_a_control_without_a_clear_claim_did_not_go_red(
    run: Json, text_of: Text, verdict_of: Callable[..., Json], claim: object
) -> None:
    run["tests"][0]["verdicts"] = [verdict_of("control", "fail", as_expected=claim)]

    assert "CONTROL FAILED FOR THE WRONG REASON" in text_of(page(run))


def test_a_verdict_without_control_says_that_its_counters_are_not_proven_alive(
    run: Json, text_of: Text, verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0]["verdicts"] = [verdict_of()]

    assert "Not known: no control ran" in text_of(page(run))
    assert "the drop counters behind this verdict are unproven" in text_of(page(run))


def test_an_inconclusive_test_is_its_own_group_and_not_green(
    run: Json, text_of: Text, test_of: Callable[..., Json], verdict_of: Callable[..., Json]
) -> None:
    verdict = verdict_of(outcome="inconclusive", disagreements=["sent 812, handled 790"])
    run["tests"].append(test_of("marks", "inconclusive", [verdict]))

    html = page(run)

    assert "? 1 INCONCLUSIVE ✓ 1 PASS" in text_of(html)
    assert "Witnesses disagree: sent 812, handled 790" in text_of(html)
    assert html.index("lt-row-inconclusive") < html.index('lt-row-pass"')


@pytest.mark.parametrize("outcome", [None, "", "PASS", "passed", 0, True, ["pass"], {}])
def test_an_outcome_that_is_not_known_is_an_error_never_a_pass(
    run: Json, text_of: Text, outcome: object
) -> None:
    run["tests"][0]["outcome"] = outcome
    run["tests"][0]["verdicts"] = []

    html = page(run)

    assert "! 1 ERROR" in text_of(html)
    assert "could not be judged" in text_of(html)
    assert 'class="lt-sign lt-pass"' not in html


def test_a_run_without_tests_says_so(run: Json, text_of: Text) -> None:
    run["tests"] = []

    assert "NO TEST RAN" in text_of(page(run))
    assert "1 PASS" not in text_of(page(run))


def test_a_lab_that_was_not_usable_is_said_before_everything_else(run: Json, text_of: Text) -> None:
    run.update(problem="ServerA: 'ssh': no route to host", tests=[], exit_code=15)

    text = text_of(page(run))

    assert "The lab was not usable. ServerA: 'ssh': no route to host" in text
    assert text.index("no route") < text.index("Suites")


# -- one test ----------------------------------------------------------------------------------


def test_a_tests_part_has_facts_flows_and_rerun(run: Json, text_of: Text) -> None:
    text = text_of(page(run))

    for words in (
        "queue 3 drops 0 exactly 0 packets",
        "sum of goodputs 9.53 ≥ 9.0 +0.53 Gb/s",
        "ServerA → ServerC iperf3, TOS 96 complete 7.8 Gb/s 4.31 Gb/s",
        "16 375 / 16 375 / 0",
        "Run it again: pytest suites/test_pauses.py --testbed lab --dry-run --seed 1",
    ):
        assert words in text.replace("\u202f", " ")


def test_an_error_does_not_say_again_what_the_verdicts_say(run: Json) -> None:
    test = run["tests"][0]
    because = test["verdicts"][0]["because"]
    test |= {"outcome": "error", "error": f"PASS [SIMULATED]: {because}\nnot put back: pfc"}

    assert error_of(test) == "not put back: pfc"
    assert '<pre class="lt-problem">not put back: pfc</pre>' in page(run)
    assert error_of({"error": None, "verdicts": [{}]}) == ""


def named(data: Json, row: list[Any], places: str) -> list[Any]:
    """A row with the texts of those cells that hold the number of one (marked t)."""
    marked = zip(row, places, strict=True)
    return [data["texts"][cell] if place == "t" else cell for cell, place in marked]


def test_the_script_is_given_counters_settings_and_lines(run: Json, data_of: Data) -> None:
    data = data_of(page(run))
    suite = data["suites"]["pauses"]

    (changed,) = suite["changed"]
    (unusable,) = suite["unusable"]
    assert named(data, changed, ".ttttt....t.") == [
        *(0, "S6550", "Twenty-FiveGigE1/0/13", "queue", "forwarded_packets", "packets"),
        *(3, 1000, 37_715_815, 37_714_815, "Forwarded:", None),
    ]
    assert data["texts"][unusable[1]] == "no value before the run: PFC is not enabled here"
    assert [data["texts"][n] for n in unusable[2]] == [
        "ServerB Twenty-FiveGigE1/0/13 queue 3 pfc_rx_frames"
    ]
    ((count, spans),) = suite["still"]
    assert (count, spans) == (1, [0, 1])
    assert named(data, data["still"][0], "ttttt")[2:] == [
        "dropped_packets",
        "packets",
        "queue 3: 7",
    ]
    assert [named(data, row, ".tttt")[3:] for row in suite["settings"]] == [
        ["trust", "dscp"],
        ["scheduling", "wrr\nqueue 0: weight 1"],
    ]
    assert [lane["t"] for lane in suite["lanes"]] == [
        "Goodput per sender", "Queue length", "PFC pause frames", "ECN marks and CNPs",
    ]  # fmt: skip


def test_a_counter_with_a_reason_is_unusable_even_if_it_has_a_number(
    run: Json, data_of: Data
) -> None:
    row = run["tests"][0]["phases"][0]["counters"][0]
    row.update(unusable="ran backwards from 9 to 3", increase=0)

    data = data_of(page(run))
    suite = data["suites"]["pauses"]

    assert suite["changed"] == []
    assert "ran backwards from 9 to 3" in [data["texts"][why] for _, why, _ in suite["unusable"]]


def test_a_lab_that_was_broken_on_purpose_says_so(run: Json, text_of: Text) -> None:
    assert "on purpose" not in text_of(page(run))
    run["faults"] = ['{"kind": "dead-counter", "device": "<sw>"}']
    said = text_of(page(run))
    assert 'put into this lab on purpose: {"kind": "dead-counter", "device": "<sw>"}' in said
    assert "not met" not in said


def test_a_fault_that_was_not_met_is_said(run: Json, text_of: Text) -> None:
    run["faults_not_met"] = [{"fault": '{"kind": "hang"}', "why": "no command with '<x>' came"}]
    said = text_of(page(run))
    assert 'A fault was not met: {"kind": "hang"} : no command with \'<x>\' came' in said


def test_unsettled_counters_and_unreachable_roles_are_said(run: Json, text_of: Text) -> None:
    run["tests"][0]["phases"][0].update(settled=False, unreachable=["ServerA to ServerC: 100 %"])

    text = text_of(page(run))

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
    text = text_of(page(run))

    assert "NIC r eth0 r nic_rx_discarded_packets +447 517" in text.replace("\u202f", " ")
    assert "cable a - b no counter of this device tells" in text
    assert "sw p1 0" not in text  # it lost nothing: no row
    run["tests"][0]["phases"][0]["way"] = []
    assert "Nowhere: no station on the way" in text_of(page(run))
    run["tests"][0]["phases"][0]["counters"][1]["increase"] = 3  # no station has a queue's drops
    text = text_of(page(run))
    assert "S6550 Twenty-FiveGigE1/0/13 queue 3 dropped_packets +3" in text
    assert "Nowhere" not in text
    assert "Somebody else changed trust of sw p1" in text


def test_an_error_is_shown_as_it_was_raised(run: Json, text_of: Text) -> None:
    run["tests"][0].update(
        error="ServerA: 'mlnx_qos': not found\n  remedy: install it", outcome="error", verdicts=[]
    )

    assert "ServerA: 'mlnx_qos': not found remedy: install it" in text_of(page(run))


def test_counters_that_stood_still_share_a_row_per_port_with_their_values(
    run: Json, data_of: Data
) -> None:
    row = run["tests"][0]["phases"][0]["counters"][1]
    run["tests"][0]["phases"][0]["counters"] = [
        {**row, "index": index, "before": value, "after": value}
        for index, value in ((0, 0), (1, 0), (2, 0), (3, 7), (5, 0))
    ]

    data = data_of(page(run))

    assert data["suites"]["pauses"]["still"] == [[5, [0, 1]]]
    assert named(data, data["still"][0], "ttttt")[4] == "queue 0-2, 5: 0; queue 3: 7"


def test_a_line_counts_its_other_answers_which_are_behind_it(run: Json, text_of: Text) -> None:
    first = run["tests"][0]["verdicts"][0]
    run["tests"][0]["verdicts"] = [first, {**first, "phase": "again"}]
    text = text_of(page(run))
    assert "Yes: the main sentence (+1 more)" in text
    assert "the main question in PFC on" in text
    assert "the main question in again" in text


def test_numbers_and_signs_of_a_proof_are_written_for_people(run: Json, text_of: Text) -> None:
    because = "1/0/12345 -> ServerB: 3847500 packets, firmware 16.352000.1, ratio 0.123456 >= 0.1"
    run["tests"][0]["verdicts"][0]["because"] = because

    said = (
        "1/0/12345 → ServerB: 3\u202f847\u202f500 packets, firmware 16.352000.1, ratio 0.123456 ≥"
    )

    assert text_of(page(run)).count(" ".join(said.split())) == 2  # its line, its proof


def test_an_alarm_is_said_once_with_its_times(run: Json, text_of: Text) -> None:
    alarm = {"device": "sw", "port": "e1", "index": 3, "kind": "drops", "text": "egress"}
    phase = run["tests"][0]["phases"][0]
    phase["alarms"] = [alarm | {"time_s": phase["start_s"] + n + 0.5} for n in range(4)]

    html = page(run)

    assert "PFC on: sw e1 queue 3 said drops (egress), 4 times: at 0.5, 1.5, 2.5, 3.5 s" in (
        text_of(html)
    )
    assert html.count("said drops") == 1
    assert '<p class="lt-warning">PFC on: sw e1' in html
    phase["kind"] = "control"  # it drops on purpose
    assert '<p class="lt-soft">PFC on: sw e1' in page(run)


def test_headroom_that_no_stream_tells_is_said_once(run: Json, text_of: Text) -> None:
    untold = {"device": "sw", "port": "e1", "priority": 3, "because": "its stream does not tell"}
    told = untold | {"peak_bytes": 4096, "margin_bytes": 1024, "because": ""}
    run["tests"][0]["phases"][0]["headroom"] = [untold, untold | {"port": "e2"}, told]

    text = text_of(page(run)).replace("\u202f", "")

    assert text.count("Headroom of sw: its stream does not tell") == 1
    assert text.count("its stream does not tell") == 1
    assert "priority 3: 4 096 bytes of headroom in use at most, 1 024 bytes to its end" in text


def test_suites_that_did_not_run_are_counted_and_behind_a_fold(run: Json, text_of: Text) -> None:
    run["not_run"] = ["suites/test_a.py::test_a", "suites/test_b.py::test_b"]

    html = page(run)

    assert "2 did not run suites/test_a.py::test_a, suites/test_b.py::test_b" in text_of(html)
    assert '<details class="lt-warning"><summary>2 did not run' in html


def test_a_long_sentence_is_short_in_its_line_and_whole_behind_it(run: Json, text_of: Text) -> None:
    sentence = " ".join(f"queue {n} dropped;" for n in range(60))
    run["tests"][0]["verdicts"][0]["because"] = sentence

    line, _, behind = text_of(page(run)).partition("answer question proof")

    assert sentence not in line
    assert "Yes: queue 0 dropped;" in line
    assert "dropped …" in line
    assert sentence in behind


# -- the whole page ----------------------------------------------------------------------------


def test_one_is_sent_to_boxes_that_are_there(
    run: Json, text_of: Text, test_of: Callable[..., Json], verdict_of: Any
) -> None:
    """The address of an emulated box is gone with a dry run; who logs in gets the real one."""
    because = "ServerA enp3s0f0np0 rx_crc_errors +1"
    run["tests"].append(test_of("loses", "fail", [verdict_of(outcome="fail", because=because)]))

    served_by_hand, hardware = run | {"seed": None}, run | {"backend": "hardware", "seed": None}

    assert "ssh root@server-a" not in text_of(page(run))
    for its_own in (served_by_hand, hardware):
        told = text_of(page(its_own))
        assert "Go to ServerA: ssh root@server-a" in told
        assert "simlab serve" not in told


def test_failed_tests_come_first_and_have_a_card(
    run: Json, tags_of: Tags, text_of: Text, test_of: Callable[..., Json], verdict_of: Any
) -> None:
    because = "S6550 Twenty-FiveGigE1/0/13 queue 3 dropped_packets grew by 42"
    fact = {"name": "S6550 queue 3 dropped_packets", "measured": 42, "bound": "= 0", "margin": -42}
    verdict = verdict_of(outcome="fail", because=because, facts=[fact])
    run["tests"].append(test_of("loses", "fail", [verdict]))

    html = page(run)
    suites = [a["id"] for _, a in tags_of(html) if a.get("class", "").startswith("lt-suite ")]

    assert suites == ["loses", "pauses"]
    text = text_of(html)
    assert "Not lossless: 42 packets lost at S6550 in queue 3" in text
    assert "Needs a person ✕ loses FAIL" in text
    assert "Look at S6550, port 1/0/13 " in text
    assert "labtests simlab serve testbeds/h3c-s6550-cx4.yaml" in text
    assert "queue 3: ✕" not in text  # the picture's counters are the phase's own
    assert '<circle class="lt-ring"' in html


def test_suites_that_are_red_for_one_port_are_one_walk(
    run: Json, text_of: Text, test_of: Callable[..., Json], verdict_of: Any
) -> None:
    at_port = "S6550 Twenty-FiveGigE1/0/13 queue 3 dropped_packets grew by 4"
    for name, because in (("a", at_port), ("b", "ServerA is slow"), ("c", at_port)):
        run["tests"].append(test_of(name, "fail", [verdict_of(outcome="fail", because=because)]))
    run["tests"].append(test_of("d", "error", [verdict_of(outcome="error", because=at_port)]))

    html = page(run)
    cards = html[html.index('id="lt-needs"') : html.index('id="lt-suites"')]

    assert cards.count("<article") == 2
    assert "2 more red there: c , d (ERROR) Again:" in text_of(cards)


def test_a_good_run_has_nothing_that_needs_a_person(run: Json, text_of: Text) -> None:
    text = text_of(page(run))

    assert "Needs a person" not in text
    assert "1 suite passes in simulation" in text


def test_nothing_on_the_page_disagrees_with_the_one_list(
    run: Json, tags_of: Tags, test_of: Callable[..., Json], verdict_of: Any
) -> None:
    for outcome in ("fail", "inconclusive", "error", "skipped"):
        run["tests"].append(test_of(outcome, outcome, [verdict_of(outcome=outcome)]))
    run["tests"].append(test_of("asks", "pass", []))

    html = page(run)
    tags = tags_of(html)
    rows = [a["class"].split("lt-row-")[1] for _, a in tags if "lt-row-" in (a.get("class") or "")]
    nav = html[html.index("<nav") : html.index("</nav>")]
    counts = html[html.index('<p class="lt-counts">') :].partition("</p>")[0]

    assert rows == ["fail", "error", "inconclusive", "unjudged", "pass", "skipped"]
    for outcome in rows:
        assert nav.count(f'"lt-sign lt-{outcome}"') == rows.count(outcome)
        assert counts.count(f'"lt-sign lt-{outcome}"') == 1
    assert re.findall(r"<b>(\d+) ", counts) == ["1"] * 6


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        ("reports/lab/{id}", "{id}"),
        ("reports/{id}", "{id}"),
        ("nights/{id}", "nights/{id}"),
        ("reports/lab/20260101-020000-ffffff", "reports/lab/20260101-020000-ffffff"),
        ("of mine", "'{folder}'"),
    ],
)
def test_the_journal_is_named_as_its_command_finds_it(
    run: Json, text_of: Text, tmp_path: Path, folder: str, named: str
) -> None:
    """A run that a person or a night told where to write is in a folder of another name."""
    run["id"] = "20260101-015900-a1b2c3"
    there = tmp_path / folder.format(id=run["id"])
    there.mkdir(parents=True)
    (there / "journal.jsonl").touch()
    told = named.format(id=run["id"], folder=there)
    told = told if told == run["id"] or told[0] == "'" else str(tmp_path / told)
    assert f"labtests journal {told}" in text_of(page(run, journal=Chronicle.of(there)))


def test_the_page_fetches_nothing_and_has_one_script_that_its_policy_names(
    run: Json, tags_of: Tags
) -> None:
    html = page(run)
    for tag, attributes in tags_of(html):
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        assert not any(name.startswith("on") for name in attributes)
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in css()
    assert "@import" not in css()
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", html, re.S)
    assert [kind for kind, _ in scripts] == [
        ' type="application/json" id="lt-data"', ' type="module"',
    ]  # fmt: skip
    digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'; base-uri 'none'" in escapes.unescape(html)
    assert not re.search(r"innerHTML|insertAdjacentHTML|eval\(|fetch\(", scripts[1][1])


def test_every_link_leads_to_something_on_the_page(run: Json, tags_of: Tags) -> None:
    tags = tags_of(page(run))

    links = {attributes["href"] for tag, attributes in tags if tag == "a"}
    ids = [f"#{attributes['id']}" for _, attributes in tags if "id" in attributes]

    assert links
    assert links <= set(ids)
    assert len(ids) == len(set(ids))


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
    harmless = {tag for tag, _ in tags_of(page(run))} | {
        "b",
        "em",
        "span",
        "pre",
        "p",
        "h3",
        "article",
        "del",
    }
    bad = spoiled(run, lambda leaf: hostile if isinstance(leaf, str) else leaf)

    html = page(bad)

    tags = tags_of(html)
    assert {tag for tag, _ in tags} <= harmless
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    assert " ".join(hostile.split()) in text_of(html)
    assert "49" not in text_of(page({"tests": [{"title": hostile, "id": "x"}]}))


def test_control_characters_are_shown_and_half_characters_do_not_break_the_page(
    run: Json, text_of: Text
) -> None:
    run["tests"][0]["error"] = "a\x1b[31mred\x00 \ud800 \u202egnp.exe"

    html = page(run)

    assert "a␛[31mred␀ \ufffd \ufffdgnp.exe" in text_of(html)
    assert html.encode("utf-8")


def test_a_run_of_nothing_but_nulls_shows_dashes_and_no_zero(
    run: Json, spoiled: Callable[..., Json], text_of: Text, data_of: Data
) -> None:
    html = page(spoiled(run, lambda _: None))
    text = text_of(html)

    assert "—" in text
    assert "None" not in text
    assert "undefined" not in text.lower()
    assert "PASS" not in text
    assert "Lossless" not in text
    assert data_of(html)["suites"]["test"]["changed"] == []


def test_a_fact_without_a_number_shows_its_reason(run: Json, text_of: Text) -> None:
    fact = run["tests"][0]["verdicts"][0]["facts"][0]
    fact.update(measured=None, note="the counter was never read")

    html = page(run)

    assert "queue 3 drops — the counter was never read exactly 0" in text_of(html)


def test_empty_objects_are_rendered(text_of: Text) -> None:
    assert "NO TEST RAN" in text_of(page({}))
    assert "! 1 ERROR" in text_of(page({"tests": [{}]}))
    assert page({"tests": [{"phases": [{}], "verdicts": [{}], "changes": [{}]}]})


@pytest.mark.parametrize("outcome", [[], {}, 7, None, "odd"])
def test_an_outcome_that_is_no_word_has_a_sign_all_the_same(outcome: object) -> None:
    verdict = {"role": "main", "outcome": outcome, "because": "b", "expected": "pass"}
    html = page({"tests": [{"id": "a::b", "outcome": "pass", "verdicts": [verdict]}]})
    assert "UNKNOWN OUTCOME" in html


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
    assert html.count("<script") == 2


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
    assert str(seconds(nothing)) == '<span class="lt-none">— not recorded</span>'


def test_figures_and_names_of_any_length_are_shown_at_once() -> None:
    """int() takes 4300 digits; a name of 80 kB took 20 s."""
    digits = "9" * 5000
    assert plain(f"sent {digits} packets") == f"sent {digits} packets"
    assert plain("sent 12345 packets") == "sent 12\u202f345 packets"
    fact = {"name": "A = B", "note": f"a = {digits}; b = 3", "measured": 0}
    assert ledger_of({"verdicts": [{"facts": [fact]}]}) == []
    begun = time.monotonic()
    assert counter_words("queue 3 " * 20_000 + "!").startswith("\u2026")
    assert time.monotonic() - begun < 5


# -- files -------------------------------------------------------------------------------------


def test_render_makes_an_old_run_again(run: Json, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(run))

    result = CliRunner().invoke(main, ["render", str(tmp_path)])

    assert (result.exit_code, result.stdout) == (0, f"{tmp_path}/rendered.html\n")
    assert (tmp_path / "rendered.html").read_text(encoding="utf-8") == page(
        read_run(tmp_path), journal=Chronicle.of(tmp_path)
    )


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


def test_names_of_many_tests_take_no_longer_each(test_of: Any, verdict_of: Any) -> None:
    """A parametrised suite may have thousands; twenty thousand were an hour once."""
    test = test_of("many", "pass", [verdict_of()])
    tests = [{**test, "id": f"suites/test_many.py::test_of_{n}"} for n in range(20_000)]
    began_s = time.process_time()
    found = suites_of({"tests": tests}, Past())
    assert [found[0].name, len(found)] == ["many: 0", 20_000]
    assert time.process_time() - began_s < 30
