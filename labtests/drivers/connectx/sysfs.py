"""Values under /sys, read as `grep -H . FILES`: one `PATH:VALUE` a line, so nothing is ambiguous.

DCQCN lives in /sys/class/net/IF/ecn (MLNX_OFED and DOCA-OFED only; the inbox driver has no such
folder), the RDMA counters in /sys/class/infiniband/DEV/ports/N/hw_counters.
"""

import re
from dataclasses import dataclass
from typing import Literal

from labtests.drivers.answers import Complaint, Tool, expect_success, last_words
from labtests.errors import ToolMissing
from labtests.reading import BLANK, incomplete, lines, matches, refuse, whole_number
from labtests.transport import Reply

Side = Literal["roce_rp", "roce_np"]
PRIORITIES = range(8)

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


ECN_FOLDER = Missing(
    what="there is no ecn/ folder: this is the inbox driver, or not a ConnectX port",
    remedy="install MLNX_OFED or DOCA-OFED (the inbox mlx5 driver has no DCQCN in sysfs), "
    "or set the DCQCN parameters with mlxconfig and leave these tests out",
)
HW_COUNTERS = Missing(
    what="there are no hw_counters for this RDMA device",
    remedy="check `rdma link` and that mlx5_ib is loaded; containers often hide /sys/class",
)

SYSFS = Tool(
    name="grep",
    install="install grep and coreutils on this host",
    complaints=(
        Complaint(
            says=r"write error|I/O error|Invalid argument|Numerical result out of range",
            remedy="the driver refused the value: see the ranges in `mlxconfig -d DEV show_confs`",
        ),
    ),
)


def files_are_missing(reply: Reply) -> bool:
    """Whether the shell or grep said that the files do not exist."""
    return bool(_MISSING.search(reply.errors))


def read_values(reply: Reply, missing: Missing) -> dict[str, str]:
    """Path -> value of every file. Raises ToolMissing when the files are not there."""
    _expect_files(reply, missing)
    _expect_only_folders_skipped(reply)
    values: dict[str, str] = {}
    for line in matches(reply, _LINE, skip=BLANK):
        if line[1] in values:
            refuse(reply, f"{line[1]} has two values")
        values[line[1]] = line[2].strip()
    if not values:
        refuse(reply, "no file has a value")
    return values


def parse_enabled_priorities(reply: Reply) -> frozenset[int]:
    """`ecn/roce_rp/enable/*` or `roce_np`: the priorities that are on. All 8 must be there.

    Also reads what plain `cat` prints for these eight files: eight lines in the order 0 to 7.
    """
    bare = [line.strip() for line in lines(reply) if line.strip()]
    if reply.status in (0, None) and len(bare) == 8 and all(flag in ("0", "1") for flag in bare):
        return frozenset(priority for priority, flag in enumerate(bare) if flag == "1")
    flags: dict[int, str] = {}
    for path, text in read_values(reply, ECN_FOLDER).items():
        match = re.search(r"/ecn/roce_[rn]p/enable/([0-7])$", path)
        if match is None or text not in ("0", "1"):
            refuse(reply, f"{path} with {text!r} is not a priority that is on or off")
        flags[int(match[1])] = text
    if sorted(flags) != list(PRIORITIES):
        incomplete(reply, f"the priorities {sorted(flags)} are there, not 0 to 7")
    return frozenset(priority for priority, flag in flags.items() if flag == "1")


def parse_dcqcn_parameters(reply: Reply) -> tuple[tuple[str, int], ...]:
    """`ecn/roce_rp/*` or `roce_np/*`: (name, value), by name."""
    values: dict[str, int] = {}
    for path, text in read_values(reply, ECN_FOLDER).items():
        match = re.search(r"/ecn/roce_[rn]p/([a-z0-9_]+)$", path)
        if match is None:
            refuse(reply, f"{path} is not a DCQCN parameter")
        values[match[1]] = whole_number(reply, text, match[1])
    return tuple(sorted(values.items()))


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


def expect_written(reply: Reply, missing: Missing) -> None:
    """Raise when `echo VALUE > FILE` failed."""
    _expect_files(reply, missing)
    expect_success(reply, SYSFS)


def _expect_files(reply: Reply, missing: Missing) -> None:
    if files_are_missing(reply):
        problem = f"{missing.what} ({last_words(reply)})"
        raise ToolMissing(reply.device, reply.command, problem, missing.remedy)


def _expect_only_folders_skipped(reply: Reply) -> None:
    others = [line for line in reply.errors.splitlines() if line and not _FOLDER.match(line)]
    if others or reply.status not in (0, None, 2):
        expect_success(reply, SYSFS)
        refuse(reply, f"not every file could be read: {others[0] if others else last_words(reply)}")
    if reply.status == 2 and not reply.errors.strip():
        refuse(reply, f"grep failed: {last_words(reply)}")
