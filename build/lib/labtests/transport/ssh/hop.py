"""One SSH connection of the way to a device."""

import os
import select
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import paramiko
from paramiko.config import SSH_PORT
from paramiko.ssh_exception import ProxyCommandFailure

from labtests.transport.ssh.host_keys import KnownHosts
from labtests.transport.ssh.key_files import Client
from labtests.transport.ssh.wire import LegacyWire, Wire

LOGIN_WITHIN_S = 30  # banner and authentication, each: slow switches, reverse DNS on the server


class Proxy(paramiko.ProxyCommand):
    """paramiko's; a program that takes nothing is waited for no longer than a socket is."""

    def send(self, content: Any) -> int:
        """See socket.socket. Raises TimeoutError, ProxyCommandFailure."""
        assert self.process.stdin is not None
        stdin = self.process.stdin.fileno()
        if not select.select([], [stdin], [], self.timeout)[1]:
            raise TimeoutError
        try:
            return os.write(stdin, content[: select.PIPE_BUF])  # so much never blocks
        except OSError as error:
            raise ProxyCommandFailure(" ".join(self.cmd), str(error.strerror)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """Whose server, after ssh_config; and the connection with it, which `open` opens.

    `name` is what was asked for. `credentials` are for paramiko.SSHClient.connect. `through` is the
    hop before this one, or a ProxyCommand."""

    name: str
    host: str
    port: int
    user: str
    known_hosts: KnownHosts
    credentials: Mapping[str, Any] = field(repr=False)
    within_s: float
    legacy: bool = False
    through: "Hop | str | None" = None
    client: Client = field(default_factory=Client, repr=False)

    @property
    def address(self) -> str:
        """host:port."""
        return f"{self.host}:{self.port}"

    @property
    def command(self) -> str:
        """What a person would type to try the same."""
        port = "" if self.port == SSH_PORT else f"-p {self.port} "
        return f"ssh {port}{quote(f'{self.user}@{self.host}')}"

    @property
    def wire(self) -> Wire | None:
        """The connection, as far as it has come."""
        wire = self.client.get_transport()
        assert wire is None or isinstance(wire, Wire)
        return wire

    def open(self, dialled: socket.socket | OSError | None = None) -> None:
        """Connect, unless it was dialled already, and log in; what it goes through is open. Raises
        failures.CONNECTING_FAILURES."""
        if isinstance(dialled, OSError):
            raise dialled
        self.client.set_missing_host_key_policy(self.known_hosts)
        self.client.connect(
            self.host,
            port=self.port,
            username=self.user,
            timeout=self.within_s,
            banner_timeout=LOGIN_WITHIN_S,
            auth_timeout=LOGIN_WITHIN_S,
            channel_timeout=LOGIN_WITHIN_S,
            sock=dialled or self._gateway(),
            transport_factory=_wires(self.known_hosts, LegacyWire if self.legacy else Wire),
            **self.credentials,
        )

    def close(self) -> None:
        """Nothing of it is left open."""
        self.client.close()

    def _gateway(self) -> Any:
        if isinstance(self.through, str):
            return Proxy(self.through)
        if self.through is None:
            return None
        wire = self.through.wire
        assert wire is not None
        return wire.open_channel("direct-tcpip", (self.host, self.port), ("", 0))


def _wires(known_hosts: KnownHosts, kind_of_wire: type[Wire]) -> Callable[..., Wire]:
    def wire(sock: Any, **settings: Any) -> Wire:  # paramiko 4 has more of them than 5
        new = kind_of_wire(sock, **settings)
        options = new.get_security_options()
        known = [
            kind for name in known_hosts.key_types() for kind in _SIGNATURES.get(name, (name,))
        ]
        first = [kind for kind in known if kind in options.key_types]
        options.key_types = [*first, *(k for k in options.key_types if k not in first)]
        return new

    return wire


_SIGNATURES = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa")}  # RFC 8332: one key, three
