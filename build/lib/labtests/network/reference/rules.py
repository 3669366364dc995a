"""How each kind of reference check is compared.

The rules are those that came with the data: trust A must be within its tolerance, B within its own,
C is shown. Deterministic runs (PFC alone) are made once; with random marking or loss, the mean over
several seeds is taken. Go-back-N and go-back-0 are held against their closed forms, since a
reference run is one sample of a random loss. Closed forms are computed with the run's parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from statistics import fmean
from typing import Any

from labtests.core.errors import LabError
from labtests.network.cases import Figures
from labtests.network.reference import formulas
from labtests.network.reference.comparing import GBIT_TO_BYTES, Comparison, ReferenceRow
from labtests.network.reference.hpcc import (
    DEFAULTS,
    PAYLOAD_BYTES,
    RP_DEFAULTS,
    WIRE_BYTES,
    gbit_per_s,
)
from labtests.network.reference.judging import ValidationRow
from labtests.network.reference.other_simulators import HTSIM_HEADER_BYTES, packets_of, tree_ports


def judge(comparison: Comparison, row: Mapping[str, Any]) -> ValidationRow:
    """One check of checks.json. Raises LabError when its kind is not known."""
    rule = _RULES.get(kind(row))
    if rule is None:
        known = ", ".join(_RULES)
        raise LabError(
            f"check {row['id']}: no rule of comparison for this kind\n"
            f"  remedy: begin its id, or its file, with one of {known} and an underscore"
        )
    found = comparison.row(row)
    try:
        return rule(found)
    except (KeyError, TypeError, IndexError) as error:
        raise LabError(f"check {row['id']}: expected, or params, not understood: {error!r}") from (
            error
        )


def kind(row: Mapping[str, Any]) -> str:
    """The kind of a check by its id, or else by its file."""
    for text in (str(row["id"]).removeprefix("PFC."), PurePath(str(row.get("file", ""))).name):
        word = text.split("_")[0]
        if word in _RULES:
            return word
    return ""


def _total(figures: Figures) -> float:
    return figures.total_goodput_gbit_per_s


def _queue_mean(figures: Figures) -> float:
    return figures.queues[0].mean_bytes


def _median(figures: Figures) -> float:
    return figures.queues[0].percentile_bytes["50"]


def pfc_only(row: ReferenceRow) -> ValidationRow:
    """i: everything is carried, shares are equal, the queue stands at the dynamic threshold."""
    (figures,) = row.figures(1)
    if row.part == "jain":
        return row.check.between(figures.fairness, (0.9999, 1.0 + 1e-9), row.value)
    if row.part == "queue":
        closed = row.threshold()
        slack = len(row.senders) * row.headroom_bound()
        bounds = ((1 - row.tolerance(0.002)) * closed, closed + slack)
        return row.check.between(_median(figures), bounds, row.value)
    if row.part == "pauses":
        ports = {f"n{node}" for node in row.senders}
        sent = [p.sent_frames for p in figures.pauses if p.port in ports]
        per_ms = fmean(sent) / 2 / figures.duration_ms if sent else 0.0  # xoff, not xon
        return row.check.near(per_ms, row.value, row.tolerance(0.15))
    carried = min(row.rate, row.sending_rate) * 8e-9 * PAYLOAD_BYTES / WIRE_BYTES
    measured = _total(figures)
    return row.check.near(measured, row.farther(measured, carried), row.tolerance(0.001))


def dcqcn(row: ReferenceRow) -> ValidationRow:
    """ii, ii_b: means over seeds within what the reference's seeds span, widened."""
    runs = row.figures(max(3, len(row.comparison.data.runs_of(row.case))))
    if row.part == "jain":
        return row.check.between(min(f.fairness for f in runs), (0.99, 1.0), row.value)
    if row.part == "peak":
        told = row.expected if isinstance(row.expected, Sequence) else [row.expected]
        peak, share = fmean(f.queues[0].peak_bytes for f in runs), row.tolerance(0.15)
        return row.check.between(
            peak, ((1 - share) * min(told), (1 + share) * max(told)), fmean(told)
        )
    measured = _queue_mean if row.part == "queue" else _total
    share = row.tolerance(0.15 if row.part == "queue" else 0.03)
    return row.check.near(fmean(measured(f) for f in runs), row.value, share)


