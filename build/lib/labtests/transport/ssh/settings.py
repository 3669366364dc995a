"""What ssh makes of the user's ssh_config for one host: `ssh -G` is asked.

Whoever reads such a file himself reads some line of it otherwise than ssh; then he looks for the
host's key elsewhere, and takes that of somebody in between for a new one, or runs another program.
"""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from labtests.core.errors import LabError
from labtests.core.output import excerpt
from labtests.core.trusted_files import own

USER_CONFIG = Path("~/.ssh/config")
SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
USER_FILES = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
SYSTEM_FILES = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
WITHIN_S, AGAIN_AFTER_S = 10.0, 60.0
MOST_BYTES = 2**20
_MAY_BE_NONE = (
    *("proxycommand", "proxyjump", "connecttimeout", "revokedhostkeys", "knownhostscommand"),
    *("bindaddress", "bindinterface"),
)
_REMEDY = "correct it, or `ssh_config: false` in the testbed file"


@dataclass(frozen=True, slots=True)
class SshSettings:
    """Options by their names in small letters, as ssh has them in force; nothing where no
    ssh_config is read. Names of key files only where the user names some."""

    values: Mapping[str, str] = field(default_factory=dict)
    identity_files: tuple[str, ...] = ()

    def get(self, option: str) -> str | None:
        """None for what is not set, or `none` where that means nothing and is not a name."""
        value = self.values.get(option)
        if value is not None and value.lower() == "none" and option in _MAY_BE_NONE:
            return None
        return value


def settings_of(
    host: str, user: str | None, port: int | None, *, honoured: bool, jump: str | None = None
) -> SshSettings:
    """For `ssh [-l user] [-p port] [-J jump] host`. Raises LabError: the file is wrong, or somebody
    else's, or takes too long, or there is no ssh to ask."""
    user_config = USER_CONFIG.expanduser()
    there = [file for file in (user_config, SYSTEM_CONFIG) if file.is_file()]
    if not (honoured and there):
        return SshSettings()
    if shutil.which("ssh") is None:
        raise LabError(
            f"{there[0]} is read by `ssh -G`, and there is no ssh on this machine\n"
            "  remedy: install openssh-client, or `ssh_config: false` in the testbed file"
        )
    begun = _elsewhere(user_config)
    given = {"-l": user, "-p": port, "-J": jump}
    login = [word for option, value in given.items() if value for word in (option, str(value))]
    states = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in there]
    minute = time.monotonic() // AGAIN_AFTER_S  # files that they include have no state here
    said = _said((*login, "--", host), begun, (minute, *states))
    names = tuple(value for option, value in said if option == "identityfile")
    if names == _default_identities():
        names = ()
    return SshSettings(dict(reversed(said)), names)


def _elsewhere(user_config: Path) -> str:
    """What ssh is to read where HOME is not the home that it knows; "" where it is."""
    home = Path.home()
    if str(home) == pwd.getpwuid(os.getuid()).pw_dir:
        return ""
    if odd := sorted(set(str(home)) & set('*?[]%$"\\')):
        raise LabError(
            f"ssh cannot be told to read {user_config}, for the {' '.join(odd)} in HOME\n"
            "  remedy: another HOME, or `ssh_config: false` in the testbed file"
        )
    if user_config.is_file():
        own(user_config, most_bytes=MOST_BYTES)  # ssh asks whose file it is only of its own
    files = " ".join(f'"{Path(name).expanduser()}"' for name in USER_FILES)
    return (
        f'Include "{user_config}"\nInclude "{SYSTEM_CONFIG}"\nHost *\n'
        f"  UserKnownHostsFile {files}\n  GlobalKnownHostsFile {' '.join(SYSTEM_FILES)}\n"
    )


@lru_cache(maxsize=512)
def _said(words: tuple[str, ...], begun: str, stamps: object) -> tuple[tuple[str, str], ...]:
    """Options and values, in ssh's order. `stamps` tell of another state of the files."""
    del stamps
    try:
        with NamedTemporaryFile("w", encoding="utf-8") as file:  # ssh may read it twice
            file.write(begun)
            file.flush()
            done = subprocess.run(
                ["ssh", "-T", *(("-F", file.name) if begun else ()), "-G", *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=WITHIN_S,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise LabError(
            f"ssh_config: `ssh -G {words[-1]}` did not end within {WITHIN_S:g} s\n"
            f"  remedy: does a program of `Match exec` hang? {_REMEDY}"
        ) from None
    if done.returncode:
        said = excerpt(" ".join(done.stderr.decode(errors="replace").split()), 400)
        raise LabError(f"ssh_config: `ssh -G {words[-1]}`: {said}\n  remedy: {_REMEDY}")
    text = done.stdout.decode(errors="surrogateescape")  # a name of a file is bytes
    lines = (line.partition(" ") for line in text.split("\n") if line)
    return tuple((option.lower(), value) for option, _, value in lines)


@lru_cache(maxsize=1)
def _default_identities() -> tuple[str, ...]:
    """What ssh names where the user names none."""
    words = ["ssh", "-F", "none", "-G", "host"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    lines = (line.partition(" ") for line in done.stdout.split("\n"))
    return tuple(value for option, _, value in lines if option == "identityfile")
