"""A session on a connection that was dialled: logged in, of the kind that the device speaks."""

import socket
from dataclasses import dataclass

from labtests.inventory import Device
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.line import SshLine, open_line
from labtests.transport.ssh.shell import ShellTransport


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose session it is."""

    clock: Clock
    run: str


def logged_in(
    device: Device, dialect: str | None, owner: Owner, first: socket.socket | OSError | None
) -> Transport:
    """See connecting.connect. `dialect` is netmiko's type of the device; None: it has a shell.
    `first` is what dialling the device came to."""
    line = open_line(device, first)
    try:
        return _session(line, device, dialect, owner)
    except BaseException:
        line.close()
        raise


def _session(line: SshLine, device: Device, dialect: str | None, owner: Owner) -> Transport:
    if dialect is not None:
        from labtests.transport.ssh.cli import (
            CliTransport,  # netmiko is large; a lab of hosts needs none
        )

        return CliTransport(line, device_type=dialect, clock=owner.clock)
    become = device.management.become
    return ShellTransport(line, clock=owner.clock, become=become, run=owner.run)
