"""The ways to devices that this user has gone before, because a testbed file that he named says so.

A file of the state folder, a digest a line: of how a device is reached, as whom, with which secret
by name. What a file leads to that was handed over is not among them, and a person is asked.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256

from labtests.handed import NotAFile, believed
from labtests.inventory import Device
from labtests.journal.unfinished import state_folder
from labtests.private import NotPrivate, open_private, private_folder

FILE_NAME = "known-ways"
_MOST_BYTES = 2**22


def strange(devices: Iterable[Device]) -> list[Device]:
    """Those whose way is not known."""
    known = _known()
    return [device for device in devices if _digest(device) not in known]


def remember(devices: Iterable[Device]) -> None:
    """Their ways are known from now on; where that cannot be written down, they stay strange."""
    new = sorted({_digest(device) for device in devices} - _known())
    if not new:
        return
    try:
        private_folder(state_folder())
        file = open_private(state_folder() / FILE_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except (OSError, NotPrivate):
        return
    with os.fdopen(file, "w") as lines:
        lines.write("".join(f"{digest}\n" for digest in new))


def _known() -> frozenset[str]:
    try:
        text = believed(state_folder() / FILE_NAME, most_bytes=_MOST_BYTES)
    except (OSError, NotPrivate, NotAFile):
        return frozenset()
    return frozenset(text.decode("ascii", errors="replace").split())


def _digest(device: Device) -> str:
    way = [device.platform, asdict(device.management)]
    return sha256(json.dumps(way, sort_keys=True).encode()).hexdigest()
