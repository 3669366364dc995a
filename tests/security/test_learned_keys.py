"""A host's key that is learned is written into a file of host keys, and nowhere else."""

import os
from pathlib import Path
from typing import Any

import paramiko
import pytest

from labtests.core.errors import InventoryError
from labtests.inventory import load
from labtests.transport.ssh.host_keys import HostKeyProblem, KnownHosts, known_hosts_place
from labtests.transport.ssh.key_lists import Unbelieved, known_text
from labtests.transport.ssh.learning import KnownHostsFiles
from labtests.transport.ssh.settings import SshSettings

KEY = paramiko.ECDSAKey.generate()
LOGIN = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBsmZ4bTOqkQ3ZTzvm2mp0cUqG8x0mJmY0v1XW9m0G2y ada\n"
HOST_LINE = "leaf1,192.0.2.1 " + LOGIN
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")
TESTBED = "name: lab\ndevices: {{A: {{platform: linux, management: {{host: {host}{more}}}}}}}\n"


def learn(file: Path, name: str = "a.example", **facts: Any) -> None:
    """Into a file that the user's own settings name; `testbed`: that a testbed file names."""
    place = KnownHostsFiles((file,), **facts)
    KnownHosts(name, place, "accept-new").missing_host_key(None, name, KEY)  # type: ignore


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("authorized_keys", ""),
        ("authorized_keys", LOGIN),
        ("authorized_keys2", HOST_LINE),
        ("Authorized_Keys", ""),
        ("keys_of_root", LOGIN),
        ("keys_of_root", f"{HOST_LINE}{LOGIN}"),
        ("keys_of_root", f"restrict {LOGIN}"),
        ("keys_of_root", f"a.example,NO-VERIFY-REQUIRED {LOGIN}"),
        ("keys_of_root", f'from="a.example" {LOGIN}'),
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
    with pytest.raises((HostKeyProblem, Unbelieved)):
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
    last = f"a.example,[a.example]:22 {KEY.get_name()} {KEY.get_base64()}"
    assert file.read_text().splitlines() == [*(text or "").splitlines(), last]
    learn(file)  # known by now


@pytest.mark.parametrize(
    "name",
    [
        "ssh/authorized_keys.d/labtests",
        "ssh/authorized_keys.d/known_hosts",
        "ssh/authorized_keys/root",
        "sudoers.d/known_hosts",
        "lab/new/known_hosts",
        "lab/keys",
        "lab/.known_hosts",
        "lab/authorized_keys_known_hosts",
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_a_testbed_file_makes_no_file_of_host_keys_but_beside_itself(
    tmp_path: Path, name: str, there: bool
) -> None:
    file = tmp_path / name
    if there:
        file.parent.mkdir(parents=True)
        file.touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(HostKeyProblem):
        learn(file, testbed=True, beside=tmp_path / "lab")
    assert sorted(tmp_path.rglob("*")) == before
    assert not there or file.read_text() == ""


@pytest.mark.parametrize("name", ["known_hosts", "lab.known_hosts", "known_hosts_of_lab"])
def test_it_makes_one_beside_itself_and_in_the_users_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "lab").mkdir()
    lab = tmp_path / "lab" / "lab.yaml"
    for folder in (tmp_path / "lab", tmp_path / ".ssh"):
        lab.write_text(TESTBED.format(host="a", more=f", known_hosts: {folder / name}"))
        place = known_hosts_place(load(lab).devices[0].management, SshSettings())
        learn(folder / name, testbed=place.testbed, beside=place.beside)
        assert KEY.get_base64() in (folder / name).read_text()


def test_a_file_that_has_another_name_too_is_no_new_one(tmp_path: Path) -> None:
    (tmp_path / "authorized_keys").touch()
    (tmp_path / "known_hosts").hardlink_to(tmp_path / "authorized_keys")
    with pytest.raises(HostKeyProblem):
        learn(tmp_path / "known_hosts", testbed=True, beside=tmp_path)
    assert (tmp_path / "authorized_keys").read_text() == ""


@as_root
def test_no_new_one_is_made_where_somebody_else_could_put_another(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    os.chown(tmp_path / "lab", 12345, 12345)
    with pytest.raises(HostKeyProblem):
        learn(tmp_path / "lab" / "known_hosts", testbed=True, beside=tmp_path / "lab")
    assert not (tmp_path / "lab" / "known_hosts").exists()


@pytest.mark.parametrize("name", ["a.example", "touch-required", "2001:db8::1", "[a.example]:2222"])
def test_what_is_learned_lets_nobody_in_whatever_the_hosts_name(tmp_path: Path, name: str) -> None:
    """Its first word, to sshd, are options parted by commas; one that it does not know is refused,
    and none that it knows has brackets."""
    file = tmp_path / "known_hosts"
    learn(file, name)
    options = file.read_text().split()[0].split(",")
    assert any(option.startswith("[") for option in options)
    learn(file, name)
    assert len(file.read_text().splitlines()) == 1


OPTIONS = ["no-pty", "restrict", "cert-authority", "NO-PTY", "command"]
OPTIONS += ["touch-required", "no-verify-required", "Touch-Required"]


@pytest.mark.parametrize("word", OPTIONS)
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


def test_what_is_open_and_has_no_path_is_not_taken_for_a_file_that_is_not_there():
    """/dev/fd/3 of a pipe: what it says may be that a key is revoked."""
    reader, writer = os.pipe()
    try:
        with pytest.raises(Unbelieved, match="is not a file of a folder"):
            known_text(Path(f"/dev/fd/{reader}"), None)
    finally:
        os.close(reader)
        os.close(writer)
