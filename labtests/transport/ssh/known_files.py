"""Which files of host keys ssh_config names for a connection: as OpenSSH reads it, or a refusal.

Another file than ssh looks into would make a host unknown that ssh knows, and then another key
could be learned of it. So a value that is not understood here is refused in a sentence.
"""

import getpass
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

USER, GLOBAL, REVOKED = "UserKnownHostsFile", "GlobalKnownHostsFile", "RevokedHostKeys"
FILE_OPTIONS = (USER.lower(), GLOBAL.lower(), REVOKED.lower())
USER_FILES = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
SYSTEM_FILES = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
AS_WRITTEN = "as written: "
"""What stands before their values, so that paramiko takes no quotes off."""

_NOTHING = Path("/dev/null")
_OPTION = re.compile(rf"({USER}|{GLOBAL}|{REVOKED}) (.*)", re.IGNORECASE)
_WORD = re.compile(r"""\s*(?:"([^"\\]+)"|'([^'\\]+)'|([^\s"'\\#][^\s"'\\]*))(?=\s|$)""")
_REST = re.compile(r"\s*(#.*)?")
_TOKEN = re.compile(r"%(.?)|\$\{(?:([^}]*)\})?")


class NotUnderstood(Exception):
    """A value that ssh may read as another file: option, what is wrong, and the remedy."""

    def __init__(self, option: str, value: str, why: str) -> None:
        super().__init__(f"{option} {value}: {why}")
        self.problem = f"`{option} {value}` of your ssh_config {why}"
        self.remedy = (
            f"write {option} as absolute paths (or ~/...) in your ssh_config, or name "
            "`known_hosts` and `ssh_config: false` in the testbed file"
        )


def kept_as_written(line: str) -> str:
    """A line of ssh_config (config_lines.py) for paramiko; those of these options keep their
    quotes."""
    found = _OPTION.fullmatch(line)
    return line if found is None else f"{found[1]} {AS_WRITTEN}{found[2]}"


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


def user_files(configured: Mapping[str, str], named: Named) -> tuple[Path, ...]:
    """Those of UserKnownHostsFile. Raises NotUnderstood."""
    return _files(USER, configured, USER_FILES, named.tokens())


def system_files(configured: Mapping[str, str]) -> tuple[Path, ...]:
    """Those of GlobalKnownHostsFile, which knows no tokens. Raises NotUnderstood."""
    return _files(GLOBAL, configured, SYSTEM_FILES, None)


def revoked_file(configured: Mapping[str, str], named: Named) -> Path | None:
    """That of RevokedHostKeys. Raises NotUnderstood, also where it names several."""
    found = _files(REVOKED, configured, (), named.tokens())
    if len(found) > 1:
        raise NotUnderstood(REVOKED, _written(REVOKED, configured), "names more than one file")
    return found[0] if found else None


def _written(option: str, configured: Mapping[str, str]) -> str:
    return str(configured.get(option.lower(), "")).removeprefix(AS_WRITTEN)


def _files(
    option: str,
    configured: Mapping[str, str],
    default: tuple[str, ...],
    tokens: Mapping[str, str] | None,
) -> tuple[Path, ...]:
    value = _written(option, configured)
    words = _words(option, value) if value else list(default)
    if [word.lower() for word in words] == ["none"]:
        return ()
    paths = (_path(option, word, tokens) for word in words)
    return tuple(path for path in paths if path != _NOTHING)


def _words(option: str, value: str) -> list[str]:
    words, at = [], 0
    while found := _WORD.match(value, at):
        words.append(next(word for word in found.groups() if word))
        at = found.end()
    if not words or _REST.fullmatch(value, at) is None:
        raise NotUnderstood(option, value, "is not understood here: quotes, or a backslash")
    return words


def _path(option: str, word: str, tokens: Mapping[str, str] | None) -> Path:
    try:
        path = Path(word).expanduser()
    except RuntimeError as error:
        raise NotUnderstood(option, word, f"names a user who is not known: {error}") from error
    if tokens is not None:
        path = Path(_TOKEN.sub(lambda found: _meant(option, word, found, tokens), str(path)))
    if not path.is_absolute():
        raise NotUnderstood(option, word, "is a file of whatever folder labtests is started in")
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
