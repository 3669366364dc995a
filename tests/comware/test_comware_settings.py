"""Settings of the Comware driver: read exactly, sent as lines, read back, put back."""

import pytest
from driven import driving
from recordings import load
from scripted_switch import ScriptedSwitch

from labtests.capabilities.device import (
    DropTelemetry,
    DscpClasses,
    EcnMarking,
    Obstacles,
    PfcTelemetry,
    QueueTelemetry,
    Versions,
)
from labtests.capabilities.records import (
    EcnSetting,
    PfcSetting,
    QueueSchedule,
    SchedulingSetting,
    TrustSetting,
    WredQueue,
)
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers import driver_module
from labtests.drivers.comware import SESSION

Driver = driving("comware")

PORT = "Twenty-FiveGigE1/0/14"
OUT = "Twenty-FiveGigE1/0/13"
OFF = PfcSetting(mode="off", priorities=frozenset())
ALL_ON = PfcSetting(mode="on", priorities=frozenset(range(8)))

CONFIGURATION = f"display current-configuration interface {PORT}"
PFC = f"display priority-flow-control interface {PORT}"


def configuration(*lines, port=PORT):
    body = "".join(f" {line}\n" for line in lines)
    return f"#\ninterface {port}\n port link-mode bridge\n{body}#\nreturn\n"


def pfc_table(conf="On", operation="On", listed="0-7", port="WGE1/0/14"):
    return (
        "Conf -- Configured mode   Ne -- Negotiated mode   P -- Priority\n"
        "Interface            Conf  Ne   Dot1pList  P Recv        Sent\n"
        f"{port:<20} {conf:<5} {operation:<4} {listed}\n"
    )


PFC_ON = {
    CONFIGURATION: configuration(
        "priority-flow-control enable", "priority-flow-control no-drop dot1p 0-7", "qos trust dscp"
    ),
    PFC: pfc_table(),
}
PFC_OFF = {CONFIGURATION: configuration(), PFC: pfc_table("Off", "Off", "")}


def test_the_platform_comware_is_this_driver():
    module = driver_module("comware")
    assert module.SESSION == SESSION == "hp_comware"
    assert module.KIND == "switch"
    driver = module.driver_of("S6550")
    of_marks = (DscpClasses, EcnMarking, QueueTelemetry, PfcTelemetry, DropTelemetry)
    for ability in (*of_marks, Versions, Obstacles):
        assert driver.able(ability) is not None
    for name in ("pfc", "trust", "ecn", "scheduling", "dscp_map"):
        assert driver.offers(name)


# -- PFC -------------------------------------------------------------------------------------------


def test_pfc_is_exact_before_any_pause_frame_was_counted():
    assert Driver(ScriptedSwitch(PFC_ON)).pfc(PORT) == ALL_ON
    assert Driver(ScriptedSwitch(PFC_OFF)).pfc(PORT) == OFF


def test_a_port_may_be_named_as_the_switch_abbreviates_it():
    assert Driver(ScriptedSwitch(PFC_ON)).pfc("WGE1/0/14") == ALL_ON


def test_the_recorded_answers_of_document_000_are_read():
    switch = ScriptedSwitch(
        {
            CONFIGURATION: load("configuration.s6550xe-port-14").text,
            PFC: load("priority_flow_control.s6550xe-port-14").text,
        }
    )
    assert Driver(switch).pfc(PORT) == ALL_ON


def test_pfc_of_the_system_view_is_refused_because_it_could_not_be_put_back_on_the_port():
    switch = ScriptedSwitch({CONFIGURATION: configuration(), PFC: pfc_table()})
    with pytest.raises(UnreadableOutput, match="system view") as refusal:
        Driver(switch).pfc(PORT)
    assert "is on, its configuration says off" in refusal.value.problem


