"""The state of the network: one table of records per kind of thing. Numbers are 64 bits wide but
where a table says otherwise; short ones are those that cannot become longer.

Times are integer picoseconds: one byte takes 8000 ps at 1G, 800 at 10G, 320 at 25G, 200 at 40G,
80 at 100G, 10 at 800G, so no frame time is ever rounded; 2**62 ps are 53 days.
Things refer to each other by row number; NONE is no row.
Row `8 * port + i` is queue i, or priority i, of that port ("lane").
"""

from typing import Any, NamedTuple

from labtests.network.layout import record

NONE = -1
NEVER = 1 << 62
PS_PER_NS = 1000
PS_PER_US = 1_000_000
PS_PER_S = 1_000_000_000_000

# Kinds of packets. RoCE kinds are those up to ROCE_LAST.
RC_DATA, RC_ACK, RC_NAK, RC_READ_REQUEST, RC_CNP = 0, 1, 2, 3, 4
ROCE_LAST = RC_CNP
UDP_FRAGMENT, TCP_DATA, TCP_ACK, PAUSE = 5, 6, 7, 8

# Kinds of flows, and their life.
RC, UDP, TCP = 0, 1, 2
ENDED, ACTIVE, DRAINING = 0, 1, 2

# IP ECN field (RFC 3168).
NOT_ECT, ECT_1, ECT_0, CE = 0, 1, 2, 3

# Trust of a port.
TRUST_NONE, TRUST_DOT1P, TRUST_DSCP = 0, 1, 2

# RED of a queue: none, looked at by leaving packets, or by arriving ones, with an average of what
# they find or of what polls find.
NO_RED, RED_LEAVING, RED_ARRIVING, RED_POLLED = 0, 1, 2, 3

# What an RC flow does about losses: recovery.py.
GO_BACK_N, SELECTIVE = 0, 1
NO_TUNNEL, TUNNEL, TUNNEL_LOSING_MARKS = 0, 1, 2

# Form of a host's DCQCN reaction point.
CONNECTX, TIMERS, PAPER = 0, 1, 2

# What a host's CNPs keep their interval by.
PACED_BY_FLOW, PACED_BY_PORT, NOT_PACED = 0, 1, 2

# 802.3x: what a port does with link pauses (bits), and their bit beside those of the priorities.
# Faults: it stops for any pause frame, PFC or not; it takes none from the address 0.
LINK_SEND, LINK_OBEY, HEEDS_ANY, WANTS_SOURCE = 1, 2, 4, 8
LINK = 8

# What a host's port does with arriving packets beside handing them over (bits of `buffered`), and
# what may happen to frames on their way to a port (bits of `impaired`).
STORING, DISCARDING = 1, 2
DAMAGED, CORRUPTING = 1, 2

OVERHEAD_BYTES = 20
"""Preamble, start delimiter (8) and smallest inter-frame gap (12): IEEE 802.3. What a link adds to
a frame unless its cable says otherwise."""
MIN_FRAME_BYTES = 64
"""Smallest Ethernet frame with FCS: IEEE 802.3. A PFC frame is one."""
TAG_BYTES = 4
"""What an 802.1Q tag adds to a frame: TPID 2 + PCP, DEI and VLAN id 2 (IEEE 802.1Q)."""

LONGEST_QUANTA = 65535
"""The time field of a pause frame has 16 bits (IEEE 802.3 31B); what ports send unless told
otherwise."""

