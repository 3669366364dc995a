"""Other users of the same machine: what they can see of a simulated lab, and try."""

import asyncio
import os
import resource
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import paramiko
import pytest

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate
from labtests.inventory import load
from labtests.simlab import server
from labtests.simlab.control import LabProcess
from labtests.simlab.keys import Keyring
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.server import MOST_STRANGERS, most_strangers
from labtests.simlab.serving import ServingFolder, open_lab

SECRET = "a-password-of-the-real-lab"
TESTBED = """\
name: two
devices:
  H: {platform: connectx, management: {host: h.example}, ports: {eth0: {address: 10.0.0.1/24}}}
  S: {platform: comware, management: {host: s.example}, ports: {Twenty-FiveGigE1/0/1: {}}}
links:
  - {between: [H, S], speed_gbit_per_s: 10, length_m: 3}
"""
LOOPBACK = {"0100007F"}  # /proc/net writes 127.0.0.1 like this on a little-endian machine


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabProcess]:
    folder = tmp_path_factory.mktemp("strangers")
    (folder / "two.yaml").write_text(TESTBED)
    earlier = os.umask(0)
    os.environ["REAL_LAB_PASSWORD"] = SECRET
    hidden = frozenset({"REAL_LAB_PASSWORD"})
    try:
        running = LabProcess(folder / "two.yaml", seed=1, without=hidden)
    finally:
        del os.environ["REAL_LAB_PASSWORD"]
        os.umask(earlier)
    with running:
        yield running


