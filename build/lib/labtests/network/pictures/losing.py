"""What loss on a wire leaves of the goodput: go-back-N, and go-back-0 that starts again."""

from collections.abc import Iterable, Mapping, Sequence

from labtests.core.drawing import BLUE, GREY, VERMILION, Axis, Panel, note, sheet
from labtests.network.cases import CaseFile, Figures, run
from labtests.network.pictures.picture import ON_WIRE, PAYLOAD, Picture, goodput_of, packaged
from labtests.network.reference import formulas
from labtests.network.reference.judging import ValidationRow, check

LINE_GBIT_PER_S, DELAY_S, ACK_ON_WIRE, REPEAT_S = 100.0, 2e-6, 84, 20e-6
MESSAGE_FRAMES = 4000
LIVELOCK = 1 / 256
"""Loss of the livelock experiment in Guo et al., RDMA over Commodity Ethernet at Scale (2016)."""
LOSSES = (1e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, LIVELOCK, 1e-2, 2e-2, 5e-2, 1e-1)
SMALL = 0.02
"""Above this loss the formula of go-back-N, first order in it, is some percent off."""
NAKS_OFF = 0.05
"""A NAK is for the first packet that is missing, and the efficiency is the share of packets that
are sent while none is. What is lost behind a loss makes no other NAK."""
ENOUGH = 0.3
"""Below this efficiency too few messages of go-back-0 arrive to compare them with a formula."""


def go_back(losses: Sequence[float] = LOSSES) -> Picture:
    """Efficiency against loss, for both kinds of go-back; LIVELOCK is among the losses."""
    case = packaged("go-back")
    by_packet = {p: run(_losing(case, p, "packet")) for p in losses}
    by_message = {p: run(_losing(case, p, "message")) for p in losses}
    rows = list(_rows(by_packet, by_message))
    return Picture(name="go-back", svg=_drawn(by_packet, by_message), rows=tuple(rows))


def _losing(case: CaseFile, loss: float, go_back: str) -> CaseFile:
    good, bad = case.links
    flow = case.flows[0].model_copy(update={"go_back": go_back})
    links = [good, bad.model_copy(update={"loss": loss})]
    return case.model_copy(update={"links": links, "flows": [flow]})


def _efficiency(figures: Figures) -> float:
    return figures.total_goodput_gbit_per_s / goodput_of(LINE_GBIT_PER_S)


def _formula(loss: float, *, message: bool) -> float:
    rate = LINE_GBIT_PER_S * 1.25e8
    k = formulas.frames_per_loss(rate, DELAY_S, ON_WIRE, ACK_ON_WIRE)
    if message:
        return formulas.go_back_0_efficiency(loss, k, MESSAGE_FRAMES)
    return formulas.go_back_n_efficiency(loss, k, REPEAT_S * rate / ON_WIRE)


def _rows(
    by_packet: Mapping[float, Figures], by_message: Mapping[float, Figures]
) -> Iterable[ValidationRow]:
    for loss, figures in by_packet.items():
        expected = _formula(loss, message=False)
        name = check("go_back_n", f"efficiency at {loss * 100:.3g} % loss")
        yield name.near(_efficiency(figures), expected, 0.03 if loss <= SMALL else 0.08)
    for loss, figures in by_packet.items():
        name = check("go_back_n", f"NAKs / packets lost at {loss * 100:.3g} % loss")
        lost = sum(each.lost_on_wire for each in figures.drops if each.switch == "receiver")
        naks = sum(each.nacks for each in figures.hosts if each.host == "sender")
        if lost > 0 and loss <= SMALL:
            yield name.near(naks / lost, _formula(loss, message=False), NAKS_OFF)
    for loss, figures in by_message.items():
        expected = _formula(loss, message=True)
        if expected > ENOUGH:
            name = check("go_back_0", f"efficiency at {loss * 100:.3g} % loss")
            yield name.near(_efficiency(figures), expected, 0.05)
    stuck = by_message[LIVELOCK]
    name = check("go_back_0", "efficiency at 1/256 loss: livelock")
    yield name.between(_efficiency(stuck), (0, 0.001), _formula(LIVELOCK, message=True))
    carried = stuck.flows[0].retransmitted_packets * PAYLOAD * 8 / stuck.duration_ms / 1e6
    name = check("go_back_0", "share of the line that carries repetitions at 1/256 loss")
    yield name.between(carried / goodput_of(LINE_GBIT_PER_S), (0.95, 1), 1)


def _drawn(by_packet: Mapping[float, Figures], by_message: Mapping[float, Figures]) -> str:
    panel = Panel(
        left=70,
        top=95,
        width=600,
        height=260,
        x=Axis(
            label="share of frames lost",
            low=1e-6,
            high=1e-1,
            ticks=(1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
            names=("0.0001 %", "0.001 %", "0.01 %", "0.1 %", "1 %", "10 %"),
            logarithmic=True,
        ),
        y=Axis(
            label="goodput, share of a line without loss",
            high=1,
            ticks=(0, 0.25, 0.5, 0.75, 1),
        ),
    )
    grid = [10 ** (-6 + n / 25) for n in range(126)]
    parts = panel.frame() + panel.upright(LIVELOCK, "1/256")
    for runs, message, colour in ((by_packet, False, BLUE), (by_message, True, VERMILION)):
        curve = [(p, _formula(p, message=message)) for p in grid]
        parts.append(panel.line(curve, GREY, width=1))
        parts += panel.dots([(p, _efficiency(f)) for p, f in runs.items()], colour)
    again = ("go-back-N: sends again", "from the lost frame on")
    whole = ("go-back-0: sends the whole", "message of 4 MB again")
    stuck = ("livelock: the line is", "full, nothing arrives")
    parts += note(panel.at(1.3e-2, 0.52), again, BLUE)
    parts += note(panel.at(2.4e-4, 0.52), whole, VERMILION, "end")
    parts += note((panel.right + 10, panel.bottom - 14), stuck, VERMILION)
    return sheet(
        415,
        "One frame lost in a hundred halves go-back-N; go-back-0 stops long before",
        "One flow, 100 Gbit/s, 8 µs there and back, random loss. Dots: measured; thin lines: "
        "closed forms.",
        parts,
    )
