"""DCQCN reaction points with a clock of their own, as two public ns-3 models have them.

Both keep alpha, the rate R and the target T of a flow; a cut is R := max(min, R (1 - alpha / 2)).
An increase in stage s < F (fast recovery) leaves T, at s = F adds `ai_rate`, beyond it `hai_rate`;
then R := (R + T) / 2. T is never above the line rate. Once a flow has had a CNP it stays limited.

    timers (HPCC's ns-3 fork; close to ConnectX)
        first CNP    alpha := 1; T := R := line rate; the alpha timer starts, the cut timer 1 ns
                     behind it
        alpha timer  alpha := (1 - g) alpha + g [a CNP came since]
        cut timer    if a CNP came since: T := R (if clamp, or if s > 0); cut; s := 0; the increase
                     timer starts anew
        increase     every period: an increase in stage s, then s := s + 1
    paper (Zhu et al., SIGCOMM 2015; ns3-rdma)
        CNP          alpha := (1 - g) alpha + g (the first: alpha := 1, T := R := line rate);
                     T := R (if clamp, or if a stage > 0); cut; both stages := 0; timers and byte
                     counter start anew
        alpha timer  alpha := (1 - g) alpha
        increase     every period, and every `byte_reset` bytes, each with a stage of its own:
                     max(stages) < F: recovery; min(stages) >= F: T += (min - F + 1) hai_rate;
                     else T += ai_rate. The stages are those before the increase

Timers are evaluated when the flow sends or receives a CNP: in between nobody could see them, since
the time of the next frame was set by the rate at which the last one was sent (as in both models).
"""

from labtests.network.compiled import compiled, inlined
from labtests.network.rows import clock_at, flow_at, host_at
from labtests.network.tables import NEVER, PAPER, PS_PER_NS, State


@compiled
def cut_rate(t: State, f: int, now: int) -> None:
    """One rate reduction at `now`; increases start anew."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    if host.clamp or flow.time_stage > 0 or flow.byte_stage > 0:
        flow.target_rate = flow.rate
    flow.rate = max(host.min_rate, flow.rate * (1.0 - flow.alpha / 2.0))
    flow.time_stage = 0
    flow.byte_stage = 0
    flow.byte_count = 0
    flow.next_increase = now + host.time_reset_ps


@compiled
def raise_rate(t: State, f: int) -> None:
    """One increase, by the stages that were reached before it."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    if host.form == PAPER and min(flow.time_stage, flow.byte_stage) >= host.threshold:
        steps = min(flow.time_stage, flow.byte_stage) - host.threshold + 1
        flow.target_rate += steps * host.hai_rate
    elif host.form != PAPER and flow.time_stage > host.threshold:
        flow.target_rate += host.hai_rate
    elif max(flow.time_stage, flow.byte_stage) >= host.threshold:
        flow.target_rate += host.ai_rate
    flow.target_rate = min(flow.target_rate, host.max_rate)
    flow.rate = (flow.rate + flow.target_rate) / 2.0


@compiled
def run_timers(t: State, f: int) -> None:
    """Every timer of flow f that is due has been served, in the order of their times."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    now = clock_at(t, 0).now
    while True:
        due = min(flow.next_alpha, flow.next_cut, flow.next_increase)
        if due > now:
            return
        if due == flow.next_alpha:
            flow.next_alpha += host.alpha_period_ps
            flow.alpha *= 1.0 - host.gain
            if flow.cnp_seen:
                flow.alpha += host.gain
                flow.cnp_seen = 0
        elif due == flow.next_cut:
            flow.next_cut += host.monitor_ps
            if flow.cut_pending:
                flow.cut_pending = 0
                cut_rate(t, f, due)
        else:
            flow.next_increase += host.time_reset_ps
            raise_rate(t, f)
            flow.time_stage += 1


@compiled
def react(t: State, f: int) -> None:
    """The reaction point of flow f has received a CNP."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    now = clock_at(t, 0).now
    first = not flow.limited
    if first:
        flow.limited = 1
        flow.rate = flow.target_rate = host.max_rate
        flow.alpha = 1.0
        flow.next_alpha = now + host.alpha_period_ps
        flow.next_cut = now + host.monitor_ps + PS_PER_NS
        flow.next_increase = NEVER
    run_timers(t, f)
    if host.form == PAPER:
        if not first:
            flow.alpha = (1.0 - host.gain) * flow.alpha + host.gain
        flow.next_alpha = now + host.alpha_period_ps
        flow.next_cut = NEVER
        cut_rate(t, f, now)
    else:
        flow.cnp_seen = 0 if first else 1
        flow.cut_pending = 1


@inlined
def count_sent(t: State, f: int, wire_bytes: int) -> None:
    """The byte counter of the paper's form: `wire_bytes` of flow f are on their way."""
    flow = flow_at(t, f)
    host = host_at(t, flow.source)
    if host.form != PAPER or host.byte_reset == 0:
        return
    flow.byte_count += wire_bytes
    while flow.byte_count >= host.byte_reset:
        flow.byte_count -= host.byte_reset
        raise_rate(t, f)
        flow.byte_stage += 1
