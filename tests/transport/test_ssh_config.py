"""A user's ~/.ssh/config: what of it runs a program or sends something, and what is left alone."""

import os
import subprocess
import time
from pathlib import Path
from typing import ClassVar

import pytest
from paramiko import ConfigParseError
from sshd_server import Sshd
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.inventory import Device, Management
from labtests.transport.ssh import SHELL, connect, hop, matching
from labtests.transport.ssh.route import hops_to
from labtests.transport.ssh.settings import ssh_settings

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
    "DynamicForward": "DynamicForward 127.0.0.1:0\nTunnel yes",
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


def looked_up(host: str, option: str) -> object:
    return ssh_settings(True).lookup(host).get(option)


@pytest.mark.parametrize(("line", "matches"), [("true", True), ("false", False)])
def test_a_program_of_match_exec_decides_as_with_ssh(
    config: Path, line: str, matches: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    config.write_text(
        f'Match originalhost h exec "echo out; echo err >&2; cat; {line}"\n  User inside\n'
        f'Match originalhost h !exec "{line}"\n  Port 7\n'
        f'Match originalhost other exec "touch {config.parent}/made"\n  Port 8\n'
    )
    assert looked_up("h", "user") == ("inside" if matches else None)
    assert looked_up("h", "port") == (None if matches else "7")
    assert not (config.parent / "made").exists()  # what comes before it does not match
    assert capfd.readouterr() == ("", "")


def test_one_that_hangs_counts_as_no(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "EXEC_WITHIN_S", 0.5)
    config.write_text('Match exec "exec sleep 30"\n  User inside\nHost *\n  Port 7\n')
    begun_s = time.monotonic()
    assert looked_up("h", "user") is None
    assert looked_up("h", "port") == "7"
    assert time.monotonic() - begun_s < 10


NESTED = "Host *\n  ProxyCommand touch owned\nHost h other\n  User inside\n"


@pytest.mark.parametrize(
    ("outer", "holds"),
    [
        ("Host elsewhere", False),
        ("Host h", True),
        ("Host * !h", False),
        ("Match originalhost elsewhere", False),
        ('Match exec "false"', False),
        ('Match exec "true"', True),
        ("Match all", True),
        ("Host *", True),
    ],
)
def test_what_is_included_in_a_block_holds_only_where_the_block_does(
    config: Path, outer: str, holds: bool
) -> None:
    """Its own blocks, too; paramiko knows no Include, and took them for blocks beside it."""
    config.write_text(f"{outer}\n  Include conf.d/more\n  Port 7\nHost *\n  Compression yes\n")
    (config.parent / "conf.d" / "more").write_text(NESTED + "Include conf.d/deeper\n")
    (config.parent / "conf.d" / "deeper").write_text("Host *\n  HostKeyAlias deep\n")
    assert looked_up("h", "proxycommand") == ("touch owned" if holds else None)
    assert looked_up("h", "user") == ("inside" if holds else None)
    assert looked_up("h", "hostkeyalias") == ("deep" if holds else None)
    assert looked_up("h", "port") == ("7" if holds else None)
    assert looked_up("h", "compression") == "yes"


def test_no_program_is_run_of_what_is_included_where_it_does_not_hold(config: Path) -> None:
    made = config.parent / "made"
    config.write_text("Host elsewhere\n  Include conf.d/more\n")
    (config.parent / "conf.d" / "more").write_text(f'Match exec "touch {made}"\n  User inside\n')
    assert looked_up("h", "user") is None
    assert not made.exists()
    assert looked_up("elsewhere", "user") == "inside"
    assert made.exists()


def test_a_file_that_includes_itself_by_other_names_is_read_once(config: Path) -> None:
    """Eight links to it took minutes: each read the other seven, 16 deep."""
    config.write_text("Include l*\nHost *\n  User me\n")
    for n in range(8):
        (config.parent / f"l{n}").symlink_to("config")
    begun_s = time.process_time()
    assert looked_up("h", "user") == "me"
    assert time.process_time() - begun_s < 2


def test_an_include_that_may_not_be_looked_into_is_told(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path, pattern: str) -> list[Path]:
        raise PermissionError(13, "Permission denied", pattern)

    config.write_text("Include **/*\n")
    monkeypatch.setattr(Path, "glob", refused)
    with pytest.raises(LabError, match=r"`Include \*\*/\*` cannot be followed: .*denied"):
        looked_up("h", "user")


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
@pytest.mark.parametrize("which", ["config", "conf.d/more"])
def test_a_file_that_others_can_write_is_refused(config: Path, which: str, mode: int) -> None:
    config.write_text("Include conf.d/*\n")
    (config.parent / "conf.d" / "more").write_text("Host *\n  User inside\n")
    assert looked_up("h", "user") == "inside"
    (config.parent / which).chmod(mode)
    with pytest.raises(LabError, match="can be written by somebody else"):
        looked_up("h", "user")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")
@pytest.mark.parametrize("which", ["config", "conf.d/more"])
def test_so_is_one_of_another_user(config: Path, which: str) -> None:
    config.write_text("Include conf.d/*\n")
    (config.parent / "conf.d" / "more").write_text("Host *\n  User inside\n")
    os.chown(config.parent / which, 12345, 12345)
    with pytest.raises(LabError, match="12345"):
        looked_up("h", "user")


def test_names_are_made_canonical_only_where_the_file_says_so(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def found(name: str) -> str:
        asked.append(name)
        return "192.0.2.1"

    monkeypatch.setattr("socket.gethostbyname", found)
    config.write_text("CanonicalDomains lab.example\n")
    assert (looked_up("h", "hostname"), asked) == ("h", [])
    config.write_text("CanonicalizeHostname yes\nCanonicalDomains lab.example\n")
    assert looked_up("h", "hostname") == "h.lab.example"
    assert asked == ["h.lab.example"]


def test_nothing_of_it_is_read_where_the_testbed_file_says_no(config: Path) -> None:
    config.write_text(f'Match exec "touch {config.parent}/made"\n  User inside\n')
    management = Management(host="h", ssh_config=False)
    assert ssh_settings(management.ssh_config).lookup("h") == {"hostname": "h"}
    assert not (config.parent / "made").exists()


@pytest.mark.parametrize(
    ("text", "wanted_s"),
    [("7", 7), ("1m", 60), ("1m30s", 90), ("2H", 7200), ("0", 10), ("none", 10), (None, 10)],
)
def test_a_connect_timeout_is_a_time_as_ssh_reads_it(
    config: Path, text: str | None, wanted_s: int
) -> None:
    config.write_text(f"ConnectTimeout {text}\n" if text else "")
    (found,) = hops_to(Device(name="A", platform="linux", management=Management(host="h")))
    assert found.within_s == wanted_s


@pytest.mark.parametrize("text", ["1x", "-1", "soon", "9" * 400])
def test_one_that_is_no_time_is_said(config: Path, text: str) -> None:
    config.write_text(f"ConnectTimeout {text}\n")
    with pytest.raises(ValueError, match=r"ConnectTimeout .* is not a time"):
        hops_to(Device(name="A", platform="linux", management=Management(host="h")))


def test_a_program_of_match_exec_is_asked_once(tmp_path: Path) -> None:
    """One that hung did so four times for each device."""
    asked = tmp_path / "asked"
    for _ in range(2):
        assert matching._succeeds(f"echo >> {asked}")
    assert asked.read_text() == "\n"


LINES = {
    "comment": "HostKeyAlias box # the lab",
    "single quotes": "HostKeyAlias 'box'",
    "double quotes and a comment": 'HostKeyAlias "box" # x',
    "equals": 'HostKeyAlias="box"',
    "two equals": "HostKeyAlias ==box",
    "backslash": r"HostKeyAlias lab\box",
    "escaped blank": r"HostKeyAlias lab\ box",
    "carriage return": "HostKeyAlias box\r",
    "form feed at the end": "HostKeyAlias box\f",
    "form feed in a comment": "# comment\fHostKeyAlias evil",
    "other ends of lines": "#\x0bHostKeyAlias a\n#\x1cHostKeyAlias b\n#\x85HostKeyAlias c",
    "separator of lines": "#\u2028HostKeyAlias evil",
    "host in a comment": "Host other # labhost\n HostKeyAlias box",
    "host with a comment": "Host labhost # prod\n HostKeyAlias box",
    "brackets": "Host lab[hx]ost\n HostKeyAlias box",
    "question marks": "Host lab?os*\n HostKeyAlias box",
    "negated": "Host * !labhost\n HostKeyAlias box",
    "match with a comment": "Match host labhost # x\n HostKeyAlias box",
    "match in quotes": 'Match host "labhost"\n HostKeyAlias box',
    "match with a capital": "Match Host other\n HostKeyAlias box",
    "match with capitals": "Match HOST labhost\n HostKeyAlias box",
    "match not all": "Match !all\n HostKeyAlias box",
    "match all": "Match All\n HostKeyAlias box",
    "match exec with a capital": "Match Exec false\n HostKeyAlias box",
    "match not exec": "Match !Exec false Host labhost\n HostKeyAlias box",
    "match by equals": "Match host=labhost\n HostKeyAlias box",
    "match user": "Match User nobody-77\n HostKeyAlias box",
    "match not original host": "Match !originalHost other\n HostKeyAlias box",
    "quoted host": 'Host "labhost"\n HostKeyAlias box',
}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_a_line_means_what_it_means_to_ssh(config: Path, text: str) -> None:
    """With another alias than ssh has, a host that ssh knows was new here."""
    config.write_text(f"{text}\n")
    config.chmod(0o600)
    words = ["ssh", "-F", str(config), "-G", "labhost"]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    told = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
    assert ssh_settings(True).lookup("labhost").get("hostkeyalias") == told.get("hostkeyalias")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('HostKeyAlias "box', 'line 2: a quote " has no end'),
        ("HostKeyAlias", "line 2: not an option and its value"),
        ("HostKeyAlias # box", "line 2: HostKeyAlias has no value"),
        ("HostKeyAlias box other", "line 2: HostKeyAlias has more than one value"),
        ("HostKeyAlias lab\0box", "line 2: not an option and its value"),
        ("HostKeyAlias 'a\"b'", "line 2: a quote in a value is not read here"),
    ],
)
def test_a_line_that_is_not_understood_is_told(config: Path, text: str, says: str) -> None:
    config.write_text(f"User bob\n{text}\n")
    with pytest.raises(LabError) as told:
        ssh_settings(True)
    assert f"{config}: {says}" in str(told.value)
    assert "`ssh_config: false`" in str(told.value)


def test_a_criterion_that_is_not_known_does_not_hold_for_everybody(config: Path) -> None:
    config.write_text("Match tagged x\n HostKeyAlias box\n")
    named = Device(name="d", platform="linux", management=Management(host="labhost"))
    with pytest.raises(ConfigParseError, match="`Match tagged`"):
        hops_to(named)
