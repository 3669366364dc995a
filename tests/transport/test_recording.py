"""A journal of a session, replayed, answers as the session did."""

import json
import threading
import time
from pathlib import Path

import pytest
from cli_server import PASSWORD, CliServer
from recorded import Exchange, RecordedClock, Recording, recorded_lab
from sshd_server import Sshd, wait_for
from typed import typed

from labtests.core.errors import CommandRejected, CommandTimeout, LabError, Unreachable
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Process, Reply, Transport
from labtests.transport.ssh import SHELL, connect
from labtests.transport.transcribing import TranscribedTransport
from labtests.transport.transcript import Transcript


@pytest.fixture
def transcript(tmp_path: Path):
    with Transcript(tmp_path / "journal.jsonl", secrets=[PASSWORD]) as transcript:
        yield transcript


def lines_of(transcript: Transcript) -> list[dict]:
    return [json.loads(line) for line in transcript.path.read_text().splitlines()]


# -- round trips ---------------------------------------------------------------------------------


def questions(transport: Transport) -> list[object]:
    """What a test asks, and what it got: replies whole, errors by kind and text."""
    answers: list[object] = []
    for ask in (
        lambda: transport.run(typed("echo hi; echo err >&2; exit 3")),
        lambda: transport.run(typed("cat /proc/sys/kernel/random/uuid")),
        lambda: transport.run(typed("cat /proc/sys/kernel/random/uuid")),
        lambda: transport.run(typed("sleep 9"), timeout_s=1),
        lambda: transport.run(typed("printf 'no newline, ü, \"quotes\", tab\\t'")),
        lambda: transport.configure(typed(("echo one", "false", "echo never"))),
        lambda: transport.configure(typed(("echo one", "echo two >&2"))),
    ):
        try:
            answers.append(ask())
        except LabError as error:
            answers.append((type(error), str(error)))
    return answers


def test_a_replayed_host_gives_the_same_replies(sshd: Sshd, clock, transcript: Transcript) -> None:
    transport = TranscribedTransport(connect(sshd.device(), SHELL, clock=clock), transcript)
    asked = questions(transport)
    transport.close()
    replayed = recorded_lab(transcript.path)["host"]
    assert questions(replayed) == asked
    assert asked[1] != asked[2]  # the k-th time gets the k-th answer
    assert replayed.run("cat /proc/sys/kernel/random/uuid") == asked[2]  # and the last repeats


def test_what_was_asked_together_is_replayed_together_and_one_by_one(
    sshd: Sshd, clock, transcript: Transcript
) -> None:
    asked = Exchanges(TranscribedTransport(connect(sshd.device(), SHELL, clock=clock), transcript))
    commands = typed(("echo out; echo err >&2; exit 3", "cat /proc/sys/kernel/random/uuid"))
    live = []
    for _ in range(2):
        live.append(asked.answers(commands))
    asked.close()
    assert asked.sent == 2
    replayed = recorded_lab(transcript.path)["host"]
    assert [[replayed.run(command) for command in commands] for _ in live] == live
    assert live[0][1].text != live[1][1].text
    again = Exchanges(recorded_lab(transcript.path)["host"])
    assert again.answers(commands) == live[0]
    assert again.sent == 1


