"""The vocabulary of counters: one neutral name per meaning, whatever a vendor calls it.

Drivers translate a device's own word (kept in `Reading.source`) into these. A counter without a
neutral meaning keeps the device's name and unit "events". All values are cumulative unless GAUGES
has them. Meanings: IEEE 802.1Qbb, Linux Documentation/networking/device_drivers/ethernet/mellanox,
NVIDIA's RDMA counter table, H3C command references.
"""

# -- switch egress queue (scope "queue", index = queue) --------------------------------------------
QUEUE_FORWARDED_PACKETS = "forwarded_packets"
QUEUE_FORWARDED_BYTES = "forwarded_bytes"  # Comware includes 20 B preamble and gap a packet
QUEUE_DROPPED_PACKETS = "dropped_packets"
QUEUE_DROPPED_BYTES = "dropped_bytes"  # Comware: without preamble and gap
QUEUE_MARKED_PACKETS = "marked_packets"  # CE set by RED, where a device counts it per queue
QUEUE_LENGTH_PACKETS = "queue_length_packets"  # gauge

# -- the most that was held since that was forgotten last (gauges, bytes): Watermarks --------------
QUEUE_PEAK_BYTES = "queue_peak_bytes"  # scope "queue", egress
HEADROOM_PEAK_BYTES = "headroom_peak_bytes"  # scope "priority": of its group, on the way in
SHARED_PEAK_BYTES = "shared_peak_bytes"  # the same, of shared memory
POOL_PEAK_BYTES = "pool_peak_bytes"  # of the whole pool that this priority shares

# -- what a stream tells beside (gauges): of the moment, or (PEAK) of its interval ----------------
QUEUE_LENGTH_BYTES = "queue_length_bytes"  # scope "queue"
QUEUE_BITS_PER_S = "queue_bits_per_s"  # scope "queue": what leaves by it
QUEUE_MOST_BYTES = "queue_most_bytes"  # the same, at its most since somebody cleared it
HEADROOM_MOST_BYTES = "headroom_most_bytes"  # scope "priority": since that was cleared, or a timer
SHARED_MOST_BYTES = "shared_most_bytes"  # did; likewise
INGRESS_BYTES = "ingress_buffer_bytes"  # scope "priority": held on the way in
INGRESS_PEAK_BYTES = "ingress_peak_bytes"  # the same, at its most
HEADROOM_BYTES = "headroom_bytes"  # scope "priority": in use
PFC_RX_FRAMES_PER_S = "pfc_rx_frames_per_s"  # scope "priority", frames/s
PFC_TX_FRAMES_PER_S = "pfc_tx_frames_per_s"

# -- PFC, switch and NIC alike (scope "priority", index = priority) ------------------------------
PFC_RX_FRAMES = "pfc_rx_frames"
PFC_TX_FRAMES = "pfc_tx_frames"
PFC_RX_PAUSE_US = "pfc_rx_pause_us"  # time this port was held by received pause
PFC_TX_PAUSE_US = "pfc_tx_pause_us"
PFC_RX_TRANSITIONS = "pfc_rx_transitions"  # xoff -> xon

# -- PFC watchdog of a switch (scope "priority", index = priority or its queue). While a queue is
# shut, what it holds is dropped, and what comes for it (OUT) or comes in with its priority (IN): of
# all times together, without what was in the queue. LAST_DROPPED, of the last time, has that, too.
WATCHDOG_SHUTDOWNS = "watchdog_shutdowns"  # events
WATCHDOG_RESTORED = "watchdog_restored"  # events
WATCHDOG_DROPPED_OUT_PACKETS = "watchdog_dropped_out_packets"
WATCHDOG_DROPPED_IN_PACKETS = "watchdog_dropped_in_packets"
WATCHDOG_LAST_DROPPED_PACKETS = "watchdog_last_dropped_packets"  # gauge: of the last shutdown
WATCHDOG_LAST_DROPPED_IN_PACKETS = "watchdog_last_dropped_in_packets"  # gauge

# -- switch port (scope "port") ------------------------------------------------------------------
ECN_MARKED_PACKETS = "ecn_marked_packets"
WRED_DROPPED_PACKETS = "wred_dropped_packets"
BUFFER_DROPPED_IN_PACKETS = "buffer_dropped_in_packets"
BUFFER_DROPPED_OUT_PACKETS = "buffer_dropped_out_packets"

