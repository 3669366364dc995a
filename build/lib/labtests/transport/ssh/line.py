"""An open SSH connection to a device, through every jump host on the way."""

import logging
import socket
from contextlib import suppress
from traceback import clear_frames

import paramiko

from labtests.core.errors import Unreachable
from labtests.inventory import Device
from labtests.transport.protocol import EMULATED
from labtests.transport.ssh.failures import CONNECTING_FAILURES, FailurePlace, explained
from labtests.transport.ssh.hop import Hop
from labtests.transport.ssh.route import hops_to
from labtests.transport.ssh.wire import Wire


class SshLine:
    """What `open_line` returns: open until `close`."""

    def __init__(self, device: Device, hops: tuple[Hop, ...]) -> None:
        self.device = device.name
        self._hops = hops
        wire = hops[-1].wire
        assert wire is not None  # they are open
        self.wire: Wire = wire
        """Its transport, also when it is over."""

    @property
    def client(self) -> paramiko.SSHClient:
        """The connection to the device itself."""
        return self._hops[-1].client

    @property
    def address(self) -> str:
        """host:port of the device."""
        return self._hops[-1].address

    @property
    def emulated(self) -> bool:
        """Whether the device says that it is an emulated one of a simulated lab."""
        return EMULATED in self.wire.remote_version

    def broken(self, command: str, why: object = "") -> Unreachable:
        """The error that says that this session is over."""
        told = self.wire.fault or str(why)
        reason = f": {told}" if told else ""
        return Unreachable(
            self.device,
            command,
            f"the SSH session with {self.address} broke{reason}",
            "is the device still up, or was sshd restarted? Run again when it answers",
        )

    def close(self) -> None:
        """Every connection of the way is closed, the device's first. Closing twice is allowed."""
        _close(self._hops)


def open_line(device: Device, first: socket.socket | OSError | None = None) -> SshLine:
    """Log in to the device, through the connection that was dialled, if one was. Raises Unreachable
    (HostKeyRefused, LoginRefused) with the remedy."""
    # paramiko logs what it also raises; without a handler Python would print that on stderr
    logger = logging.getLogger("paramiko")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    hops = _hops(device)
    for number, hop in enumerate(hops):
        through = hops[number - 1] if number else None
        place = FailurePlace(device.name, hop, last=hop is hops[-1], through=through)
        try:
            hop.open(None if number else first)
        except BaseException as error:
            told = explained(error, place) if isinstance(error, CONNECTING_FAILURES) else None
            _close(hops)
            _forget_locals(error)
            if told is None:
                raise
            raise told from error
    return SshLine(device, hops)


def _hops(device: Device) -> tuple[Hop, ...]:
    try:
        return hops_to(device)
    except (OSError, ValueError, RuntimeError, paramiko.SSHException) as error:
        raise Unreachable(
            device.name,
            f"ssh {device.management.host}",
            f"the way there cannot be worked out: {error}",
            "check host and jump in the testbed file, and ~/.ssh/config",
        ) from error


def _forget_locals(error: BaseException | None) -> None:
    """The frames that have failed forget their variables: paramiko has the password in some, in
    bytes of a packet, and a traceback that shows variables (`pytest -l`) would show it."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _close(hops: tuple[Hop, ...]) -> None:
    for hop in reversed(hops):
        with suppress(OSError, EOFError, paramiko.SSHException):
            hop.close()
