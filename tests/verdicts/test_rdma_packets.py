"""Every RoCE packet of an incast of ib_send_bw, by the counters of rdma_rxe.

The figures are of a real incast: two guests with Linux 6.1, `ib_send_bw -R -T 96 -D 15` to a third
through a bridge, tbf 12 Mbit/s over prio with RED (min 30000, max 90000): queue 3 forwarded 3530
and dropped 904; 51 packets of the connection manager and 6 of ARP and ND went through queue 7.
"""

from dataclasses import replace

import pytest
from handmade import A, B, R, flow, reading, rows

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence
from labtests.verdicts import Outcome, drops_exactly_in, every_packet, marked_not_dropped

SENT = {"a": 2435, "b": 2050}
FORWARDED, RECEIVED = {3: 3530, 7: 57}, 3581
OTHERS = 6  # ARP, ND: of the NICs, not of the RDMA devices


def incast(*, received=RECEIVED, udp=RECEIVED, dropped=904):
    """What the lab counted; `received` and `udp` by the receiver's RDMA device and its IP stack."""
    places = tuple(replace(p, queue=3, priority=None) for p in (A, B))

    def counters(time_s, grown):
        def at(increase, *key):
            return reading(key, 5000 + (increase if grown else 0), time_s)

        found = [
            at(RECEIVED + OTHERS, "r", "eth0", "port", None, c.RX_PACKETS),
            at(received, "r", "eth0", "port", None, c.RDMA_RECEIVED_PACKETS),
            at(udp, "r", "", "host", None, c.UDP_IN_DATAGRAMS),
        ]
        for name, sent in SENT.items():
            found += [
                at(sent + OTHERS // 2, name, "eth0", "port", None, c.TX_PACKETS),
                at(sent, name, "eth0", "port", None, c.RDMA_SENT_PACKETS),
            ]
        for queue in range(8):
            at_queue = ("sw", "p3", "queue", queue)
            lost = dropped if queue == 3 else 0
            found += [
                at(FORWARDED.get(queue, 0), *at_queue, c.QUEUE_FORWARDED_PACKETS),
                at(lost, *at_queue, c.QUEUE_DROPPED_PACKETS),
            ]
        return tuple(found)

    told = tuple(
        replace(
            flow(name, rows(10, (0.003,) * 5), None),
            tool="ib_send_bw",
            goodput_bits_per_s=3e6,
            sent_datagrams=None,
            received_datagrams=None,
            lost_datagrams=None,
            iterations=4,
        )
        for name in SENT
    )
    return Evidence(
        name="T96", kind="experiment", backend="hardware", start_s=10.0, end_s=15.0,
        line_bits_per_s=12e6, senders=places, receiver=replace(R, priority=None), flows=told,
        quiet_before=counters(9.0, False), before=counters(9.5, False),
        after=counters(16.0, True), settled=True,
    )  # fmt: skip


def test_sent_less_dropped_is_received_to_the_packet():
    verdict = every_packet(incast())

    assert verdict.outcome is Outcome.PASS, verdict.because
    (ledger,) = [f for f in verdict.facts if "RoCE" in f.name]
    assert (ledger.measured, ledger.margin) == (0, 0)
    assert "sent 4485 - dropped 904 = 3581; received 3581" in ledger.note


@pytest.mark.parametrize("error", [1, -1])
def test_one_packet_more_or_less_is_no_pass(error):
    for seen in (
        incast(received=RECEIVED - error, udp=RECEIVED - error),
        incast(dropped=904 + error),
    ):
        verdict = every_packet(seen)
        assert verdict.outcome is Outcome.INCONCLUSIVE
        assert "counters disagree" in verdict.because


def test_what_came_for_a_queue_pair_that_was_gone_is_explained_by_the_ip_stack():
    verdict = every_packet(incast(received=RECEIVED - 65))

    assert verdict.outcome is Outcome.PASS, verdict.because
    assert any("65 for queue pairs that were gone" in f.note for f in verdict.facts)


def test_without_the_counters_of_rxe_nothing_is_proven():
    seen = incast()
    kept = tuple(r for r in seen.after if r.counter != c.RDMA_SENT_PACKETS)
    verdict = every_packet(replace(seen, after=kept))

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "sent_pkts" in verdict.because


def test_red_drops_in_exactly_the_queue_of_the_incast():
    assert drops_exactly_in(incast(), {3}).outcome is Outcome.PASS
    assert drops_exactly_in(incast(dropped=0), {3}).outcome is not Outcome.PASS


def test_marks_of_an_rdma_incast_need_no_account_of_tcp():
    def marked(seen, packets):
        at = ("sw", "p3", "queue", 3, c.QUEUE_MARKED_PACKETS)
        hosts = [(name, "", "host", None, c.TCP_RETRANSMITTED_SEGMENTS) for name in SENT]

        def more(time_s, count):
            return (reading(at, count, time_s), *(reading(host, 0, time_s) for host in hosts))

        return replace(
            seen,
            quiet_before=(*seen.quiet_before, *more(9.0, 0)),
            before=(*seen.before, *more(9.5, 0)),
            after=(*seen.after, *more(16.0, packets)),
        )

    whole = incast(dropped=0, received=4485, udp=4485)
    not_capable, capable = marked(incast(), 0), marked(whole, 4106)
    verdict = marked_not_dropped(capable, without=(not_capable,))
    assert verdict.outcome is Outcome.PASS, verdict.because
    assert marked_not_dropped(not_capable, without=(not_capable,)).outcome is Outcome.FAIL


def test_tcp_of_the_hosts_says_nothing_of_an_rdma_incast():
    # "3 segments retransmitted" of the hosts' SSH, in a verdict on RDMA; and needed to be readable
    def told(seen, tcp, marks):
        more = {
            "before": [reading(("sw", "p3", "port", None, c.ECN_MARKED_PACKETS), 0, 9.5)],
            "after": [reading(("sw", "p3", "port", None, c.ECN_MARKED_PACKETS), marks, 16.0)],
        }
        for name in SENT if tcp else ():
            key = (name, "", "host", None, c.TCP_RETRANSMITTED_SEGMENTS)
            more["before"].append(reading(key, 7, 9.5))
            more["after"].append(reading(key, 10, 16.0))
        return replace(seen, **{side: (*getattr(seen, side), *rows) for side, rows in more.items()})

    for tcp in (True, False):
        verdict = marked_not_dropped(told(incast(dropped=0), tcp, 900), without=())
        assert "segments" not in verdict.because
        assert "retransmitted" not in verdict.because
