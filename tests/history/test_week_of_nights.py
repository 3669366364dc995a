"""A week of nights, with a firmware that halves a margin and one red: in the words of a user."""

import json
import math
import random
import re
from pathlib import Path

import numpy
import pytest
from click.testing import CliRunner
from nights import FIGURE, S1, S2, WEEK, Night, written

from labtests.__main__ import main
from labtests.history.background import background
from labtests.history.records import of_folder
from labtests.history.site import write_site
from labtests.history.store import History
from labtests.history.trends import FigureSeries, noise, shifts
from labtests.inventory import load
from labtests.night.form import NightRun, RunForm
from labtests.night.running import RunEnd
from labtests.night.telling import news_of
from labtests.report import page, read_run

LAB = Path(__file__).parents[2] / "testbeds" / "h3c-s6550-cx4.yaml"


@pytest.fixture
def week(where, tmp_path):
    """The week is in the history; the function runs `labtests` on it."""
    with History.open(where) as history:
        for night in WEEK:
            history.enter(of_folder(written(tmp_path / "lab", night)))

    def labtests(*words: str):
        return CliRunner().invoke(main, [*words], env={"LABTESTS_HISTORY": where})

    return labtests


def test_the_list_says_what_each_night_came_to(week):
    lines = week("history", "list").output.splitlines()
    assert len(lines) == 7
    assert "2026-11-07 02:00  three-servers  hardware  PASS: 2 pass" in lines[0]
    assert "FAIL: 1 fail, 1 pass" in lines[1]


def test_the_trend_says_since_when_and_what_changed_that_day(week):
    told = week("history", "trend").output
    assert f"MARGIN SHRINKS: {S1}: margin of '{FIGURE}'" in told
    assert "0.2003 -> 0.1007 ratio" in told
    assert "since run 5 (2026-11-05 02:00" in told
    assert "changed with it: lab ServerA version firmware: 16.35.2000 -> 16.99.1000" in told


def test_a_comparison_says_what_is_worse_and_why(week):
    ended = week("compare", "4", "5")
    assert ended.exit_code == 1
    assert "lab ServerA version firmware: 16.35.2000 -> 16.99.1000" in ended.output
    assert f"margin {S1}: {FIGURE}: 0.199 ratio -> 0.101 ratio" in ended.output
    red = week("compare", "5", "6")
    assert red.exit_code == 1
    assert red.output.startswith(f"worse: outcome {S2}: pass -> fail: queue 3 dropped 17 packets\n")


def test_the_site_says_what_moved_what_was_red_and_why(week, tmp_path):
    told = week("site", "--out", str(tmp_path / "site"))
    assert told.exit_code == 0, told.output
    page = (tmp_path / "site" / "lab-three-servers-hardware.html").read_text()
    words = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "A margin shrinks. s1 pfc: pfc holds a udp incast without loss: margin of" in words
    assert "0.2003 -&gt; 0.1007 ratio since run 5 (2026-11-05 02:00" in words
    assert "changed with it: lab ServerA version firmware: 16.35.2000 -&gt; 16.99.1000" in words
    assert "✕ fail s2 dcqcn: dcqcn slows an rdma incast without loss, 2026-11-06 02:00" in words
    index = (tmp_path / "site" / "index.html").read_text()
    assert '<td>2026-11-07 02:00</td>\n<td class="pass">✓ pass</td>' in index
    assert '<td class="inconclusive">1</td>' in index  # margins that shrink


