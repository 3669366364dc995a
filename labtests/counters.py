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

# -- PFC, switch and NIC alike (scope "priority", index = priority) ------------------------------
PFC_RX_FRAMES = "pfc_rx_frames"
PFC_TX_FRAMES = "pfc_tx_frames"
PFC_RX_PAUSE_US = "pfc_rx_pause_us"  # time this port was held by received pause
PFC_TX_PAUSE_US = "pfc_tx_pause_us"
PFC_RX_TRANSITIONS = "pfc_rx_transitions"  # xoff -> xon

# -- switch port (scope "port") ------------------------------------------------------------------
ECN_MARKED_PACKETS = "ecn_marked_packets"
WRED_DROPPED_PACKETS = "wred_dropped_packets"
BUFFER_DROPPED_IN_PACKETS = "buffer_dropped_in_packets"
BUFFER_DROPPED_OUT_PACKETS = "buffer_dropped_out_packets"

# -- NIC port per priority (scope "priority")
RX_PACKETS = "rx_packets"
TX_PACKETS = "tx_packets"
RX_BYTES = "rx_bytes"
TX_BYTES = "tx_bytes"
RX_DISCARDED_PACKETS = "rx_discarded_packets"  # the NIC had no receive buffer

# -- NIC port (scope "port")
NIC_RX_DISCARDED_PACKETS = "nic_rx_discarded_packets"  # rx_discards_phy
NIC_TX_DISCARDED_PACKETS = "nic_tx_discarded_packets"  # tx_discards_phy
NIC_OUT_OF_BUFFER_PACKETS = "nic_out_of_buffer_packets"  # rx_out_of_buffer
PAUSE_RX_FRAMES = "pause_rx_frames"  # rx_pause_ctrl_phy: every link-layer pause frame
PAUSE_TX_FRAMES = "pause_tx_frames"  # tx_pause_ctrl_phy

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
OUT_OF_SEQUENCE = "out_of_sequence"
PACKET_SEQ_ERR = "packet_seq_err"
LOCAL_ACK_TIMEOUT = "local_ack_timeout_err"
DUPLICATE_REQUEST = "duplicate_request"
RNR_NAK_RETRY = "rnr_nak_retry_err"
RDMA_SENT_PACKETS = "sent_pkts"  # rdma_rxe: every RoCE packet, acknowledgements too
RDMA_RECEIVED_PACKETS = "rcvd_pkts"

# -- host (scope "host"), /proc/net/snmp
UDP_OUT_DATAGRAMS = "udp_out_datagrams"
UDP_IN_DATAGRAMS = "udp_in_datagrams"
UDP_RCVBUF_ERRORS = "udp_rcvbuf_errors"
UDP_IN_ERRORS = "udp_in_errors"
IP_REASM_FAILS = "ip_reasm_fails"
IP_REASM_OKS = "ip_reasm_oks"
TCP_RETRANSMITTED_SEGMENTS = "tcp_retransmitted_segments"

GAUGES = frozenset({QUEUE_LENGTH_PACKETS, QDISC_BACKLOG_BYTES})
"""Values that go up and down; they are never subtracted."""

NOT_ENABLED = "not enabled"
"""What `Reading.missing` says when a counter is absent because its mechanism is off, by the
device's own account (ethtool shows no pause keys, the switch's no-drop list lacks the priority)."""
