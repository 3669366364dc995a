"""The packet network against reference results and closed forms: the quick subset."""

import json

from click.testing import CliRunner

from labtests.__main__ import main
from labtests.network.reference import validation
from labtests.network.reference.comparing import Comparison
from labtests.network.reference.judging import Check, ValidationRow
from labtests.network.reference.reading import reference
from labtests.network.reference.rules import judge


def test_every_quick_check_is_within_its_tolerance() -> None:
    answer = CliRunner().invoke(main, ["network", "validate", "--quick", "--json"])
    rows = json.loads(answer.stdout)
    out = [row for row in rows if row["verdict"] == "fail"]
    assert out == []
    assert answer.exit_code == 0
    assert {row["check"] for row in rows} >= set(validation.QUICK_CHECKS)
    for row in rows:
        assert (row["measured"] is None) == (row["verdict"] == "not modelled")


def test_every_reference_check_has_a_rule_and_its_runs() -> None:
    data = reference()
    names = {str(row["id"]) for row in data.checks}
    assert len(names) == len(data.checks) > 120
    assert set(validation.QUICK_CHECKS) <= names
    assert {row["trust"] for row in data.checks} == {"A", "B", "C"}


def test_a_check_that_is_out_ends_the_command_with_1(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    broken = Check(name="broken", trust="A", quantity="x").near(2.0, 1.0, 0.1)
    monkeypatch.setattr(validation, "judged", lambda **_: iter([broken]))
    answer = CliRunner().invoke(main, ["network", "validate", "--quick"])
    assert answer.exit_code == 1
    assert "A: 0 of 1 pass" in answer.stdout


def test_trust_c_is_shown_and_what_is_not_modelled_never_passes() -> None:
    shown = Check(name="c", trust="C", quantity="x").near(2.0, 1.0, 0.1)
    missing = Check(name="m", trust="F", quantity="x").not_modelled("why")
    assert (shown.verdict, missing.verdict) == ("shown", "not modelled")
    rows: list[ValidationRow] = [shown, missing]
    told = validation.tally(rows)
    assert "A: 0 of 0 pass; B: 0 of 0 pass; F: 0 of 0 pass" in told
    assert told.endswith("shown only: 1; not modelled: 1")


def test_a_wrong_network_is_caught() -> None:
    """The rules can fail: a threshold twice as high is out."""
    data = reference()
    name = "vi_dt_alpha0.125_2to1_25g"
    (row,) = [row for row in data.checks if row["id"] == name]
    assert judge(Comparison(data), row).verdict == "pass"
    wrong = {**row, "expected": 2 * row["expected"]}
    assert judge(Comparison(data), wrong).verdict == "fail"
