"""counters and hw_counters of an mlx5 port, in the order of a directory listing.

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


OF_THE_PORT = words(
    """VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery
local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets
port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets
port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_constraint_errors
port_xmit_data port_xmit_discards port_xmit_packets port_xmit_wait symbol_error
unicast_rcv_packets unicast_xmit_packets"""
)
_FCS_BYTES, _WORD_BYTES = 4, 4


def of_the_port(port: NicPort, name: str) -> int:
    """One of counters/: of RDMA traffic only, data in words of four octets, as mlx5 tells them of a
    RoCE port (drivers/infiniband/hw/mlx5/mad.c). What else is there stays 0."""
    counted = port.counters()
    if counted is None:
        return 0
    packets_in = sum(counted.rx_packets) - counted.ip_in_receives
    packets_out = sum(counted.tx_packets) - counted.ip_out_packets
    bytes_in = sum(counted.rx_bytes) - counted.ip_in_bytes - _FCS_BYTES * counted.ip_in_receives
    bytes_out = sum(counted.tx_bytes) - counted.ip_out_bytes - _FCS_BYTES * counted.ip_out_packets
    live = {
        **dict.fromkeys(("port_rcv_packets", "unicast_rcv_packets"), packets_in),
        **dict.fromkeys(("port_xmit_packets", "unicast_xmit_packets"), packets_out),
        "port_rcv_data": bytes_in // _WORD_BYTES,
        "port_xmit_data": bytes_out // _WORD_BYTES,
    }
    return max(live.get(name, 0), 0)


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
