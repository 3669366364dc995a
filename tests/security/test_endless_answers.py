"""A device that goes on for ever, and files that do, where the runner asks who somebody is."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import paramiko
import pytest

from labtests.core.errors import LoginRefused, UnreadableOutput
from labtests.drivers.cumulus.profiles import parse_qos
from labtests.drivers.linux.qdisc import parse_tc_qdiscs
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.sonic.counters import parse_queue_counters
from labtests.drivers.sonic.database import parse_table
from labtests.inventory import Device, Management
from labtests.transport.protocol import Reply
from labtests.transport.ssh import terminal
from labtests.transport.ssh.host_keys import KnownHosts
from labtests.transport.ssh.key_lists import Unbelieved
from labtests.transport.ssh.learning import KnownHostsFiles
from labtests.transport.ssh.route import hops_to
from labtests.transport.ssh.terminal import NoPrompt, Prompt, Terminal, without_prompt
from labtests.workloads.iperf3_json import parse_json

KEY = paramiko.ECDSAKey.generate()
LINE = f"{KEY.get_name()} {KEY.get_base64()}\n"


class Flood:
    """A channel on which there is always more."""

    closed = eof_received = False

    def __init__(self, unit: bytes) -> None:
        self.unit = unit
        self.in_buffer = self

    def set_event(self, event: object) -> None: ...

    def sendall(self, data: bytes) -> None: ...

    def recv_ready(self) -> bool:
        return True

    def recv(self, most: int) -> bytes:
        return self.unit * 2000


class Wire:
    def round_trip(self, timeout_s: float) -> bool:
        return True


def flooded(monkeypatch: pytest.MonkeyPatch, unit: bytes) -> Terminal:
    """So many characters count as for ever."""
    monkeypatch.setattr(terminal, "_MOST", 200_000)
    monkeypatch.setattr(terminal, "_AT_ONCE", 50_000)
    return Terminal(Flood(unit), Wire())  # type: ignore[arg-type]


UNITS = [b"x", b"\r\n<H3C>", b"\r\n ---- More ----", b"\r\n"]


@pytest.mark.parametrize("unit", UNITS)
def test_an_answer_without_end_ends(monkeypatch: pytest.MonkeyPatch, unit: bytes) -> None:
    with pytest.raises(NoPrompt):
        flooded(monkeypatch, unit).read(Prompt("<H3C>").here, timeout_s=0.2)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.timeout(60)
def test_a_login_that_never_falls_silent_ends(monkeypatch: pytest.MonkeyPatch, unit: bytes) -> None:
    with suppress(NoPrompt):  # either it is taken for a prompt, or it is not
        flooded(monkeypatch, unit).settle(timeout_s=0.2)


@pytest.mark.parametrize("prompt", ["<H3C>", "switch#", "%Nov 1 00:00:00 x>"])
def test_an_answer_that_never_stops_ends_at_its_deadline_and_not_at_its_length(
    monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    device = flooded(monkeypatch, b"\r\n" + prompt.encode() + b"\r\njunk")
    monkeypatch.setattr(terminal, "_MOST", 2**60)
    monkeypatch.setattr(terminal, "_AT_ONCE", 1)
    begun_s = time.monotonic()
    with pytest.raises(NoPrompt):
        device.read(Prompt(prompt).here, timeout_s=0.2)
    assert time.monotonic() - begun_s < 10


@pytest.mark.parametrize("prompt", ["%Nov 1 00:00:00 x>", "x>\n", "<H3C>"])
def test_a_prompt_is_looked_for_at_the_end_of_a_text_only(prompt: str) -> None:
    """Whatever the prompt and how often it is printed, four times the text takes no longer."""

    def took_s(times: int) -> float:
        text = f"\n{prompt}" * times + f"\njunk\n{prompt}"
        begun_s = time.process_time()
        kept = without_prompt(text, Prompt(prompt).here)
        assert kept == text.removesuffix(prompt)
        return time.process_time() - begun_s

    assert min(took_s(8000) for _ in range(3)) < 8 * min(took_s(2000) for _ in range(3)) + 0.02


def test_a_prompt_is_a_whole_line_also_where_the_text_before_it_is_long() -> None:
    here = Prompt("<H3C>").here
    for more in range(1990, 2010):
        log = f"%Nov 21 09:00:00 {'y' * (more - 17)}"
        assert without_prompt(f"x<H3C>{log}", here) == f"x<H3C>{log}"
    assert without_prompt("x" * 5000 + "<H3C>", here) == "x" * 5000 + "<H3C>"
    assert without_prompt("x" * 5000 + "\n<H3C>", here) == "x" * 5000 + "\n"
    assert without_prompt("<H3C>", here) == ""


@pytest.mark.parametrize("prompt", ["%Nov 1 00:00:00 x>", "x" * 400 + ">"])
def test_a_log_line_and_a_line_without_end_are_no_prompt(
    monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    device = flooded(monkeypatch, b"\r\n" + prompt.encode())
    monkeypatch.setattr(device, "_late_news", lambda: "")
    monkeypatch.setattr(device, "_take", lambda: f"\n{prompt}")
    with pytest.raises(NoPrompt):
        device.settle(timeout_s=0.2)


def test_log_lines_behind_a_prompt_are_read_in_one_go() -> None:
    stamps = "%Nov 21 09:00:00" * 100
    here = Prompt("<H3C>").here
    assert here.search(f"\n<H3C> {stamps}\nx") is None
    assert here.search("\n<H3C>%Nov 21 09:00:00:123 2026 H3C up\n%Nov 21 09:00:01 down\n")


# -- files of host keys and keys -------------------------------------------------------------------


def known(tmp_path: Path, line: str, name: str) -> bool:
    file = tmp_path / "known_hosts"
    file.write_text(line)
    return KnownHosts(name, KnownHostsFiles((file,)), "strict").key_types() != ()


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("*", "h", True),
        ("10.0.?.*", "10.0.1.22", True),
        ("10.0.?.*", "10.0.11.22", False),
        ("*.Lab", "a.b.lab", True),
        ("a*b*c", "aXbYbZc", True),
        ("a*b*c", "aXcYb", False),
        ("?", "", False),
        ("**", "x", True),
        ("*a" * 14 + "b", "a" * 60, False),
        ("*,!secret*", "secret1", False),
    ],
)
def test_a_pattern_of_a_host_means_what_sshd_says_and_takes_no_time(
    tmp_path: Path, pattern: str, name: str, fits: bool
) -> None:
    assert known(tmp_path, f"{pattern} {LINE}", name) is fits


def test_of_a_known_hosts_file_no_more_is_read_than_such_a_file_has(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"h {LINE}")
    with file.open("r+b") as sparse:
        sparse.truncate(2**33)
    with pytest.raises(Unbelieved, match="has more than 4194304 bytes"):
        KnownHosts("h", KnownHostsFiles((file,)), "strict").key_types()


def test_a_key_file_without_end_is_no_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    with file.open("wb") as sparse:
        sparse.truncate(2**33)
    management = Management(host="192.0.2.1", user="u", key_file=str(file), ssh_config=False)
    with pytest.raises(LoginRefused, match="is not a key"):
        hops_to(Device(name="d", platform="linux", management=management))


# -- JSON -----------------------------------------------------------------------------------------

MANY = 4_000_000
JSON = {
    "lists": "[" + "[],\n" * MANY + "[]]",
    "objects": '{"egress-queue-mapping":[' + "{}," * MANY + "{}]}",
    "figures": '{"a":[' + "1," * MANY + "1]}",
    "reports": "{}" * MANY,
}


@pytest.mark.parametrize(
    "parse",
    [parse_qos, parse_table, parse_queue_counters, parse_tc_qdiscs, parse_qdiscs, parse_json],
    ids=lambda parse: parse.__name__,
)
@pytest.mark.parametrize("shape", JSON)
def test_json_of_millions_of_parts_is_refused_before_it_is_built(parse: Any, shape: str) -> None:
    """While it is, no other thread runs: the beats of all other hosts stop."""
    reply = Reply(device="evil", command="show", text=JSON[shape], errors="", status=0, time_s=0.0)

    def took_s() -> float:
        begun_s = time.thread_time()  # a neighbour's work is not in it
        with pytest.raises(UnreadableOutput) as refused:
            parse(reply)
        assert refused.value.device == "evil"
        return time.thread_time() - begun_s

    assert min(took_s() for _ in range(3)) < 0.5  # a busy machine makes a try longer, none shorter
