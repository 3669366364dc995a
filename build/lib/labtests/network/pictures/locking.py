"""Deadlocks by PFC: what makes one in a ring of four switches, what does not, and what ends it."""

from collections.abc import Mapping, Sequence

from labtests.core.drawing import (
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    Axis,
    Panel,
    Parts,
    note,
    sheet,
)
from labtests.core.sketch import sketch, way
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.pictures.picture import ON_WIRE, Picture, goodput_of, packaged
from labtests.network.reference import formulas
from labtests.network.reference.judging import check

DATAGRAM = 1040
"""Payload of a UDP packet that is 1106 B on the wire."""


# -- a loop alone: how much it takes ---------------------------------------------------------------

SWITCHES, LINE_GBIT_PER_S, TTL = 4, 10.0, 64
LAST_MS = 50.0
OFFERED = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.02, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5)


def routing_loop(offered: Sequence[float] = OFFERED) -> Picture:
    """Packets into a loop at more and more rate: what its TTL takes out in the end.

    `offered`: shares of what it can take out.
    """
    case = packaged("routing-loop")
    most = formulas.loop_drain(SWITCHES, LINE_GBIT_PER_S, TTL)
    taken = {share: _taken_out(case, share * most) for share in offered}
    rows = [
        check("routing_loop", f"Gbit/s that leave by TTL, {share * most:.4g} sent").near(
            rate, share * most if share < 1 else 0, 0.01
        )
        for share, rate in taken.items()
    ]
    return Picture(name="routing-loop", svg=_loop_drawn(taken, most), rows=tuple(rows))


def _taken_out(case: CaseFile, gbit_per_s: float) -> float:
    """What leaves the loop in the last 50 ms, Gbit/s on the wire: two runs' difference."""
    rate = gbit_per_s * DATAGRAM / ON_WIRE
    flows = [case.flows[0].model_copy(update={"rate_gbit_per_s": rate})]
    dropped = []
    for duration_ms in (case.duration_ms - LAST_MS, case.duration_ms):
        figures = run(case.model_copy(update={"flows": flows, "duration_ms": duration_ms}))
        dropped.append(sum(drop.ttl for drop in figures.drops))
    return (dropped[1] - dropped[0]) * ON_WIRE * 8 / LAST_MS / 1e6


def _loop_drawn(taken: Mapping[float, float], most: float) -> str:
    panel = Panel(
        left=70,
        top=105,
        width=560,
        height=240,
        x=Axis(label="sent into the loop, Gbit/s", low=0.3, high=0.95, ticks=(0.3, 0.4, 0.5, 0.6,
               0.7, 0.8, 0.9)),
        y=Axis(label="leaves it by TTL, Gbit/s", high=0.8, ticks=(0, 0.2, 0.4, 0.6, 0.8)),
    )  # fmt: skip
    parts = panel.frame() + panel.upright(most, f"n B / TTL = {most:g}")
    parts.append(panel.line([(0.3, 0.3), (most, most)], GREY, width=1))
    for lives, colour in ((True, BLUE), (False, VERMILION)):
        points = [(s * most, rate) for s, rate in taken.items() if (s < 1) == lives]
        parts += panel.dots(points, colour)
    above = ("deadlock: every switch of", "the loop waits for the next,", "nothing leaves it again")
    parts += note((panel.right + 12, panel.bottom - 30), above, VERMILION)
    below = ("below, all of it", "is dropped in the end")
    parts += note(panel.at(0.42, 0.36), below, BLUE)
    return sheet(
        395,
        "A routing loop locks up as soon as more goes in than its TTL takes out",
        "Lossless packets into a loop of n = 4 switches, links of B = 10 Gbit/s, TTL 64; what "
        "leaves after 150 ms.",
        parts,
    )


# -- a cycle without a loop ------------------------------------------------------------------------

CYCLE_GBIT_PER_S = 25.0
LONG_MS = 200.0
CORNERS = {"A": (75.0, 150.0), "B": (215.0, 150.0), "C": (215.0, 270.0), "D": (75.0, 270.0)}
CYCLE_COLOURS = {"A-D": BLUE, "C-B": GREEN, "B-C": VERMILION}


def cyclic_dependency() -> Picture:
    """Routes that form a cycle of buffers: two flows live in it, with a third one all stop."""
    case = packaged("cyclic-dependency")
    two = case.model_copy(update={"flows": case.flows[:2]})
    calm, locked = run(two), run(case)
    longer = run(two.model_copy(update={"duration_ms": LONG_MS}))
    half = goodput_of(CYCLE_GBIT_PER_S) / 2
    rows = [
        check("cycle_two_flows", f"Gbit/s of {flow.name}, {LONG_MS:g} ms").near(
            flow.goodput_gbit_per_s, half, 0.01
        )
        for flow in longer.flows
    ]
    rows.append(check("cycle_two_flows", "xoffs of B to A").near(_pauses(longer, "B", "A"), 0, 0))
    last = sum(flow.goodput_series_gbit_per_s[-1] for flow in locked.flows)
    rows.append(check("cycle_three_flows", "Gbit/s of all at the end").near(last, 0, 0))
    return Picture(name="cyclic-dependency", svg=_cycle_drawn(calm, locked), rows=tuple(rows))


def _pauses(figures: Figures, device: str, port: str) -> int:
    return sum(p.sent_frames for p in figures.pauses if (p.device, p.port) == (device, port))


def _cycle_drawn(calm: Figures, locked: Figures) -> str:
    parts = _cycle_sketch()
    half = goodput_of(CYCLE_GBIT_PER_S) / 2
    for figures, top, title in (
        (calm, 110.0, "two flows: no deadlock, though each waits for the other's buffers"),
        (locked, 280.0, "from 2 ms on a third, B to C: all stand still for good"),
    ):
        panel = Panel(
            left=345,
            top=top,
            width=380,
            height=100,
            x=Axis(label="ms" if figures is locked else "", high=figures.duration_ms),
            y=Axis(label="goodput, Gbit/s", high=15, ticks=(0, 5, 10, 15)),
            title=title,
        )
        parts += panel.frame() + panel.level(half, "half a line")
        for flow in figures.flows:
            parts.append(panel.line(_over_time(figures, flow.goodput_series_gbit_per_s),
                                    CYCLE_COLOURS[flow.name]))  # fmt: skip
    return sheet(
        440,
        "A cycle of buffers need not deadlock; one more flow, and it does",
        "Four switches in a ring, 25 Gbit/s, PFC; every route is clockwise, none is a loop.",
        parts,
    )


def _over_time(figures: Figures, series: Sequence[float]) -> list[tuple[float, float]]:
    """A series at the middles of its bins, in ms."""
    return [((n + 0.5) * figures.bin_ms, value) for n, value in enumerate(series)]


def _cycle_sketch() -> Parts:
    parts = way([(70, 112), (70, 145), (220, 145), (220, 275), (70, 275), (70, 318)], BLUE)
    parts += way([(211, 318), (211, 266), (80, 266), (80, 154), (211, 154), (211, 112)], GREEN)
    parts += way([(262, 152), (229, 152), (229, 268), (262, 268)], VERMILION)
    parts += sketch(CORNERS, [], {})
    parts += note((70, 104), ("A to D",), BLUE, "middle")
    parts += note((211, 334), ("C to B",), GREEN, "middle")
    parts += note((266, 214), ("B to C",), VERMILION, "middle")
    return parts