# -- RoCE, counted apart by a switch in RoCE mode (scope "port") ---------------------------------
ROCE_FORWARDED_PACKETS = "roce_forwarded_packets"
ROCE_DROPPED_PACKETS = "roce_dropped_packets"  # of its queue
ROCE_DROPPED_IN_PACKETS = "roce_dropped_in_packets"
ROCE_PFC_TX_FRAMES = "roce_pfc_tx_frames"  # of its priority

DROPPED_FOR = "dropped_"
"""How the names begin of what a switch port dropped for a reason that has no neutral name here
(filters, STP, storm control): the rest are the device's own words."""

WATCHDOG_DROPPED_PACKETS = f"{DROPPED_FOR}by_watchdog"  # of all queues of a port

# -- the wire at a port's end, switch and host alike (scope "port") --------------------------------
# Unit packets unless said; the frames are lost, but for LINK_*, CARRIER_* and FEC_*. RX_ERRORS and
# TX_ERRORS are sums that a device makes itself: they contain the counters below them.
# Sources: sysfs = /sys/class/net/IF/statistics/NAME (Linux, sysfs-class-net-statistics), mlx5 =
# `ethtool -S`, Comware = `display interface`.
RX_ERRORS = "rx_errors"  # sysfs; Comware "input errors"
RX_CRC_ERRORS = "rx_crc_errors"  # wrong FCS: mlx5 rx_crc_errors_phy, else sysfs; Comware "CRC"
RX_FRAME_ERRORS = "rx_frame_errors"  # not a whole number of bytes: sysfs; Comware "frame"
RX_LENGTH_ERRORS = "rx_length_errors"  # sysfs
RX_OVERRUNS = "rx_over_errors"  # no room in the port: sysfs; Comware "overruns"
RX_SYMBOL_ERRORS = "rx_symbol_errors"  # dropped for wrong symbols: mlx5 rx_symbol_err_phy
PCS_SYMBOL_ERRORS = "rx_pcs_symbol_errors"  # FEC could not correct: mlx5 rx_pcs_symbol_err_phy
FEC_CORRECTED_BITS = "rx_corrected_bits"  # bits, nothing lost: mlx5 rx_corrected_bits_phy
TX_ERRORS = "tx_errors"  # mlx5 tx_errors_phy, else sysfs; Comware "output errors"
TX_CARRIER_ERRORS = "tx_carrier_errors"  # no carrier while sending: sysfs; Comware "no carrier"
RX_OVERSIZE_PACKETS = "rx_oversize_packets"  # longer than the port takes: mlx5 rx_oversize_pkts_phy
RX_UNDERSIZE_PACKETS = "rx_undersize_packets"  # below 64 bytes: mlx5 rx_undersize_pkts_phy
RX_FRAGMENTS = "rx_fragments"  # below 64 bytes, wrong FCS: mlx5 rx_fragments_phy
RX_JABBERS = "rx_jabbers"  # too long, wrong FCS: mlx5 rx_jabbers_phy
LINK_DOWNS = "link_down_events"  # events: mlx5 link_down_events_phy, else sysfs carrier_down_count
CARRIER_CHANGES = "carrier_changes"  # events, up and down: /sys/class/net/IF/carrier_changes

# -- a Linux net device, host and switch (scope "port", packets, sysfs) ---------------------------
NET_RX_DROPPED = "rx_dropped"  # arrived whole: no room (softnet's drops too) or no taker for it
NET_TX_DROPPED = "tx_dropped"  # the device or driver threw it away, after the qdisc
RX_MISSED_ERRORS = "rx_missed_errors"  # no receive buffer; mlx5: the same as rx_out_of_buffer
RX_FIFO_ERRORS = "rx_fifo_errors"
TX_FIFO_ERRORS = "tx_fifo_errors"
TX_ABORTED_ERRORS = "tx_aborted_errors"  # mlx5: the same as tx_discards_phy

# -- NIC port per priority (scope "priority")
RX_PACKETS = "rx_packets"
TX_PACKETS = "tx_packets"
RX_BYTES = "rx_bytes"
TX_BYTES = "tx_bytes"
RX_DISCARDED_PACKETS = "rx_discarded_packets"  # the NIC had no receive buffer

