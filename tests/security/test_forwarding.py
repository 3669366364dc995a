"""A host that labtests logs in to, and a jump host on the way: they get no agent, no display, no
variable of ours and no channel back, whatever ~/.ssh/config says."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import paramiko
import pytest
from typed import typed

from labtests.core.clock import WallClock
from labtests.inventory import Device, Management
from labtests.transport.ssh.connecting import SHELL, connect

GREEDY = """Host *
  ForwardAgent yes
  ForwardX11 yes
  SendEnv *
  SetEnv TAKEN=1
  PermitLocalCommand yes
  LocalCommand touch {folder}/local
  RemoteForward 7 127.0.0.1:22
"""


class Host(asyncssh.SSHServer):
    """Lets everybody in, and remembers."""

    def __init__(self, seen: dict[str, Any]) -> None:
        self._seen = seen

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._seen.setdefault("connections", []).append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        self._seen.setdefault("passwords", []).append(password)
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: object) -> bool:
        return True

    def connection_requested(self, *place: object) -> bool:
        return True


class Hosts:
    """Servers on loopback; what each was given is in the mapping that it was made with."""

    def __init__(self) -> None:
        self._seen: list[dict[str, Any]] = []
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
        self._servers: list[asyncssh.SSHAcceptor] = []

    def port(self, seen: dict[str, Any]) -> int:
        self._seen.append(seen)
        return self.do(self._serve(seen))

    def do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    async def _serve(self, seen: dict[str, Any]) -> int:
        async def run(process: asyncssh.SSHServerProcess[str]) -> None:
            seen["env"], seen["agent"] = dict(process.env), process.channel.get_agent_path()
            seen["display"] = process.channel.get_x11_display()
            done = await asyncio.create_subprocess_shell(
                process.command or "true",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            text, errors = await done.communicate()
            process.stdout.write(text.decode())
            process.stderr.write(errors.decode())
            process.exit(done.returncode or 0)

        server = await asyncssh.create_server(
            lambda: Host(seen),
            "127.0.0.1",
            0,
            server_host_keys=[self._key],
            process_factory=run,
            agent_forwarding=True,
            x11_forwarding=True,
        )
        self._servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        self.do(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
            await server.wait_closed()
        for connection in [each for seen in self._seen for each in seen.get("connections", [])]:
            connection.abort()
            await connection.wait_closed()


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    found = Hosts()
    yield found
    found.close()


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How often somebody has asked the user's agent."""
    asked: list[int] = []
    place = tmp_path / "agent"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place))
    listening.listen()
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(GREEDY.format(folder=tmp_path))
    (tmp_path / ".ssh" / "config").chmod(0o600)
    listening.setblocking(False)
    yield asked
    try:
        while True:
            listening.accept()[0].close()
            asked.append(1)
    except BlockingIOError:
        listening.close()


def device(port: int, tmp_path: Path, jump: str | None = None) -> Device:
    return Device(
        name="d",
        platform="linux",
        management=Management(
            host="127.0.0.1",
            port=port,
            user="u",
            jump=jump,
            password_env="LAB_PASSWORD",
            host_keys="accept-new",
            known_hosts=str(tmp_path / "known_hosts"),
            known_hosts_beside=str(tmp_path),
        ),
    )


async def opened_from_there(connection: Any) -> list[str]:
    """The kinds of channel that a hostile server could open to the runner."""
    session = asyncssh.SSHTCPSession
    attempts = {
        "agent": connection.open_agent_connection(),
        "display": connection.create_x11_connection(session, "127.0.0.1", 1),
        "forwarded": connection.create_connection(session, "127.0.0.1", 22, "127.0.0.1", 1),
    }
    found = []
    for kind, attempt in attempts.items():
        try:
            await asyncio.wait_for(attempt, 5)
        except asyncssh.ChannelOpenError:
            continue
        found.append(kind)
    return found


def test_a_host_gets_nothing_of_the_runner_and_opens_nothing_there(
    hosts: Hosts, agent: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_PASSWORD", "hunter2-hunter3")
    seen: dict[str, Any] = {}
    session = connect(device(hosts.port(seen), tmp_path), SHELL, clock=WallClock())
    try:
        assert session.run(typed("echo hi")).text == "hi\n"
        assert (seen["env"], seen["agent"], seen["display"]) == ({}, None, None)
        assert hosts.do(opened_from_there(seen["connections"][0])) == []
    finally:
        session.close()
    assert not (tmp_path / "local").exists()


def test_a_jump_host_gets_neither_the_devices_password_nor_the_agent(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: list[int]
) -> None:
    monkeypatch.setenv("LAB_PASSWORD", "hunter2-hunter3")
    monkeypatch.delenv("SSH_AUTH_SOCK")
    key = paramiko.ECDSAKey.generate()
    key.write_private_key_file(str(tmp_path / ".ssh" / "id_ecdsa"))
    passed: dict[str, Any] = {}
    behind: dict[str, Any] = {}
    hop = f"u@localhost:{hosts.port(passed)}"
    session = connect(device(hosts.port(behind), tmp_path, hop), SHELL, clock=WallClock())
    try:
        assert session.run(typed("echo hi")).text == "hi\n"
        assert hosts.do(opened_from_there(passed["connections"][0])) == []
    finally:
        session.close()
    assert "passwords" not in passed
    assert "env" not in passed  # no session was opened there at all
    assert (behind["env"], behind["agent"]) == ({}, None)
