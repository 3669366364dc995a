"""The reference data: those of this package, or a folder of the same layout.

A folder has `checks.json` (`{"checks": [...]}`), run files (lists of runs with `case`, `params` and
perhaps `flows`) and perhaps `index.json`, whose `files` say which run files there are. Where a
run's own `params` and other texts disagree, `params` are right.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.trusted_files import handed, json_of
from labtests.network.reference.hpcc import Run
from labtests.network.reference.translation import kind_of

SEED = re.compile(r"_s(\d+)$")
CHECK_KEYS = ("id", "trust", "quantity", "expected")
TRUST_LEVELS = ("A", "B", "C")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Checks, and the parameters of the runs they come from."""

    checks: tuple[Mapping[str, Any], ...]
    runs: Mapping[str, Run]

    def runs_of(self, case: str) -> tuple[str, ...]:
        """The runs of a case: itself, or one per seed."""
        if case in self.runs:
            return (case,)
        return tuple(name for name in self.runs if SEED.sub("", name) == case)


def reference() -> Reference:
    """The reference data, read from the package."""
    here = files("labtests.network.reference")
    checks = json.loads((here / "checks.json").read_text(encoding="utf-8"))
    runs = json.loads((here / "runs.json").read_text(encoding="utf-8"))
    return Reference(checks=tuple(checks["checks"]), runs=runs)


def reference_in(folder: Path) -> Reference:
    """The reference data of a folder. Raises LabError: what is missing or malformed, and where."""
    file = folder / "checks.json"
    document = _read(file)
    rows = document.get("checks") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not rows:
        raise LabError(f'{file}: no list of checks\n  remedy: {{"checks": [{{"id": ...}}, ...]}}')
    runs: dict[str, Run] = {}
    for source in _run_files(folder):
        runs |= dict(_runs(source))
    for number, row in enumerate(rows):
        _check_row(f"{file}: checks[{number}]", row)
        if row.get("params"):
            name = str(row["id"]).removeprefix("PFC.")
            runs[name] = _run(f"{file}: checks[{number}].params", row["params"], row)
    return Reference(checks=tuple(rows), runs=runs)


def _run_files(folder: Path) -> Sequence[Path]:
    listed: Any = None
    if (folder / "index.json").is_file():
        document = _read(folder / "index.json")
        listed = document.get("files") if isinstance(document, dict) else None
    if listed:
        if not isinstance(listed, list | dict) or not all(isinstance(n, str) for n in listed):
            raise LabError(f"{folder / 'index.json'}: files has no names")
        return [folder / name for name in listed if name != "checks.json"]
    return sorted(set(folder.glob("*.json")) - {folder / "checks.json", folder / "index.json"})


def _read(file: Path) -> Any:
    try:
        return json_of(handed(file), most_parts=None)
    except OSError as error:
        raise LabError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise LabError(f"{file}: no JSON: {error}") from error


def _runs(file: Path) -> Iterator[tuple[str, Run]]:
    document = _read(file)
    for number, run in enumerate(document if isinstance(document, list) else [document]):
        place = f"{file}: run {number}"
        if not isinstance(run, dict) or not isinstance(run.get("params"), dict):
            raise LabError(f"{place}: has no `params`\n  remedy: a list of runs with case, params")
        if not isinstance(run.get("case"), str):
            raise LabError(f"{place}: has no `case`, its name")
        yield run["case"], _run(f"{place} ({run['case']})", run["params"], run)


def _run(place: str, params: Any, around: Mapping[str, Any]) -> Run:
    """The parameters of a run; its flows may stand beside them."""
    if not isinstance(params, dict):
        raise LabError(f"{place}: params is not a mapping")
    run = dict(params)
    told = around.get("flows")
    if "flows" not in run and isinstance(told, list):
        if not all(isinstance(flow, dict) and {"src", "dst"} <= set(flow) for flow in told):
            raise LabError(f"{place}: flows has more than mappings with src and dst")
        run["flows"] = [
            [flow["src"], flow["dst"], 100 + n, flow.get("bytes"), flow.get("start_us", n)]
            for n, flow in enumerate(told)
        ]
    try:
        kind_of(run)
    except ValueError as error:
        raise LabError(f"{place}: {error}") from error
    return run


def _check_row(place: str, row: Any) -> None:
    missing = [key for key in CHECK_KEYS if not isinstance(row, dict) or key not in row]
    if missing:
        raise LabError(f"{place}: has no {', '.join(missing)}")
    if row["trust"] not in TRUST_LEVELS:
        raise LabError(f"{place}: trust is {row['trust']!r}, not one of A, B, C")
