"""Many flows with starts of their own: the work grows with them, not with their square. A run can
be ended early, and being asked whether to end changes nothing."""

import cProfile
import os
import pstats
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_case import SMALL, case

from labtests.network.cases import CaseFile, load, run
from labtests.network.cases.course import Agenda

DOCS = Path(__file__).parents[2] / "docs"


def many(flows: int) -> CaseFile:
    names = [f"h{n}" for n in range(16)]
    return CaseFile.model_validate(
        {
            "name": "many",
            "duration_ms": flows / 100,
            "hosts": dict.fromkeys(names),
            "switches": {"s": None},
            "links": [
                {"between": [name, "s"], "rate_gbit_per_s": 100.0, "length_m": 5.0}
                for name in names
            ],
            "flows": [
                {
                    "source": names[n % 16],
                    "target": names[(n + 1 + n // 16) % 16 if (1 + n // 16) % 16 else (n + 1) % 16],
                    "size_bytes": 2000,
                    "start_us": 10.0 * n,
                }
                for n in range(flows)
            ],
        }
    )


def calls(flows: int) -> int:
    """Python functions called while so many flows run."""
    case_ = many(flows)
    profile = cProfile.Profile()
    profile.enable()
    figures = run(case_)
    profile.disable()
    assert all(flow.delivered_bytes == 2000 for flow in figures.flows)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_ten_times_the_flows_are_ten_times_the_work() -> None:
    run(many(20))
    few, more = calls(200), calls(2000)
    assert more < 10.5 * few


def test_each_start_is_met_once_and_in_order() -> None:
    agenda = Agenda(many(300))
    assert len(agenda.moments) == len(set(agenda.moments)) <= 300 + 52
    assert agenda.moments == sorted(agenda.moments)


class _Asked:
    """Counts how often it was asked; ends the run at a time."""

    def __init__(self, end_ms: float = 1e9) -> None:
        self.times, self._end_ms = 0, end_ms

    def ends(self, reached_ms: float, duration_ms: float) -> bool:
        assert 0 < reached_ms <= duration_ms
        self.times += 1
        return reached_ms >= self._end_ms


@pytest.mark.parametrize("name", ["incast", "parking-lot", "deadlock"])
def test_a_run_that_is_watched_is_the_same_run(name: str) -> None:
    documented = load(DOCS / "cases" / f"{name}.yaml")
    onlooker = _Asked()
    assert run(documented, onlooker=onlooker) == run(documented)
    assert onlooker.times > 50


def test_what_came_out_so_far_is_what_came_out_until_then(tmp_path: Path) -> None:
    small = case(tmp_path, SMALL)
    early = run(small, onlooker=_Asked(0.5))
    assert 0.5 <= early.duration_ms < 2 == early.planned_ms
    whole = run(small.model_copy(update={"duration_ms": early.duration_ms}))
    assert [f.delivered_bytes for f in early.flows] == [f.delivered_bytes for f in whole.flows]
    assert early.hosts == whole.hosts
    total_gbit = sum(
        rate * min(early.bin_ms, early.duration_ms - n * early.bin_ms)
        for n, rate in enumerate(early.flows[0].goodput_series_gbit_per_s)
    )
    assert total_gbit * 1e6 / 8 == pytest.approx(early.flows[0].delivered_bytes, rel=1e-6)


def test_ctrl_c_shows_what_came_out_so_far(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text(SMALL.replace("duration_ms: 2", "duration_ms: 100000000"), encoding="utf-8")
    command = [sys.executable, "-m", "labtests", "network", "run", str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as long:
        assert long.stderr is not None
        progress = long.stderr.readline()
        long.send_signal(signal.SIGINT)
        out, _ = long.communicate(timeout=60)
    assert "of 1e+08 ms" in progress
    assert progress.rstrip().endswith("left")
    assert long.returncode == 130
    assert "ended early: at" in out
    assert "a-c" in out