@pytest.mark.parametrize(
    "answers",
    [
        {PFC: pfc_table(port="WGE1/0/15")},
        {CONFIGURATION: configuration(port="Twenty-FiveGigE1/0/15")},
    ],
)
def test_an_answer_about_another_port_is_refused(answers):
    with pytest.raises(UnreadableOutput, match=f"asked for {PORT}"):
        Driver(ScriptedSwitch(PFC_ON | answers)).pfc(PORT)


@pytest.mark.parametrize(
    ("earlier", "wanted", "lines"),
    [
        (ALL_ON, ALL_ON, ()),
        (
            OFF,
            PfcSetting(mode="on", priorities=frozenset({3, 5})),
            ("priority-flow-control no-drop dot1p 3,5", "priority-flow-control enable"),
        ),
        (
            ALL_ON,
            PfcSetting(mode="off", priorities=ALL_ON.priorities),
            ("undo priority-flow-control",),
        ),
        (
            ALL_ON,
            PfcSetting(mode="on", priorities=frozenset({3})),
            (
                "undo priority-flow-control no-drop dot1p",
                "priority-flow-control no-drop dot1p 3",
            ),
        ),
        (
            PfcSetting(mode="on", priorities=frozenset({3})),
            PfcSetting(mode="auto", priorities=frozenset({3, 4})),
            ("priority-flow-control no-drop dot1p 3-4", "priority-flow-control auto"),
        ),
        (
            ALL_ON,
            OFF,
            ("undo priority-flow-control no-drop dot1p", "undo priority-flow-control"),
        ),
    ],
)
def test_pfc_is_changed_by_the_lines_that_differ(earlier, wanted, lines):
    commands = Driver(ScriptedSwitch({})).pfc_commands("WGE1/0/14", earlier, wanted)
    assert commands == ((f"interface {PORT}", *lines, "quit") if lines else ())


def test_pfc_is_set_and_read_back():
    switch = ScriptedSwitch(PFC_OFF, changes=[PFC_ON])
    Driver(switch).set_pfc(PORT, ALL_ON)
    assert switch.configured == [
        (
            f"interface {PORT}",
            "priority-flow-control no-drop dot1p 0-7",
            "priority-flow-control enable",
            "quit",
        )
    ]


def test_nothing_is_sent_when_it_is_so_already():
    switch = ScriptedSwitch(PFC_ON)
    Driver(switch).set_pfc(PORT, ALL_ON)
    assert switch.configured == []


def test_a_switch_that_accepts_and_does_nothing_is_found_out():
    with pytest.raises(CommandRejected, match=r"accepted, but pfc of .* reads back") as refusal:
        Driver(ScriptedSwitch(PFC_OFF)).set_pfc(PORT, ALL_ON)
    assert refusal.value.device == "S6550"
    assert PORT in str(refusal.value)


def test_a_refused_line_is_named():
    switch = ScriptedSwitch(
        PFC_OFF,
        says=f"[S6550]interface {PORT}\n"
        f"[S6550-{PORT}]priority-flow-control no-drop dot1p 0-7\n"
        "                ^\n % Wrong parameter found at '^' position.\n"
        f"[S6550-{PORT}]priority-flow-control enable\n[S6550-{PORT}]quit\n",
    )
    with pytest.raises(CommandRejected) as refusal:
        Driver(switch).set_pfc(PORT, ALL_ON)
    assert refusal.value.command == "priority-flow-control no-drop dot1p 0-7"


def test_a_display_command_the_model_does_not_know_is_an_error_with_a_remedy():
    switch = ScriptedSwitch({CONFIGURATION: PFC_ON[CONFIGURATION]})
    with pytest.raises(CommandRejected, match="Unrecognized command") as refusal:
        Driver(switch).pfc(PORT)
    assert refusal.value.command == PFC
    assert "no such command" in refusal.value.remedy


# -- trust -----------------------------------------------------------------------------------------

TRUST = f"display qos trust interface {PORT}"


