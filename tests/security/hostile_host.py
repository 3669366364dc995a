"""An SSH host over loopback that lets everybody in and, asked for a command, does what a test says
to the bare connection."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import paramiko

from labtests.inventory import Device, Management

PASSWORD = "open sesame"


class _Face(paramiko.ServerInterface):
    def __init__(
        self, log_in: Callable[[], None], serve_files: Callable[[paramiko.Channel], None]
    ) -> None:
        self.asked, self._log_in, self._serve_files = threading.Event(), log_in, serve_files

    def check_auth_password(self, username: str, password: str) -> int:
        self._log_in()
        return paramiko.AUTH_SUCCESSFUL

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self.asked.set()
        return True

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        threading.Thread(target=self._serve_files, args=(channel,), daemon=True).start()
        return True


class HostileHost:
    """`act` is given the connection when the first command has been asked for; it `sends` a message
    then, or `at_login`. `serve_files` is given the channel of SFTP."""

    def __init__(
        self,
        folder: Path,
        act: Callable[[socket.socket], None] = lambda _: None,
        *,
        sends: paramiko.Message | None = None,
        at_login: paramiko.Message | None = None,
        times: int = 1,
    ) -> None:
        self.serve_files: Callable[[paramiko.Channel], None] = lambda _: None
        self._act, self._known = act, folder / "known_hosts"
        self._sends, self._times, self._at_login = sends, times, at_login
        self._key = paramiko.ECDSAKey.generate()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._port = self._listening.getsockname()[1]
        self._open: list[Any] = []

    @property
    def device(self) -> Device:
        management = Management(
            host="127.0.0.1",
            port=self._port,
            user="admin",
            password_env="SWITCH_PASSWORD",
            known_hosts=str(self._known),
            ssh_config=False,
        )
        return Device(name="evil", platform="linux", management=management)

    def __enter__(self) -> Self:
        name, key = self._key.get_name(), self._key.get_base64()
        self._known.write_text(f"[127.0.0.1]:{self._port} {name} {key}\n")
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listening, *self._open):
            each.close()

    def _serve(self) -> None:
        with suppress(OSError, EOFError, paramiko.SSHException):
            connection, _ = self._listening.accept()
            session = paramiko.Transport(connection)
            face = _Face(lambda: _send(session, self._at_login), self.serve_files)
            self._open += [connection, session]
            session.add_server_key(self._key)
            session.start_server(server=face)
            if face.asked.wait(20):
                for _ in range(self._times):
                    _send(session, self._sends)
                self._act(connection)


def _send(session: paramiko.Transport, message: paramiko.Message | None) -> None:
    if message is not None:
        session._send_message(message)  # type: ignore[attr-defined]
