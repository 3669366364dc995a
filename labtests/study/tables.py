"""The runs of a study as tables: tidy rows, the best points, what matters, what works together."""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from labtests.core.errors import LabError
from labtests.core.private_files import write_bytes, write_private
from labtests.study.ledger import Row
from labtests.study.measures import higher_is_better

_NOISE = 1e-9  # of the largest figure
MOST_BEST, WORST_IN = 5, "worst in"
FEWEST, FEWEST_DRAWN, MOST_SLICES = 4, 16, 8
"""Points that a statement about keys needs, of a grid and of others; slices of a key."""
WORTH_TELLING = 0.05
"""Of two keys: the least share beyond what each explains alone."""


class Matters(NamedTuple):
    """What a measure hangs on: each key's share, the largest first, and of two keys what they
    explain together. `few`: why nothing is said of it; "" where it is."""

    few: str
    alone: Mapping[str, float]
    together: Mapping[tuple[str, str], float]


def tidy(rows: Sequence[Row]) -> pd.DataFrame:
    """A line for each run: values of keys, pattern, seed, figures, why it failed. Of a key that has
    numbers and words all values are words: they are sorted, and compared."""
    table = pd.DataFrame(
        [
            {
                **{key: _cell(value) for key, value in each["values"].items()},
                **{name: each.get(name) for name in ("pattern", "seed", "took_s", "failed")},
                **(each.get("measured") or {}),
            }
            for each in rows
        ]
    )
    return _of_one_kind(table, {key for each in rows for key in each["values"]})


def _cell(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bool)) else repr(value)


def by_point(rows: Sequence[Row]) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Each point's figures over its patterns and seeds, the worst one of each; keys; measures.

    A point with a failed run is not there: its worst is not known."""
    keys = list(dict.fromkeys(key for each in rows for key in each["values"]))
    names = list(dict.fromkeys(n for each in rows for n in each.get("measured") or {}))
    table = tidy(rows)
    if table.empty or not names or not keys:
        return pd.DataFrame(columns=[*keys, *names]), keys, names
    how = {name: "min" if higher_is_better(name) else "max" for name in names}
    grouped = table.groupby(keys, sort=False, dropna=False)
    whole = grouped["failed"].count() == 0
    points = grouped.agg(how)[whole]
    return points.reset_index(), keys, names


def best(rows: Sequence[Row], name: str) -> tuple[pd.DataFrame, int]:
    """The five best points by one measure, and the pattern that has the figure, if there are
    several; how many points are as good as the best one."""
    points, keys, _ = by_point(rows)
    high = higher_is_better(name)
    ordered = points.sort_values(name, ascending=not high, kind="stable")[[*keys, name]]
    found = ordered.head(MOST_BEST)
    runs = tidy(rows)
    if runs["pattern"].nunique() > 1:
        runs = runs.sort_values(name, ascending=high, kind="stable", na_position="last")
        worst = runs.drop_duplicates(keys)[[*keys, "pattern"]]
        found = found.merge(worst, on=keys, how="left").rename(columns={"pattern": WORST_IN})
    return found, int((ordered[name] == ordered[name].iloc[0]).sum())


def matters(points: pd.DataFrame, keys: Sequence[str], name: str) -> Matters:
    """What one measure hangs on."""
    alone = sensitivities(points, keys, name)
    together = interactions(points, keys, name)
    return Matters(
        few=too_few(points, keys),
        alone=dict(sorted(alone.items(), key=lambda item: -item[1])),
        together={two: share for two, share in together.items() if share >= WORTH_TELLING},
    )


def sensitivities(points: pd.DataFrame, keys: Sequence[str], name: str) -> dict[str, float]:
    """Of each key, the share of a measure's variance that it explains alone: the variance of the
    means in up to eight slices of the key (first-order index: Saltelli, Global Sensitivity
    Analysis, 1.2.5). Where points are no grid, without what as many slices of chance explain
    (adjusted R2). Keys of one value, and too few points, have 0."""
    if too_few(points, keys) or not varies(points[name]):
        return dict.fromkeys(keys, 0.0)
    drawn = not _is_grid(points, keys)
    most = min(MOST_SLICES, len(points) // FEWEST) if drawn else MOST_SLICES
    return {
        key: _explained(points[name], [_slices(points[key], most)], drawn=drawn) for key in keys
    }


def too_few(points: pd.DataFrame, keys: Sequence[str]) -> str:
    """Why nothing is said of what matters; "" where it is."""
    if len(points) >= (FEWEST if _is_grid(points, keys) else FEWEST_DRAWN):
        return ""
    are = "point is" if len(points) == 1 else "points are"
    many = f"{FEWEST_DRAWN} are needed, {FEWEST} of a grid"
    return f"{len(points)} {are} too few to say what matters: {many}"


def _is_grid(points: pd.DataFrame, keys: Sequence[str]) -> bool:
    """Whether each value of a key was run with each of all others: no chance is in its means."""
    return len(points) == math.prod(points[key].nunique(dropna=False) for key in keys)


def interactions(
    points: pd.DataFrame, keys: Sequence[str], name: str
) -> dict[tuple[str, str], float]:
    """Of each two keys, what they explain together beyond what each explains alone."""
    alone = sensitivities(points, keys, name)
    drawn = not _is_grid(points, keys)
    enough = len(points) >= FEWEST * (FEWEST_DRAWN if drawn else FEWEST)
    found = {}
    for number, one in enumerate(keys):
        for other in keys[number + 1 :]:
            slices = [_slices(points[one], 4), _slices(points[other], 4)]
            if enough and varies(points[name]):
                both = _explained(points[name], slices, drawn=drawn)
                found[one, other] = max(0.0, both - alone[one] - alone[other])
    return found


def varies(figures: Any) -> bool:
    """Whether figures differ by more than sums of floats are off: there is something to explain."""
    return bool(figures.std(ddof=0) > _NOISE * figures.abs().max())


def _slices(column: Any, most: int) -> Any:
    if column.nunique() <= most or not pd.api.types.is_numeric_dtype(column):
        return column
    return pd.qcut(column, most, duplicates="drop")


def _explained(figures: Any, slices: list[Any], *, drawn: bool) -> float:
    grouped = figures.groupby([each.to_numpy() for each in slices], observed=True, dropna=False)
    means, weights = grouped.mean(), grouped.count()
    between = float((weights * (means - figures.mean()) ** 2).sum() / weights.sum())
    share = between / float(figures.var(ddof=0))
    if not drawn:
        return share
    many, left = len(figures), len(figures) - len(means)
    return max(0.0, 1 - (1 - share) * (many - 1) / left) if left > 0 else 0.0


def pareto(points: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The points that no other one beats in all of these measures."""
    signs = [-1 if higher_is_better(name) else 1 for name in names]
    found: Any = points[list(names)].to_numpy(dtype=float) * signs
    order = np.lexsort(found.T[::-1])
    kept: list[int] = []
    for number in order:  # no later one beats an earlier one in all
        mine = found[number]
        front = found[kept]
        beaten = (front <= mine).all(axis=1) & (front < mine).any(axis=1)
        if not np.isnan(mine).any() and not beaten.any():
            kept.append(int(number))
    return points.iloc[kept]


