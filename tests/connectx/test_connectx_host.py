"""Versions, obstacles, and the small tools that tell one link from another."""

from dataclasses import replace

import pytest
from connectx_host import Answer, FakeHost, grep, no_such_files, recording
from driven import driving

from labtests.core.errors import ToolMissing, UnreadableOutput
from labtests.drivers.connectx.links import parse_show_gids
from labtests.drivers.connectx.rdma import (
    parse_ibdev2netdev,
)
from labtests.transport.protocol import Reply

Driver = driving("connectx")

IF = "enp3s0f0np0"
ENABLE = f"/sys/class/net/{IF}/ecn/roce_rp/enable"
LINKS = Answer(f'[{{"ifname":"mlx5_0","port":1,"state":"ACTIVE","netdev":"{IF}"}}]\n')
LLDPAD = "systemctl is-active lldpad"
QUIET = {
    "rdma -j link": LINKS,
    LLDPAD: Answer("inactive\n", "", 3),
    f"mlnx_qos -i {IF}": recording("mlnx_qos--lab-a"),
    f"grep -H . {ENABLE}/*": grep(ENABLE, {str(p): 1 for p in range(8)}),
}
WARNING = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"


def test_nothing_stands_in_the_way_of_a_quiet_host():
    assert Driver(FakeHost(QUIET)).obstacles() == ()


@pytest.mark.parametrize(
    ("state", "runs"),
    [("active", True), ("activating", True), ("inactive", False), ("failed", False)],
)
def test_lldpad_is_an_obstacle_while_it_runs(state, runs):
    found = Driver(FakeHost(QUIET | {LLDPAD: Answer(f"{state}\n", "", 3)})).obstacles()
    assert any("lldpad" in sentence for sentence in found) == runs


def test_without_systemd_the_warning_of_mlnx_qos_tells_of_lldpad():
    said = recording("mlnx_qos--lab-a")
    warned = replace(said, text=WARNING + said.text)
    changed = {
        LLDPAD: recording("service_state--no-systemd"),
        f"mlnx_qos -i {IF}": warned,
    }
    (sentence,) = Driver(FakeHost(QUIET | changed)).obstacles()
    assert "lldpad is running" in sentence


def test_lldpad_is_said_once_when_both_tell_of_it():
    said = recording("mlnx_qos--lab-a")
    changed = {
        LLDPAD: Answer("active\n"),
        f"mlnx_qos -i {IF}": replace(said, text=WARNING + said.text),
    }
    assert len(Driver(FakeHost(QUIET | changed)).obstacles()) == 1


def test_dcbx_in_firmware_is_an_obstacle_with_the_command_against_it():
    changed = {f"mlnx_qos -i {IF}": recording("mlnx_qos--firmware-controlled")}
    (sentence,) = Driver(FakeHost(QUIET | changed)).obstacles()
    assert f"mlnx_qos -i {IF} -d os" in sentence


def test_a_missing_tool_is_an_obstacle_not_a_crash():
    changed = {f"mlnx_qos -i {IF}": recording("mlnx_qos--not-installed")}
    (sentence,) = Driver(FakeHost(QUIET | changed)).obstacles()
    assert "mlnx-tools" in sentence


def test_an_inbox_driver_only_hinders_who_uses_dcqcn():
    host = FakeHost(QUIET | {f"grep -H . {ENABLE}/*": no_such_files(f"{ENABLE}/*")})
    assert Driver(host).obstacles() == ()
    with pytest.raises(ToolMissing, match="inbox driver"):
        Driver(host).reaction_point(IF)


def test_a_port_that_is_down_hinders_nobody():
    down = Answer(LINKS.text.replace("ACTIVE", "DOWN"))
    changed = {"rdma -j link": down, f"mlnx_qos -i {IF}": recording("mlnx_qos--not-installed")}
    assert Driver(FakeHost(QUIET | changed)).obstacles() == ()


def test_a_host_without_rdma_device_says_so():
    (sentence,) = Driver(FakeHost(QUIET | {"rdma -j link": Answer("[]")})).obstacles()
    assert "no RDMA device" in sentence


def test_an_unknown_state_of_a_service_is_refused():
    with pytest.raises(UnreadableOutput, match="not a state"):
        Driver(FakeHost(QUIET | {LLDPAD: Answer("perhaps\n")})).obstacles()


def test_versions_are_those_the_tools_print_even_when_they_exit_with_1():
    host = FakeHost(
        {
            "rdma -j link": LINKS,
            "ib_send_bw --version": recording("version--perftest-6.24"),
            "mlnx_qos --version": Answer("mlnx_qos 1.2\n"),
            "ofed_info -s": Answer("MLNX_OFED_LINUX-5.8-1.0.1.1:\n"),
            "iperf3 --version": Answer("iperf 3.12 (cJSON 1.7.15)\nLinux ServerA 6.1.0\n"),
            "uname -r": Answer("6.12.107+deb13-amd64\n"),
            f"ethtool -i {IF}": recording("ethtool_driver--cx4-lx"),
        }
    )
    assert Driver(host).versions() == {
        "perftest": "6.24",
        "iperf3": "3.12",
        "mlnx_qos": "1.2",
        "ofed": "MLNX_OFED_LINUX-5.8-1.0.1.1",
        "kernel": "6.12.107+deb13-amd64",
        "driver": "mlx5_core 5.0-0",
        "firmware": "14.23.1020 (MT_2420110034)",
    }


def test_what_is_not_there_has_no_version():
    assert set(Driver(FakeHost({})).versions().values()) == {""}


# -- tools that a person may use instead -----------------------------------------------------------


def reply(text: str, command: str = "x", status: int = 0) -> Reply:
    return Reply(device="ServerA", command=command, text=text, status=status)


def test_verbose_ibdev2netdev_is_read_as_well():
    verbose = (
        "0000:03:00.0 mlx5_0 (MT4117 - MCX4121A-XCAT) CX4121A - ConnectX-4 LX SFP28 "
        "fw 14.23.1020 port 1 (ACTIVE) ==> ens1f0 (Up)\n"
    )
    (link,) = parse_ibdev2netdev(reply(verbose))
    assert (link.rdma, link.rdma_port, link.interface, link.state) == ("mlx5_0", 1, "ens1f0", "Up")


def test_an_rdma_device_without_interface_has_none():
    (link,) = parse_ibdev2netdev(reply("mlx5_0 port 1 ==>  (Down)\n"))
    assert (link.interface, link.state) == ("", "Down")


@pytest.mark.parametrize("line", ["mlx5_0 port 1 ==> ens1f0", "mlx5_0 port x ==> ens1f0 (Up)"])
def test_half_a_line_of_ibdev2netdev_is_refused(line):
    with pytest.raises(UnreadableOutput):
        parse_ibdev2netdev(reply(line))


def test_gids_that_are_not_all_there_are_noticed():
    whole = recording("show_gids--two-links")
    lines = whole.text.splitlines(keepends=True)
    for gone in range(2, len(lines)):
        text = "".join(line for number, line in enumerate(lines) if number != gone)
        with pytest.raises(UnreadableOutput):
            parse_show_gids(replace(whole, text=text))
