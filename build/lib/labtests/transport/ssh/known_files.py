"""Which files of host keys ssh looks into for a connection: as ssh says them, or a refusal.

Another file than ssh looks into would make a host unknown that ssh knows, and then another key
could be learned of it.
"""

import getpass
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

from labtests.transport.ssh.settings import SYSTEM_FILES, USER_FILES, SshSettings

USER, GLOBAL, REVOKED = "UserKnownHostsFile", "GlobalKnownHostsFile", "RevokedHostKeys"
NOTHING = Path("/dev/null")
"""Of a user who wants no keys kept."""
_TOKEN = re.compile(r"%(.?)|\$\{(?:([^}]*)\})?")


class NotUnderstood(Exception):
    """A value that ssh may read as another file: option, what is wrong, and the remedy."""

    def __init__(self, option: str, value: str, why: str) -> None:
        super().__init__(f"{option} {value}: {why}")
        self.problem = f"`{option} {value}` of your ssh_config {why}"
        self.remedy = (
            f"write {option} as absolute paths (or ~/...) without blanks in your ssh_config, or "
            "name `known_hosts` and `ssh_config: false` in the testbed file"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a connection is called: `given` in the testbed file, `host` and `port` as dialled."""

    given: str
    host: str
    port: int
    user: str
    alias: str | None

    def tokens(self) -> Mapping[str, str]:
        """What `%` and a letter stand for (ssh_config(5), TOKENS), but `%C`."""
        here = socket.gethostname()
        return {
            "%": "%",
            "d": str(Path("~").expanduser()),
            "h": self.host,
            "i": str(os.getuid()),
            "k": self.alias or self.given,
            "L": here.partition(".")[0],
            "l": here,
            "n": self.given,
            "p": str(self.port),
            "r": self.user,
            "u": local_user(),
        }

    def meant(self, option: str, text: str) -> str:
        """The text with what its tokens and variables stand for. Raises NotUnderstood."""
        tokens = self.tokens()
        return _TOKEN.sub(lambda found: _meant(option, text, found, tokens), text)

    def command(self, text: str) -> str:
        """A ProxyCommand or ProxyJump with what its tokens stand for; `$` is a shell's. Raises
        NotUnderstood."""
        tokens = self.tokens()
        return re.sub("%(.?)()", lambda found: _meant("Proxy...", text, found, tokens), text)


def user_files(configured: SshSettings) -> tuple[Path, ...]:
    """Those of UserKnownHostsFile. Raises NotUnderstood."""
    return _files(USER, configured, USER_FILES)


def system_files(configured: SshSettings) -> tuple[Path, ...]:
    """Those of GlobalKnownHostsFile. Raises NotUnderstood."""
    return _files(GLOBAL, configured, SYSTEM_FILES)


def revoked_file(configured: SshSettings) -> Path | None:
    """That of RevokedHostKeys. Raises NotUnderstood, also for a token, which some releases of ssh
    take for a part of the name."""
    value = configured.get(REVOKED.lower())
    if value is None:
        return None
    if set(value) & set("%$"):
        raise NotUnderstood(REVOKED, value, "has a token, which is not read here")
    path = _path(REVOKED, value)
    return None if path == NOTHING else path


def _files(option: str, configured: SshSettings, default: tuple[str, ...]) -> tuple[Path, ...]:
    """ssh has put in what tokens stand for, and prints a blank in a name like one between two."""
    told = configured.values.get(option.lower())
    words = list(default) if told is None else told.split(" ")
    if [word.lower() for word in words] == ["none"]:
        return (NOTHING,)
    for first, last in combinations(range(len(words)), 2):
        if (name := Path(" ".join(words[first : last + 1])).expanduser()).exists():
            raise NotUnderstood(option, told or "", f"may be one file, {name}, or several")
    return tuple(_path(option, word) for word in words)


def _path(option: str, word: str) -> Path:
    try:
        path = Path(word).expanduser()
    except RuntimeError as error:
        raise NotUnderstood(option, word, f"names a user who is not known: {error}") from error
    if not path.is_absolute():
        why = "is a file of whatever folder labtests is started in, or a part of a name with blanks"
        raise NotUnderstood(option, word, why)
    return path


def _meant(option: str, word: str, found: re.Match[str], tokens: Mapping[str, str]) -> str:
    variable = found[2] or ""
    if found[1] is None:
        if variable not in os.environ:
            raise NotUnderstood(option, word, f"has {found[0]}, which is not set")
        return os.environ[variable]
    if found[1] not in tokens:
        raise NotUnderstood(option, word, f"has {found[0]}, which is not read here")
    return tokens[found[1]]


@cache
def local_user() -> str:
    """Who runs labtests."""
    return getpass.getuser()
