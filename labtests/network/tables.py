"""The state of the network: one table of records per kind of thing. Numbers are 64 bits wide but
where a table says otherwise.

Times are integer picoseconds: one byte takes 8000 ps at 1G, 800 at 10G, 320 at 25G, 200 at 40G,
80 at 100G, 10 at 800G, so no frame time is ever rounded; 2**62 ps are 53 days.
Things refer to each other by row number; NONE is no row.
Row `8 * port + i` is queue i, or priority i, of that port ("lane").
"""

from typing import Any, NamedTuple

import numpy as np

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


LINE_BYTES = 64
"""What a processor fetches at once: eight columns."""
ALIGNED_ROW = 3
"""The row of a table that begins with a line, and with it those of priority 3 in tables by lane:
most RoCE has it."""


def _record(
    *groups: str,
    floats: str = "",
    halves: str = "",
    arrays: tuple[tuple[str, int, str], ...] = (),
    first: str = "",
    by_lane: bool = False,
) -> np.dtype:
    """A row with these columns: integers of 64 bits, but for `floats`, `halves` (integers of 32)
    and arrays of a length and a type.

    The columns that most packets need, `first`, are fetched together. A row is whole lines long,
    an odd number: equal columns of 2**n rows then do not ask for the same places of a cache. Of a
    table `by_lane` that is true of eight rows.
    """
    named = [*first.split(), *(name for group in groups for name in group.split()), *floats.split()]
    fields: list[Any] = [
        (name, "f8" if name in floats.split() else "i8") for name in dict.fromkeys(named)
    ]
    fields += [(name, "i4") for name in halves.split()]
    row = np.dtype([*fields, *((name, kind, (length,)) for name, length, kind in arrays)])
    rows = 8 if by_lane else 1
    lines = -(-rows * row.itemsize // LINE_BYTES)
    if row.names is None or row.fields is None or lines == 1:
        return row
    places = [row.fields[name] for name in row.names]
    return np.dtype(
        {
            "names": list(row.names),
            "formats": [place[0] for place in places],
            "offsets": [place[1] for place in places],
            "itemsize": (lines if lines == 2 else lines | 1) * LINE_BYTES // rows,
        }
    )


TABLE_TYPES = {
    "clock": _record(
        "now ports hosts opened bucket_shift random_1 random_2",
        "widest_shift woken openings",  # the latter two since buckets were looked at: events.py
        "targets",  # columns of the route table
        "free_packet free_packets active_flows due",  # due: a port that may start now
        "turn",  # the slot that woke last
    ),
    "slot": _record("wakes before after bucket"),  # events.py
    "bucket": _record("head"),
    "word": _record("filled"),  # bit i: bucket i of 32 has slots
    "level": _record("filled"),  # bit i: word i of 32 is not 0
    "port": _record(
        "peer host switch up ps_per_byte propagation_ps quantum_ps busy_until wire_head wire_tail",
        "silence silent_run loud_head loud_tail",  # wire.py
        "plans planned planned_at paced",  # planning.py
        "overhead_bytes impaired",  # DAMAGED: frames that arrive may be lost (impairments.py)
        "rest_parts",  # a byte lasts ps_per_byte + rest_per_byte / rest_parts, if not 0
        "backlog held strict first turn turn_1 turn_2 group_balance count_bytes",
        # masks of queues. backlog: has work; held: was paused; strict, first: of the strict
        # group, of WRR group 1
        "pfc_on pfc_obeyed pfc_pending pause_quanta trust",  # bit masks over priorities: lossless
        # groups, which pause; of what pauses are obeyed; pauses to be sent
        "rx_packets rx_bytes",  # of switches; of hosts, and what is sent: by lane or queue
        "ecn_marked link_down_drops lost_on_wire",
        "limited",  # bit i = queue i has a rate limit
        "ttl_drops no_route_drops crc_errors script",
        "gap_ppm",  # the longest random gap behind a frame, of its time on the wire
        "guard watchdog_drops",  # guard: bit i = priority i is watched (guarding.py)
        "lost_draws",  # of all draws, those that lose an arriving frame
        "rest_per_byte rest_owed",
        "levelled",  # queues are served by level, and by credit in bytes among equals
        "link_pause buffered",  # 802.3x: LINK_SEND, ...; host: STORING in buffers, DISCARDING
        "edge",  # 1: edge_queue counts, whatever the port trusts; 2, a fault: as if all were RoCE
        # of what arrives at a switch's port: where it trusts DSCP; by its edge (see set_edge)
        first="host switch peer up backlog pfc_pending busy_until held "
        "ps_per_byte propagation_ps overhead_bytes rest_parts gap_ppm wire_head wire_tail silence "
        "silent_run loud_head loud_tail strict limited levelled group_balance ecn_marked "
        "impaired pfc_on trust rx_packets rx_bytes link_pause edge buffered "
        "turn planned planned_at plans paced",  # of NICs
        arrays=(("dscp_dot1p", 64, "i1"), ("edge_queue", 128, "i1"), ("edge_dscp", 128, "i1")),
    ),
    "queue": _record(
        "head tail packets cells paused_until empty_since weight credit",
        "ready_head ready_tail",  # NIC only: flows that may send now
        "wred low_cells high_cells ecn",  # wred: NO_RED, RED_LEAVING, ...
        "forwarded_packets forwarded_bytes dropped_packets dropped_bytes marked wred_dropped",
        "limit_bits bucket_ps bucket_full_at bucket_rest",  # shaping.py; limit_bits: per second
        "loss_per_million peak_cells tail_dropped lossy_cells",  # lossy_cells: with dynamic limits
        "poll_ps polls",  # polls: so many periods since time 0 are in the average
        "own_limit_cells own_limit_packets",  # beside the switch's limits; 0: none
        "level level_turn",  # level_turn: of the level of this row's number, not of the queue
        by_lane=True,
        first="head tail ready_head paused_until packets cells average_cells wred "
        "peak_cells low_cells high_cells probability newest_weight ecn "
        "forwarded_packets forwarded_bytes "
        "empty_since credit loss_per_million own_limit_cells own_limit_packets ready_tail",
        floats="average_cells probability newest_weight",
    ),
    "lane": _record(
        "ingress_cells headroom_used headroom_cells xoff refresh_at peak_headroom",
        "guaranteed_cells xoff_cells xon_offset_cells xon_cells peak_cells",  # xoff -1: dynamic
        "pfc_rx_frames pfc_tx_frames paused_until paused_since paused_ps transitions",
        "rx_packets tx_packets rx_bytes tx_bytes",
        "pool_used pool_limit headroom_drops buffer_drops",
        "told_since told_until told_ps",  # the pauses that the port has sent for this priority
        by_lane=True,
        first="ingress_cells headroom_used guaranteed_cells xoff_cells alpha xoff peak_cells "
        "refresh_at rx_packets tx_packets rx_bytes tx_bytes xon_offset_cells xon_cells "
        "paused_until paused_since",
        floats="alpha",
    ),
    "control": _record(  # flow control of a port, beyond what each frame needs
        "response_ps refresh_ps waiting_head waiting_tail",  # waiting: received, not yet obeyed
        "rx_frames tx_frames",  # pause frames of either kind
        "storm storm_quanta storm_period_ps storm_at storm_end",  # storm: bit mask, LINK included
        # 802.3x: the port as a whole, as a lane has it for a priority
        "link_told refresh_at pfc_rx_frames pfc_tx_frames",
        "paused_until paused_since paused_ps transitions told_since told_until told_ps",
        "xoff_size xon_size",  # switch: of the port, in cells; host: of each priority, in bytes
        # host: receive buffers (receiving.py); packets on their way to the host
        "buffer_size host_bits_per_s buffer_head buffer_tail delivered_at",
    ),
    "switch": _record(
        "total_cells shared_cells shared_used used_cells cell_bytes",
        "frame_bytes frame_cells",  # of the last frame that came
        "egress_limit_cells peak_used_cells peak_shared_cells",  # egress limit -1: dynamic
        "pool_cells pool_used peak_pool_cells",  # of headroom
        "egress_shared_cells egress_used egress_guaranteed_cells",
        "hash_seed",
        "shut",  # how many of its ports' priorities a guard has shut now
        first="frame_bytes frame_cells used_cells total_cells shared_used shared_cells "
        "peak_used_cells peak_shared_cells egress_limit_cells shut",
        floats="egress_alpha",
        arrays=(("dot1p_lp", 8, "i1"),),
    ),
    "host": _record(
        "port trust rp_on np_on cnp_priority cnp_dscp cnp_interval_ps",
        "time_reset_ps byte_reset threshold alpha_keep alpha_period_ps monitor_ps initial_alpha",
        "gd min_dec_percent clamp clamp_after_time form np_in_order np_polled",
        "np_ecn_marked np_cnp_sent rp_cnp_handled rp_cnp_ignored out_of_sequence packet_seq_err",
        "local_ack_timeout duplicate_request implied_nak",
        "udp_in udp_out udp_rcvbuf_errors reasm_fails reasm_oks reasm_reqds ip_in",
        "ip_in_bytes ip_out ip_out_bytes",
        "ip_ce ip_ect0 tunnel_in tunnel_out",  # headers of a tunnel's packets count, too
        "cnp_pacing last_cnp",
        "one_cnp_in forgotten",  # faults: one of so many CNPs is heeded; the host that gets none
        first="port trust form byte_reset time_reset_ps np_in_order np_on np_ecn_marked",
        floats="max_rate min_rate ai_rate hai_rate first_rate gain",
        arrays=(("dscp_map", 64, "i1"),),
    ),
    "packet": _record(
        "next flow frame_bytes at part psn lane cells dscp pcp target next_loud",
        "ttl inner",  # inner: headers inside a tunnel's (forwarding.py)
        # pcp: of its 802.1Q tag; NONE: it has none
        "born",  # when its first bit left; of an ACK, when that of the packet did that it answers
        halves="kind ecn",
    ),
    "flow": _record(
        "kind life next_ready queued lane source target dscp start_at in_flight",
        "ended_at",  # by itself: 0 as long as it has not, or when it was stopped
        # RC: packet sequence numbers do not wrap here
        "read packets_per_message last_frame_bytes frame_bytes payload_bytes message_bytes",
        "next_psn una_psn sent_psn depth_messages total_psn window_psn requested expected_psn",
        "last_psn",  # of the message that is being sent
        "tail_bytes tail_frame_bytes",  # of the last message of all, and of its last packet
        "gap_ps gap_bytes",  # of the last packet sent: congestion.py
        "wired_psn",  # the next one in order on the last wire: wire.py
        "nak_sent nak_at nak_repeat_ps timeout_ps timeout_at retries retry_limit error last_cnp",
        "control_dscp whole_messages cnp_due",  # control_dscp NONE: ACKs and NAKs go with the data
        # DCQCN reaction point
        "limited send_at cut_at alpha_at cnp_seen next_increase time_stage byte_stage byte_count",
        "time_increased next_alpha next_cut cut_pending",
        # UDP
        "interval_ps backlog backlog_limit next_datagram blocked fragment fragments datagram",
        "rest_frame_bytes datagram_bytes sent_datagrams rx_datagram rx_fragments received",
        # TCP: in segments
        "resend recover duplicates in_recovery rtt_psn rtt_at rto_ps unacknowledged window_row",
        "retransmits delivered_bytes",
        "ttl hash_to_target hash_to_source",  # of the packets' five-tuple; see forwarding.py
        "ecn ack_packets",  # ecn: of data packets; ack_packets: RC, between ACKs, or 0
        "poisson",  # UDP
        "pcp control_pcp",  # of data, and of ACKs, NAKs, read requests; NONE: without a tag
        "recovery reorder_packets asked_psn round_psn resend_psn lost",  # recovery.py
        "delay_row trip_row echo_born",  # delays.py; NONE: not counted
        "waits delay_ps first_edge",  # for so many other flows to be delivered: following.py
        "tunnel",  # UDP, TCP: NO_TUNNEL, TUNNEL, or one that loses marks
        "echo tell_cut cut_psn",  # TCP with ECN: ECE to send, CWR to send, no second cut before it
        first="life next_psn window_psn lost send_at limited next_increase lane "
        "source target frame_bytes last_psn packets_per_message total_psn sent_psn timeout_at "
        "rate gap_rate gap_ps gap_bytes byte_count pcp ttl dscp "
        "in_flight ecn ack_packets recovery read kind queued whole_messages "
        "expected_psn nak_sent delivered_bytes payload_bytes delay_row wired_psn",
        floats="rate target_rate gap_rate alpha cwnd ssthresh srtt rttvar",
    ),
    "delay": _record("count"),  # packets by how long they were under way: delays.py
    "edge": _record("flow next"),  # a flow that waits for another one, and the next that does
    "route": _record("port"),  # row: switch * targets + host; below NONE: a path (forwarding.py)
    "segment": _record("here"),  # row: window_row + number % size: has the TCP receiver got it
    "path": _record("does ways target copies spray", arrays=(("ports", 64, "i8"),)),
    "guard": _record(  # row: as lanes and queues; guarding.py
        "poll_ps next_poll",  # of the whole port, in the row of its priority 0
        "detect_ps quiet_ps fixed_ps action",
        "shut shut_at restored_at pause_seen_at",
        "sent_pauses obeyed_pauses",  # 1: did so when it was shut
        "drops_ingress drops_egress",  # egress, by queue: 1 + the row of the priority that is shut
        "shutdowns restored drained dropped ingress_dropped",
        "aggregate_dropped aggregate_ingress_dropped",
        by_lane=True,
    ),
    "script": _record("next kinds from_ps until_ps first last every damage seen"),  # impairments.py
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


def table(dtype: np.dtype, rows: int) -> Any:
    """An empty table whose fields are attributes (`t.port[p].busy_until`)."""
    room = np.zeros(rows * dtype.itemsize + LINE_BYTES, np.uint8)
    begin = -(room.ctypes.data + ALIGNED_ROW * dtype.itemsize) % LINE_BYTES
    return room[begin : begin + rows * dtype.itemsize].view(dtype).view(np.recarray)


def grown(old: Any, rows: int) -> Any:
    """The same table with room for `rows` rows."""
    new = table(old.dtype, rows)
    new[: len(old)] = old
    return new
