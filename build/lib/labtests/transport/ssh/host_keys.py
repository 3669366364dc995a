"""Which host keys are trusted. paramiko's own check compares one key per type and host, knows no
patterns and no revoked keys, and rewrites the file when it learns; here any listed key will do, as
with OpenSSH, and a file only grows."""

import base64
import re
import struct
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import paramiko
from paramiko.config import SSH_PORT
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey

from labtests.inventory import Management, plain_host
from labtests.transport.ssh.key_lists import is_listed, known_text
from labtests.transport.ssh.known_files import NOTHING, system_files, user_files
from labtests.transport.ssh.learning import KnownHostsFiles, NoPlace
from labtests.transport.ssh.settings import SshSettings

REVOKED = "@revoked"

_appending = threading.Lock()  # guards files, not state: devices are connected in parallel


class HostKeyProblem(paramiko.SSHException):
    """The server's key is not to be trusted: the host has another one, or the key is revoked, or
    nothing is known of the host."""

    def __init__(
        self,
        name: str,
        key: paramiko.PKey,
        why: Literal["changed", "revoked", "unknown"],
        file: Path | None = None,
    ) -> None:
        super().__init__(f"host key of {name} is {why}")
        self.name, self.key, self.why = name, key, why
        self.file = file
        """Which one has another key of the host."""