def sockets_of(pid: int) -> dict[str, list[list[str]]]:
    """The process's sockets as the kernel lists them, by kind: fields of /proc/net/<kind>."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        target = str(entry.readlink())
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found: dict[str, list[list[str]]] = {}
    for kind in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6", "unix", "packet", "icmp", "icmp6"):
        table = Path(f"/proc/{pid}/net/{kind}")
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        found[kind] = [line.split() for line in lines if inodes & set(line.split())]
    return found


def test_every_socket_of_the_process_is_on_loopback_and_none_is_ipv6(lab: LabProcess) -> None:
    found = sockets_of(lab.pid)
    listening = [row for row in found["tcp"] if row[3] == "0A"]
    assert len(listening) == 2  # one a device: the table was read
    assert {row[1].partition(":")[0] for row in found["tcp"]} == LOOPBACK
    ports = {int(row[1].partition(":")[2], 16) for row in listening}
    assert ports == {address["port"] for address in lab.devices.values()}
    for kind in ("tcp6", "udp", "udp6", "raw", "raw6", "packet", "icmp", "icmp6"):
        assert found[kind] == []
    assert [row for row in found["unix"] if len(row) > 7] == []  # none with a name to connect to


def test_the_process_has_no_password_of_a_real_lab(lab: LabProcess) -> None:
    folder = Path(f"/proc/{lab.pid}")
    assert SECRET.encode() not in (folder / "environ").read_bytes()
    words = (folder / "cmdline").read_bytes()
    assert SECRET.encode() not in words
    assert lab.password.encode() not in words  # nor its own where everybody sees it


def test_all_its_files_are_private_although_the_umask_was_0(lab: LabProcess) -> None:
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in lab.directory.iterdir()}
    assert stat.S_IMODE(lab.directory.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}
    assert {"id_ed25519", "known_hosts", "ssh_config"} <= set(modes)


@pytest.mark.parametrize("device", ["H", "S"])
def test_nobody_comes_in_without_the_secret(lab: LabProcess, device: str) -> None:
    address = lab.devices[device]
    stranger = paramiko.RSAKey.generate(2048)
    tries = (
        lambda t: t.auth_none("root"),
        lambda t: t.auth_password("root", ""),
        lambda t: t.auth_password("root", "root"),
        lambda t: t.auth_password("nobody", lab.password),
        lambda t: t.auth_publickey("root", stranger),
        lambda t: t.auth_interactive("root", lambda *_: [""]),
    )
    for attempt in tries:
        transport = paramiko.Transport((address["host"], address["port"]))
        try:
            transport.start_client(timeout=10)
            with pytest.raises(paramiko.SSHException):
                attempt(transport)
            assert not transport.is_authenticated()
        finally:
            transport.close()


def threads_and_files(pid: int) -> tuple[int, int]:
    folder = Path(f"/proc/{pid}")
    return len(list((folder / "task").iterdir())), len(list((folder / "fd").iterdir()))


def log_in(lab: LabProcess, device: str) -> paramiko.Transport:
    address = lab.devices[device]
    transport = paramiko.Transport((address["host"], address["port"]))
    transport.start_client(timeout=10)
    transport.auth_password("root", lab.password)
    return transport


def test_who_logs_in_gets_in_past_hundreds_who_hold_the_line(lab: LabProcess) -> None:
    address = lab.devices["H"]
    place = (address["host"], address["port"])
    inside = log_in(lab, "H")
    threads, files = threads_and_files(lab.pid)
    silent = [socket.create_connection(place, 10) for _ in range(400)]
    try:
        for each in (log_in(lab, "H"), log_in(lab, "S")):
            assert each.is_authenticated()
            each.close()
        now_threads, now_files = threads_and_files(lab.pid)
        assert now_threads <= threads + 1
        assert now_files <= files + MOST_STRANGERS + 2
        assert inside.open_session(timeout=10).active  # who was inside stays
        assert most_strangers(2) == MOST_STRANGERS
    finally:
        inside.close()
        for connection in silent:
            connection.close()


def test_strangers_never_take_all_files_of_a_large_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1024))
    for devices in (1, 2, 10, 64, 200):
        most = most_strangers(devices)
        assert 1 <= most <= MOST_STRANGERS
        assert most * devices <= 512
    assert most_strangers(2000) == 1


def test_who_does_not_log_in_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOGIN_WITHIN_S", 0.5, raising=False)
    (tmp_path / "two.yaml").write_text(TESTBED)
    lab = SimulatedLab(load(tmp_path / "two.yaml"), seed=1)

    async def wait_inside() -> bytes:
        async with open_lab(lab, ServingFolder(tmp_path / "files")) as ready:
            port = ready["devices"]["H"]["port"]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            said = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return said

    assert asyncio.run(wait_inside()).startswith(b"SSH-2.0-")


def test_each_lab_has_secrets_of_its_own_and_each_device_its_own_host_key(
    tmp_path: Path,
) -> None:
    one, other = Keyring(["A", "B"], tmp_path / "one"), Keyring(["A", "B"], tmp_path / "other")
    assert one.password != other.password
    assert len(one.password) >= 16
    keys = [k.host_keys[name].public_data for k in (one, other) for name in ("A", "B")]
    assert len({*keys, one.user_key.public_data, other.user_key.public_data}) == 6


def test_files_of_this_machine_are_no_files_of_an_emulated_host(
    lab: LabProcess, tmp_path: Path
) -> None:
    real = tmp_path / "real"
    real.write_text("of this machine")
    address = lab.devices["H"]
    client = paramiko.SSHClient()
    client.load_host_keys(str(lab.directory / "known_hosts"))
    client.connect(
        address["host"],
        port=address["port"],
        username="root",
        key_filename=str(lab.directory / "id_ed25519"),
        allow_agent=False,
        look_for_keys=False,
    )
    try:
        sftp = client.open_sftp()
        for path in (str(real), f"/root/../..{real}", f"/tmp/..{real}"):
            with pytest.raises(OSError, match="ENOENT"):
                sftp.open(path).read()
        _, said, _ = client.exec_command(f"cat {real}; echo {SECRET} > {tmp_path}/made")
        assert b"of this machine" not in said.read()
        assert [file.name for file in tmp_path.iterdir()] == ["real"]
    finally:
        client.close()


def test_a_folder_with_a_link_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "known_hosts").symlink_to(tmp_path / "victim")
    with pytest.raises(NotPrivate, match="symbolic link"):
        ServingFolder(folder)
    with pytest.raises(LabError, match="no simulated lab made"):
        Keyring(["A"], folder)
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_reads_no_file_and_reaches_no_socket_of_a_served_lab() -> None:
    """In a folder that everybody may enter; the process is `simlab serve`'s own."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    (place / "two.yaml").write_text(TESTBED)
    words = [sys.executable, "-m", "labtests", "simlab", "serve", str(place / "two.yaml")]
    served = subprocess.Popen(
        [*words, "--directory", str(place / "files")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "REAL_LAB_PASSWORD": SECRET},
    )
    try:
        assert served.stdout is not None
        while "Ctrl-C" not in (line := served.stdout.readline()):
            assert line, "it has ended"
        files = [str(file) for file in (place / "files").iterdir()]
        assert any(file.endswith(".sock") for file in files)
        attempts = [["cat", file] for file in files] + [["ls", str(place / "files")]]
        attempts += [["cat", f"/proc/{served.pid}/environ"], ["ls", f"/proc/{served.pid}/fd"]]
        for attempt in attempts:
            done = subprocess.run(
                attempt, user=65534, group=65534, extra_groups=[], capture_output=True
            )
            assert (done.stdout, done.returncode != 0) == (b"", True), attempt
        shown = Path(f"/proc/{served.pid}/cmdline").read_bytes()
        assert SECRET.encode() not in shown
    finally:
        served.terminate()
        served.communicate(timeout=30)
        shutil.rmtree(place)
