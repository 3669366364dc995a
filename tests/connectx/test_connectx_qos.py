"""PFC, trust and the DSCP map: what is sent, read back and refused, on a host of recordings."""

from dataclasses import replace

import pytest
from connectx_host import Answer, FakeHost, recording
from driven import driving

from labtests.capabilities.device import (
    NicQosView,
    NicTelemetry,
    Obstacles,
    PfcTelemetry,
    RdmaDevices,
    Versions,
)
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.core.errors import CommandRejected, InventoryError, ToolMissing
from labtests.drivers import driver_module, platforms
from labtests.drivers.connectx import SESSION

Driver = driving("connectx")

IF = "enp3s0f0np0"
QOS = f"mlnx_qos -i {IF}"
ECN = f"/sys/class/net/{IF}/ecn"
ALL = frozenset(range(8))
PFC_OFF = PfcSetting(mode="off", priorities=frozenset())
DEFAULT_MAP = tuple(dscp // 8 for dscp in range(64))
LAB_A = recording("mlnx_qos--lab-a")  # PFC on 3, trust dscp, default map


def pfc(*priorities: int) -> PfcSetting:
    return PfcSetting(mode="on" if priorities else "off", priorities=frozenset(priorities))


def qos_with(enabled: str, text: str = LAB_A.text) -> Answer:
    return Answer(text.replace("enabled 0 0 0 1 0 0 0 0", f"enabled {enabled}"))


def test_the_platform_of_a_testbed_file_is_a_module_here():
    assert driver_module("connectx").driver_of("ServerA").device == "ServerA"
    assert driver_module("connectx").KIND == "host"
    assert SESSION == driver_module("connectx").SESSION == "shell"
    assert "connectx" in platforms()
    assert "answers" not in platforms()


@pytest.mark.parametrize("unknown", ["junos", "answers", "../connectx", "", "connectx.qos"])
def test_an_unknown_platform_is_told_which_there_are_and_where_to_write_one(unknown):
    with pytest.raises(InventoryError, match="connectx") as refused:
        driver_module(unknown)
    assert f"labtests/drivers/{unknown}.py" in str(refused.value)


@pytest.mark.parametrize(
    "ability", [NicQosView, RdmaDevices, PfcTelemetry, NicTelemetry, Versions, Obstacles]
)
def test_the_driver_has_every_ability_of_a_nic(ability):
    assert Driver(FakeHost({})).has(ability)


def test_the_driver_has_every_setting_of_a_nic():
    has = {setting.kind.name for setting in Driver(FakeHost({})).driver.settings}
    rp_and_np = {"reaction_point", "notification_point", "dcqcn_rp", "dcqcn_np"}
    others = {"trust", "dscp_map", "ets", "cable_length", "mtu", "tunnel", "dcbx_control"}
    assert has == {"pfc"} | others | rp_and_np


# -- PFC ---------------------------------------------------------------------------------


def test_pfc_is_read_from_the_enabled_row():
    assert Driver(FakeHost({QOS: LAB_A})).pfc(IF) == pfc(3)


def test_pfc_is_off_when_no_priority_is_enabled():
    assert Driver(FakeHost({QOS: qos_with("0 0 0 0 0 0 0 0")})).pfc(IF) == PFC_OFF


def test_setting_pfc_sends_one_command_and_reads_it_back():
    command = f"{QOS} -f 0,0,0,1,0,1,0,0"
    host = FakeHost({QOS: [LAB_A, qos_with("0 0 0 1 0 1 0 0")], command: LAB_A})
    Driver(host).set_pfc(IF, pfc(3, 5))
    assert host.changed == [command]
    assert host.asked == [QOS, QOS]


def test_pfc_that_is_there_already_is_not_sent_again():
    host = FakeHost({QOS: LAB_A})
    Driver(host).set_pfc(IF, pfc(3))
    assert host.changed == []


def test_putting_pfc_back_is_setting_what_was_read():
    off, on = f"{QOS} -f 0,0,0,0,0,0,0,0", f"{QOS} -f 0,0,0,1,0,0,0,0"
    none = qos_with("0 0 0 0 0 0 0 0")
    host = FakeHost({QOS: [LAB_A, LAB_A, none, none, LAB_A], off: none, on: LAB_A})
    driver = Driver(host)
    earlier = driver.pfc(IF)
    driver.set_pfc(IF, PFC_OFF)
    driver.set_pfc(IF, earlier)
    assert host.changed == [off, on]


def test_a_host_that_says_yes_and_does_nothing_is_found_out():
    host = FakeHost({QOS: LAB_A, f"{QOS} -f 0,0,0,0,0,1,0,0": LAB_A})
    with pytest.raises(CommandRejected, match="accepted, but pfc of") as refused:
        Driver(host).set_pfc(IF, pfc(5))
    assert refused.value.device == "ServerA"
    assert refused.value.command == f"{QOS} -f 0,0,0,0,0,1,0,0"


@pytest.mark.parametrize(
    "impossible",
    [
        PfcSetting(mode="auto", priorities=frozenset({3})),
        PfcSetting(mode="auto", priorities=frozenset()),
        PfcSetting(mode="off", priorities=frozenset({3})),
        PfcSetting(mode="on", priorities=frozenset()),
        PfcSetting(mode="on", priorities=frozenset({8})),
        PfcSetting(mode="on", priorities=frozenset({-1, 3})),
    ],
)
def test_a_pfc_setting_that_a_nic_cannot_hold_is_refused_before_anything_is_sent(impossible):
    host = FakeHost({QOS: LAB_A})
    with pytest.raises(CommandRejected, match="cannot hold"):
        Driver(host).set_pfc(IF, impossible)
    assert host.changed == []
    with pytest.raises(CommandRejected, match="cannot hold"):
        Driver(host).pfc_commands(IF, pfc(3), impossible)


def test_the_commands_of_a_plan_are_those_that_are_sent():
    driver = Driver(FakeHost({}))
    assert driver.pfc_commands(IF, pfc(3), pfc(3)) == ()
    assert driver.pfc_commands(IF, pfc(3), pfc(0, 7)) == (f"{QOS} -f 1,0,0,0,0,0,0,1",)
    dscp, dot1p = TrustSetting(source="dscp"), TrustSetting(source="dot1p")
    assert driver.trust_commands(IF, dscp, dscp) == ()
    assert driver.trust_commands(IF, dot1p, dscp) == (f"{QOS} --trust dscp",)
    assert driver.trust_commands(IF, dscp, dot1p) == (f"{QOS} --trust pcp",)
    assert driver.reaction_point_commands(IF, ALL, ALL - {2}) == (
        f"echo 0 > {ECN}/roce_rp/enable/2",
    )
    assert driver.notification_point_commands(IF, frozenset({1}), frozenset({2})) == (
        f"echo 0 > {ECN}/roce_np/enable/1",
        f"echo 1 > {ECN}/roce_np/enable/2",
    )


# -- what mlnx_qos says when it refuses --------------------------------------------------


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("Priority trust state is not supported on your system", "DCB support"),
        ("ETS features are not supported on your system", "DCB support"),
        ("dscp2prio command failed", "trust state to dscp"),
        ("pfc list must have 8 items", "defect of labtests"),
        ("Too many items for PFC", "defect of labtests"),
        ("Bad value for PFC: invalid literal\nUsage: mlnx_qos -i", "defect of labtests"),
        ("ETS BW for a strict/vendor TC must be 0", "defect of labtests"),
        ("Interface name is required", "defect of labtests"),
        ("Netlink error: Bad value. see dmesg.", "dmesg"),
        ("AttributeError: 'array.array' object has no attribute 'tostring'", "update mlnx-tools"),
        ("something nobody has seen before", "dmesg"),
    ],
)
def test_every_refusal_of_mlnx_qos_gets_its_words_and_a_remedy(said, remedy):
    host = FakeHost({QOS: LAB_A, f"{QOS} -f 0,0,0,0,0,1,0,0": Answer(f"{said}\n", "", 1)})
    with pytest.raises(CommandRejected) as refused:
        Driver(host).set_pfc(IF, pfc(5))
    assert said.splitlines()[0] in refused.value.problem
    assert remedy in refused.value.remedy


