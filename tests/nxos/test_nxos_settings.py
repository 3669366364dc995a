"""Settings of the Nexus driver on the emulated switch: read, made, read back, put back; policies of
others stay as they are."""

from dataclasses import replace

import pytest
from driven import driving
from nexus_bench import PORTS, NexusBench, emulated

from labtests.capabilities.records import (
    BufferThresholds,
    EcnSetting,
    MarkingCurve,
    PfcSetting,
    PriorityMemory,
    TrustSetting,
    WredQueue,
)
from labtests.core.errors import CommandRejected, DeviceError, UnreadableOutput
from labtests.drivers import driver_module
from labtests.drivers.nxos.policies import is_ours

OUT, IN, OTHER = PORTS
EIGHTHS = tuple(dscp // 8 for dscp in range(64))
SHARES = (20, 5, 5, 50, 10, 10, None, None)
THEIRS = (  # lines of a published configuration (configuration.roce-script)
    *("class-map type qos match-any ROCEv2", "match dscp 24-31"),
    *("policy-map type qos QOS_CLASSIFICATION", "class ROCEv2", "set qos-group 3"),
    *("policy-map type network-qos qos_network", "class type network-qos c-8q-nq3", "mtu 9216"),
    *("pause pfc-cos 3", "class type network-qos c-8q-nq-default", "mtu 9216"),
    *("policy-map type queuing QOS_EGRESS_PORT", "class type queuing c-out-8q-q3"),
    "bandwidth remaining percent 50",
    "random-detect minimum-threshold 950 kbytes maximum-threshold 3000 kbytes "
    "drop-probability 7 weight 0 ecn",
    *("class type queuing c-out-8q-q-default", "bandwidth remaining percent 50"),
    *("class type queuing c-out-8q-q7", "priority level 1"),
    *("system qos", "service-policy type network-qos qos_network"),
    *(f"interface {OUT}", "service-policy type queuing output QOS_EGRESS_PORT"),
    *(f"interface {IN}", "service-policy type qos input QOS_CLASSIFICATION no-stats"),
    "priority-flow-control mode on",
)


@pytest.fixture
def bench():
    return NexusBench(emulated())


@pytest.fixture
def theirs(bench):
    bench.type(*THEIRS)
    return bench


@pytest.fixture
def driver(bench):
    return driving("nxos")(bench)


def curve(queue, low=100_000, high=2_000_500):
    return WredQueue(
        queue=queue,
        low_limit=low,
        high_limit=high,
        drop_probability_percent=10,
        weighting_exponent=2,
        ecn=True,
    )


WANTED = {
    "pfc": lambda driver: PfcSetting(mode="on", priorities=frozenset({0, 3, 5})),
    "trust": lambda driver: TrustSetting(source="dscp"),
    "ecn": lambda driver: EcnSetting(profile="any", queues=(curve(0), curve(3))),
    "scheduling": lambda driver: driver.scheduling_for(SHARES),
    "headroom": lambda driver: ((3, 100), (5, 200)),
    "buffer_thresholds": lambda driver: (
        BufferThresholds(priority=3, unit="bytes", static=83_200, xon=62_400),
        BufferThresholds(priority=5, unit="bytes", static=41_600, xon=0),
    ),
    "frame_limit": lambda driver: 9238,
    "port_state": lambda driver: "down",
}


def test_the_platform_nxos_is_this_driver():
    module = driver_module("nxos")
    assert (module.SESSION, module.KIND) == ("cisco_nxos", "switch")
    for name in (*WANTED, "dscp_map", "queue_map", "queue_counters", "pfc_counters", "neighbours"):
        assert module.driver_of("N9K").offers(name), name


def test_a_switch_as_delivered_has_no_policy_and_its_own_scheduler(driver):
    assert driver.pfc(IN) == PfcSetting(mode="auto", priorities=frozenset())
    assert driver.trust(IN) == TrustSetting(source="none")
    assert driver.ecn(OUT) == EcnSetting()
    assert [(q.group, q.weight, q.level) for q in driver.scheduling(OUT).queues] == [
        ("1", 100, 8),
        *[("1", 0, 8)] * 6,
        ("sp", None, 0),
    ]
    assert (driver.headroom(OUT), driver.frame_limit(OUT)) == ((), None)
    with pytest.raises(CommandRejected, match="does not classify by DSCP"):
        driver.dscp_map(IN)


@pytest.mark.parametrize("name", list(WANTED))
@pytest.mark.parametrize("found", ["as delivered", "with policies of others"])
def test_a_setting_is_made_read_back_and_put_back(bench, driver, name, found):
    if found != "as delivered":
        bench.type(*THEIRS)
    port = IN if name in ("pfc", "trust") else OUT
    before, text = getattr(driver, name)(port), bench.shown()
    wanted = WANTED[name](driver)
    getattr(driver, f"set_{name}")(port, wanted)
    now = getattr(driver, name)(port)
    same = {"ecn": lambda value: set(value.queues)}.get(name, lambda value: value)
    assert same(now) == same(wanted)
    getattr(driver, f"set_{name}")(port, before)
    assert getattr(driver, name)(port) == before
    assert bench.shown() == text


def test_policies_of_others_are_never_changed_and_come_back_with_all_their_words(theirs, driver):
    before = theirs.shown()
    names = ("QOS_CLASSIFICATION", "qos_network", "QOS_EGRESS_PORT")
    earlier = driver.dscp_map(IN), driver.pfc(IN), driver.ecn(OUT), driver.scheduling(OUT)
    driver.set_dscp_map(IN, EIGHTHS)
    driver.set_pfc(IN, PfcSetting(mode="on", priorities=frozenset({4})))
    driver.set_ecn(OUT, EcnSetting())
    driver.set_scheduling(OUT, driver.scheduling_for((12,) * 8))
    now = theirs.shown()
    assert "service-policy type qos input labtests-" in now
    assert " no-stats" in now
    for name in names:
        kept = f"policy-map type {now.split(name)[0].rpartition('policy-map type ')[2]}{name}"
        block = now.split(kept + "\n")[1].split("\npolicy-map")[0].split("\nsystem")[0]
        assert block in before, name
    driver.set_scheduling(OUT, earlier[3])
    driver.set_ecn(OUT, earlier[2])
    driver.set_pfc(IN, earlier[1])
    driver.set_dscp_map(IN, earlier[0])
    assert theirs.shown() == before


def test_a_map_over_a_policy_of_others_goes_back_to_it(theirs, driver):
    """Class-maps that were never made are not taken away."""
    before, earlier = theirs.shown(), driver.dscp_map(IN)
    driver.set_dscp_map(IN, tuple((7 * dscp) % 8 for dscp in range(64)))
    driver.set_dscp_map(IN, earlier)
    assert theirs.shown() == before


def test_buffers_leave_other_lines_of_a_policy_of_others_alone(bench, driver):
    """In the policy that stands for theirs, too."""
    theirs = ("policy-map type queuing BUFFERS", "class type queuing c-in-q2")
    bench.type(*theirs, "bandwidth percent 30")
    bench.type(f"interface {OUT}", "service-policy type queuing input BUFFERS")
    text = bench.shown()
    driver.set_headroom(OUT, ((3, 100),))
    ours = bench.shown().split("policy-map type queuing labtests-")[1]
    assert "class type queuing c-in-q2\n    bandwidth percent 30\n" in ours.split("interface ")[0]
    driver.set_headroom(OUT, ())
    assert bench.shown() == text


def test_marks_and_shares_of_a_port_do_not_know_of_each_other(bench, driver):
    """Set in one order and put back in the other."""
    text, delivered = bench.shown(), driver.scheduling(OUT)
    driver.set_ecn(OUT, driver.ecn_on({2, 3}))
    driver.set_scheduling(OUT, driver.scheduling_for((12,) * 8))
    assert driver.ecn(OUT).marking_queues == {2, 3}
    driver.set_ecn(OUT, EcnSetting())
    assert [q.weight for q in driver.scheduling(OUT).queues] == [12] * 8
    driver.set_scheduling(OUT, delivered)
    assert bench.shown() == text


def test_ports_that_want_the_same_share_one_policy_which_goes_with_the_last(bench, driver):
    text = bench.shown()
    for port in PORTS:
        driver.set_ecn(port, driver.ecn_on({3}))
    assert bench.shown().count("policy-map type queuing labtests-") == 1
    for port in PORTS:
        driver.set_ecn(port, EcnSetting())
    assert bench.shown() == text


def test_what_an_interrupted_change_has_left_is_removed_by_the_next(bench, driver):
    text = bench.shown()
    bench.type("policy-map type queuing labtests-00000000", "class-map type qos labtests-11111111")
    assert "labtests-" in bench.shown()
    driver.set_trust(IN, TrustSetting(source="dscp"))
    driver.set_trust(IN, TrustSetting(source="none"))
    assert bench.shown() == text


def test_the_map_of_a_port_is_of_any_form_and_trust_keeps_it(driver):
    scattered = tuple((7 * dscp) % 8 for dscp in range(64))
    driver.set_trust(IN, TrustSetting(source="dscp"))
    assert driver.dscp_map(IN) == EIGHTHS
    driver.set_dscp_map(IN, scattered)
    driver.set_trust(IN, TrustSetting(source="dscp"))
    assert driver.dscp_map(IN) == scattered
    assert driver.transport.switch.network.dscp_map(IN) == scattered


def test_lossless_classes_follow_the_ports_that_are_on(bench, driver):
    """Put back port by port, they are never somebody else's doing."""
    text = bench.shown()
    on = PfcSetting(mode="on", priorities=frozenset({3, 5}))
    auto = PfcSetting(mode="auto", priorities=frozenset())
    driver.set_pfc(IN, on)
    driver.set_pfc(OTHER, on)
    assert not driver.pfc_commands(OTHER, on, on)
    driver.set_pfc(OTHER, auto)
    assert driver.pfc(IN) == on
    assert driver.pfc(OTHER) == PfcSetting(mode="auto", priorities=frozenset({3, 5}))
    driver.set_pfc(IN, auto)
    assert bench.shown() == text


def test_thresholds_are_sent_in_kbytes_where_they_are_whole_ones(bench, driver):
    curves = (MarkingCurve(queue=3, kmin_bytes=5000, kmax_bytes=60_001, pmax_percent=9,
                           weighting_exponent=1),)  # fmt: skip
    driver.set_ecn(OUT, driver.ecn_for(curves, 208))
    assert (
        "random-detect minimum-threshold 5 kbytes maximum-threshold 60001 bytes "
        "drop-probability 9 weight 1 ecn" in bench.shown()
    )
    assert driver.ecn(OUT).queues[0].high_limit == 60_001


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ((None, 10, 10, 10, 10, 10, 10, 10), "default queue cannot be strict"),
        ((20,) * 8, "add up to 160 %"),
    ],
)
def test_shares_that_the_switch_cannot_hold_are_refused_before_anything_is_sent(
    driver, bench, wanted, why
):
    with pytest.raises(CommandRejected, match=why):
        driver.set_scheduling(OUT, driver.scheduling_for(wanted))
    assert bench.configured == []


