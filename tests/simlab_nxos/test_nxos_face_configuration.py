"""The emulated Nexus by hand: modes, words, policies as objects, and what packets do by them."""

from types import SimpleNamespace

import pytest

from labtests.network import UdpRequest, WredCurve
from labtests.simlab.timeline import NS_PER_S

MARKS = (
    "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7"
)
CLASSIFIED = (
    "class-map type qos match-any ROCE",
    "match dscp 24-31",
    "policy-map type qos IN",
    "class ROCE",
    "set qos-group 3",
)


def test_modes_have_their_prompts_and_any_of_them_leads_to_any_other(cli):
    prompts = []
    lines = (
        *("configure terminal", *CLASSIFIED, "policy-map type network-qos NQ"),
        *("class type network-qos c-8q-nq3", "policy-map type queuing Q"),
        *("class type queuing c-out-8q-q3", "exit", "exit", "system qos", "interface e1/14", "end"),
    )
    for line in lines:
        assert "%" not in cli(line), line
        prompts.append(cli.prompt)
    assert prompts == [
        *("N9K(config)# ", *["N9K(config-cmap-qos)# "] * 2, "N9K(config-pmap-qos)# "),
        *["N9K(config-pmap-c-qos)# "] * 2,
        *("N9K(config-pmap-nqos)# ", "N9K(config-pmap-nqos-c)# "),
        *("N9K(config-pmap-que)# ", "N9K(config-pmap-c-que)# ", "N9K(config-pmap-que)# "),
        *("N9K(config)# ", "N9K(config-sys-qos)# ", "N9K(config-if)# ", "N9K# "),
    ]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("show frobs", "          ^\n% Invalid command at '^' marker.\n"),
        ("show queuing interface Ethernet9/9", "% Invalid command at '^' marker.\n"),
        ("show interface priority-flow-control x", "% Invalid command at '^' marker.\n"),
        ("terminal length", "% Incomplete command at '^' marker.\n"),
        ("c", "% Ambiguous command at '^' marker.\n"),
    ],
)
def test_what_is_no_command_is_refused_in_the_words_of_the_switch(cli, line, answer):
    assert cli(line).endswith(answer)


RANGES = {
    "interface ethernet 1/13-15": (13, 14, 15),
    "int e1/13 - 14": (13, 14),
    "interface ethernet 1/13, ethernet 1/15-16": (13, 15, 16),
    "interface Eth1/14,Eth1/16": (14, 16),
}


@pytest.mark.parametrize("line", RANGES)
def test_several_interfaces_are_configured_at_once(cli, switch, line):
    cli("configure terminal")
    assert cli(line) == ""
    assert cli.prompt == "N9K(config-if-range)# "
    assert cli("priority-flow-control mode on") == ""
    shown = cli("end", "show running-config interface")
    on = {
        text.split("\n")[0] for text in shown.split("interface Ethernet1/")[1:] if "mode on" in text
    }
    assert on == {str(n) for n in RANGES[line]}


@pytest.mark.parametrize("which", ["1/13-99", "1/14-13", "1/13-x", "1/13,", "1/13-14-15"])
def test_a_range_that_there_is_not_is_refused(cli, which):
    cli("configure terminal")
    assert cli(f"interface ethernet {which}").endswith("% Invalid command at '^' marker.\n")
    assert cli.prompt == "N9K(config)# "


def test_policy_maps_are_shown_by_type_and_name_and_those_of_the_switch(cli):
    cli.configure(*CLASSIFIED, "policy-map type network-qos p1", "class type network-qos c-8q-nq3",
                  "pause pfc-cos 3", "policy-map type network-qos p2", "system qos",
                  "service-policy type network-qos p1")  # fmt: skip
    assert {"p1", "p2", "IN"} <= set(cli("show policy-map").split())
    whole = set(cli("show policy-map type network-qos").split())
    assert whole & {"p1", "p2", "IN"} == {"p1", "p2"}
    assert "p2" not in cli("show policy-map system type network-qos")
    assert "pause pfc-cos 3" in cli("show policy-map type network-qos p1")
    assert cli("show policy-map type qos p1") == "ERROR: the policy-map does not exist\n"


