"""`labtests network validate --reference FOLDER`: others' runs in the same layout, and mistakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.network.reference.reading import reference
from labtests.network.reference.validation import judged

RUN = "vi_dt_alpha0.125_2to1_25g"
Change = Callable[[Path], None]


def folder_of(path: Path, *checks: str, **params: Any) -> Path:
    """A folder with these checks of the package, and their runs with other parameters."""
    data = reference()
    rows = [{**row, "params": None} for row in data.checks if row["id"] in checks]
    (path / "checks.json").write_text(json.dumps({"checks": rows}), encoding="utf-8")
    names = {run for check in checks for run in data.runs_of(check.removeprefix("PFC."))}
    runs = [{"case": name, "params": {**data.runs[name], **params}} for name in sorted(names)]
    (path / "some_runs.json").write_text(json.dumps(runs), encoding="utf-8")
    (path / "index.json").write_text('{"files": {"checks.json": "", "some_runs.json": ""}}')
    return path


def validate(folder: Path) -> Any:
    return CliRunner().invoke(main, ["network", "validate", "--reference", str(folder), "--jobs=1"])


def test_a_folder_of_the_same_layout_gives_the_same_rows(tmp_path: Path) -> None:
    names = (RUN, "vii_headroom_2to1_100g_1us", "htsim_pfc_2to1_25g")
    folder = folder_of(tmp_path, *names)
    alone = list(judged(folder=folder))
    assert {row.check for row in alone} == set(names)
    assert [row.verdict for row in alone] == ["pass"] * 3
    answer = validate(folder)
    assert answer.exit_code == 0
    assert "A: 3 of 3 pass" in answer.stdout


def test_the_figures_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "htsim_pfc_2to1_25g", RUN, f"{RUN}.queue", "vi_dt_alpha1_2to1_25g")
    assert list(judged(folder=folder, jobs=2)) == list(judged(folder=folder))


def test_other_parameters_are_measured_and_a_wrong_expectation_is_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, RUN, alpha=0.25)
    (row,) = judged(folder=folder)
    assert row.verdict == "pass"  # the closed form follows the parameters
    told = json.loads((folder / "checks.json").read_text())
    told["checks"][0]["expected"] = 1.5
    (folder / "checks.json").write_text(json.dumps(told))
    assert validate(folder).exit_code == 1


def change_run(key: str, value: object) -> Change:
    def change(folder: Path) -> None:
        runs = json.loads((folder / "some_runs.json").read_text())
        runs[0]["params"][key] = value
        if value is None:
            del runs[0]["params"][key]
        (folder / "some_runs.json").write_text(json.dumps(runs))

    return change


def change_check(key: str, value: object) -> Change:
    def change(folder: Path) -> None:
        told = json.loads((folder / "checks.json").read_text())
        told["checks"][0][key] = value
        if value is None:
            del told["checks"][0][key]
        (folder / "checks.json").write_text(json.dumps(told))

    return change


def write(name: str, text: str) -> Change:
    return lambda folder: (folder / name).write_text(text) and None


MISTAKES: list[tuple[Change, str]] = [
    (write("checks.json", "{"), "checks.json: no JSON"),
    (write("checks.json", "[]"), "checks.json: no list of checks"),
    (write("some_runs.json", '[{"case": "x"}]'), "some_runs.json: run 0: has no `params`"),
    (write("some_runs.json", '[{"params": {}}]'), "some_runs.json: run 0: has no `case`"),
    (write("index.json", '{"files": {"other.json": ""}}'), "other.json: cannot be read"),
    (change_run("topology", None), "params has no topology"),
    (change_run("buffer_bytes", "much"), "parameters not understood"),
    (change_run("flows", [[2, 7, 100, 1, 0]]), "n7 of flow f0-n2-n7 is not a host with a link"),
    (
        change_run("topology", {"sw": [0], "links": [[0, 1, "25Gbaud", "1ms", 0]]}),
        "not a rate, as 25Gbps: '25Gbaud'",
    ),
    (change_check("id", "vi_other"), "there is no run vi_other or vi_other_s1"),
    (change_check("trust", "D"), "checks[0]: trust is 'D', not one of A, B, C"),
    (change_check("expected", None), "checks[0]: has no expected"),
    (change_check("expected", {"a": 1}), "not understood"),
]


@pytest.mark.parametrize(("change", "problem"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_what_is_wrong_in_a_folder_is_named(tmp_path: Path, change: Change, problem: str) -> None:
    folder = folder_of(tmp_path, RUN)
    change(folder)
    answer = validate(folder)
    assert answer.exit_code == 2, answer.output
    assert problem in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_check_of_no_known_kind_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, RUN)
    change_check("file", "queues.json")(folder)
    change_check("id", "xi_queue")(folder)
    answer = validate(folder)
    assert answer.exit_code == 2
    assert "no rule of comparison" in answer.stderr


def test_quick_and_reference_exclude_each_other(tmp_path: Path) -> None:
    arguments = ["network", "validate", "--quick", "--reference", str(folder_of(tmp_path, RUN))]
    assert "not with --reference" in CliRunner().invoke(main, arguments).stderr
