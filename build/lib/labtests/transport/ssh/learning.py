"""Where the key of a host may be written down, and as what: in a file of host keys, or a new one at
a place where nobody looks for leave to log in, commands or settings.

A testbed file that somebody handed over could name any file, and what it names a host could be read
there as something else.
"""

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

import paramiko

from labtests.core.private_files import NotPrivate, OpenedFile, expect_safe_way, opened
from labtests.inventory.names import LOGIN_OPTIONS

MOST_BYTES = 2**22  # some 40 000 hosts
"""Of a file of host keys: some 100 000 lines."""

_OPEN = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK
_NEVER = (
    "authorized_keys",
    "authorized_principals",
    "allowed_signers",
    "rc",
    "environment",
    "config",
)
"""Beginnings of names of files that sshd and ssh obey (sshd(8), FILES)."""
_SAYS_SO = "known_hosts"
_KEY_TYPE = re.compile(r"(ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]{1,60}")
_PATTERN = re.compile(r"[A-Za-z0-9._:%*?!\[\]~+/-]+")
_HASHED = re.compile(r"\|1\|[A-Za-z0-9+/=]+\|[A-Za-z0-9+/=]+")


class NoPlace(Exception):
    """A key is not written there."""


@dataclass(frozen=True, slots=True)
class KnownHostsFiles:
    """Known_hosts files, and who names them: the user's own ssh settings, or a testbed file. Then
    a new one can be made beside the testbed file (`beside`) and in the user's ~/.ssh only. Those of
    the `system` are only read."""

    files: tuple[Path, ...]
    system: tuple[Path, ...] = field(default=(), kw_only=True)
    testbed: bool = False
    beside: Path | None = None

    def learn(self, name: str, key: paramiko.PKey) -> None:
        """Append the key to the first file. Raises NoPlace, OSError."""
        if not self.files:
            raise NoPlace
        try:
            file = self.files[0].resolve()
        except (RuntimeError, ValueError):
            raise NoPlace from None
        if any(each.name.lower().startswith(_NEVER) for each in (self.files[0], file)):
            raise NoPlace
        try:
            place = self._opened(file)
        except NotPrivate as error:
            raise NoPlace from error
        found = place.found
        with os.fdopen(place.descriptor, "rb+", buffering=0) as lines:
            if not stat.S_ISREG(found.st_mode):
                raise NoPlace
            self._expect_credible(place)  # else what is written would not be believed
            text = (lines.read(MOST_BYTES + 1) or b"").decode("utf-8", errors="replace")
            if not _has_host_keys(text):
                self._expect_may_begin(file)
                if found.st_nlink > 1:
                    raise NoPlace  # it has another name, that says more of what it is
            newline = "" if not text or text.endswith("\n") else "\n"
            lines.write(f"{newline}{line_of(name, key)}\n".encode())

    def _opened(self, file: Path) -> OpenedFile:
        try:
            return opened(file, _OPEN, follows=False)
        except FileNotFoundError:
            self._expect_may_begin(file)
            expect_safe_way(file)
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return opened(file, _OPEN | os.O_CREAT | os.O_EXCL, follows=False)

    def _expect_credible(self, place: OpenedFile) -> None:
        try:
            place.expect_credible(self.beside)
        except NotPrivate as error:
            raise NoPlace from error

    def _expect_may_begin(self, file: Path) -> None:
        """Where there is no host key yet, the place must say that it is for some."""
        if not self.testbed:
            return
        folders = (Path("~/.ssh").expanduser(), self.beside)
        if file.parent not in [each.resolve() for each in folders if each is not None]:
            raise NoPlace
        says_so = file.name.endswith(_SAYS_SO) or (_SAYS_SO in file.name and not file.suffix)
        if not says_so or file.name.startswith("."):
            raise NoPlace
        try:
            expect_safe_way(file)
        except NotPrivate as error:
            raise NoPlace from error


def line_of(name: str, key: paramiko.PKey) -> str:
    """As known_hosts files have it. A plain name stands there twice, once with its port: no option
    of a line of authorized_keys has brackets, so sshd would refuse the line, whatever the name."""
    names = name if name.startswith("[") else f"{name},[{name}]:22"
    return f"{names} {key.get_name()} {key.get_base64()}"


def _has_host_keys(text: str) -> bool:
    """Whether a file has some. Raises NoPlace for one that has something else, or is too long."""
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith("#")]
    if len(text) > MOST_BYTES or not all(map(_is_host_line, said)):
        raise NoPlace
    return bool(said)


def _is_host_line(line: str) -> bool:
    words = line.split()
    if words[0] in ("@revoked", "@cert-authority"):
        del words[0]
    if len(words) < 3 or _KEY_TYPE.fullmatch(words[1]) is None:
        return False
    return all(map(_is_host_pattern, words[0].split(",")))


def _is_host_pattern(text: str) -> bool:
    """None that sshd could take for an option of a login."""
    if text.startswith("|"):
        return _HASHED.fullmatch(text) is not None
    return _PATTERN.fullmatch(text) is not None and text.lower() not in LOGIN_OPTIONS
