"""A line that was learned, read by a real sshd as leave to log in: it is none."""

import subprocess
from pathlib import Path

import paramiko
import pytest
from sshd_server import Sshd, make_key, start_sshd

from labtests.transport.ssh.host_keys import KnownHosts
from labtests.transport.ssh.learning import KnownHostsFiles

NAMES = ["touch-required", "no-verify-required", "restrict", "a.example", "[a.example]:2222"]


@pytest.fixture(scope="module")
def obeying(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """A server that takes every file of `keys.d` for one of keys to log in with."""
    folder = tmp_path_factory.mktemp("obeying")
    (folder / "keys.d").mkdir()
    server = start_sshd(folder, f"AuthorizedKeysFile {folder}/keys.d/known_hosts")
    yield server
    server.process.terminate()
    server.process.wait()


def lets_in(server: Sshd, key: Path) -> bool:
    options = "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"
    words = [word for option in (*options, "IdentitiesOnly=yes") for word in ("-o", option)]
    words = ["ssh", "-F", "none", "-i", str(key), *words, "-p", str(server.port)]
    return subprocess.run([*words, "root@127.0.0.1", "true"], timeout=60).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_sshd_lets_nobody_in_by_a_learned_line(obeying: Sshd, tmp_path: Path, name: str) -> None:
    make_key(tmp_path / "evil")
    key = paramiko.Ed25519Key(filename=str(tmp_path / "evil"))
    file = obeying.folder / "keys.d" / "known_hosts"
    file.write_text("")
    KnownHosts(name, KnownHostsFiles((file,)), "accept-new").missing_host_key(None, name, key)  # type: ignore
    assert key.get_base64() in file.read_text()
    assert not lets_in(obeying, tmp_path / "evil")
    file.write_text(f"touch-required {key.get_name()} {key.get_base64()}\n")
    assert lets_in(obeying, tmp_path / "evil")  # the control: a line as it was learned before
