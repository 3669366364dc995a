"""A netem in the way: what it loses is counted once, and that it is there is said."""

import json

from driven import driving
from linux_host import VETH, Answer, namespace_host, of

from labtests.capabilities import counters as c

Driver = driving("linux")
TC = f"tc -s -j qdisc show dev {VETH}"


def _qdisc(kind, handle, drops, **place):
    counts = {"bytes": 600, "packets": 6, "drops": drops, "overlimits": 0, "requeues": 0}
    return {"kind": kind, "handle": handle, **place, "options": {}, **counts, "backlog": 0}


LOSING = Answer(
    json.dumps([_qdisc("tbf", "1:", 76, root=True), _qdisc("netem", "77:", 76, parent="1:1")])
)
ROOT = Answer(json.dumps([_qdisc("netem", "77:", 76, root=True)]))


def test_what_a_netem_lost_is_counted_once():
    """Linux 6.12: a tbf above a netem that loses counts the same 76 drops."""
    for qdiscs in (LOSING, ROOT):
        found = of(Driver(namespace_host(**{TC: qdiscs})).nic_counters(VETH))
        assert found[c.QDISC_DROPPED_PACKETS].value == 76


def test_the_check_names_a_netem():
    (sentence,) = Driver(namespace_host(**{TC: LOSING}), (VETH,)).caveats()
    assert sentence.startswith(f"netem 77: at {VETH} delays, loses, doubles or reorders")


def test_without_netem_or_without_tc_nothing_is_said():
    assert Driver(namespace_host(), (VETH,)).caveats() == ()
    without_tc = {TC: Answer("", "sh: 1: tc: not found\n", 127)}
    assert Driver(namespace_host(**without_tc), (VETH,)).caveats() == ()
