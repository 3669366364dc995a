"""PFC and DCQCN together, any-to-any traffic, and victims: what each verdict rests on."""

import math
from dataclasses import replace

import pytest
from handmade import reading, rows
from handmade_rdma import (
    CEILING,
    PACKETS,
    any_to_any,
    dropping,
    flow,
    held_by_marks,
    held_by_pfc,
    keys,
    place,
    with_value,
)

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    all_paused,
    held_by_cnps,
    held_by_pauses,
    lossless,
    marked_before_paused,
    nothing_lost,
    out_of_balance,
    sound_among,
    spared,
)
from labtests.verdicts.marks_first import jain


def marks_first(seen):
    return marked_before_paused(seen, ceiling_bits_per_s=CEILING)


def by_pfc(seen):
    return held_by_pauses(seen, ceiling_bits_per_s=CEILING)


def whole(seen):
    return nothing_lost(seen, controls=(dropping(any_to_any()),))


def test_what_is_as_it_should_be_passes():
    for verdict in (marks_first(held_by_marks()), by_pfc(held_by_pfc()), whole(any_to_any())):
        assert verdict.outcome is Outcome.PASS, verdict
    assert sound_among(any_to_any()).outcome is Outcome.PASS
    assert "9000 packets marked, 0 pause frames" in marks_first(held_by_marks()).because
    assert "8000 pause frames, no CNP handled" in by_pfc(held_by_pfc()).because


# -- marks before pauses -------------------------------------------------------------------------

SENT_TO_A = ("sw", "p1", "priority", 3, c.PFC_TX_FRAMES)
GOT_BY_A = ("a", "eth0", "priority", 3, c.PFC_RX_FRAMES)


@pytest.mark.parametrize(("frames", "outcome"), [(10, Outcome.PASS), (12, Outcome.FAIL)])
def test_five_pause_frames_a_second_are_few_and_more_are_many(frames, outcome):
    seen = with_value(with_value(held_by_marks(), SENT_TO_A, frames), GOT_BY_A, frames)
    assert marks_first(seen).outcome is outcome


def test_a_sender_that_nobody_tells_is_no_reason_to_look_at_kmin():
    """Its packets came without ECN, say: the other one was slowed by marks in time."""
    seen = with_value(with_value(held_by_marks(), SENT_TO_A, 50), GOT_BY_A, 50)
    assert "look at Kmin" in marks_first(seen).because
    few = with_value(seen, ("a", "eth0", "port", -1, c.RP_CNP_HANDLED), 3)
    verdict = marks_first(few)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because.endswith(
        "a got 3 CNPs, others enough to hold them: look at the ECN field of its packets (sw p1), "
        "and at what the receiver tells it"
    )
    assert "look at Kmin" not in verdict.because


def test_pause_frames_of_the_switch_that_no_nic_got_are_no_proof():
    assert marks_first(with_value(held_by_marks(), SENT_TO_A, 4000)).outcome is Outcome.INCONCLUSIVE


def test_the_load_that_pauses_hold_is_red_and_says_so():
    verdict = marks_first(held_by_pfc())
    assert verdict.outcome is Outcome.FAIL
    assert "more than 5 pause frames a s" in verdict.because


NEEDED = [
    key
    for key in keys(held_by_marks())
    if key[-1]
    in {
        *(c.ECN_MARKED_PACKETS, c.NP_ECN_MARKED_PACKETS, c.NP_CNP_SENT),
        *(c.RP_CNP_HANDLED, c.RP_CNP_IGNORED, c.PFC_RX_FRAMES),
    }
    or key in (SENT_TO_A, ("sw", "p1", "queue", 6, c.QUEUE_FORWARDED_PACKETS))
]


@pytest.mark.parametrize("key", NEEDED)
def test_no_counter_of_marks_and_pauses_may_be_missing(key):
    assert marks_first(with_value(held_by_marks(), key, None)).outcome is Outcome.INCONCLUSIVE


def of_rates(seen: Evidence, *gbit):
    flows = (
        replace(f, intervals=rows(10, (rate, rate)), goodput_bits_per_s=rate * 1e9)
        for f, rate in zip(seen.flows, gbit, strict=True)
    )
    return replace(seen, flows=tuple(flows))


