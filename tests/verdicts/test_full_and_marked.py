"""A full egress that marks and drops nothing; and a bottleneck before the port opposite the
receiver, behind which nothing may be lost, or go into another queue."""

from dataclasses import replace

import pytest
from handmade import good_evidence, reading

from labtests.capabilities import counters as c
from labtests.measure.evidence import Crossing, Evidence
from labtests.verdicts import Outcome, full_and_marked, lossless, stations
from labtests.verdicts.astray import astray_on_the_way
from labtests.verdicts.port_drops import switch_ports_kept

FULL, ENTRY, LAST = ("first", "p9"), ("sw", "p9"), ("sw", "p3")
BYTES, MARKS = 6_200_000_000, 4711  # in 5 s of rows at 10 Gb/s
NEUTRAL = (c.BUFFER_DROPPED_IN_PACKETS, c.BUFFER_DROPPED_OUT_PACKETS)


def marked(**other: int) -> Evidence:
    """The incast of handmade.py with its bottleneck at FULL and LAST behind it. `other` are
    increases by `device_port_counter`, None where the device has no number."""
    good = good_evidence()
    ends = {("sw", "p1"), ("sw", "p2"), FULL, ENTRY, LAST}
    grown: dict[tuple, int | None] = {
        (*end, "port", None, each): 0 for end in ends for each in NEUTRAL
    }
    grown[(*FULL, "port", None, c.WRED_DROPPED_PACKETS)] = 0
    grown[(*FULL, "port", None, c.ECN_MARKED_PACKETS)] = MARKS
    grown[("r", "eth0", "port", None, c.NP_ECN_MARKED_PACKETS)] = MARKS
    grown[(*FULL, "queue", 3, c.QUEUE_FORWARDED_BYTES)] = BYTES
    for queue, packets in ((3, 600_000), (5, 500_000)):
        grown[(*FULL, "queue", queue, c.QUEUE_FORWARDED_PACKETS)] = packets
        grown[(*FULL, "queue", queue, c.QUEUE_DROPPED_PACKETS)] = 0
    for text, value in other.items():
        device, port, counter = text.split("_", 2)
        index, scope = (int(counter[1]), "queue") if counter[0] == "q" else (None, "port")
        grown[(device, port, scope, index, counter.removeprefix(f"q{index}_"))] = value

    def read(time_s: float, times: int):
        return tuple(
            reading(
                key, None if value is None else 70 + times * value, time_s, "N/A" * (value is None)
            )
            for key, value in grown.items()
        )

    keys = {(*key[:3], -1 if key[3] is None else key[3], key[4]) for key in grown}

    def others(readings):
        return tuple(each for each in readings if each.key not in keys)

    return replace(
        good,
        congested=FULL,
        transit=(FULL, ENTRY),
        crossings=(Crossing(port=LAST, queues={0: 3, 1: 5}),),
        before=(*others(good.before), *read(9.5, 0)),
        after=(*others(good.after), *read(16.0, 1)),
    )


def test_full_marked_and_without_a_drop_it_passes():
    verdict = full_and_marked(marked())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert f"first p9 was full and marked {MARKS} packets" in verdict.because


