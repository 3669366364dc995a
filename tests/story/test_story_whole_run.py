"""The whole story, as `make run` tells it: what it proves and what it leaves behind."""

import html
import itertools
import json
import re
import stat
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pandas as pd
import pytest
from recorded import recorded_lab
from story_lab import SUITE_TESTS
from story_runs import TESTBED
from typed import typed

from labtests.report.text import plain

SUITES = ("test_s1_pfc", "test_s2_dcqcn", "test_s3_reaction_point")
COLUMNS = ["device", "port", "scope", "index", "counter", "unit", "time_s", "value", "source"]


def test_every_experiment_passes_against_the_simulated_lab(good):
    assert good.exit_code == 0, good.terminal
    assert re.search(rf"^=+ {SUITE_TESTS} passed in ", good.terminal, re.M)
    assert "verdicts (simulated)" in good.terminal
    assert good.terminal.count("negative control failed, as required") >= 6
    assert "CONTROL PASSED" not in good.terminal
    assert f"report: {good.folder}/report.html" in good.terminal


def test_run_json_has_every_verdict_with_its_outcome_and_red_controls(good):
    run = good.json
    assert (run["format"], run["backend"], run["exit_code"]) == ("labtests-run/2", "simulated", 0)
    assert (run["problem"], run["not_run"], run["seed"]) == ("", [], 1)
    assert [test["outcome"] for test in run["tests"]] == ["pass"] * SUITE_TESTS
    assert [test["error"] for test in run["tests"]] == [None] * SUITE_TESTS
    verdicts = [verdict for test in run["tests"] for verdict in test["verdicts"]]
    roles = [(v["role"], v["expected"], v["outcome"]) for v in verdicts]
    unproven = ("control", "inconclusive", "inconclusive")
    assert set(roles) == {("control", "fail", "fail"), ("main", "pass", "pass"), unproven}
    for test in run["tests"]:
        assert {v["role"] for v in test["verdicts"]} == {"control", "main"}, test["id"]
        assert ("control", "fail") in {(v["role"], v["expected"]) for v in test["verdicts"]}
    assert all(v["as_expected"] and v["backend"] == "simulated" for v in verdicts)
    assert all(v["question"] and v["because"] and v["facts"] for v in verdicts)


def test_every_phase_ran_and_its_lossless_claims_are_in_its_own_counters(good):
    for test in good.json["tests"]:
        for phase in test["phases"]:
            assert phase["settled"]
            assert phase["unreachable"] == []
            assert {flow["status"] for flow in phase["flows"]} == {"complete"}
            staggered = any(name in test["id"] for name in SUITES)
            loaded_s = 5 if staggered else 0.9 if phase["samples"] else 0.4
            assert phase["end_s"] - phase["start_s"] >= loaded_s
    pfc_on = good.test("s1_pfc")["phases"][-1]
    dropped = {
        (row["index"], row["increase"])
        for row in pfc_on["counters"]
        if (row["port"], row["counter"]) == ("Twenty-FiveGigE1/0/13", "dropped_packets")
    }
    assert {(3, 0), (5, 0)} <= dropped


def test_what_was_changed_was_put_back_by_as_many_settings(good):
    for test in good.json["tests"]:
        assert any(change["text"].startswith("put back: ") for change in test["changes"])
    notes = [line["text"] for line in good.journal if line["kind"] == "note"]
    parts = [re.match(r"(change|undo) (\w+) of (\S+): from (.*) to (.*)$", text) for text in notes]
    first: dict[tuple[str, str], str] = {}
    now: dict[tuple[str, str], str] = {}
    for found in filter(None, parts):
        _, setting, port, earlier, wanted = found.groups()
        first.setdefault((setting, port), earlier)
        now[setting, port] = wanted
    assert len(first) >= 12
    assert now == first


def test_junit_says_simulated_for_the_file_and_for_each_test(good):
    root = ET.parse(good.folder / "junit.xml").getroot()
    (suite,) = root.findall("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        str(SUITE_TESTS),
        "0",
        "0",
    )
    assert properties(suite)["backend"] == "simulated"
    assert properties(suite)["testbed"] == TESTBED
    cases = suite.findall("testcase")
    for case in cases:
        assert properties(case)["backend"] == "simulated"
        assert properties(case)["outcome"] == "pass"
        assert "PASS [SIMULATED]: " in properties(case)["verdict"]
    ids = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(ids)) == SUITE_TESTS


def properties(element: ET.Element) -> dict[str, str]:
    found = element.findall("properties/property")
    return {p.attrib["name"]: p.attrib["value"] for p in found}


