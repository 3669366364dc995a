"""Files that another user puts there in the very moment in which they are opened: what is read is
judged by what is open, so one that was not there when it was looked for is believed no more."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paramiko
import pytest
from handed import STRANGER, TESTBED, as_root, given_to

from labtests.core.errors import LabError
from labtests.core.trusted_files import owned
from labtests.inventory import Readable, chosen, load
from labtests.transport.ssh.host_keys import HostKeyProblem, KnownHosts
from labtests.transport.ssh.key_lists import Unbelieved
from labtests.transport.ssh.learning import KnownHostsFiles, NoPlace

pytestmark = as_root

KEY = paramiko.ECDSAKey.generate()
SAID = f"{KEY.get_name()} {KEY.get_base64()}"
LINE = f"leaf1 {SAID}\n"


@dataclass
class Stranger:
    """Puts a file, or a link to one of the user's, where the user is about to open one."""

    file: Path
    put: Callable[[Path], None]
    times: int = field(default=0)

    def before(self, name: Any) -> None:
        if Path(os.fsdecode(name)).name == self.file.name and not os.path.lexists(self.file):
            self.put(self.file)
            self.times += 1


@pytest.fixture(params=["file", "link"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like /tmp, in which the user stands."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.chdir(folder)
    return folder


def appearing(monkeypatch: pytest.MonkeyPatch, file: Path, text: str, way: str) -> Stranger:
    ours = file.parent.parent / "ours"
    ours.write_text(text)

    def put(place: Path) -> None:
        if way == "link":
            place.symlink_to(ours)
        else:
            place.write_text(text)
        given_to(STRANGER, place)

    stranger, opening = Stranger(file, put), os.open

    def opened(name: Any, *args: Any, **more: Any) -> int:
        stranger.before(name)
        return opening(name, *args, **more)

    monkeypatch.setattr(os, "open", opened)
    return stranger


@pytest.mark.parametrize("policy", ["strict", "accept-new"])
def test_no_known_hosts_file_of_a_stranger_is_believed(
    shared: Path, monkeypatch: pytest.MonkeyPatch, way: str, policy: Any
) -> None:
    file = shared / "known_hosts"
    stranger = appearing(monkeypatch, file, LINE, way)
    known = KnownHosts("leaf1", KnownHostsFiles((file,)), policy)
    with pytest.raises((HostKeyProblem, Unbelieved)):
        known.missing_host_key(paramiko.SSHClient(), "leaf1", KEY)
    assert stranger.times == 1
    assert (shared.parent / "ours").read_text() == LINE


def test_no_key_is_learned_into_a_file_of_a_stranger(
    shared: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    file = shared / "known_hosts"
    other = LINE.replace("leaf1", "leaf2")
    stranger = appearing(monkeypatch, file, other, way)
    with pytest.raises((NoPlace, OSError)):
        KnownHostsFiles((file,)).learn("leaf1", KEY)
    assert stranger.times == 1
    assert file.read_text() == other


def test_no_list_of_revoked_keys_of_a_stranger_is_believed(
    shared: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    known, revoked = shared.parent / "known_hosts", shared / "revoked"
    known.write_text(LINE)
    stranger = appearing(monkeypatch, revoked, "# none\n", way)
    place = KnownHostsFiles((known,))
    with pytest.raises(Unbelieved, match="RevokedHostKeys"):
        KnownHosts("leaf1", place, "strict", revoked).missing_host_key(
            paramiko.SSHClient(), "leaf1", KEY
        )
    assert stranger.times == 1


@pytest.mark.parametrize("how", ["another's", "open to all", "another's folder"])
def test_a_list_of_revoked_keys_that_another_user_can_write_is_not_believed(
    tmp_path: Path, how: str
) -> None:
    known, revoked = tmp_path / "known_hosts", tmp_path / "lists" / "revoked"
    known.write_text(LINE)
    revoked.parent.mkdir()
    revoked.write_text("# none\n")
    asked = KnownHosts("leaf1", KnownHostsFiles((known,)), "strict", revoked)
    asked.missing_host_key(paramiko.SSHClient(), "leaf1", KEY)
    if how == "open to all":
        revoked.chmod(0o666)
    else:
        given_to(STRANGER, revoked if how == "another's" else revoked.parent)
    with pytest.raises(Unbelieved, match=r"RevokedHostKeys.*another user"):
        asked.missing_host_key(paramiko.SSHClient(), "leaf1", KEY)


def test_nobody_is_dialled_because_of_a_testbed_of_a_stranger(
    shared: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (shared / "testbeds").mkdir()
    (shared / "testbeds").chmod(0o1777)
    file = shared / "testbeds" / "lab.yaml"
    file.write_text(TESTBED)
    meant = chosen("lab")
    file.unlink()
    stranger = appearing(monkeypatch, file, TESTBED, way)
    with pytest.raises(LabError):
        load(meant)
    assert stranger.times == 1


def test_no_testbed_of_a_stranger_is_one_that_a_snapshot_names(
    shared: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    file = shared / "lab.yaml"
    stranger = appearing(monkeypatch, file, TESTBED, way)
    with pytest.raises(LabError):
        load(Readable(file, owned))
    assert stranger.times == 1


def test_a_link_of_a_stranger_between_two_of_ones_own_is_not_followed(tmp_path: Path) -> None:
    """He could have it lead to another file of the user's."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "keys").write_text(LINE)
    (shared / "link").symlink_to(tmp_path / "keys")
    (tmp_path / "known_hosts").symlink_to(shared / "link")
    known = KnownHosts("leaf1", KnownHostsFiles((tmp_path / "known_hosts",)), "strict")
    known.missing_host_key(paramiko.SSHClient(), "leaf1", KEY)
    given_to(STRANGER, shared / "link")
    with pytest.raises(Unbelieved, match="another user"):
        known.missing_host_key(paramiko.SSHClient(), "leaf1", KEY)
