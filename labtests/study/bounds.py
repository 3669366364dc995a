"""Between what bounds settings are searched: those of document 004 (S22 to S25) and of the form.

Kmin from one cell to the bandwidth-delay product of the slowest host's link; Kmax from there to
what is tolerable: a queue that takes 80 us at that rate. alpha and headroom as a profile's own
rules allow: the headroom formula, the inequality of S22, marks before pauses, alpha's timer above
the interval of CNPs; and an egress queue that two ports fill has to be able to reach Kmax.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from labtests.core.errors import WrongOption
from labtests.core.headroom import FRAMING_BYTES, FULL_FRAME_BYTES
from labtests.network.cases.form import CaseFile
from labtests.network.wiring import NS_PER_M
from labtests.profile.derived import cell_bytes, headroom_by_rule
from labtests.profile.form import ProfileFile
from labtests.profile.sense import remarks
from labtests.study.goals import LATENCY_US

KMIN, KMAX, PMAX = (f"profile.ecn.0.{n}" for n in ("kmin_bytes", "kmax_bytes", "pmax_percent"))
ALPHA, HEADROOM = "profile.buffer.ingress.alpha", "profile.buffer.headroom_cells"
INCREASE = "profile.dcqcn.reaction_point.increase_timer_us"
CUT = "profile.dcqcn.reaction_point.cut_interval_us"
CNP = "profile.dcqcn.notification_point.cnp_interval_us"
SHORT = {"kmin": KMIN, "kmax": KMAX, "pmax": PMAX, "alpha": ALPHA, "headroom": HEADROOM}
TIMERS = {"increase": INCREASE, "cut": CUT, "cnp": CNP}
STRICT_WARNINGS = frozenset({"ecn-above-pfc", "alpha-decays-between-cnps"})
MOST_HOPS = 4


@dataclass(frozen=True, slots=True)
class SearchRange:
    """What a variable may be; whole numbers unless `powers` of two. Searched on a log scale."""

    low: float
    high: float
    powers: bool = False


def round_trip_us(case: CaseFile, profile: ProfileFile) -> float:
    """The expected round trip: twice the longest cables of two hosts and two trunks, and the time
    of a frame of the profile's MTU (at least 1500 B) at the slowest rate for each hop."""
    host, trunk = (
        max((_delay_us(link) for link in case.links if _is_host(case, link) is of), default=0.0)
        for of in (True, False)
    )
    frame_bytes = max(FULL_FRAME_BYTES, (profile.mtu_bytes or 0) + FRAMING_BYTES)
    frame_us = frame_bytes * 8 / (rate_gbit_per_s(case) * 1e3)
    return 2 * (2 * host + 2 * trunk) + MOST_HOPS * frame_us


def _is_host(case: CaseFile, link: Any) -> bool:
    return any(name in case.hosts for name in link.between)


def _delay_us(link: Any) -> float:
    metres = link.length_m
    return float(link.delay_us or 0) if metres is None else float(metres * NS_PER_M / 1000)


def rate_gbit_per_s(case: CaseFile) -> float:
    """Of the slowest host's link."""
    return min(link.rate_gbit_per_s for link in case.links if _is_host(case, link))


