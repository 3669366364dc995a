"""Break runs at every journal step and count what comes back: python tests/recovery/breaking.py [N]

Serves a lab by hand; a runner kills itself (SIGKILL) before, in the middle of, and after each write
of its change journal. After each: `recover`, then every setting of every device and the traffic
tools are compared with what they were. With N only about N of the points are tried.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recovery_lab import Project, ServedLab, everything, nothing_runs, opened

from labtests.journal import FILE_NAME, unfinished_runs
from labtests.lab import Lab
from labtests.recovery import recover

HERE = Path(__file__).parent
ENDS_WITHIN_S = 10


@dataclass(frozen=True)
class Point:
    """Where a run was broken, and what was wrong afterwards ("" when nothing was)."""

    number: int
    how: str
    left_changed: int
    wrong: str

    def __str__(self) -> str:
        return (
            f"write {self.number:2} {self.how:6}: {self.left_changed:2} settings and listings "
            f"were changed; {self.wrong or 'all as before, no process left'}"
        )


def run(project: Project, number: int, how: str) -> Path:
    """One runner, to its end; its folder."""
    folder = project.folder / f"run-{number}-{how}"
    words = [sys.executable, str(HERE / "dying_runner.py"), str(project.testbed_file), str(folder)]
    done = subprocess.run(
        [*words, str(number), how], env=project.environment, capture_output=True, text=True
    )
    assert done.returncode == (-9 if number else 0), done.stderr
    return folder


def points(project: Project) -> list[tuple[int, str]]:
    """Every write of a run that lives, before, in the middle of, and after it."""
    writes = (run(project, 0, "after") / FILE_NAME).read_text().count("\n")
    return [(n, how) for n in range(1, writes + 1) for how in ("before", "torn", "after")]


def break_at(lab: Lab, project: Project, number: int, how: str) -> Point:
    """One point: break, look, recover, compare."""
    found = everything(lab)
    run(project, number, how)
    ended = nothing_runs(lab, ENDS_WITHIN_S)
    now = everything(lab)
    changed = sum(now[name] != found[name] for name in found)
    wrong = [] if ended else ["processes are left"]
    for unfinished in unfinished_runs():
        done = recover(unfinished)
        wrong += [] if done.complete else done.lines()
    now = everything(lab)
    wrong += [f"{name} is not as it was" for name in found if now[name] != found[name]]
    wrong += ["a run is still unfinished"] if unfinished_runs() else []
    return Point(number, how, changed, "; ".join(wrong))


def broken(served: ServedLab, folder: Path, at_most: int | None = None) -> Iterator[Point]:
    """The points, spread evenly when not all are wanted."""
    project = Project(folder, served)
    os.environ["LABTESTS_STATE_DIR"] = str(project.state / "labtests")
    every = points(project)
    step = 1 if at_most is None else max(len(every) / at_most, 1)
    chosen = [every[int(i * step)] for i in range(int(len(every) / step))]
    with opened(project.testbed) as lab:
        for number, how in chosen:
            yield break_at(lab, project, number, how)


def main() -> int:
    """Print each point and the tally; 1 when one did not survive."""
    at_most = int(sys.argv[1]) if len(sys.argv) > 1 else None
    tried: list[Point] = []
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        served = ServedLab(Path(folder) / "lab")
        try:
            for point in broken(served, Path(folder), at_most):
                print(point, flush=True)
                tried.append(point)
        finally:
            served.end()
    survived = sum(not point.wrong for point in tried)
    took_s = time.monotonic() - begun_s
    print(
        f"kill -9 at journal writes: {len(tried)} points tried, {survived} survived, {took_s:.0f} s"
    )
    return int(survived < len(tried))


if __name__ == "__main__":
    sys.exit(main())