@pytest.mark.parametrize(
    ("gbit", "says"),
    [
        ((4.0, 4.0), "total goodput / theoretical maximum is 0.864"),
        ((5.2, 5.2), "total goodput / theoretical maximum is 1.123"),
        ((9.26, 0.0), "b stalled"),
    ],
)
@pytest.mark.parametrize("verdict", [marks_first, by_pfc])
def test_a_line_that_is_empty_or_unfairly_shared_may_be_a_host_s_doing(verdict, gbit, says):
    seen = held_by_marks() if verdict is marks_first else held_by_pfc()
    told = verdict(of_rates(seen, *gbit))
    assert told.outcome is Outcome.INCONCLUSIVE
    assert says in told.because


def test_an_unfair_share_is_named_under_marks_and_usual_under_pauses():
    told = marks_first(of_rates(held_by_marks(), 7.8, 1.4))
    assert told.outcome is Outcome.INCONCLUSIVE
    assert "Jain's index of the senders is 0.67" in told.because
    assert by_pfc(of_rates(held_by_pfc(), 7.8, 1.4)).outcome is Outcome.PASS


def test_a_sender_that_its_link_holds_need_not_be_paused_or_have_as_much():
    slow = replace(place("b"), link_bits_per_s=1e9)
    seen = of_rates(held_by_pfc(), 8.3, 0.92)
    for key in (("sw", "p2", "priority", 3, c.PFC_TX_FRAMES),
                ("b", "eth0", "priority", 3, c.PFC_RX_FRAMES)):  # fmt: skip
        seen = with_value(seen, key, 0)
    assert by_pfc(seen).outcome is not Outcome.PASS
    assert by_pfc(replace(seen, senders=(seen.senders[0], slow))).outcome is Outcome.PASS
    marked = of_rates(held_by_marks(), 8.3, 0.92)
    marked = replace(marked, senders=(marked.senders[0], slow))
    assert marks_first(marked).outcome is Outcome.PASS


def test_jain_s_index():
    assert jain((1.0, 1.0, 1.0)) == pytest.approx(1.0)
    assert jain((2.0, 1.0)) == pytest.approx(0.9)
    assert jain((1.0, 0.0, 0.0, 0.0)) == pytest.approx(0.25)
    assert jain(()) == jain((0.0, 0.0)) == 0.0


def test_who_heeds_cnps_is_not_held_by_pauses_alone():
    seen = with_value(held_by_pfc(), ("a", "eth0", "port", -1, c.RP_CNP_HANDLED), 900)
    assert by_pfc(seen).outcome is Outcome.INCONCLUSIVE
    assert "marks held it, too" in by_pfc(seen).because


def test_of_reads_the_receiver_may_have_asked_again_and_is_asked():
    seen = held_by_pfc(tool="ib_read_bw")
    again = ("r", "eth0", "port", -1, c.LOCAL_ACK_TIMEOUT)
    said = lossless(with_value(seen, again, 3), {3}).because
    assert "r eth0 local_ack_timeout_err grew by 3 without a drop" in said
    dropped = with_value(
        with_value(seen, again, 3), ("sw", "p3", "queue", 3, c.QUEUE_DROPPED_PACKETS), 7
    )
    both = lossless(dropped, {3})
    assert both.outcome is Outcome.FAIL
    assert not any("without a drop" in each for each in both.disagreements)
    sends = lossless(with_value(held_by_pfc(), again, 3), {3}).because
    assert "local_ack_timeout" not in sends


# -- any to any ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", keys(any_to_any()))
@pytest.mark.parametrize("value", [None, 7])
def test_no_counter_of_any_to_any_may_be_missing_or_wrong(key, value):
    seen = with_value(any_to_any(), key, value)
    of_sound = key[-1] in (c.RX_CRC_ERRORS, c.NIC_RX_DISCARDED_PACKETS)
    verdict = sound_among(seen) if of_sound else whole(seen)
    assert verdict.outcome is not Outcome.PASS, key


