"""How long the pages over a long history take: python benchmarks/nights.py [NIGHTS [SUITES]]"""

import random
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labtests.history.records import KeptFact, KeptRun, KeptTest, KeptVerdict
from labtests.history.site import write_site
from labtests.history.store import History

FACTS = 4
FACT = KeptFact(name="", measured=0.95, bound=">= 0.75", margin=0.2, unit="ratio", note="")
VERDICT = KeptVerdict(question="Was it full?", phase="on", role="main", outcome="pass",
                      as_expected=True, because="")  # fmt: skip


def _run(night: int, suites: int, drawn: random.Random) -> KeptRun:
    def test(number: int) -> KeptTest:
        facts = tuple(
            replace(FACT, name=f"figure {n}", margin=drawn.gauss(0.2, 0.01)) for n in range(FACTS)
        )
        return KeptTest(name=f"suites/test_{number}.py::test_it", title="", duration_s=12.5,
                        outcome="fail" if drawn.random() < 0.01 else "pass", error="",
                        verdicts=(replace(VERDICT, facts=facts),))  # fmt: skip

    when = (datetime(2023, 1, 1, 2, tzinfo=UTC) + timedelta(days=night)).isoformat()
    return KeptRun(
        identity=str(night), testbed="lab", backend="hardware", exit_code=1, problem="", seed=None,
        started=when, ended=when, faults="[]", whole=True, commit_of_suites="",
        folder=f"/r/{night}", labtests_version="", command_line="", state={},
        tests=tuple(map(test, range(suites))),
    )  # fmt: skip


def main(nights: int = 1000, suites: int = 50) -> None:
    drawn = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        with History.open(str(Path(folder) / "history.sqlite")) as history:
            for night in range(nights):
                history.enter(_run(night, suites, drawn))
            began_s, cpu_s = time.perf_counter(), time.process_time()
            pages = write_site(history, Path(folder) / "site")
            took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
        largest = max((Path(folder) / "site" / page).stat().st_size for page in pages)
    print(f"{nights} nights, {suites} suites of {FACTS} figures: {len(pages)} pages in "
          f"{took_s:.1f} s ({cpu_s:.1f} s of CPU), the largest {largest / 1e3:.0f} kB")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
