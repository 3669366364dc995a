"""A runner on another machine: it wants the lab of a runner that is frozen, and wakes it.

    python other_runner.py '{"frozen": PID, "lab": FOLDER, "evidence": FILE}'

It waits until the process stands still, takes the lab when the lease has run out, changes it, and
lets the other one go on in the middle of that. Prints the run's output, and its exit code last.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recovery_lab import QUICK_START

STOPS_WITHIN_S = 10.0
TAKES_WITHIN_S = 60.0
AT_LINE = 4  # of the other runner's journal: one change is made, a second one is announced


def state_of(pid: int) -> str:
    """The letter that proc(5) has for it: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def main() -> int:
    """Wait, run, and say how it went."""
    asked = json.loads(sys.argv[1])
    try:
        return take_over(asked)
    finally:  # nobody stays frozen, whatever happened here
        with suppress(ProcessLookupError):
            os.kill(asked["frozen"], signal.SIGCONT)


def take_over(asked: dict[str, Any]) -> int:
    """The lab is ours for a while."""
    until_s = time.monotonic() + STOPS_WITHIN_S
    while state_of(asked["frozen"]) != "T":
        if time.monotonic() > until_s:
            print("it was never frozen")  # noqa: T201
            return 1
        time.sleep(0.01)
    with Path(asked["evidence"]).open("a") as told:
        told.write("stopped: T\n")
    doing = {"kind": "thaw", "step": AT_LINE, "how": "before", "filler": ""}
    doing |= {"lab": asked["lab"], "evidence": asked["evidence"], "other": asked["frozen"]}
    elsewhere = {"XDG_STATE_HOME": str(Path("elsewhere").absolute()), "BREAK": json.dumps(doing)}
    # what the frozen one has left running is no secret, and no obstacle here
    argv = [sys.executable, "-m", "pytest", "test_other.py", "-q", *QUICK_START, "-p", "sabotage"]
    argv += ["--testbed=served.yaml", "--run-dir=other-" + str(asked["frozen"])]
    argv += ["--tolerate=leftovers", "--wait-for-lease=0.3"]
    done = subprocess.run(argv, env=os.environ | elsewhere, timeout=TAKES_WITHIN_S)
    print(f"exit {done.returncode}", flush=True)  # noqa: T201
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
