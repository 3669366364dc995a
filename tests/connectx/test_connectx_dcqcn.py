"""DCQCN in sysfs, and names that a shell would misread."""

from shlex import quote

import pytest
from connectx_host import Answer, FakeHost, grep, no_such_files
from driven import driving

from labtests.capabilities.records import DcqcnSetting
from labtests.core.errors import CommandRejected, ToolMissing, UnreadableOutput

Driver = driving("connectx")


IF = "enp3s0f0np0"
ECN = f"/sys/class/net/{IF}/ecn"
ALL = frozenset(range(8))
RP_VALUES = {"rpg_ai_rate": 5, "rpg_hai_rate": 50, "rpg_time_reset": 300, "dce_tcp_g": 1019}
NP_VALUES = {"min_time_between_cnps": 4, "cnp_802p_prio": 6, "cnp_dscp": 48}


def rp_flags(*enabled: int, side: str = "roce_rp") -> Answer:
    return grep(f"{ECN}/{side}/enable", {str(p): int(p in enabled) for p in range(8)})


# -- DCQCN -------------------------------------------------------------------------------


def test_the_reaction_point_is_read_in_one_command():
    host = FakeHost({f"grep -H . {ECN}/roce_rp/enable/*": rp_flags(0, 1, 3, 4, 5, 6, 7)})
    assert Driver(host).reaction_point(IF) == ALL - {2}
    assert len(host.asked) == 1


def test_switching_the_reaction_point_off_for_a_priority_is_what_the_lab_report_did():
    read, write = f"grep -H . {ECN}/roce_rp/enable/*", f"echo 0 > {ECN}/roce_rp/enable/2"
    host = FakeHost({read: [rp_flags(*ALL), rp_flags(*(ALL - {2}))], write: Answer()})
    Driver(host).set_reaction_point(IF, ALL - {2})
    assert host.changed == [write]
    with pytest.raises(CommandRejected, match="accepted, but reaction_point of"):
        Driver(FakeHost({read: rp_flags(*ALL), write: Answer()})).set_reaction_point(IF, ALL - {2})


def test_the_notification_point_has_files_of_its_own():
    read, write = f"grep -H . {ECN}/roce_np/enable/*", f"echo 1 > {ECN}/roce_np/enable/4"
    before, after = rp_flags(3, side="roce_np"), rp_flags(3, 4, side="roce_np")
    host = FakeHost({read: [before, after], write: Answer()})
    Driver(host).set_notification_point(IF, frozenset({3, 4}))
    assert host.changed == [write]


def test_a_priority_that_does_not_exist_is_refused_before_anything_is_sent():
    host = FakeHost({f"grep -H . {ECN}/roce_rp/enable/*": rp_flags(*ALL)})
    with pytest.raises(CommandRejected, match="not all of 0 to 7"):
        Driver(host).set_reaction_point(IF, frozenset({8}))
    assert host.changed == []


def test_seven_flags_are_not_eight():
    flags = {str(p): 1 for p in range(7)}
    host = FakeHost({f"grep -H . {ECN}/roce_rp/enable/*": grep(f"{ECN}/roce_rp/enable", flags)})
    with pytest.raises(UnreadableOutput, match="not 0 to 7"):
        Driver(host).reaction_point(IF)


@pytest.mark.parametrize("value", ["2", "-1", "", "on", "1 "[:1] + "x"])
def test_a_flag_is_0_or_1(value):
    flags = {str(p): 1 for p in range(8)} | {"3": value}
    host = FakeHost({f"grep -H . {ECN}/roce_rp/enable/*": grep(f"{ECN}/roce_rp/enable", flags)})
    with pytest.raises(UnreadableOutput):
        Driver(host).reaction_point(IF)


def test_without_an_ecn_folder_the_inbox_driver_is_named():
    pattern = f"{ECN}/roce_rp/enable/*"
    host = FakeHost(
        {f"grep -H . {pattern}": no_such_files(pattern), f"test -e /sys/class/net/{IF}": Answer()}
    )
    with pytest.raises(ToolMissing, match="inbox driver") as missing:
        Driver(host).reaction_point(IF)
    assert "MLNX_OFED" in missing.value.remedy


