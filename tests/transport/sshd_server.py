"""A real sshd on loopback, with keys of its own."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from labtests.inventory import Device, Management

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or "/usr/sbin/sshd"


@dataclass(frozen=True)
class Sshd:
    """A running sshd: where, and the files a client needs."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    def device(self, name: str = "host", **management: object) -> Device:
        given = {
            "host": "127.0.0.1",
            "port": self.port,
            "user": "root",
            "key_file": str(self.folder / "user_key"),
            "known_hosts": str(self.known_hosts),
            "ssh_config": False,
        }
        return Device(
            name=name,
            platform="connectx",
            management=Management(**(given | management)),  # type: ignore[arg-type]
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def make_key(path: Path, kind: str = "ed25519") -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "test", "-f", str(path)], check=True
    )


def start_sshd(
    folder: Path, *settings: str, host_key: str = "ed25519", within: tuple[str, ...] = ()
) -> Sshd:
    """With these further lines in its sshd_config, which come first and so win; `within` is a
    command that becomes the program whose words follow it."""
    make_key(folder / "host_key", host_key)
    make_key(folder / "user_key")
    port = free_port()
    public = (folder / "host_key.pub").read_text().split()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public[0]} {public[1]}\n")
    (folder / "authorized_keys").write_text((folder / "user_key.pub").read_text())
    (folder / "sshd_config").write_text(
        "\n".join(
            [
                *settings,
                f"Port {port}",
                "ListenAddress 127.0.0.1",
                f"HostKey {folder}/host_key",
                f"AuthorizedKeysFile {folder}/authorized_keys",
                f"PidFile {folder}/sshd.pid",
                "StrictModes no",
                "UsePAM no",
                "PasswordAuthentication yes",
                "PermitRootLogin yes",
                "MaxStartups 100",
                "MaxSessions 100",
                "SetEnv SHLVL=2",  # keeps bash from reading ~/.bashrc for every command
                "",
            ]
        )
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(
            [*within, SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log
        )
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return Sshd(port, folder, process)
        time.sleep(0.02)
    raise AssertionError((folder / "sshd.log").read_text())


def end_sshd(sshd: Sshd) -> None:
    for child in children_of(sshd.process.pid):  # sessions outlive their listener
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
    sshd.process.terminate()
    sshd.process.wait(10)


def children_of(pid: int) -> list[int]:
    """The processes that this one has started itself."""
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in tasks.read_text().split()] if tasks.exists() else []


def wait_for(condition: Callable[[], bool], *, within_s: float = 60.0) -> None:
    """Return when it is so; an AssertionError when it is not in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def changed(device: Device, **management: object) -> Device:
    """The same device, reached in another way."""
    return replace(device, management=replace(device.management, **management))  # type: ignore[arg-type]
