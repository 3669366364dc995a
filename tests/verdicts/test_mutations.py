"""Evidence in which everything is as it should be, with one thing wrong at a time: never green.

What is wrong is put into what the tools tell, and into each counter that the verdicts of a suite
rest on; the verdicts of the suite are asked together, as the suite asks them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from handmade import control_of, good_evidence, rows
from handmade_loads import STRAY, load
from test_counters_of_the_end import notified
from test_ecn_verdict import GOOD, WITHOUT
from test_sound import R_NIC, with_counter

from labtests.capabilities import counters as c
from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.measure.evidence import Evidence
from labtests.verdicts import (
    Outcome,
    Verdict,
    drops_exactly_in,
    every_packet,
    lossless,
    marked_not_dropped,
    no_loss,
    paused,
    slowed_by_marks,
    sound,
)

Verdicts = Callable[[Evidence], tuple[Verdict, ...]]
A_NIC, B_NIC = ("a", "eth0"), ("b", "eth0")
OVER = load(dropped=(40_000, 20_000))
DATAGRAM_BYTES = 1472


def with_nics(seen: Evidence) -> Evidence:
    """NICs that tell of discards, and the queue of the tools' control connections."""
    for nic in (A_NIC, B_NIC, R_NIC):
        seen = with_counter(seen, nic, c.NIC_RX_DISCARDED_PACKETS, 0)
    if any(r.key == (*seen.bottleneck, "queue", 0, c.QUEUE_FORWARDED_PACKETS) for r in seen.after):
        seen = with_counter(seen, R_NIC, c.RX_PACKETS, 2 * STRAY, "priority", 0)
    return seen


def with_bytes(seen: Evidence) -> Evidence:
    flows = tuple(
        replace(
            flow,
            asked_s=5.0,
            sent_bytes=(flow.sent_datagrams or 0) * DATAGRAM_BYTES,
            offered_bits_per_s=8 * (flow.sent_datagrams or 0) * DATAGRAM_BYTES / 5,
            receive_buffer_bytes=212_992,
        )
        for flow in seen.flows
    )
    return replace(seen, flows=flows, mtu_bytes=1500)


def dcqcn() -> Evidence:
    """S2: marked, notified, slowed, nothing lost."""
    seen = with_nics(notified(load(), sent=900, came=900))
    seen = with_counter(seen, seen.bottleneck, c.ECN_MARKED_PACKETS, 5_000)
    seen = with_counter(seen, R_NIC, c.NP_ECN_MARKED_PACKETS, 5_000)
    seen = with_counter(seen, R_NIC, c.OUT_OF_SEQUENCE, 0)
    seen = with_counter(seen, R_NIC, c.PAUSE_TX_FRAMES, 0)
    for nic in (A_NIC, B_NIC):
        seen = with_counter(seen, nic, c.RP_CNP_HANDLED, 450)
        for counter in (c.RP_CNP_IGNORED, c.PACKET_SEQ_ERR, c.LOCAL_ACK_TIMEOUT):
            seen = with_counter(seen, nic, counter, 0)
    flows = (
        _queue_pair(seen.flows[0], 10, (9.3, 9.3, 4.6, 4.6, 4.6)),
        _queue_pair(seen.flows[1], 12, (4.6, 4.6, 4.6)),
    )
    return replace(seen, flows=flows)


def _queue_pair(flow: FlowResult, start_s: float, gbit: tuple[float, ...]) -> FlowResult:
    return replace(
        flow,
        tool="ib_send_bw",
        intervals=rows(start_s, gbit),
        goodput_bits_per_s=1e9 * sum(gbit) / len(gbit),
        offered_bits_per_s=None,
        sent_datagrams=None,
        received_datagrams=None,
        lost_datagrams=None,
        iterations=10_000,
    )


S1 = with_nics(good_evidence())
SUITES: dict[str, tuple[Evidence, Verdicts]] = {
    "below": (
        with_bytes(with_nics(load())),
        lambda seen: (sound(seen), no_loss(seen, controls=(OVER,)), every_packet(seen)),
    ),
    "overload": (
        with_bytes(with_nics(load(dropped=(500, 0)))),
        lambda seen: (
            sound(seen),
            drops_exactly_in(seen, {3}, controls=(OVER,)),
            every_packet(seen),
        ),
    ),
    "s1": (
        S1,
        lambda seen: (
            sound(seen),
            lossless(seen, {3, 5}, controls=(control_of(S1),)),
            paused(seen),
        ),
    ),
    "s2": (
        dcqcn(),
        lambda seen: (
            sound(seen),
            lossless(seen, {3, 5}, controls=(OVER,)),
            slowed_by_marks(seen),
        ),
    ),
    "tcp": (
        with_nics(GOOD),
        lambda seen: (sound(seen), marked_not_dropped(seen, without=(WITHOUT,))),
    ),
}


def green(suite: str, seen: Evidence) -> bool:
    """Whether all that the suite asks passes."""
    return all(verdict.outcome is Outcome.PASS for verdict in SUITES[suite][1](seen))


@pytest.mark.parametrize("suite", SUITES)
def test_nothing_is_wrong_with_what_is_mutated(suite):
    seen, ask = SUITES[suite]
    assert [verdict.because for verdict in ask(seen) if verdict.outcome is not Outcome.PASS] == []


