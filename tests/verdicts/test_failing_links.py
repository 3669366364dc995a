"""A link that fails and comes back, by what is missing of paced flows."""

from dataclasses import replace

import pytest
from handmade import R, reading
from handmade_loads import SENT, STRAY, load

from labtests.capabilities import counters as c
from labtests.measure.evidence import LinkFailure
from labtests.verdicts import Outcome, healed, out_of_balance

PORT = ("leaf", "up1")
KEY = (*PORT, "queue", 3, c.QUEUE_FORWARDED_PACKETS)


def at_hosts(seen, leaf):
    """What ports opposite hosts count on their way in, senders at `leaf`; and iperf3's control
    connections."""
    grown = {
        ("sw", "p3", "port", None, c.RX_PACKETS): 0,
        ("a", "eth0", "priority", 0, c.TX_PACKETS): 2 * STRAY,
        ("r", "eth0", "priority", 0, c.RX_PACKETS): 2 * STRAY,
    }
    for host in ("a", "b", "r"):
        grown[host, "eth0", "port", None, c.NIC_RX_DISCARDED_PACKETS] = 0
    for place in seen.senders:
        strays = 2 * STRAY if place.device == "a" else 0
        grown[place.device, "eth0", "priority", place.priority, c.RX_PACKETS] = 0
        grown[leaf, place.switch_port, "port", None, c.RX_PACKETS] = SENT[place.queue] + strays
    return grown


def failed(*, missing=10, shut_s=11.0, open_s=12.0, carried=5000, again=2000, last=1.0):  # noqa: PLR0913
    """`again`: of what the port carried, what it did after it was opened."""
    seen = load()
    shut = reading(KEY, 7 + carried - again, 11.6)
    came = at_hosts(seen, "sw")
    flows = tuple(
        replace(
            flow,
            asked_s=5.0,
            sent_datagrams=400_000,
            received_datagrams=400_000 - missing,
            intervals=tuple(
                replace(row, goodput_bits_per_s=last * flow.offered_bits_per_s)
                for row in flow.intervals
            ),
        )
        for flow in seen.flows
    )
    return replace(
        seen,
        flows=flows,
        failure=LinkFailure(ports=(PORT,), shut_s=shut_s, open_s=open_s),
        before=(*seen.before, reading(KEY, 7, 9.5), *(reading(key, 0, 9.5) for key in came)),
        samples=(*seen.samples, replace(shut, asked_s=11.5)),
        after=(
            *seen.after,
            reading(KEY, 7 + carried, 16.0),
            *(reading(key, n, 16.0) for key, n in came.items()),
        ),
    )


def test_what_goes_on_soon_has_healed():
    verdict = healed(failed())
    assert verdict.outcome is Outcome.PASS
    assert "leaf up1 failed and came back: 20 packets of 2 flows were lost" in verdict.because


def test_a_long_outage_is_told_by_what_is_missing():
    verdict = healed(failed(missing=200_000))
    assert verdict.outcome is Outcome.FAIL
    assert "was away for 2.50 s" in verdict.because


def test_a_tool_that_got_more_than_it_sent_tells_no_outage():
    verdict = healed(failed(missing=-10))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "more datagrams received than sent" in verdict.because


def test_a_flow_that_does_not_come_back_is_red():
    verdict = healed(failed(last=0.1))
    assert verdict.outcome is Outcome.FAIL
    assert "last row / offered is 0.100" in verdict.because


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"shut_s": None, "open_s": None}, "no link failed while"),
        ({"open_s": None}, "no link came back while"),
        ({"carried": 0}, "no flow went by the link that failed"),
        ({"again": 10}, "grew by 10 after the link had come back: it stayed down, or no route"),
        ({"shut_s": 11.55}, "not read while the link was down, or after it"),
    ],
    ids=["no failure", "not back", "no traffic there", "none again", "not looked at"],
)
def test_without_a_failure_nothing_has_healed(how, says):
    verdict = healed(failed(**how))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because


WAYS = {"spine1": ("leaf", "up1", "sw", "in1"), "spine2": ("leaf", "up2", "sw", "in2")}
ALL = sum(SENT.values())


