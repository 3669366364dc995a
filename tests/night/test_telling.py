"""Who is told what: over a real HTTP service, and with no secret in any sentence."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from night_labs import LAB

from labtests.history.records import KeptFact, KeptRun, KeptTest, KeptVerdict
from labtests.history.store import History
from labtests.inventory import load
from labtests.night.form import NightRun, NotifyForm, RunForm
from labtests.night.running import RunEnd, _line
from labtests.night.telling import News, news_of, notify

FACT = KeptFact(name="use", measured=0.95, bound=">= 0.75", margin=0.2, unit="ratio", note="")


def kept(day: int, outcome: str = "pass", margin: float = 0.2) -> KeptRun:
    fact = replace(FACT, margin=margin)
    verdict = KeptVerdict(question="Was it full?", phase="on", role="main", outcome=outcome,
                          as_expected=True, because="17 were lost", facts=(fact,))  # fmt: skip
    test = KeptTest(name="t", title="Is it lossless?", outcome=outcome, duration_s=1, error="",
                    verdicts=(verdict,))  # fmt: skip
    return KeptRun(
        identity=str(day), testbed="h3c-s6550-cx4", backend="simulated", exit_code=0, problem="",
        started=f"2026-11-{day:02}T02:00:00+00:00", ended="", seed="1", faults="[]", whole=True,
        commit_of_suites="", labtests_version="", command_line="", folder=f"/r/{day}", state={},
        tests=(test,),
    )  # fmt: skip


@pytest.fixture
def tell(tmp_path):
    """The news of the last of some runs, with the others before it."""

    def go(*runs: KeptRun) -> list[News]:
        run = NightRun(0, load(LAB), RunForm(testbed=str(LAB), options=["--dry-run"]))
        with History.open(str(tmp_path / "history.sqlite")) as history:
            for each in runs:
                history.enter(each)
            return news_of(RunEnd(run, 0, tmp_path / "run", kept=runs[-1]), history)

    return go


def test_red_is_told_with_its_question(tell, tmp_path):
    (news,) = tell(kept(1), kept(2, "fail"))
    assert news.occasion == "red"
    assert news.line == (
        "h3c-s6550-cx4 (simulated): FAIL: Is it lossless? (fail): 17 were lost; "
        f"{tmp_path / 'run' / 'report.html'}"
    )


def test_a_run_that_was_cut_off_says_so_and_makes_no_night_red(tell):
    cut = replace(kept(2, "error"), exit_code=2, problem="interrupted by SIGTERM")
    (news,) = tell(kept(1), cut)
    assert "ERROR: interrupted by SIGTERM; Is it lossless? (error): 17 were lost; " in news.line
    assert tell(kept(3)) == []
    assert [news.occasion for news in tell(kept(4, "fail"), replace(cut, identity="5"), kept(6))] \
        == ["first-green"]  # fmt: skip


def test_a_simulated_lab_that_is_served_is_not_told_as_hardware(tmp_path):
    """Its testbed file looks like any other."""
    run = NightRun(0, load(LAB), RunForm(testbed=str(LAB)))
    assert run.backend == "hardware"
    end = RunEnd(run, 1, tmp_path / "lab" / "run", kept=kept(1, "fail"))
    assert news_of(end, None)[0].line.startswith("h3c-s6550-cx4 (simulated): FAIL")
    assert _line(end).startswith("h3c-s6550-cx4 (simulated): FAIL")


def test_green_is_told_only_the_first_time(tell):
    assert tell(kept(1), kept(2), kept(3)) == []
    (news,) = tell(kept(4, "fail"), kept(5))
    assert news.occasion == "first-green"
    assert "for the first time since 2026-11-03 02:00" in news.line


def test_a_run_that_was_broken_on_purpose_is_no_red_night(tell):
    broken = replace(kept(2, "fail"), faults='["{}"]')
    assert tell(kept(1), broken, kept(3)) == []


def test_a_margin_that_shrinks_is_told_in_the_night_in_which_it_does(tell):
    (news,) = tell(*(kept(day) for day in range(1, 7)), kept(7, margin=0.1))
    assert news.occasion == "margin"
    assert "a margin shrinks: t: margin of 'use' (Was it full?) 0.2 -> 0.1 ratio" in news.line
    assert tell(kept(8, margin=0.1)) == []


def test_two_runs_of_a_lab_in_one_night_have_each_its_own_past(tmp_path):
    """All runs of the night are entered when the first one's news is told."""
    run = NightRun(0, load(LAB), RunForm(testbed=str(LAB), options=["--dry-run"]))
    nights = [*(kept(day) for day in range(1, 6)), kept(6, "fail"), kept(7, margin=0.1), kept(8)]
    with History.open(str(tmp_path / "history.sqlite")) as history:
        for each in nights:
            history.enter(each)
        told = [news_of(RunEnd(run, 0, tmp_path, kept=each), history) for each in nights]
    occasions = [[news.occasion for news in each] for each in told]
    assert occasions == [[], [], [], [], [], ["red"], ["margin", "first-green"], []]


