"""A lab that is open for one command of the command line: sessions, transcript, signals.

The only place where a command opens a lab. For changes opening.py adds the run folder, the lease
and the change journal; suites have the same by pytest_plugin/run.py.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labtests.core.clock import WallClock
from labtests.core.errors import WrongOption
from labtests.core.output import excerpt, tell
from labtests.core.redaction import redacted_logs
from labtests.core.seeds import SEED_UNLESS_ASKED
from labtests.core.signals import as_ctrl_c
from labtests.drivers import driver_module
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.transport.protocol import Clock
from labtests.transport.ssh.passwords import names_of_passwords, passwords_of
from labtests.transport.transcript import Transcript

if TYPE_CHECKING:
    from labtests.simlab.control import LabProcess

FAULTS_GUIDE = "docs/simulated-lab.md"
_FAULT_NAME = re.compile(r"[a-z][a-z0-9.]*(-[a-z0-9.]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Which lab, and how. `limit`: these devices only; none: all. With `dry_run` a simulated lab,
    in which `faults` (JSON, docs/simulated-lab.md) are wrong. What is said goes to `transcript`, or
    is not kept. `run` marks processes that are started."""

    testbed: Testbed
    limit: tuple[str, ...] = ()
    dry_run: bool = False
    faults: Sequence[str] = ()
    seed: int | None = None
    transcript: Path | None = None
    run: str = ""


@contextmanager
def opened(asked: Access) -> Iterator[Lab]:
    """The lab, closed at the end, also after Ctrl-C, SIGTERM and SIGHUP. No log record shows a
    password meanwhile. Raises LabError, LabErrors with every device that cannot be reached."""
    expect_dry(asked.dry_run, faults=asked.faults, seed=asked.seed)
    with ExitStack() as stack:
        stack.enter_context(as_ctrl_c())
        transcript = stack.enter_context(_transcript(asked, stack))
        stack.enter_context(redacted_logs(transcript.redaction))
        testbed, clock = _reached(asked, stack)
        yield stack.enter_context(
            Lab.open(
                limited(testbed, asked.limit),
                clock=clock,
                backend="simulated" if asked.dry_run else "hardware",
                transcript=transcript,
                run=asked.run,
            )
        )


def expect_dry(dry_run: bool, *, faults: Sequence[str] = (), seed: int | None = None) -> None:
    """Nobody believes that a lab of real devices has such a fault or seed. Raises WrongOption."""
    for option, given in (("--fault", bool(faults)), ("--seed", seed is not None)):
        if given and not dry_run:
            raise WrongOption(f"{option} is for a simulated lab: give --dry-run too")


def limited(testbed: Testbed, limit: tuple[str, ...]) -> Testbed:
    """The testbed with these devices only. Raises NotInTestbed for a name that it does not have."""
    chosen = {testbed.device(name).name for name in limit}
    if not limit:
        return testbed
    return replace(testbed, devices=tuple(d for d in testbed.devices if d.name in chosen))


def _transcript(asked: Access, stack: ExitStack) -> Transcript:
    """A dry run logs in nowhere: nobody is asked for a password then."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="labtests-"))
    known = () if asked.dry_run else passwords_of(asked.testbed.devices)
    return Transcript(asked.transcript or Path(folder) / "journal.jsonl", secrets=known)


def _reached(asked: Access, stack: ExitStack) -> tuple[Testbed, Clock]:
    if not asked.dry_run:
        return asked.testbed, WallClock()
    seed = SEED_UNLESS_ASKED if asked.seed is None else asked.seed
    faults = faults_of(asked.testbed, asked.faults)
    process = stack.enter_context(simulation(asked.testbed, seed=seed, faults=faults))
    return process.reroute(asked.testbed), process.clock


def simulation(
    testbed: Testbed,
    *,
    seed: int,
    faults: Sequence[Mapping[str, Any]],
    tell: Callable[[str], object] = tell,
) -> "LabProcess":
    """A simulated lab made from the testbed, in a process of its own, in which these are wrong;
    `tell` hears what is waited for. Raises LabError."""
    from labtests.simlab.control import LabProcess  # only a dry run needs the simulator

    without = names_of_passwords(testbed.devices)
    process = LabProcess(testbed.file, seed=seed, without=without, tell=tell)
    try:
        for fault in faults:
            _suffer(process, fault)
    except BaseException:
        process.close()
        raise
    return process


def _suffer(process: "LabProcess", fault: Mapping[str, Any]) -> None:
    """Some values only the lab itself can judge."""
    from labtests.simlab.control import RequestRefused

    try:
        process.fault(**fault)
    except RequestRefused as error:
        raise WrongOption(f"--fault: {error}\n  remedy: see {FAULTS_GUIDE}") from error


def faults_of(testbed: Testbed, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The faults that `--fault` asks for. Raises WrongOption for what this testbed cannot have."""
    return [_fault(testbed, text) for text in texts]


def _fault(testbed: Testbed, text: str) -> dict[str, Any]:
    from labtests.simlab.fault_forms import mistake_in

    try:
        fault = json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = (
            f"\n  remedy: the fault {text} of docs/faults.md is run by: labtests faults run {text}"
            if _FAULT_NAME.fullmatch(text)
            else f"\n  remedy: see {FAULTS_GUIDE}"
        )
        raise WrongOption(
            f"--fault {excerpt(text, 200)}: give a JSON object ({error}){hint}"
        ) from error
    if not isinstance(fault, dict):
        raise WrongOption(f"--fault {text}: give a JSON object ({FAULTS_GUIDE})")
    kinds = {device.name: driver_module(device.platform).KIND for device in testbed.devices}
    if mistake := mistake_in(fault, kinds) or _no_such_port(testbed, fault):
        raise WrongOption(f"--fault: {mistake}\n  remedy: see {FAULTS_GUIDE}")
    return fault


def _no_such_port(testbed: Testbed, fault: dict[str, Any]) -> str:
    """A counter of no port has port ""."""
    ports = [port.interface for port in testbed.device(fault["device"]).ports]
    if fault.get("port", "") in ("", *ports):
        return ""
    return f"{fault['device']} has no port {fault['port']!r} (one of {', '.join(ports)})"