def two_ways(*, dead=500, cable=0, spine2=0, queue=0):
    """Half of the packets by each of two spines. `dead`: so many of the first one's were lost while
    its port was shut; `cable`, `spine2`: so many on the other's last cable, and inside it; `queue`:
    dropped by its port."""
    seen = load()
    left = {"spine1": ALL // 2 - dead, "spine2": ALL // 2 - cable - spine2 - queue}
    out = {"spine1": left["spine1"], "spine2": left["spine2"] + cable}
    grown = {
        **at_hosts(seen, "leaf"),
        ("spine2", "out", "queue", 3, c.QUEUE_DROPPED_PACKETS): queue,
        ("r", "eth0", "priority", 3, c.RX_PACKETS): sum(left.values()) - SENT[5],
    }
    for spine, (leaf, up, sw, into) in WAYS.items():
        grown |= {
            (leaf, up, "queue", 3, c.QUEUE_FORWARDED_PACKETS): ALL // 2,
            (leaf, up, "port", None, c.RX_PACKETS): 0,
            (spine, "in", "port", None, c.RX_PACKETS): ALL // 2,
            (spine, "out", "port", None, c.RX_PACKETS): 0,
            (spine, "out", "queue", 3, c.QUEUE_FORWARDED_PACKETS): out[spine],
            (sw, into, "port", None, c.RX_PACKETS): left[spine],
        }
    at_the_end = ("sw", "p3", "queue", 3, c.QUEUE_FORWARDED_PACKETS)
    grown[at_the_end] = sum(left.values()) - SENT[5]
    shut = reading(("spine1", "out", "queue", 3, c.QUEUE_FORWARDED_PACKETS), 2000, 11.6)
    told = failed()
    kept = {
        "flows": told.flows,
        "failure": LinkFailure(ports=(("spine1", "out"),), shut_s=11.0, open_s=12.0),
        "senders": tuple(replace(place, switch="leaf") for place in seen.senders),
        "receiver": R,
        "transit": tuple(
            end
            for spine, (leaf, up, sw, into) in WAYS.items()
            for end in ((leaf, up), (spine, "in"), (spine, "out"), (sw, into))
        ),
        "samples": (replace(shut, asked_s=11.5),),
    }
    keys = {reading(key, 0, 0.0).key for key in grown}
    for name, time_s, factor in (("quiet_before", 9.0, 0), ("before", 9.5, 0), ("after", 16.0, 1)):
        others = tuple(each for each in getattr(seen, name) if each.key not in keys)
        kept[name] = (*others, *(reading(k, 7 + factor * n, time_s) for k, n in grown.items()))
    return replace(seen, **kept)


def test_what_the_switch_of_the_dead_port_lost_is_no_loss_elsewhere():
    verdict = healed(two_ways())
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert out_of_balance(two_ways()) == ()


@pytest.mark.parametrize(
    ("how", "outcome", "says"),
    [
        (
            {"cable": 900},
            "inconclusive",
            ("80000 packets left spine2 out and 79100 came to sw in2", "lost on the cable"),
        ),
        (
            {"spine2": 900},
            "inconclusive",
            ("1400 packets of the flows did not come, and spine1 lost 500", "900 were lost else"),
        ),
        ({"queue": 900}, "fail", ("spine2 out queue 3 dropped_packets grew by 900",)),
    ],
)
def test_a_way_that_does_not_fail_loses_nothing_meanwhile(how, outcome, says):
    """Two in a hundred of its packets for all that time were less than half a second of a flow."""
    verdict = healed(two_ways(**how))
    assert verdict.outcome == outcome
    for words in says:
        assert words in verdict.because
    assert out_of_balance(two_ways(**how)) or outcome == "fail"


@pytest.mark.parametrize(
    ("where", "counter", "outcome"),
    [
        (("r", "eth0"), c.NIC_RX_DISCARDED_PACKETS, "fail"),
        (("r", "eth0"), c.RX_CRC_ERRORS, "fail"),
        (("sw", "in2"), c.RX_CRC_ERRORS, "fail"),
        (("sw", "in1"), c.RX_CRC_ERRORS, "pass"),
        (("sw", "in1"), c.RX_FIFO_ERRORS, "pass"),
        (("sw", "in2"), c.RX_FIFO_ERRORS, "fail"),
    ],
    ids=[
        *("a NIC", "the last cable", "a cable of the other way", "the cable that fails"),
        *("the port behind it", "a port of the other way"),
    ],
)
def test_what_does_not_fail_counts_no_loss_meanwhile(where, counter, outcome):
    seen, key = two_ways(), (*where, "port", None, counter)
    old = reading(key, 0, 0.0).key
    grown = {
        name: (
            *(r for r in getattr(seen, name) if r.key != old),
            reading(key, 4 + (name == "after"), time_s),
        )
        for name, time_s in (("quiet_before", 9.0), ("before", 9.5), ("after", 16.0))
    }
    verdict = healed(replace(seen, **grown))
    assert verdict.outcome == outcome, verdict.because
    assert outcome == "pass" or f"{' '.join(where)}" in verdict.because


def test_where_nobody_counts_what_came_in_nobody_knows_where_it_was_lost():
    seen = two_ways()
    without = {
        name: tuple(r for r in getattr(seen, name) if r.counter != c.RX_PACKETS or r.device == "r")
        for name in ("quiet_before", "before", "after")
    }
    verdict = healed(replace(seen, **without))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "leaf p1 rx_packets" in verdict.because
