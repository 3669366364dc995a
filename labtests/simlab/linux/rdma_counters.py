"""hw_counters of an mlx5 port, in the order of a directory listing.

Names: NVIDIA's counters table and a `show_counters` recording of a ConnectX LAG; `lifespan` is no
counter but the ageing of reads in ms.
"""

from labtests.simlab.linux.mlx5_counters import words
from labtests.simlab.linux.ports import NicPort

LIFESPAN_MS = 10

_CALLED = {"np_ecn_marked_roce_packets": "np_ecn_marked"}  # otherwise in the network
NAMES = words(
    """duplicate_request implied_nak_seq_err lifespan local_ack_timeout_err np_cnp_sent
np_ecn_marked_roce_packets out_of_buffer out_of_sequence packet_seq_err req_cqe_error
req_cqe_flush_error req_remote_access_errors req_remote_invalid_request resp_cqe_error
resp_cqe_flush_error resp_local_length_error resp_remote_access_errors rnr_nak_retry_err
roce_adp_retrans roce_adp_retrans_to roce_slow_restart roce_slow_restart_cnps
roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored rx_atomic_requests rx_icrc_encapsulated
rx_read_requests rx_write_requests"""
)


def value(port: NicPort, name: str) -> int:
    """The counter as it is shown."""
    if name == "lifespan":
        return LIFESPAN_MS

    def live() -> int:
        counters = port.counters()
        return int(getattr(counters, _CALLED.get(name, name), 0))  # none: not modelled

    return port.reading(name, live)


def shown(port: NicPort) -> dict[str, int]:
    """All counters that are there, as `rdma statistic` shows them: without lifespan."""
    names = (name for name in NAMES if name != "lifespan" and not port.missing(name))
    return {name: value(port, name) for name in names}
