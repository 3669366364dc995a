"""Tidy tables, and the same case with several seeds."""

import csv
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from small_case import SMALL, case

from labtests.__main__ import main
from labtests.network.cases import CaseFile, ideal, load, run
from labtests.network.cases.form import FlowPart
from labtests.network.cases.replications import intervals, replicated, student_t
from labtests.network.cases.tidy import tables, totals, write_tables

DOCS = Path(__file__).parents[2] / "docs"
RANDOM = SMALL[: SMALL.index("flows:")] + (
    "workloads: [{name: w, pattern: poisson, sizes: storage, load: 0.3}]\n"
)


def test_tables_are_tidy_and_say_what_the_figures_say(tmp_path: Path) -> None:
    file = tmp_path / "random.yaml"
    file.write_text(RANDOM, encoding="utf-8")
    answer = CliRunner().invoke(
        main, ["network", "run", str(file), "--tables", str(tmp_path / "made"), "--seed", "5"]
    )
    assert answer.exit_code == 0, answer.output
    figures = run(case(tmp_path, RANDOM), seed=5)
    flows = pd.read_csv(tmp_path / "made" / "flows.csv")
    assert list(flows.name) == [flow.name for flow in figures.flows]
    assert set(flows.seed) == {5}
    done = flows[flows.completion_us.notna()]
    assert len(done) > 100
    assert (done.slowdown - done.completion_us / done.ideal_us).abs().max() < 1e-9
    assert done.slowdown.min() == pytest.approx(1.0, abs=1e-6)
    by_size = pd.read_csv(tmp_path / "made" / "slowdowns.csv")
    assert by_size.flows.sum() == len(done)
    decade = done[(done.size_bytes >= 1000) & (done.size_bytes < 10000)]
    row = by_size[by_size.from_bytes == 1000].iloc[0]
    assert row.slowdown_mean == pytest.approx(decade.slowdown.mean())
    assert row.completion_p50_us == decade.completion_us.quantile(0.5, interpolation="lower")
    with (tmp_path / "made" / "series.csv").open(encoding="utf-8") as text:
        units = {line["unit"] for line in csv.DictReader(text)}
    assert units >= {"gbit_per_s", "bytes"}


def test_parquet_tables_say_what_csv_ones_say(tmp_path: Path) -> None:
    made = tables([run(case(tmp_path, RANDOM), seed=5)])
    files = write_tables(made, tmp_path / "packed", parquet=True)
    assert {file.name for file in files} == {f"{name}.parquet" for name in made}
    write_tables(made, tmp_path / "plain", parquet=False)
    for file in files:
        plain = pd.read_csv(tmp_path / "plain" / f"{file.stem}.csv")
        packed = pd.read_parquet(file)
        assert len(packed) > 0
        assert file.stat().st_mode & 0o77 == 0
        pd.testing.assert_frame_equal(packed.astype(plain.dtypes), plain)


def test_seeds_run_on_processes_and_give_the_same_figures(tmp_path: Path) -> None:
    random = case(tmp_path, RANDOM)
    runs = sorted(
        replicated(random, range(1, 4), jobs=2, ends=lambda done: False), key=lambda f: f.seed
    )
    assert runs == [run(random, seed=seed) for seed in (1, 2, 3)]
    found = {interval.name: interval for interval in intervals(runs)}
    values = [totals(figures)["slowdown_mean"] for figures in runs]
    mean = sum(values) / 3
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
    assert found["slowdown_mean"].mean == pytest.approx(mean)
    assert found["slowdown_mean"].half_width == pytest.approx(4.303 * spread / math.sqrt(3))
    assert next(intervals(runs[:1])).half_width is None
    assert len({row["seed"] for row in tables(runs)["flows"]}) == 3


@pytest.mark.parametrize(("freedom", "point"), [(1, 12.706), (11, 2.201), (19, 2.093), (99, 1.984)])
def test_student_t_is_that_of_the_tables(freedom: int, point: float) -> None:
    assert student_t(freedom) == pytest.approx(point, abs=6e-4)


