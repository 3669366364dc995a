"""How connections are opened, and what is said when they cannot be."""

import errno
import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import paramiko
import pytest
from cli_server import PASSWORD, CliServer
from sshd_server import Sshd, changed, free_port, make_key
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import HostKeyRefused, LabErrors, LoginRefused, Unreachable
from labtests.inventory import Device, Management
from labtests.transport.ssh import SHELL, connect, connect_all
from labtests.transport.ssh.dialling import dialled


def refusal(device: Device, kind: type[Unreachable] = Unreachable) -> str:
    with pytest.raises(kind) as caught:
        connect(device, SHELL, clock=WallClock())
    assert caught.value.device == device.name
    assert caught.value.remedy
    return str(caught.value)


# -- host keys -----------------------------------------------------------------------------------


def test_an_unknown_host_key_is_refused_with_file_and_remedy(sshd: Sshd, tmp_path: Path) -> None:
    known_hosts = tmp_path / "none_yet"
    text = refusal(changed(sshd.device(), known_hosts=str(known_hosts)), HostKeyRefused)
    assert "unknown" in text
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1 >> {known_hosts}" in text
    assert "accept-new" in text
    assert "ssh-ed25519 SHA256:" in text
    assert not known_hosts.exists()


def test_the_remedy_for_an_unknown_key_works(sshd: Sshd, tmp_path: Path) -> None:
    known_hosts = tmp_path / "scanned"
    scan = subprocess.run(
        ["ssh-keyscan", "-p", str(sshd.port), "127.0.0.1"], capture_output=True, check=True
    )
    known_hosts.write_bytes(scan.stdout)
    device = changed(sshd.device(), known_hosts=str(known_hosts))
    connect(device, SHELL, clock=WallClock()).close()


@pytest.mark.parametrize("policy", ["strict", "accept-new"])
def test_a_changed_host_key_is_refused_whatever_the_policy(
    sshd: Sshd, tmp_path: Path, policy: str
) -> None:
    make_key(tmp_path / "other")
    kind, key = (tmp_path / "other.pub").read_text().split()[:2]
    known_hosts = tmp_path / "old"
    known_hosts.write_text(f"[127.0.0.1]:{sshd.port} {kind} {key}\n")
    device = changed(sshd.device(), known_hosts=str(known_hosts), host_keys=policy)
    text = refusal(device, HostKeyRefused)
    assert "another host key" in text
    assert f"ssh-keygen -R '[127.0.0.1]:{sshd.port}' -f {known_hosts}" in text
    assert len(known_hosts.read_text().splitlines()) == 1


def test_a_key_of_another_type_counts_as_changed(sshd: Sshd, tmp_path: Path) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", str(tmp_path / "other")], check=True
    )
    kind, key = (tmp_path / "other.pub").read_text().split()[:2]
    (tmp_path / "old").write_text(f"[127.0.0.1]:{sshd.port} {kind} {key}\n")
    device = changed(sshd.device(), known_hosts=str(tmp_path / "old"), host_keys="accept-new")
    assert "another host key" in refusal(device, HostKeyRefused)


def test_any_of_several_listed_keys_will_do(sshd: Sshd, tmp_path: Path) -> None:
    make_key(tmp_path / "other")
    kind, key = (tmp_path / "other.pub").read_text().split()[:2]
    both = tmp_path / "both"
    both.write_text(
        f"[127.0.0.1]:{sshd.port} {kind} {key}\n" + sshd.known_hosts.read_text() + "# end\n"
    )
    connect(changed(sshd.device(), known_hosts=str(both)), SHELL, clock=WallClock()).close()


def test_hashed_names_are_understood(sshd: Sshd, tmp_path: Path) -> None:
    hashed = tmp_path / "hashed"
    hashed.write_text(sshd.known_hosts.read_text())
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(hashed)], check=True, capture_output=True)
    assert "127.0.0.1" not in hashed.read_text()
    connect(changed(sshd.device(), known_hosts=str(hashed)), SHELL, clock=WallClock()).close()