def small_buffer(row: ReferenceRow) -> ValidationRow:
    """iii_b: drops when the start overshoots, none later than 2 ms.

    2:1: what the peak of an unlimited queue has above the limit, in frames, and that peak within
    15 % of the reference's. More senders: within a factor of 2.
    """
    figures = row.figures(3)
    drops, expected = fmean(f.dropped_frames for f in figures), row.value
    early = row.comparison.beginning(row.case, 2.0)
    if early.dropped_frames != figures[0].dropped_frames:
        late = figures[0].dropped_frames - early.dropped_frames
        return row.check.between(late, (0, 0), 0.0)
    if len(row.senders) > 2:
        return row.check.between(drops, (expected / 2, expected * 2), expected)
    limit, share = row.parameters["egress_tail_drop_bytes"], row.tolerance(0.15)
    unlimited = row.figures(3, egress_tail_drop_bytes=None)
    peak = fmean(f.queues[0].peak_bytes for f in unlimited)
    above = max(0.0, peak - limit) / WIRE_BYTES
    if expected and abs(peak / (limit + expected * WIRE_BYTES) - 1) > share:
        return row.check.near(peak, limit + expected * WIRE_BYTES, share)
    frames = max(1.0, share * above)
    return row.check.between(drops, (above - frames, above + frames), expected)


def mixed(row: ReferenceRow) -> ValidationRow:
    """iv: with a closed form, the flows that obey sit at exactly their smallest rate.

    Without one, within 20 % of what is expected; the flow farthest from it is shown.
    """
    run_ = DEFAULTS | row.parameters
    obeying = [n for n, f in enumerate(run_["flows"]) if f[0] not in run_["dcqcn_off_hosts"]]
    exact = row.row.get("closed_form") is not None
    figures = row.figures(1 if exact else 3)
    rates = [fmean(f.flows[n].goodput_gbit_per_s for f in figures) for n in obeying]
    if not exact:
        told = [float(row.expected[n]) for n in obeying]
        share = row.tolerance(0.2)
        pairs = list(zip(rates, told, strict=True))
        rate, expected = max(pairs, key=lambda pair: abs(pair[0] - pair[1]) / pair[1])
        return row.check.near(rate, expected, share)
    least = gbit_per_s((RP_DEFAULTS | run_["rp"])["MIN_RATE"])
    closed = least * PAYLOAD_BYTES / WIRE_BYTES
    frame = PAYLOAD_BYTES * 8e-6 / (figures[0].duration_ms - figures[0].warmup_ms)
    rate = max(rates, key=lambda rate: abs(rate - closed))
    return row.check.near(rate, closed, frame / closed)


def sharing(row: ReferenceRow) -> ValidationRow:
    """v: shares of every flow; the one farthest from what is expected is shown."""
    random = bool(row.parameters.get("ecn"))
    figures = row.figures(5 if random else 1)
    rates = [
        fmean(f.flows[number].goodput_gbit_per_s for f in figures)
        for number in range(len(row.expected))
    ]
    pairs = list(zip(rates, row.expected, strict=True))
    worst = max(pairs, key=lambda pair: abs(pair[0] / pair[1] - 1))
    judged = row.check.near(worst[0], worst[1], row.tolerance(0.20 if random else 0.01))
    if "parkinglot" in row.case and random and judged.verdict == "pass":
        fairness = _jain(rates)
        if fairness < 0.98:
            return row.check.between(fairness, (0.98, 1.0), 1.0)
    return judged


def _jain(rates: Sequence[float]) -> float:
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def threshold(row: ReferenceRow) -> ValidationRow:
    """vi: the queue stands at N (T + r). Expected: the ratio to that, or bytes."""
    (figures,) = row.figures(1)
    measured, share = _median(figures), row.tolerance(0.02)
    if row.value > 10:
        return row.check.near(measured, row.farther(measured, row.threshold()), share)
    return row.check.near(measured / row.threshold(), row.value, share)


