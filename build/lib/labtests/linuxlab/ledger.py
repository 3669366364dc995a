"""What a lab has made, written down before it is made, so that another process can remove it."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from ipaddress import IPv4Network
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.private_files import private_folder, write_private
from labtests.core.trusted_files import NotAFile, believed, json_of
from labtests.inventory import LINUX_LAB_FOLDER
from labtests.journal.runner import boot_id
from labtests.linuxlab.plan import PREFIX, LinuxLabPlan, folder_of, network_of, runner_interface

_MOST_BYTES = 2**24
_WIDEST = 8  # bits of a management network's prefix
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(slots=True, kw_only=True)
class Ledger:
    """The notes of one lab.

    `runners` are the processes that hold the boxes, as (pid, start time in clock ticks);
    `network` is kept from other users (strangers.py);
    `queues` is what tc printed of a port, by Device:interface, when it had been made.
    """

    name: str
    digest: str
    boot: str = ""
    namespaces: list[str] = field(default_factory=list)
    interface: str = ""
    network: str = ""
    runners: dict[str, tuple[int, int]] = field(default_factory=dict)
    queues: dict[str, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    complete: bool = False

    def write(self) -> None:
        """It is on the disk, whole."""
        folder = folder_of(self.name)
        private_folder(folder)
        fresh = folder / "ledger.new"
        write_private(fresh, json.dumps(asdict(self), indent=1))
        fresh.replace(folder / "ledger.json")


def opened(plan: LinuxLabPlan) -> Ledger:
    """The notes of a lab that is about to be made."""
    return Ledger(
        name=plan.name,
        digest=plan.digest,
        boot=boot_id(),
        namespaces=list(plan.namespaces),
        interface=plan.runner_interface,
        network=str(network_of(plan.lab.runner_address, plan.lab.prefix_length)),
    )


def ledger_of(name: str) -> Ledger | None:
    """The notes of this lab; None when nothing of it was made. Raises LabError when they cannot be
    read."""
    if not _NAME.fullmatch(name):  # such as `..`
        return None
    file = folder_of(name) / "ledger.json"
    if not file.is_file():
        return None
    try:
        read = json_of(believed(file, most_bytes=_MOST_BYTES), most_parts=None)
        ledger = _sound(Ledger(**read), name)
        ledger.runners = {
            box: (int(pid), int(start)) for box, (pid, start) in read["runners"].items()
        }
    except (
        OSError,
        ArithmeticError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        NotAFile,
    ) as error:
        raise LabError(
            f"{file}: cannot be read ({error}), so what lab {name} created is unknown\n"
            f"  remedy: end its processes and `ip netns del` its namespaces (ip netns list), then "
            f"remove {file.parent}"
        ) from None
    return ledger


def _sound(ledger: Ledger, name: str) -> Ledger:
    """What it names is what such a lab can have made: folders and namespaces are removed by these
    names. Raises ValueError."""
    kinds = {dict: (ledger.queues, ledger.runners), list: (ledger.namespaces, ledger.lacking)}
    whole = all(type(each) is kind for kind, parts in kinds.items() for each in parts)
    if ledger.name != name or not whole or type(ledger.network) is not str:
        raise ValueError("it is not this lab's")
    if ledger.interface not in ("", runner_interface(name)):
        raise ValueError("it names a link that is not this lab's")
    network = IPv4Network(ledger.network or "127.0.0.0/8")
    if ledger.network not in ("", str(network)) or network.prefixlen < _WIDEST:
        raise ValueError("it names a network that no lab can have")
    if not all(_NAME.fullmatch(box) for box in ledger.runners):
        raise ValueError("it names a process that keeps no device up")
    if not all(_is_of(name, each) for each in ledger.namespaces):
        raise ValueError("it names a namespace that is not this lab's")
    return ledger


def _is_of(name: str, namespace: object) -> bool:
    """The lab's own namespace, or that of one of its devices (plan.py)."""
    own = PREFIX + name
    if not isinstance(namespace, str):
        return False
    device = namespace.removeprefix(f"{own}:")
    return namespace == own or (device != namespace and _NAME.fullmatch(device) is not None)


def forget(name: str) -> None:
    """The lab's folder is gone."""
    shutil.rmtree(folder_of(name), ignore_errors=True)


@contextmanager
def locked() -> Iterator[None]:
    """Nobody else on this machine makes or removes a lab meanwhile. Waits for whoever does, and
    for programs that somebody who was killed has left running: they inherit the lock."""
    descriptor = _lock()
    try:
        yield
    finally:
        for folder in (Path(LINUX_LAB_FOLDER), Path(LINUX_LAB_FOLDER).parent):
            with suppress(OSError):
                folder.rmdir()  # only when no lab has anything in it
        os.close(descriptor)


def _lock() -> int:
    folder = Path(LINUX_LAB_FOLDER)
    while True:
        try:
            private_folder(folder)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # whoever was here before has taken it along
            continue
        os.set_inheritable(descriptor, True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _same(descriptor, folder):
            return descriptor
        os.close(descriptor)


def _same(descriptor: int, folder: Path) -> bool:
    """Whether the folder that is locked is the one that others will lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False
