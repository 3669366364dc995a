"""What the history says to the page of a run: since when, and what was different then."""

import json
from pathlib import Path
from typing import Any

import pytest
from nights import S1, Night, written

from labtests.history.background import background
from labtests.history.comparing import compare
from labtests.history.records import of_folder
from labtests.history.store import History
from labtests.report import Past, page, past_of, read_run
from labtests.report.past import LabChange

NEW = "16.99.1000"
FIRMWARE = LabChange(where="ServerA version firmware", before="16.35.2000", after=NEW)
GREEN = (Night(day=1), Night(day=2), Night(day=3))


def kept(where: str, folder: Path, *nights: Night) -> None:
    with History.open(where) as history:
        for night in nights:
            assert history.enter(of_folder(written(folder, night)))


def asked(where: str, folder: Path, night: Night) -> tuple[dict[str, Any], Past]:
    place = written(folder / "now", night)
    run = read_run(place)
    return run, background(where, run, place)


def day(run: dict[str, Any] | None) -> int:
    assert run is not None
    return int(run["started"][8:10])


def test_the_first_bad_run_and_what_changed_in_the_lab_by_then(where: str, tmp_path: Path) -> None:
    bad = (Night(day=n, outcome="fail", firmware=NEW, pfc="off") for n in (4, 5))
    kept(where, tmp_path, *GREEN, *bad)

    run, past = asked(where, tmp_path, Night(day=6, outcome="fail", firmware=NEW, pfc="off"))
    html = page(run, past=past)

    assert (day(past.last), day(past.green)) == (5, 3)
    assert past.last_changes == ()
    assert past.green_changes == (FIRMWARE,)
    red = past.tests[S1]
    assert (day(red.run), day(red.since), red.changed) == (3, 4, (FIRMWARE,))
    for words in (
        "Since the last run, 2026-11-05 02:00:00 UTC",
        "Since the last green run, 2026-11-03 02:00:00 UTC",
        "the first bad run was that of 2026-11-04 02:00:00 UTC (20261104-020000-000004)",
        "ServerA version firmware: <del>16.35.2000</del> → <b>16.99.1000</b>",
        "labtests compare 20261103-020000-000003 20261104-020000-000004",
        "<b>Not so when it last passed:</b> S6550 1/0/1 pfc: <del>on</del> → <b>off</b>",
    ):
        assert words in html


def test_this_run_is_the_first_bad_one(where: str, tmp_path: Path) -> None:
    kept(where, tmp_path, *GREEN)

    run, past = asked(where, tmp_path, Night(day=4, outcome="fail", firmware=NEW, commit="0ther"))

    red = past.tests[S1]
    commit = LabChange(where="commit of the suites", before="5ca1ab1e", after="0ther")
    assert (day(red.run), red.since, red.changed) == (3, None, (FIRMWARE, commit))
    assert past.last_changes == red.changed
    assert "this is the first bad run" in page(run, past=past)


def test_nothing_of_another_lab_or_kind_or_of_a_part_is_asked(where: str, tmp_path: Path) -> None:
    others = (
        Night(day=1, backend="simulated"),
        Night(day=2, testbed="another"),
        Night(day=3, more=(("faults", ["{}"]),)),
        Night(day=4, more=(("command_line", "pytest suites -k s1"),)),
        Night(day=5, more=(("whole", False),)),
        Night(day=9),
    )
    kept(where, tmp_path, *others)

    run, past = asked(where, tmp_path, Night(day=6, outcome="fail"))

    assert past == Past(known=True)
    html = page(run, past=past)
    assert "Nothing to compare with: no earlier whole run of this lab" in html


def test_a_lab_whose_state_was_not_read_is_not_the_same(where: str, tmp_path: Path) -> None:
    kept(where, tmp_path, *GREEN)
    place = written(tmp_path / "now", Night(day=4, outcome="fail"))
    (place / "state-before.json").unlink()
    run = read_run(place)

    past = background(where, run, place)

    assert past.tests[S1].changed is None
    assert past.last_changes is None
    assert "Whether the lab had changed by then is not known." in page(run, past=past)


