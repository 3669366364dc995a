"""When a Linux host says no: no such program, no right, or the program's own error.

A `Tool` knows the sentences its program prints when it fails, and what to do about each. Programs
do not agree on where they print errors (mlnx_qos: stdout) or on their exit status, so both streams
are read.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

from labtests.core.errors import CommandRejected, ToolMissing
from labtests.core.output import last_line, lines_said
from labtests.drivers.parsing import lines
from labtests.transport.protocol import Reply

_NOT_FOUND_STATUS = 127  # POSIX sh: the command could not be found
_NO_SUCH_PROGRAM = re.compile(
    r"command not found\s*$"  # bash, sudo
    r"|^\S*sh: (?:line )?\d+: .*: not found\s*$",  # dash: `sh: 1: mlnx_qos: not found`
    re.MULTILINE,
)

_COUNTER = re.compile(r"\s*[\w.\[\]]+: [0-9]+")

_RIGHTS = "log in as root, or set `become: true` for this device in the testbed file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A sentence (regular expression, any case) that a program prints when it refuses.

    With `only_failed` the program may print it on success too; then the exit status decides.
    """

    says: str
    remedy: str
    only_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program on a host: how to get it, and what its refusals mean."""

    install: str
    complaints: tuple[Complaint, ...] = ()


_ANY_TOOL = (
    Complaint(
        says=r"^sudo: .*(password|terminal|not allowed|may not run)|not in the sudoers",
        remedy="let this user run sudo without a password (NOPASSWD), or log in as root",
    ),
    Complaint(says=r"permission denied|operation not permitted|must be root", remedy=_RIGHTS),
    Complaint(
        says=r"no such device|no device matches name|cannot find device",
        remedy="check the interface name in the testbed file against `ip link` on the host",
    ),
)


def expect_success(reply: Reply, tool: Tool) -> None:
    """Raise ToolMissing or CommandRejected when this answer is not a success.

    `status is None` (a recording that has none) counts as success only when no sentence of the tool
    says otherwise.
    """
    _expect_program(reply, tool)
    said = _first_complaint(reply, tuple(c for c in tool.complaints if not c.only_failed))
    if said is not None:
        reject(reply, *said)
    if reply.status not in (0, None):
        said = _first_complaint(reply, (*tool.complaints, *_ANY_TOOL))
        problem, remedy = said or (
            last_words(reply),
            f"run it by hand on {reply.device} and look at `dmesg`",
        )
        reject(reply, f"{problem} (exit status {reply.status})", remedy)


def reject(reply: Reply, problem: str, remedy: str) -> NoReturn:
    """Raise CommandRejected for this answer."""
    raise CommandRejected(reply.device, reply.command, problem, remedy)


def last_words(reply: Reply) -> str:
    """The last line of stderr, else of stdout: of a Python traceback, the exception."""
    for stream in (reply.errors, reply.text):
        if stream.strip():
            return last_line(stream, "")
    return "no output at all"


def _expect_program(reply: Reply, tool: Tool) -> None:
    said = _both_streams(reply)
    known = _NO_SUCH_PROGRAM.search("\n".join(said)) is not None
    for line in said if known else ():
        if _NO_SUCH_PROGRAM.search(line):
            raise ToolMissing(reply.device, reply.command, line.strip(), tool.install)
    if reply.status == _NOT_FOUND_STATUS:
        raise ToolMissing(reply.device, reply.command, last_words(reply), tool.install)


def _first_complaint(reply: Reply, complaints: tuple[Complaint, ...]) -> tuple[str, str] | None:
    said = _both_streams(reply)
    if not _any_of(complaints).search("\n".join(said)):  # most answers, read in one go
        return None
    for line in said:
        for complaint in complaints:
            if re.search(complaint.says, line, re.IGNORECASE):
                return line.strip(), complaint.remedy
    return None


@cache
def _any_of(complaints: tuple[Complaint, ...]) -> re.Pattern[str]:
    """Found in many lines wherever one of the complaints is found in one of them."""
    said = "|".join(f"(?:{complaint.says})" for complaint in complaints) or r"(?!)"
    return re.compile(said, re.IGNORECASE | re.MULTILINE)


def _both_streams(reply: Reply) -> list[str]:
    """The sentences of an answer. A counter is none; of those an answer may have thousands."""
    said = [line for line in lines(reply) if not _COUNTER.fullmatch(line)]
    return [*said, *lines_said(reply.errors)]
