"""The way to a device: which hosts are passed, as whom, with which keys. Nothing is opened here.

ssh_config is read by ssh (settings.py); what is made of it is put together here, jump hosts in
OpenSSH's order, each with a trust of its own.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from labtests.core.errors import HostKeyRefused, LoginRefused
from labtests.inventory import Device, Management
from labtests.transport.ssh.dialling import DIAL_WITHIN_S
from labtests.transport.ssh.hop import Hop
from labtests.transport.ssh.host_keys import KnownHosts, known_hosts_name, known_hosts_place
from labtests.transport.ssh.known_files import Named, NotUnderstood, local_user, revoked_file
from labtests.transport.ssh.passwords import ASK, SERVICE, password_named
from labtests.transport.ssh.settings import SshSettings, settings_of

_LONGEST_KEY_BYTES = 2**17
_DEFAULT_PORT = Management(host="").port
_MOST_HOPS = 16
_JUMP = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?:\[(?P<bracketed>[^\]]+)\]|(?P<host>[^:]+))(?::(?P<port>\d+))?"
)


@dataclass(frozen=True, slots=True)
class _Target:
    host: str
    user: str | None = None
    port: int | None = None
    jump: str | None = None
    """`ssh -J`: a name is made canonical only where it is looked up (CanonicalizeHostname)."""


def hops_to(device: Device) -> tuple[Hop, ...]:
    """Every connection of the way, in the order of opening; the last one is the device itself.

    A jump host logs in with the agent, the user's default keys and what ssh_config says of it; the
    testbed's key_file and password are the device's.
    """
    return _Way(device).hops()


class _Way:
    def __init__(self, device: Device) -> None:
        self._device, self._management = device, device.management
        self._passed: set[_Target] = set()

    def hops(self) -> tuple[Hop, ...]:
        management = self._management
        # 22 is what the inventory says when the file says nothing: then ssh_config decides
        port = None if management.port == _DEFAULT_PORT else management.port
        jump = management.jump
        target = _Target(host=management.host, user=management.user, port=port, jump=jump)
        return self._to(target, _credentials(self._device))

    def _to(self, target: _Target, login: dict[str, Any]) -> tuple[Hop, ...]:
        configured = self._configured(target)
        before: tuple[Hop, ...] = ()
        self._passed.add(replace(target, jump=None))
        if len(self._passed) > _MOST_HOPS:
            raise ValueError(f"more than {_MOST_HOPS} jump hosts lead to {self._device.name}")
        jumps = configured.get("proxyjump") if target.jump is None else None
        with self._understood(named := _named(target, configured)):
            jumps = None if jumps is None else named.command(jumps)
        for name in _jump_names(target.jump or jumps):
            before = before + self._jump(name, before, named=target.jump is not None)
        return (*before, self._hop(target, before[-1] if before else None, login))

    def _jump(self, name: str, before: tuple[Hop, ...], *, named: bool) -> tuple[Hop, ...]:
        match = _JUMP.fullmatch(name)
        if match is None:
            raise ValueError(f"jump host {name!r} is not [user@]host[:port]")
        port = match["port"]
        target = _Target(
            host=match["bracketed"] or match["host"],
            user=match["user"],
            port=int(port) if port else None,
            jump=",".join(hop.name for hop in before) or None,
        )
        if not named and replace(target, jump=None) in self._passed:
            return ()  # `Host *` with a ProxyJump: not through itself
        again = any(target.host == each.host for each in self._passed)
        if before or (named and again):  # the testbed file's own: another port of the same machine
            return (self._hop(target, before[-1] if before else None, {}),)
        return self._to(target, {})

    def _configured(self, target: _Target) -> SshSettings:
        honoured = self._management.ssh_config
        host, user, port, jump = target.host, target.user, target.port, target.jump
        return settings_of(host, user, port, honoured=honoured, jump=jump)

    def _hop(self, target: _Target, through: Hop | None, login: dict[str, Any]) -> Hop:
        configured = self._configured(target)
        named = _named(target, configured)
        keys = [*login.get("key_filename", ()), *_identities(configured, named)]
        # as OpenSSH does, pass over an IdentityFile that is not there
        keys = [key for key in keys if _may_be_key(Path(key))]
        if configured.identity_files == ("none",):
            login = {**login, "look_for_keys": False}
        return Hop(
            name=target.host,
            host=named.host,
            port=named.port,
            user=named.user,
            known_hosts=self._known_hosts(named, configured),
            credentials={**login, "key_filename": keys or None},
            within_s=int(configured.get("connecttimeout") or 0) or DIAL_WITHIN_S,
            legacy=self._management.legacy_ssh,
            through=through or self._proxy_command(named, configured),
        )

    def _proxy_command(self, named: Named, configured: SshSettings) -> str | None:
        command = configured.get("proxycommand")
        with self._understood(named):
            return None if command is None else named.command(command)

    def _known_hosts(self, named: Named, configured: SshSettings) -> KnownHosts:
        with self._understood(named):
            return KnownHosts(
                known_hosts_name(named.host, named.port, named.alias),
                known_hosts_place(self._management, configured),
                "strict" if configured.get("knownhostscommand") else self._management.host_keys,
                revoked_file(configured),
            )

    @contextmanager
    def _understood(self, named: Named) -> Iterator[None]:
        try:
            yield
        except NotUnderstood as error:
            command = f"ssh {quote(named.given)}"
            name = self._device.name
            raise HostKeyRefused(name, command, error.problem, error.remedy) from error


def _named(target: _Target, configured: SshSettings) -> Named:
    return Named(
        given=target.host,
        host=configured.get("hostname") or target.host,
        port=target.port or int(configured.get("port") or _DEFAULT_PORT),
        user=target.user or configured.get("user") or local_user(),
        alias=configured.get("hostkeyalias"),
    )


def _identities(configured: SshSettings, named: Named) -> Iterator[str]:
    """Keys that the user names. One whose name has a token that is not read here is passed over."""
    for name in (each for each in configured.identity_files if each != "none"):
        with suppress(NotUnderstood, RuntimeError):
            yield str(Path(named.meant("IdentityFile", name)).expanduser())


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
    if not _may_be_key(Path(key_file).expanduser()):
        raise LoginRefused(
            device.name,
            f"ssh -i {quote(key_file)} {device.management.host}",
            f"{key_file} does not exist, or is not a key (not a regular file, or too large)",
            "make one with ssh-keygen, or correct key_file in the testbed file",
        )


def _may_be_key(file: Path) -> bool:
    return file.is_file() and 0 < file.stat().st_size <= _LONGEST_KEY_BYTES  # 0: as all of /proc


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
