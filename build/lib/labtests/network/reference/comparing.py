"""The checks against runs of public simulators: each check's runs as cases, measured once.

How each kind of check is judged: rules.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

from labtests.core.errors import LabError
from labtests.network.cases import Figures, run
from labtests.network.reference import formulas
from labtests.network.reference.hpcc import (
    PAYLOAD_BYTES,
    WIRE_BYTES,
    Run,
    gbit_per_s,
    headroom_bytes,
    microseconds,
)
from labtests.network.reference.judging import Check
from labtests.network.reference.reading import Reference
from labtests.network.reference.translation import translated

PART = re.compile(r"\.(jain|queue|pauses|peak)$")
PERCENT = re.compile(r"([0-9.]{1,20})\s{0,9}%")
GBIT_TO_BYTES = 1e9 / 8
ACK_BYTES = 60


def case_name(check: str) -> str:
    """The case, or run, that a check is about."""
    return PART.sub("", check.removeprefix("PFC."))


class Comparison:
    """Runs of cases, each made at most once."""

    def __init__(self, data: Reference) -> None:
        self.data = data
        self._measured = cache(self._measure)

    def row(self, row: Mapping[str, Any]) -> "ReferenceRow":
        """One check of checks.json. Raises LabError when it names no run."""
        name = str(row["id"])
        case, part = case_name(name), PART.search(name)
        if not self.data.runs_of(case):
            raise LabError(
                f"check {name}: there is no run {case} or {case}_s1\n"
                "  remedy: add the run with its params, or give the check params of its own"
            )
        check = Check(name=name, trust=row["trust"], quantity=str(row["quantity"]))
        return ReferenceRow(self, row, check, case, part[1] if part else "")

    def figures(self, case: str, seeds: int, **changes: Any) -> list[Figures]:
        """The figures of a case with as many seeds; `changes` to its parameters."""
        name = self.data.runs_of(case)[0]
        first = int(self.data.runs[name].get("seed", 1))
        told = tuple(sorted(changes.items()))
        return [self._measured(name, first + number, told) for number in range(seeds)]

    def beginning(self, case: str, duration_ms: float) -> Figures:
        """The first milliseconds of a case, with its first seed."""
        name = self.data.runs_of(case)[0]
        return run(self._case(name, self.data.runs[name], duration_ms))

    def _measure(self, name: str, seed: int, changes: tuple[tuple[str, Any], ...]) -> Figures:
        return run(self._case(name, self.data.runs[name] | dict(changes), None), seed=seed)

    def _case(self, name: str, parameters: Run, duration_ms: float | None) -> Any:
        try:
            return translated(name, parameters, duration_ms=duration_ms)
        except ValueError as error:
            raise LabError(f"reference {name}: {error}") from error


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """One check on its way to its verdict."""

    comparison: Comparison
    row: Mapping[str, Any]
    check: Check
    case: str
    part: str

    @property
    def expected(self) -> Any:
        """As the check has it: a number, or several."""
        return self.row["expected"]

    @property
    def value(self) -> float:
        """The expected value; of a mean with its bounds, the mean."""
        told = self.expected
        return float(told[0] if isinstance(told, Sequence) else told)

    @property
    def parameters(self) -> Run:
        """Of the check's first run."""
        data = self.comparison.data
        return data.runs[data.runs_of(self.case)[0]]

    @property
    def senders(self) -> tuple[int, ...]:
        """The hosts that send, each once."""
        return tuple(dict.fromkeys(flow[0] for flow in self.parameters["flows"]))

    @property
    def rate(self) -> float:
        """Of the first flow's last link, in bytes/s."""
        return self._bytes_per_s(self.link_of(self.parameters["flows"][0][1]))

    @property
    def sending_rate(self) -> float:
        """Of all senders' links together, in bytes/s."""
        return sum(self._bytes_per_s(self.link_of(node)) for node in self.senders)

    @property
    def delay_s(self) -> float:
        """The longest one of a sender's link."""
        return max(microseconds(self.link_of(node)[3]) for node in self.senders) * 1e-6

    def _bytes_per_s(self, link: Sequence[Any]) -> float:
        return gbit_per_s(link[2]) * GBIT_TO_BYTES

    def link_of(self, node: int) -> Sequence[Any]:
        """The link of a host."""
        links: Sequence[Sequence[Any]] = self.parameters["topology"]["links"]
        return next(link for link in links if node in link[:2])

    @property
    def share(self) -> float | None:
        """The first percentage of the tolerance that came with the check, as a share."""
        found = PERCENT.search(str(self.row.get("tolerance", "")))
        return float(found[1]) / 100 if found else None

    def tolerance(self, share: float) -> float:
        """The check's own tolerance, or this one."""
        return share if self.share is None else self.share

    def farther(self, measured: float, closed: float | None) -> float:
        """Of the reference's value and its closed form, the one farther from what was measured."""
        known = [self.value] + ([] if closed is None else [float(closed)])
        return max(known, key=lambda value: abs(measured / value - 1) if value else 0.0)

    def figures(self, seeds: int, **changes: Any) -> list[Figures]:
        """Of the check's case with as many seeds; `changes` to its parameters."""
        return self.comparison.figures(self.case, seeds, **changes)

    def mean(self, seeds: int, value: Callable[[Figures], float]) -> float:
        """Of a figure, over as many seeds."""
        return fmean(value(figures) for figures in self.figures(seeds))

    # -- closed forms with the run's parameters --

    @property
    def line_rate(self) -> float:
        """What the first flow's target can receive, in Gbit/s of payload."""
        return self.rate * 8e-9 * PAYLOAD_BYTES / WIRE_BYTES

    def threshold(self) -> float:
        """N (T + r) in bytes: where the queue stands."""
        run_, senders = self.parameters, len(self.senders)
        reserve = run_.get("reserve_bytes_per_port", 4096)
        if run_.get("static_xoff_bytes") is not None:
            return float(senders * (run_["static_xoff_bytes"] + reserve))
        target = self.link_of(run_["flows"][0][1])
        switch = target[0] if target[1] == run_["flows"][0][1] else target[1]
        links = [link for link in run_["topology"]["links"] if switch in link[:2]]
        held = sum(headroom_bytes(run_, link) + reserve for link in links)
        shared = float(run_.get("buffer_bytes", 9_000_000) - held)
        return formulas.threshold_queue_bytes(float(run_["alpha"]), shared, senders, reserve)

    def headroom_bound(self) -> float:
        """2 R d + 2 frames of the sender's link for which that is most."""
        bounds = []
        for node in self.senders:
            link = self.link_of(node)
            delay_s = microseconds(link[3]) * 1e-6
            rate = self._bytes_per_s(link)
            bounds.append(formulas.headroom_bound_bytes(rate, delay_s, WIRE_BYTES))
        return max(bounds)

    def loss(self) -> float:
        """Of one data packet on its way, all links together."""
        kept = 1.0
        for link in self.path():
            kept *= 1 - float(link[4] if len(link) > 4 else 0)
        return 1 - kept

    def frames_per_loss(self) -> float:
        """K of go-back-N: propagation there and back, store and forward at each link, one frame."""
        time_s = 0.0
        for link in self.path():
            rate = self._bytes_per_s(link)
            time_s += 2 * microseconds(link[3]) * 1e-6 + (WIRE_BYTES + ACK_BYTES) / rate
        return 1 + time_s * self.rate / WIRE_BYTES

    def path(self) -> Sequence[Sequence[Any]]:
        """The links of the first flow, along the shortest path."""
        source, target = self.parameters["flows"][0][:2]
        ways: list[tuple[int, list[Any]]] = [(source, [])]
        for node, way in ways:
            if node == target:
                return way
            for link in self.parameters["topology"]["links"]:
                if node in link[:2] and link not in way:
                    ways.append((link[1] if link[0] == node else link[0], [*way, link]))
        raise LabError(f"reference {self.case}: no path from {source} to {target}")