def test_all_queues_strict_are_seven_levels_and_what_they_leave(driver, bench):
    driver.set_scheduling(OUT, driver.scheduling_for((None,) * 8))
    assert bench.switch.network.schedule(OUT).levels == (7, 6, 5, 4, 3, 2, 1, 0)


def test_a_switch_that_says_yes_and_does_nothing_is_found_out(bench, driver):
    bench.switch.faults.lying = True
    for name, wanted in WANTED.items():
        with pytest.raises(DeviceError):
            getattr(driver, f"set_{name}")(IN, wanted(driver))


def test_the_longest_frame_that_is_the_default_is_set_though_it_is_not_shown(bench, driver):
    text = bench.shown()
    driver.set_frame_limit(OUT, 1522)
    assert (driver.frame_limit(OUT), bench.shown()) == (None, text)
    driver.set_frame_limit(OUT, 1523)
    assert driver.frame_limit(OUT) == 1523


def test_a_refused_line_is_heard_and_named(bench, driver):
    bench.switch.faults.defects.role = "network-operator"
    with pytest.raises(CommandRejected, match="Permission denied") as caught:
        driver.set_frame_limit(IN, 9238)
    assert "network-admin" in caught.value.remedy


def test_a_configuration_that_ends_early_is_no_configuration(bench, driver):
    bench.type(*THEIRS)
    bench.switch.faults.truncated_commands.add("show running-config")
    for read in (driver.pfc, driver.trust, driver.ecn, driver.headroom, driver.frame_limit):
        with pytest.raises(UnreadableOutput, match="behind it"):
            read(IN)