def test_a_packet_that_is_lost_where_nobody_counts_it_is_no_pass():
    key = ("r", "eth0", "priority", 3, c.RX_PACKETS)
    short = with_value(any_to_any(), key, 2 * (PACKETS + PACKETS // 100) - 1)
    assert whole(short).outcome is Outcome.INCONCLUSIVE
    assert sound_among(short).outcome is Outcome.INCONCLUSIVE
    assert any("sent by all NICs" in sentence for sentence in out_of_balance(short))


def test_a_drop_counter_that_no_control_saw_count_proves_nothing():
    assert nothing_lost(any_to_any()).outcome is Outcome.INCONCLUSIVE
    at_p2 = ("sw", "p2", "queue", 3, c.QUEUE_DROPPED_PACKETS)
    still = with_value(dropping(any_to_any()), at_p2, 0)
    verdict = nothing_lost(any_to_any(), controls=(still,))
    assert "sw p2 queue 3 drop counter is unproven" in verdict.because
    assert whole(with_value(any_to_any(), at_p2, 3)).outcome is Outcome.FAIL


def test_a_port_without_load_proves_nothing():
    seen = any_to_any()
    idle = tuple(replace(f, goodput_bits_per_s=1e9) if f.receiver == "b" else f for f in seen.flows)
    verdict = whole(replace(seen, flows=idle))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sw p2 / line rate is 0.200" in verdict.because


def test_a_host_that_stood_still_is_named():
    still = tuple(
        replace(f, goodput_bits_per_s=(2e9 if f.sender == "a" else 7.2e9))
        for f in any_to_any().flows
    )
    verdict = whole(replace(any_to_any(), flows=still))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a -> b: goodput / mean of the others is 0.278" in verdict.because
    assert "the limit of a, or it stalled" in verdict.because
    paced = tuple(replace(f, offered_bits_per_s=1e9) for f in still)
    assert "a -> b" not in whole(replace(any_to_any(), flows=paced)).because


def pressed(frames=4000, got=None):
    """Any to any, with so many pause frames to each host."""
    keys = [("sw", port, "priority", 3, c.PFC_TX_FRAMES) for port in ("p1", "p2", "p3")]
    keys += [(host, "eth0", "priority", 3, c.PFC_RX_FRAMES) for host in "abr"]
    seen = any_to_any()
    seen = replace(
        seen,
        before=(*seen.before, *(reading(key, 1000, 9.5) for key in keys)),
        after=(*seen.after, *(reading(key, 1000 + frames, 13.0) for key in keys)),
    )
    return seen if got is None else with_value(seen, keys[3], got)


def test_pressure_is_pauses_of_every_host():
    verdict = all_paused(pressed())
    assert verdict.outcome is Outcome.PASS
    assert "3 hosts got 12000 pause frames, 4000 and more each" in verdict.because


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (any_to_any(), "sw p1 priority 3 pfc_tx_frames"),
        (pressed(0), "nothing pressed on a"),
        (pressed(10), "nothing pressed on r"),
        (pressed(got=0), "pause sent is not pause received, a"),
        (with_value(pressed(), ("sw", "p2", "priority", 3, c.PFC_TX_FRAMES), None), "sw p2"),
    ],
    ids=["not counted", "none", "now and then", "of the switch alone", "one is missing"],
)
def test_without_pauses_of_every_host_there_was_no_pressure(seen, says):
    verdict = all_paused(seen)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_a_control_whose_tools_never_ran_is_not_sound():
    dead = tuple(replace(f, status=FlowStatus.INFRASTRUCTURE) for f in any_to_any().flows)
    control = dropping(any_to_any())
    assert sound_among(control).outcome is Outcome.PASS
    assert sound_among(replace(control, flows=dead)).outcome is Outcome.INCONCLUSIVE


KILLED = {"status": FlowStatus.FAILED, "because": "killed"}


@pytest.mark.parametrize(
    "wrong",
    [KILLED, {"iterations": 0}, {"goodput_bits_per_s": 0.0}, {"goodput_bits_per_s": math.nan}],
    ids=["killed", "no messages", "no goodput", "no number"],
)
def test_a_control_in_which_a_tool_did_not_run_is_excused_by_drops_of_its_queue_alone(wrong):
    """A victim whose tool was killed has little goodput, too: no pauses were needed for that."""
    held, lossy = any_to_any(), dropping(any_to_any())
    for seen, outcome in ((held, Outcome.INCONCLUSIVE), (lossy, Outcome.PASS)):
        control = replace(seen, kind="control")
        assert sound_among(control).outcome is Outcome.PASS
        dead = replace(control.flows[-1], **wrong)
        verdict = sound_among(replace(control, flows=(*control.flows[:-1], dead)))
        assert verdict.outcome is outcome


