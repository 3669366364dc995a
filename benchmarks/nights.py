"""How long it takes to look at a long history: python benchmarks/nights.py [NIGHTS [SUITES]]

The pages are built, and opened in Chromium where it is installed; `history list`, `show`, `trend`,
`flaky` and `metrics write` read the same nights. Medians of three, and seconds of CPU beside.
"""

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labtests.history import command, metrics
from labtests.history.records import KeptFact, KeptRun, KeptTest, KeptVerdict
from labtests.history.site import write_site
from labtests.history.store import History

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
FACTS, TIMES = 4, 3
FACT = KeptFact(name="", measured=0.95, bound=">= 0.75", margin=0.2, unit="ratio", note="")
VERDICT = KeptVerdict(question="Was it full?", phase="on", role="main", outcome="pass",
                      as_expected=True, because="")  # fmt: skip
OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
PAINTED = "performance.getEntriesByType('paint').map((paint) => paint.startTime)[0] ?? 0"


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


def _timed(what: str, work: Callable[[], object]) -> None:
    took, cpu = [], []
    for _ in range(TIMES):
        began_s, cpu_s = time.perf_counter(), time.process_time()
        work()
        took.append(time.perf_counter() - began_s)
        cpu.append(time.process_time() - cpu_s)
    print(f"{what:28} {statistics.median(took):7.2f} s {statistics.median(cpu):7.2f} s of CPU")


def _opened(pages: list[Path], folder: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        return print("no Chromium on PATH: the pages were not opened")
    chromium = __import__("chromium").Chromium
    with chromium(browser, folder / "profile") as shown:
        for page in pages:
            took = []
            for _ in range(TIMES):
                shown.open(page.as_uri())
                shown.picture(folder / "shown.png")  # else nothing is painted
                took.append((shown.run(OPENED), shown.run(PAINTED)))
            loaded, painted = (statistics.median(each) / 1000 for each in zip(*took, strict=True))
            print(f"opened: {page.name[:20]:20} {loaded:7.2f} s, painted after {painted:.2f} s, "
                  f"{page.stat().st_size / 1e3:.0f} kB")  # fmt: skip
    return None


def main(nights: int = 1000, suites: int = 50) -> None:
    drawn = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where, site = str(folder / "history.sqlite"), folder / "site"
        lab = {"testbed": "lab", "backend": "hardware"}
        with History.open(where) as history:
            began_s = time.perf_counter()
            for night in range(nights):
                history.enter(_run(night, suites, drawn))
            entered_s = time.perf_counter() - began_s
            print(f"{nights} nights of {suites} suites of {FACTS} figures")
            print(f"a night is entered           {entered_s / nights:7.2f} s")
            _timed("site", lambda: write_site(history, site))
        _timed("history list", lambda: command.listed(where, testbed="", backend="", most=20))
        _timed("history show", lambda: command.shown(where, str(nights)))
        asked = command.TrendRequest(**lab, test="", every=False, most=365)
        _timed("history trend", lambda: command.trends(where, asked))
        _timed("history flaky", lambda: command.flaky_suites(where, **lab))
        _timed("metrics write", lambda: metrics.write_metrics(where, folder / "labtests.prom"))
        largest = max(site.iterdir(), key=lambda page: page.stat().st_size)
        _opened([site / "index.html", largest], folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
