"""Devices that reboot, hang, or lose a session in the middle of a command."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import InProcessLab
from typed import typed

from labtests.core.errors import CommandTimeout, LabErrors, Unreachable
from labtests.drivers import driver_module
from labtests.inventory import load
from labtests.transport.protocol import Transport
from labtests.transport.ssh.connecting import connect_all

ROOT = Path(__file__).parents[2]
TESTBED = load(ROOT / "testbeds" / "h3c-s6550-cx4.yaml")
HOST, NIC, SWITCH, PORT = "ServerA", "enp3s0f0np0", "S6550", "Twenty-FiveGigE1/0/14"
PFC_ON = f"mlnx_qos -i {NIC} --pfc 0,0,0,1,0,0,0,0"
SHOWN = f"mlnx_qos -i {NIC}"
RUNNING = "display current-configuration"


@pytest.fixture(scope="module")
def lab() -> Iterator[InProcessLab]:
    with InProcessLab(TESTBED, seed=1) as simulated:
        yield simulated


def login(lab: InProcessLab, name: str) -> Transport:
    device = lab.reroute(TESTBED).device(name)
    session = {name: driver_module(device.platform).SESSION}
    return connect_all((device,), lambda d: session[d.name], clock=lab.clock)[name]


def links(lab: InProcessLab) -> list[bool]:
    return [bool(port.up) for port in lab.lab.network.tables.port]


def test_a_rebooted_host_has_its_default_settings_and_no_process(lab: InProcessLab) -> None:
    host = login(lab, HOST)
    found = host.run(typed(f"{SHOWN}; grep -r . /sys/class/net/{NIC}/ecn")).text
    host.run(typed(f"{PFC_ON}; echo 9 > /sys/class/net/{NIC}/ecn/roce_rp/rpg_gd; echo > /tmp/gone"))
    host.start(typed("iperf3 -s -p 5444"), limit_s=60)
    assert host.run(typed(f"{SHOWN}; grep -r . /sys/class/net/{NIC}/ecn")).text != found
    lab.fault(kind="reboot", device=HOST, seconds=2)
    with pytest.raises(Unreachable):
        host.run(typed("true"))
    with pytest.raises(LabErrors, match="1 of 1 devices cannot be used"):
        login(lab, HOST)
    lab.clock.sleep(2)
    host = login(lab, HOST)
    assert host.run(typed(f"{SHOWN}; grep -r . /sys/class/net/{NIC}/ecn")).text == found
    assert "iperf3" not in host.run(typed("ps -eo args; ls /tmp")).text
    assert "gone" not in host.run(typed("ls /tmp")).text
    assert float(host.run(typed("cat /proc/uptime")).text.split()[0]) < 10
    assert all(links(lab))
    host.close()


def test_a_rebooted_switch_has_what_was_saved(lab: InProcessLab) -> None:
    switch = login(lab, SWITCH)
    empty = switch.run(typed(RUNNING)).text
    switch.configure(typed((f"interface {PORT}", "description kept")))
    kept = switch.run(typed(RUNNING)).text
    switch.run(typed("save force"))
    switch.configure(typed((f"interface {PORT}", "priority-flow-control enable", "shutdown")))
    switch.configure(typed(("qos map-table dscp-dot1p", "import 8 export 7")))
    assert switch.run(typed(RUNNING)).text not in (empty, kept)
    lab.fault(kind="reboot", device=SWITCH, seconds=1)
    assert not any(links(lab))  # nothing is forwarded
    lab.clock.sleep(1)
    assert all(links(lab))
    switch = login(lab, SWITCH)
    assert switch.run(typed(RUNNING)).text == kept
    switch.configure(typed((f"interface {PORT}", "undo description")))
    switch.run(typed("save force"))
    assert switch.run(typed(RUNNING)).text == empty
    switch.close()


@pytest.mark.parametrize("after", [False, True])
def test_a_session_cut_at_a_command(lab: InProcessLab, after: bool) -> None:
    """Before the device has done it, or after: whoever asked cannot tell."""
    host, switch = login(lab, HOST), login(lab, SWITCH)
    lab.fault(kind="cut", device=HOST, command="--pfc 0,0,0,1", after=after)
    lab.fault(kind="cut", device=SWITCH, command="description cut", after=after)
    with pytest.raises(Unreachable):
        host.run(typed(PFC_ON))
    with pytest.raises(Unreachable):
        switch.configure(typed((f"interface {PORT}", "description cut")))
    host, switch = login(lab, HOST), login(lab, SWITCH)
    assert ("enabled     0   0   0   1" in host.run(typed(SHOWN)).text) == after
    assert ("description cut" in switch.run(typed(RUNNING)).text) == after
    host.run(typed(f"mlnx_qos -i {NIC} --pfc 0,0,0,0,0,0,0,0"))
    switch.configure(typed((f"interface {PORT}", "undo description")))
    host.close()
    switch.close()


def test_a_command_hangs_until_it_is_ended_and_heals(lab: InProcessLab) -> None:
    host = login(lab, HOST)
    lab.fault(kind="hang", device=HOST, command="roce_rp")
    with pytest.raises(CommandTimeout, match="its process group on the host was ended"):
        host.run(typed(f"echo 1 > /sys/class/net/{NIC}/ecn/roce_rp/enable/3"), timeout_s=1)
    assert "roce_rp" not in host.run(typed("ps -eo args")).text
    lab.fault(kind="heal", device=HOST)
    assert host.run(typed(f"cat /sys/class/net/{NIC}/ecn/roce_rp/enable/3")).status == 0
    host.close()


def test_a_hanging_line_of_a_cli_is_interrupted(lab: InProcessLab) -> None:
    switch = login(lab, SWITCH)
    lab.fault(kind="hang", device=SWITCH, command="display clock")
    with pytest.raises(CommandTimeout, match="it was interrupted"):
        switch.run(typed("display clock"), timeout_s=0.3)
    lab.fault(kind="heal", device=SWITCH)
    assert "2024" in switch.run(typed("display clock")).text
    switch.close()
