"""Senders with and without ECN behind one queue with RED."""

from collections.abc import Mapping, Sequence

from labtests.core.drawing import BLUE, GREY, VERMILION, Axis, Panel, note, sheet
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.pictures.picture import (
    ON_WIRE,
    PAYLOAD,
    Picture,
    goodput_of,
    packaged,
)
from labtests.network.reference import formulas
from labtests.network.reference.judging import ValidationRow, check

LINE_GBIT_PER_S = 40.0
DATAGRAM = 1040
"""Payload of a UDP packet as long on the wire as one of RoCE."""
OFFERED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
NOBODY = 0.0


def mixed_ecn(offered: Sequence[float] = OFFERED) -> Picture:
    """A DCQCN flow beside UDP of more and more offered rate, RED in the queue.

    `offered`: shares of the line; 0.5 and 1 are among them.
    """
    case = packaged("mixed-ecn")
    runs = {share: run(_offering(case, share)) for share in offered}
    rows = _rows(runs[0.5], 0.5) + _rows(runs[1.0], 1.0)
    return Picture(name="mixed-ecn", svg=_drawn(runs), rows=tuple(rows))


def _offering(case: CaseFile, share: float) -> CaseFile:
    """UDP is offered at this share of the line (preamble and gap counted)."""
    roce, udp = case.flows
    if share == NOBODY:
        return case.model_copy(update={"flows": [roce]})
    rate = LINE_GBIT_PER_S * share * DATAGRAM / ON_WIRE
    udp = udp.model_copy(update={"rate_gbit_per_s": rate})
    return case.model_copy(update={"flows": [roce, udp]})


def picked(offered: float) -> float:
    """The share of packets that RED picks when UDP offers this share of the line.

    The DCQCN flow has what UDP leaves, R (1 - u (1 - p)), and p is where DCQCN holds that rate
    (fixed point of the fluid model for one flow). Found by bisection.
    """
    low, high = 1e-9, 1.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        rate = LINE_GBIT_PER_S * 1e9 * (1 - offered * (1 - middle))
        needed = formulas.dcqcn_marking(1, rate, ON_WIRE, increase_bits_per_s=40e6)
        low, high = (middle, high) if needed > middle else (low, middle)
    return low


def _left(offered: float) -> float:
    """Goodput of RoCE beside UDP, closed form."""
    rate = LINE_GBIT_PER_S * (1 - offered * (1 - picked(offered)))
    return rate * PAYLOAD / ON_WIRE


def _rows(figures: Figures, offered: float) -> list[ValidationRow]:
    name, most = f"mixed_ecn_{offered:.0%}", goodput_of(LINE_GBIT_PER_S)
    roce = figures.flows[0].goodput_gbit_per_s
    expected = _left(offered)
    margin = 0.01 * most
    bounds = (round(expected - margin, 2), round(expected + margin, 2))
    rows = [
        check(name, "Gbit/s of RoCE").between(roce, bounds, expected),
        check(name, "packets of RoCE sent again").near(
            figures.flows[0].retransmitted_packets, 0, 0
        ),
    ]
    if offered == 1:
        rows.append(check(name, "share of UDP dropped").near(_lost(figures), picked(1.0), 0.2))
        rows.append(check(name, "RoCE, share of its half").between(roce / most * 2, (0, 0.1), 0))
    return rows


def _lost(figures: Figures) -> float:
    """Share of the offered UDP that did not arrive, between warm-up and end."""
    return 1 - figures.flows[1].goodput_gbit_per_s * ON_WIRE / DATAGRAM / LINE_GBIT_PER_S


def _drawn(runs: Mapping[float, Figures]) -> str:
    most = goodput_of(LINE_GBIT_PER_S)
    panel = Panel(
        left=70,
        top=90,
        width=560,
        height=260,
        x=Axis(
            label="UDP offered, share of the line",
            high=1,
            ticks=(0, 0.2, 0.4, 0.6, 0.8, 1),
            names=("0", "20 %", "40 %", "60 %", "80 %", "100 %"),
        ),
        y=Axis(label="goodput, Gbit/s", high=40),
    )
    roce = [(s, f.flows[0].goodput_gbit_per_s) for s, f in runs.items()]
    udp = [(s, f.flows[1].goodput_gbit_per_s) for s, f in runs.items() if s != NOBODY]
    grid = [n / 50 for n in range(51)]
    fair = [(share, max(1 - share, 0.5) * most) for share in grid]
    parts = panel.frame()
    parts.append(panel.line(fair, GREY, width=1, dashes="5 3"))
    parts.append(panel.line([(s, _left(s) if s else most) for s in grid], BLUE, width=1))
    parts += panel.dots(roce, BLUE) + panel.dots(udp, VERMILION)
    most_udp, lost, least = udp[-1][1], _lost(runs[1.0]) * 100, roce[-1][1]
    right = panel.right + 12
    dropped = ("UDP, not ECN-capable:", f"{most_udp:.1f}, and {lost:.1f} % of it dropped")
    marked = ("RoCE with DCQCN, ECN-capable:", f"{least:.1f}, marked, none dropped")
    parts += note((right, panel.at(1, most_udp)[1] - 2), dropped, VERMILION)
    parts += note((right, panel.at(1, most / 2)[1] + 4), ("a fair share: half",), GREY)
    parts += note((right, panel.bottom - 18), marked, BLUE)
    return sheet(
        410,
        "Who understands ECN starves beside who does not",
        "One queue with RED at 40 Gbit/s: it marks RoCE, which slows down, and drops UDP, which "
        "does not. Blue line: closed form.",
        parts,
    )
