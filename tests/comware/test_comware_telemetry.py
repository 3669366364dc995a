"""Counters of the Comware driver: a number, or None and why. Never 0 for what was not shown."""

import pytest
from driven import driving
from recordings import load
from scripted_switch import ScriptedSwitch

from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.measure.evidence import differences

Driver = driving("comware")

IN, OUT = "Twenty-FiveGigE1/0/14", "Twenty-FiveGigE1/0/13"
QUEUES = f"display qos queue-statistics interface {OUT} outbound"
PFC = f"display priority-flow-control interface {IN}"
DROPS = f"display packet-drop interface {OUT}"
HEADER = "Interface Conf Ne Dot1pList P Recv Sent\n"


def values(readings, counter):
    return {r.index: r.value for r in readings if r.counter == counter}


def missing(readings, counter, index):
    return next(r.missing for r in readings if (r.counter, r.index) == (counter, index))


# -- queues ----------------------------------------------------------------------------------------


def test_every_queue_has_its_five_counters():
    switch = ScriptedSwitch({QUEUES: load("queue_statistics.s6550xe-pfc").text})
    readings = Driver(switch).queue_counters(OUT)
    assert len(readings) == 8 * 5
    assert {(r.device, r.port, r.scope, r.time_s) for r in readings} == {
        ("S6550", OUT, "queue", 1.0)
    }
    assert values(readings, "forwarded_packets")[5] == 45792720
    assert values(readings, "forwarded_bytes")[5] == 69317966688
    assert values(readings, "dropped_packets") == dict.fromkeys(range(8), 0)


def test_queues_that_were_not_shown_have_no_value():
    switch = ScriptedSwitch({QUEUES: load("queue_statistics.s6550xe-drops").text})
    readings = Driver(switch).queue_counters(OUT)
    dropped = values(readings, "dropped_packets")
    assert dropped == {0: 0, 1: 0, 2: 1328925, 3: 0, 4: None, 5: None, 6: None, 7: None}
    assert missing(readings, "dropped_packets", 4) == "the switch did not show queue 4"
    assert missing(readings, "dropped_packets", 3) == ""


def test_a_queue_counter_the_switch_has_no_number_for_says_so():
    text = load("queue_statistics.s6550xe-pfc").text.replace(
        "Dropped: 0 packets", "Dropped: N/A packets"
    )
    readings = Driver(ScriptedSwitch({QUEUES: text})).queue_counters(OUT)
    assert set(values(readings, "dropped_packets").values()) == {None}
    assert missing(readings, "dropped_packets", 0) == "the switch printed no number"


def test_the_queues_of_another_port_are_refused():
    switch = ScriptedSwitch({QUEUES: load("queue_statistics.manual-colours").text})
    with pytest.raises(UnreadableOutput, match=f"asked for {OUT}"):
        Driver(switch).queue_counters(OUT)


def test_an_output_cut_inside_a_queue_is_refused():
    text = load("queue_statistics.s6550xe-pfc").text
    for cut in range(len(text.splitlines())):
        part = "\n".join(text.splitlines()[:cut])
        try:
            readings = Driver(ScriptedSwitch({QUEUES: part})).queue_counters(OUT)
        except UnreadableOutput:
            continue
        shown = [r for r in readings if r.value is not None]
        assert shown
        assert len(shown) == 5 * part.count("Queue ")


# -- PFC -------------------------------------------------------------------------------------------


def pfc(text):
    return Driver(ScriptedSwitch({PFC: text})).pfc_counters((IN,))


def test_document_000_sent_99393_pauses_on_priority_3_and_none_on_the_others():
    readings = pfc(load("priority_flow_control.s6550xe-port-14").text)
    sent = values(readings, "pfc_tx_frames")
    assert sent == dict.fromkeys(range(8), 0) | {3: 99393}
    assert values(readings, "pfc_rx_frames") == dict.fromkeys(range(8), 0)
    assert {r.unit for r in readings} == {"frames"}


