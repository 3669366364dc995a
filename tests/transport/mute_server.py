"""An SSH server that accepts everything, until it falls silent at the request of a test."""

import socket
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import paramiko

from labtests.inventory import Device, Management

PASSWORD = "open sesame"


class _Silent(paramiko.ServerInterface):
    """Never answers one kind of request, and nothing after it."""

    def __init__(self, at: str, over: threading.Event) -> None:
        self._at, self._over = at, over

    def _asked(self, what: str) -> bool:
        if what == self._at:
            self._over.wait()
        return True

    def check_auth_password(self, username: str, password: str) -> int:
        self._asked("login")
        return paramiko.AUTH_SUCCESSFUL

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        self._asked("open")
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        return self._asked("exec")

    def check_channel_pty_request(self, *_: Any) -> bool:
        return self._asked("pty-req")

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        return self._asked("shell")


class MuteServer:
    """Silent at "login", "open", "exec", "pty-req" or "shell"; at "banner" it accepts a TCP
    connection and says nothing, and at "kex" its banner and nothing more."""

    def __init__(self, folder: Path, at: str) -> None:
        self._at, self._folder = at, folder
        self._over = threading.Event()
        self._key = paramiko.ECDSAKey.generate()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[Any] = []

    def device(self, platform: str) -> Device:
        management = Management(
            host="127.0.0.1",
            port=self._listening.getsockname()[1],
            user="admin",
            password_env="SWITCH_PASSWORD",
            known_hosts=str(self._folder / "known_hosts"),
            ssh_config=False,
        )
        return Device(name="mute", platform=platform, management=management)

    def __enter__(self) -> Self:
        port, key = self._listening.getsockname()[1], self._key
        known = f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n"
        (self._folder / "known_hosts").write_text(known)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._listening.close()
        for each in self._open:
            each.close()

    def speak(self) -> None:
        """It answers after all."""
        self._over.set()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        self._open.append(connection)
        if self._at == "kex":
            connection.sendall(b"SSH-2.0-mute\r\n")
        if self._at in ("banner", "kex"):
            return
        transport = paramiko.Transport(connection)
        self._open.append(transport)
        transport.add_server_key(self._key)
        transport.start_server(server=_Silent(self._at, self._over))
