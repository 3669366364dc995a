"""A user's ~/.ssh/config: what of it runs a program or sends something, and what is left alone."""

import os
import pwd
import time
from pathlib import Path
from typing import ClassVar

import pytest
from sshd_server import Sshd
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.inventory import Device, Management
from labtests.transport.ssh import SHELL, connect, hop, settings
from labtests.transport.ssh.route import hops_to
from labtests.transport.ssh.settings import SshSettings, settings_of

# an option with a program, or a file that it would make; each makes its own
QUIET = {
    "LocalCommand": "PermitLocalCommand yes\nLocalCommand touch {made}",
    "RemoteCommand": "RemoteCommand touch {made}",
    "KnownHostsCommand": "KnownHostsCommand /usr/bin/touch {made}",
    "ControlPath": "ControlMaster yes\nControlPath {made}\nControlPersist yes",
    "XAuthLocation": "ForwardX11 yes\nForwardX11Trusted yes\nXAuthLocation /usr/bin/touch",
    "PKCS11Provider": "PKCS11Provider {made}",
    "SecurityKeyProvider": "SecurityKeyProvider {made}",
    "IdentityAgent": "IdentityAgent {made}\nAddKeysToAgent yes",
    "LocalForward": "LocalForward {made} 127.0.0.1:1\nExitOnForwardFailure yes",
    "RemoteForward": "RemoteForward {made} 127.0.0.1:1",
    "DynamicForward": "DynamicForward 127.0.0.1:1\nTunnel yes",
    "ForwardAgent": "ForwardAgent yes\nForwardX11 yes",
    "SendEnv": "SendEnv *\nSetEnv LC_TAKEN=1",
    "RequestTTY": "RequestTTY force\nSessionType none\nStdinNull no",
    "StrictHostKeyChecking": "StrictHostKeyChecking no\nUpdateHostKeys yes",
}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LC_MINE", "of the runner")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / ".ssh" / "conf.d").mkdir(parents=True)
    return tmp_path / ".ssh" / "config"


def device(sshd: Sshd) -> Device:
    found: Device = sshd.device(ssh_config=True)
    return found


@pytest.mark.parametrize("option", QUIET)
def test_an_option_that_runs_or_sends_something_is_left_alone(
    sshd: Sshd, config: Path, tmp_path: Path, option: str
) -> None:
    made = tmp_path / "made"
    config.write_text("Host *\n" + QUIET[option].format(made=made) + "\n")
    before = {path.name for path in tmp_path.rglob("*")}
    session = connect(device(sshd), SHELL, clock=WallClock())
    said = session.run(typed("env; tty; true")).text
    session.close()
    assert "LC_MINE" not in said
    assert "LC_TAKEN" not in said
    assert "SSH_AUTH_SOCK" not in said
    assert "DISPLAY" not in said
    assert "not a tty" in said
    assert {path.name for path in tmp_path.rglob("*")} <= before | {"known_hosts"}


class Kept(hop.Proxy):
    """One whose pipes the test can close."""

    opened: ClassVar[list[hop.Proxy]] = []

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.opened.append(self)


def test_a_proxy_command_is_run_as_ssh_does(
    sshd: Sshd, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hop, "Proxy", Kept)
    made = tmp_path / "made"
    config.write_text(f"Host *\n  ProxyCommand sh -c 'touch {made}; exec cat' %h %p\n")
    with pytest.raises(LabError):  # `cat` says back what it hears
        connect(device(sshd), SHELL, clock=WallClock())
    assert made.exists()
    (proxy,) = Kept.opened
    with proxy.process:
        assert proxy.process.wait(10) != 0  # it is ended with the connection


def asked(host: str = "labhost", user: str | None = None, port: int | None = None) -> SshSettings:
    return settings_of(host, user, port, honoured=True)


