"""What an excuse says, and words that several of them use."""

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
    beside: bool = False  # only of queues that no data of the flows uses: CNPs', at most
    by_class: bool = False  # only of phases whose NICs count the packets of each class

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
        asked = (
            self.idle and mutation.load,
            self.unnamed and mutation.named,
            self.beside and mutation.data,
            self.by_class and not seen.by_class,
        )
        return fits and not any(asked)


ONE = "one less|more|frozen|halved|reset|wrapped|missing|stale|twice or negative|swapped .*|samples"
"""Kinds that make one counter tell something else."""
COUNTED = f"lost and counted|{ONE}"
HURT = (
    r"rx_(crc|frame|length|symbol|pcs_symbol|fifo|missed|over|icrc|discarded|fragments|jabbers|"
    r"undersize|oversize).*|(rx|tx)_errors|link_down_events|carrier_changes|nic_.*|out_of_buffer|"
    r"tx_(carrier|aborted|fifo|dropped).*"
)
"""Counters of what NICs and cables lose: whatever else a suite claims, it asks for these."""
REPEATED = (
    "duplicate_request|out_of_sequence|packet_seq_err|local_ack_.*|implied_.*|req_cqe_.*|"
    "resp_cqe_.*|roce_adp.*"
)
"""Counters of what RDMA missed and sent again: a rate of that is none of a reaction point."""
UDP = (
    r"(below|classi|dcbx|early|latency|limited|link_|marking|mixed|overload|pause|pfc_watchdog|s1_|"
    r"sched|deadlock|pfc_escape|soak|tcp_|thresh|tunnels).*"
)
"""Suites without RDMA in the flows that they judge."""

STRICT = "(deaf|latency|limited_queue.the_class).*"
"""Suites whose loads only fill a port."""
OF_MOMENTS = (
    "deadlock|pfc_escape|limited_queue.a_strict|link_failure|marking_curve|scheduling|"
    "threshold_from"
)
"""Suites that ask what counters told while the traffic ran."""
