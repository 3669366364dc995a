"""The gate: what is declared can be, what a run says is judged, and nothing is run twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.faults import command
from labtests.faults.catalogue import CATALOGUE
from labtests.faults.declared import FAMILIES, Declared, fault
from labtests.faults.judging import as_declared, judged
from labtests.faults.matrix import by_place, text, wrong
from labtests.faults.page import declarations
from labtests.faults.places import NotOfThisLab, Places
from labtests.faults.running import Bench, GateResult, jobs, results_of
from labtests.faults.suites import SUITES
from labtests.inventory import load

ROOT = Path(__file__).parents[2]
TESTBEDS = sorted((ROOT / "testbeds").glob("*.yaml"))
H3C = Places(load(ROOT / "testbeds" / "h3c-s6550-cx4.yaml"))
LOST = Declared(
    name="lost",
    family="hosts",
    what="something",
    how=(fault("freeze", "{sender2}", seconds=1),),
    when="middle",
    red=("s1", "s2"),
    says=("{sender2}", ("lost", "gone")),
)


def test_there_are_a_hundred_faults_and_more_in_nine_families():
    names = [each.name for each in CATALOGUE]
    assert len(names) == len(set(names)) > 100
    assert tuple(dict.fromkeys(each.family for each in CATALOGUE)) == FAMILIES
    assert len(FAMILIES) == 9


EVERY = [Places(load(file)) for file in TESTBEDS]


@pytest.mark.parametrize("declared", CATALOGUE, ids=lambda each: each.name)
def test_each_can_be_asked_for_on_some_testbed_and_asks_for_words(declared):
    assert declared.red
    assert set(declared.red) <= set(SUITES)
    assert declared.what
    assert bool(declared.says) != bool(declared.unseen)
    here = [places for places in EVERY if list(jobs([declared], (), places))]
    assert here
    for places in here:
        for word in declared.says:
            for each in (word,) if isinstance(word, str) else word:
                assert "{" not in places.named(each)


def test_at_least_a_hundred_can_be_on_the_first_testbed_and_many_on_others():
    counts = {
        places.testbed.name: len({job.declared.name for job in jobs(CATALOGUE, (), places)})
        for places in EVERY
    }
    assert counts["h3c-s6550-cx4"] >= 100
    assert counts["nexus-cx5"] >= 80


def test_each_suite_is_there():
    for suite in SUITES.values():
        text = (ROOT / "suites" / f"{suite.file}.py").read_text(encoding="utf-8")
        assert f"def {suite.test}(" in text


def test_every_suite_of_the_folder_has_a_name():
    tests = {
        line.split("(")[0].removeprefix("def ")
        for file in (ROOT / "suites").glob("test_*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("def test_")
    }
    assert tests == {suite.test for suite in SUITES.values()}


def test_roles_are_those_of_the_testbed():
    (given,) = H3C.faults(LOST, SUITES["s1"])
    assert given == {
        "kind": "freeze",
        "device": "ServerB",
        "seconds": 1,
        "at": "experiment *: traffic",
        "after_s": 3.0,
    }
    assert H3C.named("{bottleneck}") == "Twenty-FiveGigE1/0/13"
    with pytest.raises(NotOfThisLab, match="has no trunk"):
        H3C.named("{trunk.port}")
    with pytest.raises(NotOfThisLab, match="has no ways"):  # that suite skips there
        H3C.faults(LOST, SUITES["link-failure"])
    with pytest.raises(NotOfThisLab, match="for nxos, not for comware"):
        H3C.faults(replace(LOST, switches=("nxos",)), SUITES["s1"])
    with pytest.raises(NotOfThisLab, match="applies to switches only"):
        H3C.faults(replace(LOST, how=(fault("role", "{sender1}", role="x"),)), SUITES["s1"])


def ran(outcome: str, because: str = "", **more: object) -> dict:
    verdicts = [{"role": "main", "outcome": outcome, "because": because, "phase": "p"}]
    verdicts.append({"role": "control", "outcome": "fail", "because": "ServerB lost",
                     "phase": "c", "as_expected": True})  # fmt: skip
    test = {"outcome": outcome, "verdicts": verdicts, "error": ""}
    return {"tests": [test], "problem": "", "state": {}, "faults_not_met": [], **more}


@pytest.mark.parametrize(
    ("run", "status", "seen"),
    [
        (ran("fail", "ServerB has Lost 3"), 1, "red"),
        (ran("inconclusive", "of ServerB 3 are gone"), 1, "red"),
        (ran("fail", "ServerA has lost 3"), 1, "blames another"),
        (ran("pass"), 0, "green"),
        (ran("pass", problem="ServerB: a setting is lost"), 10, "red"),
        (ran("skipped", "ServerB: gone"), 0, "skipped"),
        (ran("fail", "ServerB lost", faults_not_met=[{"fault": "f", "why": "w"}]), 1, "not met"),
        (ran("fail", "ServerB lost"), 3, "broken"),
        (None, 1, "broken"),
        ({**ran("pass"), "tests": [], "problem": "ServerB is gone"}, 15, "red"),
    ],
)
def test_what_a_run_says(run, status, seen):
    found = judged(run, status, LOST, H3C)
    assert found.seen == seen
    assert as_declared(LOST, found.seen) == (seen == "red")
    assert as_declared(replace(LOST, unseen="why"), found.seen) == (seen == "green")


def test_a_skip_counts_where_it_may_and_says_why():
    may = replace(LOST, skips=True)
    assert judged(ran("skipped", "ServerB: gone"), 0, may, H3C).seen == "red"
    assert judged(ran("skipped", "no such switch"), 0, may, H3C).seen == "skipped"


def result(suite: str, seen: str, **more: object) -> GateResult:
    usual = {"fault": "lost", "digest": LOST.digest, "testbed": "h3c-s6550-cx4", "seed": 1,
             "commit": "abc", "date": "2026-01-01", "words": "w", "seconds": 1.0}  # fmt: skip
    return GateResult(**{**usual, "suite": suite, "seen": seen, **more})


@pytest.mark.parametrize(
    ("seen", "count"),
    [
        (("red", "red"), 0), (("red", "green"), 1), (("blames another", "not met"), 2),
        (("red", "skipped"), 0), (("skipped", "skipped"), 2), (("broken", "red"), 1),
    ],
)  # fmt: skip
def test_what_is_not_as_declared_is_told(seen, count):
    found = by_place(map(result, LOST.red, seen), [LOST])
    assert len(wrong([LOST], found)) == count
    shown = list(text([LOST], found))
    assert shown[1].split()[0] == "lost"


def test_results_of_another_declaration_do_not_count():
    old = result("s1", "green", digest="another")
    assert by_place([old], [LOST]) == {}
    assert LOST.digest != replace(LOST, says=()).digest


class Told(Bench):
    """No process is started."""

    def run(self, declared: Declared, suite: str) -> GateResult:
        return result(suite, "green" if suite == "s2" else "red", digest=declared.digest)


def gate(tmp_path: Path, **more: object) -> command.GateRequest:
    usual = {"testbeds": (H3C.testbed.file,), "results": tmp_path / "results.jsonl", "jobs": 2}
    return command.GateRequest(**{**usual, **more})


def test_the_gate_keeps_results_and_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "CATALOGUE", (LOST,))
    monkeypatch.setattr(command, "Bench", Told)
    said: list[str] = []
    assert command.run(gate(tmp_path), said.append) == 1
    assert "1 faults, 2 runs, 2 to do" in said[0]
    assert any(line.startswith("WRONG  lost x s2: green") for line in said)
    file = tmp_path / "results.jsonl"
    lines = file.read_text().splitlines()
    kept = [line for line in lines if json.loads(line)["suite"] == "s1"]
    file.write_text(kept[0] + "\n" + lines[-1][:40])  # killed in the middle of a line
    assert len(results_of(file)) == 1
    said.clear()
    assert command.run(gate(tmp_path, suites=("s1",)), said.append) == 0
    assert "0 to do" in said[0]
    said.clear()
    assert command.run(gate(tmp_path), said.append) == 1
    assert "1 to do" in said[0]
    assert len(results_of(file)) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "nonsense"], "no such fault: nonsense"),
        (["run", "--suite", "s99"], "--suite s99: one of below"),
        (["run", "--family", "pets"], "--family pets: one of hosts"),
        (["run", "switch-reboots", "--testbed", "h3c-s6550-cx4", "--suite", "s99"], "s99"),
        (["run", "--testbed", "nowhere"], "no such name"),
    ],
)
def test_a_wrong_option_is_told(words, says):
    done = CliRunner().invoke(main, ["faults", *words], catch_exceptions=False)
    assert done.exit_code == 2
    assert says in done.output


def test_the_catalogue_is_listed():
    done = CliRunner().invoke(main, ["faults", "list", "--family", "hosts"])
    count = sum(each.family == "hosts" for each in CATALOGUE)
    assert done.output.splitlines()[-1] == f"{count} faults"
    assert "sender-stands-still  [hosts]" in done.output


def test_a_draw_is_the_same_for_the_same_seed(tmp_path):
    chosen = [command._chosen(gate(tmp_path, draw=10, seed=seed)) for seed in (1, 1, 2)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[2]) == 10


def test_the_page_is_that_of_the_declarations():
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    assert "\n".join(declarations(CATALOGUE)) in page, "labtests faults page --into docs/faults.md"
    results = page.partition("## Last results")[2]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    unseen = sum(bool(each.unseen) for each in CATALOGUE)
    assert f"{len(CATALOGUE)} ways in nine families: {len(CATALOGUE) - unseen} turn" in readme
    left = results.partition("Not run: ")[2].partition(".\n")[0].split(", ")
    assert [n for n in (each.name for each in CATALOGUE) if f"| {n} |" not in results] == [
        each for each in left if each
    ]


def test_a_page_loses_no_results_of_another_machine(tmp_path):
    page, none = tmp_path / "faults.md", ["--results", str(tmp_path / "none.jsonl")]
    printed = CliRunner().invoke(main, ["faults", "page", *none])
    assert printed.exit_code == 0
    assert "has no results" in printed.stderr
    page.write_text((ROOT / "docs" / "faults.md").read_text(encoding="utf-8"))
    before = page.read_bytes()
    ended = CliRunner().invoke(main, ["faults", "page", *none, "--into", str(page)])
    assert ended.exit_code == 2
    assert "they would be lost" in ended.output
    assert page.read_bytes() == before
    page.write_text("an old page without results")
    CliRunner().invoke(main, ["faults", "page", *none, "--into", str(page)])
    assert page.read_text() == printed.stdout
