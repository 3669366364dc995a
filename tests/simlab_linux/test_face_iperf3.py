"""Emulated iperf3 3.12: rows, JSON, errors and ends as in recordings."""

import json
import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from linux_bench import FakeConsole, Hands, transcript

from labtests.simlab.linux.iperf3 import rows, units
from labtests.simlab.linux.iperf3.document import dump
from labtests.simlab.linux.iperf3.rows import IntervalRow
from labtests.simlab.linux.iperf3.trial import Iperf3Stream

SERVER, CLIENT = "ServerC", "ServerA"
ADDRESS = "192.168.10.12"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0.00 Bytes"),
        (968 * 2**20, " 968 MBytes"),
        (1023 * 2**10, "1023 KBytes"),
        (3.78 * 2**30, "3.78 GBytes"),
        (11.6 * 2**30, "11.6 GBytes"),
    ],
)
def test_amounts_have_three_digits_like_recorded(count: float, shown: str) -> None:
    assert units.byte_count(count) == shown


def test_rates_are_shown_and_read_in_the_same_units() -> None:
    assert units.bit_rate(8.32e9) == "8.32 Gbits"
    assert units.bit_rate(714e6) == " 714 Mbits"
    assert units.bit_rate(0) == "0.00 bits"
    assert [units.rate(text) for text in ("10g", "7.8G", "20M", "5150000000", "fast")] == [
        10e9, 7.8e9, 20e6, 5.15e9, None
    ]  # fmt: skip


def parsed(line: str) -> tuple[str, IntervalRow, str]:
    """A recorded row as (name, span, role). Bytes and seconds are chosen to print the same."""
    pattern = (
        r"\[ *(\w+)\] +([\d.]+)-([\d.]+) +sec +([\d.]+) (\w*)Bytes +([\d.]+) (\w*)bits/sec"
        r"(?: +(\d+))?(?: {3,}([\d.]+) (\w*)Bytes)? *(sender|receiver)?"
    )
    found = re.match(pattern, line)
    assert found is not None, line
    powers = {"": 0, "K": 1, "M": 2, "G": 3}
    amount = float(found[4]) * 1024 ** powers[found[5]]
    rate = float(found[6]) * 1000 ** powers[found[7]]
    window = float(found[9]) * 1024 ** powers[found[10]] if found[9] else 0
    span = IntervalRow(
        start_s=float(found[2]),
        end_s=float(found[3]),
        seconds=round(amount) * 8 / rate if rate else 1.0,
        sent_bytes=round(amount),
        retransmits=int(found[8] or 0),
        congestion_window=round(window),
    )
    return found[1], span, found[11] or ""


@pytest.mark.parametrize(
    ("name", "sender"), [("iperf3-client-4-streams", True), ("iperf3-server-4-streams", False)]
)
def test_every_recorded_row_is_printed_byte_for_byte(name: str, sender: bool) -> None:
    lines = transcript(name).splitlines(keepends=True)
    assert rows.heading(udp=False, sender=sender) in lines
    assert rows.heading(udp=False, sender=sender, summary=True) in lines
    for line in lines:
        if re.match(r"\[( *\d+|SUM)\] +\d+\.", line):
            stream, span, role = parsed(line)
            if role:
                assert rows.tcp_summary(stream, span, role) == line
            else:
                assert rows.tcp_row(stream, span, sender=sender) == line


def test_udp_rows_are_printed_byte_for_byte() -> None:
    recorded = transcript("iperf3-udp-client")
    first = IntervalRow(start_s=0, end_s=1, seconds=1.0016, sent_bytes=2505440, packets=280)
    assert rows.udp_row("5", first, sender=True) in recorded
    whole = IntervalRow(start_s=0, end_s=4.02, seconds=4.02, sent_bytes=10003864, packets=1118)
    assert rows.udp_summary("5", whole, "sender") in recorded
    assert rows.heading(udp=True, sender=True) in recorded
    assert rows.heading(udp=True, sender=True, summary=True) in recorded
    lossy = IntervalRow(
        start_s=0, end_s=1, seconds=1, sent_bytes=60.6 * 2**20, packets=14980, lost=7839,
        jitter_ms=0.091,
    )  # fmt: skip
    assert rows.udp_row("5", lossy, sender=False) == (
        "[  5]   0.00-1.00   sec  60.6 MBytes   508 Mbits/sec  0.091 ms  7839/14980 (52%)  \n"
    )


