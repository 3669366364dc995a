"""The user's own ssh_config, as far as it says how to reach a host."""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from labtests.core.errors import LabError
from labtests.core.trusted_files import own
from labtests.transport.ssh.config_lines import lines_of

if TYPE_CHECKING:  # it takes its time; and to look for words in the text it is not needed
    import paramiko

USER_CONFIG = Path("~/.ssh/config")
SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
DEEPEST_INCLUDE = 16  # as OpenSSH
MOST_BYTES = 2**20  # of a file

_INCLUDE = re.compile(r"include (?P<patterns>.*)", re.IGNORECASE | re.DOTALL)
_BLOCK = re.compile(r"(?P<kind>host|match) (?P<criteria>.*)", re.IGNORECASE | re.DOTALL)
_EVERYWHERE = "Host *"


def ssh_settings(honoured: bool) -> "paramiko.SSHConfig":
    """What ~/.ssh/config and then /etc/ssh/ssh_config say; nothing when not honoured."""
    return _parsed(_files(honoured))


def settings_text(honoured: bool) -> Iterator[str]:
    """The same, line by line."""
    for lines in _files(honoured):
        yield from lines


def _files(honoured: bool) -> tuple[tuple[str, ...], ...]:
    files = (USER_CONFIG.expanduser(), SYSTEM_CONFIG) if honoured else ()
    return tuple(tuple(_lines(file, ())) for file in files)


@lru_cache(maxsize=4)
def _parsed(files: tuple[tuple[str, ...], ...]) -> "paramiko.SSHConfig":
    """By content: many hosts share it, and a file that has changed has another one."""
    from labtests.transport.ssh.matching import UserSettings

    settings = UserSettings()
    for lines in files:
        settings.parse(iter(lines))
    return settings


def _lines(file: Path, around: tuple[Path, ...], outer: str = _EVERYWHERE) -> list[str]:
    """The file's lines with `Include` replaced by what it names, which paramiko does not do: what
    is included holds only where the block around it (`outer`) does, too. In itself no file is
    included, whatever its name there. A ProxyCommand is run: what others can write is refused, as
    OpenSSH does. Raises NotPrivate, NotAFile, LabError."""
    if len(around) > DEEPEST_INCLUDE or not file.is_file() or any(map(file.samefile, around)):
        return []
    lines: list[str] = []
    block = outer
    for line in _plain(file):
        include = _INCLUDE.match(line)
        if include is None:
            begun = _BLOCK.match(line)
            block = _both(begun, outer) if begun else block
            lines.append(block if begun else line)
            continue
        first = around[0] if around else file
        for included in _understood(first, include["patterns"]):
            lines += _lines(included, (*around, file), block)
            lines.append(block)  # what follows belongs to the block around the Include again
    return lines


def _plain(file: Path) -> list[str]:
    text = own(file, most_bytes=MOST_BYTES).decode(errors="replace")
    try:
        return list(lines_of(text))
    except ValueError as error:
        raise LabError(
            f"{file}: {error}\n  remedy: correct it, or `ssh_config: false` in the testbed file"
        ) from error


def _both(begun: re.Match[str], outer: str) -> str:
    """The first line of a block that holds where this one and the outer one do. The outer one is
    asked first: where it does not hold, no program of `Match exec` is run."""
    around = _BLOCK.match(outer)
    if around is None or not (more := _criteria(around)):
        return begun.string
    return f"Match {more} {_criteria(begun)}"


def _criteria(begun: re.Match[str]) -> str:
    """As a Match has them; "" for everywhere."""
    criteria = begun["criteria"].strip()
    if begun["kind"].lower() == "host":
        names = ",".join(shlex.split(criteria))
        criteria = "" if names == "*" else f"originalhost {shlex.quote(names)}"
    return "" if criteria.lower() == "all" else criteria


def _understood(file: Path, patterns: str) -> list[Path]:
    try:
        return _included(file, patterns)
    except (OSError, ValueError, RuntimeError, IndexError, NotImplementedError) as error:
        raise LabError(
            f"{file}: `Include {patterns}` cannot be followed: {error}\n"
            "  remedy: correct it, or `ssh_config: false` in the testbed file"
        ) from error


def _included(file: Path, patterns: str) -> list[Path]:
    """Relative names are relative to the folder of the configuration that ssh begins with
    (ssh_config(5), Include)."""
    found: list[Path] = []
    for pattern in shlex.split(patterns):
        path = Path(pattern).expanduser()
        folder = Path(path.anchor) if path.is_absolute() else file.parent
        found += sorted(folder.glob(str(path.relative_to(path.anchor))))
    return found