@dataclass(frozen=True, slots=True)
class KnownHosts(paramiko.MissingHostKeyPolicy):
    """The keys in the files of this place. Learning appends to the first one.

    `name` is how the files list the host: `host`, or `[host]:port` when the port is not 22.
    """

    name: str
    place: KnownHostsFiles
    policy: Literal["strict", "accept-new"]
    revoked: Path | None = None
    """RevokedHostKeys of ssh_config."""

    def key_types(self) -> tuple[str, ...]:
        """Types of the keys known for this host, so that the server is asked for one of them.
        Raises Unbelieved."""
        known = (line.key for line, _ in self._lines() if line.good)
        return tuple(dict.fromkeys(key.get_name() for key in known if key is not None))

    def missing_host_key(
        self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> None:
        """Accept a listed key, learn the first one if that is the policy, or raise HostKeyProblem.

        The client has been given no keys itself, so it asks here about every key.
        """
        if not self._is_known(key):
            with _appending:  # somebody else may just have learned one of this host
                if not self._is_known(key):
                    self._learn(key)

    def _is_known(self, key: paramiko.PKey) -> bool:
        """False for the first key of a host, where that may be learned. Raises HostKeyProblem,
        Unbelieved."""
        if self.revoked is not None and is_listed(key, self.revoked):
            raise HostKeyProblem(self.name, key, "revoked")
        lines = self._lines()
        known = [(line.key, file) for line, file in lines if line.good]
        if any(line.key == key for line, _ in lines if not line.good):
            raise HostKeyProblem(self.name, key, "revoked")
        if any(each == key for each, _ in known):
            return True
        if known:
            raise HostKeyProblem(self.name, key, "changed", known[0][1])
        if self.policy == "strict":
            raise HostKeyProblem(self.name, key, "unknown")
        return False

    def _lines(self) -> list[tuple["_Line", Path]]:
        found: list[tuple[_Line, Path]] = []
        for file in (*self.place.files, *self.place.system):
            for candidate in _index(known_text(file, self.place.beside)).about(self.name):
                line = _line(candidate, self.name)
                found += [(line, file)] if line else []
        return found

    def _learn(self, key: paramiko.PKey) -> None:
        try:
            self.place.learn(self.name, key)
        except NoPlace:
            raise HostKeyProblem(self.name, key, "unknown") from None


@dataclass(frozen=True, slots=True)
class _Line:
    """A key of a host, None for one of a kind that is not read here: the host is known all the
    same. One that is not good was revoked."""

    key: paramiko.PKey | None
    good: bool


class _Index:
    """The lines of a file by plain name, so that with many hosts each looks at its own only. Lines
    with patterns or hashed names may mean any host."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")  # and nowhere else, as OpenSSH
        self._of_anybody: list[int] = []
        self._of_host: defaultdict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(self._lines):
            names = _split(line)[1]
            if any(set(name) & set("*?!|") for name in names):
                self._of_anybody.append(number)
                continue
            for name in names:
                self._of_host[name.lower()].append(number)

    def about(self, name: str) -> tuple[str, ...]:
        """The lines that may mean this host, in the file's order."""
        own = self._of_host.get(name.lower(), [])
        return tuple(self._lines[number] for number in sorted({*own, *self._of_anybody}))


@lru_cache(maxsize=4)
def _index(text: str) -> _Index:
    """By content: a file that has changed has another one."""
    return _Index(text)


def _split(text: str) -> tuple[str, list[str], str]:
    """Marker or "", patterns of names, and type and key. Fields are apart by blanks and tabs."""
    fields = re.split("[ \t]+", text.strip(" \t\r"))
    marker = fields.pop(0) if fields[0] == REVOKED else ""
    if not fields or fields[0].startswith(("#", "@")):
        return "", [], ""
    return marker, fields[0].split(","), " ".join(fields[1:3])


@lru_cache(maxsize=1024)
def _line(text: str, name: str) -> _Line | None:
    """What this line says of the host. Others (comments, authorities of certificates, damage) say
    nothing about any host."""
    marker, names, key = _split(text)
    try:
        if not _means(names, name):
            return None
    except (ValueError, AssertionError):
        return None  # AssertionError: paramiko's, for a hashed name that is cut short
    try:
        entry = HostKeyEntry.from_line(f"{','.join(names)} {key}")
    except (paramiko.SSHException, InvalidHostKey, ValueError):
        entry = None
    if entry is None and not _is_key(key):
        return None
    return _Line(entry.key if entry else None, good=not marker)


def _is_key(text: str) -> bool:
    """Whether this is type and key, of whatever type: a key begins with its type's name."""
    kind, _, key = text.partition(" ")
    try:
        begun = base64.b64decode(key.encode(), validate=True)
    except ValueError:
        return False
    return bool(kind) and begun.startswith(struct.pack(">I", len(kind)) + kind.encode())


def _means(patterns: Sequence[str], name: str) -> bool:
    """Whether the patterns of a line mean this host: `*`, `?`, `!` and hashed names, as sshd(8)."""
    hashed = paramiko.HostKeys()
    found = False
    for pattern in patterns:
        wanted = pattern.removeprefix("!")
        if wanted.startswith("|1|"):
            fits = hashed.hash_host(name, wanted) == wanted
        elif not set(wanted) & set("*?"):
            fits = wanted.lower() == name.lower()
        else:
            fits = _fits(wanted.lower(), name.lower())
        if fits and pattern.startswith("!"):
            return False
        found = found or fits
    return found


def _fits(pattern: str, name: str) -> bool:
    """`*` and `?` as ssh_config(5) and sshd(8) have them: in at most as many steps as both lengths
    multiplied."""
    reached = {0}  # how much of the name each beginning of the pattern can have taken
    for each in pattern:
        if each == "*":
            reached = set(range(min(reached), len(name) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(name) and each in ("?", name[at])}
    return len(name) in reached


def known_hosts_name(host: str, port: int, alias: str | None) -> str:
    """How known_hosts files list this host (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""
    if alias:
        return alias
    plain = plain_host(host)
    return plain if port == SSH_PORT else f"[{plain}]:{port}"


def known_hosts_place(management: Management, configured: SshSettings) -> KnownHostsFiles:
    """The testbed's file alone; else ssh_config's or the user's own, and the system's. Raises
    NotUnderstood."""
    if management.known_hosts:
        beside = management.known_hosts_beside
        file = Path(management.known_hosts).expanduser()
        return KnownHostsFiles((file,), testbed=True, beside=Path(beside) if beside else None)
    user, system = user_files(configured), system_files(configured)
    kept = tuple(file for file in (*user, *system) if file != NOTHING)
    if user[0] == NOTHING:  # what is learned goes there, and nowhere else
        return KnownHostsFiles((), system=kept)
    mine = tuple(file for file in user if file != NOTHING)
    return KnownHostsFiles(mine, system=kept[len(mine) :])
