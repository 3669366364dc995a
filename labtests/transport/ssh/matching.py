"""Which blocks of an ssh_config hold for a host: paramiko's rules, and its programs kept short."""

import os
import shlex
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any

import paramiko

from labtests.transport.ssh.known_files import kept_as_written

EXEC_WITHIN_S = 10.0  # wall time, of one program of `Match exec`

_ALONE = ("all", "canonical", "final")
_CRITERIA = (*_ALONE, "host", "localuser", "originalhost", "user")
"""What paramiko knows; those without a value first."""


class UserSettings(paramiko.SSHConfig):
    """paramiko's, but for names of files of host keys, which stay as they are written, for what a
    Match and a pattern mean, and for `Match exec`: as ssh does it runs the user's program, by the
    user's shell; here it reads nothing, what it prints is not shown, and one that hangs counts as
    no."""

    def parse(self, file_obj: Iterable[str]) -> None:
        """See paramiko."""
        super().parse(map(kept_as_written, file_obj))

    def _pattern_matches(self, patterns: str | list[str], target: str) -> bool:
        """One of them is like it, and none behind a `!` (paramiko: brackets, too)."""
        each = patterns.split(",") if isinstance(patterns, str) else patterns
        if any(one.startswith("!") and is_like(one[1:], target) for one in each):
            return False
        return any(is_like(one, target) for one in each)

    def _get_matches(self, match: str) -> list[dict[str, Any]]:
        """The criteria of a block, in any case; paramiko would take `Host x` for true."""
        words, found = shlex.split(match), []
        while words:
            kind, equals, value = words.pop(0).partition("=")
            if equals:
                words.insert(0, value)
            criterion = kind.removeprefix("!").lower()
            if criterion not in _ALONE and not words:
                raise paramiko.ConfigParseError(f"`Match {match}` of your ssh_config is cut short")
            param = None if criterion in _ALONE else words.pop(0)
            found.append({"type": criterion, "param": param, "negate": kind.startswith("!")})
        return found

    def _does_match(self, match_list: Any, target_hostname: str, *more: Any) -> bool:
        holds = (self._holds(each, target_hostname, *more) for each in match_list)
        return bool(match_list) and all(holds)

    def _holds(self, criterion: dict[str, Any], host: str, *more: Any) -> bool:
        kind, negate = criterion["type"], bool(criterion["negate"])
        if kind == "all":
            return not negate
        if kind == "exec":
            line = self._tokenize(more[-1], host, "match-exec", criterion["param"])  # type: ignore[attr-defined]
            return _succeeds(line) != negate
        if kind not in _CRITERIA:
            said = f"`Match {kind}` of your ssh_config is not understood here"
            raise paramiko.ConfigParseError(f"{said} (`ssh_config: false` in the testbed file?)")
        return bool(super()._does_match([criterion], host, *more))  # type: ignore[misc]


def is_like(pattern: str, name: str) -> bool:
    """`*` and `?` as ssh_config(5) and sshd(8) have them: in at most as many steps as both lengths
    multiplied."""
    reached = {0}  # how much of the name each beginning of the pattern can have taken
    for each in pattern:
        if each == "*":
            reached = set(range(min(reached), len(name) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(name) and each in ("?", name[at])}
    return len(name) in reached


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
