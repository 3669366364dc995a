"""What can be set and read: settings of switches and NICs, counters. Traffic: requests.py."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple


def within(what: str, value: float, low: float, high: float) -> None:
    """ValueError when it is not."""
    if not low <= value <= high:
        raise ValueError(f"{what} {value} is not {low}..{high}")


# -- switch --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class WredCurve:
    """RED on one egress queue; limits are cells of 208 B of the averaged length (why: marking.py).

    Comware's defaults of a new table (HPE 5130 command reference): 100, 1000, 10 %, exponent 9, no
    ECN. `mark_leaving`: packets are marked when they leave, by the length then; none is dropped.
    `poll_period_ns`: the average follows a look every so many ns (S25), not each arrival (0); no
    document tells the period of a real switch.
    """

    low_limit: int = 100
    high_limit: int = 1000
    probability_percent: float = 10
    weighting_exponent: int = 9
    ecn: bool = False
    mark_leaving: bool = False
    poll_period_ns: int = 0

    def __post_init__(self) -> None:
        within("low limit", self.low_limit, 0, self.high_limit)
        within("poll period", self.poll_period_ns, 0, 10**12)
        if self.poll_period_ns and self.mark_leaving:
            raise ValueError("a polled queue marks arriving packets, not leaving ones")
        within("probability", self.probability_percent, 0, 100)
        within("weighting exponent", self.weighting_exponent, 0, 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How the eight queues of a port are served: (group, weight) of queue 0..7. See scheduling.py.

    `sp` puts every queue in the strict group; `wfq` is served like byte-count WRR. `levels`: as htb
    serves its classes, the lowest level (0..7) first; a weight is then a quantum in bytes, and
    groups do not count.
    """

    discipline: Literal["sp", "wrr", "wfq"] = "wrr"
    unit: Literal["weight", "byte-count"] = "byte-count"
    queues: tuple[tuple[str, int], ...] = (("1", 1),) * 8
    levels: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.queues) != 8:
            raise ValueError(f"a schedule has 8 queues, not {len(self.queues)}")
        for group, weight in self.queues:
            if group not in ("sp", "1", "2") or (group != "sp" and weight < 1):
                raise ValueError(f"not a group and a weight >= 1: {group!r}, {weight!r}")
        if self.levels is not None and (
            len(self.levels) != 8 or not set(self.levels) <= set(range(8))
        ):
            raise ValueError(f"not 8 levels 0..7: {self.levels}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeClass:
    """What a policy at a port makes of a packet: the queue it gets, and the DSCP that it has from
    there on; None: as it would be without."""

    queue: int | None = None
    dscp: int | None = None

    def __post_init__(self) -> None:
        within("queue", 0 if self.queue is None else self.queue, 0, 7)
        within("DSCP", 0 if self.dscp is None else self.dscp, 0, 63)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """The most an egress queue may send, in bits/s on the wire: frames, preamble and gap.

    `burst_bytes`: what it may send at once after a rest (16 KiB: ten full frames; a choice).
    """

    bits_per_s: int
    burst_bytes: int = 16_384

    def __post_init__(self) -> None:
        within("bits per second", self.bits_per_s, 1000, 10**13)
        within("burst bytes", self.burst_bytes, 1, 2**30)


# -- NIC -----------------------------------------------------------------------------------------

RP_DEFAULTS = MappingProxyType(
    {
        "clamp_tgt_rate": 0,  # 1: every cut lowers the target too
        "clamp_tgt_rate_after_time_inc": 1,  # 1: a cut after a timer increase lowers the target too
        "rpg_time_reset": 300,  # us between timer increases
        "rpg_byte_reset": 32767,  # kB between byte increases (see dcqcn.py); 0: none
        "rpg_threshold": 1,  # stages of fast recovery
        "rpg_max_rate": 0,  # Mbit/s; 0: the port's speed
        "rpg_ai_rate": 5,  # Mbit/s per additive increase
        "rpg_hai_rate": 50,  # Mbit/s per hyper increase
        "rpg_gd": 11,  # log2: cut by alpha (0..1023) / 2**gd
        "rpg_min_dec_fac": 50,  # percent left at least by one cut
        "rpg_min_rate": 1,  # Mbit/s
        "rate_to_set_on_first_cnp": 0,  # Mbit/s; 0: the port's speed
        "dce_tcp_g": 1019,  # /1024: share of alpha kept per update
        "dce_tcp_rtt": 1,  # us between updates of alpha
        "rate_reduce_monitor_period": 4,  # us between cuts at least
        "initial_alpha_value": 1023,  # /1024
    }
)
"""Reaction point: what `mlxconfig q` dumps of ConnectX-5/6/7 show; meaning as used: dcqcn.py."""

NP_DEFAULTS = MappingProxyType(
    {
        "cnp_802p_prio": 6,
        "cnp_dscp": 48,
        "min_time_between_cnps": 4,  # us, per queue pair
    }
)
"""Notification point: the same dumps; document 000 read cnp_dscp 48 from sysfs."""

DCQCN_LIMITS = MappingProxyType(
    {
        "clamp_tgt_rate": 1,
        "clamp_tgt_rate_after_time_inc": 1,
        "rpg_gd": 15,
        "rpg_min_dec_fac": 100,
        "dce_tcp_g": 1023,
        "initial_alpha_value": 1023,
        "cnp_802p_prio": 7,
        "cnp_dscp": 63,
    }
)
"""Largest value where the field itself has one; others end at 2**31."""


def check_dcqcn(name: str, value: int) -> None:
    """ValueError when a NIC would refuse this value."""
    within(name, value, 0, DCQCN_LIMITS.get(name, 2**31))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionPoint:
    """A reaction point in one of the two forms of reaction.py (which says what each number does).

    `timers`: alpha timer, cut timer and increase timer, CNPs only set flags. `paper`: each CNP cuts
    at once; increases by timer and by byte counter (0: none). Defaults: Zhu et al. (SIGCOMM 2015).
    `gain` is g; rates in bits/s.
    """

    form: Literal["timers", "paper"] = "timers"
    gain: float = 1 / 256
    alpha_period_us: float = 55
    cut_period_us: float = 50
    increase_period_us: float = 55
    byte_counter_bytes: int = 10_000_000
    recovery_stages: int = 5
    additive_bits_per_s: float = 40e6
    hyper_bits_per_s: float = 200e6
    min_rate_bits_per_s: float = 40e6
    clamp_target: bool = True

    def __post_init__(self) -> None:
        within("gain", self.gain, 0, 1)
        for period in (self.alpha_period_us, self.cut_period_us, self.increase_period_us):
            within("period us", period, 0.001, 1e9)
        within("minimum rate", self.min_rate_bits_per_s, 1, 1e13)


# -- counters ------------------------------------------------------------------------------------

Eight = tuple[int, ...]
_ZEROS = (0,) * 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NicCounters:
    """Everything one NIC port and its host count. Tuples have one number per priority 0..7.

    Bytes are frames with FCS. PFC frames are counted in `pfc_*` only, once for each priority that
    they name; `pause_*_frames` are the frames, 802.3x included. Pauses of priorities on which the
    NIC has PFC off are received and counted but not obeyed. A NIC sends pauses, and discards
    (`rx_discards`, counted in `rx_packets` too), only while its host is slow (ReceiveBuffer).
    """

    rx_packets: Eight
    tx_packets: Eight
    rx_bytes: Eight
    tx_bytes: Eight
    pfc_rx_frames: Eight
    pfc_tx_frames: Eight
    pfc_rx_pause_us: Eight
    pfc_tx_pause_us: Eight = _ZEROS
    pfc_rx_transitions: Eight
    rx_discards: Eight = _ZEROS
    pause_rx_frames: int = 0
    pause_tx_frames: int = 0
    link_pause_rx_frames: int = 0
    link_pause_tx_frames: int = 0
    link_rx_pause_us: int = 0
    link_tx_pause_us: int = 0
    link_rx_transitions: int = 0
    np_ecn_marked: int
    np_cnp_sent: int
    rp_cnp_handled: int
    rp_cnp_ignored: int
    out_of_sequence: int
    packet_seq_err: int
    local_ack_timeout_err: int
    duplicate_request: int
    rnr_nak_retry_err: int = 0
    implied_nak_seq_err: int
    udp_in_datagrams: int
    udp_rcvbuf_errors: int
    udp_in_errors: int
    udp_out_datagrams: int
    ip_reasm_fails: int
    ip_reasm_oks: int
    ip_reasm_reqds: int
    ip_in_receives: int
    ip_in_bytes: int  # of frames without their FCS, as Linux counts
    ip_out_packets: int
    ip_out_bytes: int
    ip_in_ce: int = 0
    ip_in_ect0: int = 0
    tunnel_in: int = 0  # outer packets of tunnels between hosts, which are in no other counter
    tunnel_out: int = 0
    rx_crc_errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounters:
    """One egress queue. Bytes are frames with FCS, without preamble and gap.

    `dropped_*` holds every drop of a packet bound for this queue, wherever it happened; of them,
    `tail_dropped_packets` at its limit and `wred_dropped_packets`. `peak_cells` is the longest the
    queue ever was; `lossy_cells` is kept with dynamic limits only.
    """

    forwarded_packets: int
    forwarded_bytes: int
    dropped_packets: int
    dropped_bytes: int
    length_packets: int
    length_cells: int
    marked_packets: int
    tail_dropped_packets: int
    wred_dropped_packets: int
    peak_cells: int
    lossy_cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortDrops:
    """Drops of a port by place; each packet is counted at one port, in one of these.

    - `input_buffer_drops`: arrived here, no shared buffer left.
    - `headroom_drops`: arrived here, headroom overrun.
    - `output_buffer_drops`: bound for here, at the limit of its egress queue.
    - `wred_drops`, `link_down_drops`: bound for here. (`ecn_marked` are no drops.)
    - `ttl_drops`, `no_route_drops`, `crc_errors` (corrupted on the wire): arrived here; they are in
      no queue's drops.
    - `watchdog_drops`: drained from a queue that a guard shut here, bound for it, or come in
      here with its priority.
    """

    input_buffer_drops: int
    headroom_drops: int
    output_buffer_drops: int
    wred_drops: int
    ecn_marked: int
    link_down_drops: int
    ttl_drops: int = 0
    no_route_drops: int = 0
    watchdog_drops: int = 0
    crc_errors: int = 0

    @property
    def input_drops(self) -> int:
        """Arrived here and refused by the memory: no shared buffer, or headroom overrun."""
        return self.input_buffer_drops + self.headroom_drops


class PfcCounters(NamedTuple):
    """PFC frames of one priority of a switch port: a frame counts for each priority that it names.

    In ps: how long received frames held the priority; how long pauses that were sent were in force.
    """

    rx_frames: int
    tx_frames: int
    rx_paused_ps: int = 0
    tx_paused_ps: int = 0


class PortCounters(NamedTuple):
    """Frames of a switch port, without PFC frames; bytes with FCS."""

    rx_packets: int
    rx_bytes: int
    tx_packets: int
    tx_bytes: int