def test_ctrl_c_keeps_the_seeds_that_are_done(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(SMALL.replace("duration_ms: 2", "duration_ms: 300"), encoding="utf-8")
    command = [sys.executable, "-m", "labtests", "network", "run", str(file), "--seeds", "10000"]
    with subprocess.Popen(
        [*command, "--jobs", "2", "--tables", str(tmp_path / "made")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as long:
        assert long.stderr is not None
        assert "of 10000 runs" in long.stderr.readline()
        begun = time.monotonic()
        long.send_signal(signal.SIGINT)
        out, _ = long.communicate(timeout=60)
    assert time.monotonic() - begun < 20
    assert long.returncode == 130
    assert "seeds" in out
    assert (tmp_path / "made" / "totals.csv").stat().st_size > 100


def test_options_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL, encoding="utf-8")
    for options in (["--parquet"], ["--seeds", "2", "--plot", "x.svg"]):
        answer = CliRunner().invoke(main, ["network", "run", str(file), *options])
        assert answer.exit_code == 2


def test_a_file_that_cannot_be_written_takes_nothing_else_with_it(tmp_path: Path) -> None:
    """A run of hours is shown, whatever its figure's disk is like."""
    file, no_folder = tmp_path / "small.yaml", tmp_path / "file"
    file.write_text(SMALL, encoding="utf-8")
    no_folder.write_text("", encoding="utf-8")
    more = ["--plot", str(no_folder / "x.svg"), "--tables", str(tmp_path / "made")]
    answer = CliRunner().invoke(main, ["network", "run", str(file), *more], prog_name="labtests")
    assert answer.exit_code == 2
    assert "total goodput" in answer.stdout
    assert (tmp_path / "made" / "flows.csv").exists()
    assert f"{no_folder / 'x.svg'} cannot be written" in answer.stderr


def test_rates_and_alpha_over_time_are_those_of_the_limiter() -> None:
    figures = run(load(DOCS / "cases" / "incast.yaml"))
    first = figures.flows[0]
    assert len(first.rate_series_gbit_per_s) == len(first.goodput_series_gbit_per_s)
    assert first.rate_series_gbit_per_s[0] == 100.0  # alone: no CNP yet
    assert min(first.rate_series_gbit_per_s) < 80
    assert 0 < max(first.alpha_series) <= 1
    each = [flow.rate_series_gbit_per_s for flow in figures.flows]
    both = [sum(rates) for rates in zip(*each, strict=True)]
    goodput = [flow.goodput_series_gbit_per_s for flow in figures.flows]
    wire = [sum(rates) * 1106 / 1024 for rates in zip(*goodput, strict=True)]
    busy = slice(20, 40)  # both send, at what they may
    assert sum(both[busy]) == pytest.approx(sum(wire[busy]), rel=0.05)
    assert run(load(DOCS / "cases" / "parking-lot.yaml")).flows[0].rate_series_gbit_per_s == ()


@pytest.mark.parametrize("size", [1, 1_000, 300_500])
@pytest.mark.parametrize("message", [1_000, 1_500, 4_097, 100_000])
def test_a_flow_alone_has_no_slowdown_whatever_its_messages(size: int, message: int) -> None:
    flow = {"source": "a", "target": "b", "size_bytes": size, "message_bytes": message}
    tree = {
        "name": "alone",
        "duration_ms": 2,
        "hosts": {"a": None, "b": None},
        "switches": {"s": None, "t": None},
        "links": [
            {"between": ["a", "s"], "rate_gbit_per_s": 40, "length_m": 5},
            {"between": ["s", "t"], "rate_gbit_per_s": 10, "length_m": 100},
            {"between": ["t", "b"], "rate_gbit_per_s": 25, "length_m": 5},
        ],
        "flows": [{**flow, "mtu_bytes": 4096, "tx_depth": 32768}],
    }
    assert run(CaseFile.model_validate(tree)).flows[0].slowdown == pytest.approx(1.0, rel=1e-6)


def test_of_a_long_flow_only_some_frames_are_looked_at() -> None:
    hops = [(8 / 25_000, 0.1, 20), (8 / 100_000, 0.1, 20), (8 / 10_000, 0.1, 20)]
    flow = FlowPart(source="a", target="b", size_bytes=10**7 + 1, message_bytes=1_500)
    sizes = [1024 + 62, 476 + 62] * (10**7 // 1_500) + [1001 + 62]
    there = [0.0] * len(sizes)
    for per_byte, _, extra in hops:
        left = 0.0
        for k, size in enumerate(sizes):
            there[k] = left = max(left, there[k]) + (size + extra) * per_byte
    assert ideal.last_arrival_us(hops, flow, 62) == pytest.approx(there[-1], rel=1e-9)