TABLE_TYPES = {
    "clock": record(
        "now ports hosts opened bucket_shift random_1 random_2",
        "widest_shift woken openings",  # the latter two since buckets were looked at: events.py
        "targets",  # columns of the route table
        "free_packet free_packets active_flows due",  # due: a port that may start now
        "turn",  # the highest slot that has woken now
    ),
    "slot": record("wakes before:32 after:32"),  # events.py
    "bucket": record("head:32"),
    "word": record("filled"),  # bit i: bucket i of 32 has slots
    "level": record("filled"),  # bit i: word i of 32 is not 0
    "port": record(
        "lost_draws",  # of all draws, those that lose an arriving frame
        # a byte lasts ps_per_byte + rest_per_byte / rest_parts, if not 0
        "rest_per_byte rest_parts rest_owed",
        "link_down_drops lost_on_wire ttl_drops no_route_drops crc_errors watchdog_drops script",
        lines=(
            # to start a frame. Masks of queues: backlog has work, held was paused, limited has a
            # rate limit, strict is of the strict group; of priorities: pauses to be sent
            "host:32 switch:32 up:8 busy_until ps_per_byte overhead_bytes:32 propagation_ps "
            "uneven:8 "  # bytes do not last whole ps, or there are gaps behind frames
            "backlog:u8 held:u8 limited:u8 strict:u8 group_balance pfc_pending:32 "
            "levelled:8 "  # queues are served by level, and by credit in bytes among equals
            "turn:8 plans:8",  # of NICs
            # its wire (wire.py), what arrives. Masks of priorities: pfc_on has lossless groups
            "peer:32 wire_head:32 wire_tail:32 loud_head:32 loud_tail:32 silence:8 silent_run:8 "
            "stop_at stopped:8 going:8 "  # stops.py
            "planned:32 "  # planning.py
            "impaired:8 "  # DAMAGED: frames that arrive may be lost (impairments.py)
            "trust:8 pfc_on:u8 rx_packets rx_bytes "  # of switches; others: by lane or queue
            "link_pause:8 "  # 802.3x: LINK_SEND, ...
            "edge:8 "  # 1: edge_queue counts, whatever the port trusts; 2, a fault: all is RoCE
            "buffered:8",  # of hosts: STORING in buffers, DISCARDING
            # pauses, and queues in turn. pfc_obeyed: of what priorities pauses are obeyed; guard:
            # priorities that are watched (guarding.py); first: queues of WRR group 1
            "quantum_ps pause_quanta:32 pfc_obeyed:u8 guard:u8 ecn_marked "
            "first:u8 turn_1:8 turn_2:8 count_bytes:8 planned_at paced:32 "
            "gap_ppm:32",  # the longest random gap behind a frame, of its time on the wire
        ),
        # of what arrives at a switch's port: where it trusts DSCP; by its edge (see set_edge)
        arrays=(("dscp_dot1p", 64, "i1"), ("edge_queue", 128, "i1"), ("edge_dscp", 128, "i1")),
    ),
    "queue": record(
        "weight ready_tail",  # ready_head, ready_tail: of NICs, flows that may send now
        "loss_per_million own_limit_cells own_limit_packets",  # limits: beside the switch's; or 0
        "dropped_packets dropped_bytes marked wred_dropped tail_dropped",
        "limit_bits bucket_ps bucket_full_at bucket_rest",  # shaping.py; limit_bits: per second
        "lossy_cells",  # with dynamic limits
        "poll_ps polls",  # polls: so many periods since time 0 are in the average
        "level level_turn",  # level_turn: of the level of this row's number, not of the queue
        by_lane=True,
        lines=(
            "head:32 tail:32 ready_head:32 packets:32 cells paused_until empty_since "
            "forwarded_packets forwarded_bytes "
            "wred:8 ecn:8 "  # wred: NO_RED, RED_LEAVING, ...
            "odd:8",  # some packets are lost, or it has limits of its own
            "average_cells:f newest_weight:f low_cells high_cells probability:f peak_cells credit",
        ),
    ),
    "lane": record(
        "transitions headroom_drops buffer_drops",
        "pool_limit pool_used",  # of the headroom pool
        by_lane=True,
        lines=(
            # of NICs, ingress_cells and peak_cells are bytes (receiving.py)
            "ingress_cells peak_cells guaranteed_cells headroom_used xoff:8 "
            "alpha:f xoff_cells xon_offset_cells",  # xoff_cells -1: dynamic
            # told: the pauses that the port has sent for this priority
            "told_since told_until told_ps pfc_tx_frames refresh_at "
            "headroom_cells peak_headroom xon_cells",
            "rx_packets tx_packets rx_bytes tx_bytes "
            "paused_until paused_since paused_ps pfc_rx_frames",
        ),
    ),
    "control": record(  # flow control of a port, beyond what each frame needs
        "storm_period_ps storm_at storm_end",
        # 802.3x: the port as a whole, as a lane has it for a priority
        "refresh_at pfc_tx_frames",
        "paused_until paused_since paused_ps transitions told_since told_until told_ps",
        "xoff_size xon_size",  # switch: of the port, in cells; host: of each priority, in bytes
        # host: receive buffers (receiving.py); packets on their way to the host
        "buffer_size host_bits_per_s buffer_head buffer_tail delivered_at",
        lines=(
            "response_ps refresh_ps waiting_head:32 waiting_tail:32 "  # received, not yet obeyed
            "rx_frames tx_frames "  # pause frames of either kind
            "storm:32 storm_quanta "  # storm: bit mask, LINK included
            "link_told:32 pfc_rx_frames",  # 802.3x
        ),
    ),
    "switch": record(
        "cell_bytes pool_cells pool_used peak_pool_cells",  # pool: of headroom
        "egress_shared_cells egress_used egress_guaranteed_cells egress_alpha:f",
        "hash_seed",
        "shut",  # how many of its ports' priorities a guard has shut now
        lines=(
            "used_cells total_cells shared_used shared_cells peak_used_cells peak_shared_cells "
            "egress_limit_cells "  # -1: dynamic
            "frame_bytes:32 frame_cells:32",  # of the last frame that came
        ),
        arrays=(("dot1p_lp", 8, "i1"),),
    ),
    "host": record(
        "rp_on cnp_priority cnp_dscp",
        "threshold alpha_keep alpha_period_ps monitor_ps initial_alpha",
        "min_rate:f ai_rate:f hai_rate:f first_rate:f gain:f",
        "gd min_dec_percent clamp clamp_after_time np_polled",
        "rp_cnp_handled rp_cnp_ignored out_of_sequence packet_seq_err",
        "local_ack_timeout duplicate_request implied_nak",
        "udp_in udp_out udp_rcvbuf_errors reasm_fails reasm_oks reasm_reqds ip_in",
        "ip_in_bytes ip_out ip_out_bytes",
        "ip_ce ip_ect0 tunnel_in tunnel_out",  # headers of a tunnel's packets count, too
        "cnp_pacing last_cnp",
        "one_cnp_in",  # a fault: one of so many CNPs is heeded
        lines=(
            "port:32 trust:8 form:8 byte_reset time_reset_ps max_rate:f cnp_interval_ps "
            "np_in_order:8 np_on:u8 np_ecn_marked np_cnp_sent "
            "forgotten:32",  # a fault: the host that gets no CNP
        ),
        arrays=(("dscp_map", 64, "i1"),),
    ),
    "packet": record(
        "inner",  # headers inside a tunnel's (forwarding.py)
        lines=(
            "next:32 next_loud:32 flow:32 at kind:8 ecn:8 dscp:8 ttl:u8 frame_bytes:16 part psn "
            "lane:32 cells:32 target:32 "
            "pcp:8 "  # of its 802.1Q tag; NONE: it has none
            "born",  # when its first bit left; of an ACK, when that of the packet that it answers
        ),
    ),
    "flow": record(
        "start_at ended_at",  # ended by itself: 0 as long as it has not, or when it was stopped
        # RC: packet sequence numbers do not wrap here
        "message_bytes last_frame_bytes una_psn depth_messages requested",
        "tail_bytes tail_frame_bytes",  # of the last message of all, and of its last packet
        "nak_at nak_repeat_ps timeout_ps retries retry_limit error last_cnp",
        "control_dscp cnp_due",  # control_dscp NONE: ACKs and NAKs go with the data
        # DCQCN reaction point
        "target_rate:f alpha:f cut_at alpha_at cnp_seen time_stage byte_stage",
        "time_increased next_alpha next_cut cut_pending",
        # UDP
        "interval_ps backlog backlog_limit next_datagram blocked fragment fragments datagram",
        "rest_frame_bytes datagram_bytes sent_datagrams rx_datagram rx_fragments received poisson",
        # TCP: in segments
        "resend recover duplicates in_recovery rtt_psn rtt_at rto_ps unacknowledged window_row",
        "cwnd:f ssthresh:f srtt:f rttvar:f",
        "retransmits",
        "hash_to_target hash_to_source",  # of the packets' five-tuple; see forwarding.py
        "control_pcp",  # of ACKs, NAKs, read requests; NONE: without a tag
        "reorder_packets asked_psn round_psn resend_psn",  # recovery.py
        "trip_row echo_born",  # delays.py; NONE: not counted
        "waits delay_ps first_edge",  # for so many other flows to be delivered: following.py
        "tunnel",  # UDP, TCP: NO_TUNNEL, TUNNEL, or one that loses marks
        "echo tell_cut cut_psn",  # TCP with ECN: ECE to send, CWR to send, no second cut before it
        lines=(
            # to send. last_psn: of the message that is being sent; lost: recovery.py
            "next_psn window_psn sent_psn last_psn total_psn timeout_at send_at lost:32 lane:32",
            # gap: of the last packet sent (congestion.py)
            "life:8 kind:8 limited:8 queued:8 next_ready:32 source:32 target:32 frame_bytes:32 "
            "rate:f next_increase byte_count gap_ps gap_rate:f gap_bytes:32",
            # to send and to receive. wired_psn: the next one in order on the last wire (wire.py)
            "in_flight:32 ttl:u8 dscp:8 pcp:8 ecn:8 read:8 whole_messages:8 recovery:8 wired_psn "
            "quiet:8 "  # packets in their order, but for the last of a message, are not answered
            "expected_psn delivered_bytes packets_per_message payload_bytes:32 nak_sent:8 "
            "ack_packets "  # RC, between ACKs, or 0
            "delay_row:32",  # delays.py; NONE: not counted
        ),
    ),
    "delay": record("count"),  # packets by how long they were under way: delays.py
    "edge": record("flow next"),  # a flow that waits for another one, and the next that does
    # row: switch * targets + host; below NONE: a path (forwarding.py)
    "route": record("port:32"),
    # row: window_row + number % size. Bits: has the receiver got it, ... (selective_repeat.py)
    "segment": record("here"),
    "path": record("does ways target copies spray", arrays=(("ports", 64, "i4"),)),
    "guard": record(  # row: as lanes and queues; guarding.py
        "poll_ps next_poll",  # of the whole port, in the row of its priority 0
        "detect_ps quiet_ps fixed_ps action",
        "shut shut_at restored_at pause_seen_at",
        "sent_pauses obeyed_pauses",  # 1: did so when it was shut
        "drops_ingress drops_egress",  # egress, by queue: 1 + the row of the priority that is shut
        "shutdowns restored drained dropped ingress_dropped",
        "aggregate_dropped aggregate_ingress_dropped",
        by_lane=True,
    ),
    "script": record("next kinds from_ps until_ps first last every damage seen"),  # impairments.py
}
"""The type of a row of each table, in the order of the address block."""


class Tables(NamedTuple):
    """Everything there is."""

    addresses: Any  # of the tables below, for the compiled functions (rows.py)
    clock: Any  # one row
    slot: Any  # the calendar: slots, buckets, levels
    bucket: Any
    word: Any
    level: Any
    port: Any
    queue: Any
    lane: Any
    control: Any  # one row a port
    switch: Any
    host: Any
    packet: Any
    flow: Any
    delay: Any
    edge: Any
    route: Any
    segment: Any
    path: Any
    guard: Any
    script: Any


State = Any
"""What the functions of the event loop pass on as `t`; see rows.state_of."""