FOUND = {
    "comment": ("HostKeyAlias box # the lab", "box"),
    "single quotes": ("HostKeyAlias 'box'", "box"),
    "form feed in a comment": ("# comment\fHostKeyAlias evil", None),
    "host in a comment": ("Host other # labhost\n HostKeyAlias box", None),
    "brackets": ("Host lab[hx]ost\n HostKeyAlias box", None),
    "match with a capital": ("Match Host other\n HostKeyAlias box", None),
    "match not all": ("Match !all\n HostKeyAlias box", None),
    "capitals": ("Match host LabHost\n HostKeyAlias box", "box"),
    "user of the testbed": ("Match user ada\n HostKeyAlias box", "box"),
    "another user": ("Match !user ada\n HostKeyAlias box", None),
    "port of the testbed": ('Match exec "test %p = 2222"\n HostKeyAlias box', "box"),
    "address before its name": (
        "Match host 192.0.2.7\n ProxyCommand evil\n HostKeyAlias evil\n"
        "Host labhost\n HostName 192.0.2.7\n",
        None,
    ),
    "include that sets the name": (
        "Match host labhost\n Include {home}/more\n HostKeyAlias box",
        "box",
    ),
    "a second look": (
        "Host 192.0.2.*\n HostKeyAlias box\nHost labhost\n HostName 192.0.2.7\n"
        "Match final all\n Compression no",
        "box",
    ),
    "an alias of that name": ("HostKeyAlias none", "none"),
    "carriage return": ('HostKeyAlias "a\rproxycommand evil"', "a\rproxycommand evil"),
    "dotfile": ("Include {home}/conf.d/*", None),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_line_means_what_it_means_to_ssh(config: Path, name: str) -> None:
    """With another alias than ssh has, a host that ssh knows was new here, and another key of it
    was learned."""
    text, alias = FOUND[name]
    config.write_text(text.format(home=config.parent) + "\n")
    (config.parent / "more").write_text("HostName other\n")
    (config.parent / "conf.d" / ".old").write_text("HostKeyAlias evil\n")
    found = asked(user="ada", port=2222)
    assert (found.get("hostkeyalias"), found.get("proxycommand")) == (alias, None)


def test_names_are_in_small_letters_and_logins_as_the_testbed_says(config: Path) -> None:
    config.write_text("Host *\n  HostName %h.Example\n  User bob\n  Port 7\n")
    told = [asked("LabHost", user, port) for user, port in ((None, None), ("ada", 2222))]
    assert [each.get("hostname") for each in told] == ["labhost.example"] * 2
    assert [(each.get("user"), each.get("port")) for each in told] == [
        ("bob", "7"),
        ("ada", "2222"),
    ]


def test_where_a_command_may_know_the_host_no_key_is_learned(config: Path) -> None:
    config.write_text("KnownHostsCommand /usr/bin/sss_ssh_knownhosts %H\n")
    management = Management(host="h", host_keys="accept-new")
    (hop,) = hops_to(Device(name="A", platform="linux", management=management))
    assert hop.known_hosts.policy == "strict"
    config.write_text("KnownHostsCommand none\n")
    (hop,) = hops_to(Device(name="A", platform="linux", management=management))
    assert hop.known_hosts.policy == "accept-new"


def test_files_whose_names_are_not_clear_are_refused(config: Path) -> None:
    odd = config.parent / "a "
    odd.mkdir()
    kh = odd / "b"
    kh.touch()
    device = Device(name="A", platform="linux", management=Management(host="h"))
    config.write_text(f'UserKnownHostsFile "{kh}"\n')
    with pytest.raises(LabError, match="may be one file"):
        hops_to(device)
    (config.parent / "latin\udce9").touch()
    config.write_bytes(b"UserKnownHostsFile " + bytes(config.parent) + b"/latin\xe9\n")
    (hop,) = hops_to(device)
    assert hop.known_hosts.place.files == (config.parent / "latin\udce9",)


def test_a_user_without_keys_offers_none(config: Path) -> None:
    config.write_text("IdentityFile none\n")
    (hop,) = hops_to(Device(name="A", platform="linux", management=Management(host="h")))
    assert hop.credentials["look_for_keys"] is False
    assert hop.credentials["key_filename"] is None


@pytest.mark.parametrize("name", ["a[b]", "a%h", "a$b", 'a"b'])
def test_a_home_that_ssh_would_read_otherwise_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name / ".ssh").mkdir(parents=True)
    (tmp_path / name / ".ssh" / "config").write_text("Host *\n  User inside\n")
    monkeypatch.setenv("HOME", str(tmp_path / name))
    with pytest.raises(LabError, match="in HOME"):
        asked()


def test_only_keys_that_the_user_names_are_named(config: Path) -> None:
    config.write_text("Host *\n  Compression yes\n")
    assert asked().identity_files == ()
    config.write_text('IdentityFile ~/.ssh/mine\nIdentityFile "%d/other key"\n')
    assert asked().identity_files == ("~/.ssh/mine", "%d/other key")


def test_a_key_is_found_by_what_its_name_stands_for(config: Path) -> None:
    for name in ("key-labhost", "two words"):
        (config.parent / name).write_text("key")
    config.write_text(f'IdentityFile {config.parent}/key-%h\nIdentityFile "%d/.ssh/two words"\n')
    (hop,) = hops_to(Device(name="A", platform="linux", management=Management(host="labhost")))
    named = [str(config.parent / name) for name in ("key-labhost", "two words")]
    assert hop.credentials["key_filename"] == named


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('HostKeyAlias "box', "invalid quotes"),
        ("HostKeyAlias", "no argument after keyword"),
        ("HostKeyAlias box other", "extra arguments"),
        ("ConnectTimeout soon", "invalid time value"),
        ("NoSuchOption yes", "Bad configuration option"),
        ("Match host", "Missing Match criteria"),
    ],
)
def test_what_ssh_does_not_understand_is_told_with_its_line(
    config: Path, text: str, says: str
) -> None:
    config.write_text(f"User bob\n{text}\n")
    with pytest.raises(LabError) as told:
        asked()
    assert says in str(told.value)
    assert str(config) in str(told.value)
    assert "line 2" in str(told.value)
    assert "`ssh_config: false`" in str(told.value)