def test_of_a_python_traceback_the_exception_is_the_problem():
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/usr/bin/mlnx_qos", line 310, in <module>\n'
        "    ctrl = DcbController(options.intf)\n"
        "OSError: Netlink error: No such device (19)\n"
    )
    with pytest.raises(CommandRejected, match="No such device") as refused:
        Driver(FakeHost({QOS: Answer("", trace, 1)})).pfc(IF)
    assert "interface name" in refused.value.remedy


def test_a_broken_installation_is_not_taken_for_a_missing_interface():
    trace = (
        "Traceback (most recent call last):\nModuleNotFoundError: No module named 'dcbnetlink'\n"
    )
    with pytest.raises(CommandRejected) as refused:
        Driver(FakeHost({QOS: Answer("", trace, 1)})).pfc(IF)
    assert "install it again" in refused.value.remedy


@pytest.mark.parametrize(
    "said",
    [
        Answer("", "sh: 1: mlnx_qos: not found\n", 127),
        Answer("", "bash: line 1: mlnx_qos: command not found\n", 127),
        Answer("", "sudo: mlnx_qos: command not found\n", 1),
        Answer("", "timeout: failed to run command 'mlnx_qos': No such file or directory\n", 127),
        Answer("", "", 127),
    ],
)
def test_a_missing_tool_is_named_with_what_to_install(said):
    with pytest.raises(ToolMissing) as missing:
        Driver(FakeHost({QOS: said})).pfc(IF)
    assert missing.value.device == "ServerA"
    assert "mlnx-tools" in missing.value.remedy


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("sudo: a password is required", "NOPASSWD"),
        ("cat: /x: Permission denied", "become"),
        ("PermissionError: [Errno 1] Operation not permitted", "become"),
    ],
)
def test_missing_rights_are_named_with_the_key_of_the_testbed_file(said, remedy):
    with pytest.raises(CommandRejected) as refused:
        Driver(FakeHost({QOS: Answer("", said + "\n", 1)})).pfc(IF)
    assert remedy in refused.value.remedy