RX_BUFFER_DISCARDED_PACKETS = "rx_buffer_discarded_packets"  # rx_prioN_buf_discard: host's share
RX_CONGESTION_DISCARDED_PACKETS = "rx_congestion_discarded_packets"  # rx_prioN_cong_discard

# -- NIC port (scope "port")
NIC_RX_DISCARDED_PACKETS = "nic_rx_discarded_packets"  # rx_discards_phy
NIC_TX_DISCARDED_PACKETS = "nic_tx_discarded_packets"  # tx_discards_phy
NIC_OUT_OF_BUFFER_PACKETS = "nic_out_of_buffer_packets"  # rx_out_of_buffer
NIC_RX_ALLOCATION_ERRORS = "nic_rx_allocation_errors"  # no memory for a packet: rx_buff_alloc_err
NIC_RX_DESCRIPTOR_ERRORS = "nic_rx_descriptor_errors"  # rx_wqe_err
NIC_TX_QUEUE_DROPPED = "nic_tx_queue_dropped"  # the driver's queue was full: tx_queue_dropped
PAUSE_RX_FRAMES = "pause_rx_frames"  # rx_pause_ctrl_phy: every link-layer pause frame
PAUSE_TX_FRAMES = "pause_tx_frames"  # tx_pause_ctrl_phy
PAUSE_STORM_WARNINGS = "tx_pause_storm_warning_events"  # events: it paused others for long
PAUSE_STORM_ERRORS = "tx_pause_storm_error_events"  # events: it stopped pausing, drops may follow

# -- the port's own queue on a host: its root qdisc (scope "port")
QDISC_SENT_PACKETS = "qdisc_sent_packets"
QDISC_DROPPED_PACKETS = "qdisc_dropped_packets"  # at the sender, before any switch
QDISC_REQUEUED_PACKETS = "qdisc_requeued_packets"
QDISC_BACKLOG_BYTES = "qdisc_backlog_bytes"  # gauge

# -- RDMA device (scope "port"), names of /sys/class/infiniband/<dev>/ports/<n>/hw_counters ------
NP_ECN_MARKED_PACKETS = "np_ecn_marked_roce_packets"
NP_CNP_SENT = "np_cnp_sent"
RP_CNP_HANDLED = "rp_cnp_handled"
RP_CNP_IGNORED = "rp_cnp_ignored"
REQUEST_ERRORS = "req_cqe_error"  # a completion with an error, of requests that this host sent
RESPONSE_ERRORS = "resp_cqe_error"  # the same, of requests that it answered
OUT_OF_SEQUENCE = "out_of_sequence"
PACKET_SEQ_ERR = "packet_seq_err"
LOCAL_ACK_TIMEOUT = "local_ack_timeout_err"
DUPLICATE_REQUEST = "duplicate_request"
RNR_NAK_RETRY = "rnr_nak_retry_err"
RDMA_OUT_OF_BUFFER = "out_of_buffer"  # packets: dropped, the QPs had no receive request
IMPLIED_NAK_SEQ_ERR = "implied_nak_seq_err"  # events: an answer to a read was lost
RX_ICRC_ERRORS = "rx_icrc_encapsulated"  # packets: wrong ICRC, dropped
ADAPTIVE_RETRANSMISSIONS = "roce_adp_retrans"  # events
ADAPTIVE_RETRANSMISSION_TIMEOUTS = "roce_adp_retrans_to"  # events
RDMA_RETRIES_EXCEEDED = "retry_exceeded_err"  # rdma_rxe, events: a QP has given up
RDMA_RETRIES = "completer_retry_err"  # rdma_rxe, events: it sent again, for a NAK or a time-out
RDMA_SEND_ERRORS = "send_err"  # rdma_rxe, packets: the host's own stack did not take them
RDMA_SENT_PACKETS = "sent_pkts"  # rdma_rxe: every RoCE packet, acknowledgements too
RDMA_RECEIVED_PACKETS = "rcvd_pkts"

