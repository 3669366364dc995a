"""Keys, password and OpenSSH files of a simulated lab: made at start, good for that lab only."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from labtests.core.errors import LabError
from labtests.core.private_files import write_private

LOOPBACK = "127.0.0.1"
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
    """One key pair for the user, one host key per device, one password."""

    def __init__(self, devices: Iterable[str]) -> None:
        self.password = secrets.token_urlsafe(12)
        self.user_key = asyncssh.generate_private_key(_ALGORITHM, comment=_COMMENT)
        self.host_keys = {name: asyncssh.generate_private_key(_ALGORITHM) for name in devices}

    def write(self, directory: Path, addresses: Iterable[Address]) -> None:
        """`id_ed25519`, `id_ed25519.pub`, `known_hosts` and `ssh_config` are in the directory, for
        `ssh -F ssh_config <device>` and for every client that reads such files."""
        key_file = directory / "id_ed25519"
        _refuse_foreign(directory)
        write_private(key_file, self.user_key.export_private_key().decode("ascii"))
        write_private(Path(f"{key_file}.pub"), self.user_key.export_public_key().decode("ascii"))
        addresses = tuple(addresses)
        known = "".join(f"[{a.host}]:{a.port} {self._public(a.name)}\n" for a in addresses)
        write_private(directory / "known_hosts", known)
        write_private(directory / "ssh_config", "".join(_block(directory, a) for a in addresses))

    def _public(self, name: str) -> str:
        words = self.host_keys[name].export_public_key().decode("ascii").split()
        return " ".join(words[:2])


def _refuse_foreign(directory: Path) -> None:
    """A folder with somebody's own files, such as ~/.ssh, is not written into."""
    public = directory / "id_ed25519.pub"
    if public.exists() and _COMMENT in public.read_text():
        return
    for file in (directory / "id_ed25519", directory / "known_hosts", directory / "ssh_config"):
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
        f'  IdentityFile "{directory}/id_ed25519"\n'
        "  IdentitiesOnly yes\n"
        f'  UserKnownHostsFile "{directory}/known_hosts"\n'
        "  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n"
        "  ServerAliveInterval 0\n\n"
    )