def ranges(
    case: CaseFile, profile: ProfileFile, *, timers: bool, given: Mapping[str, tuple[float, float]]
) -> dict[str, SearchRange]:
    """Of each variable by its dotted key. Raises WrongOption: bounds that contradict."""
    cell, bytes_per_us = cell_bytes(profile), rate_gbit_per_s(case) * 125
    product = max(2 * cell, round(bytes_per_us * round_trip_us(case, profile)))
    found = {
        KMIN: SearchRange(cell, product),
        KMAX: SearchRange(product + cell, round(bytes_per_us * LATENCY_US)),
        PMAX: SearchRange(1, 100),
    }
    if profile.buffer is not None and profile.buffer.ingress is not None:
        least = headroom_by_rule(profile, profile.buffer)
        found[ALPHA] = SearchRange(1 / 64, 4, powers=True)
        found[HEADROOM] = SearchRange(least, 2 * least)
    if timers:
        found |= {INCREASE: SearchRange(55, 1500), CUT: SearchRange(4, 55)}
        found[CNP] = SearchRange(4, 50)
    for name, (low, high) in given.items():
        key = {**SHORT, **TIMERS}[name]
        if key not in found:
            raise WrongOption(f"--bound {name}: this profile has no such variable")
        found[key] = _within(name, low, high, powers=found[key].powers)
    for name, key in {**SHORT, **TIMERS}.items():
        if key in found and found[key].low > found[key].high:
            raise WrongOption(
                f"{name}: from {found[key].low:.9g} to {found[key].high:.9g}: nothing is in "
                "between\n"
                f"  remedy: --bound {name}=LOW:HIGH"
            )
    return found


def _within(name: str, low: float, high: float, *, powers: bool) -> SearchRange:
    """The least and the largest value that can be searched. Raises WrongOption: there is none."""
    if powers:
        least, most = 2.0 ** math.ceil(math.log2(low)), 2.0 ** math.floor(math.log2(high))
    else:
        least, most = float(math.ceil(low)), float(math.floor(high))
    if least > most:
        kind = "power of two" if powers else "whole number"
        raise WrongOption(f"--bound {name}: from {low:.9g} to {high:.9g}: no {kind} is in between")
    return SearchRange(least, most, powers=powers)


def anywhere(ranges: Mapping[str, SearchRange], many: int) -> Iterator[dict[str, float]]:
    """Settings of all sorts: all combinations of the ends of the ranges, then random ones."""
    dice = random.Random(1)
    shares = [*product((0.0, 1.0), repeat=len(ranges))]
    shares += [tuple(dice.random() for _ in ranges) for _ in range(many)]
    for each in shares:
        yield {key: _at(of, share) for (key, of), share in zip(ranges.items(), each, strict=True)}


def _at(of: SearchRange, share: float) -> float:
    """The value at a share 0..1 of a range, on a log scale."""
    exponent = math.log2(of.low) + share * math.log2(of.high / of.low)
    return 2.0 ** round(exponent) if of.powers else round(2.0**exponent)


def outside(ranges: Mapping[str, SearchRange], values: Mapping[str, float]) -> Sequence[str]:
    """The bounds that a setting does not keep."""
    return [
        f"outside-of-bounds: {key.rsplit('.', 1)[-1]} {values[key]:g}, "
        f"not in {of.low:.9g} to {of.high:.9g}"
        for key, of in ranges.items()
        if key in values and not of.low <= values[key] <= of.high
    ]


def broken(case: CaseFile, profile: ProfileFile) -> Sequence[str]:
    """The rules that a setting breaks."""
    found = [
        f"{remark.rule}: {remark.problem}"
        for remark in remarks(profile)
        if remark.severity == "error" or remark.rule in STRICT_WARNINGS
    ]
    memory, curve = case.switch.memory, profile.ecn[0]
    if memory is not None and memory.xoff_bytes is None:
        reach = 2 * memory.alpha * memory.total_bytes / (1 + 2 * memory.alpha)
        if reach < curve.kmax_bytes:
            problem = f"two ports fill a queue up to {reach:.0f} B, below Kmax {curve.kmax_bytes} B"
            found.append(f"kmax-out-of-reach: {problem}")
    product = rate_gbit_per_s(case) * 125 * round_trip_us(case, profile)
    if curve.kmin_bytes > max(product, 2 * cell_bytes(profile)):
        found.append(f"kmin-above-product: {curve.kmin_bytes} B, above {product:.0f} B (S25)")
    tolerable = rate_gbit_per_s(case) * 125 * LATENCY_US
    if curve.kmax_bytes > tolerable:
        found.append(
            f"kmax-intolerable: {curve.kmax_bytes} B, above {tolerable:.0f} B: {LATENCY_US:g} us"
        )
    return found
