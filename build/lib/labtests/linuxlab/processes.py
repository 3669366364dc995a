"""The processes of a lab: one that holds each box, and whatever runs in its namespaces."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from labtests.core.private_files import open_private
from labtests.journal.runner import started_ticks
from labtests.linuxlab.keys import box_folder
from labtests.linuxlab.plan import Box, LinuxLabPlan
from labtests.linuxlab.programs import NAMESPACES, SEARCHED, program

ENDS_WITHIN_S = 5.0

# own /tmp, /var/tmp, /root and /run, a host name of its own, and sshd as process 1 of the box. What
# runs in it goes before the machine's other work: a sender that waits for a CPU catches up at more
# than the rate it was asked for, and a queue overflows through no fault of the switch.
# $1: the box's part of the lab's folder, seen as /run/box; $2: its name; $3: sshd
_INIT = """set -e
fresh() { mount -t tmpfs -o "size=64m,mode=$2" labtests "$1"; }
fresh /tmp 1777
mkdir /tmp/box
mount --bind "$1" /tmp/box
fresh /run 755
mkdir /run/sshd /run/box
mount --move /tmp/box /run/box
rmdir /tmp/box
fresh /var/tmp 1777
fresh /root 700
echo "$2" > /proc/sys/kernel/hostname
cd /root
exec nice -n -10 "$3" -D -e -f /run/box/sshd_config
"""


def start(plan: LinuxLabPlan, box: Box) -> tuple[int, int]:
    """The box runs: PID, UTS and mount namespaces of its own inside its network namespace. Returns
    the process that holds it (pid, start time); when that ends, so does all of the box."""
    folder = box_folder(plan, box)
    inside = ["unshare", "--uts", "--pid", "--mount", "--propagation", "slave", "--kill-child"]
    init = ["sh", "-c", _INIT, "sh", str(folder), box.name, program("sshd")]
    log_file = open_private(folder / "sshd.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with os.fdopen(log_file, "ab") as log:
        process = subprocess.Popen(
            [program("ip"), "netns", "exec", box.namespace, *inside, "--mount-proc", *init],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": SEARCHED, "HOME": "/root", "LANG": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
        )
    process.returncode = 0  # it outlives us; Popen must not warn of that
    return process.pid, started_ticks(process.pid) or 0


def alive(runner: tuple[int, int] | None) -> bool:
    """Whether this very process still runs, not another one of its number."""
    return runner is not None and started_ticks(runner[0]) == runner[1]


def inside(namespaces: Iterable[str]) -> set[int]:
    """Every process in these network namespaces."""
    wanted, names = set(), tuple(namespaces)
    for name in names:
        with suppress(OSError):
            found = (NAMESPACES / name).stat()
            wanted.add((found.st_dev, found.st_ino))
    processes = Path("/proc").glob("[0-9]*") if wanted else ()
    return {int(entry.name) for entry in processes if _belongs(entry, wanted, names)}


def _belongs(process: Path, wanted: set[tuple[int, int]], names: tuple[str, ...]) -> bool:
    """In a namespace, or an `ip netns exec` that is just about to enter it: root's only, as nobody
    else may."""
    try:
        own, of_root = (process / "ns/net").stat(), process.stat().st_uid == 0
        program = (process / "exe").readlink().name
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    asks = words[1:3] == ["netns", "exec"] and words[3:4] in [[name] for name in names]
    entering = of_root and program == "ip" and asks
    there = (own.st_dev, own.st_ino) in wanted or entering
    return there and started_ticks(int(process.name)) is not None


def _holds(pid: int, start: int, folder: Path) -> bool:
    """Whether this very process holds the box of this folder: another one is ended by nobody's
    notes."""
    try:
        words = (Path("/proc") / str(pid) / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False
    return str(folder) in words.split("\0") and alive((pid, start))


def end_all(namespaces: Iterable[str], runners: Mapping[Path, tuple[int, int]]) -> set[int]:
    """No process is left in the namespaces, and none that holds a box: `runners` by the box's part
    of the lab's folder. Returns those that are."""
    names = tuple(namespaces)
    deadline = time.monotonic() + ENDS_WITHIN_S
    while True:
        left = inside(names) | {
            each[0] for folder, each in runners.items() if _holds(*each, folder)
        }
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)
