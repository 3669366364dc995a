"""Did hosts and cables do their part: each station of the way that loses is named, and is red."""

from dataclasses import replace

import pytest
from handmade import A, B, R, control_of, good_evidence, reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowStatus, Interval
from labtests.verdicts import Outcome, lossless, sound, stations

A_NIC, R_NIC = ("a", "eth0"), ("r", "eth0")
IN, OUT = ("sw", "p1"), ("sw", "p3")


def with_counter(seen, where, counter, grew, scope="port", index=None):  # noqa: PLR0913
    """A counter that everybody shows, and that grew by so much in the phase."""
    key = (*where, scope, index, counter)
    return replace(
        seen,
        quiet_before=(*seen.quiet_before, reading(key, 70, 9.0)),
        before=(*seen.before, reading(key, 70, 9.5)),
        after=(*seen.after, reading(key, 70 + grew, 16.0)),
    )


@pytest.fixture
def whole():
    """Evidence with a NIC counter of each host, all of them silent."""
    seen = good_evidence()
    for nic in (A_NIC, ("b", "eth0"), R_NIC):
        seen = with_counter(seen, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    return seen


def test_a_lab_in_which_nothing_but_the_traffic_happened_is_sound(whole):
    verdict = sound(whole)
    assert verdict.outcome is Outcome.PASS, verdict.because
    said = verdict.because
    assert "2 flows ran as requested; no NIC and no cable counted a loss" in said
    assert "errors not counted at either end of cable a eth0 - sw p1" in verdict.because


def test_a_nic_of_which_no_counter_tells_a_discard_proves_nothing():
    verdict = sound(good_evidence())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "NIC r eth0: no counter of this device says whether it discarded any" in verdict.because


@pytest.mark.parametrize(
    ("where", "counter", "said"),
    [
        (R_NIC, c.NIC_RX_DISCARDED_PACKETS, "NIC r eth0 dropped packets: nic_rx_discarded"),
        (R_NIC, c.NIC_OUT_OF_BUFFER_PACKETS, "NIC r eth0 dropped packets: nic_out_of_buffer"),
        (A_NIC, c.NET_TX_DROPPED, "NIC a eth0 dropped packets: tx_dropped +447517"),
        (A_NIC, c.LINK_DOWNS, "cable a eth0 - sw p1 damaged or interrupted: a link_down_events"),
        (IN, c.RX_CRC_ERRORS, "cable a eth0 - sw p1 damaged or interrupted: sw rx_crc_errors"),
        (R_NIC, c.RX_SYMBOL_ERRORS, "cable sw p3 - r eth0 damaged or interrupted: r rx_symbol"),
        (OUT, c.CARRIER_CHANGES, "cable sw p3 - r eth0 damaged or interrupted: sw carrier_changes"),
    ],
)
def test_whoever_lost_a_packet_is_named(whole, where, counter, said):
    if (where, counter) == (R_NIC, c.NIC_RX_DISCARDED_PACKETS):
        whole = replace(
            whole,
            after=tuple(
                replace(r, value=r.value + 447_517)
                if (r.device, r.counter) == ("r", counter)
                else r
                for r in whole.after
            ),
        )
    else:
        whole = with_counter(whole, where, counter, 447_517)
    verdict = sound(whole)
    assert verdict.outcome is Outcome.FAIL
    assert said in verdict.because
    # the network is judged without it, and says so where a host lost something
    network = lossless(whole, {3, 5}, controls=(control_of(whole),))
    assert network.outcome is not Outcome.FAIL
    if where in (R_NIC, A_NIC) and "NIC" in said:
        assert f"{counter} +447517" in network.because or "congestion not proven" in network.because


def test_discards_of_one_priority_are_seen_too(whole):
    seen = with_counter(whole, R_NIC, c.RX_DISCARDED_PACKETS, 1, "priority", 5)
    assert sound(seen).outcome is Outcome.FAIL
    other = with_counter(whole, R_NIC, c.RX_DISCARDED_PACKETS, 1, "priority", 6)
    assert sound(other).outcome is Outcome.PASS  # a class that nobody tested


def test_a_counter_that_ran_backwards_is_no_proof(whole):
    assert sound(with_counter(whole, R_NIC, c.NIC_OUT_OF_BUFFER_PACKETS, -5)).outcome is (
        Outcome.INCONCLUSIVE
    )


def test_a_counter_that_a_device_only_shows_a_dash_for_is_not_available_there(whole):
    def with_dashes(sides):
        key = (*OUT, "port", None, c.TX_CARRIER_ERRORS)
        shown = {side: None if side in sides else 5 for side in ("before", "after")}
        return replace(
            whole,
            before=(
                *whole.before,
                reading(key, shown["before"], 9.5, "the switch shows no number"),
            ),
            after=(*whole.after, reading(key, shown["after"], 16.0, "the switch shows no number")),
        )

    assert sound(with_dashes({"before", "after"})).outcome is Outcome.PASS
    cable = next(
        s for s in stations(with_dashes({"before", "after"})) if s.name == "cable sw p3 - r eth0"
    )
    assert c.TX_CARRIER_ERRORS in cable.absent
    for side in ("before", "after"):
        assert sound(with_dashes({side})).outcome is Outcome.INCONCLUSIVE


def test_a_control_is_asked_whether_its_traffic_ran(whole):
    lossy = with_counter(whole, R_NIC, c.NIC_OUT_OF_BUFFER_PACKETS, 500)
    assert sound(control_of(lossy)).outcome is Outcome.PASS
    dead = tuple(replace(flow, status=FlowStatus.FAILED, because="killed") for flow in lossy.flows)
    verdict = sound(replace(control_of(lossy), flows=dead))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a -> r (iperf3) did not run: killed" in verdict.because


def test_a_cable_that_damages_frames_of_a_control_is_named(whole):
    """`counters disagree` was all that was said of 56 frames."""
    for counted, outcome in ((56, Outcome.FAIL), (0, Outcome.PASS)):
        seen = with_counter(control_of(whole), R_NIC, c.RX_CRC_ERRORS, counted)
        assert sound(seen).outcome is outcome
    seen = with_counter(control_of(whole), R_NIC, c.RX_CRC_ERRORS, 56)
    assert "cable sw p3 - r eth0 damaged" in sound(seen).because


@pytest.mark.parametrize("classes", [True, False], ids=["priorities", "plain"])
def test_a_control_too_has_each_packet_forwarded_or_dropped(classes):
    # four datagrams were lost on a cable in a control, and the run was green
    dropped = replace(load(dropped=(40_000, 20_000), classes=classes), kind="control")
    assert sound(dropped).outcome is Outcome.PASS
    four = replace(
        dropped,
        after=tuple(
            replace(r, value=r.value - 4)
            if (r.index, r.counter) == (3, c.QUEUE_FORWARDED_PACKETS)
            else r
            for r in dropped.after
        ),
    )
    verdict = sound(four)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "forwarded + dropped, queue 3: " in verdict.because


def test_what_a_cable_doubles_is_said_of_that_cable(whole):
    # 18 packets more came to the switch than the NIC had sent: "no cable counted a loss"
    priority = (A.device, A.port, "priority", A.priority, c.TX_PACKETS)
    sent = next(r.value for r in whole.after if r.key == priority) - next(
        r.value for r in whole.before if r.key == priority
    )
    at = (A.switch, A.switch_port)
    for more, outcome in ((18, Outcome.INCONCLUSIVE), (8, Outcome.PASS)):
        verdict = sound(with_counter(whole, at, c.RX_PACKETS, sent + more))
        assert verdict.outcome is outcome, verdict.because
        assert ("doubled on the cable between" in verdict.because) is (more == 18)


def test_datagrams_that_overtook_each_other_are_no_good_network(whole):
    # 42 of them, on a cable that held back one frame of 100: "nothing lost", and green
    first, *others = whole.flows
    for late, outcome in ((42, Outcome.INCONCLUSIVE), (0, Outcome.PASS), (None, Outcome.PASS)):
        verdict = sound(replace(whole, flows=(replace(first, late_datagrams=late), *others)))
        assert verdict.outcome is outcome, verdict.because
        assert ("a -> r: 42 datagrams came out of order" in verdict.because) is (late == 42)


def unheld(seen):
    """The same without a word of pauses."""
    kept = {c.PFC_RX_PAUSE_US}
    return replace(
        seen,
        before=tuple(r for r in seen.before if r.counter not in kept),
        after=tuple(r for r in seen.after if r.counter not in kept),
    )


def test_a_sender_that_stood_still_or_could_not_is_named_and_not_the_network(whole):
    early, late = whole.flows
    frozen = replace(late, intervals=(Interval(start_s=12, end_s=15, goodput_bits_per_s=0.4e9),))
    verdict = sound(unheld(replace(whole, flows=(early, frozen))))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "b sent 0.4 of 5.15 Gb/s that iperf3 was asked for (8 %)" in verdict.because
    assert "the limit of b, or it stalled" in verdict.because


def test_a_sender_that_pauses_held_has_an_excuse_as_long_as_they_lasted(whole):
    assert sound(whole).outcome is Outcome.PASS
    assert sound(unheld(whole)).outcome is Outcome.INCONCLUSIVE


def test_a_setting_that_somebody_else_changed_leaves_no_verdict(whole):
    said = "scheduling of sw p3 was changed externally during the phase: wrr before, sp after it"
    verdict = sound(replace(whole, changed=(said,)))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.because == said
    network = lossless(replace(whole, changed=(said,)), {3, 5}, controls=(control_of(whole),))
    assert said in network.because


def test_the_way_has_each_station_once_in_the_order_of_a_packet(whole):
    both = replace(whole, senders=(A, B, replace(A, queue=5, priority=5)))
    names = [station.name for station in stations(both)]
    assert names == [
        "IP stack of a", "NIC a eth0", "cable a eth0 - sw p1", "sw p1",
        "IP stack of b", "NIC b eth0", "cable b eth0 - sw p2", "sw p2",
        "sw p3", "cable sw p3 - r eth0", "NIC r eth0", "IP stack of r",
    ]  # fmt: skip
    assert R.device == "r"
    nic = next(s for s in stations(both) if s.name == "NIC r eth0")
    assert c.NIC_OUT_OF_BUFFER_PACKETS in nic.absent