def test_without_the_interface_it_is_the_interface_that_is_named():
    pattern = f"{ECN}/roce_rp/enable/*"
    absent = Answer("", "", 1)
    host = FakeHost(
        {f"grep -H . {pattern}": no_such_files(pattern), f"test -e /sys/class/net/{IF}": absent}
    )
    with pytest.raises(CommandRejected, match=f"no interface {IF}"):
        Driver(host).reaction_point(IF)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (f"sh: 1: cannot create {ECN}/roce_rp/enable/2: Directory nonexistent", ToolMissing),
        (f"bash: line 1: {ECN}/roce_rp/enable/2: No such file or directory", ToolMissing),
        (f"sh: 1: cannot create {ECN}/roce_rp/enable/2: Permission denied", CommandRejected),
        ("bash: line 1: echo: write error: Invalid argument", CommandRejected),
        ("sh: 1: echo: echo: I/O error", CommandRejected),
    ],
)
def test_a_flag_that_cannot_be_written_is_an_error_with_a_remedy(said, error):
    read, write = f"grep -H . {ECN}/roce_rp/enable/*", f"echo 0 > {ECN}/roce_rp/enable/2"
    host = FakeHost({read: rp_flags(*ALL), write: Answer("", said + "\n", 2)})
    with pytest.raises(error) as refused:
        Driver(host).set_reaction_point(IF, ALL - {2})
    assert refused.value.command == write
    assert refused.value.remedy


def test_parameters_are_read_although_the_folder_enable_is_among_the_files():
    folder = f"{ECN}/roce_rp"
    answer = grep(folder, RP_VALUES)
    skipped = Answer(answer.text, f"grep: {folder}/enable: Is a directory\n", 2)
    for said in (answer, skipped):
        found = Driver(FakeHost({f"grep -H . {folder}/*": said})).dcqcn_rp(IF)
        assert found == DcqcnSetting(side="roce_rp", values=tuple(sorted(RP_VALUES.items())))


def test_a_file_that_cannot_be_read_is_not_left_out_silently():
    folder = f"{ECN}/roce_rp"
    errors = f"grep: {folder}/enable: Is a directory\ngrep: {folder}/rpg_gd: Input/output error\n"
    host = FakeHost({f"grep -H . {folder}/*": Answer(grep(folder, RP_VALUES).text, errors, 2)})
    with pytest.raises(CommandRejected, match="Input/output error"):
        Driver(host).dcqcn_rp(IF)


def test_setting_a_parameter_leaves_the_others_and_reads_back():
    folder = f"{ECN}/roce_np"
    read, write = f"grep -H . {folder}/*", f"echo 26 > {folder}/cnp_dscp"
    after = grep(folder, NP_VALUES | {"cnp_dscp": 26})
    wanted = DcqcnSetting(side="roce_np", values=(("cnp_dscp", 26), ("cnp_802p_prio", 6)))
    host = FakeHost({read: [grep(folder, NP_VALUES), after], write: Answer()})
    Driver(host).set_dcqcn_np(IF, wanted)
    assert host.changed == [write]
    liar = FakeHost({read: grep(folder, NP_VALUES), write: Answer()})
    with pytest.raises(CommandRejected, match="cnp_dscp is 48"):
        Driver(liar).set_dcqcn_np(IF, wanted)


@pytest.mark.parametrize(
    "impossible",
    [
        DcqcnSetting(side="roce_rp", values=(("cnp_dscp", 1),)),
        DcqcnSetting(side="roce_np", values=(("rpg_gd", 1),)),
        DcqcnSetting(side="roce_np", values=(("cnp_dscp", -1),)),
        DcqcnSetting(side="roce_np", values=(("x; reboot", 1),)),
    ],
)
def test_a_parameter_that_is_not_there_is_refused_before_it_is_written(impossible):
    folder = f"{ECN}/roce_np"
    host = FakeHost({f"grep -H . {folder}/*": grep(folder, NP_VALUES)})
    with pytest.raises(CommandRejected):
        Driver(host).set_dcqcn_np(IF, impossible)
    assert host.changed == []


# -- names -------------------------------------------------------------------------------


@pytest.mark.parametrize("hostile", ["", "-x", "../../etc", "a/b", ".", "-S eth0; rm -rf /"])
def test_a_name_that_no_interface_can_have_is_refused_before_anything_is_sent(hostile):
    host = FakeHost({})
    for ask in (Driver(host).pfc, Driver(host).reaction_point, Driver(host).nic_counters):
        with pytest.raises(CommandRejected, match="not a name"):
            ask(hostile)
    assert host.asked == []


@pytest.mark.parametrize(
    "hostile", ["eth0;reboot", "$(reboot)", "e`id`", "a b", "a'b", "x>y", "a*"]
)
def test_a_name_with_a_meaning_for_the_shell_is_quoted_everywhere(hostile):
    host = FakeHost({})
    driver = Driver(host)
    for ask in (driver.pfc, driver.reaction_point, driver.dcqcn_np, driver.link_errors):
        with pytest.raises(ToolMissing):
            ask(hostile)
    assert len(host.asked) == 4
    assert all(quote(hostile) in command for command in host.asked)
    assert all(hostile not in command.replace(quote(hostile), "") for command in host.asked)