def trust_answer(words):
    return {
        TRUST: f"Interface: {PORT}\n Port priority trust information\n  Port priority:0\n"
        f"  Port priority trust type: {words},  Override: disable\n"
    }


def test_trust_is_set_read_back_and_put_back():
    switch = ScriptedSwitch(
        trust_answer("none"), changes=[trust_answer("dscp"), trust_answer("none")]
    )
    driver = Driver(switch)
    earlier = driver.trust(PORT)
    driver.set_trust(PORT, TrustSetting(source="dscp"))
    driver.set_trust(PORT, earlier)
    assert switch.configured == [
        (f"interface {PORT}", "qos trust dscp", "quit"),
        (f"interface {PORT}", "undo qos trust", "quit"),
    ]


def test_a_port_is_shut_and_opened_again():
    switch = ScriptedSwitch(
        {CONFIGURATION: configuration()},
        changes=[{CONFIGURATION: configuration("shutdown")}, {CONFIGURATION: configuration()}],
    )
    driver = Driver(switch)
    assert driver.port_state(PORT) == "up"
    driver.set_port_state(PORT, "down")
    driver.set_port_state(PORT, "up")
    assert switch.configured == [
        (f"interface {PORT}", "shutdown", "quit"),
        (f"interface {PORT}", "undo shutdown", "quit"),
    ]


def test_the_trust_of_another_port_is_refused():
    answer = {TRUST: trust_answer("dscp")[TRUST].replace("1/0/14", "1/0/15")}
    with pytest.raises(UnreadableOutput, match=f"asked for {PORT}"):
        Driver(ScriptedSwitch(answer)).trust(PORT)


def test_override_is_part_of_trust():
    commands = Driver(ScriptedSwitch({})).trust_commands(
        PORT, TrustSetting(source="dscp"), TrustSetting(source="dscp", override=True)
    )
    assert commands == (f"interface {PORT}", "qos trust dscp override", "quit")


def test_a_trust_that_does_not_change_is_found_out():
    with pytest.raises(CommandRejected, match="reads back"):
        Driver(ScriptedSwitch(trust_answer("none"))).set_trust(PORT, TrustSetting(source="dscp"))


# -- ECN -------------------------------------------------------------------------------------------

ALL_PORTS = "display current-configuration interface"


def table_answer(name, marking, low=100):
    row = "{q}     {low:<6}1000  10     100   1000  10     100   1000  10     9         {ecn}\n"
    head = "QID   gmin  gmax  gprob  ymin  ymax  yprob  rmin  rmax  rprob  exponent  ECN\n"
    rows = [
        row.format(q=q, low=low if q in marking else 100, ecn="Y" if q in marking else "N")
        for q in range(8)
    ]
    return {
        f"display qos wred table name {name}": f"Table name: {name}\n"
        "Table type: Queue based WRED\n" + head + "-" * 76 + "\n" + "".join(rows)
    }


def applied(name, port=OUT, others=()):
    lines = [f"qos wred apply {name}"] if name else []
    sections = [configuration(*lines, port=port)]
    sections += [configuration(f"qos wred apply {table}", port=other) for other, table in others]
    everyone = "".join(s.removesuffix("#\nreturn\n") for s in sections) + "#\n"
    return {
        f"display current-configuration interface {port}": configuration(*lines, port=port),
        f"display qos wred interface {port}": f"Interface: {port}\n"
        f" Current WRED configuration:\n Applied WRED table name: {name}\n",
        ALL_PORTS: everyone + "return\n",
    }


def test_a_port_without_a_table_marks_nothing():
    assert Driver(ScriptedSwitch(applied(None))).ecn(OUT) == EcnSetting()


def test_the_applied_table_and_its_marking_queues_are_read():
    switch = ScriptedSwitch(applied("test1") | table_answer("test1", {2, 3}, low=300))
    setting = Driver(switch).ecn(OUT)
    assert setting.profile == "test1"
    assert setting.marking_queues == {2, 3}
    assert setting.queues[2] == WredQueue(
        queue=2,
        low_limit=300,
        high_limit=1000,
        drop_probability_percent=10,
        weighting_exponent=9,
        ecn=True,
    )


