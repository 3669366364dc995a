"""Several equally short ways: a hash that spreads flows, and one that does not."""

from dataclasses import replace
from math import comb

import pytest
from handmade import reading
from handmade_rdma import any_to_any, held_by_pfc, with_value

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, full_speed, spread_over
from labtests.verdicts.paths import fewest

SPINE = ("spine", "down", "queue", 3, c.QUEUE_DROPPED_PACKETS)
WAYS = {"leaf": (("leaf", "up1"), ("leaf", "up2"))}


NAKS = ("a", "eth0", "port", -1, c.PACKET_SEQ_ERR)


def over(first, second, flows=40, dropped=0, naks=0, queue=3):  # noqa: PLR0913
    """What left by both, what a spine dropped of it in a queue, and NAKs to a sender."""
    seen = replace(held_by_pfc(), transit=(("leaf", "up1"), SPINE[:2]))
    counted = {"up1": first, "up2": second}
    keys = {("leaf", up, "queue", 3, c.QUEUE_FORWARDED_PACKETS): n for up, n in counted.items()}
    keys |= {SPINE: 0, (*SPINE[:3], queue, SPINE[4]): dropped, NAKS: naks}
    keys[*SPINE[:3], queue, c.QUEUE_FORWARDED_PACKETS] = 490_000
    before, after = ([r for r in read if r.key != NAKS] for read in (seen.before, seen.after))
    return spread_over(
        replace(
            seen,
            before=(*before, *(reading(key, 7, 9.5) for key in keys)),
            after=(
                *after,
                *(reading(k, None if n is None else 7 + n, 13.0, "gone" if n is None else "")
                  for k, n in keys.items()),
            ),
        ),
        WAYS,
        flows={"leaf": flows},
    )  # fmt: skip


def test_all_ways_are_taken():
    verdict = over(490_000, 510_000)
    assert verdict.outcome is Outcome.PASS
    assert verdict.because == "leaf sent by up1 49 %, up2 51 %"


def test_a_way_that_loses_what_it_takes_is_named():
    """A spine that dropped 1 in 2000 was green: 548 packets, which NICs sent again."""
    verdict = over(490_000, 510_000, dropped=548)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.because.startswith("spine down queue 3 dropped_packets grew by 548")


def test_a_way_that_loses_what_it_puts_into_another_queue_is_named():
    verdict = over(490_000, 510_000, dropped=548, naks=548, queue=0)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert (
        "spine down queue 0 dropped_packets grew by 548: no flow is of its class, unless a port"
        in (verdict.because)
    )


def test_a_polarised_hash_is_not_blamed_on_queues():
    assert "forwarded_packets" not in over(1_000_000, 1, dropped=548).because


def test_a_switch_that_sprays_packets_is_named_beside_the_nics_that_ask_for_them_again():
    verdict = over(490_000, 510_000, naks=2923)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a eth0 packet_seq_err grew by 2923 without a drop at the switch" in verdict.because
    assert "look whether leaf chooses a way for each packet (spraying" in verdict.because
    assert "spraying" not in over(490_000, 510_000, dropped=548, naks=548).because


def test_a_way_that_nobody_takes_is_named():
    verdict = over(1_000_000, 1)
    assert verdict.outcome is Outcome.FAIL
    assert "leaf up2 carried 0.0 % of the packets" in verdict.because
    assert "the hash of leaf is polarised" in verdict.because


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ((1_000_000, 1, 4), "4 flows may leave one of 2 ways empty by chance"),
        ((1_000_000, None), "not counted what left by its ways"),
    ],
    ids=["few flows", "not counted"],
)
def test_what_may_be_chance_or_is_not_known_is_inconclusive(how, says):
    verdict = over(*how)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


@pytest.mark.parametrize(("flows", "ways"), [(40, 2), (64, 4), (20, 2), (1000, 8)])
def test_a_good_hash_is_below_the_bound_once_in_a_million_times(flows, ways):
    def below(most):
        return sum(comb(flows, n) * (ways - 1) ** (flows - n) for n in range(most)) / ways**flows

    least = fewest(flows, ways)
    assert below(least) <= 1e-6 < below(least + 1)


def test_a_way_whose_drops_are_not_known_is_no_proof_that_it_lost_none():
    verdict = over(1000, 1000, dropped=-1)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "spine down queue 3 dropped_packets: ran backwards" in verdict.because


def apart(rates, drops=0, port="p3"):
    """Hosts to one other each, at so many Gb/s of 10."""
    seen = any_to_any()
    flows = tuple(
        replace(flow, goodput_bits_per_s=rate * 1e9)
        for flow, rate in zip(seen.flows, rates, strict=False)
    )
    some = len(flows)
    key = ("sw", port, "queue", 3, c.QUEUE_DROPPED_PACKETS)
    seen = with_value(seen, key, drops)
    return replace(seen, flows=flows, senders=seen.senders[:some], receivers=seen.receivers[:some])


def test_ways_that_are_fast_enough_are_told_with_the_slowest_flow():
    verdict = full_speed(apart((9.2, 8.8)), WAYS)
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert verdict.because.startswith("2 flows, each at 88% of its links and more")


def test_a_way_at_a_tenth_of_its_speed_holds_all_and_ways_are_named():
    """It had half of the flows of an incast, which asks no more of it."""
    verdict = full_speed(apart((2.1, 1.9)), WAYS)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.because.startswith("a -> r: goodput / its links, the least of 2 is 0.190, not")
    assert "a host's own limit, or a way is slower than its cables" in verdict.because
    assert "(they begin at leaf up1, leaf up2)" in verdict.because


def test_a_slow_link_of_a_host_is_not_that_of_a_way():
    seen = apart((4.6, 9.2))
    to = (replace(seen.receivers[0], link_bits_per_s=5e9), seen.receivers[1])
    assert full_speed(replace(seen, receivers=to), WAYS).outcome is Outcome.PASS


@pytest.mark.parametrize("port", ["p2", "p3"])  # of b and r, who get what a sends
def test_fast_flows_may_not_lose_at_any_port(port):
    verdict = full_speed(apart((9.2, 9.2), drops=4, port=port), WAYS)
    assert verdict.outcome is Outcome.FAIL
    assert f"sw {port} queue 3 dropped_packets grew by 4" in verdict.because


def test_where_nobody_sends_no_way_is_fast():
    assert full_speed(apart(()), WAYS).outcome is Outcome.INCONCLUSIVE
