"""Which files of host keys ssh_config names: a host that ssh knows there is known here, and one
whose key is revoked there is refused. What ssh could read as another file is refused."""

import getpass
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import paramiko
import pytest

from labtests.core.errors import LabError
from labtests.inventory import Device, Management
from labtests.transport.ssh import known_files, settings
from labtests.transport.ssh.failures import FailurePlace, explained
from labtests.transport.ssh.hop import Hop
from labtests.transport.ssh.host_keys import HostKeyProblem
from labtests.transport.ssh.key_lists import Unbelieved
from labtests.transport.ssh.route import hops_to

HOST = "192.0.2.9"
GOOD, OTHER = paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()
DEVICE = Device(
    name="A",
    platform="linux",
    management=Management(host=HOST, user="ada", host_keys="accept-new"),
)


def said(key: paramiko.PKey) -> str:
    return f"{HOST} {key.get_name()} {key.get_base64()}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, with no system files."""
    for name in ("home/.ssh/keys", "elsewhere", "etc"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    system = (str(tmp_path / "etc" / "kh"), str(tmp_path / "etc" / "kh2"))
    for module in (known_files, settings):
        monkeypatch.setattr(module, "SYSTEM_FILES", system)
    return tmp_path / "home"


def hop_of(home: Path, config: str, **management: Any) -> Hop:
    """`~` is what ssh knows as the user's home, and that is no folder of a test."""
    (home / ".ssh" / "config").write_text(config.replace("~/", f"{home}/"))
    device = replace(DEVICE, management=replace(DEVICE.management, **management))
    (hop,) = hops_to(device)
    return hop


def ask(hop: Hop, key: paramiko.PKey) -> None:
    hop.known_hosts.missing_host_key(paramiko.SSHClient(), HOST, key)


PLACES = {
    "known_hosts": ("", ".ssh/known_hosts"),
    "known_hosts2": ("", ".ssh/known_hosts2"),
    "system": ("", "../etc/kh"),
    "system2": ("", "../etc/kh2"),
    "global": ("GlobalKnownHostsFile ~/.ssh/g", ".ssh/g"),
    "two global": ('GlobalKnownHostsFile "~/.ssh/g" "~/.ssh/hi"', ".ssh/hi"),
    "%h %p": ("UserKnownHostsFile ~/.ssh/keys/%h-%p", f".ssh/keys/{HOST}-22"),
    "%n %r": ("UserKnownHostsFile ~/.ssh/keys/%n-%r", f".ssh/keys/{HOST}-ada"),
    "%u %i": (
        "UserKnownHostsFile ~/.ssh/keys/%u-%i",
        f".ssh/keys/{getpass.getuser()}-{os.getuid()}",
    ),
    "%%": ("UserKnownHostsFile ~/.ssh/keys/100%%", ".ssh/keys/100%"),
    "no tokens": ("GlobalKnownHostsFile ~/.ssh/keys/%h", ".ssh/keys/%h"),
    "variable": ("UserKnownHostsFile ${HOME}/.ssh/kh", ".ssh/kh"),
    "quoted": ('UserKnownHostsFile "~/.ssh/a"', ".ssh/a"),
    "single quotes": ("UserKnownHostsFile '~/.ssh/a'", ".ssh/a"),
    "two": ("UserKnownHostsFile ~/.ssh/a ~/.ssh/b", ".ssh/b"),
    "two quoted": ('UserKnownHostsFile "~/.ssh/a" "~/.ssh/b"', ".ssh/b"),
    "equals": ("UserKnownHostsFile = ~/.ssh/kh", ".ssh/kh"),
    "comment": ("UserKnownHostsFile ~/.ssh/kh # mine", ".ssh/kh"),
    "number sign": ("UserKnownHostsFile ~/.ssh/kh#1", ".ssh/kh#1"),
    "none, system": ("UserKnownHostsFile none", "../etc/kh"),
    "of the system, too": ("UserKnownHostsFile ~/.ssh/a", "../etc/kh2"),
    "nothing": ("UserKnownHostsFile /dev/null", "../etc/kh"),
    "lower case": ("userknownhostsfile ~/.ssh/kh", ".ssh/kh"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_host_that_ssh_knows_there_is_known(home: Path, place: str) -> None:
    """Also with `accept-new`: another key is refused, and none is learned."""
    config, file = PLACES[place]
    (home / file).write_text(said(GOOD))
    before = {path: path.read_bytes() for path in home.parent.rglob("*") if path.is_file()}
    hop = hop_of(home, f"Host *\n  {config}\n")
    ask(hop, GOOD)
    with pytest.raises(HostKeyProblem) as told:
        ask(hop, OTHER)
    assert told.value.why == "changed"
    assert told.value.file is not None
    assert told.value.file.samefile(home / file)
    before[home / ".ssh" / "config"] = (home / ".ssh" / "config").read_bytes()
    assert before == {p: p.read_bytes() for p in home.parent.rglob("*") if p.is_file()}


@pytest.mark.parametrize("policy", ["strict", "accept-new"])
@pytest.mark.parametrize("place", ["known_hosts2", "system2", "global", "two quoted"])
def test_a_key_that_is_revoked_there_is_refused(home: Path, place: str, policy: str) -> None:
    config, file = PLACES[place]
    (home / ".ssh" / "known_hosts").write_text(said(GOOD))
    (home / ".ssh" / "a").write_text(said(GOOD))
    (home / file).write_text("@revoked * " + said(GOOD).partition(" ")[2])
    with pytest.raises(HostKeyProblem) as told:
        ask(hop_of(home, f"Host *\n  {config}\n", host_keys=policy), GOOD)
    assert told.value.why == "revoked"


@pytest.mark.parametrize("place", ["%h %p", "variable", "two quoted", "quoted", "known_hosts"])
def test_a_new_key_is_learned_into_the_first_file_that_is_named(home: Path, place: str) -> None:
    ask(hop_of(home, f"Host *\n  {PLACES[place][0]}\n"), GOOD)
    written = [path for path in home.parent.rglob("*") if path.is_file() and path.name != "config"]
    first = {"two quoted": ".ssh/a"}.get(place, PLACES[place][1])
    assert written == [home / first]


@pytest.mark.parametrize("why", ["denied", "circle", "damaged"])
def test_a_file_that_is_there_and_cannot_be_read_lets_nobody_pass(
    home: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """It may say that the key is revoked."""
    file, opening = home / ".ssh" / "known_hosts2", os.open

    def denied(name: Any, *more: Any, **kw: Any) -> int:
        if Path(os.fsdecode(name)).name == file.name:
            raise OSError({"denied": 13, "damaged": 5}[why], "cannot")
        return opening(name, *more, **kw)

    (home / ".ssh" / "known_hosts").write_text(said(GOOD))
    hop = hop_of(home, "")
    ask(hop, GOOD)
    if why == "circle":
        file.symlink_to(file)
    else:
        monkeypatch.setattr(os, "open", denied)
    with pytest.raises(Unbelieved, match=r"(?s)known_hosts2.*\n  remedy"):
        ask(hop, GOOD)


@pytest.mark.parametrize("value", ["none", "None", "/dev/null", "/dev/null ~/.ssh/known_hosts"])
def test_where_no_file_is_named_no_key_is_learned(home: Path, value: str) -> None:
    hop = hop_of(home, f"UserKnownHostsFile {value}\n")
    with pytest.raises(HostKeyProblem) as told:
        ask(hop, GOOD)
    place = FailurePlace(device="A", hop=hop, last=True, through=None)
    error = explained(told.value, place)
    assert "UserKnownHostsFile of your ssh_config names no file" in error.problem
    assert [path.name for path in home.parent.rglob("*") if path.is_file()] == ["config"]


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("UserKnownHostsFile", ["kh", "./kh", '"~/a b"', "none ~/kh", "~nosuchuser77/kh", "~/%j"]),
        ("GlobalKnownHostsFile", ["kh", "./kh", '"~/a b"', "none ~/kh", "~nosuchuser77/kh"]),
        ("RevokedHostKeys", ["kh", "./kh", "~nosuchuser77/kh", "~/%n", "~/${HOME}", "~/kh%"]),
        ("UserKnownHostsFile", ["", '"~/a', "~/kh%", "~/${NO_SUCH_77}", "~/${HOME"]),
        ("RevokedHostKeys", ["", '"~/a', "~/a b", "# kh"]),
    ],
)
def test_a_value_that_leads_to_no_file_for_certain_is_refused(home: Path, option, values) -> None:
    for value in values:
        with pytest.raises(LabError, match=r"remedy: (write|correct)"):
            hop_of(home, f"Host *\n  {option} {value}\n")


@pytest.mark.parametrize("value", ["~/rev", '"~/rev"', "~/rev # x"])
def test_revoked_host_keys_are_those_of_the_file_that_is_meant(home: Path, value: str) -> None:
    (home / ".ssh" / "known_hosts").write_text(said(GOOD) + said(OTHER))
    (home / "rev").write_text(said(GOOD).partition(" ")[2])
    hop = hop_of(home, f"RevokedHostKeys {value}\n")
    ask(hop, OTHER)
    with pytest.raises(HostKeyProblem, match="revoked"):
        ask(hop, GOOD)


@pytest.mark.parametrize("value", ["none", "NONE", "/dev/null"])
def test_none_is_no_list_of_revoked_keys(home: Path, value: str) -> None:
    assert hop_of(home, f"RevokedHostKeys {value}\n").known_hosts.revoked is None


def test_what_is_for_another_host_or_is_not_read_says_nothing(home: Path) -> None:
    config = "Host other\n  UserKnownHostsFile ~/b\nHost *\n  UserKnownHostsFile ~/a\n"
    assert hop_of(home, config).known_hosts.place.files == (home / "a",)
    mine = hop_of(home, config, known_hosts=str(home / "mine"))
    assert mine.known_hosts.place.files == (home / "mine",)
    hop = hop_of(home, 'UserKnownHostsFile "\n', ssh_config=False)
    assert hop.known_hosts.place.files == (
        home / ".ssh" / "known_hosts",
        home / ".ssh" / "known_hosts2",
    )