def test_a_scheduler_that_is_shown_otherwise_than_configured_is_refused(driver, bench, monkeypatch):
    run = bench.run
    monkeypatch.setattr(
        bench, "run", lambda command, **more: _with(run(command), "0           100")
    )
    with pytest.raises(UnreadableOutput, match="queue 0 is shown as"):
        driver.scheduling(OUT)


def _with(reply, shown):
    return replace(reply, text=reply.text.replace(shown, "0            99"))


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("match cos 3",), TrustSetting(source="dot1p")),
        (("match dscp 3",), TrustSetting(source="dscp")),
    ],
)
def test_what_a_port_trusts_is_what_its_policy_looks_at(bench, driver, lines, names):
    bench.type(
        *("class-map type qos match-any M", *lines, "policy-map type qos P", "class M"),
        *("set qos-group 3", f"interface {IN}", "service-policy type qos input P"),
    )
    assert driver.trust(IN) == names


def test_a_policy_that_looks_at_both_is_refused(bench, driver):
    bench.type(
        *("class-map type qos match-any M", "match cos 3", "match dscp 3"),
        *("policy-map type qos P", "class M", "set qos-group 3"),
        *(f"interface {IN}", "service-policy type qos input P"),
    )
    with pytest.raises(CommandRejected, match="matches more than DSCPs"):
        driver.trust(IN)