@pytest.mark.parametrize(
    "name",
    [
        "iperf3-server-json",
        "iperf3-refused-json",
        "iperf3-server-killed-json",
        "iperf3-udp-client-json",
    ],
)
def test_json_has_cjsons_layout_and_numbers(name: str) -> None:
    recorded = transcript(name)
    assert dump(json.loads(recorded)) + "\n" == recorded


def start(
    hands: Hands, options: str, *, server: str = "-s -1", limit: str = "60"
) -> tuple[FakeConsole, FakeConsole]:
    listening = hands.run(f"iperf3 {server}", SERVER)
    return listening, hands.run(f"timeout -k 2 {limit} iperf3 -c {ADDRESS} {options}", CLIENT)


def shape(value: object) -> object:
    """A document's keys and their order, without values."""
    if isinstance(value, dict):
        return [(key, shape(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [shape(inner) for inner in value[:1]]
    return type(value) in (int, float) or type(value).__name__


NEWER = {"fq_rate", "bidir", "fqrate", "interval"}  # 3.18 has them, 3.12 has not


def without_newer(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_newer(inner) for key, inner in value.items() if key not in NEWER}
    if isinstance(value, list):
        return [without_newer(inner) for inner in value]
    return value


def test_json_of_a_udp_client_has_the_keys_of_a_recording(hands: Hands) -> None:
    _, client = start(hands, "-t 3 -u -b 400M -l 1400 -J")
    hands.advance(4)
    assert client.status == 0
    recorded = json.loads(transcript("iperf3-udp-client-json"))
    assert shape(json.loads(client.out)) == shape(without_newer(recorded))


def test_json_of_a_tcp_server_has_the_keys_of_a_recording(hands: Hands) -> None:
    server, _ = start(hands, "-t 2", server="-s -1 -J")
    hands.advance(3)
    assert server.status == 0
    assert shape(json.loads(server.out)) == shape(json.loads(transcript("iperf3-server-json")))


def test_json_of_an_interrupted_test_has_the_keys_of_a_recording(hands: Hands) -> None:
    _, client = start(hands, "-t 20 -J")
    hands.advance(2.5)
    hands.run("pkill -9 iperf3", SERVER)
    assert client.status == 0
    document = json.loads(client.out)
    recorded = json.loads(transcript("iperf3-server-killed-json"))
    assert shape(document) == shape(recorded)
    assert document["error"] == recorded["error"]
    assert len(document["intervals"]) == 3, "the last interval is there twice, as recorded"


def test_losses_are_in_the_receivers_part_only(hands: Hands) -> None:
    _, client = start(hands, "-t 2 -u -b 1G -l 65500 -S 0x60 -J")
    hands.advance(0.5)
    flow = hands.lab.network.flows[0]  # type: ignore[attr-defined]
    flow.loss = 0.25
    hands.advance(2)
    assert flow.request.tos == 0x60
    end = json.loads(client.out)["end"]
    assert end["sum_sent"]["lost_packets"] == 0
    assert end["sum_received"]["lost_percent"] == pytest.approx(25, abs=0.1)
    assert end["sum_received"]["bytes"] == pytest.approx(0.75 * end["sum_sent"]["bytes"], rel=1e-3)
    assert end["sum"]["lost_packets"] == end["sum_received"]["lost_packets"] > 0


def test_a_large_udp_block_is_warned_about_on_stderr(hands: Hands) -> None:
    _, client = start(hands, "-t 2 -i 2 -u -b 7.8G -l 65500")
    hands.advance(3)
    assert client.err == (
        "warning: UDP block size 65500 exceeds TCP MSS 1448, may result in fragmentation / drops\n"
    )
    assert "[  5]   0.00-2.00   sec  1.82 GBytes  7.80 Gbits/sec  2977" in client.out
    assert client.out.endswith("\n\niperf Done.\n")


def test_reverse_lets_the_server_send(hands: Hands) -> None:
    start(hands, "-t 1 -R")
    hands.advance(0.5)
    request = hands.lab.network.flows[0].request  # type: ignore[attr-defined]
    assert (request.device, request.destination) == (SERVER, "192.168.10.10")


def test_a_server_serves_one_after_the_other(hands: Hands) -> None:
    server, client = start(hands, "-t 1 -P 2", server="-s")
    other = hands.run(f"iperf3 -c {ADDRESS} -t 1", "ServerB")
    assert (other.status, other.err) == (
        1, "iperf3: error - the server is busy running a test. try again later\n"
    )  # fmt: skip
    busy = hands.run(f"iperf3 -c {ADDRESS} -t 1 -J", "ServerB")
    assert (busy.status, json.loads(busy.out)["error"]) == (
        0, "the server is busy running a test. try again later"
    )  # fmt: skip
    hands.advance(2)
    assert client.status == 0
    assert "[SUM]   0.00-1.00   sec" in client.out
    again = hands.run(f"iperf3 -c {ADDRESS} -t 1", CLIENT)
    hands.advance(2)
    assert again.status == 0
    hands.run("pkill -INT iperf3", SERVER)
    assert server.status == 1
    assert server.err == "iperf3: interrupt - the server has terminated\n"
    assert "Server listening on 5201 (test #2)\n" in server.out


def test_without_a_server_the_status_depends_on_json(hands: Hands) -> None:
    text = hands.run(f"iperf3 -c {ADDRESS}")
    assert (text.status, text.err) == (
        1, "iperf3: error - unable to connect to server: Connection refused\n"
    )  # fmt: skip
    document = hands.run(f"iperf3 -c {ADDRESS} -J")
    recorded = json.loads(transcript("iperf3-refused-json"))
    recorded["start"]["system_info"] = json.loads(document.out)["start"]["system_info"]
    assert (document.status, document.out) == (0, dump(recorded) + "\n")
    unknown = hands.run("iperf3 -c no-such-host.invalid")
    assert unknown.err.endswith("unable to connect to server: Name or service not known\n")


def test_an_interrupted_client_prints_a_receiver_line_of_zero(hands: Hands) -> None:
    server, client = start(hands, "-t 20", server="-s -1", limit="60")
    hands.advance(2.303)
    hands.run("pkill -INT -x iperf3", CLIENT)
    assert client.status == 1
    assert client.err == "iperf3: interrupt - the client has terminated\n"
    assert "[  5]   2.00-2.30   sec" in client.out
    assert client.out.endswith(
        "[  5]   0.00-2.30   sec  0.00 Bytes  0.00 bits/sec                  receiver\n"
    )
    assert (server.status, server.err) == (0, "iperf3: the client has terminated\n")
    assert server.out.count("[  5]   1.00-2.00   sec") == 2, "repeated, as recorded"


def test_a_pipe_shows_nothing_before_the_end(hands: Hands) -> None:
    server, client = start(hands, "-t 3")
    hands.advance(2)
    assert (server.out, client.out) == ("", "")
    _, flushing = start(hands, "-t 3 --forceflush -p 5999", server="-s -p 5999")
    hands.advance(2)
    assert "0.00-1.00" in flushing.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("", "iperf3: parameter error - must either be a client (-c) or server (-s)\n"),
        (f"-c {ADDRESS} -S 0x1ff",
         "iperf3: parameter error - bad TOS value (must be between 0 and 255 inclusive)\n"),
        (f"-c {ADDRESS} --nosuch", "iperf3: unrecognized option '--nosuch'\n"),
    ],
)  # fmt: skip
def test_a_bad_command_line_is_refused(hands: Hands, options: str, complaint: str) -> None:
    session = hands.run(f"iperf3 {options}")
    assert session.status == 1
    assert session.err.startswith(complaint)


def test_a_busy_port_cannot_be_listened_on(hands: Hands) -> None:
    hands.run("iperf3 -s", SERVER)
    session = hands.run("iperf3 -s", SERVER)
    assert (session.status, session.err) == (
        1,
        "iperf3: error - unable to start listener for connections: Address already in use\n"
        "iperf3: exiting\n",
    )


def test_the_same_seed_gives_the_same_bytes(make_lab: Callable[..., Hands]) -> None:
    def run(seed: int) -> str:
        hands = make_lab(seed=seed)
        _, client = start(hands, "-t 2 -u -b 1G -J")
        hands.advance(3)
        return client.out

    assert run(4) == run(4)
    assert run(4) != run(5)


def test_a_small_socket_loses_in_the_host_what_the_network_brought(hands: Hands) -> None:
    """`-w`: the kernel counts what found the socket full; iperf3 counts it as lost."""
    _, roomy = start(hands, "-t 1 -u -b 2g -l 1472 -w 1M -J")
    hands.advance(2)
    assert udp_counters(hands)["RcvbufErrors"] == 0
    _, narrow = start(hands, "-t 1 -u -b 2g -l 1472 -w 4096 -J")
    hands.advance(2)
    whole, holed = (json.loads(client.out) for client in (roomy, narrow))
    lost = udp_counters(hands)["RcvbufErrors"]
    assert 0 < lost < holed["end"]["sum"]["packets"]
    assert udp_counters(hands)["InErrors"] == lost
    assert holed["end"]["sum"]["lost_packets"] == lost
    assert whole["end"]["sum"]["lost_packets"] == 0
    assert holed["start"]["sock_bufsize"] == 4096


def udp_counters(hands: Hands) -> dict[str, int]:
    text = hands.run("cat /proc/net/snmp", SERVER).out
    names, values = (line.split()[1:] for line in text.splitlines() if line.startswith("Udp: "))
    return dict(zip(names, map(int, values), strict=True))


def test_what_comes_when_the_server_has_gone_finds_no_port(hands: Hands) -> None:
    """A deep queue at 1 Gb/s empties for milliseconds more: the kernel counts that as NoPorts."""
    stream = Iperf3Stream(number=1, client_port=40_000)
    stream.udp = flow = SimpleNamespace(received_datagrams=1_000)
    stream.receiver = hands.lab.devices[SERVER].sockets
    before = udp_counters(hands)
    stream.close()
    assert udp_counters(hands) == before
    flow.received_datagrams += 7
    after = udp_counters(hands)
    assert after["NoPorts"] == 7
    assert after["InDatagrams"] == before["InDatagrams"] - 7


def test_a_daemon_lets_go_of_whoever_started_it_and_serves(hands: Hands) -> None:
    started = hands.run("iperf3 -s -D; echo $?", SERVER)
    assert (started.status, started.out) == (0, "0\n")
    client = hands.run(f"iperf3 -c {ADDRESS} -t 1", CLIENT)
    hands.advance(2)
    assert client.status == 0
    assert hands.output("pgrep -a iperf3", SERVER).endswith(" iperf3 -s -D\n")
    hands.run("pkill iperf3", SERVER)
    assert hands.run("pgrep iperf3", SERVER).status == 1


def test_a_second_daemon_finds_the_port_busy_and_is_gone(hands: Hands) -> None:
    for _ in range(2):
        assert hands.run("iperf3 -s -D", SERVER).status == 0
    assert len(hands.output("pgrep iperf3", SERVER).split()) == 1
