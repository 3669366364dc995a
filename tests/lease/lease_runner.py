"""A runner that changes its lab again and again, until it has lost the lease: FOLDER BOX EXPIRY."""

import sys
from pathlib import Path

import leased_box

import labtests.lab.lab
import labtests.lease.holding as lease
from labtests.core.errors import LabErrors, LeaseLost
from labtests.inventory import LeasePlace
from labtests.lab.lab import Lab


def main(folder: str, box: str, expires_after_s: str) -> None:
    labtests.lab.lab.driver_module = lambda platform: leased_box.PLATFORM
    lease.driver_module = lambda platform: leased_box.PLATFORM
    place = LeasePlace(path=folder, expires_after_s=float(expires_after_s), by_default=False)
    lab = leased_box.toy_lab(leased_box.Box(Path(box), "first"), place)
    try:
        with lab, lease.holding(lab, why="to be frozen"):
            change_again_and_again(lab)
    except LabErrors as errors:
        say("not put back:", errors)
    say(len(lab.ahead.entries), "left")


def change_again_and_again(lab: Lab) -> None:
    try:
        for level in range(1, 100_000):
            lab.change(leased_box.PORT, leased_box.LEVEL, level)
            say("changed")
    except LeaseLost as error:
        say("stopped:", error)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