def test_obstacles_are_named_with_port_and_line(bench, driver):
    assert driver.obstacles() == ()
    configuration = bench.run
    line = "  priority-flow-control watch-dog-interval on\n"

    def watched(command, **more):
        reply = configuration(command)
        return replace(
            reply, text=reply.text.replace(f"\ninterface {IN}\n", f"\ninterface {IN}\n{line}")
        )

    bench.run = watched
    (sentence,) = driver.obstacles()
    assert sentence.startswith(f"{IN}: the PFC watchdog")


def test_names_of_ours_are_told_from_others():
    assert is_ours("labtests-0123abcd.QOS")
    assert is_ours("labtests-0123abcd")
    for name in ("QOS_EGRESS_PORT", "labtests-mine", "labtests-0123abcde", "labtests-0123abcd."):
        assert not is_ours(name)


# -- counters --------------------------------------------------------------------------------------


def test_counters_of_queues_have_names_units_and_the_switch_s_own_words(driver):
    found = driver.queue_counters(OUT)
    assert {(each.counter, each.unit) for each in found} == {
        *((f"{what}_packets", "packets") for what in ("forwarded", "dropped", "marked")),
        *((f"{what}_bytes", "bytes") for what in ("forwarded", "dropped")),
    }
    assert {each.index for each in found} == set(range(8))
    assert all(each.value == 0 for each in found)
    assert found[2].source == "show queuing interface: WRED/AFD & Tail Drop Pkts"


def test_a_queue_or_a_line_that_is_not_shown_is_none_and_says_why(driver, bench):
    faults = bench.switch.faults
    faults.missing_counters |= {(OUT, "queue-3"), (OUT, "packet-drop")}
    found = {(each.index, each.counter): each for each in driver.queue_counters(OUT)}
    assert found[3, "dropped_packets"].value is None
    assert found[3, "dropped_packets"].missing == "no block of this group"
    assert found[4, "marked_packets"].missing == "no line 'ECN Pkts'"
    of_port = {each.counter: each for each in driver.drop_counters(OUT)}
    assert of_port["buffer_dropped_in_packets"].value is None
    assert of_port["ecn_marked_packets"].value is None


def test_pause_frames_of_all_ports_are_one_question(driver, bench):
    found = driver.pfc_counters(PORTS)
    assert bench.asked == ["show interface priority-flow-control detail"]
    assert len(found) == 2 * 8 * len(PORTS)
    assert {each.value for each in found} == {0}
    bench.switch.faults.missing_counters.add((IN, "pfc"))
    with pytest.raises(UnreadableOutput, match="incomplete"):
        driver.pfc_counters(PORTS)


def test_facts_of_links_neighbours_version_and_clock(driver):
    facts = driver.link(OUT)
    assert (facts.up, facts.speed_bits_per_s, facts.frame_bytes) == (True, 10**10, 1522)
    assert driver.versions() == {"model": "Nexus9000 C93180YC-EX", "nxos": "9.3(SIMULATED)"}
    assert driver.own_clock().device_s == 1716969600.0
    assert {each.counter for each in driver.link_errors(OUT)} == {
        *("rx_errors", "rx_crc_errors", "tx_errors")
    }
    assert all(each.value == 0 for each in driver.port_counters(OUT))


