"""A deadlock by PFC behind a micro-loop, and what ends it: detection of deadlocks, a watchdog."""

from collections.abc import Mapping

from labtests.core.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    Axis,
    Panel,
    Parts,
    note,
    rule,
    sheet,
)
from labtests.core.sketch import sketch, way
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.cases.device_form import (
    WatchdogPart,
)
from labtests.network.pictures.picture import Picture, goodput_of, packaged
from labtests.network.reference.judging import ValidationRow, check

RING = ("H1", "H2", "H3", "H4")
LINE_GBIT_PER_S = 10.0
ALONE, DETECTED, WATCHED = "no guard", "deadlock detection", "pause watchdog"
COLOURS = {ALONE: VERMILION, DETECTED: BLUE, WATCHED: GREEN}


def deadlock() -> Picture:
    """Four flows round a ring that a micro-loop has locked: without a guard, and with two kinds."""
    case = packaged("deadlock")
    runs = {
        ALONE: run(_guarded(case, None)),
        DETECTED: run(case),
        WATCHED: run(_guarded(case, WatchdogPart(auto_restore_multiplier=1.0))),
    }
    return Picture(name="deadlock", svg=_drawn(case, runs), rows=tuple(_rows(case, runs)))


def _guarded(case: CaseFile, watchdog: WatchdogPart | None) -> CaseFile:
    switch = case.switch.model_copy(update={"deadlock": None, "watchdog": watchdog})
    return case.model_copy(update={"switch": switch})


def _loop_ms(case: CaseFile) -> tuple[float, float]:
    """When packets into the loop are sent."""
    stray = case.flows[-1]
    return stray.start_us / 1000, (stray.stop_us or 0.0) / 1000


def _total(figures: Figures) -> list[tuple[float, float]]:
    """Goodput of the ring's flows over time, Gbit/s at ms."""
    series = [f.goodput_series_gbit_per_s for f in figures.flows if f.name in RING]
    sums = (sum(values) for values in zip(*series, strict=True))
    return [((n + 0.5) * figures.bin_ms, value) for n, value in enumerate(sums)]


def _rows(case: CaseFile, runs: Mapping[str, Figures]) -> list[ValidationRow]:
    full = len(RING) * goodput_of(LINE_GBIT_PER_S)
    start, stop = _loop_ms(case)
    alone = _total(runs[ALONE])
    before = [value for time, value in alone if 5 < time < start]
    after = [value for time, value in alone if time > stop + 10]
    rows = [
        check("deadlock", "Gbit/s of four flows before the loop").near(
            sum(before) / len(before), full, 0.01
        ),
        check("deadlock", "most Gbit/s from 10 ms after the loop on").near(max(after), 0, 0),
    ]
    for name, longest in ((DETECTED, 110), (WATCHED, 200)):
        shut = min(guard.last_shut_ms or 0 for guard in runs[name].guards)
        within = (start + 100, stop + longest)
        rows.append(check(name, "ms, first port shut").between(shut, within, within[0]))
        end = _total(runs[name])[-1][1]
        rows.append(check(name, "Gbit/s of four flows at the end").near(end, full, 0.01))
    return rows


def _drawn(case: CaseFile, runs: Mapping[str, Figures]) -> str:
    parts = _sketched()
    full = len(RING) * goodput_of(LINE_GBIT_PER_S)
    words = {
        ALONE: "no guard: nothing moves again",
        DETECTED: "deadlock detection (Comware, 100 ms): one port stops PFC",
        WATCHED: "pause watchdog (NX-OS, 100 to 199 ms): one queue is shut and emptied",
    }
    for n, (name, figures) in enumerate(runs.items()):
        panel = Panel(
            left=310,
            top=115 + 140.0 * n,
            width=430,
            height=75,
            x=Axis(
                label="ms" if n == len(runs) - 1 else "",
                high=figures.duration_ms,
                ticks=tuple(range(0, 401, 50)),
            ),
            y=Axis(label="goodput of the four, Gbit/s", high=40, ticks=(0, 20, 40)),
            title=words[name],
        )
        parts += panel.frame() + panel.level(full, "four lines")
        parts.append(panel.line(_total(figures), COLOURS[name]))
        parts += _moments(panel, case, figures)
    return sheet(
        530,
        "Two milliseconds of a routing loop stop a ring for good, unless someone looks",
        "Four switches with PFC, 10 Gbit/s. Each host sends to the next; a fifth sender's packets "
        "go round from 50 to 52 ms.",
        parts,
    )


def _moments(panel: Panel, case: CaseFile, figures: Figures) -> Parts:
    """When the loop was fed, and when guards shut and restored."""
    start, stop = _loop_ms(case)
    low, high = panel.at(start, 0), panel.at(stop, 0)
    middle = (low[0] + high[0]) / 2
    parts = [rule((middle, panel.top), (middle, panel.bottom), ORANGE, width=high[0] - low[0] + 1)]
    for guard in figures.guards:
        for time, word in ((guard.last_shut_ms, "shut"), (guard.last_restored_ms, "restored")):
            if time:
                x, _ = panel.at(time, 0)
                parts.append(rule((x, panel.top), (x, panel.bottom), GREY, dashed=True))
                parts += note((x - 5, panel.bottom - 8), (word,), GREY, "end")
    return parts


def _sketched() -> Parts:
    corners = {"S1": (90.0, 170.0), "S2": (200.0, 170.0), "S3": (200.0, 280.0), "S4": (90.0, 280.0)}
    hosts = {"H1": (45, 215), "H2": (200, 125), "H3": (245, 235), "H4": (90, 325)}
    hosts |= {"stray": (90, 125)}
    ring = [("S1", "S2"), ("S2", "S3"), ("S3", "S4"), ("S4", "S1")]
    links = [*ring, ("S1", "H1"), ("S2", "H2"), ("S3", "H3"), ("S4", "H4"), ("S1", "stray")]
    parts = sketch({**corners, **hosts}, links, {**dict.fromkeys(RING, BLUE), "stray": ORANGE})
    loop = [(125, 200), (170, 200), (170, 250), (120, 250), (120, 208)]
    return parts + way(loop, ORANGE) + note((145, 229), ("loop",), ORANGE, "middle")
