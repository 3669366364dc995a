"""Keys, password and OpenSSH files of a simulated lab: good for that lab only.

Made at start, unless its folder has the keys of an earlier start: then clients still know the lab.
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from labtests.core.errors import LabError
from labtests.core.private_files import open_private, write_private
from labtests.simlab.folder import KNOWN_HOSTS, LOOPBACK, USER_KEY

_MOST_BYTES = 16384
_ALGORITHM = "ssh-ed25519"
_COMMENT = "labtests-simlab"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where one emulated device listens, and as whom to log in."""

    name: str
    port: int
    user: str
    host: str = LOOPBACK


class Keyring:
    """One key pair for the user, one host key per device, one password, in a private folder.

    Raises LabError for a key that cannot be read, and for files there that no lab made."""

    def __init__(
        self, devices: Iterable[str], directory: Path, *, password: str | None = None
    ) -> None:
        _refuse_foreign(directory)
        self._directory = directory
        self.password = password or secrets.token_urlsafe(12)
        self.user_key = _kept(directory / USER_KEY) or asyncssh.generate_private_key(
            _ALGORITHM, comment=_COMMENT
        )
        self.host_keys = {
            name: _kept(self._host_key(name)) or asyncssh.generate_private_key(_ALGORITHM)
            for name in devices
        }

    def _host_key(self, name: str) -> Path:
        return self._directory / f"host_key.{name}"

    def write(self, addresses: Iterable[Address]) -> None:
        """`id_ed25519`, `id_ed25519.pub`, `known_hosts` and `ssh_config` are in the directory, for
        `ssh -F ssh_config <device>` and for every client that reads such files; and the devices'
        own keys, for the next start."""
        directory, key_file = self._directory, self._directory / USER_KEY
        write_private(key_file, self.user_key.export_private_key().decode("ascii"))
        write_private(Path(f"{key_file}.pub"), self.user_key.export_public_key().decode("ascii"))
        for name, key in self.host_keys.items():
            write_private(self._host_key(name), key.export_private_key().decode("ascii"))
        addresses = tuple(addresses)
        known = "".join(f"[{a.host}]:{a.port} {self._public(a.name)}\n" for a in addresses)
        write_private(directory / KNOWN_HOSTS, known)
        write_private(directory / "ssh_config", "".join(_block(directory, a) for a in addresses))

    def _public(self, name: str) -> str:
        words = self.host_keys[name].export_public_key().decode("ascii").split()
        return " ".join(words[:2])


def _kept(file: Path) -> asyncssh.SSHKey | None:
    """The key of an earlier start."""
    try:
        descriptor = open_private(file, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        try:
            return asyncssh.import_private_key(opened.read(_MOST_BYTES))
        except asyncssh.KeyImportError as error:
            raise LabError(
                f"{file} is no key that can be read: {error}\n  remedy: remove it"
            ) from error


def _refuse_foreign(directory: Path) -> None:
    """A folder with somebody's own files, such as ~/.ssh, is not written into."""
    public = directory / f"{USER_KEY}.pub"
    if public.exists() and _COMMENT in public.read_text():
        return
    for file in (directory / USER_KEY, directory / KNOWN_HOSTS, directory / "ssh_config"):
        if file.exists():
            raise LabError(
                f"{file} is a file that no simulated lab made; it is not overwritten\n"
                "  remedy: give another --directory, or none"
            )


def _block(directory: Path, address: Address) -> str:
    return (
        f"Host {address.name}\n"
        f"  HostName {address.host}\n"
        f"  Port {address.port}\n"
        f"  User {address.user}\n"
        f'  IdentityFile "{directory}/{USER_KEY}"\n'
        "  IdentitiesOnly yes\n"
        f'  UserKnownHostsFile "{directory}/{KNOWN_HOSTS}"\n'
        "  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n"
        "  ServerAliveInterval 0\n\n"
    )
