"""A lab's SSH keys: one pair for the runner, a host key for each box, and known_hosts."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from labtests.core.private_files import private_folder, write_private
from labtests.linuxlab.plan import Box, LinuxLabPlan, folder_of
from labtests.transport.ssh.host_keys import known_hosts_name

CLIENT_KEY = "id_ed25519"


def make_keys(plan: LinuxLabPlan) -> None:
    """Keys that are not there are made; known_hosts and ssh_config say what holds now."""
    _make(plan.folder / CLIENT_KEY)
    known, blocks = [], []
    for box in plan.boxes:
        folder = box_folder(plan, box)
        private_folder(folder)
        public = _make(folder / "host_key")
        write_private(folder / "authorized_keys", (plan.folder / f"{CLIENT_KEY}.pub").read_text())
        write_private(folder / "sshd_config", _sshd_config(box))
        management = box.device.management
        name = known_hosts_name(management.host, management.port, None)
        known.append(f"{name} {public}\n")
        blocks.append(_block(plan, box))
    write_private(plan.folder / "known_hosts", "".join(known))
    write_private(plan.folder / "ssh_config", "\n".join(blocks))


def box_folder(plan: LinuxLabPlan, box: Box) -> Path:
    """What a box sees of the lab's folder, at /run/box."""
    return box_folder_of(plan.name, box.name)


def box_folder_of(lab: str, box: str) -> Path:
    """The same, by their names."""
    return folder_of(lab) / f"box.{box}"


def _make(path: Path) -> str:
    """The public half, as `ssh-ed25519 AAAA…`."""
    public_file = path.with_name(f"{path.name}.pub")
    if path.is_file() and public_file.is_file():
        return public_file.read_text().strip()
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    write_private(path, private.decode())
    write_private(public_file, f"{public.decode()}\n")
    return public.decode()


def _sshd_config(box: Box) -> str:
    management = box.device.management
    return "\n".join(
        [
            f"Port {management.port}",
            f"ListenAddress {management.host}",
            "HostKey /run/box/host_key",
            "AuthorizedKeysFile /run/box/authorized_keys",
            "PidFile none",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password",
            "AllowUsers root",
            "UseDNS no",
            "MaxStartups 100",
            "MaxSessions 100",
            "PrintMotd no",
            "",
        ]
    )


def _block(plan: LinuxLabPlan, box: Box) -> str:
    management = box.device.management
    return (
        f"Host {box.name}\n"
        f"  HostName {management.host}\n"
        f"  Port {management.port}\n"
        "  User root\n"
        f'  IdentityFile "{plan.folder / CLIENT_KEY}"\n'
        "  IdentitiesOnly yes\n"
        f'  UserKnownHostsFile "{plan.folder / "known_hosts"}"\n'
        "  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n"
    )