def test_a_control_by_datagrams_has_no_excuse_for_a_tool_that_was_killed():
    control = dropping(any_to_any())
    paced = (replace(control.flows[0], tool="iperf3", **KILLED), *control.flows[1:])
    assert sound_among(replace(control, flows=paced)).outcome is Outcome.INCONCLUSIVE


def with_ports_account(seen):
    """The switch refused packets on their way in: they are in their queues, and in no port's."""
    keys = [("sw", port, "port", -1, c.BUFFER_DROPPED_OUT_PACKETS) for port in ("p1", "p2", "p3")]
    return replace(
        seen,
        before=(*seen.before, *(reading(key, 0, 9.5) for key in keys)),
        after=(*seen.after, *(reading(key, 0, 13.0) for key in keys)),
    )


def test_in_a_control_queues_may_have_more_than_ports_dropped_on_the_way_out():
    control = with_ports_account(dropping(any_to_any()))
    assert sound_among(control).outcome is Outcome.PASS
    assert sound_among(replace(control, kind="experiment")).outcome is Outcome.INCONCLUSIVE


def test_a_cable_that_damages_frames_of_a_control_alone_is_named():
    key = ("a", "eth0", "port", -1, c.RX_CRC_ERRORS)
    verdict = sound_among(with_value(dropping(any_to_any()), key, 7))
    assert verdict.outcome is Outcome.FAIL
    assert "cable" in verdict.because


# -- victims -------------------------------------------------------------------------------------


def with_victim(gbit, frames):
    """a and b send to r, and a to b."""
    seen = held_by_pfc()
    seen = replace(
        seen,
        senders=(*seen.senders, place("a")),
        receivers=(place("r"), place("r"), place("b")),
        flows=(*seen.flows, flow("a", "b", rate=gbit)),
    )
    return with_value(with_value(seen, SENT_TO_A, frames), GOT_BY_A, frames)


@pytest.mark.parametrize(
    ("gbit", "frames", "outcome"),
    [
        (4.6, 0, Outcome.PASS),
        (3.8, 4000, Outcome.PASS),
        (1.5, 4000, Outcome.FAIL),
        (1.5, 0, Outcome.INCONCLUSIVE),  # then it is no pause that holds it
    ],
)
def test_a_victim_is_one_that_pauses_hold_below_what_is_left_to_it(gbit, frames, outcome):
    assert spared(with_victim(gbit, frames), payload_share=0.926).outcome is outcome


def beside_marks(**grown):
    """The same under DCQCN: the first host sends twice, and its CNPs are counted once."""
    seen = held_by_marks()
    seen = replace(
        seen,
        senders=(*seen.senders, place("a")),
        receivers=(place("r"), place("r"), place("b")),
        flows=(*seen.flows, flow("a", "b", rate=4.6)),
    )
    for name, value in grown.items():
        for key in [key for key in keys(seen) if key[-1] == name]:
            seen = with_value(seen, key, value)
    return seen


def test_marks_are_at_work_where_all_of_their_counters_say_so():
    verdict = held_by_cnps(beside_marks())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert "9000 packets marked, 4000 CNPs" in verdict.because


@pytest.mark.parametrize("value", [None, 0])
@pytest.mark.parametrize(
    "name", [c.ECN_MARKED_PACKETS, c.NP_ECN_MARKED_PACKETS, c.NP_CNP_SENT, c.RP_CNP_HANDLED]
)
def test_a_victim_that_nothing_has_spared_proves_nothing(name, value):
    seen = beside_marks(**{name: value})
    assert spared(seen, payload_share=0.926).outcome is Outcome.PASS
    assert held_by_cnps(seen).outcome is not Outcome.PASS


def test_dcqcn_that_did_nothing_at_all_is_said():
    nothing = dict.fromkeys(
        (c.ECN_MARKED_PACKETS, c.NP_ECN_MARKED_PACKETS, c.NP_CNP_SENT, c.RP_CNP_HANDLED), 0
    )
    assert "ecn_marked_packets stayed 0" in held_by_cnps(beside_marks(**nothing)).because


