"""Which blocks of an ssh_config hold for a host: paramiko's rules, and its programs kept short."""

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any

import paramiko

from labtests.transport.ssh.known_files import kept_as_written

EXEC_WITHIN_S = 10.0  # wall time, of one program of `Match exec`


class UserSettings(paramiko.SSHConfig):
    """paramiko's, but for names of files of host keys, which stay as they are written, and for
    `Match exec`: as ssh does it runs the user's program, by the user's shell; here it reads
    nothing, what it prints is not shown, and one that hangs counts as no."""

    def parse(self, file_obj: Iterable[str]) -> None:
        """See paramiko."""
        super().parse(map(kept_as_written, file_obj))

    def _does_match(self, match_list: Any, target_hostname: str, *more: Any) -> bool:
        for criterion in match_list:
            if criterion["type"] != "exec":
                matches = bool(super()._does_match([criterion], target_hostname, *more))  # type: ignore[misc]
            else:
                line = self._tokenize(more[-1], target_hostname, "match-exec", criterion["param"])  # type: ignore[attr-defined]
                matches = _succeeds(line) != criterion["negate"]
            if not matches:
                return False
        return bool(match_list)


@cache
def _succeeds(line: str) -> bool:
    """Asked once: paramiko looks through the file several times for each host."""
    words = [os.environ.get("SHELL") or "/bin/sh", "-c", line]
    quiet = subprocess.DEVNULL
    with suppress(OSError, ValueError, subprocess.TimeoutExpired):
        done = subprocess.run(
            words, stdin=quiet, stdout=quiet, stderr=quiet, timeout=EXEC_WITHIN_S, check=False
        )
        return done.returncode == 0
    return False
