"""Host keys, as somebody in between would try them: every kind of session, every kind of line."""

import subprocess
from pathlib import Path

import pytest
from cli_server import PASSWORD, CliServer
from paramiko import HostKeys
from sshd_server import Sshd, changed, make_key

from labtests.core.clock import WallClock
from labtests.core.errors import HostKeyRefused
from labtests.inventory import Device, Management
from labtests.transport.ssh import SHELL, connect
from labtests.transport.ssh.host_keys import HostKeyProblem, KnownHosts, known_hosts_name
from labtests.transport.ssh.learning import KnownHostsFiles


@pytest.fixture(params=["shell", "netmiko"])
def session(
    request: pytest.FixtureRequest, sshd: Sshd, switch: CliServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[Device, str, Path]:
    """A device, its kind of session, and the file with its true host key."""
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    if request.param == "shell":
        return sshd.device(), SHELL, sshd.known_hosts
    return switch.device(), "hp_comware", switch.folder / "known_hosts"


def refused(device: Device, kind: str) -> str:
    with pytest.raises(HostKeyRefused) as caught:
        connect(device, kind, clock=WallClock())
    assert caught.value.remedy
    return str(caught.value)


def stranger(folder: Path, kind: str = "ed25519") -> str:
    words = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(folder / kind)]
    subprocess.run(words, check=True)
    return " ".join((folder / f"{kind}.pub").read_text().split()[:2])


def test_host_keys_are_checked_unless_the_file_says_otherwise() -> None:
    assert Management(host="a").host_keys == "strict"


def test_an_unknown_key_is_refused_in_every_kind_of_session(session, tmp_path: Path) -> None:
    device, kind, _ = session
    text = refused(changed(device, known_hosts=str(tmp_path / "none")), kind)
    assert "is unknown" in text
    assert "accept-new" in text


@pytest.mark.parametrize("type_of_key", ["ed25519", "ecdsa"])
def test_a_changed_key_and_one_of_another_type_are_refused_in_every_kind_of_session(
    session, tmp_path: Path, type_of_key: str
) -> None:
    device, kind, _ = session
    file = tmp_path / "old"
    name = f"[127.0.0.1]:{device.management.port}"
    file.write_text(f"{name} {stranger(tmp_path, type_of_key)}\n")
    before = file.read_bytes()
    for policy in ("strict", "accept-new"):
        text = refused(changed(device, known_hosts=str(file), host_keys=policy), kind)
        assert "another host key" in text
    assert file.read_bytes() == before


def test_a_revoked_key_is_refused_even_where_new_ones_are_learned(session, tmp_path: Path) -> None:
    device, kind, known_hosts = session
    file = tmp_path / "revoked"
    for more in ("", known_hosts.read_text()):  # also beside a line that trusts it
        file.write_text(f"{more}@revoked {known_hosts.read_text()}")
        for policy in ("strict", "accept-new"):
            text = refused(changed(device, known_hosts=str(file), host_keys=policy), kind)
            assert "marked @revoked" in text


def test_a_known_pattern_is_no_unknown_host(session, tmp_path: Path) -> None:
    device, kind, known_hosts = session
    file = tmp_path / "patterns"
    file.write_text(f"[127.0.0.*]:* {stranger(tmp_path)}\n")
    text = refused(changed(device, known_hosts=str(file), host_keys="accept-new"), kind)
    assert "another host key" in text
    _, _, key = known_hosts.read_text().partition(" ")
    file.write_text(f"[127.0.0.?]:* {key}")
    connect(changed(device, known_hosts=str(file)), kind, clock=WallClock()).close()


