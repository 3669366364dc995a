"""A device that goes on for ever, and files that do, where the runner asks who somebody is."""

import time
from contextlib import suppress
from pathlib import Path

import paramiko
import pytest

from labtests.core.errors import LoginRefused
from labtests.inventory import Device, Management
from labtests.transport.ssh import terminal
from labtests.transport.ssh.host_keys import KnownHosts
from labtests.transport.ssh.learning import Place
from labtests.transport.ssh.route import hops_to
from labtests.transport.ssh.terminal import NoPrompt, Prompt, Terminal

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


@pytest.mark.parametrize("unit", [b"x", b"\r\n<H3C>", b"\r\n ---- More ----", b"\r\n"])
def test_an_answer_without_end_ends(monkeypatch: pytest.MonkeyPatch, unit: bytes) -> None:
    with pytest.raises(NoPrompt):
        flooded(monkeypatch, unit).read(Prompt("<H3C>").here, timeout_s=0.2)


def test_a_login_that_never_falls_silent_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    begun_s = time.monotonic()
    with suppress(NoPrompt):  # either it is taken for a prompt, or it is not
        flooded(monkeypatch, b"\r\n<H3C>").settle(timeout_s=0.2)
    assert time.monotonic() - begun_s < 60


def test_log_lines_behind_a_prompt_are_read_in_one_go() -> None:
    stamps = "%Nov 21 09:00:00" * 100
    here = Prompt("<H3C>").here
    assert here.search(f"\n<H3C> {stamps}\nx") is None
    assert here.search("\n<H3C>%Nov 21 09:00:00:123 2026 H3C up\n%Nov 21 09:00:01 down\n")


# -- files of host keys and keys -------------------------------------------------------------------


def known(tmp_path: Path, line: str, name: str) -> bool:
    file = tmp_path / "known_hosts"
    file.write_text(line)
    return KnownHosts(name, Place((file,)), "strict").key_types() != ()


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
    assert KnownHosts("h", Place((file,)), "strict").key_types() == ()


def test_a_key_file_without_end_is_no_key(tmp_path: Path) -> None:
    file = tmp_path / "key"
    with file.open("wb") as sparse:
        sparse.truncate(2**33)
    management = Management(host="192.0.2.1", user="u", key_file=str(file), ssh_config=False)
    with pytest.raises(LoginRefused, match="is no key"):
        hops_to(Device(name="d", platform="linux", management=management))
