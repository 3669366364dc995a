"""The TCP connection to a device, made before anything that is slow to load.

A host starts a process for a connection that comes in, and says hello: half of what a login costs
it. With many hosts that goes on while paramiko and the drivers are still being loaded here.
"""

import socket

from labtests.core.errors import LabError
from labtests.inventory import Device
from labtests.transport.ssh.settings import SshSettings, settings_of

DIAL_WITHIN_S = 10
_CHANGES_THE_WAY = ("proxyjump", "proxycommand", "connecttimeout", "bindaddress", "bindinterface")


def dialled(device: Device) -> socket.socket | OSError | None:
    """An open connection, or why there is none; None where the way is not plain: through a jump
    host, or where ssh_config has another address, port or proxy for it."""
    management = device.management
    if management.jump is not None:
        return None
    host, port = management.host, management.port
    try:
        configured = settings_of(
            host, management.user, None if port == 22 else port, honoured=management.ssh_config
        )
        if not _is_plain(configured, host, port):
            return None
    except (LabError, ValueError):
        return None  # whoever looks for the way will say it
    try:
        return socket.create_connection((host, port), DIAL_WITHIN_S)
    except OSError as error:
        return error


def _is_plain(configured: SshSettings, host: str, port: int) -> bool:
    told = configured.values
    return (
        not any(configured.get(option) for option in _CHANGES_THE_WAY)
        and told.get("hostname", host) == host
        and int(told.get("port", port)) == port
        and told.get("addressfamily", "any") == "any"
    )
