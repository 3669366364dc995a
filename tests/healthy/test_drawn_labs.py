"""Ten healthy labs, drawn, with a suite each: no false alarm."""

from pathlib import Path
from random import Random

import fast_starts
import pytest
from drawing import seed_of
from healthy import HEALTHY, ROOT, SHIPPED, Job, run
from labs import SHAPES, made

from labtests.faults.suites import SUITES

DRAWN = 10
FOUND = (("25g-cumulus-far", "test_roce_mode_is_lossless_where_it_says_so"),)
"""Which were false alarms: RoCE mode's headroom is for 100 m of cable, and this lab has more."""
TESTS = sorted(suite.test for suite in SUITES.values())
SHIPPED_NAMES = [file.stem for file in SHIPPED]
MOST_SENDERS = 8
"""Of labs that are drawn: a suite of 32 takes minutes beside others, and is of `make healthy`."""
SMALL = [shape.name for shape in SHAPES if len(shape.senders) <= MOST_SENDERS]
NAMES = [*SHIPPED_NAMES, *SMALL]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    random = Random(f"labs {seed_of(metafunc.config)}")
    drawn = [(name, random.choice(TESTS)) for name in random.sample(NAMES, DRAWN)]
    both = dict.fromkeys((*drawn, *FOUND))
    metafunc.parametrize(("name", "suite"), both, ids=lambda word: word)


def test_nothing_is_wrong_in_a_drawn_lab(name: str, suite: str, tmp_path: Path) -> None:
    if name in SHIPPED_NAMES:
        options = ["--testbed", str(ROOT / "testbeds" / f"{name}.yaml"), "--dry-run"]
    else:
        lab = made(next(shape for shape in SHAPES if shape.name == name), 1)
        (tmp_path / "lab.yaml").write_text(lab.text, encoding="utf-8")
        options = lab.options(str(tmp_path / "lab.yaml"))
    told = run(Job(name, 1, options), tmp_path, ["-k", suite], fast_starts.path())
    assert told
    assert all(each.outcome in HEALTHY for each in told), "\n".join(map(str, told))