class Fetches(HTMLParser):
    """Everything in a page that makes a browser fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if tag == "a" and name == "href":
                self.links.append(value or "")
            elif name == "data-jsonblob":  # pytest-html's rows, put into the page by its script
                for row in itertools.chain(*json.loads(value or "{}")["tests"].values()):
                    for text in (*row["resultsTableRow"], *(e["content"] for e in row["extras"])):
                        self.read(text)
            elif name in ("src", "srcset", "href", "data", "poster", "action", "background"):
                self.found += [f"{tag} {name}={value}"] if value else []
            elif name == "style":
                self.found += re.findall(r"url\((?!['\"]?data:)[^)]*\)", value or "")

    def read(self, html: str) -> None:
        part = Fetches()
        part.feed(html)
        self.found += part.found
        self.links += part.links

    def handle_data(self, data: str) -> None:
        if self.lasttag == "style":
            self.found += re.findall(r"@import[^;]*|url\((?!['\"]?data:)[^)]*\)", data)


def test_the_report_is_one_offline_file_with_the_verdicts_on_its_first_screen(good):
    page = (good.folder / "report.html").read_text()
    fetches = Fetches()
    fetches.feed(page)
    assert fetches.found == []
    assert not (good.folder / "assets").exists()
    assert [u for u in fetches.links if not u.startswith("#")] == [
        "https://pypi.python.org/pypi/pytest-html"  # in pytest-html's own footer; a click, no fetch
    ]
    assert "SIMULATED" in page
    shown = html.unescape(page)
    for test in good.json["tests"]:
        assert test["title"] in shown
        for verdict in test["verdicts"]:
            assert plain(verdict["because"].split(";")[0]) in shown
    assert "not known when this was written" not in page  # the exit code is


def test_latest_points_to_the_run_and_only_its_owner_can_read_it(good):
    latest = good.project / "reports" / "latest"
    assert latest.is_symlink()
    assert not latest.readlink().is_absolute()  # the folder may be moved
    assert good.folder.parent == good.project / "reports" / TESTBED
    assert stat.S_IMODE(good.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((good.folder / "journal.jsonl.gz").stat().st_mode) == 0o600
    assert sorted(entry.name for entry in good.folder.iterdir()) == [
        "changes.jsonl", "check.json", "journal.jsonl.gz", "junit.xml", "report.html", "run.json",
        "state-after.json", "state-before.json", "tables", "tests",
    ]  # fmt: skip


def test_the_journal_replays_as_a_lab_and_holds_no_key(good):
    lab = recorded_lab(good.folder / "journal.jsonl.gz")
    assert set(lab) == {"ServerA", "ServerB", "ServerC", "S6550"}
    assert "Comware" in lab["S6550"].run(typed("display version")).text
    assert "Priority trust state" in lab["ServerA"].run(typed("mlnx_qos -i enp3s0f0np0")).text
    for file in filter(lambda path: path.is_file(), good.folder.rglob("*")):
        assert b"PRIVATE KEY" not in file.read_bytes()


def test_a_run_is_small(good):
    suites, beside = len(good.json["tests"]), (good.folder / "tables").iterdir()
    assert (good.folder / "run.json").stat().st_size < 60_000 * suites
    assert sum(file.stat().st_size for file in beside) < 60_000 * suites


@pytest.mark.parametrize("suite", SUITES)
def test_every_phase_has_a_tidy_table_that_agrees_with_run_json(good, suite):
    test = good.test(suite)
    folder = good.folder / "tests" / test["id"].rpartition("::")[2]
    files = sorted(folder.iterdir())
    assert [f.name for f in files] == [
        f"phase-{n + 1}-counters.csv.gz" for n in range(len(test["phases"]))
    ]
    for phase, file in zip(test["phases"], files, strict=True):
        table = pd.read_csv(file, keep_default_na=False, na_values={"index": "", "value": ""})
        assert list(table.columns) == [*COLUMNS, "missing"]
        assert all(pd.api.types.is_numeric_dtype(table[c]) for c in ("index", "value", "time_s"))
        assert not table.duplicated([*COLUMNS[:5], "time_s"]).any()
        assert (table["value"].notna() | (table["missing"] != "")).all()
        agrees(table, phase)


def agrees(table: pd.DataFrame, phase: dict) -> None:
    by_key = {
        tuple(None if pd.isna(part) else part for part in key): rows
        for key, rows in table.groupby(COLUMNS[:5], dropna=False)
    }
    for row in phase["counters"]:
        key = tuple(row[name] for name in ("device", "port", "scope", "index", "counter"))
        rows = by_key[key]
        before = rows[rows["time_s"] <= phase["start_s"]].iloc[-1]
        assert [integer(before["value"]), integer(rows.iloc[-1]["value"])] == [
            row["before"],
            row["after"],
        ]


def integer(value: float) -> int | None:
    return None if pd.isna(value) else int(value)


# -- same seed, same figures ---------------------------------------------------------------------

OF_THE_MOMENT = {"id", "started", "ended", "duration_s", "command_line", "file", "rerun"}


def timeless(value):
    """A run without what differs between two runs of the same kind: wall times and paths."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in OF_THE_MOMENT}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def test_the_same_seed_gives_the_same_run_to_the_last_packet(once, again):
    assert again.exit_code == 0
    assert json.dumps(timeless(once.json)) == json.dumps(timeless(again.json))


def test_another_seed_gives_other_figures_and_the_same_verdicts(good, other_seed):
    assert other_seed.exit_code == 0, other_seed.terminal
    one, other = good.test("s1_pfc"), other_seed.test("s1_pfc")
    assert other_seed.json["seed"] == 2
    assert timeless(one) != timeless(other)
    assert [p["counters"] for p in one["phases"]] != [p["counters"] for p in other["phases"]]
    outcomes = [[(v["question"], v["outcome"]) for v in test["verdicts"]] for test in (one, other)]
    assert outcomes[0] == outcomes[1]
