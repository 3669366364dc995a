"""`labtests new testbed`: a lab of two tiers that is valid as it is."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.experiment.roles import roles_of, ways_out
from labtests.inventory import load
from labtests.simlab.lab import face_module, wiring

ROOT = Path(__file__).parents[2]
NEXUS = ("--platform", "nxos", "--down", "Ethernet1/{}", "--up", "Ethernet1/{}")


def new(*words: object):
    return CliRunner().invoke(main, ["new", "testbed", *map(str, words)], prog_name="labtests")


@pytest.mark.parametrize(
    ("hosts", "leaves", "spines", "more"),
    [(64, 4, 2, ()), (64, 2, 4, NEXUS), (9, 2, 2, NEXUS), (3, 2, 1, ())],
)
def test_every_sender_reaches_the_receiver_by_all_spines(tmp_path, hosts, leaves, spines, more):
    file = tmp_path / "lab.yaml"
    told = new(file, "--hosts", hosts, "--leaves", leaves, "--spines", spines, *more)
    assert told.exit_code == 0, told.output
    testbed = load(file)
    assert len(testbed.devices) == hosts + leaves + spines
    assert len(testbed.links) == hosts + leaves * spines
    roles = roles_of(testbed)
    assert len(roles.senders) == hosts - 1
    away = {role.switch.device for role in roles.senders} - {roles.receiver.switch.device}
    expected = dict.fromkeys(away, spines) if spines > 1 else {}
    assert {name: len(ports) for name, ports in ways_out(testbed, roles).items()} == expected
    kinds = {device.name: face_module(device).KIND for device in testbed.devices}
    assert len(wiring(testbed, kinds).cables) == len(testbed.links)


def test_the_shipped_one_is_what_it_writes(tmp_path):
    file = tmp_path / "two-spines.yaml"
    shape = ("--hosts", 9, "--leaves", 2, "--spines", 2, "--spine-gbit", 100)
    assert new(file, *shape, *NEXUS).exit_code == 0
    assert file.read_text() == (ROOT / "testbeds" / "two-spines.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--hosts", 2), "2 hosts on 4 leaves below 2 spines are no two tiers\n  remedy: three"),
        (("--down", "Ethernet1"), "ports need {} where their number goes"),
        (("--gbit", "nan"), "nan Gb/s: give 0.001 to 3200"),
        (("--spine-gbit", 0), "0 Gb/s: give 0.001 to 3200"),
        (("--down", "{0}/{}"), 'leaf1.ports."{0}/1": an interface has letters, digits'),
        (("--hosts", 5000), "larger than 1048576 bytes"),
        (("--platform", "junos"), "no driver for platform 'junos'; there are: comware"),
        (("--platform", "connectx"), "connectx is a platform of hosts, not of switches"),
    ],
)
def test_what_is_no_lab_is_refused(tmp_path, words, says):
    told = new(tmp_path / "lab.yaml", *words)
    assert told.exit_code == 2
    assert says in told.stderr
    assert not (tmp_path / "lab.yaml").exists()


def test_the_number_of_a_port_may_be_there_twice(tmp_path):
    file = tmp_path / "lab.yaml"
    assert new(file, "--hosts", 3, "--leaves", 2, "--down", "Ethernet{}/{}").exit_code == 0
    assert "Ethernet1/1" in {port.interface for port in load(file).device("leaf1").ports}


def test_nothing_is_written_over(tmp_path):
    file = tmp_path / "lab.yaml"
    file.write_text("mine")
    assert "is there already" in new(file).stderr
    assert file.read_text() == "mine"
