"""run.json is small, its tables lie beside it, and together they are the run that was written."""

import copy
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labtests.core import output
from labtests.report import FORMAT, read_run, write_run
from labtests.report.runs import UnreadableRun

Json = dict[str, Any]
BYTES_PER_SUITE, TABLES_PER_SUITE = 45_000, 60_000


def of_suites(run: Json, test_of: Any, verdict_of: Any, suites: int) -> Json:
    """As many counters, samples and facts as a dry run of three hosts and a switch has."""
    tests = []
    for n in range(suites):
        facts = verdict_of()["facts"] * 28
        test = test_of(f"suite{n}", "pass", [verdict_of(facts=facts) for _ in range(4)])
        for at, phase in enumerate(phases := [copy.deepcopy(test["phases"][0]) for _ in range(2)]):
            phase["counters"] = [
                {**phase["counters"][0], "index": i, "before": 7 * i + n, "increase": at * i}
                for i in range(900)
            ]
            phase["samples"] = [
                {**phase["samples"][0], "time_s": 10 + i / 8, "value": 911 * i} for i in range(850)
            ]
        tests.append(test | {"phases": phases})
    return run | {"tests": tests}


def test_a_run_of_ten_suites_is_small(
    run: Json, tmp_path: Path, test_of: Any, verdict_of: Any
) -> None:
    write_run(tmp_path, of_suites(run, test_of, verdict_of, 10))

    beside = sum(file.stat().st_size for file in (tmp_path / "tables").iterdir())
    assert (tmp_path / "run.json").stat().st_size < 10 * BYTES_PER_SUITE
    assert beside < 10 * TABLES_PER_SUITE


def test_what_is_read_again_is_what_was_written(run: Json, tmp_path: Path) -> None:
    odd = {"value": 'a "b",\nc; ä', "port": "", "device": "=1+1", "ability": "x"}
    run["tests"][0]["phases"][0]["settings"].append(odd)
    run["tests"][0]["phases"][0]["counters"][0] |= {"before": 2**64 - 1, "after": -3}
    run["tests"][0]["phases"].append({"name": "nothing", "flows": [], "counters": []})
    before = copy.deepcopy(run)

    write_run(tmp_path, run)
    found = read_run(tmp_path)

    assert run == before
    for name, value in before["tests"][0]["phases"][0].items():
        assert found["tests"][0]["phases"][0][name] == value
    assert found["tests"][0]["phases"][1]["counters"] == []
    assert found["format"] == FORMAT
    assert {k: v for k, v in found.items() if k not in ("tests", "format")} == {
        k: v for k, v in before.items() if k not in ("tests", "format")
    }


def test_its_tables_are_tidy(run: Json, tmp_path: Path) -> None:
    write_run(tmp_path, run)

    counters = pd.read_csv(tmp_path / "tables" / "counters.csv.gz", keep_default_na=False)
    intervals = pd.read_csv(tmp_path / "tables" / "intervals.csv.gz")
    told = json.loads((tmp_path / "run.json").read_text())

    assert list(counters.columns[:4]) == ["test", "phase", "device", "port"]
    assert list(intervals.columns[:4]) == ["test", "phase", "flow", "start_s"]
    assert told["tables"]["counters"]["rows"] == len(counters)
    assert "counters" not in told["tests"][0]["phases"][0]
    assert told["tests"][0]["verdicts"] == run["tests"][0]["verdicts"]


def test_no_secret_is_in_a_table(run: Json, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(output, "_used", {'Open"Sesame'})
    run["tests"][0]["phases"][0]["counters"][0]["source"] = 'rx_Open"Sesame\x1b[2J'

    write_run(tmp_path, run)
    said = gzip.decompress((tmp_path / "tables" / "counters.csv.gz").read_bytes()).decode()

    assert "Sesame" not in said
    assert "rx_***␛[2J" in said


FILE = "tables/counters.csv.gz"


def told_otherwise(folder: Path, change: Callable[[Json], object]) -> None:
    told = json.loads((folder / "run.json").read_text())
    change(told)
    (folder / "run.json").write_text(json.dumps(told))


def written(folder: Path, change: Callable[[bytes], bytes]) -> None:
    (folder / FILE).write_bytes(change((folder / FILE).read_bytes()))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": lambda folder: (folder / FILE).unlink(),
    "cut": lambda folder: written(folder, lambda content: content[:-9]),
    "of another run": lambda folder: written(folder, lambda _: gzip.compress(b"0,0\n")),
    "not told": lambda folder: told_otherwise(folder, lambda told: told.pop("tables")),
    "other columns": lambda folder: told_otherwise(
        folder, lambda told: told["tables"]["counters"]["columns"].update(more="text")
    ),
    "no digest": lambda folder: told_otherwise(
        folder, lambda told: told["tables"].update(counters={})
    ),
    "no such phase": lambda folder: told_otherwise(
        folder, lambda told: told["tests"][0].update(phases=5)
    ),
    "no phase at all": lambda folder: told_otherwise(
        folder, lambda told: told["tests"][0].update(phases=[None, {"flows": {}}])
    ),
}


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("gone", "counters.csv.gz belongs to it and cannot be read: No such file"),
        ("cut", "counters.csv.gz is not as the run wrote it"),
        ("of another run", "counters.csv.gz is not as the run wrote it"),
        ("not told", "`tables` must be an object"),
        ("other columns", "other columns than run.json says"),
        ("no digest", "does not fit to run.json"),
        ("no such phase", "does not fit to run.json"),
        ("no phase at all", "does not fit to run.json"),
    ],
)
def test_a_run_without_its_tables_is_none_in_which_nothing_was_counted(
    run: Json, tmp_path: Path, kind: str, why: str
) -> None:
    write_run(tmp_path, run)
    DAMAGES[kind](tmp_path)

    with pytest.raises(UnreadableRun, match=why):
        read_run(tmp_path)


def test_rows_of_next_to_nothing_are_counted_before_they_are_made(
    run: Json, tmp_path: Path, monkeypatch: Any
) -> None:
    """250 kB of gzip hold fifty million rows of `0,0,`: some 10 GB of them once they are made."""
    write_run(tmp_path, run)
    rows = b"test,phase,x\n" + b"0,0,\n" * 99
    written(tmp_path, lambda _: gzip.compress(rows))
    digest = hashlib.sha256((tmp_path / FILE).read_bytes()).hexdigest()
    told_otherwise(tmp_path, lambda told: told["tables"]["counters"].update(
        sha256=digest, columns={"x": "number"}
    ))  # fmt: skip
    assert len(read_run(tmp_path)["tests"][0]["phases"][0]["counters"]) == 99
    monkeypatch.setattr("labtests.report.tables.MOST_ROWS", 98)
    with pytest.raises(UnreadableRun, match=r"counters.csv.gz has more than 98 rows"):
        read_run(tmp_path)


def test_the_parts_of_a_run_are_counted_before_they_are_made(tmp_path: Path) -> None:
    many = ", ".join(["{}"] * 11_000_000)
    (tmp_path / "run.json").write_text(f'{{"format": "labtests-run/1", "tests": [{many}]}}')
    with pytest.raises(UnreadableRun, match="more than 20000000 are not read"):
        read_run(tmp_path)