# -- trust and the DSCP map --------------------------------------------------------------


def test_pcp_is_called_dot1p_here():
    host = FakeHost({QOS: recording("mlnx_qos--trust-pcp")})
    assert Driver(host).trust(IF) == TrustSetting(source="dot1p")


def test_setting_trust_reads_it_back():
    command = f"{QOS} --trust dscp"
    pcp = recording("mlnx_qos--trust-pcp")
    host = FakeHost({QOS: [pcp, LAB_A], command: LAB_A})
    Driver(host).set_trust(IF, TrustSetting(source="dscp"))
    assert host.changed == [command]
    liar = FakeHost({QOS: pcp, command: LAB_A})
    with pytest.raises(CommandRejected, match="accepted, but trust of"):
        Driver(liar).set_trust(IF, TrustSetting(source="dscp"))


@pytest.mark.parametrize(
    "impossible",
    [
        TrustSetting(source="none"),
        TrustSetting(source="auto"),
        TrustSetting(source="exp"),
        TrustSetting(source="ip-precedence"),
        TrustSetting(source="dscp", override=True),
    ],
)
def test_a_trust_that_a_nic_cannot_hold_is_refused(impossible):
    host = FakeHost({QOS: LAB_A})
    with pytest.raises(CommandRejected, match="cannot trust"):
        Driver(host).set_trust(IF, impossible)
    assert host.changed == []


def test_an_old_mlnx_qos_without_trust_is_no_trust_of_any_kind():
    host = FakeHost({QOS: recording("mlnx_qos--ofed3-skprio")})
    assert Driver(host).pfc(IF) == pfc(4)
    with pytest.raises(CommandRejected, match="does not show a trust state"):
        Driver(host).trust(IF)


def test_the_dscp_map_has_64_priorities():
    assert Driver(FakeHost({QOS: LAB_A})).dscp_map(IF) == DEFAULT_MAP
    wrapped = Driver(FakeHost({QOS: recording("mlnx_qos--wrapped-priority")})).dscp_map(IF)
    assert wrapped == tuple(6 if dscp == 30 else dscp // 8 for dscp in range(64))


def test_a_port_that_does_not_trust_dscp_has_no_map():
    host = FakeHost({QOS: recording("mlnx_qos--trust-pcp")})
    with pytest.raises(CommandRejected, match="does not trust DSCP"):
        Driver(host).dscp_map(IF)


def test_a_dscp_without_a_priority_is_not_priority_0():
    text = LAB_A.text.replace("prio:3 dscp:31,30,", "prio:3 dscp:31,")
    with pytest.raises(CommandRejected, match="no priority is shown for DSCP 30"):
        Driver(FakeHost({QOS: replace(LAB_A, text=text)})).dscp_map(IF)


def test_setting_the_dscp_map_sends_only_what_differs_and_reads_back():
    wanted = tuple(6 if dscp == 30 else dscp // 8 for dscp in range(64))
    command = f"{QOS} --dscp2prio set,30,6"
    after = recording("mlnx_qos--wrapped-priority")
    host = FakeHost({QOS: [LAB_A, after], command: after})
    Driver(host).set_dscp_map(IF, wanted)
    assert host.changed == [command]
    with pytest.raises(CommandRejected, match="accepted, but dscp_map of"):
        Driver(FakeHost({QOS: LAB_A, command: LAB_A})).set_dscp_map(IF, wanted)


@pytest.mark.parametrize("impossible", [(), DEFAULT_MAP[:-1], (*DEFAULT_MAP[:-1], 8)])
def test_a_dscp_map_that_is_none_is_refused_before_anything_is_sent(impossible):
    host = FakeHost({QOS: LAB_A})
    with pytest.raises(CommandRejected, match="64 priorities"):
        Driver(host).set_dscp_map(IF, impossible)
    assert host.changed == []
