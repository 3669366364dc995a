"""Emulated perftest: the words, formats and ends of recorded runs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from linux_bench import TRANSCRIPTS, FakeConsole, Hands, transcript

from labtests.simlab.linux.perftest import report
from labtests.simlab.linux.perftest.meeting import QueuePair
from labtests.simlab.linux.perftest.plan import read_plan
from labtests.simlab.linux.perftest_builds import Build

DEBIAN_13 = Build(
    version="6.24",
    warns=True,
    new_columns=True,
    wr_api="OFF",
    passive_rows=True,
    outstanding_reads=128,
)
"""perftest 25.01 on soft-RoCE, as recorded."""
DEBIAN_12 = Build(version="6.06", warns=False, new_columns=False, wr_api="OFF", rate_blanks=3)
"""perftest 4.5 on soft-RoCE, as recorded."""

SERVER, CLIENT = "ServerC", "ServerA"
ADDRESS = "192.168.10.12"
_PAIR = re.compile(
    r" (local|remote) address: LID 0000 QPN 0x(\w+) PSN 0x(\w+)(?:.* RKey 0x(\w+) VAddr 0x(\w+))?\n"
    r" GID: .*:(\d+:\d+:\d+:\d+)\n"
)
_ROW = re.compile(r"^ (\d+) +(\d+) +([\d.]+) +([\d.]+)\s+([\d.]+)$", re.MULTILINE)


def command_of(name: str) -> str:
    first = (TRANSCRIPTS / f"{name}.txt").read_text("utf-8").splitlines()[0]
    return first.removeprefix("$ ").partition(";")[0]


def rebuilt(name: str, build: Build) -> str:
    """The recording again, from nothing but its options, addresses and counts."""
    recorded = transcript(name).partition("rc=")[0].partition("{")[0]
    words = command_of(name).split()
    tool = next(word for word in words if "/ib_" in word or word.startswith("ib_"))
    arguments = tuple(words[words.index(tool) + 1 :])
    plan, _ = read_plan(tool.rpartition("/")[2], arguments)
    mtu = int(re.search(r"Mtu +: (\d+)", recorded)[1])  # type: ignore[index]
    setup = report.Setup(plan=plan, build=build, device="rxe0", mtu_bytes=mtu, gid_index=1)
    text = report.WARNING if plan.duration_s and build.warns else ""
    text += report.WAITING if setup.is_server else ""
    text += report.header(setup)
    text += report.WAITING_RDMA_CM if setup.is_server and plan.rdma_cm else ""
    for side, qpn, psn, key, address, octets in _PAIR.findall(recorded):
        pair = QueuePair(
            number=int(qpn, 16),
            psn=int(psn, 16),
            remote_key=int(key or "0", 16),
            address=int(address or "0", 16),
        )
        ip = ".".join(str(int(octet)) for octet in octets.split(":"))
        text += report.addresses(setup, side, ip, [pair])
    text += report.RULER + report.table_header(plan)
    rows = [_row(match, build, plan.gbits) for match in _ROW.findall(recorded)]
    text += "\n".join(rows)
    return text + ("\n" + report.RULER if recorded.endswith(report.RULER) else "")


def _row(match: tuple[str, ...], build: Build, gbits: bool) -> str:
    size, count, peak, average, rate = match
    seconds = int(count) / (float(rate) * 1e6) if float(rate) else 1.0
    result = report.Result(
        size_bytes=int(size), iterations=int(count), seconds=seconds, peak_known=False
    )
    text = report.row(result, build, gbits=gbits)
    assert _ROW.findall(text)[0][3] == average
    return text.replace(f"{0:<{len(peak)}}", peak, 1) if float(peak) else text


@pytest.mark.parametrize(
    "name",
    [
        "send-run-infinitely",
        "send-server",
        "send-server-4-qps",
        "send-server-mib",
        "write-server",
        "server-killed-client-rdma-cm",
        "client-killed-server-tcp",
        "tools-differ",
    ],
)
def test_a_recorded_run_is_printed_byte_for_byte(name: str) -> None:
    recorded = transcript(name).partition("rc=")[0]
    assert rebuilt(name, DEBIAN_13) == recorded.partition("{")[0]


def test_the_old_build_prints_its_own_columns() -> None:
    assert rebuilt("send-old-build", DEBIAN_12) == transcript("send-old-build")


@pytest.mark.parametrize("name", ["send-small", "write-client", "read-server", "send-lat-client"])
def test_the_header_of_other_runs_is_as_recorded(name: str) -> None:
    recorded, ours = transcript(name), rebuilt_header(name)
    assert ours in recorded


def test_a_recorded_row_of_latencies_is_printed_byte_for_byte() -> None:
    header, row = transcript("send-lat-client").splitlines()[-3:-1]
    size, messages, *figures = row.split()
    assert f"{header}\n" == report.LATENCY_HEADER
    assert report.latency_line(int(size), int(messages), [*map(float, figures)]) == row


def test_percentiles_are_of_the_sorted_times() -> None:
    row = report.latency_row(2, [*range(1000, 0, -1)]).split()
    assert row[2:5] == ["1.00", "1000.00", "501.00"]
    assert row[5:] == ["500.50", "288.67", "991.00", "1000.00"]


def rebuilt_header(name: str) -> str:
    words = command_of(name).split()
    tool = next(word for word in words if word.startswith("ib_"))
    plan, _ = read_plan(tool, tuple(words[words.index(tool) + 1 :]))
    setup = report.Setup(plan=plan, build=DEBIAN_13, device="rxe0", mtu_bytes=4096, gid_index=1)
    return report.header(setup)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("no-server-rdma-cm", "-R -D 3 {address}"),
        ("no-server-tcp", "-x 1 -D 3 {address}"),
        ("wrong-device", "-d nosuch0 -R -D 3"),
        ("wrong-gid-index", "-x 99 -D 3 {address}"),
        ("no-route", "-R -D 3 10.99.0.1"),
        ("size-too-large", "-R -s 99999999999 {address}"),
    ],
)
def test_what_cannot_start_ends_as_recorded(hands: Hands, name: str, options: str) -> None:
    session = hands.run("ib_send_bw --report_gbits " + options.format(address=ADDRESS))
    assert session.status == 1
    assert session.out == transcript(name)
    assert session.err == transcript(f"{name}.err").replace("10.77.0.13", ADDRESS)


def test_an_unknown_option_prints_the_usage_and_fails(hands: Hands) -> None:
    session = hands.run(f"ib_write_bw --nosuch {ADDRESS}")
    assert session.status == 1
    assert session.out.startswith("Usage:\n  ib_write_bw            start a server")
    assert session.err == (
        "ib_write_bw: unrecognized option '--nosuch'\n Invalid Command or flag.\n"
        " Please check command line and run again.\n\n Parser function exited with Error\n"
    )
    assert hands.run("ib_send_bw --version").status == 1


def pair(hands: Hands, options: str, *, tool: str = "ib_send_bw", limit: int = 40,
         client_options: str | None = None) -> tuple[FakeConsole, FakeConsole]:  # fmt: skip
    server = hands.run(f"timeout -k 2 {limit} {tool} {options}", SERVER)
    given = options if client_options is None else client_options
    client = hands.run(f"timeout -k 2 {limit} ib_send_bw {given} {ADDRESS}" if tool == "ib_send_bw"
                       or client_options is not None else
                       f"timeout -k 2 {limit} {tool} {given} {ADDRESS}", CLIENT)  # fmt: skip
    return server, client


def rows(text: str) -> list[tuple[int, float]]:
    return [(int(count), float(average)) for _, count, _, average, _ in _ROW.findall(text)]


def test_a_pipe_shows_nothing_of_a_waiting_server(hands: Hands) -> None:
    server = hands.run("timeout -k 2 25 ib_send_bw --report_gbits -R -D 3", SERVER)
    hands.advance(20)
    assert server.out == "", "stdio keeps it: a pipe is written block by block"
    hands.advance(6)
    assert (server.status, server.out) == (124, "")
    terminal = hands.run("stdbuf -oL ib_send_bw -R -D 3", SERVER)
    assert terminal.out.endswith("* Waiting for client to connect... *\n" + "*" * 36 + "\n")


def test_a_duration_counts_what_is_between_the_margins(hands: Hands) -> None:
    server, client = pair(hands, "--report_gbits -R -D 4 -T 96")
    hands.advance(4.1)
    for session in (server, client):
        assert session.status == 0
        assert rows(session.out) == [(35324, 9.26)], "2 of 4 seconds at 9.26 Gb/s"
        assert session.out.endswith(report.RULER)
    assert " Data ex. method : rdma_cm \tTOS    : 96\n" in client.out


def test_rows_come_every_interval_for_ever(hands: Hands) -> None:
    server, client = pair(hands, "--report_gbits --run_infinitely -R -D 3")
    hands.advance(10)
    assert rows(client.out) == [(52986, 9.26), (52986, 9.26), (52986, 9.26)]
    assert not client.out.endswith("\n"), "the line end comes with the next row"
    hands.run("pkill -INT ib_send_bw", CLIENT)
    assert client.status == 130
    hands.advance(3)
    assert rows(server.out)[-1][0] < 52986
    hands.advance(3)
    assert rows(server.out)[-1] == (0, 0.0), "nobody sends any more"


def normalized(text: str) -> str:
    """Without what differs between two runs: numbers, names and addresses."""
    text = re.sub(r"0x[0-9a-f]+|[0-9a-f:.]*\d[0-9a-f:.]*", "N", text.replace("rxe0", "DEVICE"))
    return re.sub(r"N *", "N ", text.replace("mlxN_N", "DEVICE"))


@pytest.mark.parametrize("name", ["send-run-infinitely", "send-run-infinitely-by-lines"])
def test_an_interrupted_run_leaves_what_recordings_have(hands: Hands, name: str) -> None:
    for host in (SERVER, CLIENT):
        hands.lab.devices[host].perftest_build = DEBIAN_13  # type: ignore[attr-defined]
    hands.run("ib_send_bw --report_gbits -R --run_infinitely -D 3", SERVER)
    command = command_of(name).replace("-d rxe0 ", "").replace("10.77.0.13", ADDRESS)
    client = hands.run(command.replace("timeout -s INT 14", "timeout -s INT 11"), CLIENT)
    hands.advance(12)
    assert client.status == 124
    recorded = transcript(name)
    assert normalized(client.out) == normalized(recorded)
    assert client.out.endswith("\n") is recorded.endswith("\n")


def test_iterations_end_when_they_are_done(hands: Hands) -> None:
    server, client = pair(hands, "-n 100", tool="ib_write_bw")
    hands.advance(1)
    assert (server.status, client.status) == (0, 0)
    assert rows(client.out)[0][0] == 100
    assert rows(client.out)[0][1] == pytest.approx(9.26e9 / 8 / 2**20, rel=0.02)
    assert rows(server.out) == [], "a server of write has nothing to count"


def test_survivors_behave_as_recorded(make_lab: Callable[..., Hands]) -> None:
    for way, killed, name in (
        ("-R", SERVER, "server-killed-client-rdma-cm"),
        ("-R", CLIENT, "client-killed-server-rdma-cm"),
        ("-x 1", SERVER, "server-killed-client-tcp"),
        ("-x 1", CLIENT, "client-killed-server-tcp"),
    ):
        hands = make_lab()
        for host in (SERVER, CLIENT):
            hands.lab.devices[host].perftest_build = DEBIAN_13  # type: ignore[attr-defined]
        server = hands.run(
            f"timeout -k 2 40 ib_send_bw --report_gbits {way} -D 10; echo rc=$?", SERVER
        )
        client = hands.run(
            f"timeout -k 2 40 ib_send_bw --report_gbits {way} -D 10 {ADDRESS}; echo rc=$?", CLIENT
        )
        hands.advance(5)
        hands.run("pkill -9 ib_send_bw", killed)
        hands.advance(45)
        survivor = client if killed == SERVER else server
        assert normalized(survivor.out) == normalized(transcript(name)), name
        recorded = TRANSCRIPTS / f"{name}.err.txt"
        assert survivor.err == (transcript(f"{name}.err") if recorded.exists() else ""), name


def test_a_larger_message_than_the_server_expects_fails_as_recorded(hands: Hands) -> None:
    _, client = pair(hands, "-R -D 3 -s 4096", client_options="-R -D 3 -s 65536")
    hands.advance(1)
    assert client.status == 17
    assert client.err == transcript("size-differs.err")
    assert rows(client.out) == []


def test_exhausted_retries_end_with_status_12(hands: Hands) -> None:
    _, client = pair(hands, "--report_gbits -R --run_infinitely -D 1")
    hands.advance(1.5)
    flow = hands.lab.network.flows[0]  # type: ignore[attr-defined]
    flow.error_status = 12
    hands.advance(0.1)
    assert client.status == 17
    assert client.err.startswith(
        " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, ccnt="
    )
    assert len(rows(client.out)) == 1


def test_different_tools_measure_nothing_and_succeed(hands: Hands) -> None:
    for host in (SERVER, CLIENT):
        hands.lab.devices[host].perftest_build = DEBIAN_13  # type: ignore[attr-defined]
    hands.run("ib_write_bw --report_gbits -R -D 3", SERVER)
    client = hands.run(f"ib_send_bw --report_gbits -R -D 3 {ADDRESS}", CLIENT)
    hands.advance(30)
    assert client.status == 0
    assert normalized(client.out) == normalized(transcript("tools-differ"))


def test_another_number_of_queue_pairs_hangs_both(hands: Hands) -> None:
    server, client = pair(hands, "-R -D 3 -q 1", client_options="-R -D 3 -q 2", limit=25)
    hands.advance(26)
    assert (server.status, client.status) == (124, 124)
    assert server.out == client.out == ""


def test_a_server_without_rdma_cm_is_no_server_for_it(hands: Hands) -> None:
    hands.run("ib_send_bw -x 1 -D 3", SERVER)
    assert "18515" in hands.output("ss -tln", SERVER)
    assert hands.output("rdma -j res show cm_id", SERVER) == "[]\n"
    assert hands.run(f"ib_send_bw -R -D 3 {ADDRESS}").status == 1
    busy = hands.run("ib_send_bw -x 1 -D 3", SERVER)
    assert busy.err.startswith("Couldn't listen to port 18515\n")


def test_a_listening_rdma_cm_server_is_seen_as_recorded(hands: Hands) -> None:
    hands.run("ib_send_bw -R -D 3", SERVER)
    pid = hands.output("pgrep ib_send_bw", SERVER).strip()
    recorded = transcript("rdma-listening").replace("rxe0", "mlx5_0")
    expected = recorded.replace("5502", pid).replace('"cm-idn":132', '"cm-idn":70')
    assert hands.output("rdma -j res show cm_id", SERVER) == expected
    assert "18515" not in hands.output("ss -tln", SERVER)
    client = hands.run(f"ib_send_bw -R -D 3 {ADDRESS}", CLIENT)
    assert hands.output("rdma -j res show cm_id", SERVER) == "[]\n"
    hands.advance(1)
    assert '"state":"CONNECT"' in hands.output("rdma -j res show cm_id", CLIENT)
    hands.advance(3)
    assert client.status == 0
    assert hands.output("rdma -j res show cm_id", CLIENT) == "[]\n"


def test_options_reach_the_network(hands: Hands) -> None:
    pair(hands, "-R -D 3 -T 104 -q 2 -s 4096 -m 512 -u 10 --retry_count=2", tool="ib_read_bw")
    hands.advance(0.1)
    request = hands.lab.network.flows[0].request  # type: ignore[attr-defined]
    assert (request.verb, request.tos, request.qps) == ("read", 104, 2)
    assert (request.message_bytes, request.mtu_bytes, request.destination) == (4096, 512, ADDRESS)
    assert request.retry_limit == 2


def test_the_time_out_is_the_options_but_the_kernel_s_where_rdma_cm_connects(hands: Hands) -> None:
    pair(hands, "-D 3 -u 10")
    hands.advance(0.1)
    pair(hands, "-R -D 3 -u 10 -p 18516")
    hands.advance(0.1)
    own, kernels = (flow.request.timeout_exponent for flow in hands.lab.network.flows)  # type: ignore[attr-defined]
    assert (own, kernels) == (10, 18)


def test_the_same_seed_gives_the_same_bytes(make_lab: Callable[..., Hands]) -> None:
    def run(seed: int) -> list[str]:
        hands = make_lab(seed=seed)
        sessions = pair(hands, "--report_gbits -R -D 3 -q 2")
        hands.advance(4)
        return [session.out for session in sessions]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_no_recording_names_a_path_of_this_machine() -> None:
    for file in sorted(Path(TRANSCRIPTS).glob("*.txt")):
        assert "/work" not in file.read_text("utf-8"), file