def test_the_first_pause_frame_makes_a_row_appear_and_the_difference_is_known():
    switch = ScriptedSwitch({PFC: HEADER + "WGE1/0/14 On On 3,5\n"})
    driver = Driver(switch)
    before = driver.pfc_counters((IN,))
    switch.answers = {PFC: HEADER + "WGE1/0/14 On On 3,5 3 0 12\n"}
    grown = differences(before, driver.pfc_counters((IN,)))
    increase = {key[3]: d.increase for key, d in grown.items() if key[4] == "pfc_tx_frames"}
    assert increase[3] == 12
    assert increase[5] == 0
    assert {increase[p] for p in (0, 1, 2, 4, 6, 7)} == {None}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("WGE1/0/14 Off Off 3\n", "PFC is not in operation (mode off)"),
        ("WGE1/0/14 Auto Off 3\n", "PFC is not in operation (mode auto)"),
        ("WGE1/0/14 On On 5\n", "not in the port's displayed no-drop list"),
        ("WGE1/0/14 On On\n", "not in the port's displayed no-drop list"),
        ("", "shows nothing for this port"),
    ],
)
def test_without_a_row_a_priority_that_is_not_paused_for_has_no_value(row, why):
    readings = pfc(HEADER + row)
    assert values(readings, "pfc_tx_frames")[3] is None
    assert why in missing(readings, "pfc_tx_frames", 3)


def test_a_row_is_a_number_even_when_pfc_is_off_by_now():
    assert values(pfc(HEADER + "WGE1/0/14 Off Off 3 3 1 2\n"), "pfc_tx_frames")[3] == 2


def test_a_counter_that_was_reset_is_not_a_small_difference():
    switch = ScriptedSwitch({PFC: HEADER + "WGE1/0/14 On On 3 3 0 12\n"})
    driver = Driver(switch)
    before = driver.pfc_counters((IN,))
    switch.answers = {PFC: HEADER + "WGE1/0/14 On On 3\n"}
    grown = differences(before, driver.pfc_counters((IN,)))
    (sent,) = [d for key, d in grown.items() if key[3:] == (3, "pfc_tx_frames")]
    assert sent.increase is None
    assert "ran backwards" in sent.unusable


def test_the_pauses_of_another_port_are_not_taken():
    with pytest.raises(UnreadableOutput, match=f"asked for {IN}"):
        pfc(load("priority_flow_control.s6550xe-port-15").text)


def test_several_ports_are_asked_one_by_one():
    two = "Twenty-FiveGigE1/0/15"
    switch = ScriptedSwitch(
        {
            PFC: load("priority_flow_control.s6550xe-port-14").text,
            f"display priority-flow-control interface {two}": load(
                "priority_flow_control.s6550xe-port-15"
            ).text,
        }
    )
    readings = Driver(switch).pfc_counters((IN, two))
    sent = {
        (r.port, r.index): r.value for r in readings if r.counter == "pfc_tx_frames" and r.value
    }
    assert sent == {(IN, 3): 99393, (two, 5): 29792}


# -- drops -----------------------------------------------------------------------------------------


def port_values(readings):
    return {r.counter: r.value for r in readings}


def test_a_data_centre_switch_tells_buffer_drops_and_marks():
    text = load("packet_drop.data-center-summary").text.replace("All interfaces", OUT)
    readings = Driver(ScriptedSwitch({DROPS: text})).drop_counters(OUT)
    assert port_values(readings) == {
        "buffer_dropped_in_packets": 0,
        "buffer_dropped_out_packets": 0,
        "ecn_marked_packets": 1622267130,
        "wred_dropped_packets": 0,
        "dropped_fast_filter_processor_ffp": 0,
        "dropped_stp_non_forwarding_state": 0,
    }
    assert {(r.scope, r.index, r.unit) for r in readings} == {("port", None, "packets")}


def test_a_switch_that_does_not_count_marks_has_no_value_for_them():
    text = load("packet_drop.manual-interface").text.replace("GigabitEthernet1/0/1", OUT)
    readings = Driver(ScriptedSwitch({DROPS: text})).drop_counters(OUT)
    found = port_values(readings)
    assert found["ecn_marked_packets"] is None
    assert found["dropped_full_gbp_or_insufficient_bandwidth"] == 301
    (marked,) = [r for r in readings if r.counter == "ecn_marked_packets"]
    assert "no such line" in marked.missing


def test_the_summary_of_all_ports_is_not_taken_for_one_port():
    text = load("packet_drop.data-center-summary").text
    with pytest.raises(UnreadableOutput, match=f"asked for {OUT}"):
        Driver(ScriptedSwitch({DROPS: text})).drop_counters(OUT)


@pytest.mark.parametrize("ability", ["queue_counters", "drop_counters"])
def test_a_refused_command_is_an_error_and_no_counter(ability):
    with pytest.raises(CommandRejected, match="Unrecognized command"):
        getattr(Driver(ScriptedSwitch({})), ability)(OUT)