def test_words_may_be_abbreviated(cli):
    assert cli("sh int e1/14 prio det") == cli(
        "show interface Ethernet1/14 priority-flow-control detail"
    )


def test_several_commands_may_stand_on_one_line(cli):
    assert cli("show clock ; show running-config interface Eth1/16 ; show clock").splitlines() == [
        "08:00:00.000 UTC Wed May 29 2024",
        *("", "!Command: show running-config interface Ethernet1/16"),
        "!No configuration change since last restart",
        *("!Time: Wed May 29 08:00:00 2024", "", "version 9.3(SIMULATED) Bios:version 07.61"),
        "interface Ethernet1/16",
        "08:00:00.000 UTC Wed May 29 2024",
    ]


def test_nothing_comes_behind_an_answer_that_ends_early(cli, switch):
    switch.faults.truncated_commands.add("show running-config")
    assert "UTC" not in cli("show running-config ipqos ; show clock")


def test_the_running_configuration_has_what_was_typed_in_full_words(cli):
    cli.configure(
        *CLASSIFIED,
        *("policy-map type network-qos NQ", "class type network-qos c-8q-nq3"),
        *("pause pfc-cos 3", "mtu 9216"),
        *("policy-map type queuing Q", "class type queuing c-out-8q-q3"),
        *("bandwidth rem per 50", f"{MARKS} weight 0 ecn", "class type queuing c-out-8q-q7"),
        *("priority", "system qos", "service-policy type network-qos NQ"),
        *("interface e1/14", "priority-flow-control mode on", "mtu 9216", "description to A"),
        *("service-policy type qos input IN no-stats", "service-policy type queuing output Q"),
        *("interface e1/15", "priority-flow-control mode auto", "mtu 1500"),
    )
    assert cli("show running-config ipqos").split("07.61\n")[1] == (
        "class-map type qos match-any ROCE\n  match dscp 24-31\n"
        "policy-map type qos IN\n  class ROCE\n    set qos-group 3\n"
        "policy-map type network-qos NQ\n  class type network-qos c-8q-nq3\n"
        "    mtu 9216\n    pause pfc-cos 3\n"
        "policy-map type queuing Q\n  class type queuing c-out-8q-q3\n"
        f"    bandwidth remaining percent 50\n    {MARKS} weight 0 ecn\n"
        "  class type queuing c-out-8q-q7\n    priority level 1\n"
        "system qos\n  service-policy type network-qos NQ\n"
    )
    assert cli("show running-config interface").split("07.61\n")[1] == (
        "interface Ethernet1/13\ninterface Ethernet1/14\n  description to A\n"
        "  priority-flow-control mode on\n  mtu 9216\n"
        "  service-policy type qos input IN no-stats\n"
        "  service-policy type queuing output Q\n"
        "interface Ethernet1/15\ninterface Ethernet1/16\n"
        + "".join(
            f"interface vfc{n}\n  bind interface {port}\n  no shutdown\n"
            for n, port in enumerate(cli.session.switch.ports, start=1)
        )
    )


@pytest.mark.parametrize(
    "line",
    [
        "no policy-map type qos IN",
        "no class-map type qos match-any ROCE",
        "service-policy type queuing output NOBODY",
        "no policy-map type queuing NOBODY",
    ],
)
def test_what_is_in_use_stays_and_what_is_not_there_is_not_applied(cli, line):
    cli.configure(*CLASSIFIED, "interface e1/14", "service-policy type qos input IN")
    before = cli("show running-config")
    cli("configure terminal", "interface e1/14")
    assert cli(line).startswith("ERROR: ")
    assert cli("show running-config") == before