def test_accept_new_learns_once_and_keeps_what_is_in_the_file(sshd: Sshd, tmp_path: Path) -> None:
    known_hosts = tmp_path / "new" / "known_hosts"
    known_hosts.parent.mkdir()
    known_hosts.write_text("# mine\nother.example ssh-ed25519 not-even-a-key")
    device = changed(sshd.device(), known_hosts=str(known_hosts), host_keys="accept-new")
    for _ in range(2):
        connect(device, SHELL, clock=WallClock()).close()
    lines = known_hosts.read_text().splitlines()
    assert lines[:2] == ["# mine", "other.example ssh-ed25519 not-even-a-key"]
    assert lines[2:] == sshd.known_hosts.read_text().splitlines()
    connect(changed(device, host_keys="strict"), SHELL, clock=WallClock()).close()


# -- logging in ----------------------------------------------------------------------------------


def test_a_wrong_password_is_a_refused_login(
    sshd: Sshd, switch: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", "wrong horse")
    for device, session in (
        (changed(sshd.device(), key_file=None, password_env="SWITCH_PASSWORD"), SHELL),
        (switch.device(), "hp_comware"),
    ):
        with pytest.raises(LoginRefused) as caught:
            connect(device, session, clock=WallClock())
        assert "refused the login" in str(caught.value)
        assert "password_env" in caught.value.remedy
        assert "wrong horse" not in str(caught.value)


def test_a_wrong_key_is_a_refused_login(sshd: Sshd, tmp_path: Path) -> None:
    make_key(tmp_path / "stranger")
    text = refusal(changed(sshd.device(), key_file=str(tmp_path / "stranger")), LoginRefused)
    assert f"127.0.0.1:{sshd.port} refused the login as 'root'" in text


def test_a_key_file_that_is_not_there_is_named(sshd: Sshd, tmp_path: Path) -> None:
    missing = tmp_path / "missing_key"
    text = refusal(changed(sshd.device(), key_file=str(missing)), LoginRefused)
    assert str(missing) in text


def test_a_password_variable_that_is_not_set_is_named(
    switch: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWITCH_PASSWORD", raising=False)
    with pytest.raises(LoginRefused, match="SWITCH_PASSWORD is not set"):
        connect(switch.device(), "hp_comware", clock=WallClock())


def test_a_locked_key_says_ssh_add(sshd: Sshd, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    locked = tmp_path / "locked"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "a phrase", "-f", str(locked)], check=True
    )
    assert "ssh-add" in refusal(changed(sshd.device(), key_file=str(locked)), LoginRefused)


# -- getting there -------------------------------------------------------------------------------


def test_a_closed_port_is_unreachable_with_host_and_port(sshd: Sshd) -> None:
    port = free_port()
    text = refusal(changed(sshd.device(), port=port))
    assert f"127.0.0.1:{port} cannot be reached: " in text
    assert "refused" in text.lower()
    assert "Traceback" not in text


def test_a_name_nobody_knows_is_unreachable(sshd: Sshd) -> None:
    assert "cannot resolve no-such-host.invalid (" in refusal(
        changed(sshd.device(), host="no-such-host.invalid")
    )


def test_something_that_is_not_ssh_is_named(sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            peer, _ = server.accept()
            peer.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            peer.close()

        thread = threading.Thread(target=greet)
        thread.start()
        text = refusal(changed(sshd.device(), port=server.getsockname()[1]))
        thread.join()
    assert "does not speak SSH" in text


def test_a_host_that_says_nothing_does_not_hold_us_for_ever(sshd: Sshd, monkeypatch) -> None:
    monkeypatch.setattr("labtests.transport.ssh.hop.LOGIN_WITHIN_S", 0.5)
    monkeypatch.setattr("labtests.transport.ssh.dialling.DIAL_WITHIN_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = refusal(changed(sshd.device(), port=server.getsockname()[1]))
    assert "does not speak SSH" in text or "did not answer" in text


def test_failures_print_nothing_on_stderr(sshd: Sshd, tmp_path: Path) -> None:
    script = f"""
import sys
from labtests.core.clock import WallClock
from labtests.core.errors import Unreachable
from labtests.inventory import Device, Management
from labtests.transport.ssh import connect
for port in ({free_port()}, {sshd.port}):
    way = Management(host="127.0.0.1", port=port, user="root", ssh_config=False,
                     known_hosts={str(tmp_path / "none")!r})
    try:
        connect(Device(name="a", platform="connectx", management=way), "shell", clock=WallClock())
    except Unreachable as error:
        print("said:", error.device)
"""
    import sys

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "said: a\nsaid: a\n"
    assert ran.stderr == ""


# -- jump hosts and ssh_config -------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with an ssh_config that knows two jump hosts, both of them our sshd."""
    monkeypatch.setenv("HOME", str(tmp_path))
    ssh = tmp_path / ".ssh"
    (ssh / "conf.d").mkdir(parents=True)
    (ssh / "known_hosts").write_text(
        sshd.known_hosts.read_text()
        + "".join(
            f"{name} {sshd.known_hosts.read_text().split(' ', 1)[1]}"
            for name in ("first-alias", "second-alias")
        )
    )
    (ssh / "conf.d" / "jumps").write_text(
        "".join(
            f"Host {name}\n  HostName 127.0.0.1\n  HostKeyAlias {name}-alias\n"
            for name in ("first", "second")
        )
    )
    (ssh / "config").write_text(
        f"Include {ssh}/conf.d/*\n"
        f"Host first second target\n  Port {sshd.port}\n  User root\n"
        f"  IdentityFile {sshd.folder}/user_key\n"
        "Host target\n  HostName 127.0.0.1\n  ProxyJump first\n"
    )
    return tmp_path


def by_config(sshd: Sshd, **management: object) -> Device:
    plain = {"user": None, "key_file": None, "known_hosts": None, "ssh_config": True, "port": 22}
    return changed(sshd.device(), **(plain | {"host": "target"} | management))


@pytest.mark.usefixtures("home")
def test_the_users_ssh_config_is_honoured(sshd: Sshd) -> None:
    transport = connect(by_config(sshd), SHELL, clock=WallClock())
    assert transport.run(typed("echo $SSH_CONNECTION")).text.split()[3] == str(sshd.port)
    transport.close()


@pytest.mark.usefixtures("home")
def test_two_jump_hosts_are_passed_in_the_order_given(sshd: Sshd) -> None:
    from labtests.transport.ssh.route import hops_to

    device = by_config(sshd, jump="first,second")
    names = [hop.name for hop in hops_to(device)]
    assert names == ["first", "second", "target"]
    transport = connect(device, SHELL, clock=WallClock())
    assert transport.run(typed("echo there")).text == "there\n"
    transport.close()


def test_a_jump_of_the_testbed_file_may_be_another_port_of_the_same_machine() -> None:
    """As a device behind a port that a gateway forwards; only `Host *` skips itself."""
    from labtests.transport.ssh.route import hops_to

    management = Management(host="gateway", port=2201, user="root", jump="admin@gateway:22")
    device = Device(name="behind", platform="linux", management=management)
    assert [(hop.name, hop.port) for hop in hops_to(device)] == [("gateway", 22), ("gateway", 2201)]


@pytest.mark.usefixtures("home")
def test_a_switch_is_reached_through_two_jump_hosts(
    sshd: Sshd, switch: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    device = changed(switch.device(), jump=f"first,root@127.0.0.1:{sshd.port}", ssh_config=True)
    known_hosts = switch.folder / "with_jumps"
    known_hosts.write_text(
        (switch.folder / "known_hosts").read_text()
        + (Path(os.environ["HOME"]) / ".ssh" / "known_hosts").read_text()
    )
    config = Path(os.environ["HOME"]) / ".ssh" / "config"
    config.write_text(
        config.read_text() + f"Host 127.0.0.1\n  IdentityFile {sshd.folder}/user_key\n"
    )
    device = changed(device, known_hosts=str(known_hosts))
    transport = connect(device, "hp_comware", clock=WallClock())
    assert transport.run(typed("display name")).text == "H3C\n"
    transport.close()


@pytest.mark.usefixtures("home")
def test_a_jump_host_that_cannot_be_reached_is_named(sshd: Sshd) -> None:
    text = refusal(by_config(sshd, jump=f"127.0.0.1:{free_port()}"))
    assert "jump host 127.0.0.1:" in text


@pytest.mark.usefixtures("home")
def test_a_jump_host_that_cannot_reach_the_device_is_named(sshd: Sshd) -> None:
    port = free_port()
    text = refusal(by_config(sshd, port=port))
    assert f"jump host 127.0.0.1:{sshd.port} could not reach 127.0.0.1:{port}" in text


def test_the_host_key_of_a_jump_host_is_checked_too(sshd: Sshd, home: Path) -> None:
    (home / ".ssh" / "known_hosts").write_text(sshd.known_hosts.read_text())
    text = refusal(by_config(sshd), HostKeyRefused)
    assert f"host key of jump host 127.0.0.1:{sshd.port} is unknown" in text


# -- a whole lab ---------------------------------------------------------------------------------


def test_a_whole_lab_is_connected_at_once(sshd: Sshd, switch: CliServer, monkeypatch) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    devices = [sshd.device(f"host{number}") for number in range(6)] + [switch.device()]
    sessions = {device.name: SHELL for device in devices} | {"switch": "hp_comware"}
    lab = connect_all(devices, lambda d: sessions[d.name], clock=WallClock())
    assert list(lab) == [device.name for device in devices]
    assert all(lab[name].device == name for name in lab)
    assert lab["host5"].run(typed("echo five")).text == "five\n"
    for transport in lab.values():
        transport.close()


def test_all_failures_come_together_and_nothing_stays_open(sshd: Sshd, tmp_path: Path) -> None:
    devices = [
        sshd.device("fine"),
        changed(sshd.device("closed"), port=free_port()),
        changed(sshd.device("unknown"), known_hosts=str(tmp_path / "none")),
    ]
    threads = set(threading.enumerate())
    with pytest.raises(LabErrors) as caught:
        connect_all(devices, lambda _: SHELL, clock=WallClock())
    assert {error.device for error in caught.value.exceptions} == {"closed", "unknown"}  # type: ignore[attr-defined]
    assert "2 of 3 devices" in str(caught.value)
    for thread in set(threading.enumerate()) - threads:
        thread.join(5)
        assert not thread.is_alive()


def test_no_devices_are_no_sessions() -> None:
    assert connect_all([], lambda _: SHELL, clock=WallClock()) == {}


# -- dialling ------------------------------------------------------------------------------------


def first_contact(device: Device) -> object:
    found = dialled(device)
    if isinstance(found, socket.socket):
        found.close()
        return "open"
    return found


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("", "open"),
        ("Host *\n  User somebody\n  IdentityFile ~/.ssh/other\n", "open"),
        ("Host other\n  HostName 127.0.0.9\n", "open"),
        ("Host *\n  HostName 127.0.0.9\n", None),
        ("Host *\n  Port 2222\n", "open"),  # the testbed file has another one, and means it
        ("Host *\n  ProxyJump elsewhere\n", None),
        ("Host *\n  ConnectTimeout 3\n", None),
        ("Host *\n  AddressFamily inet6\n", None),
        ("Match all\n  User somebody\n", "open"),
        ("Include {home}/more\n", None),
        ("no such option\n", None),
    ],
)
def test_only_a_host_whose_way_is_plain_is_dialled(sshd: Sshd, home: Path, config, found) -> None:
    (home / ".ssh" / "config").write_text(config.format(home=home / ".ssh"))
    (home / ".ssh" / "more").write_text("Host *\n  ProxyCommand nc %h %p\n")
    device = changed(sshd.device(), ssh_config=True)
    assert first_contact(device) == found
    assert first_contact(changed(device, ssh_config=False)) == "open"
    assert first_contact(changed(device, ssh_config=False, jump="first")) is None


def test_a_host_that_is_not_there_is_dialled_once(sshd: Sshd, monkeypatch) -> None:
    calls: list[object] = []
    again = "_families_and_addresses"  # what paramiko asks before it connects by itself
    monkeypatch.setattr(paramiko.SSHClient, again, lambda *_: pytest.fail("dialled again"))
    monkeypatch.setattr(socket, "create_connection", _refused(calls))
    text = refusal(changed(sshd.device(), ssh_config=False))
    assert "Connection refused" in text
    assert len(calls) == 1


def _refused(calls: list[object]):
    def create(*words: object, **_: object) -> socket.socket:
        calls.append(words)
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    return create


def test_a_connection_that_was_dialled_is_closed_when_the_login_fails(
    sshd: Sshd, tmp_path: Path, monkeypatch
) -> None:
    made: list[socket.socket] = []
    create = socket.create_connection

    def noted(*words: Any, **more: Any) -> socket.socket:
        made.append(create(*words, **more))
        return made[-1]

    monkeypatch.setattr(socket, "create_connection", noted)
    for wrong in ({"known_hosts": str(tmp_path / "none")}, {"key_file": str(tmp_path / "none")}):
        refusal(changed(sshd.device(), **wrong), Unreachable)
    assert len(made) == 2
    assert {sock.fileno() for sock in made} == {-1}