def headroom(row: ReferenceRow) -> ValidationRow:
    """vii: never more than the bound; two senders in step: R d + 0.5 .. 2 frames."""
    (figures,) = row.figures(1)
    used = max(max(m.peak_headroom_bytes.values(), default=0) for m in figures.memory)
    low = row.rate * row.delay_s + 0.5 * WIRE_BYTES if len(row.senders) == 2 else 0.0
    return row.check.between(used, (low, round(row.headroom_bound())), row.value)


def fixed_point(row: ReferenceRow) -> ValidationRow:
    """viii, zhu: the mean queue, over as many seeds as the reference took.

    Trust A: against the run and the fluid model's fixed point, whichever is farther.
    """
    seeds = 1 if row.case in row.comparison.data.runs else 3
    measured = row.mean(seeds, _queue_mean)
    closed = row.row.get("closed_form") if row.check.trust == "A" else None
    return row.check.near(measured, row.farther(measured, closed), row.tolerance(0.15))


def go_back_n(row: ReferenceRow) -> ValidationRow:
    """ix: the mean over seeds against the closed form with lost NACKs and retransmissions.

    Trust A: against the reference run too, whichever is farther.
    """
    run_ = DEFAULTS | row.parameters
    p, k = row.loss(), row.frames_per_loss()
    if run_["go_back_zero"]:
        frames = -(-run_["chunk_bytes"] // PAYLOAD_BYTES)
        closed, share, seeds = formulas.go_back_0_efficiency(p, k, frames), 0.05, 10
        if closed < 0.01:
            return _rare(row, closed, frames)
    else:
        repeat = run_["nack_interval_us"] * 1e-6 * row.rate / WIRE_BYTES
        closed = formulas.go_back_n_efficiency(p, k, repeat)
        share, seeds = (0.03, 3) if row.check.trust == "A" else (0.06, 5)
    measured = row.mean(seeds, _total) / row.line_rate
    expected = row.farther(measured, closed) if row.check.trust == "A" else closed
    return row.check.near(measured, expected, row.tolerance(share))


def _rare(row: ReferenceRow, closed: float, frames: int) -> ValidationRow:
    """So few messages arrive that chance exceeds 5 %: within three standard errors of a count."""
    runs = row.figures(60)
    each = row.rate * runs[0].duration_ms / 1e3 / WIRE_BYTES / frames
    expected = closed * each * len(runs)
    arrived = sum(f.flows[0].delivered_bytes for f in runs) / PAYLOAD_BYTES / frames
    return row.check.near(arrived / each / len(runs), closed, 3 / expected**0.5)


def fat_tree(row: ReferenceRow) -> ValidationRow:
    """x: an equal share per ingress port; no ingress holds more than xoff + 2 R d + 2 frames.

    Flows from the target's own edge switch are compared one by one, those that come from elsewhere
    together: which of their equal paths each one takes is chance.
    """
    (figures,) = row.figures(1)
    run_ = row.parameters
    packet = int(run_.get("mtu", 1000)) + HTSIM_HEADER_BYTES
    xoff, delay_s = packets_of(run_)["xoff"] * packet, 1e-6 * run_["hop_latency_us"]
    rate = run_["rate_mbps"] / 1000 * GBIT_TO_BYTES
    bound = formulas.headroom_bound_bytes(rate, delay_s, packet)
    used = max(max(m.peak_headroom_bytes.values(), default=0) for m in figures.memory)
    told = row.expected if isinstance(row.expected[0], Sequence) else [row.expected]
    if used > bound:
        return row.check.between(xoff + used, (0, xoff + bound), told[-1])
    rates = [flow.goodput_gbit_per_s for flow in figures.flows]
    near = tree_ports(run_) // 2 - 1
    pairs = [*zip(rates[:near], told[0][:near], strict=True)]
    pairs.append((sum(rates[near:]), sum(told[0][near:])))
    worst = max((p for p in pairs if p[1]), key=lambda p: abs(p[0] / p[1] - 1))
    return row.check.near(worst[0], worst[1], row.tolerance(0.02))


_RULES: Mapping[str, Callable[[ReferenceRow], ValidationRow]] = {
    "i": pfc_only,
    "ii": dcqcn,
    "iii": small_buffer,
    "iv": mixed,
    "v": sharing,
    "vi": threshold,
    "vii": headroom,
    "viii": fixed_point,
    "ix": go_back_n,
    "zhu": fixed_point,
    "htsim": fat_tree,
}