def mutated(flow: FlowResult) -> Iterator[tuple[str, FlowResult]]:
    """One thing wrong with what a tool tells."""
    yield "failed", replace(flow, status=FlowStatus.FAILED, because="killed")
    yield "nothing", replace(flow, goodput_bits_per_s=None)
    yield "still", replace(flow, goodput_bits_per_s=0.0)
    if flow.sent_datagrams is not None:
        yield from _of_datagrams(flow, flow.received_datagrams or 0)
    if flow.iterations is not None:
        yield from _of_rows(flow)
    if flow.retransmits is not None:
        yield "repeats untold", replace(flow, retransmits=None)
        yield "repeats", replace(flow, retransmits=flow.retransmits + 5_000)


def _of_datagrams(flow: FlowResult, received: int) -> Iterator[tuple[str, FlowResult]]:
    for what in ("sent_datagrams", "received_datagrams", "lost_datagrams"):
        yield f"{what} untold", replace(flow, **{what: None})
    yield "half came", replace(flow, received_datagrams=received // 2)
    yield "missed", replace(flow, lost_datagrams=(flow.lost_datagrams or 0) + 1_000)
    lost = (flow.lost_datagrams or 0) + 1_000
    yield "lost", replace(flow, lost_datagrams=lost, received_datagrams=received - 1_000)


def _of_rows(flow: FlowResult) -> Iterator[tuple[str, FlowResult]]:
    """The last three are of the time in which all send."""
    for number in range(len(flow.intervals) - 3, len(flow.intervals)):
        for name, share in (("still", 0.0), ("a tenth", 0.1)):
            row = flow.intervals[number]
            held = replace(row, goodput_bits_per_s=share * row.goodput_bits_per_s)
            intervals = (*flow.intervals[:number], held, *flow.intervals[number + 1 :])
            yield f"row {number} {name}", replace(flow, intervals=intervals)
    yield "no rows", replace(flow, intervals=())


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("suite", SUITES)
def test_what_a_tool_tells_wrongly_is_never_green(suite, number):
    seen, _ = SUITES[suite]
    passed = []
    for name, flow in mutated(seen.flows[number]):
        flows = list(seen.flows)
        flows[number] = flow
        if green(suite, replace(seen, flows=tuple(flows))):
            passed.append(name)
    assert passed == []


WAYS = {
    "lost": lambda r, start: r.value - 1,
    "more": lambda r, start: r.value + 1_000,
    "half": lambda r, start: start + (r.value - start) // 2,
    "frozen": lambda r, start: start,
    "backwards": lambda r, start: start - 1,
    "N/A": lambda r, start: None,
}
NOT_EXACT = {
    (c.UDP_OUT_DATAGRAMS, "lost"),  # one is the first datagram of a stream
    (c.UDP_IN_DATAGRAMS, "lost"),  # the host's, beside what its tools got
    *((c.PFC_RX_PAUSE_US, way) for way in WAYS),  # only ever excuses a sender
}
NO_SECOND_WITNESS = {("tcp", c.ECN_MARKED_PACKETS, way) for way in ("lost", "more", "half")}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("suite", SUITES)
def test_a_counter_that_tells_wrongly_is_never_green(suite, way):
    """Of each queue and class under load, and of whole hosts and ports."""
    seen, _ = SUITES[suite]
    started = {r.key: r.value for r in seen.before}
    under_load = {*seen.queues, *(place.priority for place in seen.senders)}
    passed = []
    for r in seen.after:
        start, idle = started[r.key], r.index is not None and r.index not in under_load
        grown = r.value > start
        others = r.scope == "host" and (way == "more" or suite == "s2")  # RoCE is no UDP of a host
        if (suite, r.counter, way) in NO_SECOND_WITNESS or (r.counter, way) in NOT_EXACT:
            continue
        if idle or others or (not grown and way != "more"):
            continue
        wrong = replace(r, value=WAYS[way](r, start), missing="N/A" if way == "N/A" else "")
        after = tuple(wrong if each is r else each for each in seen.after)
        if green(suite, replace(seen, after=after)):
            passed.append(r.key)
    assert passed == []


@pytest.mark.parametrize("suite", SUITES)
def test_a_read_of_another_time_is_never_green(suite):
    seen, _ = SUITES[suite]
    stale = tuple(replace(r, time_s=seen.end_s - 1) for r in seen.after)
    assert not green(suite, replace(seen, after=stale))
    still = tuple(replace(r, time_s=20.0) for r in seen.before)
    assert not green(suite, replace(seen, after=still))
    assert not green(suite, replace(seen, settled=False))


@pytest.mark.parametrize("suite", ["s1", "s2"])
def test_swapped_ports_are_never_green(suite):
    seen, _ = SUITES[suite]
    early, late = seen.senders
    nics = (replace(early, port=late.port, device=late.device),
            replace(late, port=early.port, device=early.device))  # fmt: skip
    assert not green(suite, replace(seen, senders=nics))
    assert not green(suite, replace(seen, flows=seen.flows[::-1]))


def test_what_no_tool_of_rdma_tells_hides_no_loss_that_a_nic_has_seen():
    """The receiver missed packets, and nobody said how many messages there were."""
    seen, _ = SUITES["s2"]
    untold = replace(seen, flows=tuple(replace(flow, iterations=None) for flow in seen.flows))
    key = (*R_NIC, "port", -1, c.OUT_OF_SEQUENCE)
    after = tuple(replace(r, value=r.value + 1) if r.key == key else r for r in seen.after)
    assert lossless(replace(untold, after=after), {3, 5}, controls=(OVER,)).outcome is not (
        Outcome.PASS
    )


@pytest.mark.parametrize("iterations", [0, -1])
def test_a_tool_that_completed_no_message_carried_no_load(iterations):
    seen, _ = SUITES["s2"]
    first, *others = seen.flows
    assert not green("s2", replace(seen, flows=(replace(first, iterations=iterations), *others)))
