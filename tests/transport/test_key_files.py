"""A key file is read once for many hosts, again when it has changed; no passphrase is kept."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import paramiko
import pytest

from labtests.inventory import Device, Management
from labtests.transport.ssh.key_files import Client
from labtests.transport.ssh.route import hops_to


@pytest.fixture
def reads(monkeypatch):
    seen, read = [], paramiko.SSHClient._key_from_filepath

    def reading(client, filename, klass, password):
        seen.append((Path(filename).name, klass.__name__))
        return read(client, filename, klass, password)

    monkeypatch.setattr(paramiko.SSHClient, "_key_from_filepath", reading)
    return seen


def made(path: Path, passphrase: str = "") -> str:
    path.unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", path], check=True)
    return str(path)


def key_of(path: str, password: str | None = None, kind=paramiko.Ed25519Key) -> paramiko.PKey:
    client = Client()
    client._transport = SimpleNamespace(_log=lambda *_: None)  # where paramiko logs
    return client._key_from_filepath(path, kind, password)


def test_many_clients_read_a_file_once(tmp_path, reads):
    path = made(tmp_path / "key")
    first = key_of(path)
    assert all(key_of(path) is first for _ in range(5))
    for _ in range(2):  # what kind of key it is not is known, too
        with pytest.raises(paramiko.SSHException):
            key_of(path, kind=paramiko.RSAKey)
    assert reads == [("key", "Ed25519Key"), ("key", "RSAKey")]


def test_a_file_that_has_changed_is_read_again(tmp_path, reads):
    path = made(tmp_path / "key")
    first = key_of(path)
    os.utime(made(tmp_path / "key"), ns=(1, 1))
    assert key_of(path) != first
    assert len(reads) == 2


def test_nothing_is_kept_of_a_key_with_a_passphrase(tmp_path, reads):
    path = made(tmp_path / "key", "correct horse")
    for _ in range(2):
        with pytest.raises(paramiko.PasswordRequiredException):
            key_of(path)
        assert key_of(path, "correct horse").get_name() == "ssh-ed25519"
    assert len(reads) == 4


def test_many_hosts_at_once_do_not_share_what_they_write(tmp_path):
    keys = [made(tmp_path / f"key{number}") for number in range(4)]
    devices = [
        Device(
            name=f"h{n}",
            platform="linux",
            management=Management(host="127.0.0.1", key_file=key, ssh_config=False),
        )
        for n, key in enumerate(keys * 16)
    ]
    with ThreadPoolExecutor(max_workers=16) as pool:
        hops = list(pool.map(hops_to, devices))
    used = [hop.credentials["key_filename"] for (hop,) in hops]
    assert used == [[device.management.key_file] for device in devices]
    assert len({id(hop.client) for (hop,) in hops}) == len(devices)