def test_a_table_that_is_configured_but_not_applied_is_found_out():
    switch = ScriptedSwitch(
        applied("test1")
        | {f"display qos wred interface {OUT}": applied("old")[f"display qos wred interface {OUT}"]}
    )
    with pytest.raises(UnreadableOutput, match="configured with 'test1' and applies 'old'"):
        Driver(switch).ecn(OUT)


def test_our_table_is_named_after_the_queues_that_mark():
    driver = Driver(ScriptedSwitch({}))
    assert driver.ecn_on({3, 2}).profile == "labtests-ecn-23"
    assert driver.ecn_on({3, 2}).marking_queues == {2, 3}
    assert driver.ecn_on(range(8)) == driver.ecn_on(set(range(8)))
    assert driver.ecn_on({2}).profile != driver.ecn_on({3}).profile


def test_marking_is_switched_on_and_everything_of_ours_is_gone_afterwards():
    on = applied("labtests-ecn-23") | table_answer("labtests-ecn-23", {2, 3})
    switch = ScriptedSwitch(applied(None), changes=[on, applied(None)])
    driver = Driver(switch)
    earlier = driver.ecn(OUT)
    driver.set_ecn(OUT, driver.ecn_on({2, 3}))
    driver.set_ecn(OUT, earlier)
    curve = "drop-level 0 low-limit 100 high-limit 1000 discard-probability 10"
    assert switch.configured == [
        (
            "qos wred queue table labtests-ecn-23",
            f"queue 2 {curve}",
            "queue 2 ecn",
            f"queue 3 {curve}",
            "queue 3 ecn",
            "quit",
            f"interface {OUT}",
            "qos wred apply labtests-ecn-23",
            "quit",
        ),
        (
            f"interface {OUT}",
            "undo qos wred apply",
            "quit",
            "undo qos wred queue table labtests-ecn-23",
        ),
    ]


def test_a_plan_shows_what_putting_back_would_send():
    driver = Driver(ScriptedSwitch({}))
    assert driver.ecn_commands(OUT, driver.ecn_on({2}), EcnSetting()) == (
        f"interface {OUT}",
        "undo qos wred apply",
        "quit",
        "undo qos wred queue table labtests-ecn-2",
    )


def test_a_table_of_somebody_else_is_applied_again_and_never_changed():
    theirs = applied("test1") | table_answer("test1", {5}, low=300)
    ours = applied("labtests-ecn-2") | table_answer("labtests-ecn-2", {2})
    switch = ScriptedSwitch(theirs, changes=[ours, theirs])
    driver = Driver(switch)
    earlier = driver.ecn(OUT)
    driver.set_ecn(OUT, driver.ecn_on({2}))
    driver.set_ecn(OUT, earlier)
    sent = [line for block in switch.configured for line in block]
    assert "qos wred apply test1" in sent
    assert not [line for line in sent if "table test1" in line]
    assert sent[-1] == "undo qos wred queue table labtests-ecn-2"


def test_a_table_of_somebody_else_that_has_changed_meanwhile_is_found_out():
    earlier = EcnSetting(profile="test1", queues=Driver(ScriptedSwitch({})).ecn_on({5}).queues)
    switch = ScriptedSwitch(
        applied(None), changes=[applied("test1") | table_answer("test1", {5}, low=300)]
    )
    with pytest.raises(CommandRejected, match="reads back"):
        Driver(switch).set_ecn(OUT, earlier)


def test_our_table_stays_while_another_port_applies_it():
    others = [("Twenty-FiveGigE1/0/20", "labtests-ecn-2")]
    on = applied("labtests-ecn-2", others=others) | table_answer("labtests-ecn-2", {2})
    switch = ScriptedSwitch(on, changes=[applied(None, others=others)])
    Driver(switch).set_ecn(OUT, EcnSetting())
    assert switch.configured == [(f"interface {OUT}", "undo qos wred apply", "quit")]