def test_a_replayed_switch_gives_the_same_replies(
    switch: CliServer, clock, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    transport = TranscribedTransport(
        connect(switch.device(), "hp_comware", clock=clock), transcript
    )
    block = ("interface Twenty-FiveGigE1/0/13", "qos trust dscp")
    asked = [transport.run(typed("display long")), transport.configure(typed(block))]
    transport.close()
    replayed = recorded_lab(transcript.path)["switch"]
    assert [replayed.run("display long"), replayed.configure(block)] == asked


def course(process: Process, clock) -> list[tuple[str, int | None]]:
    """What a process shows every tenth of a second until it has ended."""
    seen = []
    for _ in range(30):
        seen.append((process.output(), process.status()))
        if seen[-1][1] is not None:
            break
        clock.sleep(0.1)
    process.close()
    return seen


def test_a_replayed_process_prints_what_it_printed_by_then(
    sshd: Sshd, clock, transcript: Transcript
) -> None:
    transport = TranscribedTransport(connect(sshd.device(), SHELL, clock=clock), transcript)
    command = "sh -c 'for n in 1 2 3; do echo row $n; sleep 0.25; done; echo bye >&2; exit 5'"
    process = transport.start(typed(command), limit_s=10)
    live = course(process, clock)
    transport.close()
    recording = recorded_lab(transcript.path)["host"]
    again = recording.start(command, limit_s=10)
    assert again.output() in ("", "row 1\n")
    replayed = course(again, recording.clock)
    assert live[-1] == replayed[-1] == ("row 1\nrow 2\nrow 3\n", 5)
    assert [text for text, _ in replayed if text.count("row") == 2]  # it came bit by bit
    assert again.errors() == "bye\n"


def test_errors_are_recorded_and_raised_again(sshd: Sshd, clock, transcript: Transcript) -> None:
    transport = TranscribedTransport(connect(sshd.device(), SHELL, clock=clock), transcript)
    transport.close()
    with pytest.raises(Unreachable) as live:
        transport.run(typed("true"))
    with pytest.raises(Unreachable):
        transport.start(typed("sleep 1"), limit_s=1)
    replayed = recorded_lab(transcript.path)["host"]
    with pytest.raises(Unreachable) as again:
        replayed.run("true")
    assert str(again.value) == str(live.value)
    with pytest.raises(Unreachable):
        replayed.start("sleep 1", limit_s=1)


# -- the journal's lines -------------------------------------------------------------------------


def test_the_journal_has_every_kind_of_line_in_order(
    sshd: Sshd, clock, transcript: Transcript
) -> None:
    transport = TranscribedTransport(connect(sshd.device(), SHELL, clock=clock), transcript)
    reply = transport.run(typed("echo hi"))
    process = transport.start(typed("sh -c 'echo up; sleep 68'"), limit_s=30)
    wait_for(lambda: process.output() == "up\n")
    process.signal("INT")
    process.close()
    transport.configure(typed(("echo a",)))
    transcript.note("host", "why")
    transport.close()
    lines = lines_of(transcript)
    assert [line["order"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["kind"] for line in lines] == [
        "note", "run", "start", "output", "signal", "output", "signal", "configure", "note",
    ]  # fmt: skip
    assert lines[1]["time_s"] == reply.time_s
    assert lines[1] | {"order": 0, "time_s": 0} == {
        "order": 0, "time_s": 0, "device": "host", "kind": "run",
        "command": "echo hi", "text": "hi\n", "errors": "", "status": 0,
    }  # fmt: skip
    assert lines[3]["text"] == "up\n"
    assert lines[5]["status"] == 130
    assert lines[6]["signal"] == "close"


def test_half_a_line_of_a_process_waits_for_its_end(transcript: Transcript) -> None:
    class Typing:
        device, command, printed, ended = "host", "tool", "", None

        def output(self) -> str:
            return self.printed

        def errors(self) -> str:
            return ""

        def status(self) -> int | None:
            return self.ended

    class Host:
        device = "host"

        def start(self, command: str, *, limit_s: float) -> Process:
            return typing  # type: ignore[return-value]

    typing = Typing()
    process = TranscribedTransport(Host(), transcript).start(typed("tool"), limit_s=1)  # type: ignore[arg-type]
    for typing.printed in ("a\nmy open ses", f"a\nmy {PASSWORD}", f"a\nmy {PASSWORD}\nz"):
        assert process.output() == typing.printed
    typing.ended = 0
    assert process.status() == 0
    texts = [line["text"] for line in lines_of(transcript) if line["kind"] == "output"]
    assert texts == ["a\n", "my ***\n", "z"]


def test_many_threads_write_whole_lines(transcript: Transcript) -> None:
    def write() -> None:
        for number in range(200):
            transcript.note("host", f"{number} {'x' * 500}")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [line["order"] for line in lines_of(transcript)] == list(range(1, 802))


# -- recordings by hand --------------------------------------------------------------------------


def test_a_recording_for_a_parser_test_is_made_from_texts() -> None:
    host = Recording.of("ServerA", {"mlnx_qos -i eth0": "DCBX mode: OS\n"})
    assert host.run(typed("mlnx_qos -i eth0")) == Reply(
        device="ServerA", command="mlnx_qos -i eth0", text="DCBX mode: OS\n", status=0
    )


def test_what_was_not_recorded_is_refused_with_the_nearest() -> None:
    host = Recording.of("ServerA", {"mlnx_qos -i eth0": "", "ethtool -S eth0": ""})
    with pytest.raises(CommandRejected, match="nearest that was is 'mlnx_qos -i eth0'") as caught:
        host.run(typed("mlnx_qos -i eth1"))
    assert caught.value.device == "ServerA"
    with pytest.raises(CommandRejected, match="no configure was"):
        host.configure(typed(("anything",)))
    with pytest.raises(CommandRejected, match="no start was"):
        host.start(typed("ib_send_bw"), limit_s=5)


def test_a_recorded_clock_takes_no_wall_time() -> None:
    clock, begun_s = RecordedClock(100.0), time.monotonic()
    clock.sleep(3600)
    clock.sleep(-5)
    clock.reach(50)
    assert clock.now_s() == 3700.0
    assert time.monotonic() - begun_s < 1


def test_an_answer_brings_its_time_along() -> None:
    answers = [
        Exchange(
            kind="run",
            question=("date",),
            answer=Reply(device="a", command="date", text="", time_s=time_s),
        )
        for time_s in (10.0, 20.0)
    ]
    host = Recording("a", answers)
    assert [(host.run(typed("date")).time_s, host.clock.now_s()) for _ in range(3)] == [
        (10.0, 10.0), (20.0, 20.0), (20.0, 20.0),
    ]  # fmt: skip


def test_a_recorded_timeout_is_raised_again() -> None:
    late = CommandTimeout("a", "slow", "it did not end", "wait")
    host = Recording("a", [Exchange(kind="run", question=("slow",), answer=late)])
    with pytest.raises(CommandTimeout, match="it did not end"):
        host.run(typed("slow"))


def test_four_times_the_output_of_a_process_takes_four_times_as_long_to_read(
    tmp_path: Path,
) -> None:
    def took_s(lines: int) -> float:
        path = tmp_path / f"{lines}.jsonl"
        common = {"order": 1, "time_s": 1.0, "device": "a"}
        start = common | {"kind": "start", "process": 1, "command": "x", "limit_s": 9}
        piece = {"kind": "output", "process": 1, "text": "o", "errors": "", "status": None}
        path.write_text(f"{json.dumps(start)}\n" + f"{json.dumps(common | piece)}\n" * lines)
        begun_s = time.process_time()
        process = recorded_lab(path)["a"].start(typed("x"), limit_s=9)
        process.close()
        assert process.output() == "o" * lines
        return time.process_time() - begun_s

    least_s = min(took_s(10_000) for _ in range(2))
    assert min(took_s(40_000) for _ in range(2)) < 8 * least_s  # squared, it were 16
