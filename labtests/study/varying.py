"""The points of a sweep: a value for each key that varies."""

import json
import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from labtests.study.form import SweepFile, VaryPart

Values = dict[str, Any]


def count(sweep: SweepFile) -> int:
    """How many points are asked for, patterns and seeds not counted."""
    if sweep.method in ("random", "latin-hypercube"):
        return sweep.points or 0
    sizes = [_size(part) for part in sweep.vary.values()]
    return math.prod(sizes) if sweep.method == "grid" else sizes[0]


def _size(part: VaryPart) -> int:
    return len(part.values) if part.values is not None else part.steps or 0


def points(sweep: SweepFile) -> Iterator[Values]:
    """All points, each once: between two integers several come out the same."""
    seen = set()
    for values in _all_points(sweep):
        told = json.dumps(values, sort_keys=True)
        if told not in seen:
            seen.add(told)
            yield values


def _all_points(sweep: SweepFile) -> Iterator[Values]:
    """`list` takes the n-th value of every key together; `latin-hypercube` is that of
    scipy.stats.qmc, which puts one point into each of N slices of every key."""
    keys = list(sweep.vary)
    if sweep.method == "grid":
        for values in product(*(listed(part) for part in sweep.vary.values())):
            yield dict(zip(keys, values, strict=True))
    elif sweep.method == "list":
        for values in zip(*(listed(part) for part in sweep.vary.values()), strict=True):
            yield dict(zip(keys, values, strict=True))
    else:
        for row in _shares(sweep):
            yield {key: at(sweep.vary[key], share) for key, share in zip(keys, row, strict=True)}


def _shares(sweep: SweepFile) -> Any:
    shape = (sweep.points or 0, len(sweep.vary))
    if sweep.method == "random":
        return np.random.default_rng(sweep.sampling_seed).random(shape)
    from scipy.stats import qmc  # half a second, and seldom wanted

    return qmc.LatinHypercube(shape[1], rng=sweep.sampling_seed).random(shape[0])


def listed(part: VaryPart) -> list[Any]:
    """The values of one key in a grid."""
    if part.values is not None:
        return part.values
    many = part.steps or 1
    return [at(part, number / (many - 1) if many > 1 else 0.0) for number in range(many)]


def at(part: VaryPart, share: float) -> Any:
    """The value at a share 0..1 of what a key may be."""
    if part.values is not None:
        return part.values[min(int(share * len(part.values)), len(part.values) - 1)]
    low, high = float(part.low or 0), float(part.high or 0)
    value = low * (high / low) ** share if part.scale == "log" else low + (high - low) * share
    return round(value) if part.whole else float(f"{value:.12g}")