def test_our_table_is_not_changed_under_another_port():
    others = [("Twenty-FiveGigE1/0/20", "labtests-x")]
    switch = ScriptedSwitch(applied(None, others=others) | table_answer("labtests-x", {2}))
    driver = Driver(switch)
    wanted = EcnSetting(profile="labtests-x", queues=driver.ecn_on({3}).queues)
    with pytest.raises(CommandRejected, match="another profile name"):
        driver.set_ecn(OUT, wanted)
    assert switch.configured == []


def test_a_curve_is_sent_as_asked():
    driver = Driver(ScriptedSwitch({}))
    queue = WredQueue(
        queue=5,
        low_limit=10,
        high_limit=20,
        drop_probability_percent=30,
        weighting_exponent=12,
        ecn=True,
    )
    commands = driver.ecn_commands(
        OUT, EcnSetting(), EcnSetting(profile="labtests-s19", queues=(queue,))
    )
    # the lines of the worked example in H3C's RoCE white paper
    assert commands[1:4] == (
        "queue 5 drop-level 0 low-limit 10 high-limit 20 discard-probability 30",
        "queue 5 weighting-constant 12",
        "queue 5 ecn",
    )


def test_a_queue_of_our_table_is_changed_by_the_lines_that_differ():
    driver = Driver(ScriptedSwitch({}))
    name = "labtests-mine"
    one = EcnSetting(profile=name, queues=driver.ecn_on({2, 3}).queues)
    two = EcnSetting(profile=name, queues=driver.ecn_on({3, 4}).queues)
    assert driver.ecn_commands(OUT, one, two) == (
        f"qos wred queue table {name}",
        "undo queue 2 ecn",
        "queue 4 ecn",
        "quit",
    )


@pytest.mark.parametrize(
    "after",
    [
        applied(None),  # not applied
        applied("labtests-x") | table_answer("labtests-x", {2}),  # another table that does it
        applied("labtests-ecn-2") | table_answer("labtests-ecn-2", set()),  # does not mark
        applied("labtests-ecn-2") | table_answer("labtests-ecn-2", {2, 3}),  # marks elsewhere too
        applied("labtests-ecn-2") | table_answer("labtests-ecn-2", {2}, low=300),  # another curve
    ],
)
def test_marking_that_is_not_as_wanted_afterwards_is_found_out(after):
    driver = Driver(ScriptedSwitch(applied(None), changes=[after]))
    with pytest.raises(CommandRejected, match="reads back"):
        driver.set_ecn(OUT, driver.ecn_on({2}))


# -- scheduling ------------------------------------------------------------------------------------


def weights(*values, unit="weight"):
    queues = [
        QueueSchedule(queue=q, group="sp" if v is None else "1", weight=v)
        for q, v in enumerate(values)
    ]
    return SchedulingSetting(discipline="wrr", unit=unit, queues=tuple(queues))


STRICT = SchedulingSetting(discipline="sp", unit="")
MANUAL = weights(1, 1, 1, 1, 1, 1, 1, None)


def scheduler_answer(discipline, name):
    text = load(name).text.replace("GigabitEthernet1/0/1", OUT)
    return {f"display qos queue {discipline} interface {OUT}": text}


def test_the_discipline_that_answers_is_in_force():
    wrr = scheduler_answer("wrr", "queue_schedule.manual-wrr")
    assert Driver(ScriptedSwitch(wrr)).scheduling(OUT) == MANUAL
    sp = scheduler_answer("sp", "queue_schedule.manual-sp")
    for silence in ("", "\n", f"Interface: {OUT}\n"):
        nothing = {f"display qos queue wrr interface {OUT}": silence}
        assert Driver(ScriptedSwitch(nothing | sp)).scheduling(OUT) == STRICT
    wfq = scheduler_answer("wfq", "queue_schedule.manual-hardware-wfq")
    assert Driver(ScriptedSwitch(wfq)).scheduling(OUT).discipline == "wfq"


