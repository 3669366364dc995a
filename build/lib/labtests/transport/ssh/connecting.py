"""From a testbed's devices to open sessions, all at once, or one error that names every failure.

The hosts are dialled first (dialling.py); what logs in is loaded while they answer.
"""

import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from labtests.core.errors import LabError, LabErrors, Unreachable
from labtests.inventory import Device
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.dialling import dialled

if TYPE_CHECKING:
    from labtests.transport.ssh.line import SshLine

SHELL = "shell"
"""The session of a Linux host. Any other is a netmiko device type, such as "hp_comware"."""

AT_ONCE = 64  # devices that are logged in to, and later asked, side by side


_loading = threading.Lock()  # modules that import each other are best loaded by one thread


def connect(device: Device, session: str, *, clock: Clock, run: str = "") -> Transport:
    """An open session. `run` is the id that its processes carry.

    Raises Unreachable (HostKeyRefused, LoginRefused); nothing stays open then. That a host's shell
    can be used is seen by its first command (LoginUnusable)."""
    return _connect(device, lambda _: session, clock, run)


def connect_all(
    devices: Iterable[Device], session: Callable[[Device], str], *, clock: Clock, run: str = ""
) -> dict[str, Transport]:
    """Every device's session by name. `session` tells the kind of session that a device has.

    Raises LabErrors with every device that failed, after closing those that had been opened.
    """
    wanted = tuple(devices)
    if not wanted:
        return {}
    with ThreadPoolExecutor(max_workers=min(len(wanted), AT_ONCE)) as pool:
        attempts = {
            device.name: pool.submit(_connect, device, session, clock, run) for device in wanted
        }
        try:
            return _all_or_none(attempts)
        except BaseException:
            for attempt in attempts.values():
                attempt.cancel()
                attempt.add_done_callback(_close)
            raise


def _connect(device: Device, session: Callable[[Device], str], clock: Clock, run: str) -> Transport:
    first = dialled(device)
    try:
        with _loading:
            from labtests.transport.ssh.login import Owner, logged_in

            kind = session(device)
        dialect = None if kind == SHELL else kind
        return logged_in(device, dialect, Owner(clock, run), first)
    except BaseException as error:
        if isinstance(first, socket.socket):
            first.close()
        if isinstance(error, Exception) and not isinstance(error, LabError):
            raise _unforeseen(device, error) from error  # the others are used all the same
        raise


def _unforeseen(device: Device, error: Exception) -> Unreachable:
    return Unreachable(
        device.name,
        f"ssh {device.management.host}",
        f"it cannot be used: {type(error).__name__}: {error}",
        "log in by hand: does the device speak SSH as others do? If so, this is a defect of "
        "labtests",
    )


def lines_of(transports: Mapping[str, Transport]) -> "dict[str, SshLine]":
    """The SSH connection of each session that is one."""
    lines = ((name, getattr(transport, "line", None)) for name, transport in transports.items())
    return {name: line for name, line in lines if line is not None}


def emulated(transports: Mapping[str, Transport]) -> frozenset[str]:
    """The devices that are emulated, by their own account."""
    return frozenset(name for name, line in lines_of(transports).items() if line.emulated)


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
