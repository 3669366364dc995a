"""Evidence of loads put together by hand: two senders, one packet a datagram, every counter."""

from dataclasses import replace

from handmade import A, B, R, flow, reading, rows

from labtests.capabilities import counters as c
from labtests.measure.evidence import Evidence

SENT = {3: 90_000, 5: 70_000}
TAIL = 2  # datagrams that came when iperf3 had stopped to read
STRAY = 30  # iperf3's control connection and its like, in queue 0


def load(*, dropped=(0, 0), in_socket=0, classes=True, name="load"):
    """`dropped` of queues 3 and 5; `in_socket` of what was forwarded; hosts with classes or not."""
    drops = dict(zip((3, 5), dropped, strict=True))
    forwarded = {queue: SENT[queue] - drops[queue] for queue in SENT}
    places = tuple(p if classes else replace(p, priority=None) for p in (A, B))
    there = (forwarded[3] - in_socket // 2, forwarded[5] - (in_socket - in_socket // 2) - TAIL)
    told = [
        replace(f, sent_datagrams=SENT[p.queue], lost_datagrams=lost, received_datagrams=came)
        for f, p, lost, came in zip(_flows(), places, _lost(drops, in_socket), there, strict=True)
    ]

    def counters(time_s, grown):
        def at(increase, *key):
            return reading(key, 1000 + len(key[-1]) + (increase if grown else 0), time_s)

        found = []
        for queue in range(8):
            moved = forwarded.get(queue, 2 * STRAY if queue == 0 else 0)
            found += [
                at(moved, "sw", "p3", "queue", queue, c.QUEUE_FORWARDED_PACKETS),
                at(drops.get(queue, 0), "sw", "p3", "queue", queue, c.QUEUE_DROPPED_PACKETS),
            ]
        for place in places:
            sent = SENT[place.queue]
            found.append(at(sent + 1, place.device, "", "host", None, c.UDP_OUT_DATAGRAMS))
            if classes:
                key = (place.device, "eth0", "priority", place.priority)
                found += [
                    at(sent, *key, c.TX_PACKETS),
                    at(
                        forwarded[place.queue],
                        "r",
                        "eth0",
                        "priority",
                        place.priority,
                        c.RX_PACKETS,
                    ),
                ]
            else:
                found.append(at(sent + STRAY, place.device, "eth0", "port", None, c.TX_PACKETS))
        came = sum(forwarded.values())
        if not classes:
            found.append(at(came + 2 * STRAY, "sw", "p3", "port", None, c.TX_PACKETS))
            found.append(at(came + 2 * STRAY, "r", "eth0", "port", None, c.RX_PACKETS))
        found += [
            at(came - in_socket, "r", "", "host", None, c.UDP_IN_DATAGRAMS),
            at(in_socket, "r", "", "host", None, c.UDP_IN_ERRORS),
            at(in_socket, "r", "", "host", None, c.UDP_RCVBUF_ERRORS),
            at(0, "r", "", "host", None, c.IP_REASM_FAILS),
        ]
        return tuple(found)

    return Evidence(
        name=name, kind="experiment", backend="simulated", start_s=10.0, end_s=15.0,
        line_bits_per_s=10e9, senders=places, receiver=R, flows=tuple(told),
        quiet_before=counters(9.0, False), before=counters(9.5, False),
        after=counters(16.0, True), settled=True,
    )  # fmt: skip


def _flows():
    return (flow("a", rows(10, (4,) * 5), 4e9), flow("b", rows(10, (3,) * 5), 3e9))


def _lost(drops, in_socket):
    """iperf3 misses a few of those that were dropped."""
    return (max(drops[3] - 7, 0) + in_socket // 2, max(drops[5] - 3, 0) + in_socket // 3)
