"""A sender that slows down on marks, beside one that does not."""

from dataclasses import replace

import pytest
from handmade import reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.verdicts import Outcome, not_starved

CEILING = 9.2e9


def beside(*, own, sent=9e9, same_queue=False, marks=9000, rdma=True, cnps=4000, link=None):  # noqa: PLR0913
    """One flow of RDMA with this goodput, one of UDP that sent so much."""
    seen = load()
    first, second = seen.flows
    tool = "ib_send_bw" if rdma else "iperf3"
    slow = replace(first, tool=tool, goodput_bits_per_s=own)
    place, other = seen.senders
    place = replace(place, link_bits_per_s=link)
    keys = {
        ("sw", "p3", "port", None, c.ECN_MARKED_PACKETS): marks,
        ("a", "eth0", "port", None, c.RP_CNP_HANDLED): cnps,
    }
    return replace(
        seen,
        senders=(place, replace(other, queue=place.queue) if same_queue else other),
        flows=(slow, replace(second, sent_bits_per_s=sent)),
        before=(*seen.before, *(reading(key, 7, 9.5) for key in keys)),
        after=(*seen.after, *(reading(key, 7 + grew, 16.0) for key, grew in keys.items())),
    )


def judged(**how):
    return not_starved(beside(**how), ceiling_bits_per_s=CEILING)


def test_what_is_left_next_to_nothing_in_the_same_queue_is_starved():
    verdict = judged(own=0.6e9, same_queue=True)
    assert verdict.outcome is Outcome.FAIL
    assert "goodput / equal part of the line is 0.130, not >= 0.3" in verdict.because
    assert "a queue of their own" in verdict.because


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"own": 0.6e9}, "by marks of its own queue, or by the scheduler"),
        ({"own": 4.5e9, "sent": 1e9}, "it did not press the others"),
        ({"own": 4.5e9, "sent": None}, "it did not press the others"),
        ({"own": 4.5e9, "marks": 0}, "congestion not proven"),
        ({"own": 4.5e9, "rdma": False}, "no sender that slows down beside one that does not"),
        ({"own": 4.5e9, "cnps": 0}, "rp_cnp_handled stayed 0: a was not told to slow down"),
    ],
    ids=["its own queue", "no press", "not told", "no congestion", "no RDMA", "no CNP"],
)
def test_what_shows_no_starving_is_inconclusive(how, says):
    verdict = judged(**how)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


def test_a_sender_that_its_link_holds_need_not_be_told():
    said = judged(own=4.5e9, cnps=0, link=5e9).because
    assert "was not told to slow down" not in said
