"""What Prometheus hears of the newest runs."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from nights import S1, S2, WEEK, Night, written

from labtests.__main__ import main
from labtests.core import prometheus
from labtests.history import metrics
from labtests.history.metrics import LabMetrics, text
from labtests.history.records import of_folder
from labtests.history.store import History

REAL = 'backend="hardware"'


@pytest.fixture
def where(tmp_path):
    """The week, a simulated run, and one that was broken on purpose."""
    broken = Night(day=9, outcome="fail", more=(("faults", ["{}"]),))
    place = str(tmp_path / "history.sqlite")
    with History.open(place) as history:
        for night in (*WEEK, Night(day=8, backend="simulated", other="inconclusive"), broken):
            history.enter(of_folder(written(tmp_path / "lab", night)))
    return place


def test_the_newest_run_counts_unless_it_was_broken_on_purpose(where):
    told = text(where)
    lab = 'testbed="three-servers"'
    assert f"labtests_run_passed{{{REAL},{lab}}} 1.0" in told
    assert f'labtests_run_passed{{backend="simulated",{lab}}} 0.0' in told
    assert f'labtests_test_passed{{{REAL},test="{S1}",{lab}}} 1.0' in told
    assert f'labtests_test_passed{{backend="simulated",test="{S2}",{lab}}} 0.0' in told
    margins = [line for line in told.splitlines() if line.startswith("labtests_margin")]
    assert [line.endswith(" 0.102") for line in margins if REAL in line] == [True]


def test_a_file_is_whole_and_readable(where, tmp_path):
    file = tmp_path / "labtests.prom"
    file.write_text("of yesterday")
    ended = CliRunner().invoke(main, ["metrics", "write", "--history", where, str(file)])
    assert ended.exit_code == 0, ended.output
    assert file.read_text() == text(where)
    assert file.stat().st_mode & 0o777 == 0o644
    assert [each.name for each in tmp_path.glob(".labtests*")] == []


def test_no_name_ends_a_line(tmp_path):
    odd = "a\rb\x85c\u2028d"
    with History.open(str(tmp_path / "history.sqlite")) as history:
        history.enter(of_folder(written(tmp_path / "lab", Night(day=1, testbed=odd))))
    told = text(str(tmp_path / "history.sqlite"))
    assert {line for line in told.splitlines() if "labtests_run_passed{" in line} == {
        f'labtests_run_passed{{{REAL},testbed="a␍b�c�d"}} 1.0'
    }


def test_what_is_no_file_is_not_replaced_by_one(where, tmp_path):
    """As root, `metrics write /dev/stdout` took /dev/stdout from everybody."""
    os.mkfifo(pipe := tmp_path / "pipe")
    (link := tmp_path / "stdout").symlink_to(pipe)
    for place in (pipe, link):
        ended = CliRunner().invoke(main, ["metrics", "write", "--history", where, str(place)])
        assert ended.exit_code == 2
        assert f"{place} is not a regular file" in ended.output
    assert stat.S_ISFIFO(link.stat().st_mode)
    assert link.is_symlink()


def test_prometheus_is_answered_until_a_signal(where):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["metrics", "serve", "--history", where, "--port", str(port)]
    served = subprocess.Popen([sys.executable, "-m", "labtests", *words], stdout=subprocess.PIPE)
    try:
        assert served.stdout is not None
        assert served.stdout.readline() == f"http://127.0.0.1:{port}/metrics\n".encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            assert b"labtests_run_passed" in answer.read()
    finally:
        served.send_signal(signal.SIGTERM)
        began_s = time.monotonic()
        code = served.wait(timeout=30)
        assert served.stdout is not None
        served.stdout.close()
    assert code == 0
    assert time.monotonic() - began_s < 20


def test_who_connects_and_asks_nothing_is_hung_up_on(where, monkeypatch, capfd):
    monkeypatch.setattr(prometheus, "ASKED_WITHIN_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as some:
        port = some.getsockname()[1]
    server = metrics.serve(where, "127.0.0.1", port)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall(b"GET /met")
            assert client.recv(1) == b""
    finally:
        server.shutdown()
        server.server_close()
    assert capfd.readouterr().err == ""


def test_what_cannot_be_served_or_written_is_a_sentence(where, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ask = ["metrics", "serve", "--history", where, "--port"]
        for more in ([port], ["9797", "--address", "192.0.2.1"]):
            ended = CliRunner().invoke(main, [*ask, *more])
            assert ended.exit_code == 2, ended.output
            assert "nothing can be served at" in ended.output
    nowhere = str(tmp_path / "nodir" / "x.prom")
    ended = CliRunner().invoke(main, ["metrics", "write", "--history", where, nowhere])
    assert (ended.exit_code, "there is no such folder" in ended.output) == (2, True)


def test_a_history_that_breaks_while_it_is_served_is_told(where, capsys):
    serving = LabMetrics(where, print)
    assert [f.name for f in serving.collect() if f.name == "labtests_run_passed"]
    with Path(where).open("wb") as file:
        file.write(b"no database at all" * 100)
    (family,) = serving.collect()
    assert [(each.name, each.value) for each in family.samples] == [("labtests_history_read", 0)]
    assert "not a database" in capsys.readouterr().out


def test_the_end_of_a_run_with_a_wrong_clock_is_not_known(tmp_path):
    ahead = (("started", "2999-01-01T02:00:00+00:00"), ("ended", "2999-01-01T02:04:00+00:00"))
    place = str(tmp_path / "history.sqlite")
    with History.open(place) as history:
        history.enter(of_folder(written(tmp_path / "lab", Night(day=1, more=ahead))))
    assert "labtests_run_ended_timestamp_seconds{" not in text(place)
    assert "labtests_run_passed{" in text(place)