# -- host (scope "host"), /proc/net/snmp: datagrams are of UDP, packets of IP ----------------------
UDP_OUT_DATAGRAMS = "udp_out_datagrams"
UDP_IN_DATAGRAMS = "udp_in_datagrams"  # handed to a socket's reader
UDP_RCVBUF_ERRORS = "udp_rcvbuf_errors"  # the receiving socket was full; inside UDP_IN_ERRORS
UDP_SNDBUF_ERRORS = "udp_sndbuf_errors"  # the sending socket was full, or below it: never sent
UDP_IN_ERRORS = "udp_in_errors"  # sum of RCVBUF, CSUM, MEM and others
UDP_IN_CSUM_ERRORS = "udp_in_csum_errors"  # inside UDP_IN_ERRORS
UDP_MEM_ERRORS = "udp_mem_errors"  # Linux 5.11; inside UDP_IN_ERRORS
UDP_NO_PORTS = "udp_no_ports"  # nobody listened; not inside UDP_IN_ERRORS
IP_IN_CE_PACKETS = "ip_in_ce_packets"  # marked; of a tunnel, the outer and the inner packet
IP_IN_ECT0_PACKETS = "ip_in_ect0_packets"  # ECN-capable, and not marked
IP_IN_RECEIVES = "ip_in_receives"
IP_IN_DELIVERS = "ip_in_delivers"
IP_OUT_REQUESTS = "ip_out_requests"
IP_IN_HDR_ERRORS = "ip_in_hdr_errors"
IP_IN_ADDR_ERRORS = "ip_in_addr_errors"
IP_IN_UNKNOWN_PROTOCOLS = "ip_in_unknown_protos"
IP_IN_DISCARDS = "ip_in_discards"
IP_OUT_DISCARDS = "ip_out_discards"  # among others: the qdisc refused it, see QDISC_DROPPED_PACKETS
IP_OUT_NO_ROUTES = "ip_out_no_routes"
IP_REASM_REQUIRED = "ip_reasm_reqds"  # fragments that arrived
IP_REASM_FAILS = "ip_reasm_fails"  # events: a datagram of several fragments, or one fragment
IP_REASM_OKS = "ip_reasm_oks"  # datagrams
IP_REASM_TIMEOUTS = "ip_reasm_timeout"  # events; a fragment was missing, wherever it was lost
IP_FRAGMENT_FAILS = "ip_frag_fails"
TCP_RETRANSMITTED_SEGMENTS = "tcp_retransmitted_segments"
TCP_IN_SEGMENTS = "tcp_in_segs"  # all that IP delivered to TCP
ICMP_IN_MESSAGES = "icmp_in_msgs"  # all that IP delivered to ICMP
TCP_IN_ERRORS = "tcp_in_errs"  # segments: bad checksum and the like
TCP_IN_CSUM_ERRORS = "tcp_in_csum_errors"  # segments; inside TCP_IN_ERRORS

# -- host (scope "host"), /proc/net/netstat
TCP_BACKLOG_DROPS = "tcp_backlog_drops"  # segments: the socket's backlog was full
TCP_RECEIVE_QUEUE_DROPS = "tcp_rcvq_drops"  # segments: no memory for the receive queue
IP_IN_NO_ROUTES = "ip_in_no_routes"
IP_IN_TRUNCATED = "ip_in_truncated_pkts"
IP_IN_CSUM_ERRORS = "ip_in_csum_errors"

GAUGES = frozenset(
    {
        *(QUEUE_LENGTH_PACKETS, QDISC_BACKLOG_BYTES),
        *(WATCHDOG_LAST_DROPPED_PACKETS, WATCHDOG_LAST_DROPPED_IN_PACKETS),
        *(QUEUE_PEAK_BYTES, HEADROOM_PEAK_BYTES, SHARED_PEAK_BYTES, POOL_PEAK_BYTES),
        *(QUEUE_LENGTH_BYTES, QUEUE_MOST_BYTES, INGRESS_BYTES, INGRESS_PEAK_BYTES, HEADROOM_BYTES),
        *(HEADROOM_MOST_BYTES, SHARED_MOST_BYTES, QUEUE_BITS_PER_S),
        *(PFC_RX_FRAMES_PER_S, PFC_TX_FRAMES_PER_S),
    }
)
"""Values that go up and down; they are never subtracted."""

NOT_ENABLED = "not enabled"
"""What `Reading.missing` says when a counter is absent because its mechanism is off, by the
device's own account (ethtool shows no pause keys, the switch's no-drop list lacks the priority)."""
