"""Who is wired to whom, drawn small beside a plot."""

from collections.abc import Iterable, Mapping

from labtests.simlab.cases.drawing import BLACK, GREY, PAPER, Parts, Point, box, rule, text

BOX = (34.0, 24.0)
LINK = "#888888"


def sketch(
    places: Mapping[str, Point], links: Iterable[tuple[str, str]], colours: Mapping[str, str]
) -> Parts:
    """Devices at their places, joined by links; those with a colour are hosts of that colour."""
    parts = [rule(places[one], places[other], LINK, width=1.5) for one, other in links]
    for name, (x, y) in places.items():
        corner = (x - BOX[0] / 2, y - BOX[1] / 2)
        if name in colours:
            parts.append(box(corner, BOX, PAPER, outline=PAPER))
            parts.append(text((x, y + 4), name, colours[name], "middle", bold=True))
        else:
            parts.append(box(corner, BOX, "#f0f0f0", outline=GREY))
            parts.append(text((x, y + 4), name, BLACK, "middle"))
    return parts