def test_an_answer_that_is_no_scheduler_is_not_passed_over():
    answers = scheduler_answer("sp", "queue_schedule.manual-sp")
    answers[f"display qos queue wrr interface {OUT}"] = "Segmentation fault\n"
    with pytest.raises(UnreadableOutput, match="Segmentation fault"):
        Driver(ScriptedSwitch(answers)).scheduling(OUT)


def test_a_port_that_shows_no_scheduler_is_an_error_with_a_remedy():
    with pytest.raises(CommandRejected, match="qmprofile"):
        Driver(ScriptedSwitch({})).scheduling(OUT)


def test_the_scheduler_of_another_port_is_refused():
    answer = {f"display qos queue wrr interface {OUT}": load("queue_schedule.manual-wrr").text}
    with pytest.raises(UnreadableOutput, match=f"asked for {OUT}"):
        Driver(ScriptedSwitch(answer)).scheduling(OUT)


@pytest.mark.parametrize(
    ("earlier", "wanted", "lines"),
    [
        (MANUAL, MANUAL, ()),
        (MANUAL, STRICT, ("qos sp",)),
        (
            MANUAL,
            weights(1, 1, 5, 1, 1, None, 1, None),
            ("qos wrr weight", "qos wrr 2 group 1 weight 5", "qos wrr 5 group sp"),
        ),
        (
            STRICT,
            weights(1, 2, 3, 4, 5, 9, 13, 15, unit="byte-count"),
            (
                "qos wrr byte-count",
                *[
                    f"qos wrr {q} group 1 byte-count {w}"
                    for q, w in enumerate((1, 2, 3, 4, 5, 9, 13, 15))
                ],
            ),
        ),
    ],
)
def test_scheduling_is_changed_by_the_lines_that_differ(earlier, wanted, lines):
    commands = Driver(ScriptedSwitch({})).scheduling_commands(OUT, earlier, wanted)
    assert commands == ((f"interface {OUT}", *lines, "quit") if lines else ())


def test_scheduling_is_set_and_read_back():
    wrr = scheduler_answer("wrr", "queue_schedule.manual-wrr")
    sp = scheduler_answer("sp", "queue_schedule.manual-sp")
    quiet = {f"display qos queue wrr interface {OUT}": ""}
    switch = ScriptedSwitch(wrr, changes=[quiet | sp])
    Driver(switch).set_scheduling(OUT, STRICT)
    assert switch.configured == [(f"interface {OUT}", "qos sp", "quit")]
    with pytest.raises(CommandRejected, match="reads back"):
        Driver(ScriptedSwitch(wrr)).set_scheduling(OUT, STRICT)


def test_wfq_is_not_rewritten_because_its_minimum_bandwidths_would_be_lost():
    wfq = SchedulingSetting(discipline="wfq", unit="weight", queues=MANUAL.queues)
    driver = Driver(ScriptedSwitch({}))
    for earlier, wanted in ((wfq, MANUAL), (MANUAL, wfq)):
        with pytest.raises(CommandRejected, match="by hand"):
            driver.scheduling_commands(OUT, earlier, wanted)
    assert driver.scheduling_commands(OUT, wfq, wfq) == ()


# -- DSCP map --------------------------------------------------------------------------------------