@pytest.mark.parametrize(
    ("other", "outcome", "because"),
    [
        ({f"first_p9_{c.ECN_MARKED_PACKETS}": 0, f"r_eth0_{c.NP_ECN_MARKED_PACKETS}": 0},
         "FAIL", "first p9 ecn_marked_packets stayed 0"),
        ({f"first_p9_{c.ECN_MARKED_PACKETS}": None}, "INCONCLUSIVE", "ecn_marked_packets"),
        ({f"r_eth0_{c.NP_ECN_MARKED_PACKETS}": MARKS - 1}, "INCONCLUSIVE", "counters disagree"),
        ({f"first_p9_{c.WRED_DROPPED_PACKETS}": 1}, "FAIL", "wred_dropped_packets grew by 1"),
        ({f"first_p9_{c.WRED_DROPPED_PACKETS}": None}, "INCONCLUSIVE", "wred_dropped_packets"),
        ({f"sw_p3_{c.BUFFER_DROPPED_OUT_PACKETS}": 2}, "FAIL",
         "sw p3 buffer_dropped_out_packets grew by 2"),
        ({f"sw_p9_{c.BUFFER_DROPPED_IN_PACKETS}": 3}, "FAIL",
         "sw p9 buffer_dropped_in_packets grew by 3"),
        ({f"sw_p3_{c.BUFFER_DROPPED_IN_PACKETS}": None}, "INCONCLUSIVE", "sw p3 buffer_dropped_in"),
        ({f"first_p9_q3_{c.QUEUE_FORWARDED_BYTES}": BYTES // 2}, "INCONCLUSIVE", "was not full"),
        ({f"first_p9_q3_{c.QUEUE_FORWARDED_BYTES}": None}, "INCONCLUSIVE", "bytes"),
        ({f"first_p9_q3_{c.QUEUE_FORWARDED_BYTES}": 2 * BYTES}, "INCONCLUSIVE",
         "first p9 shows 198.4 % of its line rate: counters of bytes that cannot be"),
        ({f"first_p9_q3_{c.QUEUE_FORWARDED_BYTES}": 2**63}, "INCONCLUSIVE", "that cannot be"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_named(other, outcome, because):
    verdict = full_and_marked(marked(**other))
    assert verdict.outcome is Outcome[outcome], verdict.because
    assert because in verdict.because


def test_nothing_at_all_is_no_pass():
    empty = replace(good_evidence(), before=(), after=(), flows=())
    assert full_and_marked(empty).outcome is Outcome.INCONCLUSIVE


class TestBehindTheBottleneck:
    def test_the_port_opposite_the_receiver_is_on_the_way(self):
        seen = marked()
        assert (seen.bottleneck, seen.last, seen.behind) == (FULL, LAST, (LAST,))
        names = [station.name for station in stations(seen)]
        assert names[-4:-2] == ["sw p3", "cable sw p3 - r eth0"]
        assert names.count("first p9") == 1

    def test_as_a_rule_nothing_is_behind_it(self):
        good = good_evidence()
        assert (good.bottleneck, good.behind) == (LAST, ())

    def test_a_drop_there_is_a_failure(self):
        lossy = marked(**{f"sw_p3_q3_{c.QUEUE_DROPPED_PACKETS}": 5})
        because = [f.because for f in switch_ports_kept(lossy) if f.outcome is Outcome.FAIL]
        assert because == ["sw p3 queue 3 dropped_packets grew by 5"]
        assert "sw p3 queue 3 dropped_packets grew by 5" in lossless(lossy, {3, 5}).because

    def test_what_the_bottleneck_forwarded_is_due_there_whatever_it_dropped(self):
        dropped = {f"first_p9_q{q}_{c.QUEUE_DROPPED_PACKETS}": 300_000 for q in (3, 5)}
        assert list(astray_on_the_way(marked(**dropped))) == []

    @pytest.mark.parametrize("field", ["DSCP", "802.1p"])
    def test_another_queue_than_the_maps_say_is_named(self, field):
        wrong = {f"sw_p3_q3_{c.QUEUE_FORWARDED_PACKETS}": 0,
                 f"sw_p3_q0_{c.QUEUE_FORWARDED_PACKETS}": 600_000,
                 f"sw_p3_q0_{c.QUEUE_DROPPED_PACKETS}": 0}  # fmt: skip
        seen = replace(marked(**wrong), classified_by=field)
        (finding,) = astray_on_the_way(seen)
        assert finding.outcome is Outcome.FAIL
        assert (
            f"queue 3 of sw p3 got 0 of 600000 packets that were sent to it by its {field} map"
            in (finding.because)
        )
        assert f"sw does not classify by their {field}" in finding.because
