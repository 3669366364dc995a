"""What is configured reaches the network, is shown, can be undone; what is refused, is refused."""

import pytest

from labtests.network import Schedule

PORT = "Twenty-FiveGigE1/0/14"
UNRECOGNIZED = "% Unrecognized command found at '^' position."


@pytest.fixture
def port(cli):
    """A session in the view of port 14."""
    cli("system-view", f"interface {PORT}")
    return cli


def test_pfc_settings_reach_the_network_and_the_display(port, switch):
    port.accepts("priority-flow-control no-drop dot1p 3,5", "priority-flow-control enable")
    assert switch.network.pfc(PORT) == ("on", frozenset({3, 5}))
    assert not switch.network.pfc_operational(PORT)
    port.accepts("qos trust dscp")
    assert switch.network.pfc_operational(PORT)
    shown = port("display priority-flow-control interface WGE1/0/14")
    assert shown.splitlines()[-1].split() == ["WGE1/0/14", "On", "On", "3,5"]
    port.accepts("undo priority-flow-control", "undo priority-flow-control no-drop dot1p")
    assert switch.network.pfc(PORT) == ("off", frozenset())


def test_pfc_auto_stays_off_without_a_dcbx_peer(port):
    port.accepts("priority-flow-control auto", "qos trust dscp")
    shown = port("display priority-flow-control interface WGE1/0/14")
    assert shown.splitlines()[-1].split() == ["WGE1/0/14", "Auto", "Off"]


def test_a_later_no_drop_list_replaces_the_earlier(port, switch):
    port.accepts("priority-flow-control no-drop dot1p 0-7", "priority-flow-control no-drop dot1p 4")
    assert switch.network.pfc(PORT)[1] == frozenset({4})


def test_pfc_in_system_view_is_for_all_ports(cli, switch):
    cli("system-view")
    cli.accepts("priority-flow-control enable", "priority-flow-control no-drop dot1p 5")
    assert all(switch.network.pfc(port) == ("on", {5}) for port in switch.network.ports)


def test_trust_and_override_are_shown(port, switch):
    port.accepts("qos trust dot1p override")
    assert "trust type: dot1p,  Override: enable" in port(f"dis qos trust int {PORT}")
    assert switch.network.trust(PORT) == "dot1p"
    port.accepts("undo qos trust")
    assert "trust type: none,  Override: disable" in port(f"dis qos trust int {PORT}")


def test_a_wred_table_follows_to_the_ports_that_apply_it(cli, switch):
    cli("system-view", "qos wred queue table t")
    cli.accepts("queue 3 ecn", "queue af3 low-limit 10 high-limit 50 discard-probability 20")
    cli.accepts(f"interface {PORT}", "qos wred apply t")
    curve = switch.network.wred(PORT)[3]
    assert (curve.low_limit, curve.high_limit, curve.probability_percent) == (10, 50, 20)
    assert (curve.ecn, curve.weighting_exponent) == (True, 9)
    cli.accepts("qos wred queue table t", "undo queue 3 ecn", "queue 3 weighting-constant 12")
    assert not switch.network.wred(PORT)[3].ecn
    assert switch.network.wred(PORT)[3].weighting_exponent == 12
    cli.accepts(f"interface {PORT}", "undo qos wred apply")
    assert switch.network.wred(PORT) == (None,) * 8


def test_only_the_green_curve_matters_to_packets_that_nobody_coloured(cli, switch):
    cli("system-view", "qos wred queue table t", "queue 0 drop-level 2 low-limit 1 high-limit 2")
    cli(f"interface {PORT}", "qos wred apply t")
    assert switch.network.wred(PORT)[0].low_limit == 100
    assert "rmin" in cli("display qos wred table name t")
    assert "queue 0 drop-level 2 low-limit 1 high-limit 2 discard-probability 10" in cli(
        "display current-configuration"
    )


def test_what_one_session_configures_another_sees(cli, another_cli):
    cli("system-view", "qos wred queue table shared", "queue 1 ecn")
    assert "Table name: shared" in another_cli("display qos wred table")


