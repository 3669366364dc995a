"""What `labtests sweep` does."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.figure_file import in_folder
from labtests.core.private_files import write_told
from labtests.study import page, tables
from labtests.study.ledger import FILE, KeptRuns, StudyLedger, kept, left_of, rows_of
from labtests.study.points import key_of, ran
from labtests.study.reader import Sweep, load
from labtests.study.running import Progress, StudyBench, Told, run, span
from labtests.study.working import cores, workers

STUDIES = Path("reports") / "studies"
SAMPLED, MOST_SPOILT = 3, 5
PAGE = "page.html"
loaded = load


def planned(sweep: Sweep, folder: Path, where: Mapping[str, Any]) -> Iterator[str]:
    """How many runs there are, how many are done, and about how long the rest takes: some that are
    spread over the sweep are run for it, and not kept."""
    asked = list(sweep.jobs())
    left = len(_left(sweep, folder, again=where["again"]))
    yield (
        f"{sweep.form.name}: {len(asked)} runs ({len(sweep.patterns)} patterns, "
        f"{len(sweep.form.seeds)} seeds), {len(asked) - left} of them finished in {folder}"
    )
    if left:
        ran(sweep.base, asked[0], sweep.form.measure)  # what is compiled once
        began = time.monotonic()
        sample = asked[:: max(1, len(asked) // SAMPLED)][:SAMPLED]
        for job in sample:
            ran(sweep.base, job, sweep.form.measure)
        each_s = (time.monotonic() - began) / len(sample)
        many = where["jobs"] or cores()
        yield f"about {span(each_s * left / many)} on {many} processes ({each_s:.2f} s a run)"


def _left(sweep: Sweep, folder: Path, *, again: bool) -> set[str]:
    try:
        rows = {each["key"]: each for each in rows_of(folder)}
    except LabError:
        rows = {}
    return left_of(_keys(sweep), rows, again=again)


def _keys(sweep: Sweep) -> dict[str, None]:
    """What stands for each run, in their order."""
    digest, measure = sweep.base.digest, sweep.form.measure
    return dict.fromkeys(key_of(digest, job, measure) for job in sweep.jobs())


def swept(sweep: Sweep, folder: Path, where: Mapping[str, Any], told: Told) -> Iterator[str]:
    """Every run is finished or has failed; tables and page are written. Raises LabError."""
    total = sweep.jobs_count
    with StudyLedger(folder) as ledger, workers(where["scheduler"], where["jobs"]) as at:
        ledger.ask(_keys(sweep))
        progress = Progress(total, told)
        bench = StudyBench(sweep.base, sweep.form.measure, ledger, at, where["again"])
        rows = run(bench, sweep.jobs(), progress)
    table = tables.write_points(rows, folder)
    write_told(folder / PAGE, page.of_sweep(sweep.form.name, rows))
    bad = [each for each in rows if "failed" in each]
    yield f"{sweep.form.name}: {total} runs, {len(bad)} failed; {table}, {folder / PAGE}"
    for reason in list(dict.fromkeys(each["failed"] for each in bad))[:5]:
        yield f"failed: {reason}"


def has_failed(sweep: Sweep, folder: Path) -> bool:
    """Whether a run of this sweep has."""
    asked = _keys(sweep)
    return any("failed" in each for each in rows_of(folder) if each["key"] in asked)


def shown(folder: Path, table: Path | None, html: Path | None) -> Iterator[str]:
    """What a folder's runs come to. Raises LabError."""
    found = kept(folder)
    rows = found.rows
    points, keys, names = tables.by_point(rows)
    yield from _heading(found, folder, len(points))
    for name in names if len(points) else ():
        yield ""
        if points[name].isna().all():
            yield f"{name}: not known at any point"
            continue
        if not tables.varies(points[name]):
            known = points[name].dropna()
            which = "" if len(known) == len(points) else " that has it"
            yield f"{name}: {known.iloc[0]:g} at every point{which}"
            continue
        best, equal = tables.best(rows, name)
        more = f" ({equal} points are equally good)" if equal > len(best) else ""
        yield f"{name}: best{more}"
        yield from ("  " + line for line in _lines(best))
        yield from ("  " + line for line in _matters(points, keys, name))
    if table is not None:
        tables.write(tables.tidy(rows), table)
    if html is not None:
        write_told(html, page.of_sweep(folder.name, rows))


def _heading(found: KeptRuns, folder: Path, points: int) -> Iterator[str]:
    """How many runs there are, and what is not among them."""
    rows = found.rows
    bad = sum("failed" in each for each in rows)
    many = f"{len(rows)} of {len(rows) + found.missing}" if found.missing else f"{len(rows)}"
    yield f"{many} runs, {bad} failed; {points} points, each with its worst figures"
    if found.missing:
        yield f"{found.missing} runs are not finished: the worst figures are of those that are"
    if found.others:
        yield (
            f"{found.others} other runs are kept in the folder, of what was asked before: not shown"
        )
    for number in found.spoilt[:MOST_SPOILT]:
        yield f"{folder / FILE}:{number}: not a run: not counted"
    if len(found.spoilt) > MOST_SPOILT:
        yield f"{len(found.spoilt) - MOST_SPOILT} more lines are no run"


def _matters(points: Any, keys: list[str], name: str) -> Iterator[str]:
    """What a measure hangs on, where there are points enough to say it."""
    found = tables.matters(points, keys, name)
    if found.few:
        yield found.few
        return
    yield "matters: " + ", ".join(f"{key} {share:.0%}" for key, share in found.alone.items())
    for (one, other), share in found.together.items():
        yield f"together: {one} with {other} {share:.0%} more than each alone"


def drawn(folder: Path, figures: Path, kind: str, *, titled: bool) -> Iterator[str]:
    """The maps and fronts of a folder's runs as files. Raises LabError."""
    for name, svg in page.drawings(kept(folder).rows, titled=titled).items():
        yield str(in_folder(figures, name, kind, svg))


def _lines(table: object) -> list[str]:
    return str(table.to_string(index=False)).splitlines()  # type: ignore[attr-defined]
