"""The driver against the emulated host of a dry run: the same abilities, no tool of NVIDIA's."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "simlab_linux"))

from driven import driving
from linux_bench import INTERFACE, FluidNetwork, Hands, three_servers, without_switch_face

from labtests.capabilities import counters as c
from labtests.capabilities.records import VxlanTunnel
from labtests.simlab import lab as lab_module
from labtests.transport.protocol import Reply

Driver = driving("linux")


class Emulated:
    """ServerA of a simulated lab, as a driver reaches it."""

    device = "ServerA"

    def __init__(self, hands):
        self.hands = hands

    def run(self, command, *, timeout_s=30.0):
        said = self.hands.run(command)
        return Reply(
            device=self.device,
            command=command,
            text=said.out,
            errors=said.err,
            status=said.status,
            time_s=0.0,
        )

    def configure(self, commands):
        for command in commands:
            reply = self.run(command)
        return reply


@pytest.fixture(name="host")
def emulated_host(monkeypatch):
    real = lab_module.face_module
    monkeypatch.setattr(lab_module, "Network", FluidNetwork)
    monkeypatch.setattr(lab_module, "face_module", partial(without_switch_face, real=real))
    testbed = three_servers()
    plain = tuple(
        replace(d, platform="linux") if d.platform == "connectx" else d for d in testbed.devices
    )
    return Emulated(Hands(lab_module.SimulatedLab(replace(testbed, devices=plain), seed=1)))


def test_nothing_of_nvidia_s_is_installed_there(host):
    for tool in ("mlnx_qos", "show_gids", "ibdev2netdev", "ofed_info"):
        assert host.run(f"{tool} -s").status == 127
    assert host.run(f"ls /sys/class/net/{INTERFACE}/ecn").status == 2


def test_the_driver_reads_all_of_it(host):
    driver = Driver(host)
    link = driver.link(INTERFACE)
    assert (link.up, link.virtual, link.speed_bits_per_s) == (True, False, 10 * 10**9)
    roce = driver.roce(INTERFACE)
    assert (roce.rdma, roce.active, roce.v2_addresses) == ("mlx5_0", True, {"192.168.10.10"})
    assert set(driver.lacks()) == {"rdma_ecn"}  # it is a ConnectX
    assert driver.obstacles() == ()
    versions = driver.versions()
    assert versions["driver"].startswith("mlx5_core")
    assert versions["perftest"]
    assert versions["iperf3"]
    assert driver.link_errors(INTERFACE)
    assert {r.scope for r in driver.host_counters()} == {"host"}


def test_packets_of_rdma_are_in_the_port_s_counters(host):
    host.hands.nic().values["tx_packets"] = (5, 0, 0, 2, 0, 0, 0, 0)
    host.hands.nic().values["tx_bytes"] = (500, 0, 0, 200, 0, 0, 0, 0)
    found = {r.counter: r for r in Driver(host).nic_counters(INTERFACE)}
    assert found[c.TX_PACKETS].value == 7
    assert found[c.TX_PACKETS].source == "ethtool -S tx_packets_phy"
    assert found[c.QDISC_DROPPED_PACKETS].value == 0
    assert found[c.CARRIER_CHANGES].value == 1
    host.hands.nic().values["rx_crc_errors"] = 4
    found = {r.counter: r for r in Driver(host).nic_counters(INTERFACE)}
    assert (found[c.RX_CRC_ERRORS].value, found[c.RX_ERRORS].value) == (4, 4)
    rdma = {r.counter: r for r in Driver(host).rdma_counters(INTERFACE)}
    assert rdma[c.NP_CNP_SENT].value == 0


def test_its_mtu_can_be_set_and_put_back(host):
    driver = Driver(host)
    earlier = driver.mtu(INTERFACE)
    driver.set_mtu(INTERFACE, 4200)
    assert driver.mtu(INTERFACE) == 4200
    driver.set_mtu(INTERFACE, earlier)
    assert driver.mtu(INTERFACE) == earlier == 1500


TUNNEL = VxlanTunnel(vni=4711, address="198.18.71.2/24", remote="10.71.0.3")


def test_a_tunnel_is_there_and_is_gone(host):
    driver = Driver(host)
    assert driver.tunnel(INTERFACE) is None
    for wanted in (TUNNEL, replace(TUNNEL, inherits_tos=False, remote="")):
        driver.set_tunnel(INTERFACE, wanted)
        assert driver.tunnel(INTERFACE) == wanted
    again = host.run(f"ip link add labtests-vx type vxlan id 5 dev {INTERFACE}")
    assert (again.status, again.errors) == (2, "RTNETLINK answers: File exists\n")
    same = host.run(f"ip link add other type vxlan id 4711 dev {INTERFACE}")
    assert "A VXLAN device with the specified VNI already exists" in same.errors
    assert host.run("ip link add o type vxlan id 4 dev nix").status == 255
    driver.set_tunnel(INTERFACE, None)
    assert driver.tunnel(INTERFACE) is None
    assert host.run("ip link del dev labtests-vx").status
