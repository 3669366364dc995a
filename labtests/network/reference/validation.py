"""Every check, as rows of a table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

from labtests.core.interpreter import guarded_children
from labtests.network.reference import (
    buffering,
    completing,
    guarding,
    pausing,
    polling,
    routes,
    rules,
    serving,
    sharing,
    theory,
)
from labtests.network.reference.comparing import Comparison, case_name
from labtests.network.reference.judging import Check, Family, ValidationRow
from labtests.network.reference.reading import Reference, reference, reference_in

QUICK_CHECKS = (
    "PFC.i_pfc_only_2to1_25g",
    "PFC.i_pfc_only_2to1_25g.jain",
    "PFC.i_pfc_only_2to1_25g.queue",
    "PFC.i_pfc_only_2to1_25g.pauses",
    "PFC.i_pfc_only_8to1_100g.queue",
    "iv_mixed_on_off_25g_s1",
    "v_c_parkinglot_singlepath_pfc_only_s1",
    "v_d_victim_singlepath_pfc_only_k2_s1",
    "vi_dt_alpha1_8to1_25g",
    "vi_dt_alpha0.125_2to1_25g",
    "vii_headroom_25g_1us",
    "vii_headroom_100g_10us",
    "vii_headroom_8to1_100g_5us",
    "viii_fixedpoint_zhu_2to1_40g",
    "zhu_fp_2to1_40g_s1",
    "ix_gbn_25g_1us_p0.001_nack10us",
    "ix_gbn_100g_5us_p0.01_nack40us",
    "iii_b_dcqcn_pfcoff_nk10_2to1_25g_buf100k",
    "htsim_pfc_2to1_25g",
)
"""One or more of each kind, a few seconds together."""


SLOW: tuple[Family, ...] = (*theory.SLOW, *routes.SLOW, *completing.SLOW)
FAMILIES: tuple[Family, ...] = (
    *theory.QUICK,
    *serving.QUICK,
    *buffering.QUICK,
    *sharing.QUICK,
    *guarding.QUICK,
    *routes.QUICK,
    *pausing.QUICK,
    *polling.QUICK,
    *completing.QUICK,
    *SLOW,
)
SECONDS_EACH = 3.0
"""How long a family of SLOW takes, roughly; the others take a tenth. Only for the order of work."""
BYTES_PER_SECOND = 4e9
"""Simulated bytes on a link per second of work, roughly."""

Task = tuple[int, ...] | Family
"""Rows of checks.json that share their runs, or a family of closed forms."""


def judged(
    *, quick: bool = False, folder: Path | None = None, jobs: int = 1
) -> Iterator[ValidationRow]:
    """Every check, in their order, each as soon as it and those before it are done.

    `quick`: some of each kind. `folder`: the checks of that folder instead of the package's, and no
    others. `jobs`: so many processes; the figures are the same with any number. Raises LabError.
    """
    data = reference() if folder is None else reference_in(folder)
    tasks: list[Task] = list(_groups(data, quick=quick))
    if folder is None:
        tasks += [f for f in FAMILIES if not quick or f not in SLOW]
    if jobs > 1:
        yield from _in_order(_spread(data, tasks, jobs))
    else:
        worker = Worker(data)
        yield from _in_order(map(worker, tasks))
    if folder is None:
        for name, why in theory.NOT_MODELLED:
            yield Check(name=name, trust="F", quantity=name.replace("_", " ")).not_modelled(why)


class Worker:
    """Does tasks, one process's share of them."""

    def __init__(self, data: Reference) -> None:
        self._comparison = Comparison(data)

    def __call__(self, task: Task) -> list[tuple[int, ValidationRow]]:
        """The rows of a task, each with its place among the checks; families come behind them."""
        rows = self._comparison.data.checks
        if isinstance(task, tuple):
            return [(number, rules.judge(self._comparison, rows[number])) for number in task]
        first = len(rows) + 1000 * FAMILIES.index(task)
        return [(first + number, row) for number, row in enumerate(task())]


def _groups(data: Reference, *, quick: bool) -> Iterator[tuple[int, ...]]:
    """The checks that are to be made, those of the same runs together."""
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(data.checks):
        name = str(row["id"])
        if not quick or name in QUICK_CHECKS:
            groups.setdefault(case_name(name), []).append(number)
    yield from map(tuple, groups.values())


def _in_order(results: Iterable[list[tuple[int, ValidationRow]]]) -> Iterator[ValidationRow]:
    """Rows by their place. Tasks come in the order of their first rows."""
    held: dict[int, ValidationRow] = {}
    for rows in results:
        held |= dict(rows)
        first = min(number for number, _ in rows) if rows else 0
        for number in sorted(n for n in held if n <= first):
            yield held.pop(number)
    for number in sorted(held):
        yield held[number]


def _spread(
    data: Reference, tasks: Sequence[Task], jobs: int
) -> Iterator[list[tuple[int, ValidationRow]]]:
    """The results of the tasks in their order; the dearest are begun first."""
    dearest = sorted(range(len(tasks)), key=lambda number: -_seconds(data, tasks[number]))
    with ExitStack() as ended:
        with guarded_children():  # they are started by the pool, and by what is given to it
            pool = ProcessPoolExecutor(
                jobs, get_context("spawn"), initializer=_begin, initargs=(data,)
            )
            ended.enter_context(pool)
            futures = {number: pool.submit(_work, tasks[number]) for number in dearest}
        try:
            for number in range(len(tasks)):
                yield futures[number].result()
        finally:  # with its thread: at the end of Python one that is left meets a closed pipe
            pool.shutdown(wait=True, cancel_futures=True)


_worker: Worker | None = None


def _begin(data: Reference) -> None:
    global _worker
    _worker = Worker(data)


def _work(task: Task) -> list[tuple[int, ValidationRow]]:
    assert _worker is not None
    return _worker(task)


def _seconds(data: Reference, task: Task) -> float:
    """How long a task takes, roughly."""
    if not isinstance(task, tuple):
        return SECONDS_EACH if task in SLOW else SECONDS_EACH / 10
    runs = data.runs_of(case_name(str(data.checks[task[0]]["id"])))
    run = data.runs[runs[0]] if runs else {}
    seeds = 10 if run.get("go_back_zero") else 3
    rate = float(run.get("rate_bps", 40e9)) / 8
    return seeds * float(run.get("duration_ms", 10)) / 1000 * rate / BYTES_PER_SECOND


def line(row: ValidationRow) -> str:
    """A row as text, in columns."""
    ratio = "-" if row.ratio is None else f"{row.ratio:.4f}"
    return (
        f"{row.verdict:12} {row.trust} {row.check:46} {_number(row.expected):>11} "
        f"{_number(row.measured):>11} {ratio:>8}  {row.tolerance:22} {row.quantity}"
    )


def tally(rows: Sequence[ValidationRow]) -> str:
    """How many of each trust passed; what was only shown, and what is not modelled, beside it."""
    found = Counter((row.trust, row.verdict) for row in rows)
    parts = [
        f"{trust}: {found[trust, 'pass']} of {found[trust, 'pass'] + found[trust, 'fail']} pass"
        for trust in ("A", "B", "F")
    ]
    shown = sum(row.verdict == "shown" for row in rows)
    missing = sum(row.verdict == "not modelled" for row in rows)
    return f"{'; '.join(parts)}; shown only: {shown}; not modelled: {missing}"


HEADING = (
    f"{'verdict':12} T {'check':46} {'expected':>11} {'measured':>11} {'ratio':>8}  "
    f"{'tolerance':22} quantity"
)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