@pytest.mark.parametrize("name", list(WANTED))
def test_a_port_that_the_switch_has_not_is_no_port_without_settings(driver, name):
    with pytest.raises(DeviceError, match=r"Ethernet9/9|Invalid command"):
        getattr(driver, name)("Ethernet9/9")


@pytest.mark.parametrize(
    "behind",
    ["{clock}{source}", "{clock}{warning}{source}", "{clock}{warning}", "{warning}{clock}{source}"],
)
def test_what_the_clock_says_of_its_source_is_no_configuration(bench, driver, behind):
    """Lines that `show clock` of a real switch may print, before its own and behind it."""
    run, clock = bench.run, "08:00:00.000 UTC Wed May 29 2024\n"
    warning = "Warning: No NTP peer/server configured. Time may be out of sync.\n"
    said = behind.format(clock=clock, warning=warning, source="Time source is NTP\n")
    bench.type(f"interface {IN}", "priority-flow-control mode on")

    def noisy(command, **more):
        reply = run(command)
        return replace(reply, text=reply.text.replace(clock, said))

    bench.run = noisy
    assert driver.pfc(IN).mode == "on"
    assert driver.own_clock().device_s == 1716969600.0
    assert driver.watchdog_log().missing == ""


def test_a_configuration_that_is_cut_behind_a_word_about_the_clock_has_no_end(bench, driver):
    """A banner may say it, too."""
    run, clock = bench.run, "08:00:00.000 UTC Wed May 29 2024\n"

    def cut(command, **more):
        reply = run(command)
        return replace(reply, text=reply.text.replace(clock, "Warning: No NTP at this site.\n"))

    bench.run = cut
    with pytest.raises(UnreadableOutput, match="there is no line"):
        driver.pfc(IN)


def test_what_a_class_may_hold_is_what_is_in_force_and_acts_on_packets(bench, driver):
    driver.set_pfc(OUT, PfcSetting(mode="on", priorities=frozenset({5})))
    (shown,) = driver.memory_limits(OUT).priorities
    lane = bench.switch.network._tables.lane[8 * bench.switch.network._ports[OUT] + 5]
    (pause, resume) = bench.switch.network.pause_cells(OUT)[5]
    assert resume == pause - int(lane.xon_offset_cells) > 0
    assert shown.static_bytes == 208 * pause
    assert shown.headroom_bytes == 208 * int(lane.headroom_cells)
    own = BufferThresholds(priority=5, unit="bytes", static=41_600, xon=20_800)
    driver.set_buffer_thresholds(OUT, (own,))
    (shown,) = driver.memory_limits(OUT).priorities
    assert shown == PriorityMemory(priority=5, headroom_bytes=271_232, static_bytes=41_600)
    assert driver.headroom(OUT) == ((5, 271_232 // 208),)
    network = bench.switch.network
    lane = network._tables.lane[8 * network._ports[OUT] + 5]
    assert (int(lane.xoff_cells), int(lane.xon_offset_cells)) == (200, 100)


@pytest.mark.parametrize(
    "more",
    [{"static": None}, {"xon": None}, {"xon": 41_601}, {"headroom": 1}, {"unit": "cells"}],
    ids=str,
)
def test_thresholds_that_the_line_has_no_words_for_are_refused(bench, driver, more):
    own = BufferThresholds(priority=5, unit="bytes", static=41_600, xon=20_800)
    text = bench.shown()
    with pytest.raises(CommandRejected, match="c-in-q5"):
        driver.set_buffer_thresholds(OUT, (replace(own, **more),))
    assert bench.shown() == text


def test_thresholds_and_headroom_of_a_class_do_not_undo_each_other(driver):
    own = BufferThresholds(priority=5, unit="bytes", static=41_600, xon=20_800)
    driver.set_headroom(OUT, ((5, 300),))
    driver.set_buffer_thresholds(OUT, (own,))
    assert (driver.headroom(OUT), driver.buffer_thresholds(OUT)) == (((5, 300),), (own,))
    driver.set_headroom(OUT, ((5, 400),))
    assert (driver.headroom(OUT), driver.buffer_thresholds(OUT)) == (((5, 400),), (own,))