def test_other_suites_that_pass_make_no_lab_green(tell):
    (test,) = kept(3).tests
    other = replace(kept(3), tests=(replace(test, name="u"),))
    assert tell(kept(1), kept(2, "fail"), other) == []
    (news,) = tell(kept(4))
    assert news.occasion == "first-green"


def test_a_run_that_is_not_entered_does_not_tell_the_margin_of_another(tmp_path):
    run = NightRun(0, load(LAB), RunForm(testbed=str(LAB), options=["--dry-run"]))
    with History.open(str(tmp_path / "history.sqlite")) as history:
        for each in (*(kept(day) for day in range(1, 7)), kept(7, margin=0.1)):
            history.enter(each)
        end = RunEnd(run, 0, tmp_path / "run", kept=kept(8, margin=0.1))
        assert news_of(end, history) == []


class _Service(BaseHTTPRequestHandler):
    heard: list[dict[str, str]]
    status = 200

    def do_POST(self):
        self.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    """A webhook on loopback: its address, and what it has heard."""
    handler = type("Handler", (_Service,), {"heard": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"json://someone:hunter22@127.0.0.1:{server.server_port}/hook", handler
    server.shutdown()
    thread.join()
    server.server_close()


NEWS = [News("red", "lab: FAIL"), News("margin", "lab: a margin shrinks")]


def said(news, **more) -> list[str]:
    lines: list[str] = []
    notify("labtests, night: 0 of 1", news, NotifyForm(**more), lines.append)
    return lines


def test_a_service_hears_what_is_wanted(service, monkeypatch):
    url, handler = service
    monkeypatch.setenv("LABTESTS_NOTIFY", url)
    assert said(NEWS, when=["red"]) == ["told: 1 of 1 services"]
    (heard,) = handler.heard
    assert (heard["title"], heard["message"]) == ("labtests, night: 0 of 1", "lab: FAIL")
    assert said([], when=["red"]) == []
    assert len(handler.heard) == 1


def test_a_service_that_does_not_take_it_is_said(service, monkeypatch, caplog, capfd):
    url, handler = service
    handler.status = 500
    monkeypatch.setenv("LABTESTS_NOTIFY", url)
    lines = said(NEWS)
    assert lines == ["not everybody is told: a service did not take it"]
    assert "hunter22" not in "".join((*lines, caplog.text, *capfd.readouterr()))


def test_a_url_that_is_none_hides_no_service_that_did_not_take_it(service, monkeypatch):
    url, handler = service
    handler.status = 500
    monkeypatch.setenv("LABTESTS_NOTIFY", f"nonsense {url}")
    why = "apprise knows nothing of 1 of 2 URLs; a service did not take it"
    assert said(NEWS) == [f"not everybody is told: {why}"]


def test_what_is_no_url_is_said_without_it(monkeypatch, caplog, capfd):
    monkeypatch.setenv("LABTESTS_NOTIFY", "nonsense-hunter22")
    lines = said(NEWS)
    assert lines == ["not everybody is told: apprise knows nothing of 1 of 1 URLs"]
    assert "hunter22" not in "".join((*lines, caplog.text, *capfd.readouterr()))


def test_nobody_is_told_without_urls(monkeypatch):
    monkeypatch.delenv("LABTESTS_NOTIFY", raising=False)
    assert said(NEWS) == ["nobody is told: LABTESTS_NOTIFY is not set"]
