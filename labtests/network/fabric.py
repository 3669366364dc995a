"""The tables of a network, made from its wiring, and grown when they are too small."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from labtests.core.headroom import HeadroomLink, enough_headroom, headroom_for
from labtests.network.arithmetic import DRAWS
from labtests.network.events import BUCKETS_PER_LEVEL, LEVELS, WORDS_PER_LEVEL
from labtests.network.layout import grown, table
from labtests.network.memory_settings import PRIORITIES, GroupMemory, SwitchMemory
from labtests.network.settings import NP_DEFAULTS, RP_DEFAULTS, ReactionPoint
from labtests.network.streams import WINDOW_SIZE
from labtests.network.tables import (
    CONNECTX,
    LONGEST_QUANTA,
    NEVER,
    NONE,
    PAPER,
    PS_PER_NS,
    PS_PER_S,
    PS_PER_US,
    TABLE_TYPES,
    TIMERS,
    TRUST_DOT1P,
    TRUST_NONE,
    Tables,
)
from labtests.network.wiring import NS_PER_M, Cable, HostPort, Wiring

FIRST_PACKETS = 4096
FIRST_FLOWS = 16
QUANTUM_BYTES = 64  # 512 bit times
KILOBYTE = 1000


def make_tables(wiring: Wiring, seed: int, memory: Mapping[str, SwitchMemory]) -> Tables:
    """A network at rest at time 0 with the settings of boxes as delivered."""
    ports = tuple(wiring.ports())
    hosts = [number for number, port in enumerate(ports) if isinstance(port, HostPort)]
    switches = switch_names(wiring)
    rows = {
        "clock": 1,
        "slot": 3 * len(ports) + 2 * FIRST_FLOWS,
        "bucket": LEVELS * BUCKETS_PER_LEVEL,
        "word": LEVELS * WORDS_PER_LEVEL,
        "level": LEVELS,
        **dict.fromkeys(("port", "control"), len(ports)),
        **dict.fromkeys(("queue", "lane", "guard"), 8 * len(ports)),
        "switch": max(1, len(switches)),
        "host": max(1, len(hosts)),
        "flow": FIRST_FLOWS,
        "edge": FIRST_FLOWS,
        "segment": WINDOW_SIZE,
    }
    t = Tables(
        addresses=np.zeros(len(TABLE_TYPES), np.int64),
        **{name: table(dtype, rows.get(name, 0)) for name, dtype in TABLE_TYPES.items()},
    )
    clock = t.clock[0]
    clock.ports, clock.hosts, clock.free_packet = len(ports), len(hosts), NONE
    clock.due = NONE
    scrambled = np.random.SeedSequence(seed).generate_state(2)
    clock.random_1 = 1 + int(scrambled[0]) % 2147483562
    clock.random_2 = 1 + int(scrambled[1]) % 2147483398
    _lay_cables(t, wiring)
    for s, name in enumerate(switches):
        _make_switch(t, s, memory[name])
    for h, p in enumerate(hosts):
        t.port[p].host = h
        _make_host(t, h, p)
    _make_calendar(t)
    return with_packets(t, FIRST_PACKETS)


def switch_names(wiring: Wiring) -> Sequence[str]:
    """The switches, in the order of their rows."""
    named = [port.device for port in wiring.ports() if not isinstance(port, HostPort)]
    return list(dict.fromkeys(named))


def _lay_cables(t: Tables, wiring: Wiring) -> None:
    switches = switch_names(wiring)
    ends = tuple(wiring.ports())
    for number, end in enumerate(ends):
        cable = wiring.cables[number // 2]
        port = t.port[number]
        port.peer = number ^ 1
        port.host = NONE
        port.switch = NONE if isinstance(end, HostPort) else switches.index(end.device)
        port.up = 1
        port.ps_per_byte = 8 * PS_PER_S // cable.rate_bits_per_s
        port.propagation_ps = round(cable.length_m * NS_PER_M * PS_PER_NS)
        port.overhead_bytes = cable.overhead_bytes
        _set_rest(port, cable.rate_bits_per_s)
        port.lost_draws = round(cable.loss * DRAWS)
        port.impaired = int(port.lost_draws > 0)
        port.script = NONE
        port.quantum_ps = round(QUANTUM_BYTES * 8 * PS_PER_S / cable.rate_bits_per_s)
        port.pause_quanta = LONGEST_QUANTA
        t.control[number].refresh_ps = LONGEST_QUANTA * int(port.quantum_ps) // 2
        port.first = 0xFF
        port.silence = int(isinstance(ends[number ^ 1], HostPort) and not cable.loss)
        port.plans = int(isinstance(end, HostPort) and not (port.silence or port.rest_parts))
        port.count_bytes = 1
        port.trust = TRUST_NONE
    _empty_ports(t)


def _empty_ports(t: Tables) -> None:
    """Nothing is under way, queued, paused or planned."""
    for column in ("wire_head", "wire_tail", "loud_head", "planned", "paced"):
        t.port[column] = NONE
    for column in ("head", "tail", "ready_head", "ready_tail"):
        t.queue[column] = NONE
    t.port.stop_at = NEVER
    t.port.going = NONE
    t.queue.weight = 1
    t.lane.paused_since = t.lane.told_since = NONE
    t.control.paused_since = t.control.told_since = NONE
    t.control.waiting_head = t.control.waiting_tail = NONE
    t.control.buffer_head = t.control.buffer_tail = NONE
    t.control.delivered_at = NEVER


def _set_rest(port: Any, rate_bits_per_s: int) -> None:
    """What a byte lasts beyond whole picoseconds, as a fraction."""
    rest = Fraction(8 * PS_PER_S, rate_bits_per_s) - 8 * PS_PER_S // rate_bits_per_s
    if rest:
        port.rest_per_byte, port.rest_parts = rest.numerator, rest.denominator
        port.uneven = 1


def _make_switch(t: Tables, s: int, memory: SwitchMemory) -> None:
    switch = t.switch[s]
    switch.cell_bytes = memory.cell_bytes
    switch.total_cells = memory.total_bytes // memory.cell_bytes
    switch.pool_cells = memory.headroom_pool_cells
    switch.egress_limit_cells = memory.egress_limit_cells
    switch.egress_guaranteed_cells = memory.egress_guaranteed_cells
    if memory.egress_alpha is not None:
        switch.egress_limit_cells = NONE
        switch.egress_alpha = memory.egress_alpha
    t.port.dscp_dot1p[t.port.switch == s] = np.arange(64) // 8
    switch.dot1p_lp[:] = np.arange(8)
    lanes = np.repeat(t.port.switch == s, 8)
    for i in PRIORITIES:
        group = memory.group(i)
        of_priority = lanes & (np.arange(len(lanes)) % 8 == i)
        set_group(t, of_priority, group)
    share_memory(t, s, memory)


def set_group(t: Tables, lanes: Any, group: GroupMemory) -> None:
    """These lanes (one, or a mask of several) have the thresholds of a whole group."""
    t.lane.guaranteed_cells[lanes] = group.guaranteed_cells
    t.lane.xoff_cells[lanes] = NONE if group.xoff_cells is None else group.xoff_cells
    t.lane.xon_offset_cells[lanes] = group.xon_offset_cells
    t.lane.xon_cells[lanes] = group.xon_cells
    t.lane.alpha[lanes] = group.alpha


def give_headroom(
    t: Tables, wiring: Wiring, p: int, memory: SwitchMemory, *, port_cells: int | None = None
) -> None:
    """Lossless groups of switch port p have headroom of their own and in the pool; others none.

    `port_cells`: what the port's groups have instead of what the memory says.
    """
    cable = wiring.cables[p // 2]
    usual = usual_headroom(memory, cable)
    limit = memory.headroom_pool_limit_cells
    for i in PRIORITIES:
        lane = t.lane[8 * p + i]
        own = own_headroom(memory, cable, i) if port_cells is None else port_cells
        lossless = int(t.port[p].pfc_on) >> i & 1
        lane.headroom_cells = lossless * own
        lane.pool_limit = lossless * (usual if limit is None else limit)


def own_headroom(memory: SwitchMemory, cable: Cable, priority: int) -> int:
    """Cells of headroom that a lossless group behind this cable has for itself."""
    own = memory.group(priority).headroom_cells
    if own is None:
        return usual_headroom(memory, cable)
    return own


def usual_headroom(memory: SwitchMemory, cable: Cable) -> int:
    """Cells of headroom by rate and length, and by frames and response time where they are told."""
    if memory.frame_bytes is None:
        return headroom_for(cable.rate_bits_per_s, cable.length_m, memory.cell_bytes)
    hop = HeadroomLink(
        rate_bits_per_s=cable.rate_bits_per_s,
        delay_s=cable.length_m * NS_PER_M * 1e-9,
        response_s=memory.response_s,
        overhead_bytes=cable.overhead_bytes,
    )
    return enough_headroom(hop, memory.frame_bytes, cable.length_m, memory.cell_bytes)


def share_memory(t: Tables, s: int, memory: SwitchMemory) -> None:
    """What neither guarantees nor headroom of switch s reserve is shared; of what groups hold, all
    that is above their guarantees."""
    switch = t.switch[s]
    lanes = np.repeat(t.port.switch == s, 8)
    above = t.lane.ingress_cells[lanes] - t.lane.guaranteed_cells[lanes]
    switch.shared_used = int(above[above > 0].sum())
    reserved = int(t.lane.guaranteed_cells[lanes].sum() + t.lane.headroom_cells[lanes].sum())
    reserved += int(switch.pool_cells)
    switch.shared_cells = max(0, int(switch.total_cells) - reserved)
    if memory.egress_alpha is not None:
        given = memory.egress_shared_cells
        switch.egress_shared_cells = switch.shared_cells if given is None else given


def _make_host(t: Tables, h: int, p: int) -> None:
    host = t.host[h]
    host.port = p
    host.trust = TRUST_DOT1P  # mlnx_qos calls it pcp; packets without a tag then have priority 0
    host.rp_on = host.np_on = 0xFF
    host.last_cnp = -NEVER
    host.dscp_map[:] = np.arange(64) // 8
    apply_rp(t, h, dict(RP_DEFAULTS))
    apply_np(t, h, dict(NP_DEFAULTS))


def apply_rp(t: Tables, h: int, values: dict[str, int]) -> None:
    """The reaction point of host h works by these values (units: settings.py)."""
    host = t.host[h]
    line_rate = _line_rate(t, h)
    host.form = CONNECTX
    host.clamp = values["clamp_tgt_rate"]
    host.clamp_after_time = values["clamp_tgt_rate_after_time_inc"]
    host.time_reset_ps = max(1, values["rpg_time_reset"]) * PS_PER_US
    host.byte_reset = values["rpg_byte_reset"] * KILOBYTE
    host.threshold = values["rpg_threshold"]
    host.max_rate = min(values["rpg_max_rate"] * 1e6 or line_rate, line_rate)
    host.ai_rate = values["rpg_ai_rate"] * 1e6
    host.hai_rate = values["rpg_hai_rate"] * 1e6
    host.gd = values["rpg_gd"]
    host.min_dec_percent = values["rpg_min_dec_fac"]
    host.min_rate = max(1, values["rpg_min_rate"]) * 1e6
    host.first_rate = min(values["rate_to_set_on_first_cnp"] * 1e6, line_rate)
    host.alpha_keep = values["dce_tcp_g"]
    host.alpha_period_ps = max(1, values["dce_tcp_rtt"]) * PS_PER_US
    host.monitor_ps = values["rate_reduce_monitor_period"] * PS_PER_US
    host.initial_alpha = values["initial_alpha_value"]


def apply_reaction_point(t: Tables, h: int, point: ReactionPoint) -> None:
    """The reaction point of host h has this form and these values."""
    host = t.host[h]
    line_rate = _line_rate(t, h)
    host.form = PAPER if point.form == "paper" else TIMERS
    host.gain = point.gain
    host.alpha_period_ps = round(point.alpha_period_us * PS_PER_US)
    host.monitor_ps = round(point.cut_period_us * PS_PER_US)
    host.time_reset_ps = round(point.increase_period_us * PS_PER_US)
    host.byte_reset = point.byte_counter_bytes
    host.threshold = point.recovery_stages
    host.max_rate = line_rate
    host.min_rate = point.min_rate_bits_per_s
    host.ai_rate = point.additive_bits_per_s
    host.hai_rate = point.hyper_bits_per_s
    host.clamp = int(point.clamp_target)


def _line_rate(t: Tables, h: int) -> int:
    port = t.port[t.host[h].port]
    parts = int(port.rest_parts) or 1
    return 8 * PS_PER_S * parts // (int(port.ps_per_byte) * parts + int(port.rest_per_byte))


def apply_np(t: Tables, h: int, values: dict[str, int]) -> None:
    """The notification point of host h works by these values."""
    host = t.host[h]
    host.cnp_priority = values["cnp_802p_prio"]
    host.cnp_dscp = values["cnp_dscp"]
    host.cnp_interval_ps = values["min_time_between_cnps"] * PS_PER_US


def with_packets(t: Tables, rows: int) -> Tables:
    """The same network with room for `rows` packets; the new ones are free."""
    old = len(t.packet)
    packet = grown(t.packet, rows)
    clock = t.clock[0]
    packet.next[old:] = np.arange(old + 1, rows + 1)
    packet.next[rows - 1] = clock.free_packet
    clock.free_packet = old
    clock.free_packets += rows - old
    return t._replace(packet=packet)


def _make_calendar(t: Tables) -> None:
    """Buckets about as wide as frames of 1000 B are apart when, of n ports, sqrt(n) send, until it
    has been seen how many do (events.py)."""
    frames_per_ps = float((1 / (1000 * t.port.ps_per_byte)).mean()) * math.sqrt(len(t.port))
    shift = max(1, int(1 / frames_per_ps).bit_length() - 1)
    t.clock[0].bucket_shift = t.clock[0].widest_shift = shift
    t.slot.wakes = NEVER
    t.bucket.head = NONE


def _with_slots(t: Tables) -> Tables:
    """The same network with a calendar slot for every flow row."""
    old = len(t.slot)
    slot = grown(t.slot, 3 * len(t.port) + 2 * len(t.flow))
    slot.wakes[old:] = NEVER
    return t._replace(slot=slot)


def with_flows(t: Tables, rows: int) -> Tables:
    """The same network with room for `rows` flows."""
    return _with_slots(t._replace(flow=grown(t.flow, rows)))


def with_edges(t: Tables, rows: int) -> Tables:
    """The same network with room for `rows` edges between flows."""
    return t._replace(edge=grown(t.edge, rows))


def with_segments(t: Tables, rows: int) -> Tables:
    """The same network with so many rows for packets of windows."""
    return t._replace(segment=grown(t.segment, rows))


def with_delays(t: Tables, rows: int) -> Tables:
    """The same network with so many rows for delays, all 0."""
    return t._replace(delay=table(TABLE_TYPES["delay"], rows))