def test_a_cable_that_was_moved_is_a_change_of_the_lab(where: str, tmp_path: Path) -> None:
    """As LLDP said in the check before the run; a neighbour that was not heard is no change."""

    def checked(place: Path, *heard: tuple[str, str]) -> Path:
        told = [
            {"check": "cabling", "level": level, "device": "sw", "port": "p1", "finding": finding}
            for level, finding in heard
        ]
        (place / "check.json").write_text(json.dumps(told))
        return place

    green, quiet = (written(tmp_path, Night(day=n)) for n in (1, 2))
    with History.open(where) as history:
        history.enter(of_folder(checked(green, ("ok", "a:e is at the other end"))))
        history.enter(of_folder(checked(quiet, ("not known", "no end shows its neighbour"))))
    place = written(tmp_path / "now", Night(day=3, outcome="fail"))
    checked(place, ("warning", "b:e is at the other end, and a:e should be"))
    run = read_run(place)

    past = background(where, run, place)

    assert past.last_changes == ()
    with History.open(where) as history:
        lab = [each for each in compare(history.whole(1), of_folder(place)) if each.kind == "lab"]
    assert [str(each) for each in lab] == [
        "lab sw p1 cable by LLDP: a:e is at the other end -> b:e is at the other end, and a:e "
        "should be"
    ]


def test_where_no_history_is_none_is_made(tmp_path: Path) -> None:
    run, past = asked(str(tmp_path / "history.sqlite"), tmp_path, Night(day=1, outcome="fail"))

    assert past == Past()
    assert not (tmp_path / "history.sqlite").exists()
    last = {**run, "started": "2026-10-31T02:00:00+00:00", "exit_code": 1}
    assert "Not known: there is no history of this lab" in page(run, past=past_of(run, past, last))


@pytest.mark.parametrize("broken", ["postgresql://u:hunter22@127.0.0.1:1/x", "nothing://x", "file"])
def test_a_history_that_cannot_be_read_is_told_and_fails_nothing(
    tmp_path: Path, broken: str
) -> None:
    if broken == "file":
        broken = str(tmp_path / "history.sqlite")
        Path(broken).write_text("no database at all, but long enough to be taken for one\n" * 99)
    run, past = asked(broken, tmp_path, Night(day=1))
    html = page(run, past=past)

    assert "The history cannot be read:" in html
    assert "hunter22" not in html
    assert (past.last, past.green) == (None, None)


def test_without_a_history_the_run_beside_says_what_it_can(tmp_path: Path) -> None:
    last, run = (read_run(written(tmp_path, Night(day=n))) for n in (1, 2))
    for each, version, port in ((last, "1", "p1"), (run, "2", "p2")):
        ends = [{"device": "h", "port": "e"}, {"device": "sw", "port": port}]
        each["lab"] |= {"devices": [{"name": "h", "versions": {"firmware": version}}],
                        "links": [{"ends": ends, "speed_bits_per_s": 100}]}  # fmt: skip

    past = past_of(run, Past(), last)

    assert past.last_changes == (
        LabChange(where="h version firmware", before="1", after="2"),
        LabChange(where="cable h:e to sw:p1", before="100 bit/s", after="not there"),
        LabChange(where="cable h:e to sw:p2", before="not there", after="100 bit/s"),
    )
    assert past.green is last
    json.dumps(past.last)
    assert "3 things have changed in lab or suites" in page(run, past=past)


@pytest.mark.parametrize(
    ("was", "words"),
    [
        ("unjudged", '<b class="lt-word lt-fail">1 turned red:</b>'),
        ("skipped", '<b class="lt-word lt-fail">1 turned red:</b>'),
        ("not there", "1 red that did not run then:</b>"),
        ("fail", "Nothing turned red, 1 red as before"),
    ],
)
def test_whatever_was_not_red_and_is_has_turned_red(tmp_path: Path, was: str, words: str) -> None:
    last, run = (read_run(written(tmp_path, Night(day=n, outcome="fail"))) for n in (1, 2))
    if was == "not there":
        del last["tests"][0]
    elif was == "unjudged":
        last["tests"][0] |= {"outcome": "pass", "verdicts": []}
    else:
        last["tests"][0]["outcome"] = was

    html = page(run, past=past_of(run, Past(), last))

    assert words in html
    assert ("Nothing turned red" in html) is (was == "fail")
