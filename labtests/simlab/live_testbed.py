"""A testbed file for a lab that is served now: the same lab, with the addresses it listens on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from labtests.core.errors import LabError
from labtests.core.private_files import write_private
from labtests.core.trusted_files import NotAFile, handed
from labtests.inventory.document import Readable, read_file
from labtests.inventory.precedence import setting
from labtests.simlab.folder import (
    CA,
    CERTIFICATE,
    KEY,
    KNOWN_HOSTS,
    LOOPBACK,
    PASSWORD_ENV,
    USER_KEY,
)
from labtests.simlab.keys import Address

_HEAD = "# Made by `labtests simlab serve`"
_ELSEWHERE = ("jump", "password_env", "ssh_config", "legacy_ssh")
"""How the real devices are reached, and these are not."""
_MOST_BYTES = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTestbed:
    """Where it is written, and of which file it is made. Raises LabError for a file that somebody
    else wrote, before anything is served."""

    source: Path
    target: Path

    def __post_init__(self) -> None:
        if not self._is_ours():
            raise LabError(
                f"{self.target} is there, and no served lab made it; it is not overwritten\n"
                "  remedy: another file for --write"
            )

    def _is_ours(self) -> bool:
        """Nothing is there, or what a lab that was served before has written. Others can have put a
        pipe there, or what never ends."""
        try:
            return handed(self.target, most_bytes=_MOST_BYTES).startswith(_HEAD.encode())
        except FileNotFoundError:
            return True
        except NotAFile:
            return False

    def write(
        self,
        addresses: Iterable[Address],
        directory: Path,
        password_env: str | None,
        telemetry: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Of what the source says all but how devices are reached, and their streams, whose ports
        `telemetry` has. Comments stay behind."""
        tree: Any = read_file(Readable(self.source)).tree
        tree.pop("linux_lab", None)  # these are no network namespaces
        for address in addresses:
            tree["devices"][address.name]["management"].update(
                dict.fromkeys(key for key in _ELSEWHERE if setting(tree, address.name, key))
                | ({"password_env": password_env} if password_env else {})
                | {
                    "host": address.host,
                    "port": address.port,
                    "user": address.user,
                    "key_file": str(directory / USER_KEY),
                    "known_hosts": str(directory / KNOWN_HOSTS),
                    "host_keys": "strict",
                    "ssh_config": False,
                }
            )
            if "telemetry" in (device := tree["devices"][address.name]):
                device["telemetry"] |= _stream(
                    device["telemetry"], directory, telemetry.get(address.name)
                ) | {"user": address.user, "password_env": password_env or PASSWORD_ENV}
        text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, default_flow_style=None)
        named = " ".join(str(self.source).split())  # of a comment, which is one line
        write_private(self.target, f"{_HEAD} from {named}: good while it serves.\n{text}")


def _stream(told: Mapping[str, Any], directory: Path, port: int | None) -> dict[str, Any]:
    """Where a stream is, and by which files: a gNMI server's port, or a free one of the
    collector's."""
    files = {"ca": CA, "certificate": CERTIFICATE, "key": KEY}
    tls = {key: str(directory / name) for key, name in files.items()}
    here = {"address": LOOPBACK, "port": port or 0}
    return here | ({"tls": tls} if told.get("tls") else {})
