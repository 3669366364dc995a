"""`labtests journal` and `labtests open`, and a journal in both of its forms."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from typed import typed

from labtests.__main__ import main
from labtests.core.errors import LabError
from labtests.transport.batching import Joined
from labtests.transport.chronicle import COMPRESSED, NAME, exchanges
from labtests.transport.transcript import Transcript

TEST = "suites/test_a.py::test_a"


@pytest.fixture(params=["plain", "compressed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder with three exchanges, one of them in a test, one that failed."""
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "reports" / "lab" / "20261123-1"
    place.mkdir(parents=True)
    joined = Joined([typed("cat a"), typed("cat b")])
    mark = joined._mark
    with Transcript(place / NAME) as transcript:
        transcript.write("sw", "run", 1.0, {"command": "display version", "text": "Comware\x1b[2J"})
        transcript.mark(TEST)
        text = f"one\n{mark} 0 0\ntwo\n{mark} 1 1\n"
        told = {
            "command": str(joined.script),
            "text": text,
            "errors": f"\n{mark} 0 0\n\n{mark} 1 1\n",
            "status": 0,
        }
        transcript.write("host", "run", 2.0, told)
        transcript.mark("")
        transcript.write("sw", "run", 3.0, {"command": "x", "problem": "no answer within 30 s"})
    if request.param == "compressed":
        transcript.pack(place / COMPRESSED)
        assert not (place / NAME).exists()
    return place


def said(*words: str) -> str:
    done = CliRunner().invoke(main, ["journal", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_commands_that_were_sent_together_have_their_own_answers(folder: Path) -> None:
    found = [(e.test, e.command, e.text, e.failed) for e in exchanges(folder)]

    assert found[1:3] == [(TEST, "cat a", "one", False), (TEST, "cat b", "two", True)]
    assert [e.problem for e in exchanges(folder)][-1] == "no answer within 30 s"


def test_the_journal_is_told_whole_or_in_part(folder: Path) -> None:
    assert "display version\n    Comware␛[2J\n" in said(str(folder))
    assert said("20261123-1") == said(str(folder))
    assert "cat a" in said(str(folder), "--test", "test_a")
    assert "display" not in said(str(folder), "--test", "test_a")
    assert "cat" not in said(str(folder), "--device", "sw")
    assert said(str(folder), "--grep", "two").count("\n") == 4
    failed = said(str(folder), "--failed")
    assert "cat b  [status 1]" in failed
    assert "x  [no answer within 30 s]" in failed
    assert "cat a" not in failed
    nothing = CliRunner().invoke(main, ["journal", str(folder), "--device", "swx"])
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert nothing.stderr == "none of 4 exchanges, with host, sw, is of that kind\n"


def test_a_line_that_was_cut_off_does_not_hide_the_others(folder: Path) -> None:
    if not (folder / NAME).exists():
        (folder / NAME).write_text("")  # the whole form is believed first
    with (folder / NAME).open("a") as file:
        file.write('{"order": 9, "devi')

    assert len(list(exchanges(folder))) == 4


def test_a_journal_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="name the folder of a run"):
        list(exchanges(tmp_path))
    (tmp_path / COMPRESSED).write_bytes(b"not gzip")
    with pytest.raises(LabError, match="it is not gzip"):
        list(exchanges(tmp_path))


def test_open_names_the_page_of_the_last_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    run = tmp_path / "reports" / "lab" / "20261123-1"
    run.mkdir(parents=True)
    for name in ("run.json", "report.html"):
        (run / name).write_text("{}")
    for place in (tmp_path / "reports" / "latest", tmp_path / "reports" / "lab" / "latest"):
        place.symlink_to(run)

    for words in ([], ["lab"], ["20261123-1"], [str(run)]):
        assert CliRunner().invoke(main, ["open", *words]).exit_code == 0
    unknown = CliRunner().invoke(main, ["open", "nothing"])

    assert [Path(page).resolve() for page in opened] == [run / "report.html"] * 4
    (run / "rendered.html").write_text("{}")
    os.utime(run / "report.html", (1, 1))
    CliRunner().invoke(main, ["open"])
    assert Path(opened[-1]).resolve() == run / "rendered.html"  # `labtests render` is newer
    assert unknown.exit_code == 2
    assert "nothing: no such run" in unknown.stderr
    assert json.loads((run / "run.json").read_text()) == {}


def test_a_testbed_without_a_whole_run_is_told_of_its_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `pytest suites/test_s1_pfc.py`, say, which `latest` does not point to."""
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> str:
        done = CliRunner().invoke(main, ["open", *words])
        assert done.exit_code == 2
        return done.stderr

    assert told().startswith("latest: no whole run is there\n")
    for name in ("20261123-1", "20261124-2"):
        (run := tmp_path / "reports" / "lab" / name).mkdir(parents=True)
        (run / "run.json").write_text("{}")
    for words in ([], ["lab"]):
        assert ": no whole run is there\n" in told(*words)
        assert "the newest run is reports/lab/20261124-2" in told(*words)
    for wrong in ("nothing", "", "../x"):
        assert f"{wrong}: no such run\n" in told(wrong)