def test_what_was_not_saved_is_gone_after_a_reboot(cli, switch):
    assert "\n!No configuration change since last restart\n" in cli("show running-config")
    cli.configure("interface e1/14", "priority-flow-control mode on")
    assert "\n!Running configuration last done at: " in cli("show running-config")
    assert cli("copy running-config startup-config").endswith("Copy complete.\n")
    cli.configure("interface e1/14", "priority-flow-control mode off")
    switch.faults.reboot(1)
    assert "priority-flow-control mode on" in cli("show running-config")


def test_what_is_saved_is_shown_beside_what_is_running(cli):
    """That it is the saved one, and not what runs, is all that `show startup-config` is for."""
    cli.configure("hostname LEAF", "interface e1/14", "priority-flow-control mode on")
    assert "mode on" not in cli("show startup-config")
    cli("copy running-config startup-config")
    cli.configure("hostname N9K", "interface e1/14", "priority-flow-control mode off")
    saved = cli("show startup-config")
    for there in ("!Startup config saved at: ", "hostname LEAF\n", "mode on"):
        assert there in saved
    for gone in ("done at", "hostname N9K\n", "mode off"):
        assert gone not in saved


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("class-map type qos match-all X", "class-map type qos match-all X"),
        ("class-map type qos match-any X", "class-map type qos match-any X"),
        ("class-map type qos X", "class-map type qos match-all X"),
    ],
)
def test_a_class_map_is_shown_as_it_was_made(cli, typed, shown):
    cli.configure(typed, "match dscp 24")
    assert f"\n{shown}\n  match dscp 24\n" in cli("show running-config ipqos")
    cli.configure("class-map type qos X", f"no {typed}")
    assert "class-map" not in cli("show running-config ipqos")


def test_dscps_have_names(cli):
    cli.configure("class-map type qos match-any X", "match dscp cs3,AF31,ef,default")
    assert "\n  match dscp 0,24,26,46\n" in cli("show running-config ipqos")
    cli("configure terminal", "class-map type qos match-any X")
    assert cli("match dscp cs9").endswith("% Invalid command at '^' marker.\n")


def test_a_class_is_no_longer_lossless_whether_its_cos_is_typed_or_not(cli):
    head = ("policy-map type network-qos NQ", "class type network-qos c-8q-nq3")
    for undo in ("no pause pfc-cos 3", "no pause pfc-cos"):
        cli.configure(*head, "pause pfc-cos 3")
        assert "pause pfc-cos 3" in cli("show running-config ipqos")
        cli.configure(*head, undo)
        assert "pause" not in cli("show running-config ipqos")


def test_an_operator_may_look_and_not_touch(cli, switch):
    switch.faults.defects.role = "network-operator"
    assert cli("show clock").startswith("08:00:00")
    assert cli("configure terminal") == "% Permission denied for the role\n"


# -- what packets do -------------------------------------------------------------------------------


