"""What a terminal shows at the end: which lab, how far to trust it, what was asked, the answer; and
no report that is not there."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labtests.core import private_files
from labtests.core.private_files import replace_private
from labtests.pytest_plugin import terminal
from labtests.pytest_plugin.run import Run
from labtests.report import Past, in_short, page
from labtests.report.suites import suites_of

Json = dict[str, Any]


class Lines:
    """A terminal that remembers."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def write_line(self, line: str, **_: bool) -> None:
        self.said.append(line)

    section = write_line


def ended(run: Json, folder: Path, **more: Any) -> Any:
    told = SimpleNamespace(
        **{"tests": run["tests"], "not_run": [], "left": "", "lab": None}
        | {"proof": SimpleNamespace(differences=(), red=False), "folder": folder}
        | {"timed_faults": SimpleNamespace(not_met=[]), "backend": run["backend"]}
        | {"transcript": SimpleNamespace(problem=""), "page": folder / "report.html"}
        | {"clean": str, "as_json": lambda: run}
        | {"asked": SimpleNamespace(planning=False)}
        | more
    )
    told.has_page = Run.has_page.fget(told)  # type: ignore[attr-defined]
    return told


def shown(run: Any) -> list[str]:
    lines = Lines()
    terminal.print_summary(lines, run)  # type: ignore[arg-type]
    return lines.said


def test_the_end_says_lab_trust_question_and_answer(
    run: Json, test_of: Any, verdict_of: Any
) -> None:
    run["tests"] += [test_of("loses", "fail", [verdict_of(outcome="fail")])]
    run["tests"] += [test_of("left", "skipped", [])]

    told = dict(in_short(run))

    assert list(told) == ["lab", "trust", "asked", "answer", "fail"]
    assert told["lab"].startswith("h3c-s6550-cx4: three servers")
    assert told["trust"].startswith("simulated, seed 1: no box was touched")
    assert told["asked"].startswith("3 suites, ")
    assert told["answer"] == "1 of 3 suites fails; loses: the main sentence"
    assert told["fail"].startswith("loses: ")
    assert dict(in_short(run | {"backend": "hardware"}))["trust"] == "hardware"
    assert dict(in_short(run | {"backend": None}))["trust"].startswith("simulated")


def test_a_report_is_announced_when_it_is_there_to_its_end(run: Json, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(page(run))

    assert f"report: {tmp_path}/report.html" in shown(ended(run, tmp_path))


@pytest.mark.parametrize("left", [None, "", "<!DOCTYPE html><html><body>cut"])
def test_no_report_is_announced_that_is_not_there(
    run: Json, tmp_path: Path, left: str | None
) -> None:
    if left is not None:
        (tmp_path / "report.html").write_text(left)

    said = shown(ended(run, tmp_path))

    assert f"no report: {tmp_path}/report.html could not be written whole" in said
    assert not any(line.startswith("report:") for line in said)
    assert f"run folder: {tmp_path}" in said


def test_a_journal_that_a_full_disk_has_cut_is_told(run: Json, tmp_path: Path) -> None:
    full = SimpleNamespace(problem="journal.jsonl: No space left on device")

    said = shown(ended(run, tmp_path, transcript=full))

    assert "journal cut off: journal.jsonl: No space left on device" in said


def test_a_page_that_is_there_stays_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "report.html"
    place.write_text("<html>whole</html>")

    def full(path: Path, content: bytes) -> None:
        path.write_bytes(content[:2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(private_files, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        replace_private(place, "<html>sealed</html>")

    assert place.read_text() == "<html>whole</html>"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_tests_of_one_file_are_called_by_what_they_are(run: Json, test_of: Any) -> None:
    for name in ("a_switch_warns_before_it_loses", "a_switch_warns_of_a_host"):
        test = test_of("early", "pass", [])
        run["tests"].append(test | {"id": f"suites/test_early_warning.py::test_{name}"})
    run["tests"].append(run["tests"][-1])
    long = "a_switch_warns_" + "a_rather_long_story_" * 4
    run["tests"].append(
        test_of("early", "pass", []) | {"id": f"test_early_warning.py::test_{long}"}
    )

    found = suites_of(run, Past())
    names = [suite.name for suite in found]

    of_a_host = "early warning: of a host"
    assert set(names) > {"early warning: before it loses", of_a_host, f"{of_a_host} 2"}
    assert sum(name.endswith(" \u2026") for name in names) == 1  # cut, and it says so
    assert len({suite.address for suite in found}) == 5


def test_cases_of_one_test_are_told_apart(run: Json, tmp_path: Path, test_of: Any) -> None:
    for case in ("reads", "writes"):
        test = test_of("verbs", "error", []) | {"error": "no lab"}
        run["tests"].append(test | {"id": f"suites/test_verbs.py::test_verbs[{case}]"})

    names = [suite.name for suite in suites_of(run, Past())]
    said = shown(ended(run, tmp_path))

    assert {"verbs [reads]", "verbs [writes]"} < set(names)
    assert [line.rpartition(" ")[2] for line in said if line.startswith("ERROR ")] == [
        "[reads]",
        "[writes]",
    ]


@pytest.mark.parametrize("summarised", [False, True])
def test_verdicts_are_told_once_where_a_report_could_not_be_written(
    run: Json, tmp_path: Path, summarised: bool
) -> None:
    lines = Lines()
    plugins = SimpleNamespace(get_plugin=lambda _: lines)
    config = SimpleNamespace(pluginmanager=plugins)
    full = ended(run, tmp_path, config=config, problem="reports are missing: No space left")

    terminal.print_problem(full, "a report is missing", summarised=summarised)

    assert lines.said.count("answer:       1 suite passes in simulation") == (not summarised)
    assert sum(line.startswith("no report: ") for line in lines.said) == 1
    assert "reports are missing: No space left" in lines.said


def test_a_run_that_somebody_ended_broke_no_lab(run: Json, test_of: Any, verdict_of: Any) -> None:
    """Ctrl-C, or a job that is cancelled: nothing is wrong with the lab."""
    cut = test_of("verbs", "error", [verdict_of()]) | {"error": "interrupted by SIGTERM"}
    run |= {"tests": [*run["tests"], cut], "not_run": ["a", "b"]}
    answer = dict(in_short(run))["answer"]
    assert answer == "Not whole: verbs was interrupted by SIGTERM, 2 did not run"
    assert dict(in_short(run))["error"] == "verbs: interrupted by SIGTERM"  # not its last Yes
    broke = test_of("other", "error", []) | {"error": "ServerA hangs"}
    run["tests"].append(broke)
    assert "2 of 5 suites could not be judged: the lab broke" in dict(in_short(run))["answer"]
