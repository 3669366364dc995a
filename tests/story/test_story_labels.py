"""Each kind of red has its own word, the same in the terminal, JUnit, HTML and run.json."""

import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from story_runs import TESTBED, Run, project, run

DRY = ("--testbed", TESTBED, "--dry-run")

SUITE = '''
import time
import pytest
from labtests.capabilities.device import EcnMarking
from labtests.core.errors import CommandRejected
from labtests.measure.evidence import Evidence
from labtests.experiment.judging import Judged
from labtests.inventory import Endpoint
from labtests.capabilities.records import TrustSetting
from labtests.capabilities.settings import TRUST
from labtests.verdicts import Outcome, Verdict

def verdict(outcome):
    return Verdict(question="Is it so?", outcome=outcome, because="<b>the reason</b>",
                   backend="simulated", phase="made up")

@pytest.mark.parametrize("outcome", list(Outcome))
def test_judged(incast, outcome):
    """A verdict of each kind."""
    incast.judge(verdict(outcome))

def test_control_that_is_not_red(incast):
    """It passes by itself, and its control proves nothing."""
    incast.judged.append(Judged(verdict=verdict(Outcome.PASS), control=True))

def test_plain_assertion(lab):
    assert lab.testbed.name == "another"

def test_plain_fail(lab):
    pytest.fail("nobody likes it")

@pytest.mark.timeout(0.3)
def test_too_slow(lab):
    time.sleep(5)

def test_lab_error(lab):
    lab.part("ServerA", EcnMarking)

def test_setup_error(incast, no_such_thing):
    pass

@pytest.fixture
def no_such_thing(lab):
    raise CommandRejected("S6550", "display nothing", "% Wrong", "ask for something")

def test_teardown_error(incast, monkeypatch):
    """Its verdict is fine, but the lab is not put back."""
    port = Endpoint(device="ServerA", interface="enp3s0f0np0")
    incast.set(port, TRUST, TrustSetting(source="dscp"))
    exchanges = incast.lab.transports["ServerA"]
    refuse = CommandRejected("ServerA", "mlnx_qos", "device is busy", "wait")
    def change(*_):
        del exchanges.change
        raise refuse
    exchanges.change = change

@pytest.mark.requires("pfc", "queue_limits")
def test_ability_that_nobody_has(lab):
    raise AssertionError("it ran")

@pytest.mark.requires("pfc", "queue_countres")
def test_mistyped_ability(lab):
    raise AssertionError("it ran")

@pytest.mark.requires(switchs=("pfc",))
def test_mistyped_word(incast):
    pass

@pytest.mark.requires(switches="queue_limits")
def test_one_name_alone(incast):
    pass

def test_properties_of_its_own(lab, record_property):
    record_property("answer", 42)

@pytest.mark.parametrize("name", ["../../up", "a/b"])
def test_odd_names(incast, name):
    pass
'''

EXPECTED = {
    "test_judged[pass]": ("pass", None),
    "test_judged[inconclusive]": ("inconclusive", "INCONCLUSIVE [SIMULATED]: Is it so? <b>the r"),
    "test_judged[error]": ("error", "ERROR [SIMULATED]: Is it so? <b>the reason</b>"),
    "test_judged[fail]": ("fail", "FAIL [SIMULATED]: Is it so? <b>the reason</b>"),
    "test_control_that_is_not_red": (
        "inconclusive",
        "NEGATIVE CONTROL PASSED (it has to fail) (made up): PASS",
    ),
    "test_plain_assertion": ("fail", "assert 'h3c-s6550-cx4' == 'another'"),
    "test_plain_fail": ("fail", "nobody likes it"),
    "test_too_slow": ("error", "Timeout"),
    "test_lab_error": ("error", "ServerA does not support EcnMarking"),
    "test_setup_error": ("error", "S6550: 'display nothing': % Wrong\n  remedy: ask for something"),
    "test_teardown_error": ("error", "trust was source: dot1p, override: False and"),
    "test_ability_that_nobody_has": (
        "skipped",
        "supports: queue_limits (an egress port whose queues have lengths that can be read",
    ),
    "test_mistyped_ability": (
        "error",
        "'queue_countres' is an ability unknown to labtests and to the lab; did you mean queue_c",
    ),
    "test_mistyped_word": ("error", "@pytest.mark.requires(switchs=...): there are hosts and sw"),
    "test_one_name_alone": ("skipped", "S6550: no support for queue_limits (an egress port"),
    "test_properties_of_its_own": ("pass", None),
    "test_odd_names[../../up]": ("pass", None),
    "test_odd_names[a/b]": ("pass", None),
}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = project(tmp_path_factory.mktemp("labelled") / "project")
    (folder / "suites" / "test_kinds.py").write_text(SUITE)
    return run(folder, "suites/test_kinds.py", *DRY, "-v")


def test_run_json_tells_the_kinds_apart(labelled):
    tests = {test["id"].rpartition("::")[2]: test for test in labelled.json["tests"]}
    assert {name: test["outcome"] for name, test in tests.items()} == {
        name: outcome for name, (outcome, _) in EXPECTED.items()
    }
    for name, (_, words) in EXPECTED.items():
        assert (words or "None") in str(tests[name]["error"])
    # one of them leaves a device that will not be put back, and that is more than a red test
    assert labelled.json["exit_code"] == labelled.exit_code == 10
    assert labelled.json["problem"].startswith("the lab is not as it was found: ServerA")


