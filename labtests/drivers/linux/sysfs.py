"""Values under /sys, read as `grep -H . FILES`: one `PATH:VALUE` a line, so nothing is ambiguous.

`grep -s` is for files of which some may be missing or unreadable (an unused GID is EINVAL): what it
cannot read it leaves out.
"""

import re
from dataclasses import dataclass

from labtests.core.errors import ToolMissing
from labtests.core.output import lines_said
from labtests.drivers.answers import Tool, expect_success, last_words
from labtests.drivers.parsing import BLANK, matches, refuse, whole_number
from labtests.transport.protocol import Reply

_LINE = re.compile(r"^(/\S[^:]*):(.*)$")
_MISSING = re.compile(r"No such file or directory|Directory nonexistent|nonexistent directory")
# `grep -H . roce_rp/*` also meets the folder roce_rp/enable, says so and exits with 2
_FOLDER = re.compile(r"^grep: \S+: Is a directory$")

LIFESPAN = "lifespan"
"""In hw_counters, but not a counter: for how many ms a read may be answered from a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What it means when files are not there."""

    what: str
    remedy: str


HW_COUNTERS = Missing(
    what="there are no hw_counters for this RDMA device",
    remedy="check `rdma link` and that its driver is loaded; containers often hide /sys/class",
)

SYSFS = Tool(install="install grep and coreutils on this host")


def files_are_missing(reply: Reply) -> bool:
    """Whether the shell or grep said that the files do not exist."""
    return bool(_MISSING.search(reply.errors))


def read_values(reply: Reply, missing: Missing) -> dict[str, str]:
    """Path -> value of every file. Raises ToolMissing when the files are not there."""
    expect_files(reply, missing)
    _expect_only_folders_skipped(reply)
    values: dict[str, str] = {}
    for line in matches(reply, _LINE, skip=BLANK):
        if line[1] in values:
            refuse(reply, f"{line[1]} has two values")
        values[line[1]] = line[2].strip()
    if not values:
        refuse(reply, "no file has a value")
    return values


def those_readable(reply: Reply) -> dict[str, str]:
    """Path -> value of what `grep -s -H` could read; empty when it could read nothing."""
    if reply.status not in (0, None, 1, 2):
        expect_success(reply, SYSFS)
    return {line[1]: line[2].strip() for line in matches(reply, _LINE, skip=BLANK)}


def parse_hw_counters(reply: Reply) -> dict[str, int]:
    """`hw_counters/*`: name -> value, without `lifespan`, which is a setting."""
    counters: dict[str, int] = {}
    for path, text in read_values(reply, HW_COUNTERS).items():
        match = re.search(r"hw_counters/([A-Za-z0-9_]+)$", path)
        if match is None:
            refuse(reply, f"{path} is not an RDMA counter")
        counters[match[1]] = whole_number(reply, text, match[1])
    counters.pop(LIFESPAN, None)
    if not counters:
        refuse(reply, "there is no counter but lifespan")
    return counters


def expect_files(reply: Reply, missing: Missing) -> None:
    """Raise ToolMissing when the files are not there."""
    if files_are_missing(reply):
        problem = f"{missing.what} ({last_words(reply)})"
        raise ToolMissing(reply.device, reply.command, problem, missing.remedy)


def _expect_only_folders_skipped(reply: Reply) -> None:
    others = [line for line in lines_said(reply.errors) if not _FOLDER.match(line)]
    if others or reply.status not in (0, None, 2):
        expect_success(reply, SYSFS)
        refuse(reply, f"not every file could be read: {others[0] if others else last_words(reply)}")
    if reply.status == 2 and not reply.errors.strip():
        refuse(reply, f"grep failed: {last_words(reply)}")
