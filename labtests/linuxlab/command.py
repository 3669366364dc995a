"""What `labtests linuxlab up | down | status` do."""

import time
from collections.abc import Callable

from labtests.core.signals import as_ctrl_c
from labtests.inventory import Testbed
from labtests.journal.runner import boot_id
from labtests.linuxlab.inspection import box_findings, network_findings, sshd_finding
from labtests.linuxlab.ledger import Ledger, ledger_of, locked
from labtests.linuxlab.making import up as make
from labtests.linuxlab.moot import drop_moot
from labtests.linuxlab.plan import Box, LinuxLabPlan, planned
from labtests.linuxlab.programs import expect_able
from labtests.linuxlab.removing import remove

NOT_USABLE = 10
Say = Callable[[str], None]


def up(testbed: Testbed, say: Say) -> None:
    """The lab is there; how to use it is said. Raises LabError, and then nothing of it is left."""
    plan = planned(testbed)
    expect_able()
    since = time.monotonic()
    with as_ctrl_c(), locked():
        make(plan, say)
        ledger = ledger_of(plan.name)
    assert ledger is not None
    for box in plan.boxes:
        say(_line(box))
    _say_lacking(ledger, say)
    say(f"{plan.name} is up ({time.monotonic() - since:.1f} s)")
    say(f"log in: ssh -F {plan.folder}/ssh_config {plan.boxes[0].name}")
    say(f"use it: pytest suites --testbed {plan.file}")


def down(name: str, say: Say) -> None:
    """Nothing of the lab is left. Raises LabError with what is."""
    expect_able()
    with as_ctrl_c(), locked():
        ledger = ledger_of(name)
        if ledger is not None:
            remove(ledger)
            drop_moot(ledger, say)
    say(f"{name} is down" if ledger else f"{name} is not up: nothing to remove")


def status(testbed: Testbed, say: Say) -> int:
    """Each device's state is said. Returns 0, or 10 when something is not as it should be."""
    plan = planned(testbed)
    expect_able()
    ledger = ledger_of(plan.name)
    if ledger is None or ledger.boot != boot_id():
        say(f"{plan.name} is not up")
        return NOT_USABLE
    wrong = _whole(plan, ledger)
    for box in plan.boxes:
        problems = [finding.problem for finding in box_findings(plan, ledger, box)]
        answer = sshd_finding(ledger, box)
        problems += [answer.problem] if answer is not None else []
        say(f"{box.name}: WRONG: {'; '.join(problems)}" if problems else _line(box))
        wrong += problems
    _say_lacking(ledger, say)
    if wrong:
        say(f"{plan.name} is not as it should be: `labtests linuxlab up {plan.file}` repairs it")
        for problem in _whole(plan, ledger):
            say(f"  {problem}")
    return NOT_USABLE if wrong else 0


def _whole(plan: LinuxLabPlan, ledger: Ledger) -> list[str]:
    """What is wrong with the lab as a whole."""
    names = {box.name for box in plan.boxes}
    problems = [str(f) for f in network_findings(plan, ledger) if f.device not in names]
    if ledger.digest != plan.digest:
        problems.append("the file has changed since the lab was made")
    return problems + ([] if ledger.complete else ["its last `up` was interrupted"])


def _line(box: Box) -> str:
    rates = ", ".join(
        f"{port.interface} {port.rate_bits_per_s / 1e6:g} Mbit/s" for port in box.ports
    )
    kind = "switch, 8 queues a port" if box.switch else "host"
    return f"{box.name}: ok ({kind}; {box.namespace}; sshd {box.spoken}; {rates})"


def _say_lacking(ledger: Ledger, say: Say) -> None:
    for sentence in ledger.lacking:
        say(f"this machine: {sentence}")
