"""VXLAN tunnels over a host's port: the driver's commands.

Answers of a real kernel are in tests/transcripts/linux/tunnel--*.
"""

import json
from dataclasses import replace

import pytest
from driven import driving
from linux_host import Answer, FakeHost, recording

from labtests.capabilities.records import VxlanTunnel
from labtests.core.errors import UnreadableOutput

Driver = driving("linux")
ASKED = "ip -j -d addr show dev labtests-vx"
INHERITS = VxlanTunnel(vni=4711, address="198.18.71.2/24", remote="10.71.0.3")


def shown(**data):
    """The recorded device, with other data of VXLAN."""
    (device,) = json.loads(recording("tunnel--inherit").text)
    device["linkinfo"]["info_data"] |= data
    return Driver(FakeHost({ASKED: Answer(json.dumps([device]))}))


def test_the_tunnel_of_another_port_is_none_of_this_one():
    assert shown().tunnel("eth1") == INHERITS
    assert shown().tunnel("eth2") is None
    assert shown(link="eth2").tunnel("eth1") is None


@pytest.mark.parametrize("data", [{"tos": "0x60"}, {"port": 8472}, {"id": None, "tos": []}])
def test_a_device_of_that_name_that_labtests_did_not_make_is_refused(data):
    with pytest.raises(UnreadableOutput):
        shown(**data).tunnel("eth1")


def test_another_tunnel_is_a_new_device():
    plain = replace(INHERITS, inherits_tos=False)
    commands = shown().tunnel_commands("eth1", INHERITS, plain)
    assert [str(command) for command in commands] == [
        "ip link del dev labtests-vx",
        "ip link add labtests-vx type vxlan id 4711 dstport 4789 dev eth1 remote 10.71.0.3",
        "ip link set dev labtests-vx addrgenmode none",
        "ip addr add 198.18.71.2/24 dev labtests-vx",
        "ip link set dev labtests-vx up",
    ]
    assert shown().tunnel_commands("eth1", plain, plain) == ()
    receiver = replace(INHERITS, remote="")
    made = shown().tunnel_commands("eth1", None, receiver)
    assert str(made[0]).endswith("dev eth1 tos inherit")
    assert "remote" not in str(made[0])
