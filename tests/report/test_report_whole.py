"""Which runs `latest` points to, and what the headline says of those that are not whole."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labtests.pytest_plugin.command_line import CommandLine
from labtests.pytest_plugin.folder import point_latest
from labtests.pytest_plugin.options import TakenNames
from labtests.pytest_plugin.run import Run
from labtests.report.headline import headline
from labtests.report.past import Past
from labtests.report.suites import suites_of
from labtests.report.text import brief

Json = dict[str, Any]


def whole(folder: Path, *args: str, plan: bool = False, pyargs: bool = False, **more: Any) -> bool:
    """Of a run with these arguments, which is otherwise whole."""
    options = {"pyargs": pyargs, "labtests_plan": plan}
    config = SimpleNamespace(
        args=args,
        invocation_params=SimpleNamespace(dir=folder),
        getoption=lambda name, default=None: options.get(name, default),
    )
    asked = CommandLine(config)  # type: ignore[arg-type]
    judged = [{"verdicts": [{"outcome": "pass"}]}]
    run = SimpleNamespace(
        **{"asked": asked, "picked": False, "exit_code": 0, "not_run": [], "tests": judged} | more
    )
    return Run.whole.fget(run)  # type: ignore[attr-defined, no-any-return]


def test_a_run_is_whole_when_all_suites_of_its_folders_ran_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "test_a.py").touch()

    assert whole(tmp_path, "suites")
    assert whole(tmp_path, str(tmp_path / "suites"), exit_code=1)
    assert whole(tmp_path, "suites", exit_code=10)  # the lab is not as it was found
    assert whole(tmp_path, "labtests.report", pyargs=True)
    assert not whole(tmp_path, "labtests.report.suites", pyargs=True)
    assert not whole(tmp_path, "labtests.report")
    assert not whole(tmp_path, "suites/test_a.py")
    assert not whole(tmp_path, "suites/test_a.py::test_a")
    assert not whole(tmp_path, "suites", "suites/test_a.py")
    for cut in ({"exit_code": 2}, {"exit_code": 15}, {"not_run": ["x"]}, {"picked": True},
                {"plan": True}, {"tests": []}, {"tests": [{"verdicts": []}]}):  # fmt: skip
        assert not whole(tmp_path, "suites", **cut)


def test_latest_of_all_labs_and_of_this_one_point_to_the_run(tmp_path: Path) -> None:
    run = tmp_path / "reports" / "lab" / "20261123-1"
    run.mkdir(parents=True)

    point_latest(tmp_path / "reports", run)

    for latest in (tmp_path / "reports" / "latest", run.parent / "latest"):
        assert latest.resolve() == run
        assert not latest.readlink().is_absolute()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"not_run": ["suites/test_b.py::test_b"]}, "Not whole: 1 of 2 suites ran"),
        ({"problem": "no"}, "1 suite passes in simulation, but the run has a problem"),
        (
            {"problem": "no", "state": {"differences": [{"device": "sw"}]}},
            "1 suite passes in simulation, but the run has a problem, and the lab is not as it "
            "was found",
        ),
    ],
)
def test_a_green_headline_hides_nothing(run: Json, change: Json, said: str) -> None:
    run |= change

    assert headline(run, suites_of(run, Past())) == said


@pytest.mark.parametrize(
    ("outcome", "said"), [("pass", "1 of 3 suites passes"), ("error", "1 of 3 ")]
)
def test_suites_that_were_not_asked_are_counted(
    run: Json, test_of: Any, outcome: str, said: str
) -> None:
    run["tests"][0]["outcome"] = outcome
    run["tests"] += [test_of("left", "skipped", []), test_of("unasked", "pass", [])]

    found = headline(run, suites_of(run, Past()))
    cut = headline(run | {"not_run": ["a", "b"]}, suites_of(run, Past()))

    assert found.startswith(said)
    assert cut.startswith("Not whole: 1 of 5" if outcome == "pass" else "1 of 5 suites could not")
    assert ("1 without a verdict" if outcome == "pass" else ", 2 did not run") in cut
    assert outcome == "error" or "1 skipped, 1 without a verdict" in found


@pytest.mark.parametrize(
    ("drops", "said"),
    [
        ((("= 0", 0),), "Lossless in simulation: 0 of 9\u202f027 packets lost; 1 suite passes"),
        # without loss, and with losses that are made on purpose
        ((("= 0", 0), ("60 to 170", 118)), "1 suite passes in simulation"),
    ],
)
def test_losses_on_purpose_are_not_called_lossless(
    run: Json, test_of: Any, verdict_of: Any, drops: tuple[tuple[str, int], ...], said: str
) -> None:
    facts = [("queue 3 forwarded_packets", "", 9027)]
    facts += [("queue 3 dropped_packets", bound, count) for bound, count in drops]
    told = [{"name": f"sw p3 {n}", "bound": b, "measured": m} for n, b, m in facts]
    run["tests"] = [test_of("repeated", "pass", [verdict_of(facts=told)])]

    assert headline(run, suites_of(run, Past())) == said


def test_a_red_headline_says_the_worst_verdict_with_its_place_and_its_number(
    run: Json, test_of: Any, verdict_of: Any
) -> None:
    because = "cable S6550 Twenty-FiveGigE1/0/13 - r damaged: r rx_crc_errors +1690; clean it"
    run["tests"] += [test_of("odd", "fail", [verdict_of(outcome="fail", because="it is odd")])]
    run["tests"] += [test_of("crc", "fail", [verdict_of(outcome="fail", because=because)])]

    said = headline(run | {"not_run": ["a"]}, suites_of(run, Past()))

    assert said == (
        "2 of 4 suites fail, 1 did not run; crc: cable S6550 1/0/13 - r damaged: "
        "r rx_crc_errors +1690; clean it"
    )


def test_a_red_headline_says_both_sides_of_what_disagrees(
    run: Json, test_of: Any, verdict_of: Any
) -> None:
    """A reason of any length: no figure stands there without the one that it is held against."""
    sides = f"counters disagree: {'ServerA tx, ' * 9}sent 325097; {'S6550, ' * 9}forwarded 324980"
    because = f"{sides}; look at the cable, and at all that has to do with it on the way there"
    run["tests"] = [test_of("lost", "fail", [verdict_of(outcome="fail", because=because)])]

    said = headline(run, suites_of(run, Past()))

    assert said.startswith("1 suite fails; lost: counters disagree: ServerA tx, ")
    assert "sent 325\u202f097; S6550, " in said
    assert said.endswith("forwarded 324\u202f980 …")


def test_what_is_quoted_is_not_taken_for_a_reason(run: Json, test_of: Any) -> None:
    run["tests"] = [test_of("lies", "error", [])]
    run["tests"][0]["error"] = because = (
        "S6550: 'interface 1/0/14; qos trust dscp; quit': accepted, but trust of 1/0/14 reads back "
        "as source none, override no instead of source dscp, override no; the device does not "
        "do what it is told; take it out of the lab, and look at its log for this port before that"
    )

    said = headline(run, suites_of(run, Past()))

    assert because.partition("; the device")[0] in said
    assert said.endswith("override no …")


def test_a_sentence_without_parts_is_not_cut_within_a_figure() -> None:
    said = brief(f"{'ServerA ' * 41}sent 9.5 Gb/s and 17 packets more than were received")

    assert said.endswith("ServerA sent …")


def rerun(root: Path, *, testbed: str, taken: tuple[str, ...] = ()) -> str:
    """Of a test of this folder."""
    asked = {"lab_seconds": 5.0, "no_controls": True, "tolerate": ["cables"], "fault": ["{}"]}
    asked |= {"soak": "90s"}
    asked |= {"dry_run": True, "seed": 3}
    config = SimpleNamespace(
        getoption=lambda name: (asked | {"testbed": testbed}).get(name.removeprefix("labtests_")),
        rootpath=root,
        pluginmanager=SimpleNamespace(get_plugin=lambda _: TakenNames(taken)),
    )
    return CommandLine(config).rerun("suites/test_a.py::a[b c]")  # type: ignore[arg-type]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "a lab"
    found.mkdir()
    monkeypatch.chdir(found)
    monkeypatch.delenv("LABTESTS_TESTBED", raising=False)
    monkeypatch.setattr("sys.executable", str(found / ".venv" / "bin" / "python"))
    return found


def test_the_command_that_runs_a_test_again_works_in_any_folder(root: Path) -> None:
    assert rerun(root, testbed="./lab.yaml") == (
        f"cd '{root}' && .venv/bin/python -m pytest 'suites/test_a.py::a[b c]' --testbed lab.yaml "
        "--dry-run --seed 3 --lab-seconds 5 --soak 90s --no-controls --tolerate cables --fault '{}'"
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("sub/../lab.yaml", "lab.yaml"),
        ("../labs/lab.yaml", "../labs/lab.yaml"),
        ("h3c-s6550-cx4", "h3c-s6550-cx4"),
        ("/srv/labs/lab.yaml", "/srv/labs/lab.yaml"),
    ],
)
def test_the_testbed_is_named_as_one_would_from_there(root: Path, asked: str, told: str) -> None:
    assert f" --testbed {told} --dry-run" in rerun(root, testbed=asked)


def test_options_that_are_somebody_elses_here_have_their_longer_names(root: Path) -> None:
    told = rerun(root, testbed="./lab.yaml", taken=("--testbed", "--lab-seconds"))

    assert " --labtests-testbed lab.yaml --dry-run --seed 3 --labtests-lab-seconds 5 " in told


@pytest.mark.parametrize(("faults", "news"), [([], True), (["{}"], False)])
def test_a_lab_that_was_broken_on_purpose_is_not_the_latest(faults: list[str], news: bool) -> None:
    config = SimpleNamespace(getoption=lambda _: faults)

    run = SimpleNamespace(asked=CommandLine(config), whole=True)  # type: ignore[arg-type]

    assert Run._is_news.fget(run) is news  # type: ignore[attr-defined]
