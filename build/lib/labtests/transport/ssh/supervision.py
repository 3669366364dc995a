"""Long commands on a host end with the session that started them, and say whose they are.

sshd leaves a command without a terminal alone when its client is gone: it only closes the
command's pipes. So beside every long command waits a small shell that reads the channel. When that
ends (the runner died, or has closed it), or when no beat has come for BEATS_MISSED_S (the network
or the runner's machine is gone, or the runner is frozen), it ends the command's process group:
TERM, and KILL two seconds later. Plain POSIX sh, timeout(1) and kill(1) are all it needs.

    exec 3<&0 </dev/null                     the command itself reads nothing
    ( trap "" HUP INT TERM; ...; while WAIT; do :; done; kill ... ) &
    echo $$                                  the process group, as ShellProcess wants to know it
    exec timeout -k 2 SECONDS COMMAND        the leader of that group

The shell that waits ignores what the group is sent by us, but not KILL. Everything carries
LABTESTS_RUN=<run> in its environment, by which it is found again (workloads/leftovers.py).
"""

import threading
import time
from contextlib import suppress
from weakref import WeakSet

import paramiko

from labtests.transport.commands import Shell, program, script

TAG = "LABTESTS_RUN"
KILL_AFTER_S = 2  # between TERM and KILL, on the host
BEAT_EVERY_S = 3.0
BEATS_MISSED_S = 15


_SCRIPT = f"""{TAG}=RUN; export {TAG}; exec 3<&0 </dev/null
( trap '' HUP INT TERM; exec >/dev/null 2>&1
while WAIT <&3; do :; done
kill -0 $$ && kill -s TERM -- -$$ && sleep {KILL_AFTER_S}
kill -s KILL -- -$$ ) &
exec 3<&-; echo $$; exec timeout -k {KILL_AFTER_S} SECONDS COMMAND"""
_NEXT_BEAT = script("read -r beat")


def supervised(command: Shell, *, seconds: int, run: str, beats: bool) -> Shell:
    """The script for `sh -c` that runs the command as described above, for so long at most.

    Without `beats` (a simulated lab whose time stands still) only the channel's end counts.
    """
    wait = program("timeout", BEATS_MISSED_S, "sh", "-c", _NEXT_BEAT) if beats else _NEXT_BEAT
    return script(_SCRIPT, RUN=run, WAIT=wait, SECONDS=seconds, COMMAND=command)


class Heart:
    """Beats on every channel that it was given, until that is closed."""

    def __init__(self) -> None:
        self._channels: WeakSet[paramiko.Channel] = WeakSet()
        self._lock = threading.Lock()
        self._beating = False

    def keep(self, channel: paramiko.Channel) -> None:
        """From now on the other end hears that we live."""
        with self._lock:
            self._channels.add(channel)
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._beat, name="beats", daemon=True).start()

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_EVERY_S)  # wall time, on purpose: it is what a host measures, too
            with self._lock:
                living = [channel for channel in self._channels if not channel.closed]
                self._beating = bool(living)
            if not living:
                return
            for channel in living:
                with suppress(OSError, EOFError, paramiko.SSHException):
                    channel.sendall(b"\n")
