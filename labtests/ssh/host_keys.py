"""Which host keys are trusted. paramiko's own check compares one key per type and host and rewrites
the file when it learns; here any listed key will do, as with OpenSSH, and a file only grows."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import paramiko
from paramiko.config import SSH_PORT
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey

SYSTEM_FILE = Path("/etc/ssh/ssh_known_hosts")
USER_FILE = Path("~/.ssh/known_hosts")

_appending = threading.Lock()  # guards files, not state: devices are connected in parallel


class HostKeyProblem(paramiko.SSHException):
    """The server's key is not to be trusted. `changed` tells a known host from a new one."""

    def __init__(self, name: str, key: paramiko.PKey, *, changed: bool) -> None:
        super().__init__(f"host key of {name} is {'not the known one' if changed else 'unknown'}")
        self.name, self.key, self.changed = name, key, changed


@dataclass(frozen=True, slots=True)
class KnownHosts(paramiko.MissingHostKeyPolicy):
    """The keys in these files. Learning appends to the first one.

    `name` is how the files list the host: `host`, or `[host]:port` when the port is not 22.
    """

    name: str
    files: tuple[Path, ...]
    policy: Literal["strict", "accept-new"]

    def key_types(self) -> tuple[str, ...]:
        """Types of the keys known for this host, so that the server is asked for one of them."""
        return tuple(dict.fromkeys(key.get_name() for key in self._keys()))

    def missing_host_key(
        self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> None:
        """Accept a listed key, learn the first one if that is the policy, or raise HostKeyProblem.

        The client has been given no keys itself, so it asks here about every key.
        """
        known = self._keys()
        if key in known:
            return
        if known or self.policy == "strict":
            raise HostKeyProblem(self.name, key, changed=bool(known))
        self._learn(key)

    def _keys(self) -> list[paramiko.PKey]:
        keys: list[paramiko.PKey] = []
        for file in self.files:
            if file.is_file():
                for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                    keys += _keys_in(line, self.name)
        return keys

    def _learn(self, key: paramiko.PKey) -> None:
        file = self.files[0]
        with _appending:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.touch(mode=0o600)
            text = file.read_text(encoding="utf-8")
            newline = "" if not text or text.endswith("\n") else "\n"
            with file.open("a", encoding="utf-8") as lines:
                lines.write(f"{newline}{self.name} {key.get_name()} {key.get_base64()}\n")


def _keys_in(line: str, name: str) -> list[paramiko.PKey]:
    """The key of this line, if it is one of this host. Other lines (comments, markers, damage,
    key types nobody knows here) say nothing about any host."""
    try:
        entry = HostKeyEntry.from_line(line.strip())
    except (paramiko.SSHException, InvalidHostKey, ValueError):
        return []
    if entry is None or entry.hostnames is None or entry.key is None:
        return []
    keys = paramiko.HostKeys()
    for hostname in entry.hostnames:
        keys.add(hostname, entry.key.get_name(), entry.key)
    return [entry.key] if keys.lookup(name) else []


def known_hosts_name(host: str, port: int, alias: str | None) -> str:
    """How known_hosts files list this host (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""
    if alias:
        return alias
    return host if port == SSH_PORT else f"[{host}]:{port}"


def known_hosts_files(given: str | None, configured: str | None) -> tuple[Path, ...]:
    """The testbed's file alone; else ssh_config's or the user's own, and the system's."""
    if given:
        return (Path(given).expanduser(),)
    names: Sequence[str] = configured.split() if configured else [str(USER_FILE)]
    return (*(Path(name).expanduser() for name in names), SYSTEM_FILE)