def test_who_is_told_what_in_each_night_of_the_week(where, tmp_path):
    told = []
    run = NightRun(0, load(LAB), RunForm(testbed=str(LAB)))
    with History.open(where) as history:
        for night in WEEK:
            kept = of_folder(folder := written(tmp_path / "lab", night))
            history.enter(kept)
            told.append(news_of(RunEnd(run, kept.exit_code, folder, kept=kept), history))
    assert [[news.occasion for news in night] for night in told] == [
        [], [], [], [], ["margin"], ["red"], ["first-green"],
    ]  # fmt: skip
    (shrinks,), (red,), (green,) = told[4:]
    assert f"a margin shrinks: {S1}: margin of '{FIGURE}'" in shrinks.line
    assert "ratio; changed with it: lab ServerA version firmware: 16.35" in shrinks.line
    why = "FAIL: 1 of 2 suites fails; s2 dcqcn: queue 3 dropped 17 packets"
    assert f"{why}; {tmp_path / 'lab'}" in red.line
    assert "PASS, for the first time since 2026-11-05 02:00" in green.line


def test_the_page_of_each_night_says_what_is_new(tmp_path):
    """The page is made of two folders, whatever the history is."""
    pages = []
    for night in WEEK:
        folder = written(tmp_path / "lab", night)
        ended = CliRunner().invoke(main, ["render", str(folder)])
        assert ended.exit_code == 0, ended.output
        text = (folder / "rendered.html").read_text()
        pages.append(" ".join(re.sub("<[^>]*>", " ", text.partition("<body")[2]).split()))
    assert all(FIGURE in page for page in pages)
    assert "1 turned red: s2 dcqcn" in pages[5]
    assert "was PASS" in pages[5]
    assert "was FAIL" in pages[6]
    assert "was " not in pages[3].partition("since last")[2][:200]


def test_the_page_of_the_night_in_which_a_margin_shrinks_says_so(where, tmp_path):
    """And that of no other one: before it there is too little, after it it is no news."""
    pages = []
    with History.open(where) as history:
        for night in WEEK:
            folder = written(tmp_path / "lab", night)
            run = read_run(folder)
            pages.append(page(run, past=background(where, run, folder)))
            history.enter(of_folder(folder))
    told = [" ".join(re.sub("<[^>]*>", " ", each).split()) for each in pages]
    assert ["A margin shrinks:" in each for each in told] == [False] * 4 + [True] + [False] * 2
    assert f"A margin shrinks: s1 pfc : margin of &#39;{FIGURE}&#39;" in told[4]
    assert "0.2003 → 0.101 ratio" in told[4]


def test_a_lab_without_a_run_is_not_one_without_a_flaky_suite(week):
    for command in ("flaky", "list", "trend"):
        assert week("history", command, "--testbed", "nope").output == "no runs of nope\n"
    assert week("history", "flaky", "--backend", "simulated").output == "no runs (simulated)\n"


def test_what_is_better_is_not_worse(week):
    ended = week("compare", "6", "7")
    assert ended.exit_code == 0
    assert f"outcome {S2}: fail -> pass" in ended.output


def test_what_was_red_and_passes_is_no_worse_by_a_margin(tmp_path):
    """A bound that grows with what was lost is smaller when nothing is lost any more."""
    red = written(tmp_path / "lab", Night(day=1, outcome="fail", left=650))
    green = written(tmp_path / "lab", Night(day=2, left=0))
    ended = CliRunner().invoke(main, ["compare", str(red), str(green)])
    assert f"outcome {S1}: fail -> pass" in ended.output
    assert f"\nmargin {S1}: {FIGURE}: 650 ratio -> 0 ratio" in ended.output
    assert ended.exit_code == 0


def test_a_run_that_was_broken_on_purpose_says_so(where, tmp_path):
    fault = '{"kind": "drop-packets"}'
    nights = [Night(day=1), Night(day=2, other="fail", more=(("faults", [fault]),))]
    with History.open(where) as history:
        for night in nights:
            history.enter(of_folder(written(tmp_path / "lab", night)))

    def labtests(*words: str) -> str:
        return CliRunner().invoke(main, [*words, "--history", where]).output

    shown = labtests("history", "show", "2")
    assert f"\n  broken on purpose: {fault}\n" in shown
    assert f"changed with it: lab broken on purpose: no -> {fault}" in shown
    assert f"\nlab broken on purpose: no -> {fault}\n" in labtests("compare", "1", "2")
    assert "on purpose" not in labtests("history", "show", "1")