def test_a_program_of_match_exec_that_hangs_is_not_waited_for(
    config: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "WITHIN_S", 1.0)
    config.write_text('Match exec "echo out; echo err >&2; exec sleep 30"\n  User inside\n')
    begun_s = time.monotonic()
    with pytest.raises(LabError, match="did not end within 1 s"):
        asked()
    assert time.monotonic() - begun_s < 10
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_a_file_that_others_can_write_is_refused(config: Path, mode: int) -> None:
    config.write_text("Host *\n  User inside\n")
    assert asked().get("user") == "inside"
    config.chmod(mode)
    with pytest.raises(LabError, match="can be written by somebody else"):
        asked()


def test_ssh_is_asked_of_its_own_files_where_they_are_the_user_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Then it looks by itself whose they are, those that are included, too."""
    monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = tmp_path / "said"
    (tmp_path / "ssh").write_text(f'#!/bin/sh\necho "$@" >> {said}\necho hostname h\n')
    (tmp_path / "ssh").chmod(0o700)
    monkeypatch.setattr(settings, "SYSTEM_CONFIG", said.with_name("ssh_config"))
    (tmp_path / "ssh_config").touch()
    assert asked("h", "ada", 7).get("hostname") == "h"
    management = Management(host="h", user="ada", port=7, jump="bob@first:22,second")
    hops = hops_to(Device(name="A", platform="linux", management=management))
    assert [hop.host for hop in hops] == ["h"] * 3
    # behind a jump host a name is made canonical by nobody here
    assert [line for line in said.read_text().splitlines() if "none" not in line] == [
        "-T -G -l ada -p 7 -- h",
        "-T -G -l ada -p 7 -J bob@first:22,second -- h",
        "-T -G -l bob -p 22 -- first",
        "-T -G -J first -- second",
    ]


def test_without_ssh_no_file_is_read_otherwise(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("Host *\n  User inside\n")
    monkeypatch.setenv("PATH", str(config.parent))
    with pytest.raises(LabError, match=r"no ssh on this machine\n  remedy: install openssh-client"):
        asked()
    config.unlink()
    monkeypatch.setattr(settings, "SYSTEM_CONFIG", config)
    assert asked() == SshSettings()


def test_nothing_of_it_is_read_where_the_testbed_file_says_no(config: Path) -> None:
    config.write_text(f'Match exec "touch {config.parent}/made"\n  User inside\n')
    assert settings_of("h", None, None, honoured=False) == SshSettings()
    assert not (config.parent / "made").exists()


@pytest.mark.parametrize(
    ("text", "wanted_s"), [("7", 7), ("1m30s", 90), ("2H", 7200), ("none", 10), (None, 10)]
)
def test_a_connect_timeout_is_a_time_as_ssh_reads_it(
    config: Path, text: str | None, wanted_s: int
) -> None:
    config.write_text(f"ConnectTimeout {text}\n" if text else "")
    (found,) = hops_to(Device(name="A", platform="linux", management=Management(host="h")))
    assert found.within_s == wanted_s


@pytest.mark.parametrize(
    ("text", "through"),
    [
        ("ProxyCommand nc %h %p %r %n 100%%\nProxyJump j", "nc h.example 7 ada h 100%"),
        ("ProxyCommand none\nProxyJump j", None),
        ("ProxyJump none", None),
        ("ProxyJump j\nProxyCommand nc", "j"),
        ("ProxyJump to-%h", "to-h.example"),
        ("ProxyJump gw@h", "h"),  # itself, as somebody else
    ],
)
def test_what_comes_first_of_command_and_jump_is_the_way(
    config: Path, text: str, through: str | None
) -> None:
    config.write_text(f"Host h\n  HostName h.example\n  Port 7\n  {text}\n")
    management = Management(host="h", user="ada")
    *before, last = hops_to(Device(name="A", platform="linux", management=management))
    names = [hop.name for hop in before]
    assert (names[0] if names else last.through) == through


def test_jump_hosts_without_end_are_refused(config: Path) -> None:
    config.write_text("ProxyJump x%h\n")
    with pytest.raises(ValueError, match="more than 16 jump hosts lead to A"):
        hops_to(Device(name="A", platform="linux", management=Management(host="h")))