def write_points(rows: Sequence[Row], folder: Path) -> Path:
    """The tidy table of a folder's runs: points.parquet, or points.csv where pyarrow is not
    installed, or of no use. Raises LabError."""
    table, file = tidy(rows), folder / "points.parquet"
    try:
        _write(table, file)
    except ImportError:
        file = folder / "points.csv"
        _write(table, file)
    return file


def write(table: pd.DataFrame, file: Path) -> None:
    """As parquet or CSV, by its name. Raises LabError."""
    try:
        _write(table, file)
    except ImportError as error:
        raise LabError(
            f"{file}: parquet needs the package pyarrow, which is not installed\n"
            "  remedy: pip install pyarrow, or a name that ends in .csv"
        ) from error


def _write(table: pd.DataFrame, file: Path) -> None:
    """Raises LabError; ImportError: there is no pyarrow for parquet."""
    try:
        if file.suffix == ".parquet":
            write_bytes(file, _of_one_kind(table, table.columns).to_parquet(index=False))
        else:
            write_private(file, table.to_csv(index=False))
    except OSError as error:
        raise LabError(f"{file} cannot be written: {error.strerror}") from error


def _of_one_kind(table: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
    """These columns have one type each: numbers among words, and integers of more than 64 bits, are
    words."""
    found = table.copy()
    for name in names:
        column = table[name]
        if column.dtype == object and (_is_mixed(column) or _is_wide(column)):
            found[name] = column.map(str, na_action="ignore")
    return found


def _is_mixed(column: Any) -> bool:
    kinds = {type(each) for each in column.dropna()}
    return len(kinds - {int, float}) + bool(kinds & {int, float}) > 1


def _is_wide(column: Any) -> bool:
    return any(isinstance(each, int) and not -(2**63) <= each < 2**63 for each in column)