def test_a_trend_is_that_of_the_newest_runs(week):
    """A thousand runs of two hundred figures are more than a minute's work."""
    told = week("history", "trend", "--most", "4").output.splitlines()
    assert told[0] == "three-servers, hardware: the newest 4 of 7 runs"
    assert "have less than 5 runs" in told[-1]


def test_a_red_night_in_the_same_lab_is_flaky(week):
    told = week("history", "flaky").output
    assert f"{S2}: run 5 pass, run 6 fail; run 6 fail, run 7 pass" in told
    assert S1 not in told


def test_what_was_cut_off_is_neither_flaky_nor_the_first_bad_run(where, tmp_path):
    """Ctrl-C is no answer of the suite that it met, and the culprit came with a later run."""
    cut = (("exit_code", 2), ("problem", "interrupted by SIGTERM"), ("whole", False))
    nights = [Night(day=1), Night(day=2, other="error", more=cut), Night(day=3),
              Night(day=4, other="error", more=cut),
              Night(day=5, other="fail", firmware="16.99.1000")]  # fmt: skip
    with History.open(where) as history:
        for night in nights:
            history.enter(of_folder(written(tmp_path / "lab", night)))

    def labtests(*words: str) -> str:
        return CliRunner().invoke(main, [*words, "--history", where]).output

    assert labtests("history", "flaky").strip() == "none"
    told = labtests("history", "show", "5")
    assert "red since run 5 (2026-11-05 02:00); it passed last in run 3 (2026-11-03" in told
    assert "changed with it: lab ServerA version firmware" in told


def test_a_run_is_shown_with_its_margins(week):
    told = week("history", "show", "6").output
    assert "FAIL          " + S2 + "\n    queue 3 dropped 17 packets\n" in told
    assert "(bound >= 0.75, left 0.099)" in told


def test_a_red_test_is_shown_with_its_first_red_and_its_last_green(where, tmp_path):
    """The first bad run, and what changed in the lab that day."""
    other = "16.99.1000"
    nights = [Night(day=1), Night(day=2), Night(day=3, other="fail", firmware=other),
              Night(day=4, other="inconclusive", firmware=other)]  # fmt: skip
    with History.open(where) as history:
        for night in nights:
            history.enter(of_folder(written(tmp_path / "lab", night)))
        pages = write_site(history, tmp_path / "site")
    told = [
        "red since run 3 (2026-11-03 02:00); it passed last in run 2 (2026-11-02 02:00)",
        "changed with it: lab ServerA version firmware: 16.35.2000 -> 16.99.1000",
    ]
    shown = CliRunner().invoke(main, ["history", "show", "4", "--history", where]).output
    red = shown.partition(f"INCONCLUSIVE  {S2}\n")[2]
    assert [line.strip() for line in red.splitlines()] == ["queue 3 dropped 17 packets", *told]
    page = (tmp_path / "site" / pages[1]).read_text()
    assert all(line.replace(">", "&gt;") in page for line in told)
    alone = CliRunner().invoke(main, ["history", "show", "--history", where, str(tmp_path / "lab")])
    assert alone.exit_code == 2


def test_a_run_that_is_not_there_is_told(week):
    ended = week("history", "show", "77")
    assert ended.exit_code == 2
    assert "has no run '77'" in ended.output


def test_folders_are_compared_without_a_history(tmp_path):
    old = written(tmp_path / "lab", Night(day=1, pfc="on", dropped=0))
    new = written(tmp_path / "lab", Night(day=2, pfc="off", dropped=17))
    ended = CliRunner().invoke(main, ["compare", str(old), str(new)])
    assert ended.exit_code == 0
    assert "PFC on: S6550 XGE1/0/1 pfc: on -> off" in ended.output
    assert "queue 3 dropped_packets: 0 -> 17" in ended.output