def test_without_congestion_or_without_a_victim_nothing_is_said():
    seen = with_victim(4.6, 0)
    slow = tuple(replace(f, goodput_bits_per_s=2e9) for f in seen.flows[:2])
    seen = replace(seen, flows=(*slow, seen.flows[-1]))
    assert "nothing was congested" in spared(seen, payload_share=0.926).because
    assert spared(held_by_pfc(), payload_share=0.926).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("frames", "outcome"), [(0, Outcome.PASS), (600, Outcome.FAIL)])
def test_many_pauses_between_switches_are_not_few(frames, outcome):
    trunk, seen = ("sw", "p9", "priority", 3, c.PFC_TX_FRAMES), held_by_marks()
    seen = replace(
        seen,
        transit=(("sw", "p9"),),
        before=(*seen.before, reading(trunk, 7, seen.before[0].time_s)),
        after=(*seen.after, reading(trunk, 7 + frames, seen.after[0].time_s)),
    )
    verdict = marks_first(seen)
    assert verdict.outcome is outcome
    assert ("sw p9 priority 3 pfc_tx_frames grew by 600" in verdict.because) is bool(frames)


@pytest.mark.parametrize("counter", [c.OUT_OF_SEQUENCE, c.PACKET_SEQ_ERR])
def test_what_was_sent_again_is_no_victim_spared(counter):
    seen = with_victim(4.6, 0)
    for each in keys(seen):
        if each[0] == "a" and each[-1] == counter:
            seen = with_value(seen, each, 50_000)
    assert spared(seen, payload_share=0.926).outcome is not Outcome.PASS


def test_a_drop_in_the_lossless_queue_is_no_victim_spared():
    seen = with_victim(4.6, 0)
    drops = (*seen.bottleneck, "queue", min(seen.queues), c.QUEUE_DROPPED_PACKETS)
    assert spared(with_value(seen, drops, 5000), payload_share=0.926).outcome is Outcome.FAIL


@pytest.mark.parametrize("more", [0, 1])
def test_cnps_that_a_nic_counts_in_the_class_of_the_data_are_no_loss(more):
    """By cnp_802p_prio where they leave, by DSCP where they come."""
    seen, cnps = any_to_any(), 700
    (sent,) = [
        k for k in keys(seen) if k[:4] == ("a", "eth0", "priority", 3) and k[-1] == c.TX_PACKETS
    ]
    before = next(r.value for r in seen.before if r.key == sent)
    after = next(r.value for r in seen.after if r.key == sent)
    seen = with_value(seen, sent, after - before + cnps + more)
    told = ("a", "eth0", "port", None, c.NP_CNP_SENT)
    seen = replace(
        seen,
        before=(*seen.before, reading(told, 0, seen.before[0].time_s)),
        after=(*seen.after, reading(told, cnps, seen.after[0].time_s)),
    )
    said = out_of_balance(seen)
    assert bool([each for each in said if "sent by all NICs" in each]) is bool(more), said


@pytest.mark.parametrize(
    "wrong",
    [
        {"flows": ()},
        {"flows": any_to_any().flows[:-1]},
        {"settled": False},
        {"unreachable": ("b cannot reach c",)},
        {"refresh": replace(any_to_any().refresh, seconds=None, because="not seen")},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_control_among_hosts_that_cannot_be_read_proves_nothing(wrong):
    assert sound_among(dropping(any_to_any())).outcome is Outcome.PASS
    assert sound_among(replace(dropping(any_to_any()), **wrong)).outcome is Outcome.INCONCLUSIVE


def test_a_switch_port_that_fails_to_send_among_hosts_is_named():
    key = ("sw", "p1", "port", None, c.TX_ERRORS)
    seen = any_to_any()
    errors = replace(
        seen,
        before=(*seen.before, reading(key, 5, seen.start_s - 0.1)),
        after=(*seen.after, reading(key, 6, seen.end_s + 0.1)),
    )
    verdict = sound_among(errors)
    assert verdict.outcome is Outcome.FAIL
    assert "sw p1" in verdict.because


def test_a_victim_whose_flow_was_not_reported_is_no_crash():
    seen = with_victim(7.0, 100)
    for flows in ((), seen.flows[:-1]):
        verdict = spared(replace(seen, flows=flows), payload_share=0.926)
        assert verdict.outcome is Outcome.INCONCLUSIVE
