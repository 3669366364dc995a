"""Sizes of flows: the published distributions (distributions.json has their sources), or one's own.

A distribution is a list of points (bytes, share of flows up to that size), straight in between.
"""

import json
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

QUANTILES = 10_000
"""So many sizes stand for all of them where a mean is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeDistribution:
    """Points of a cumulative distribution: bytes and shares, both rising; the last share is 1."""

    sizes_bytes: tuple[float, ...]
    shares: tuple[float, ...]

    def quantile(self, share: float) -> int:
        """The size in bytes that this share of the flows does not exceed; at least 1."""
        above = max(1, bisect_left(self.shares, share))
        low, high = self.shares[above - 1], self.shares[above]
        part = (share - low) / (high - low) if high > low else 1.0
        first, last = self.sizes_bytes[above - 1], self.sizes_bytes[above]
        return max(1, round(first + part * (last - first)))


@lru_cache
def mean_wire_bytes(sizes: SizeDistribution, mtu_bytes: int, overhead_bytes: int) -> float:
    """Of a flow on the wire, with so many bytes around each packet's payload."""
    typical = (sizes.quantile((n + 0.5) / QUANTILES) for n in range(QUANTILES))
    return sum(s + -(-s // mtu_bytes) * overhead_bytes for s in typical) / QUANTILES


@lru_cache
def published() -> dict[str, SizeDistribution]:
    """Those that come with the network, by name."""
    text = resources.files(__package__).joinpath("distributions.json").read_text(encoding="utf-8")
    return {
        name: SizeDistribution(
            sizes_bytes=tuple(told["bytes"]), shares=tuple(p / 100 for p in told["percent"])
        )
        for name, told in json.loads(text).items()
    }


def constant(size_bytes: int) -> SizeDistribution:
    """All flows have this size."""
    return SizeDistribution(sizes_bytes=(size_bytes, size_bytes), shares=(0.0, 1.0))
