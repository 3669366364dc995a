"""Records on a board, in a terminal, in files, and for Prometheus."""

import io
import json
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner
from rich.console import Console

from labtests.__main__ import main
from labtests.capabilities.streams import StreamAlarm, StreamSample, StreamTrouble
from labtests.core import prometheus
from labtests.watching import export, exports
from labtests.watching.board import Board, BoardRow
from labtests.watching.export import Exporting, WantedExports
from labtests.watching.exports import influx_line, recorded, text
from labtests.watching.view import view


def sample(counter, value, time_s=1.0, index=3, **more):
    unit, port = more.get("unit", "bytes"), more.get("port", "Ethernet1/0/1")
    return StreamSample(
        "S", port, "queue", index, counter, unit, value, time_s, 100.0 + time_s, 0.0, "gnmi /x"
    )


ALARM = StreamAlarm("S", "Eth 1", 3, "drops", 'egress "3", 5 packets', 2.0, 102.0, 0.0)
TROUBLE = StreamTrouble(device="S", kind="gap", text="3 s", since_s=4.0, until_s=7.0)


def test_a_rate_is_what_a_counter_grew_by():
    board = Board()
    board.take([sample("forwarded_bytes", 0, 1.0), sample("forwarded_bytes", 1_250_000_000, 2.0)])
    now = board.places[BoardRow("S", "Ethernet1/0/1", 3)]
    assert now.bits_per_s == 10e9
    board.take([sample("forwarded_bytes", 5, 1.5)])  # late: of before
    assert now.bits_per_s == 10e9
    board.take([sample("forwarded_bytes", 10, 3.0)])  # counts anew
    assert now.bits_per_s is None
    assert now.values["forwarded_bytes"] == 10


def test_the_terminal_has_a_line_for_what_is_not_0_and_what_was_told():
    board = Board()
    board.take([sample("queue_length_bytes", 41_600), sample("queue_peak_bytes", 0, index=4)])
    board.take([sample("dropped_packets", 7, unit="packets"), ALARM, TROUBLE])
    drawn = io.StringIO()
    Console(file=drawn, width=140).print(view(board))
    shown = drawn.getvalue()
    assert "S:Ethernet1/0/1" in shown
    assert "41.6" in shown
    assert shown.count("Ethernet1/0/1") == 1  # priority 4 has only 0
    assert 'drops: egress "3", 5 packets' in shown
    assert "gap: 3 s" in shown


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (
            sample("queue_length_bytes", 5, port="a,b =c\\"),
            r"labtests_stream,lab=my\ lab,device=S,port=a\,b\ \=c\\,priority=3 "
            "queue_length_bytes=5i 101000000000",
        ),
        (sample("rx_bytes", 5, index=None), "labtests_stream,lab=my\\ lab,device=S,"),
        (ALARM, r'kind=drops text="egress \"3\", 5 packets" 102000000000'),
        (TROUBLE, "labtests_trouble,lab=my\\ lab,device=S,kind=gap count=1i 4000000000"),
    ],
)
def test_line_protocol(record, line):
    assert line in influx_line(record, "my lab")


@pytest.mark.parametrize("record", [sample("rx_bytes", 2**63), ALARM, TROUBLE])
def test_a_recording_has_all_of_it(record):
    told = json.loads(recorded(record))
    assert told.pop("record") in ("sample", "alarm", "trouble")
    assert all(getattr(record, name) == value for name, value in told.items())


def test_open_metrics_has_each_counter_by_device_port_and_priority():
    board = Board()
    board.take([sample("headroom_bytes", 208), sample("headroom_bytes", 416, index=4), TROUBLE])
    shown = text(board, "lab")
    where = 'device="S",lab="lab",port="Ethernet1/0/1"'
    assert f'labtests_stream_headroom_bytes{{{where},priority="3"}} 208.0' in shown
    assert f'labtests_stream_headroom_bytes{{{where},priority="4"}} 416.0' in shown
    assert 'labtests_streamed_troubles{lab="lab"} 1.0' in shown
    assert shown.endswith("# EOF\n")


class Streams:
    """As Collectors: one listener."""

    def __init__(self, *batches):
        self.batches, self.lost, self.taken = list(batches), 0, threading.Event()

    def listen(self):
        return self

    def take(self, timeout_s):
        if self.batches:
            return self.batches.pop(0)
        self.taken.set()
        return ()


def test_what_comes_is_in_the_files_and_answered_while_it_comes(tmp_path):
    streams = Streams((sample("rx_bytes", 1),), (sample("rx_bytes", 2), ALARM))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    wanted = WantedExports(
        record=tmp_path / "r.jsonl", influx=tmp_path / "i.txt", metrics=("127.0.0.1", port)
    )
    exporting = Exporting(streams, "lab", wanted)
    assert streams.taken.wait(30)
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        scraped = answer.read().decode()
    exporting.close()
    assert "labtests_stream_rx_bytes" in scraped
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "i.txt").read_text().count("rx_bytes=") == 2


def test_a_testbed_without_streams_is_not_watched(tmp_path):
    said = CliRunner().invoke(main, ["watch", "--testbed", "h3c-s6550-cx4", "--dry-run"])
    assert said.exit_code != 0
    assert "no device of it streams" in str(said.exception or "") + said.output


class Heard:
    """Collectors with one listener, which has what it is given."""

    def __init__(self, *batches):
        self.batches = list(batches)
        self.lost = 0

    def listen(self):
        return self

    def take(self, timeout_s):
        return self.batches.pop(0) if self.batches else ()


def test_a_file_that_cannot_be_written_any_more_ends_itself_and_nothing_else(monkeypatch):
    ours, theirs = os.pipe()
    os.close(ours)  # each write is refused, as by a full disk
    monkeypatch.setattr(export, "_appended", lambda path: os.fdopen(theirs, "w"))
    heard = Heard((sample("queue_length_bytes", 5),), (sample("queue_length_bytes", 6),))
    exporting = Exporting(heard, "lab", WantedExports(influx=Path("any")))
    exporting.close()
    assert exporting.board.samples == 2
    assert list(exporting.missing) == ["an export of the streams ends: Broken pipe"]


def test_who_connects_to_the_metrics_and_asks_nothing_is_hung_up_on(monkeypatch, capfd):
    monkeypatch.setattr(prometheus, "ASKED_WITHIN_S", 0.2)
    server = exports.serve(Board(), "lab", "127.0.0.1", 0)
    try:
        with socket.create_connection(server.server_address[:2], timeout=10) as idle:
            assert idle.recv(1) == b""
        with (
            socket.create_connection(server.server_address[:2], timeout=10) as rude,
            suppress(OSError),  # on a slow machine it is hung up on before it is done
        ):
            rude.sendall(b"GET /" + b"x" * 100_000)
            rude.shutdown(socket.SHUT_RDWR)
        with urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
            assert answer.status == 200
    finally:
        server.shutdown()
        server.server_close()
    assert "Traceback" not in capfd.readouterr().err