@pytest.mark.parametrize(
    ("before", "refused"),
    [
        ((), "qos wred apply missing"),
        ((), "undo qos wred queue table missing"),
        ((), "display qos wred table name missing"),
        (
            ("qos wred queue table t", f"interface {PORT}", "qos wred apply t"),
            "undo qos wred queue table t",
        ),
        (("qos wred queue table t",), "queue 1 low-limit 50 high-limit 50"),
        ((), "undo qos wred queue table Default"),
        ((), "qos wred queue table Default"),
        (("qos sp",), "qos wrr 5 group sp"),
        (("qos wrr byte-count",), "qos wrr 5 group 1 weight 10"),
        (("qos wfq byte-count",), "qos wrr 5 group 1 byte-count 10"),
    ],
)
def test_what_the_command_reference_forbids_is_refused_in_a_sentence(port, before, refused):
    port.accepts(*before)
    answer = port(refused)
    assert answer.endswith(".\n")
    assert answer.count("\n") == 1
    assert "^" not in answer


def test_a_removed_table_is_gone(cli):
    cli("system-view", "qos wred queue table t", "quit")
    cli.accepts("undo qos wred queue table t")
    assert "Table name: t\n" not in cli("display qos wred table")


def test_scheduling_reaches_the_network_and_the_display(port, switch):
    port.accepts("qos wrr weight", "qos wrr ef group 2 weight 10", "qos wrr 7 group sp")
    served = switch.network.schedule(PORT)
    assert (served.discipline, served.unit) == ("wrr", "weight")
    assert served.queues[5:] == (("2", 10), ("1", 1), ("sp", 1))
    shown = port(f"display qos queue wrr interface {PORT}")
    assert shown.splitlines()[-3].split() == ["5", "ef", "2", "10"]
    assert shown.splitlines()[-1].split() == ["7", "cs7", "sp", "N/A"]
    port.accepts("undo qos wrr 5")
    assert switch.network.schedule(PORT).queues[5] == ("1", 1)
    port.accepts("undo qos wrr")
    assert switch.network.schedule(PORT) == Schedule()


def test_a_port_is_shown_only_under_the_discipline_it_uses(port):
    port.accepts("qos sp")
    assert "Strict Priority queuing" in port(f"display qos queue sp interface {PORT}")
    assert port(f"display qos queue wrr interface {PORT}") == ""
    assert PORT not in port("display qos queue wrr interface")
    assert PORT in port("display qos queue sp interface")


def test_asking_again_for_the_same_scheduler_keeps_its_weights(port, switch):
    port.accepts("qos wrr weight", "qos wrr 5 group 1 weight 10", "qos wrr weight")
    assert switch.network.schedule(PORT).queues[5] == ("1", 10)
    port.accepts("qos wrr byte-count")
    assert switch.network.schedule(PORT).queues[5] == ("1", 1)


