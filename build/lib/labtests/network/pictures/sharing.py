"""Who gets how much when PFC holds ports, and when DCQCN holds flows (formulas: PFC divides a line
by the ports that fill it, and each port's part by the flows behind it; DCQCN divides by flows).
"""

from collections.abc import Mapping

from labtests.core.drawing import (
    BLACK,
    BLUE,
    GREEN,
    PAPER,
    VERMILION,
    Axis,
    Panel,
    Parts,
    box,
    sheet,
    text,
)
from labtests.core.sketch import sketch
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.pictures.picture import Picture, goodput_of, packaged, pfc_only
from labtests.network.reference.judging import ValidationRow, check

LINE_GBIT_PER_S = 40.0
CURED = "PFC, ECN and DCQCN"
PARTS = {"H1": 1 / 6, "H2": 1 / 6, "H3": 1 / 3, "H4": 1 / 3}
GOODPUT = "goodput, Gbit/s"


# -- parking lot -----------------------------------------------------------------------------------


def parking_lot() -> Picture:
    """Four senders behind three ports: with PFC alone, and with DCQCN."""
    case = packaged("parking-lot")
    alone, cured = run(pfc_only(case, duration_ms=15, warmup_ms=5)), run(case)
    line = goodput_of(LINE_GBIT_PER_S)
    rows = [
        check("parking_lot_pfc", f"Gbit/s of {name}").near(rate, line * PARTS[name], 0.01)
        for name, rate in _rates(alone).items()
    ]
    rows += [
        check("parking_lot_dcqcn", f"Gbit/s of {name}").near(rate, line / 4, 0.12)
        for name, rate in _rates(cured).items()
    ]
    rows.append(
        check("parking_lot_dcqcn", "Jain's index").between(cured.fairness, (0.98, 1.0), 1.0)
    )
    return Picture(name="parking-lot", svg=_parking_lot(alone, cured), rows=tuple(rows))


def _parking_lot(alone: Figures, cured: Figures) -> str:
    line = goodput_of(LINE_GBIT_PER_S)
    colours = {"H1": VERMILION, "H2": VERMILION, "H3": BLUE, "H4": BLUE}
    parts = sketch(
        {
            "R": (70, 105), "H4": (190, 105), "T4": (130, 155), "T1": (80, 220), "T2": (185, 220),
            "H1": (45, 280), "H2": (115, 280), "H3": (185, 280),
        },
        [("T4", "R"), ("T4", "H4"), ("T4", "T1"), ("T4", "T2"), ("T1", "H1"), ("T1", "H2"),
         ("T2", "H3")],
        {**colours, "R": BLACK},
    )  # fmt: skip
    left = _bars(alone, 295, "PFC alone", colours)
    right = _bars(cured, 585, f"{CURED} (Jain {cured.fairness:.3f})", dict.fromkeys(PARTS, GREEN))
    parts += (
        left[0].upright(line / 6, "1/6 of the line") + left[0].upright(line / 3, "1/3") + left[1]
    )
    parts += right[0].upright(line / 4, "1/4 of the line") + right[1]
    return sheet(
        350,
        "PFC divides a line by ports, DCQCN by flows",
        "Four senders to R, all links 40 Gbit/s: H1 and H2 share one uplink and get half of what "
        "the others get.",
        parts,
    )


def _bars(
    figures: Figures, left: float, title: str, colours: Mapping[str, str]
) -> tuple[Panel, Parts]:
    names = tuple(colours)
    panel = Panel(
        left=left,
        top=110,
        width=240,
        height=185,
        x=Axis(label=GOODPUT, high=14, ticks=(0, 2, 4, 6, 8, 10, 12, 14)),
        y=_categories(names),
        title=title,
    )
    rates = _rates(figures)
    parts = panel.frame()
    for place, name in zip(panel.y.ticks, names, strict=True):
        parts += _bar(panel, rates[name], (place, 30), colours[name], f"{rates[name]:.2f}")
    return panel, parts


def _categories(names: tuple[str, ...]) -> Axis:
    """Names from top to bottom."""
    places = tuple(len(names) - n - 0.5 for n in range(len(names)))
    return Axis(label="", high=len(names), ticks=places, names=names)


