"""The ways to devices that this user has gone before, because a testbed file that he named says so.

A file of the state folder, a digest a line: of a testbed file's path, of how a device is reached,
as whom, with which secret by name, and of the lease under which it was changed. What a file leads
to that was handed over is not among them, and a person is asked.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, open_private, private_folder
from labtests.core.trusted_files import NotAFile, believed, owned
from labtests.inventory import Device, LeasePlace, Readable, Testbed, load
from labtests.journal.unfinished import state_folder

FILE_NAME = "known-ways"
_MOST_BYTES = 2**22


def strange(devices: Iterable[Device], file: str) -> list[Device]:
    """Those whose way is not known, and which no file says that was named before: this one, if it
    is such a file, of this user."""
    said = named_before(file)
    known = _known() | {_digest(device) for device in (said.devices if said else ())}
    return [device for device in devices if _digest(device) not in known]


def is_strange_lease(
    devices: Iterable[Device], lease: LeasePlace | None, on: Device | None
) -> bool:
    """Whether one of these devices was never changed under this lease, kept `on` that host."""
    known = _known()
    return any(_of_lease(device, lease, on) not in known for device in devices)


def named_before(file: str) -> Testbed | None:
    """What this testbed file says, if this user has named it before, and no other can write it."""
    if _of_file(file) not in _known():
        return None
    try:
        return load(Readable(Path(file), owned))
    except LabError:
        return None


def whole_before(file: str, devices: Iterable[Device], lease: LeasePlace | None) -> Testbed | None:
    """The testbed of a run that had some of its devices, if this user has named that file before
    and it says the same of them: its lease is kept where that of the whole is."""
    said = named_before(file)
    same = said is not None and said.lease == lease and all(d in said.devices for d in devices)
    return said if same else None


def remember(testbed: Testbed) -> None:
    """Its file and its ways are known from now on; where that cannot be written down, they stay
    strange."""
    ways = {_digest(device) for device in testbed.devices}
    _write(ways | {_of_file(str(testbed.file.absolute()))})


def remember_lease(testbed: Testbed, on: Device | None) -> None:
    """The same of the lease under which its devices are changed, kept `on` that host."""
    _write({_of_lease(device, testbed.lease, on) for device in testbed.devices})


def _write(digests: set[str]) -> None:
    new = sorted(digests - _known())
    if not new:
        return
    try:
        private_folder(state_folder())
        file = open_private(state_folder() / FILE_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except (OSError, NotPrivate):
        return
    with suppress(OSError), os.fdopen(file, "w") as lines:  # such as a full disk
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


def _of_lease(device: Device, lease: LeasePlace | None, on: Device | None) -> str:
    kept = None if lease is None or on is None else [lease.path, _digest(on)]
    return sha256(json.dumps(["lease", _digest(device), kept]).encode()).hexdigest()