def test_another_backend_is_not_comparable(tmp_path):
    old = written(tmp_path / "lab", Night(day=1))
    new = written(tmp_path / "lab", Night(day=2, backend="simulated"))
    assert "not comparable" in CliRunner().invoke(main, ["compare", str(old), str(new)]).output


def test_a_test_that_is_no_longer_run_is_worse(tmp_path):
    old = written(tmp_path / "lab", Night(day=1))
    new = written(tmp_path / "lab", Night(day=2))
    both = of_folder(old).tests
    assert [test.name for test in both] == [S1, S2]
    gone = (new / "run.json").read_text().replace(S2, "suites/test_other.py::test_other")
    (new / "run.json").write_text(gone)
    ended = CliRunner().invoke(main, ["compare", str(old), str(new)])
    assert f"worse: outcome {S2}: pass -> not there" in ended.output
    assert ended.exit_code == 1


@pytest.mark.parametrize("part", [1, 2])
def test_what_a_part_of_the_suites_leaves_out_is_one_line(tmp_path, part):
    """`-k s1` against the whole night, either way: 25 suites that did not run are no 25 lines."""
    folders = [written(tmp_path / "lab", Night(day=day, other="fail")) for day in (1, 2)]
    run = json.loads((folders[part - 1] / "run.json").read_text())
    (folders[part - 1] / "run.json").write_text(
        json.dumps(run | {"whole": False, "tests": run["tests"][:1]})
    )

    ended = CliRunner().invoke(main, ["compare", *map(str, folders)])

    told = "not run -> 1 fail" if part == 1 else "1 fail -> not run"
    outcomes = [line for line in ended.output.splitlines() if "outcome" in line]
    assert outcomes == [f"outcome of 1 test that only one run was asked for: {told}"]
    assert ended.exit_code == 0


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_is_no_step(seed):
    drawn = random.Random(seed)
    assert list(shifts(_series([drawn.gauss(0.2, 0.01) for _ in range(60)]))) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_step_of_eight_noises_is_found_in_its_night(seed):
    drawn = random.Random(seed)
    values = [drawn.gauss(0.2 if night < 40 else 0.12, 0.01) for night in range(50)]
    found = list(shifts(_series(values)))
    assert [shift.run for shift in found if shift.shrunk] == [40]


@pytest.mark.parametrize("seed", range(5))
def test_steps_are_those_of_the_published_method(seed):
    """The same ones as `l2` of ruptures finds, by another way to the same sums."""
    import ruptures  # takes two seconds: not for whoever only collects

    drawn = random.Random(seed)
    values = [drawn.gauss(0.2 if night < 15 + seed else 0.17, 0.01) for night in range(40)]
    signal = numpy.array(values).reshape(-1, 1) / noise(values)
    published = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(signal)
    ends = published.predict(pen=4.5**2 * math.log(40) / 2)
    assert [shift.run for shift in shifts(_series(values))] == ends[:-1]


@pytest.mark.parametrize(("now", "shrunk"), [(-90.0, False), (-110.0, True), (5.0, False)])
def test_a_margin_below_zero_has_shrunk_where_it_is_further_below(now, shrunk):
    """-90 after -100 was told as one that shrank."""
    found = list(shifts(_series([-100.0] * 9 + [now] * 9)))
    assert [(shift.run, shift.shrunk) for shift in found] == [(9, shrunk)]


def test_too_few_nights_say_nothing():
    assert list(shifts(_series([0.2, 0.2, 0.2, 0.1]))) == []


def test_the_same_figure_every_night_has_little_noise():
    assert noise([0.2] * 10) == pytest.approx(0.001)
    found = list(shifts(_series([0.2] * 9 + [0.1])))
    assert [(shift.run, shift.shrunk) for shift in found] == [(9, True)]


def _series(values: list[float]) -> FigureSeries:
    return FigureSeries(test="t", phase="p", question="q", fact="f", unit="", margins=tuple(values),
                        runs=tuple(range(len(values))), measured=tuple(values))  # fmt: skip