def sent(simulation, sender, dscp):
    """The queues of the egress that packets with this DSCP come through."""

    def forwarded():
        queues = simulation.network.switch("N9K").queue_counters("Ethernet1/13")
        return [each.forwarded_packets for each in queues]

    before = forwarded()
    flow = UdpRequest(
        device=sender,
        interface="eth0",
        destination="192.168.10.10",
        tos=dscp << 2,
        rate_bits_per_s=10**8,
        datagram_bytes=1000,
    )
    started = simulation.network.start_udp(flow)
    simulation.advance(NS_PER_S // 1000)
    started.stop()
    simulation.advance(NS_PER_S // 1000)
    return {q for q, (a, b) in enumerate(zip(before, forwarded(), strict=True)) if b > a}


def test_each_port_has_its_own_map(cli, switch, simulation):
    """A packet with DSCP 26 goes to queue 3 from A, whose port has a policy, and to 0 from B."""
    cli.configure(*CLASSIFIED, "interface e1/14", "service-policy type qos input IN")
    assert switch.network.dscp_map("Ethernet1/14")[23:33] == (0, *(3,) * 8, 0)
    assert switch.network.dscp_map("Ethernet1/15") == (0,) * 64
    assert sent(simulation, "A", dscp=26) == {3}
    assert sent(simulation, "B", dscp=26) == {0}
    cli.configure("class-map type qos ROCE", "match dscp 26")
    cli.configure("policy-map type qos IN", "class ROCE", "set qos-group 5")
    assert sent(simulation, "A", dscp=26) == {5}
    assert sent(simulation, "A", dscp=24) == {0}


def test_lossless_classes_are_the_switch_s_and_the_mode_is_the_port_s(cli, switch):
    cli.configure(
        *("policy-map type network-qos NQ", "class type network-qos c-8q-nq3", "pause pfc-cos 3"),
        *("system qos", "service-policy type network-qos NQ"),
        *("interface e1/14", "priority-flow-control mode on"),
    )
    assert switch.network.pfc("Ethernet1/14") == ("on", frozenset({3}))
    assert switch.network.pfc("Ethernet1/15") == ("auto", frozenset({3}))
    assert "VL bitmap: (8)" in cli("show interface e1/14 priority-flow-control detail")
    assert "Oper Mode: Off" in cli("show interface e1/15 priority-flow-control detail")
    cli.configure("system qos", "no service-policy type network-qos NQ")
    assert switch.network.pfc("Ethernet1/14") == ("on", frozenset())


def test_a_queuing_policy_serves_and_marks_where_it_is_applied(cli, switch):
    delivered = switch.network.schedule("Ethernet1/13")
    assert delivered.levels == (7, 7, 7, 7, 7, 7, 7, 0)
    cli.configure(
        *("policy-map type queuing Q", "class type queuing c-out-8q-q3"),
        *("bandwidth remaining percent 60", f"{MARKS} weight 0 ecn"),
        *("class type queuing c-out-8q-q-default", "bandwidth remaining percent 40"),
        *("class type queuing c-out-8q-q6", "priority level 2"),
        *("system qos", "service-policy type queuing output Q"),
    )
    curve = WredCurve(
        low_limit=150_000 // 208,
        high_limit=3_000_000 // 208,
        probability_percent=7,
        weighting_exponent=0,
        ecn=True,
    )
    for port in ("Ethernet1/13", "Ethernet1/14"):
        schedule = switch.network.schedule(port)
        assert schedule.levels == (7, 7, 7, 7, 7, 7, 1, 7)
        assert schedule.queues[3][1] * 40 == schedule.queues[0][1] * 60
        assert switch.network.wred(port)[3] == curve
    cli.configure("interface e1/13", "service-policy type queuing output default-8q-out-policy")
    cli.configure("system qos", "no service-policy type queuing output Q")
    assert switch.network.schedule("Ethernet1/13") == delivered
    assert switch.network.wred("Ethernet1/13") == (None,) * 8


def test_a_port_that_is_shut_down_is_shown_so(cli):
    cli.configure("interface e1/14", "shutdown")
    assert cli("show interface e1/14").startswith("Ethernet1/14 is down (Administratively down)\n")
    assert cli("show interface e1/16").startswith("Ethernet1/16 is down (Link not connected)\n")


def test_a_login_begins_with_lines_before_the_prompt_and_tells_the_hardware(switch, cli):
    """Ansible's network_cli waits for a prompt behind the end of a line, and asks for hardware."""
    console = SimpleNamespace(text="", pty=True, height=24, username="admin")
    console.write = lambda text: setattr(console, "text", console.text + text)
    switch.shell(console)
    assert console.text.endswith("All rights reserved.\nN9K# ")
    assert "PID: N9K-C93180YC-EX     ,  VID: V03 ,  SN: SIMULATED\n" in cli("show inventory")
