"""From a testbed's devices to open sessions, all at once, or one error that names every failure."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from labtests.errors import LabError, LabErrors
from labtests.inventory import Device
from labtests.ssh.line import Line, open_line
from labtests.ssh.shell import ShellTransport
from labtests.transport import Clock, Transport

SHELL = "shell"
"""The session of a Linux host. Any other is a netmiko device type, such as "hp_comware"."""

AT_ONCE = 64  # devices that are logged in to, and later asked, side by side


def connect(device: Device, session: str, *, clock: Clock, run: str = "") -> Transport:
    """An open session. `run` is the id that its processes carry.

    Raises Unreachable (HostKeyRefused, LoginRefused); nothing stays open then. That a host's shell
    can be used is seen by its first command (LoginUnusable)."""
    line = open_line(device)
    try:
        return _session(line, device, session, Owner(clock, run))
    except BaseException:
        line.close()
        raise


def connect_all(
    devices: Iterable[Device], sessions: Mapping[str, str], *, clock: Clock, run: str = ""
) -> dict[str, Transport]:
    """Every device's session by name. `sessions` has the kind of session by device name.

    Raises LabErrors with every device that failed, after closing those that had been opened.
    """
    wanted = tuple(devices)
    if not wanted:
        return {}
    with ThreadPoolExecutor(max_workers=min(len(wanted), AT_ONCE)) as pool:
        attempts = {
            device.name: pool.submit(connect, device, sessions[device.name], clock=clock, run=run)
            for device in wanted
        }
        try:
            return _all_or_none(attempts)
        except BaseException:
            for attempt in attempts.values():
                attempt.cancel()
                attempt.add_done_callback(_close)
            raise


def emulated(transports: Mapping[str, Transport]) -> frozenset[str]:
    """The devices that are emulated, by their own account."""
    return frozenset(
        name
        for name, transport in transports.items()
        if isinstance(line := getattr(transport, "line", None), Line) and line.emulated
    )


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose session it is."""

    clock: Clock
    run: str


def _session(line: Line, device: Device, session: str, owner: Owner) -> Transport:
    if session != SHELL:
        from labtests.ssh.cli import CliTransport  # netmiko is large; a lab of hosts needs none

        return CliTransport(line, device_type=session, clock=owner.clock)
    become = device.management.become
    return ShellTransport(line, clock=owner.clock, become=become, run=owner.run)


def _all_or_none(attempts: Mapping[str, Future[Transport]]) -> dict[str, Transport]:
    opened: dict[str, Transport] = {}
    errors: list[LabError] = []
    for name, attempt in attempts.items():
        try:
            opened[name] = attempt.result()
        except LabError as error:
            errors.append(error)
    if errors:
        raise LabErrors(f"{len(errors)} of {len(attempts)} devices cannot be used", errors)
    return opened


def _close(attempt: Future[Transport]) -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()