def test_what_a_person_is_told_to_type_is_quoted(sshd: Sshd, tmp_path: Path) -> None:
    file = tmp_path / "a $(touch owned) `id` 'b'; c"
    text = refused(changed(sshd.device(), known_hosts=str(file)), SHELL)
    command = text.rpartition(" >> ")[2].partition("; or say")[0]
    subprocess.run(["sh", "-c", f": >> {command}"], check=True, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("names", "host", "meant"),
    [
        ("leaf1", "leaf1", True),
        ("LEAF1", "leaf1", True),
        ("leaf*", "leaf12", True),
        ("leaf?", "leaf12", False),
        ("*,!leaf1", "leaf1", False),
        ("!leaf1,*", "leaf1", False),
        ("*,!leaf1", "leaf2", True),
        ("leaf.", "leafx", False),
        ("[leaf1]:2222", "[leaf1]:2222", True),
        ("[leaf1]:2222", "[leaf1]:22", False),
        ("spine,leaf1", "leaf1", True),
    ],
)
def test_names_are_compared_as_openssh_does(
    tmp_path: Path, names: str, host: str, meant: bool
) -> None:
    key = stranger(tmp_path)
    file = tmp_path / "known_hosts"
    file.write_text(f"{names} {key}\n")
    # OpenSSH itself is the reference where it can be asked: -F looks a host up
    asked = subprocess.run(["ssh-keygen", "-F", host, "-f", str(file)], capture_output=True)
    assert (asked.returncode == 0) == meant
    assert bool(KnownHosts(host, KnownHostsFiles((file,)), "strict").key_types()) == meant


def test_a_problem_says_which(tmp_path: Path) -> None:
    make_key(tmp_path / "k")
    import paramiko

    key = paramiko.Ed25519Key.from_private_key_file(str(tmp_path / "k"))
    with pytest.raises(HostKeyProblem) as caught:
        KnownHosts("x", KnownHostsFiles((tmp_path / "none",)), "strict").missing_host_key(
            None, "x", key
        )  # type: ignore[arg-type]
    assert caught.value.why == "unknown"


def test_of_a_long_file_only_a_host_s_own_keys_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labtests.transport.ssh import host_keys

    own, other = stranger(tmp_path), stranger(tmp_path, "ecdsa")
    hashed = HostKeys.hash_host("leaf1")
    lines = [f"leaf{number} {other}" for number in range(2, 200)]
    lines += [
        f"leaf1 {own}",
        "|1|damaged|| ssh-ed25519 AAAA",
        f"*,!leaf1 {other}",
        f"{hashed} {own}",
    ]
    file = tmp_path / "known_hosts"
    file.write_text("\n".join(lines) + "\n")
    read: list[str] = []
    from_line = host_keys.HostKeyEntry.from_line
    monkeypatch.setattr(
        host_keys.HostKeyEntry, "from_line", lambda line: read.append(line) or from_line(line)
    )
    leaf1 = KnownHosts("leaf1", KnownHostsFiles((file,)), "strict")
    assert leaf1.key_types() == ("ssh-ed25519",)
    assert read == [f"leaf1 {own}", f"{hashed} {own}"]
    file.write_text(f"leaf1 {other}\n")  # a file that has changed is read anew
    assert leaf1.key_types() == ("ecdsa-sha2-nistp256",)


@pytest.mark.parametrize(
    ("host", "as_ssh_has_it"),
    [
        ("LabHost", "labhost"),
        ("127.1", "127.0.0.1"),
        ("127.000.0.1", "127.0.0.1"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("FE80::1", "fe80::1"),
        ("x" * 300, "x" * 300),
    ],
)
def test_a_host_is_looked_up_as_ssh_spells_it(
    tmp_path: Path, host: str, as_ssh_has_it: str
) -> None:
    """In other words a host that was known was new, and another key of it was learned."""
    assert known_hosts_name(host, 22, None) == as_ssh_has_it
    assert known_hosts_name(host, 2222, None) == f"[{as_ssh_has_it}]:2222"
    assert known_hosts_name(host, 22, "Alias") == "Alias"
    file = tmp_path / "known_hosts"
    file.write_text(f"{HostKeys.hash_host(as_ssh_has_it)} {stranger(tmp_path)}\n")
    known = KnownHosts(known_hosts_name(host, 22, None), KnownHostsFiles((file,)), "accept-new")
    assert known.key_types() == ("ssh-ed25519",)