def _bar(panel: Panel, value: float, place: tuple[float, float], colour: str, words: str) -> Parts:
    """A bar in a panel of categories at (category, thickness), its figure inside at its end."""
    x, y = panel.at(value, place[0])
    corner = (panel.left + 0.5, y - place[1] / 2)
    return [
        box(corner, (x - corner[0], place[1]), colour),
        text((x - 6, y + 4), words, PAPER, "end", bold=True),
    ]


def _rates(figures: Figures) -> dict[str, float]:
    return {flow.name: flow.goodput_gbit_per_s for flow in figures.flows}


# -- victim flow -----------------------------------------------------------------------------------


def victim_flow() -> Picture:
    """A flow whose own link is free, behind an uplink that PFC holds, with 0, 1, 2 more senders."""
    case = packaged("victim-flow")
    alone, cured = {}, {}
    for more in range(3):
        some = _with_senders(case, more)
        alone[more] = run(pfc_only(some, duration_ms=15, warmup_ms=5))
        cured[more] = run(some)
    rows = [*_victim_rows(alone, cured)]
    return Picture(name="victim-flow", svg=_victim_flow(alone, cured), rows=tuple(rows))


def _with_senders(case: CaseFile, more: int) -> CaseFile:
    return case.model_copy(update={"flows": case.flows[: 5 + more]})


def _victim_rows(alone: Mapping[int, Figures], cured: Mapping[int, Figures]) -> list[ValidationRow]:
    line = goodput_of(LINE_GBIT_PER_S)
    rows = []
    for more, held in ((0, line / 5), (1, line / 8), (2, line / 8)):
        victim = _rates(alone[more])["VS"]
        rows.append(check(f"victim_pfc_k{more}", "Gbit/s of VS").near(victim, held, 0.01))
    for more, fair in ((0, line / 5), (1, line / 5), (2, line / 3)):
        rates = _rates(cured[more])
        name = f"victim_dcqcn_k{more}"
        low = (round(0.9 * fair, 2), round(line, 2))
        rows.append(check(name, "Gbit/s of VS, at least max-min").between(rates["VS"], low, fair))
        uplink = sum(rates[host] for host in ("VS", "H11", "H12", "H13", "H14"))
        rows.append(check(name, "Gbit/s of the uplink, full").near(uplink, line, 0.02))
    return rows


def _victim_flow(alone: Mapping[int, Figures], cured: Mapping[int, Figures]) -> str:
    line = goodput_of(LINE_GBIT_PER_S)
    parts = sketch(
        {
            "VR": (55, 95), "R": (140, 95), "T2": (55, 145), "T4": (140, 145), "S": (140, 200),
            "T1": (100, 260), "T3": (235, 200), "VS": (40, 320), "H11…H14": (125, 320),
            "H31": (210, 260), "H32": (262, 260),
        },
        [("T2", "VR"), ("T4", "R"), ("S", "T2"), ("S", "T4"), ("S", "T3"), ("S", "T1"),
         ("T1", "VS"), ("T1", "H11…H14"), ("T3", "H31"), ("T3", "H32")],
        {"VS": VERMILION, "VR": VERMILION, "R": BLACK, "H11…H14": BLUE, "H31": BLUE, "H32": BLUE},
    )  # fmt: skip
    panel = Panel(
        left=440,
        top=95,
        width=390,
        height=225,
        x=Axis(label="goodput of VS, Gbit/s", high=16, ticks=tuple(range(0, 17, 2))),
        y=_categories(("four senders to R", "+ H31", "+ H31, H32")),
    )
    parts += panel.frame()
    for share in (8, 5, 3):
        parts += panel.upright(line / share, f"1/{share}")
    for place, more in zip(panel.y.ticks, alone, strict=True):
        held, free = _rates(alone[more])["VS"], _rates(cured[more])["VS"]
        parts += _bar(panel, held, (place + 0.19, 26), VERMILION, f"PFC alone {held:.2f}")
        parts += _bar(panel, free, (place - 0.19, 26), GREEN, f"DCQCN {free:.2f}")
    return sheet(
        375,
        "A flow to a free link is held by PFC; DCQCN sets it free",
        "VS to VR shares only T1's uplink with those who overrun R. All links 40 Gbit/s; dashed: "
        "parts of a line.",
        parts,
    )
