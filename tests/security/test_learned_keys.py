"""A host's key that is learned is written into a file of host keys, and nowhere else."""

import os
from pathlib import Path

import paramiko
import pytest

from labtests.core.errors import InventoryError
from labtests.inventory import load
from labtests.transport.ssh.host_keys import HostKeyProblem, KnownHosts

KEY = paramiko.ECDSAKey.generate()
LOGIN = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBsmZ4bTOqkQ3ZTzvm2mp0cUqG8x0mJmY0v1XW9m0G2y ada\n"
HOST_LINE = "leaf1,192.0.2.1 " + LOGIN
TESTBED = "name: lab\ndevices: {{A: {{platform: linux, management: {{host: {host}{more}}}}}}}\n"


def learn(file: Path, name: str = "a.example") -> None:
    KnownHosts(name, (file,), "accept-new").missing_host_key(None, name, KEY)  # type: ignore


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("authorized_keys", ""),
        ("authorized_keys", LOGIN),
        ("authorized_keys2", HOST_LINE),
        ("Authorized_Keys", ""),
        ("keys_of_root", LOGIN),
        ("keys_of_root", f"{HOST_LINE}{LOGIN}"),
        (".bashrc", "export PATH\n"),
        ("rc", ""),
    ],
)
def test_a_key_is_not_learned_into_another_file(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(HostKeyProblem):
        learn(file)
    assert file.read_text() == text


def test_nor_through_a_link_to_one(tmp_path: Path) -> None:
    real = tmp_path / "authorized_keys"
    real.touch()
    (tmp_path / "known_hosts").symlink_to(real)
    with pytest.raises(HostKeyProblem):
        learn(tmp_path / "known_hosts")
    assert real.read_text() == ""


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "known_hosts")
    with pytest.raises(HostKeyProblem):
        learn(tmp_path / "known_hosts")


@pytest.mark.parametrize("text", [None, "", HOST_LINE, f"# mine\n\n@revoked {HOST_LINE}".rstrip()])
def test_it_is_learned_into_a_file_of_host_keys_or_a_new_one(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "lab" / "known_hosts"
    if text is not None:
        file.parent.mkdir()
        file.write_text(text)
    learn(file)
    last = f"a.example {KEY.get_name()} {KEY.get_base64()}"
    assert file.read_text().splitlines() == [*(text or "").splitlines(), last]
    learn(file)  # known by now


@pytest.mark.parametrize("word", ["no-pty", "restrict", "cert-authority", "NO-PTY", "command"])
def test_a_host_is_no_word_that_leaves_somebody_in(tmp_path: Path, word: str) -> None:
    file = tmp_path / "lab.yaml"
    for text in (
        TESTBED.format(host=word, more=""),
        TESTBED.format(host="a", more=f", jump: {word}"),
    ):
        file.write_text(text)
        with pytest.raises(InventoryError, match="host"):
            load(file)
    file.write_text(TESTBED.format(host=f"{word}.example", more=""))
    load(file)
