"""Mutations that stand for no loss and no missing proof, each with the reason: data."""

import re
from dataclasses import dataclass

from mutating import Mutation


@dataclass(frozen=True)
class Harmless:
    """Which mutations: by regular expressions that match all of their kind, place, counter and
    phase, and the name of the suite."""

    because: str
    kind: str = ".*"
    place: str = ".*"
    counter: str = ".*"
    phase: str = ".*"  # its kind and its name
    suite: str = ".*"
    idle: bool = False  # only of queues, classes and ports that no flow uses
    unnamed: bool = False  # only of counters that labtests has no name for

    def has(self, suite: str, mutation: Mutation) -> bool:
        """Whether this is one of them."""
        seen = mutation.seen
        pairs = (
            (self.kind, mutation.kind),
            (self.place, mutation.place),
            (self.counter, mutation.counter),
            (self.phase, f"{seen.kind} {seen.name}"),
            (self.suite, suite),
        )
        fits = all(re.fullmatch(pattern, text) for pattern, text in pairs)
        return fits and not (self.idle and mutation.load) and not (self.unnamed and mutation.named)


ONE = "one less|more|frozen|halved|reset|wrapped|missing|stale|twice or negative|swapped .*|samples"
"""Kinds that make one counter tell something else."""
COUNTED = f"lost and counted|{ONE}"
UDP = (
    r"(below|classi|dcbx|early|latency|marking|mixed|overload|pauses_of|pfc_watchdog|s1_|sched|"
    r"deadlock|pfc_escape|soak|tcp_).*"
)
"""Suites without RDMA in the flows that they judge."""

DECLARED: tuple[Harmless, ...] = (
    Harmless(
        "a device's own word: no verdict speaks of it, and packets are balanced by others",
        kind=COUNTED,
        unnamed=True,
    ),
    Harmless(
        "of a queue, class, port or host that no flow of the phase uses",
        kind="lost and counted|one less|more|halved|reset|wrapped|missing|stale|twice.*",
        idle=True,
    ),
    Harmless(
        "of a whole host, whatever program it is of: every datagram of the flows is accounted for",
        kind=COUNTED,
        place=".* host",
        counter="(udp_(no_ports|in_|rcvbuf|sndbuf|mem|out)|ip_|icmp_|tcp_).*",
    ),
    Harmless(
        "bytes beside packets that another counter has, to the packet",
        kind=COUNTED,
        counter="(tx|rx|dropped|forwarded)_bytes",
    ),
    Harmless(
        "packets of a whole port, or of its qdisc, where NICs count the classes of the flows",
        kind=COUNTED,
        counter="(tx|rx)_packets|qdisc_(sent|dropped|requeued)_packets|rx_dropped",
    ),
    Harmless(
        "counts nothing of UDP or TCP",
        kind=COUNTED,
        suite=UDP,
        counter="out_of_sequence|packet_seq_err|.*_cqe_error|duplicate_request|rnr_.*|local_ack_.*|"
        "implied_.*|roce_adp.*|np_.*|rp_.*|out_of_buffer|rx_icrc.*",
    ),
    Harmless(
        "a host counts it of the other part that it may have: requester, or responder",
        kind=COUNTED,
        place="sender.*",
        counter="out_of_sequence|duplicate_request|resp_.*|np_.*",
    ),
    Harmless(
        "a host counts it of the other part that it may have: requester, or responder",
        kind=COUNTED,
        place="receiver.*",
        counter="packet_seq_err|implied_.*|local_ack_.*|rnr_.*|roce_adp.*|req_cqe.*|rp_.*",
    ),
    Harmless(
        "how long pauses were, and how often they ended, beside how many there were",
        kind=COUNTED,
        counter="pfc_.*_(pause_us|transitions)|pause_(rx|tx)_frames|tx_pause_storm_warning_events",
    ),
    Harmless(
        "a control loses on purpose: asked is that its traffic ran, and that its queues' counters "
        "of drops have all that was lost through them",
        phase="control .*",
        place=".*(NIC|host|switch port|switches)|before (the NIC|the receiver's NIC|its IP.*|UDP)|"
        "tool",
    ),
    Harmless(
        "a phase without congestion or mechanism, in which a wrong claim has to be red",
        phase="experiment (told to hosts whose OS sets PFC|no early warning|storms, no early.*)",
    ),
    Harmless(
        "warnings are claimed of this phase, and no loss is judged",
        phase="experiment (early warning, .*|storms, early.*)",
    ),
)


def why_harmless(suite: str, mutation: Mutation) -> str:
    """The reason that is declared; "" for none."""
    return next((each.because for each in DECLARED if each.has(suite, mutation)), "")
