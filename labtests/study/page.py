"""Offline pages of studies, in the style of the report's page. Nothing is fetched, no script."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from labtests.core.printable import visible
from labtests.study import charts, tables
from labtests.study.ledger import Row

MOST_MEASURES, MOST_FAILED = 8, 10


def of_sweep(name: str, rows: Sequence[Row]) -> str:
    """What a sweep has found."""
    points, keys, names = tables.by_point(rows)
    known = _known(points, names)
    bad = list(dict.fromkeys(each["failed"] for each in rows if "failed" in each))
    parts = [_measure(rows, points, keys, each) for each in known]
    return rendered(
        "sweep.html.j2",
        title=name,
        runs=len(rows),
        failed=sum("failed" in each for each in rows),
        reasons=bad[:MOST_FAILED],
        points=len(points),
        parts=parts,
        fronts=[Markup(each) for each in _fronts(points, known).values()],
    )


def drawings(rows: Sequence[Row], *, titled: bool) -> dict[str, str]:
    """The maps and fronts of a sweep, by a name for their files; with titles, or without."""
    points, keys, names = tables.by_point(rows)
    known = _known(points, names)
    maps = {f"map-{each}": _map(points, keys, each, titled=titled) for each in known}
    fronts = _fronts(points, known, titled=titled)
    return {name: svg for name, svg in maps.items() if svg} | fronts


def _known(points: pd.DataFrame, names: list[str]) -> list[str]:
    """Measures that some point has."""
    return [n for n in names[:MOST_MEASURES] if len(points) and points[n].notna().any()]


def _measure(
    rows: Sequence[Row], points: pd.DataFrame, keys: list[str], name: str
) -> dict[str, Any]:
    found = tables.matters(points, keys, name)
    best, equal = tables.best(rows, name)
    return {
        "name": name,
        "heading": list(best.columns),
        "best": [[_short(cell) for cell in line] for line in best.itertuples(index=False)],
        "equal": equal if equal > len(best) else 0,
        "few": found.few,
        "matter": [(key, f"{share:.0%}") for key, share in found.alone.items()],
        "together": [(*pair, f"{share:.0%}") for pair, share in found.together.items()],
        "map": Markup(_map(points, keys, name)),
    }


def _map(points: pd.DataFrame, keys: list[str], name: str, *, titled: bool = True) -> str:
    """Over the two keys that matter most; empty where fewer vary."""
    found = tables.matters(points, keys, name)
    varied = [key for key in found.alone if points[key].nunique() > 1]
    if len(varied) < 2:
        return ""
    return charts.heat_map(points, (varied[0], varied[1]), name, titled=titled)


def _fronts(points: pd.DataFrame, names: list[str], *, titled: bool = True) -> dict[str, str]:
    """Of each measure against the first one that the other end of it works against."""
    found = {}
    for number, one in enumerate(names[:3]):
        for other in names[number + 1 : 3]:
            whole = points.dropna(subset=[one, other])
            best = tables.pareto(whole, (one, other))
            svg = charts.front(whole, best, (one, other), titled=titled)
            found[f"front-{one}-{other}"] = svg
    return found


def _short(cell: object) -> str:
    return charts.figure(cell, 5) if isinstance(cell, float) else str(cell)


def rendered(template: str, **values: object) -> str:
    """A page of templates/, self-contained."""
    style = resources.files("labtests.report").joinpath("style.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=PackageLoader("labtests.study"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    css = Markup(style)
    return visible(environment.get_template(template).render(style=css, **values))
