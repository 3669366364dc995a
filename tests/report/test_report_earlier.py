"""Since the last run: which one is taken, and what is said to be another."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labtests.report import Past, earlier_run, page
from labtests.report.earlier import Since

Json = dict[str, Any]


def left(runs: Path, name: str, run: Json, **more: Any) -> None:
    (runs / name).mkdir(parents=True)
    told = {"whole": True, "started": "2026-11-20T09:30:00+00:00"} | more
    (runs / name / "run.json").write_text(json.dumps(run | told))


def test_the_newest_whole_run_of_the_same_lab_and_backend_is_taken(
    run: Json, tmp_path: Path
) -> None:
    left(tmp_path, "1-older", run)
    left(tmp_path, "2-right", run)
    left(tmp_path, "3-part", run, whole=False)
    left(tmp_path, "4-hardware", run, backend="hardware")
    left(tmp_path, "5-other-lab", run, lab={"name": "another"})
    left(tmp_path, "6-broken-on-purpose", run, faults=["{}"])
    left(tmp_path, "7-later", run, started="2026-11-21T09:31:00+00:00")
    (tmp_path / "8-no-run").mkdir()
    (tmp_path / "latest").symlink_to("1-older")

    found = earlier_run(run, tmp_path)

    assert found is not None
    assert found["folder"] == "2-right"
    assert earlier_run(run, tmp_path / "nowhere") is None


def test_an_older_run_json_is_whole_when_nothing_was_left_out(run: Json, tmp_path: Path) -> None:
    left(tmp_path, "1", run)
    file = tmp_path / "1" / "run.json"
    old = {key: value for key, value in json.loads(file.read_text()).items() if key != "whole"}
    for change, taken in (({}, True), ({"command_line": "pytest suites -k s1"}, False),
                          ({"exit_code": 2}, False), ({"not_run": ["x"]}, False)):  # fmt: skip
        file.write_text(json.dumps(old | change))
        assert (earlier_run(run, tmp_path) is not None) is taken


def test_the_page_says_which_run_it_took_or_that_there_is_none(
    run: Json, text_of: Callable[[str], str]
) -> None:
    before = copy.deepcopy(run) | {"started": "2026-11-20T08:00:00+00:00", "folder": "20261120-x"}

    text = text_of(page(run, past=Past(last=before)))

    assert "Since the last run, 2026-11-20 08:00:00 UTC Nothing turned red" in text
    assert "the run of 2026-11-20 08:00:00 UTC (20261120-x)" in text
    assert "Nothing to compare with: no earlier whole run of this lab" in text_of(page(run))


def test_what_turned_red_is_said_with_the_setting_that_was_another_one(
    run: Json, text_of: Callable[[str], str], verdict_of: Callable[..., Json]
) -> None:
    before = copy.deepcopy(run)
    run["tests"][0].update(outcome="fail", verdicts=[verdict_of(outcome="fail")])
    run["tests"][0]["phases"][0]["settings"][0]["value"] = "none"

    text = text_of(page(run, past=Past(last=before)))

    assert "1 turned red: pauses" in text
    assert "was PASS" in text
    assert "Not so when it last passed: S6550 1/0/13 trust: dscp → none" in text


def test_a_test_that_somebody_ended_has_not_turned_red(
    run: Json, text_of: Callable[[str], str]
) -> None:
    before = copy.deepcopy(run)
    run["tests"][0].update(outcome="error", error="interrupted by Ctrl-C")

    text = text_of(page(run, past=Past(last=before, green=before)))

    assert "Nothing turned red, 1 cut off" in text
    assert "turned red:" not in text


def test_a_test_that_was_red_before_has_not_turned_red(
    run: Json, text_of: Callable[[str], str], verdict_of: Callable[..., Json]
) -> None:
    run["tests"][0].update(outcome="fail", verdicts=[verdict_of(outcome="fail")])

    text = text_of(page(run, past=Past(last=copy.deepcopy(run))))

    assert "Nothing turned red" in text
    assert "Needs a person" in text


def test_the_fact_that_moved_most_is_named_with_its_share(
    run: Json, text_of: Callable[[str], str]
) -> None:
    before = copy.deepcopy(run)
    for fact, was in zip(run["tests"][0]["verdicts"][0]["facts"], (0, 10.0), strict=True):
        fact["measured"] = was * 0.9
    before["tests"][0]["verdicts"][0]["facts"][1]["measured"] = 10.0

    since = Since.of(run["tests"][0], before["tests"][0])

    assert since.most is not None
    assert (since.most.name, since.most.share) == ("sum of goodputs", pytest.approx(-0.1))
    assert "sum of goodputs −10 %" in text_of(page(run, past=Past(last=before)))


def test_a_fact_without_a_value_has_not_moved_to_0(run: Json) -> None:
    before = copy.deepcopy(run["tests"][0])
    run["tests"][0]["verdicts"][0]["facts"][1]["measured"] = None

    assert Since.of(run["tests"][0], before).facts == ()


def test_counters_are_held_beside_those_of_the_last_run(run: Json, data_of: Any) -> None:
    before = copy.deepcopy(run)
    grown, still, _ = before["tests"][0]["phases"][0]["counters"]
    grown["increase"], still["increase"] = 30_000_000, 12

    rows = data_of(page(run, past=Past(last=before)))["suites"]["pauses"]["changed"]

    assert [(row[9], row[11]) for row in rows] == [(37_714_815, 30_000_000), (0, 12)]
    (alone,) = data_of(page(run))["suites"]["pauses"]["changed"]
    assert alone[11] is None
