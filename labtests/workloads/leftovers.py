"""Processes on a host that a run of labtests has left there, by the mark in their environment.

Only a process that carries the run's own id is ever ended (ssh/supervision.py sets it).
"""

import re
from dataclasses import dataclass

from labtests.errors import WorkloadError
from labtests.ssh.supervision import TAG
from labtests.transport import Transport

_ENVIRON = re.compile(r"^/proc/([0-9]+)/environ$", re.MULTILINE)
GRACE_S = 1  # between TERM and KILL
RUN_ID = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A process that still runs on a host."""

    host: str
    pid: int
    command: str


def leftovers(transport: Transport, run: str) -> tuple[Leftover, ...]:
    """What this run has left on a host; "" means any run. Raises WorkloadError."""
    if run and not RUN_ID.fullmatch(run):
        raise WorkloadError(f"{run!r} is no run id")
    pattern = f"'{TAG}={run}'" if run else f"'{TAG}=.*'"
    # -z -x: one whole variable; -s: processes of others cannot be read, nor are they ours
    found = transport.run(f"grep -lszx{'F' if run else ''} {pattern} /proc/[0-9]*/environ")
    pids = [int(pid) for pid in _ENVIRON.findall(found.text)]
    if not pids:
        return ()
    listed = transport.run(f"ps -o pid=,args= -p {','.join(str(pid) for pid in pids)}")
    rows = (line.split(None, 1) for line in listed.text.splitlines())
    commands = {int(row[0]): row[1] for row in rows if len(row) == 2 and row[0].isdecimal()}
    return tuple(
        Leftover(host=transport.device, pid=pid, command=commands[pid])
        for pid in pids
        if pid in commands  # the others have ended meanwhile
    )


def sweep(transport: Transport, run: str) -> tuple[Leftover, ...]:
    """End what this run has left on a host; what was ended. Raises WorkloadError when something
    survives."""
    if not run:
        raise WorkloadError("only processes of a run that is named are ended")
    found = leftovers(transport, run)
    if not found:
        return ()
    pids = " ".join(str(process.pid) for process in found)
    transport.run(f"kill -TERM {pids}; sleep {GRACE_S}; kill -KILL {pids}; true")
    if left := leftovers(transport, run):
        names = "; ".join(f"{process.pid} {process.command}" for process in left)
        raise WorkloadError(
            f"{transport.device}: processes of run {run} survive KILL: {names}\n"
            "  remedy: look at their state with ps: D is a driver that hangs, and only a reboot "
            "ends it"
        )
    return found
