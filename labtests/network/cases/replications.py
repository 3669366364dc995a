"""The same case with several seeds, on several processes; means with their confidence intervals."""

import math
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import TimeoutError as NothingYet
from multiprocessing import get_context
from statistics import NormalDist, fmean, stdev

from labtests.core.interpreter import guarded_children
from labtests.network.cases.figures import Figures
from labtests.network.cases.form import CaseFile
from labtests.network.cases.running import run
from labtests.network.cases.tidy import totals

ASKED_S = 0.2
STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""The 97.5 % point of Student's t for 1 to 10 degrees of freedom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceInterval:
    """A mean over seeds and half its 95 % confidence interval (Student's t); None: of one seed it
    is not known.

    Seeds in which the quantity does not occur (no flow is done) are not in it.
    """

    name: str
    seeds: int
    mean: float
    half_width: float | None


def replicated(
    case: CaseFile, seeds: Sequence[int], *, jobs: int, ends: Callable[[int], bool]
) -> Iterator[Figures]:
    """The figures of each seed, as soon as they are there. `ends` is told how many there are and
    asked several times a second whether to end without the others."""
    with guarded_children():
        pool = get_context("spawn").Pool(min(jobs, len(seeds)), _ignore_interrupts)
    with pool:  # its end ends what is still running
        results = pool.imap_unordered(_Run(case), seeds)
        done = 0
        while done < len(seeds) and not ends(done):
            try:
                figures = results.next(ASKED_S)
            except NothingYet:
                continue
            done += 1
            yield figures


@dataclass(frozen=True, slots=True)
class _Run:
    case: CaseFile

    def __call__(self, seed: int) -> Figures:
        return run(self.case, seed=seed)


def _ignore_interrupts() -> None:
    """A Ctrl-C is for the process that asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def intervals(runs: Sequence[Figures]) -> Iterator[ConfidenceInterval]:
    """Of everything that a run comes to."""
    found = [totals(figures) for figures in runs]
    for name in dict.fromkeys(name for of_run in found for name in of_run):
        values = [of_run[name] for of_run in found if name in of_run]
        half = None
        if len(values) > 1:
            half = student_t(len(values) - 1) * stdev(values) / math.sqrt(len(values))
        yield ConfidenceInterval(name=name, seeds=len(values), mean=fmean(values), half_width=half)


def student_t(freedom: int) -> float:
    """The 97.5 % point; above 10 degrees of freedom by the expansion of Abramowitz and Stegun,
    26.7.5."""
    if freedom <= len(STUDENT_T):
        return STUDENT_T[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
