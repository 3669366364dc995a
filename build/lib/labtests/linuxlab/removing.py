"""Taking a lab down: its processes, its namespaces, its one link on the machine, its folder."""

import time
from collections.abc import Callable

from labtests.core.errors import LabError
from labtests.journal.runner import boot_id
from labtests.linuxlab.inspection import exists, interfaces
from labtests.linuxlab.keys import box_folder_of
from labtests.linuxlab.ledger import Ledger, forget
from labtests.linuxlab.processes import end_all
from labtests.linuxlab.programs import MACHINE, run
from labtests.linuxlab.strangers import let_in

GONE_WITHIN_S = 5.0


def remove(ledger: Ledger) -> None:
    """Nothing of the lab is left. Raises LabError with what is."""
    if ledger.boot == boot_id():  # after a reboot, only its folder is left of it
        problems = _take_apart(ledger)
        if problems:
            raise LabError(
                f"lab {ledger.name} is not completely removed: {'; '.join(problems)}\n"
                "  remedy: find what holds it (ip netns pids NAMESPACE), then run down again"
            )
    forget(ledger.name)


def _take_apart(ledger: Ledger) -> list[str]:
    runners = {box_folder_of(ledger.name, box): each for box, each in ledger.runners.items()}
    left = end_all(ledger.namespaces, runners)
    problems = [f"process {pid} does not end" for pid in sorted(left)]
    steps: list[tuple[list[str], Callable[[str], bool]]] = [
        (["ip", "link", "del", "dev", ledger.interface], _has_link),
        *((["ip", "netns", "del", name], exists) for name in ledger.namespaces),
    ]
    for words, there in steps:
        if not there(words[-1]):
            continue
        try:
            run(words, device=MACHINE)
        except LabError as error:
            if there(words[-1]):
                problems.append(str(error))
    let_in(ledger.network)
    if not problems and not _gone(ledger.interface):
        problems.append(f"link {ledger.interface} is still there")
    return problems


def _has_link(name: str) -> bool:
    return name in interfaces("", MACHINE)


def _gone(interface: str) -> bool:
    """The kernel removes what was in a namespace a little later."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while _has_link(interface):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
