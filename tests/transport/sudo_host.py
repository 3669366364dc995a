"""A host where one logs in as an ordinary user and real sudo gives the rights.

A real sshd in a mount namespace of its own, in which /etc/passwd, /etc/shadow and /etc/sudoers are
ours. Nothing of the machine is changed, and nothing can stay behind: the mounts end with sshd.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sshd_server import SSHD, Sshd, end_sshd, start_sshd

from labtests.inventory import Device

USER = "ops"
USER_ID = 65111
ALL = f"{USER} ALL=(ALL) NOPASSWD: ALL"
HOME = (
    "/mnt/home"  # /mnt is a tmpfs of the namespace: the user must reach it, and pytest's is private
)
SUDO = shutil.which("sudo") or ""

_MOUNTS = """
mount -t tmpfs -o mode=755 tmpfs /mnt && mkdir /mnt/home && chown {uid} /mnt/home &&
cp {folder}/authorized_keys /mnt/authorized_keys && chmod 644 /mnt/authorized_keys || exit 1
for name in passwd shadow sudoers; do mount --bind {folder}/$name /etc/$name || exit 1; done
exec "$@"
"""


def why_not() -> str:
    """The sentence that says why there can be no such host here, or ""."""
    if os.geteuid() != 0:
        return "a host with an ordinary user needs root here"
    for program, package in ((SUDO, "sudo"), (SSHD, "openssh-server")):
        if not Path(program or "/none").exists():
            return f"there is no real {package} here: apt-get install {package}"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        return "this machine does not permit mount namespaces"
    return ""


@dataclass(frozen=True)
class SudoHost:
    """The server, and the sudoers file that counts on it."""

    sshd: Sshd

    def sudoers(self, *lines: str) -> None:
        """What sudo reads from now on. Written in place: another file would not be the mounted."""
        (self.sshd.folder / "sudoers").write_text("".join(f"{line}\n" for line in lines))

    def expires(self, day: int | None) -> None:
        """The account's last day, in days since 1970; None: it does not expire."""
        (self.sshd.folder / "shadow").write_text(_shadow(day))

    def device(self, **management: object) -> Device:
        return self.sshd.device(**({"user": USER, "become": True} | management))


@contextmanager
def sudo_host(folder: Path, *settings: str) -> Iterator[SudoHost]:
    """Running until the end of the block. PATH has no sbin unless `settings` of sshd say so."""
    passwd = Path("/etc/passwd").read_text()
    (folder / "passwd").write_text(f"{passwd}{USER}:x:{USER_ID}:65534::{HOME}:/bin/bash\n")
    for name in ("shadow", "sudoers"):
        (folder / name).touch(mode=0o440)
    script = _MOUNTS.format(folder=folder, uid=USER_ID)
    sshd = start_sshd(
        folder,
        *settings,
        "SetEnv SHLVL=2 PATH=/usr/bin:/bin",
        "AuthorizedKeysFile /mnt/authorized_keys",
        within=("unshare", "--mount", "sh", "-c", script, "sh"),
    )
    try:
        host = SudoHost(sshd)
        host.expires(None)
        host.sudoers(ALL)
        yield host
    finally:
        end_sshd(sshd)


def _shadow(day: int | None) -> str:
    last = "" if day is None else day
    return f"root:*:18000:0:99999:7:::\n{USER}:*:18000:0:99999:7::{last}:\n"
