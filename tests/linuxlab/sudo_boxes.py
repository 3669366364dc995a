"""A second login to every box of a lab that is up: an ordinary user with real sudo, and no sbin in
PATH, as most servers are reached. Root only.

Beside the box's own sshd another one runs, in a mount namespace in which /etc/passwd, /etc/shadow,
/etc/hosts and /etc/sudoers are ours. All of it ends with the box.
"""

import io
import subprocess
import tarfile
from pathlib import Path

import yaml

from labtests.inventory import Testbed
from labtests.linuxlab.ledger import ledger_of
from labtests.linuxlab.plan import folder_of
from labtests.linuxlab.programs import program

USER, USER_ID, PORT = "ops", 65111, 2022
_INIT = f"""set -e
mkdir /run/ops /run/home && chown {USER_ID} /run/home && tar -C /run/ops -xf -
cp /run/box/authorized_keys /run/ops/keys && chmod 644 /run/ops/keys
exec unshare --mount sh -c 'set -e
for name in passwd shadow hosts sudoers; do mount --bind /run/ops/$name /etc/$name; done
exec "$0" -f /run/ops/sshd_config' "$0"
"""


def let_ops_in(lab: Testbed, *sudoers: str) -> None:
    """The user can log in to every box on PORT, and may what these lines of sudoers say."""
    ledger = ledger_of(lab.name)
    assert ledger is not None
    users = Path("/etc/passwd").read_text()
    for box, (holder, _) in ledger.runners.items():
        config = (folder_of(lab.name) / f"box.{box}" / "sshd_config").read_text()
        files = {
            "passwd": f"{users}{USER}:x:{USER_ID}:65534::/run/home:/bin/bash\n",
            "shadow": f"root:*:18000:0:99999:7:::\n{USER}:*:18000:0:99999:7:::\n",
            # one of them cannot resolve its own name, of which sudo then warns at every command
            "hosts": f"127.0.0.1 localhost {'' if box == 'h1' else box}\n",
            "sudoers": "".join(f"{line}\n" for line in sudoers),
            "sshd_config": _changed(config),
        }
        inside = ["nsenter", "-t", str(_init_of(holder)), "--mount", "--net", "--pid", "--uts"]
        subprocess.run(
            [*inside, "sh", "-c", _INIT, program("sshd")],
            input=_archive(files),
            stdout=subprocess.DEVNULL,
            check=True,
        )


def change_sudoers(lab: Testbed, box: str, *sudoers: str) -> None:
    """What sudo of one box reads from now on."""
    ledger = ledger_of(lab.name)
    assert ledger is not None
    inside = ["nsenter", "-t", str(_init_of(ledger.runners[box][0])), "--mount"]
    text = "".join(f"{line}\n" for line in sudoers)  # in place: the file that is mounted
    subprocess.run(
        [*inside, "tee", "/run/ops/sudoers"],
        input=text.encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def by_hand(lab: Testbed, file: Path, folder: Path) -> Path:
    """A testbed file of the same lab as a stranger would write it for this login."""
    document = yaml.safe_load(file.read_text())
    del document["linux_lab"]
    hosts = folder / "known_hosts"
    hosts.write_text("".join(_known(lab, box) for box in document["devices"]))
    document["name"] = f"{lab.name}-sudo"
    document["defaults"] = {
        "user": USER,
        "port": PORT,
        "become": True,
        "key_file": str(folder_of(lab.name) / "id_ed25519"),
        "known_hosts": str(hosts),
        "ssh_config": False,
    }
    written = folder / f"{document['name']}.yaml"
    written.write_text(yaml.safe_dump(document))
    return written


def _init_of(holder: int) -> int:
    """The box's first process: the child of the one that holds it."""
    children = Path(f"/proc/{holder}/task/{holder}/children").read_text().split()
    return int(children[0])


def _changed(config: str) -> str:
    own = [f"Port {PORT}", f"AllowUsers {USER}", "AuthorizedKeysFile /run/ops/keys"]
    own += ["StrictModes no", "SetEnv PATH=/usr/bin:/bin"]
    listens = [line for line in config.splitlines() if line.startswith(("Listen", "HostKey"))]
    return "\n".join([*own, *listens, "PidFile none", "UsePAM no", "UseDNS no", ""])


def _archive(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o444
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def _known(lab: Testbed, box: str) -> str:
    public = (folder_of(lab.name) / f"box.{box}" / "host_key.pub").read_text().split()
    return f"[{lab.device(box).management.host}]:{PORT} {public[0]} {public[1]}\n"