def test_maps_are_set_entry_by_entry_and_restored(cli, switch):
    cli("system-view", "qos map-table dscp-dot1p")
    assert cli.prompt == "[S6550-maptbl-dscp-dot1p]"
    cli.accepts("import 24 26 to 28 export 5")
    assert switch.network.dscp_dot1p[22:30] == (2, 2, 5, 3, 5, 5, 5, 3)
    assert " import 24 export 5" in cli("display this")
    cli.accepts("undo import 26 27")
    assert switch.network.dscp_dot1p[22:30] == (2, 2, 5, 3, 3, 3, 5, 3)
    cli.accepts("undo import all")
    assert switch.network.dscp_dot1p == tuple(dscp // 8 for dscp in range(64))


def test_the_map_from_dscp_to_queue_is_the_way_through_both_maps(cli):
    cli("system-view", "qos map-table dot1p-lp")
    cli.accepts("import 3 export 6")
    rows = cli("display qos map-table dscp-lp").splitlines()
    assert rows[2 + 24].split() == ["24", ":", "6"]


@pytest.mark.parametrize("line", ["import 64 export 1", "import 3 export 8", "import x export 1"])
def test_map_values_out_of_range_are_refused(cli, line):
    cli("system-view", "qos map-table dscp-dot1p")
    assert "% Wrong parameter found at '^' position." in cli(line)


def test_views_are_entered_and_left_as_on_the_real_switch(cli):
    assert cli.prompt == "<S6550>"
    assert cli("system-view") == "System View: return to User View with Ctrl+Z.\n"
    assert cli.prompt == "[S6550]"
    cli("int Twenty-FiveGigE 1/0/14")
    assert cli.prompt == "[S6550-Twenty-FiveGigE1/0/14]"
    cli("int WGE1/0/15")
    assert cli.prompt == "[S6550-Twenty-FiveGigE1/0/15]"
    cli("quit")
    assert cli.prompt == "[S6550]"
    cli("interface hge1/0/25", "return")
    assert cli.prompt == "<S6550>"
    cli("system-view", "interface range wge 1/0/13 to wge 1/0/15")
    assert cli.prompt == "[S6550-if-range]"


def test_a_range_of_ports_is_configured_at_once(cli, switch):
    cli("system-view", "interface range twenty-fivegige 1/0/13 to twenty-fivegige 1/0/15")
    cli.accepts("qos trust dscp")
    assert [switch.network.trust(port) for port in switch.network.ports] == ["dscp"] * 3


def test_user_view_configures_nothing(cli):
    for line in ("interface WGE1/0/14", "sysname x", "qos wred queue table t", "return"):
        assert UNRECOGNIZED in cli(line)


def test_system_view_resets_nothing_and_disables_no_paging(cli):
    cli("system-view")
    assert UNRECOGNIZED in cli("reset counters interface")
    assert UNRECOGNIZED in cli("screen-length disable")


def test_what_is_the_whole_switchs_may_be_set_in_any_view_below(port):
    port.accepts("sysname leaf1", "lldp global enable")
    assert port.prompt == f"[leaf1-{PORT}]"
    assert "#\n lldp global enable\n#\n" in port("display current-configuration")
    port.accepts("undo lldp global enable", "sysname S6550")
    assert "lldp" not in port("display current-configuration")


def test_description_keeps_its_blanks_and_is_shown(port):
    port.accepts("description to  the rack 7")
    assert " description to  the rack 7\n" in port("display this")
    assert "Description: to  the rack 7\n" in port("display interface WGE1/0/14")
    assert port("dis int brief | inc 1/0/14").rstrip().endswith("to  the rack 7")
    port.accepts("undo description")
    assert "description" not in port("display this")


def test_shutdown_takes_the_link_down_and_undo_brings_it_back(port):
    port.accepts("shutdown")
    assert "ADM" in port("dis int brief | inc 1/0/14")
    assert "Current state: Administratively DOWN" in port("display interface WGE1/0/14")
    assert " shutdown\n" in port("display this")
    port.accepts("undo shutdown")
    assert " UP " in port("dis int brief | inc 1/0/14")


def test_a_port_without_a_cable_keeps_its_settings(cli):
    cli.in_port(16, "priority-flow-control enable", "qos trust dscp")
    shown = cli("display priority-flow-control interface WGE1/0/16").splitlines()[-1]
    assert shown.split() == ["WGE1/0/16", "On", "Off"]
    assert " DOWN " in cli("dis int brief | inc 1/0/16")


def test_the_whole_configuration_can_be_typed_into_another_switch(cli, switch):
    cli("system-view", "qos wred queue table t", "queue 2 ecn", "lldp global enable")
    cli("interface WGE1/0/14", "qos wred apply t", "qos trust dscp", "priority-flow-control enable")
    cli("lldp tlv-enable dot1-tlv dcbx", "return")
    before = cli("display current-configuration")
    cli("system-view", "undo lldp global enable", "interface WGE1/0/14")
    cli("undo qos wred apply", "undo qos trust", "undo priority-flow-control")
    cli("undo lldp tlv-enable dot1-tlv dcbx", "quit", "undo qos wred queue table t", "return")
    assert "wred" not in cli("display current-configuration")
    cli("system-view")
    for line in before.splitlines():
        if not line.startswith(("#", " version", "return", " port link-mode")):
            cli.accepts(line)
    cli("return")
    assert cli("display current-configuration") == before


def test_a_lying_switch_says_yes_and_does_nothing(port, switch, simulation):
    simulation.inject({"kind": "lie", "device": "S6550"})
    port.accepts("priority-flow-control enable", "qos trust dscp", "qos wred queue table t")
    assert switch.network.pfc(PORT) == ("off", frozenset())
    assert "Off" in port("display priority-flow-control interface WGE1/0/14")


def test_a_truncated_answer_ends_in_the_middle(cli, simulation):
    whole = cli("display qos queue-statistics interface WGE1/0/13 outbound")
    simulation.inject({"kind": "truncate", "device": "S6550", "command": "display qos queue"})
    cut = cli("display qos queue-statistics interface WGE1/0/13 outbound")
    assert whole.startswith(cut.removesuffix("\n"))  # the prompt stands on a line of its own
    assert len(cut) == len(whole) // 2 + 1


def test_saving_asks_first(cli):
    assert cli("save").endswith("Are you sure? [Y/N]:")
    assert cli.prompt == ""
    assert "startup.cfg" in cli("y")
    assert "successfully" in cli("")
    assert cli.prompt == "<S6550>"
    cli("save")
    assert cli("n") == ""
    assert "successfully" in cli("save force")
