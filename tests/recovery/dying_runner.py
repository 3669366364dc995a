"""A run that kills itself at one of its journal's writes.

    python dying_runner.py TESTBED FOLDER N HOW

HOW is "before" (nothing of the line is written), "torn" (half of it) or "after". N = 0 lives.
"""

import os
import signal
import sys
from pathlib import Path

from labtests.clock import WallClock
from labtests.inventory import load
from labtests.journal import Begun, ChangeJournal, Journal, Redaction, this_runner
from labtests.journal.pages import Pages
from labtests.lab import Lab
from labtests.records import PfcSetting, TrustSetting
from labtests.recovery import claim


def die_at(number: int, how: str) -> None:
    """The write of this number is the last thing that happens."""
    write, left = Pages.write, [number]

    def counted(self: Pages, line: dict[str, object]) -> None:
        left[0] -= 1
        if left[0]:
            write(self, line)
            return
        if how == "after":
            write(self, line)
        elif how == "torn":
            os.write(self._file, b'{"kind": "change", "number": 9')
        os.kill(os.getpid(), signal.SIGKILL)

    Pages.write = counted  # type: ignore[method-assign,assignment]


def experiment(lab: Lab) -> None:
    """Something on every kind of device, one setting twice, and traffic tools that run."""
    (sender, receiver), (out,) = lab.testbed.roles["senders"], lab.testbed.roles["receiver"]
    switch_port = lab.testbed.peer(out)
    assert switch_port is not None
    ecn = lab.driver(switch_port.device, object).ecn_on({2, 3})  # type: ignore[attr-defined]
    server = lab.transports[out.device].start("iperf3 -s -p 5333", limit_s=600)
    with lab.restoring():
        lab.change(sender, "trust", TrustSetting(source="dscp"))
        lab.change(switch_port, "pfc", PfcSetting(mode="on", priorities=frozenset({3})))
        lab.change(switch_port, "ecn", ecn)
        lab.change(switch_port, "pfc", PfcSetting(mode="auto", priorities=frozenset({3, 4})))
        lab.change(receiver, "reaction_point", frozenset({1, 2}))
        lab.change(sender, "pfc", PfcSetting(mode="on", priorities=frozenset({5})))
    server.close()


def main(testbed_file: str, folder: str, number: str, how: str) -> None:
    testbed, place = load(Path(testbed_file)), Path(folder)
    place.mkdir(mode=0o700)
    if int(number):
        die_at(int(number), how)
    with Journal(place / "journal.jsonl") as transcript:
        lab = Lab.open(
            testbed, clock=WallClock(), backend="hardware", journal=transcript, run=place.name
        )
        begun = Begun(
            run=place.name,
            runner=this_runner(),
            testbed=testbed.name,
            file=testbed_file,
            backend=lab.backend,
            dry_run=False,
            devices=testbed.devices,
        )
        lab.ahead = ChangeJournal.begin(place / "changes.jsonl", begun, Redaction())
        claim(lab.ahead, begun)
        with lab:
            experiment(lab)


if __name__ == "__main__":
    main(*sys.argv[1:])