def test_the_terminal_tells_the_kinds_apart(labelled):
    said = labelled.terminal
    assert re.search(r"test_judged\[inconclusive\] INCONCLUSIVE", said)
    assert re.search(r"test_judged\[error\] ERROR", said)
    assert re.search(r"test_judged\[fail\] FAILED", said)
    # the test whose lab was not put back counts twice: its call passed, its teardown is an error
    last = said.splitlines()[-1]
    for part in ("3 failed", "5 passed", "2 skipped", "2 inconclusive", "7 errors"):
        assert part in last
    assert re.search(r"^SKIPPED +test_ability_that_nobody_has$", said, re.M)


def test_junit_tells_the_kinds_apart(labelled):
    kinds: dict[str, set[str]] = {}
    for case in ET.parse(labelled.folder / "junit.xml").getroot().iter("testcase"):
        for red in (*case.findall("failure"), *case.findall("error")):
            kinds.setdefault(case.get("name"), set()).add(red.get("type"))
        found = {p.get("name"): p.get("value") for p in case.iter("property")}
        assert found["outcome"] == EXPECTED[case.get("name")][0]
        assert found["backend"] == "simulated"
        if case.get("name") == "test_properties_of_its_own":
            assert found["answer"] == "42"
    assert kinds == {
        name: {outcome}
        for name, (outcome, _) in EXPECTED.items()
        if outcome not in ("pass", "skipped")
    }


def test_the_page_tells_the_kinds_apart_and_escapes_what_it_is_told(labelled):
    rows = rows_of(labelled.folder / "report.html")
    assert rows["test_judged[inconclusive]"] == "inconclusive"
    for name in ("judged[error]", "lab_error", "setup_error", "teardown_error", "too_slow"):
        assert rows[f"test_{name}"] == "error"
    assert rows["test_judged[fail]"] == rows["test_plain_assertion"] == "fail"
    assert rows["test_judged[pass]"] == "pass"
    page = (labelled.folder / "report.html").read_text()
    assert "<b>the reason</b>" not in page
    assert "2 INCONCLUSIVE" in page


def rows_of(page: Path) -> dict[str, str]:
    """The outcome that the page shows for each test; pytest-html's own list is empty."""
    text = page.read_text()
    assert json.loads(html.unescape(re.search(r'data-jsonblob="([^"]*)"', text)[1]))["tests"] == {}
    lines = re.findall(r'lt-suite lt-row-(\w+)".*?lt-code">([^<]*)</span>', text, re.S)
    return {html.unescape(nodeid).rpartition("::")[2]: outcome for outcome, nodeid in lines}


def test_a_part_of_the_suites_is_not_the_last_whole_run(labelled, no_controls, plan):
    for part in (labelled, no_controls, plan):
        assert part.json["whole"] is False
        assert not (part.project / "reports" / "latest").exists()


def test_names_of_tests_never_lead_out_of_the_run_folder(labelled):
    left = {path.relative_to(labelled.project).parts[0] for path in labelled.project.iterdir()}
    assert left <= {
        "conftest.py", "pyproject.toml", "suites", "testbeds", "tests", "reports", "terminal.txt",
        ".pytest_cache", "__pycache__",
    }  # fmt: skip


def test_without_controls_nothing_is_lossless_and_the_reason_is_said(no_controls):
    test = no_controls.test("s1_pfc")
    assert no_controls.exit_code == 1
    assert test["outcome"] == "inconclusive"
    assert [v["outcome"] for v in test["verdicts"]] == ["pass", "inconclusive", "pass", "pass"]
    assert "drop counter is unproven" in test["verdicts"][1]["because"]
    assert "--no-controls" in test["rerun"]
    assert "1 inconclusive" in no_controls.terminal.splitlines()[-1]
    assert re.search(r"^INCONCLUSIVE +PFC: ", no_controls.terminal, re.M)


def test_reports_go_where_the_user_wants_them(no_controls):
    mine = no_controls.project / "mine"
    assert rows_of(mine / "page.html") == {
        "test_pfc_holds_a_udp_incast_without_loss": "inconclusive"
    }
    failures = list(ET.parse(mine / "junit.xml").getroot().iter("failure"))
    assert [f.get("type") for f in failures] == ["inconclusive"]
    assert not (no_controls.folder / "report.html").exists()
    assert not (no_controls.folder / "junit.xml").exists()
    assert f"report: {mine}/page.html" in no_controls.terminal


def test_a_pass_without_a_verdict_is_listed_as_none(labelled):
    """Neither in the terminal nor on the page is it a PASS; pytest's own outcome stays."""
    assert labelled.test("test_properties_of_its_own")["outcome"] == "pass"
    lines = labelled.terminal.splitlines()
    found = lines.index("NO VERDICT    test_properties_of_its_own")
    assert lines[found + 1].strip() == "no verdict was asked for"
    assert "PASS          A verdict of each kind. [pass]" in lines
    page = (labelled.folder / "report.html").read_text()
    assert "3 NO VERDICT" in page
    assert "no verdict was asked for" in page