MAP = "display qos map-table dscp-dot1p"
EIGHTS = tuple(dscp // 8 for dscp in range(64))


def map_answer(values):
    rows = "".join(f"{dscp:>4}    :  {value:>3}\n" for dscp, value in enumerate(values))
    return {MAP: f"MAP-TABLE NAME: dscp-dot1p   TYPE: pre-define\nIMPORT  :  EXPORT\n{rows}"}


def test_the_map_of_document_000_is_dscp_by_eight():
    switch = ScriptedSwitch({MAP: load("map_table.s6550xe-dscp-dot1p").text})
    assert Driver(switch).dscp_map("") == EIGHTS


def test_the_map_is_set_read_back_and_put_back():
    wanted = (*EIGHTS[:48], 0, *EIGHTS[49:])
    switch = ScriptedSwitch(map_answer(EIGHTS), changes=[map_answer(wanted), map_answer(EIGHTS)])
    driver = Driver(switch)
    driver.set_dscp_map("", wanted)
    driver.set_dscp_map("", EIGHTS)
    assert switch.configured == [
        ("qos map-table dscp-dot1p", "import 48 export 0", "quit"),
        ("qos map-table dscp-dot1p", "import 48 export 6", "quit"),
    ]


def test_a_map_that_stays_as_it_was_is_found_out():
    with pytest.raises(CommandRejected, match="reads back"):
        Driver(ScriptedSwitch(map_answer(EIGHTS))).set_dscp_map("", (7, *EIGHTS[1:]))


def test_a_map_with_directions_only_is_refused():
    text = map_answer(EIGHTS)[MAP].replace("pre-define", "pre-define   DIRECTION: inbound")
    with pytest.raises(UnreadableOutput, match="without direction"):
        Driver(ScriptedSwitch({MAP: text})).dscp_map("")


# -- versions, obstacles ---------------------------------------------------------------------------


def test_versions_name_the_model_and_the_release():
    switch = ScriptedSwitch({"display version": load("version.hpe-5945").text})
    assert Driver(switch).versions() == {
        "model": "HPE FF 5945 32QSFP28 Switch",
        "comware": "7.1.070",
        "release": "Release 6710P01-US",
    }


def test_what_would_undo_a_setting_is_told_in_sentences():
    switch = ScriptedSwitch(
        {
            ALL_PORTS: "#\ninterface NULL0\n#\ninterface Vlan-interface1\n ip address dhcp-alloc\n"
            "#\ninterface Twenty-FiveGigE1/0/14\n flow-control\n qos trust dscp\n"
            " qos apply qmprofile myprofile\n#\ninterface Twenty-FiveGigE1/0/15\n#\nreturn\n"
        }
    )
    obstacles = Driver(switch).obstacles()
    assert [o.split(":")[0] for o in obstacles] == [PORT, PORT]
    assert "802.3x flow control" in obstacles[0]
    assert "qmprofile" in obstacles[1]
    assert not switch.configured


def test_what_overrides_a_map_is_told():
    """A QoS policy at a port, and its own priority where it trusts nothing."""
    policy, priority = " qos apply policy red inbound\n", " qos priority 5\n"
    switch = ScriptedSwitch(
        {
            ALL_PORTS: f"#\ninterface Twenty-FiveGigE1/0/14\n{policy}{priority} qos trust dscp\n"
            f"#\ninterface Twenty-FiveGigE1/0/15\n{priority}#\nreturn\n"
        }
    )
    driver = Driver(switch)
    (obstacle,) = driver.obstacles()
    assert obstacle.startswith("Twenty-FiveGigE1/0/14: a QoS policy is applied")
    (caveat,) = driver.caveats()
    assert caveat.startswith("Twenty-FiveGigE1/0/15: it trusts nothing")
    assert "`qos priority 5`" in caveat


def test_a_role_that_may_only_look_is_an_obstacle():
    """It may enter the system view, as every role may, and can do nothing there."""
    refused = f"[H3C]interface {PORT}\nPermission denied.\n[H3C]quit\n"
    switch = ScriptedSwitch({ALL_PORTS: f"#\ninterface {PORT}\n#\nreturn\n"}, says=refused)
    driver = Driver(switch)
    lines = driver.trial()
    with pytest.raises(CommandRejected) as refused_it:
        driver.expect_entitled(lines, switch.configure(lines))
    assert "Permission denied" in refused_it.value.problem
    assert "network-admin" in refused_it.value.remedy
