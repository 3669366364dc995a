"""DCQCN in the ConnectX form: reaction point (RP) of the sender, notification point (NP) of the
receiver. Behind the seam congestion.py. Other forms of the reaction point: reaction.py.

Parameters have their sysfs names (`/sys/class/net/<if>/ecn/roce_rp|roce_np`), units and defaults in
settings.py. Where NVIDIA's one-line descriptions leave room, this is the reading used:

    alpha      kept as a share 0..1; every dce_tcp_rtt us:
               alpha := keep * alpha + (1 - keep) * [a CNP came]
               with keep = dce_tcp_g / 1024 (1019: the share that is kept; the other reading would
               forget alpha within two us)
    first CNP  the limiter is set: target := rate := rate_to_set_on_first_cnp (0: the port's speed),
               alpha := initial_alpha_value / 1024, then the cut
    CNP        at most every rate_reduce_monitor_period us:
               target := rate, if clamp_tgt_rate, or if clamp_tgt_rate_after_time_inc and the timer
               has increased the rate since the last cut
               rate := rate * max(1 - alpha * 1024 / 2**rpg_gd, rpg_min_dec_fac / 100), >=
               rpg_min_rate the stages, the timer and the byte counter start anew
    increase   each rpg_time_reset us (time stage) and each rpg_byte_reset kilobytes (byte stage):
               both stages > rpg_threshold: target += rpg_hai_rate; one of them: target +=
               rpg_ai_rate; none (fast recovery): target stays;  then rate := (rate + target) / 2
    release    within 1 Mb/s of rpg_max_rate (0: the port's speed) the limiter is taken off

rpg_byte_reset counts kilobytes here although NVIDIA's text says bytes: older texts give its default
as 150, 802.1Qau's as 150 000 bytes; and with 32 767 bytes the increases at 100G (one per 5 us)
outrun the cuts, so that two senders drop, where with kilobytes 2 to 8 senders at 10G to 100G fill
the link (97 % and more, two seeds each) without loss. Chosen for that outcome: an inference.

Timers are evaluated when the flow sends, receives a CNP or wakes; between those moments nothing
could see the difference.
"""

from labtests.network.arithmetic import power
from labtests.network.compiled import compiled, inlined
from labtests.network.rows import clock_at, flow_at, host_at
from labtests.network.tables import State

FIXED_POINT = 1024.0
RELEASE_MARGIN_BITS_PER_S = 1e6


@compiled
def update_alpha(t: State, f: int) -> None:
    """Alpha as of now: one CNP-carrying interval at most, then intervals without."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    ticks = (clock_at(t, 0).now - flow.alpha_at) // host.alpha_period_ps
    if ticks < 1:
        return
    keep = host.alpha_keep / FIXED_POINT
    flow.alpha_at += ticks * host.alpha_period_ps
    if flow.cnp_seen:
        flow.alpha = keep * flow.alpha + (1.0 - keep)
        flow.cnp_seen = 0
        ticks -= 1
    flow.alpha *= power(keep, ticks)


@compiled
def increase(t: State, f: int) -> None:
    """One step up: recovery, additive or hyper increase."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    if min(flow.time_stage, flow.byte_stage) > host.threshold:
        flow.target_rate += host.hai_rate
    elif max(flow.time_stage, flow.byte_stage) > host.threshold:
        flow.target_rate += host.ai_rate
    flow.target_rate = min(flow.target_rate, host.max_rate)
    flow.rate = (flow.rate + flow.target_rate) / 2.0
    if flow.rate >= host.max_rate - RELEASE_MARGIN_BITS_PER_S:
        flow.limited = 0


@inlined
def advance_timer(t: State, f: int) -> None:
    """Take the time-based increases that are due."""
    flow = flow_at(t, f)
    while flow.limited and flow.next_increase <= clock_at(t, 0).now:
        flow.next_increase += host_at(t, flow.source).time_reset_ps
        flow.time_stage += 1
        flow.time_increased = 1
        increase(t, f)


@compiled
def cut(t: State, f: int) -> None:
    """One rate reduction."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    if host.clamp or (host.clamp_after_time and flow.time_increased):
        flow.target_rate = flow.rate
    factor = 1.0 - flow.alpha * FIXED_POINT / (1 << host.gd)
    factor = max(factor, host.min_dec_percent / 100.0)
    flow.rate = max(flow.rate * factor, host.min_rate)
    flow.cut_at = clock_at(t, 0).now
    flow.next_increase = clock_at(t, 0).now + host.time_reset_ps
    flow.time_stage = 0
    flow.byte_stage = 0
    flow.byte_count = 0
    flow.time_increased = 0


@compiled
def obey_cnp(t: State, f: int) -> None:
    """The reaction point of flow f has received a CNP."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    now = clock_at(t, 0).now
    advance_timer(t, f)
    if not flow.limited:
        flow.limited = 1
        flow.rate = host.first_rate if host.first_rate > 0.0 else host.max_rate
        flow.target_rate = flow.rate
        flow.alpha = host.initial_alpha / FIXED_POINT
        flow.alpha_at = now
        flow.time_increased = 0
        flow.cnp_seen = 1
        cut(t, f)
        return
    update_alpha(t, f)
    flow.cnp_seen = 1
    if now - flow.cut_at >= host.monitor_ps:
        cut(t, f)


@inlined
def count_frame(t: State, f: int, frame_bytes: int) -> None:
    """A frame of flow f starts: what time and bytes have made due has been done."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    advance_timer(t, f)
    flow.byte_count += frame_bytes
    while flow.limited and 0 < host.byte_reset <= flow.byte_count:
        flow.byte_count -= host.byte_reset
        flow.byte_stage += 1
        increase(t, f)
