"""DCQCN in /sys/class/net/IF/ecn (MLNX_OFED and DOCA-OFED only; the inbox driver has no such
folder)."""

import re
from typing import Literal

from labtests.drivers.answers import Complaint, Tool
from labtests.drivers.linux.sysfs import Missing, read_values
from labtests.drivers.parsing import incomplete, refuse, whole_lines, whole_number
from labtests.transport.protocol import Reply

Side = Literal["roce_rp", "roce_np"]
PRIORITIES = frozenset(range(8))

ECN_FOLDER = Missing(
    what="there is no ecn/ folder: this is the inbox driver, or not a ConnectX port",
    remedy="install MLNX_OFED or DOCA-OFED (the inbox mlx5 driver has no DCQCN in sysfs), "
    "or set the DCQCN parameters with mlxconfig and leave these tests out",
)
WRITTEN = Tool(
    install="install grep and coreutils on this host",
    complaints=(
        Complaint(
            says=r"write error|I/O error|Invalid argument|Numerical result out of range",
            remedy="the driver refused the value: see the ranges in `mlxconfig -d DEV show_confs`",
        ),
    ),
)


def parse_enabled_priorities(reply: Reply) -> frozenset[int]:
    """`ecn/roce_rp/enable/*` or `roce_np`: the priorities that are on. All 8 must be there.

    Also reads what plain `cat` prints for these eight files: eight lines in the order 0 to 7.
    """
    bare = [line.strip() for line in whole_lines(reply) if line.strip()]
    if reply.status in (0, None) and len(bare) == 8 and all(flag in ("0", "1") for flag in bare):
        return frozenset(priority for priority, flag in enumerate(bare) if flag == "1")
    flags: dict[int, str] = {}
    for path, text in read_values(reply, ECN_FOLDER).items():
        match = re.search(r"/ecn/roce_[rn]p/enable/([0-7])$", path)
        if match is None or text not in ("0", "1"):
            refuse(reply, f"{path} with {text!r} is not a priority that is on or off")
        flags[int(match[1])] = text
    if sorted(flags) != sorted(PRIORITIES):
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
