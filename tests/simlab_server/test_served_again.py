"""A lab that is served again is the one that its clients know, and a file leads to it."""

import asyncio
import os
import socket
from pathlib import Path

import asyncssh
import pytest

from labtests.core.errors import LabError, WrongOption
from labtests.inventory import load
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.live_testbed import LiveTestbed
from labtests.simlab.serving import Doors, ServingFolder, open_lab

TESTBED = """
name: two
defaults: {password_env: REAL, jump: bastion, user: lab}
devices:
  H:
    platform: connectx
    management: {host: h.lab.example}
    ports: {eth0: {address: 192.168.10.10/24}}
  S:
    platform: comware
    management: {host: s.lab.example, user: admin}
    ports: {Twenty-FiveGigE1/0/1: {}}
links: [{between: ["H:eth0", "S:Twenty-FiveGigE1/0/1"], speed_gbit_per_s: 10, length_m: 3}]
"""


def free_ports(number: int) -> int:
    """The first of so many ports in a row that nobody has."""
    for first in range(23000, 32000, number):
        sockets = [socket.socket() for _ in range(number)]
        try:
            for port, each in enumerate(sockets, first):
                each.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()
    raise AssertionError("no free ports")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "two.yaml"
    file.write_text(TESTBED)
    return file


def test_keys_ports_and_password_stay_over_a_restart_and_the_written_file_leads_there(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_PASSWORD", "as-before-17")
    live = LiveTestbed(source=source, target=tmp_path / "live.yaml")
    doors = Doors(ports_from=free_ports(2), password_env="SERVED_PASSWORD", live=live)

    async def once() -> dict[str, bytes]:
        place = ServingFolder(tmp_path / "keys")
        async with open_lab(SimulatedLab(load(source), seed=1), place, doors) as ready:
            assert ready["password"] == "as-before-17"
            for device in load(live.target).devices:
                reached = device.management
                assert (reached.jump, reached.password_env) == (None, "SERVED_PASSWORD")
                async with asyncssh.connect(
                    reached.host,
                    reached.port,
                    username=reached.user,
                    client_keys=[reached.key_file],
                    known_hosts=reached.known_hosts,
                ):
                    pass
        told = ("id_ed25519.pub", "known_hosts", "ssh_config")
        return {name: (tmp_path / "keys" / name).read_bytes() for name in told}

    assert asyncio.run(once()) == asyncio.run(once())


def test_a_taken_port_an_unknown_password_and_somebody_elses_file_are_sentences(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOBODY_HAS_IT", raising=False)

    async def serve(doors: Doors) -> None:
        async with open_lab(
            SimulatedLab(load(source), seed=1), ServingFolder(tmp_path / "keys"), doors
        ):
            raise AssertionError("it was served")

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LabError, match=f"H: port {port} .* cannot be listened on"):
            asyncio.run(serve(Doors(ports_from=port)))
    with pytest.raises(WrongOption, match="NOBODY_HAS_IT: there is no such password"):
        asyncio.run(serve(Doors(password_env="NOBODY_HAS_IT")))
    with pytest.raises(LabError, match="no served lab made it"):
        LiveTestbed(source=source, target=source)
    (tmp_path / "keys" / "host_key.H").write_text("half a key")
    (tmp_path / "keys" / "host_key.H").chmod(0o600)
    with pytest.raises(LabError, match=r"host_key\.H is no key that can be read"):
        asyncio.run(serve(Doors()))
    assert source.read_text() == TESTBED


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["pipe", "without end", "folder"])
def test_what_others_put_in_the_place_of_the_file_is_not_waited_for(
    source: Path, tmp_path: Path, kind: str
) -> None:
    """A pipe was read until somebody wrote to it, /dev/zero until memory was full."""
    place = tmp_path / "live.yaml"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    with pytest.raises((LabError, IsADirectoryError)):
        LiveTestbed(source=source, target=place)


def test_a_name_of_several_lines_adds_none_to_the_file(tmp_path: Path) -> None:
    (source := tmp_path / "two\ndevices: {}.yaml").write_text(TESTBED)
    LiveTestbed(source=source, target=tmp_path / "live.yaml").write([], tmp_path, None)
    written = (tmp_path / "live.yaml").read_text().splitlines()
    assert written[0].endswith("two devices: {}.yaml: good while it serves.")
    assert written[1] == "name: two"
