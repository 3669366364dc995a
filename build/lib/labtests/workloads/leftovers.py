"""Processes on a host that a run of labtests has left there, by the mark in their environment.

Only a process that carries the run's own id is ever ended (ssh/supervision.py sets it).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from labtests.core.errors import WorkloadError
from labtests.core.output import excerpt, lines_said
from labtests.transport.commands import program, script
from labtests.transport.protocol import Reply, Transport
from labtests.transport.ssh.supervision import TAG

_ENVIRON = re.compile(r"^/proc/([1-9][0-9]{0,9})/environ$", re.MULTILINE)
_PID = re.compile(r"[1-9][0-9]{0,9}")
_GREP_ANSWERS = frozenset({0, 1, 2, None})  # found, not found, some files cannot be read; recorded
_PS_ANSWERS = frozenset({0, 1, None})  # 1: all have ended meanwhile
_END = (
    "for p in PIDS; do grep -lszxF MARK /proc/$p/environ >/dev/null && kill -TERM $p; done; "
    "sleep GRACE; "
    "for p in PIDS; do grep -lszxF MARK /proc/$p/environ >/dev/null && kill -KILL $p; done; true"
)
"""Each is asked for its mark again right before: a number may be another process's by then."""
GRACE_S = 1  # between TERM and KILL
MOST, LONGEST, NAMED = 4096, 512, 5
"""Processes of a run on a host; characters of one's command that are kept; processes of a sentence.
A host tells what it likes."""
ROUNDS = 8  # of ending what those have started that were ended: a shell goes on behind its program
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
        raise WorkloadError(f"{run!r} is not a run id")
    # -z -x: one whole variable; -s: processes of others cannot be read, nor are they ours
    how = "-lszxF" if run else "-lszx"
    pattern = f"{TAG}={run or '.*'}"
    search = script("grep HOW PATTERN /proc/[0-9]*/environ", HOW=how, PATTERN=pattern)
    found = transport.run(search)
    _expect_answer(found, _GREP_ANSWERS)
    pids = list(dict.fromkeys(map(int, _ENVIRON.findall(found.text))))
    if not pids:
        return ()
    if len(pids) > MOST:
        raise WorkloadError(
            f"{transport.device}: {len(pids)} processes there carry the mark of "
            f"{f'run {run}' if run else 'a run'}: no run leaves so many\n"
            f"  remedy: look for who starts them: grep -lsz {TAG}= /proc/[0-9]*/environ"
        )
    listed = transport.run(program("ps", "-o", "pid=,args=", "-p", ",".join(map(str, pids))))
    rows = (line.split(None, 1) for line in listed.text.splitlines())
    _expect_answer(listed, _PS_ANSWERS)
    commands = {
        int(row[0]): excerpt(row[1], LONGEST)
        for row in rows
        if len(row) == 2 and _PID.fullmatch(row[0])
    }
    return tuple(
        Leftover(host=transport.device, pid=pid, command=commands[pid])
        for pid in pids
        if pid in commands  # the others have ended meanwhile
    )


def _expect_answer(reply: Reply, statuses: frozenset[int | None]) -> None:
    """A program that could not be run has found nothing, and that must not look like an answer."""
    said = [line for line in lines_said(reply.errors) if not line.startswith("sudo: ")]
    if reply.status not in statuses or said:
        raise WorkloadError(
            f"{reply.device}: {reply.command!r}: {' '.join(said) or 'it failed'} (exit status "
            f"{reply.status}), so leftovers of other runs there cannot be determined\n"
            "  remedy: grep (GNU's, with -z) and ps must work on the host for this user"
        )


def sweep(
    transport: Transport, run: str, *, stop: Callable[[], bool] = lambda: False
) -> tuple[Leftover, ...]:
    """End what this run has left on a host; what was ended. What they start while they are ended
    (a shell goes on behind the program that was killed) is ended as well, in so many rounds: any
    user of the host may start processes with the run's mark. Told to `stop`, it does one round.
    Raises WorkloadError when something survives."""
    if not run:
        raise WorkloadError("only processes of a run that is named are ended")
    ended: dict[int, Leftover] = {}
    killed: set[int] = set()  # whose end was not seen yet: on a busy host it takes its time
    rounds = 0
    while found := leftovers(transport, run):
        if survivors := [process for process in found if process.pid in killed]:
            named = [f"{process.pid} {process.command}" for process in islice(survivors, NAMED)]
            names = "; ".join(named) + (
                f"; {len(survivors)} in all" if len(survivors) > NAMED else ""
            )
            raise WorkloadError(
                f"{transport.device}: processes of run {run} survive KILL: {names}\n"
                "  remedy: check their state with ps: D means a hung driver, which only a "
                "reboot ends"
            )
        if rounds == ROUNDS or (rounds and stop()):
            raise WorkloadError(
                f"{transport.device}: processes of run {run} come back as fast as they are "
                f"ended ({len(ended)} in {rounds} rounds): {found[0].pid} "
                f"{found[0].command}\n  remedy: stop whatever starts them: ps -o "
                f"ppid,user,args -p {found[0].pid}"
            )
        pids = [process.pid for process in found]
        killed = {pid for pid in pids if pid in ended}
        transport.run(script(_END, PIDS=pids, GRACE=GRACE_S, MARK=f"{TAG}={run}"))
        ended |= {process.pid: process for process in found}
        rounds += 1
    return tuple(ended.values())
