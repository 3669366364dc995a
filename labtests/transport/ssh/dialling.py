"""The TCP connection to a device, made before anything that is slow to load.

A host starts a process for a connection that comes in, and says hello: half of what a login costs
it. With many hosts that goes on while paramiko and the drivers are still being loaded here.
"""

import re
import socket

from labtests.inventory import Device
from labtests.transport.ssh.settings import settings_text

DIAL_WITHIN_S = 10

_CHANGES_THE_WAY = re.compile(
    r"^\s*(?:host(?:name)|port|proxy\w+|connecttimeout|addressfamily|bind\w+|match)\b",
    re.IGNORECASE,
)


def dialled(device: Device) -> socket.socket | OSError | None:
    """An open connection, or why there is none; None where the way is not plain: through a jump
    host, or when ssh_config may have another address, port or proxy for some host."""
    management = device.management
    if management.jump is not None:
        return None
    if any(_CHANGES_THE_WAY.match(line) for line in settings_text(management.ssh_config)):
        return None
    try:
        return socket.create_connection((management.host, management.port), DIAL_WITHIN_S)
    except OSError as error:
        return error
