"""The ways to devices that this user has gone before, because a testbed file that he named says so.

A file of the state folder, a digest a line: of a testbed file's path, and of how a device is
reached, as whom, with which secret by name. What a file leads to that was handed over is not among
them, and a person is asked.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, expect_owned, open_private, private_folder
from labtests.core.trusted_files import NotAFile, believed
from labtests.inventory import Device, Testbed, load
from labtests.journal.unfinished import state_folder

FILE_NAME = "known-ways"
_MOST_BYTES = 2**22


def strange(devices: Iterable[Device], file: str) -> list[Device]:
    """Those whose way is not known, and which no file says that was named before: this one, if it
    is such a file, of this user."""
    known = _known()
    said = {_digest(device) for device in _devices_of(file)} if _of_file(file) in known else set()
    return [device for device in devices if _digest(device) not in known | said]


def _devices_of(file: str) -> tuple[Device, ...]:
    try:
        expect_owned(Path(file))
        return load(file).devices
    except LabError:
        return ()


def remember(testbed: Testbed) -> None:
    """Its file and its ways are known from now on; where that cannot be written down, they stay
    strange."""
    ways = {_digest(device) for device in testbed.devices}
    new = sorted((ways | {_of_file(str(testbed.file.absolute()))}) - _known())
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


def _of_file(file: str) -> str:
    return sha256(f"file {file}".encode(errors="surrogatepass")).hexdigest()


def _digest(device: Device) -> str:
    way = [device.platform, asdict(device.management)]
    return sha256(json.dumps(way, sort_keys=True).encode()).hexdigest()
