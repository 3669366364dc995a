"""The way to a device: which hosts are passed, as whom, with which keys. Nothing is opened here.

Fabric resolves ssh_config for each host. Its own reading of ProxyJump visits several hops in the
reverse of OpenSSH's order and accepts any host key, so the chain is put together here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import fabric
import paramiko

from labtests.errors import LoginRefused
from labtests.inventory import Device, Management
from labtests.ssh.host_keys import KnownHosts, known_hosts_files, known_hosts_name
from labtests.ssh.key_files import Client
from labtests.ssh.passwords import ASK, SERVICE, password_named
from labtests.ssh.settings import ssh_settings
from labtests.ssh.wire import Wire

CONNECT_WITHIN_S = 10
LOGIN_WITHIN_S = 30  # banner and authentication, each: slow switches, reverse DNS on the server

_DEFAULT_PORT = Management(host="").port
_JUMP = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?:\[(?P<bracketed>[^\]]+)\]|(?P<host>[^:]+))(?::(?P<port>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Hop:
    """One SSH connection of the way: a Fabric connection that is not open, and its trust."""

    connection: Any  # fabric.Connection; Fabric has no types
    known_hosts: KnownHosts

    @property
    def address(self) -> str:
        """host:port, after ssh_config."""
        return f"{self.connection.host}:{self.connection.port}"

    @property
    def command(self) -> str:
        """What a person would type to try the same."""
        port = "" if self.connection.port == _DEFAULT_PORT else f"-p {self.connection.port} "
        return f"ssh {port}{quote(f'{self.connection.user}@{self.connection.host}')}"


@dataclass(frozen=True, slots=True)
class _Target:
    host: str
    user: str | None = None
    port: int | None = None


def hops_to(device: Device) -> tuple[Hop, ...]:
    """Every connection of the way, in the order of opening; the last one is the device itself.

    A jump host logs in with the agent, the user's default keys and what ssh_config says of it; the
    testbed's key_file and password are the device's.
    """
    return _Way(device).hops()


class _Way:
    def __init__(self, device: Device) -> None:
        self._device, self._management = device, device.management
        self._settings = ssh_settings(self._management.ssh_config)
        self._passed: set[str] = set()

    def hops(self) -> tuple[Hop, ...]:
        management = self._management
        # 22 is what the inventory says when the file says nothing: then ssh_config decides
        port = None if management.port == _DEFAULT_PORT else management.port
        target = _Target(host=management.host, user=management.user, port=port)
        return self._to(target, management.jump, _credentials(self._device))

    def _to(self, target: _Target, jump: str | None, login: dict[str, Any]) -> tuple[Hop, ...]:
        configured = self._settings.lookup(target.host)
        before: tuple[Hop, ...] = ()
        self._passed.add(target.host)
        for name in _jump_names(jump or configured.get("proxyjump")):
            before = before + self._jump(name, before)
        gateway: Any = before[-1].connection if before else _proxy_command(configured)
        return (*before, self._hop(target, gateway, login))

    def _jump(self, name: str, before: tuple[Hop, ...]) -> tuple[Hop, ...]:
        match = _JUMP.fullmatch(name)
        if match is None:
            raise ValueError(f"jump host {name!r} is not [user@]host[:port]")
        port = match["port"]
        target = _Target(
            host=match["bracketed"] or match["host"],
            user=match["user"],
            port=int(port) if port else None,
        )
        if target.host in self._passed:  # `Host *` with a ProxyJump: not through itself
            return ()
        if before:
            return (self._hop(target, before[-1].connection, {}),)
        return self._to(target, None, {})

    def _hop(self, target: _Target, gateway: Any, login: dict[str, Any]) -> Hop:
        connection = fabric.Connection(
            target.host,
            user=target.user,
            port=target.port,
            # one each: a Connection writes into its configuration, which is not made for threads
            config=fabric.Config(lazy=True, ssh_config=self._settings),
            gateway=gateway or False,
            connect_kwargs={
                "banner_timeout": LOGIN_WITHIN_S,
                "auth_timeout": LOGIN_WITHIN_S,
                "channel_timeout": LOGIN_WITHIN_S,
                **login,
            },
        )
        connection.connect_timeout = connection.connect_timeout or CONNECT_WITHIN_S
        known_hosts = self._known_hosts(connection)
        keys = connection.connect_kwargs.get("key_filename", [])
        # as OpenSSH does, pass over an IdentityFile that is not there
        connection.connect_kwargs["key_filename"] = [key for key in keys if Path(key).is_file()]
        connection.connect_kwargs["transport_factory"] = _wires(known_hosts)
        connection.client = Client()
        connection.client.set_missing_host_key_policy(known_hosts)
        return Hop(connection, known_hosts)

    def _known_hosts(self, connection: Any) -> KnownHosts:
        configured = connection.ssh_config
        return KnownHosts(
            known_hosts_name(connection.host, connection.port, configured.get("hostkeyalias")),
            known_hosts_files(self._management.known_hosts, configured.get("userknownhostsfile")),
            self._management.host_keys,
        )


def _wires(known_hosts: KnownHosts) -> Callable[..., Wire]:
    def wire(sock: Any, **settings: Any) -> Wire:  # paramiko 4 has more of them than 5
        new = Wire(sock, **settings)
        options = new.get_security_options()
        known = [
            kind for name in known_hosts.key_types() for kind in _SIGNATURES.get(name, (name,))
        ]
        first = [kind for kind in known if kind in options.key_types]
        options.key_types = [*first, *(k for k in options.key_types if k not in first)]
        return new

    return wire


_SIGNATURES = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa")}  # RFC 8332: one key, three


def _credentials(device: Device) -> dict[str, Any]:
    management = device.management
    login: dict[str, Any] = {}
    if management.key_file:
        _expect_file(device, management.key_file)
        login |= {"key_filename": [management.key_file], "look_for_keys": False}
    if management.password_env:
        login["password"] = _password(device)
        if not management.key_file:
            # an agent full of keys would use up the server's attempts before the password's turn
            login |= {"allow_agent": False, "look_for_keys": False}
    return login


def _expect_file(device: Device, key_file: str) -> None:
    if not Path(key_file).expanduser().is_file():
        raise LoginRefused(
            device.name,
            f"ssh -i {quote(key_file)} {device.management.host}",
            f"the key file {key_file} is not there",
            "make one with ssh-keygen, or correct key_file in the testbed file",
        )


def _password(device: Device) -> str:
    name = device.management.password_env or ""
    password = password_named(name)
    if not password:
        raise LoginRefused(
            device.name,
            f"ssh {device.management.host}",
            f"the environment variable {name} is not set, and the testbed file says that it holds "
            "the password",
            f"export {name}=... before the run (read -rs {name}; export {name} keeps it out of the "
            f"shell's history), or keep it in the keyring (keyring set {SERVICE} {name}), or be "
            f"asked for it ({ASK}=1)",
        )
    return password


def _jump_names(jump: str | None) -> tuple[str, ...]:
    if jump is None or jump.lower() == "none":
        return ()
    return tuple(name.strip() for name in jump.split(",") if name.strip())


def _proxy_command(configured: paramiko.SSHConfigDict) -> str | None:
    command = configured.get("proxycommand")
    return None if command in (None, "none") else str(command)
