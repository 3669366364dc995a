"""Which host keys are trusted. paramiko's own check compares one key per type and host, knows no
patterns and no revoked keys, and rewrites the file when it learns; here any listed key will do, as
with OpenSSH, and a file only grows."""

import io
import os
import re
import stat
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

from labtests.core.trusted_files import NotAFile, handed

SYSTEM_FILE = Path("/etc/ssh/ssh_known_hosts")
USER_FILE = Path("~/.ssh/known_hosts")
REVOKED = "@revoked"

MOST_BYTES = 2**24
"""Of a file of host keys: some 100 000 lines."""
_APPENDING = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
_NEVER = ("authorized_keys", "authorized_principals", "rc", "environment", "config")
"""Beginnings of names of files that sshd and ssh obey (sshd(8), FILES)."""
_KEY_TYPE = re.compile(r"(ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]{1,60}")

_appending = threading.Lock()  # guards files, not state: devices are connected in parallel


class HostKeyProblem(paramiko.SSHException):
    """The server's key is not to be trusted: the host has another one, or the key is revoked, or
    nothing is known of the host."""

    def __init__(
        self, name: str, key: paramiko.PKey, why: Literal["changed", "revoked", "unknown"]
    ) -> None:
        super().__init__(f"host key of {name} is {why}")
        self.name, self.key, self.why = name, key, why


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
        return tuple(dict.fromkeys(line.key.get_name() for line in self._lines() if line.good))

    def missing_host_key(
        self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey
    ) -> None:
        """Accept a listed key, learn the first one if that is the policy, or raise HostKeyProblem.

        The client has been given no keys itself, so it asks here about every key.
        """
        lines = self._lines()
        known = [line.key for line in lines if line.good]
        if any(line.key == key for line in lines if not line.good):
            raise HostKeyProblem(self.name, key, "revoked")
        if key in known:
            return
        if known or self.policy == "strict":
            raise HostKeyProblem(self.name, key, "changed" if known else "unknown")
        self._learn(key)

    def _lines(self) -> list["_Line"]:
        found: list[_Line] = []
        for file in self.files:
            for candidate in _index(_text(file)).about(self.name):
                line = _line(candidate, self.name)
                found += [line] if line else []
        return found

    def _learn(self, key: paramiko.PKey) -> None:
        file = self.files[0]
        with _appending:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(file, _APPENDING, 0o600), "rb+", buffering=0) as lines:
                text = _start(lines)
                if text is None or not _is_for_host_keys(file, text):
                    raise HostKeyProblem(self.name, key, "unknown")
                newline = "" if not text or text.endswith("\n") else "\n"
                line = f"{newline}{self.name} {key.get_name()} {key.get_base64()}\n"
                lines.write(line.encode())


def _text(file: Path) -> str:
    """ "" where there is no such file: then nothing is known of the host, and it is refused."""
    try:
        return handed(file, most_bytes=MOST_BYTES).decode("utf-8", errors="replace")
    except (OSError, NotAFile):
        return ""


def _start(file: io.FileIO) -> str | None:
    """All of it, as far as such a file is read; None of what is no regular file."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return None
    return (file.read(MOST_BYTES + 1) or b"").decode("utf-8", errors="replace")


def _is_for_host_keys(file: Path, text: str) -> bool:
    """Whether a key that was learned may be written there: a file of host keys, or a new one. A
    testbed file that somebody handed over could name any file, and what it names a host could be
    read there as leave to log in."""
    if len(text) > MOST_BYTES:
        return False
    real = {file.name.lower(), file.resolve().name.lower()}
    if any(name.startswith(_NEVER) for name in real):
        return False
    return all(_is_host_line(line) for line in text.splitlines())


def _is_host_line(line: str) -> bool:
    text = line.strip()
    if not text or text.startswith("#"):
        return True
    words = text.removeprefix("@revoked").removeprefix("@cert-authority").split()
    return len(words) >= 3 and _KEY_TYPE.fullmatch(words[1]) is not None


@dataclass(frozen=True, slots=True)
class _Line:
    """A key of a host; one that is not good was revoked."""

    key: paramiko.PKey
    good: bool


class _Index:
    """The lines of a file by plain name, so that with many hosts each looks at its own only. Lines
    with patterns or hashed names may mean any host."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
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
    """Marker or "", patterns of names, and the line without its marker."""
    marker, _, rest = text.strip().partition(" ")
    if marker != REVOKED:
        marker, rest = "", text.strip()
    rest = rest.lstrip()
    return marker, re.split(r"[ \t]", rest, maxsplit=1)[0].split(","), rest


@lru_cache(maxsize=1024)
def _line(text: str, name: str) -> _Line | None:
    """What this line says of the host. Others (comments, authorities of certificates, damage, key
    types nobody knows here) say nothing about any host."""
    marker, names, rest = _split(text)
    try:
        if not _means(names, name):
            return None
        entry = HostKeyEntry.from_line(rest)
    except (paramiko.SSHException, InvalidHostKey, ValueError, AssertionError):
        return None  # AssertionError: paramiko's, for a hashed name that is cut short
    if entry is None or entry.key is None:
        return None
    return _Line(entry.key, good=not marker)


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
    """`*` and `?` as sshd(8): in at most as many steps as both lengths multiplied."""
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
    return host if port == SSH_PORT else f"[{host}]:{port}"


def known_hosts_files(given: str | None, configured: str | None) -> tuple[Path, ...]:
    """The testbed's file alone; else ssh_config's or the user's own, and the system's."""
    if given:
        return (Path(given).expanduser(),)
    names: Sequence[str] = configured.split() if configured else [str(USER_FILE)]
    return (*(Path(name).expanduser() for name in names), SYSTEM_FILE)
