"""The pictures of docs/figures.md: right against closed forms, legible, and the same each time."""

import re
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.drawing import WIDTH
from labtests.network.pictures import locking, losing, mixing, queueing
from labtests.network.pictures.gallery import PICTURES, lines
from labtests.network.pictures.picture import Picture
from labtests.network.reference.judging import check

DOCS = Path(__file__).parents[2] / "docs"
SHORTER: dict[str, Callable[[], Picture]] = {
    "mixed-ecn": partial(mixing.mixed_ecn, (0.0, 0.5, 1.0)),
    "go-back": partial(losing.go_back, (1e-4, 1e-3, losing.LIVELOCK, 1e-2)),
    "routing-loop": partial(locking.routing_loop, (0.5, 0.98, 1.02, 1.5)),
    "dcqcn-queue": partial(queueing.dcqcn_queue, (4, 10)),
}
"""Fewer points than in the document, each as long."""


@pytest.fixture(scope="module")
def pictures() -> dict[str, Picture]:
    return {name: SHORTER.get(name, make)() for name, make in PICTURES.items()}


def test_every_picture_agrees_with_its_closed_forms(pictures: dict[str, Picture]) -> None:
    for picture in pictures.values():
        assert picture.rows
        assert [row for row in picture.rows if row.verdict != "pass"] == []


def test_a_figure_that_is_out_is_told(pictures: dict[str, Picture]) -> None:
    row = pictures["parking-lot"].rows[0]
    out = check(row.check, row.quantity).near(row.measured or 0, 2, 0.01)
    assert [line.endswith("   OUT") for line in lines([row, out])] == [False, False, True]


def test_nothing_in_a_picture_overlaps_or_is_cut_off(pictures: dict[str, Picture]) -> None:
    for picture in pictures.values():
        root = ElementTree.fromstring(picture.svg)
        height = float(root.attrib["viewBox"].split()[3])
        words = [e for e in root.iter() if e.text and e.text.strip()]
        boxes = {f"{n} {element.text}": _box(element) for n, element in enumerate(words)}
        assert len(boxes) > 10
        for which, (left, top, right, bottom) in boxes.items():
            assert left >= 0, (picture.name, which)
            assert right <= WIDTH, (picture.name, which)
            assert 0 <= top < bottom <= height, (picture.name, which)
        for one, other in combinations(boxes, 2):
            a, b = boxes[one], boxes[other]
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (picture.name, one, other)


def _box(element: ElementTree.Element) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of some words, by a rather wide font."""
    size = float(element.get("font-size", 12))
    wide = 0.6 if element.get("font-weight") else 0.53
    width = wide * size * len(element.text or "")
    x, y = float(element.attrib["x"]), float(element.attrib["y"])
    left = (
        x - {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor", "start")] * width
    )
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def test_the_command_writes_the_same_bytes_each_time(
    tmp_path: Path, pictures: dict[str, Picture]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- measured pause-sawtooth -->\n```text\nold\n```\n", encoding="utf-8")
    options = ["--out", str(tmp_path / "new"), "--page", str(page)]
    answer = CliRunner().invoke(main, ["network", "figures", "pause-sawtooth", *options])
    assert answer.exit_code == 0, answer.output
    written = (tmp_path / "new" / "pause-sawtooth.svg").read_text(encoding="utf-8")
    assert written == pictures["pause-sawtooth"].svg
    assert "pause_sawtooth: period, us" in page.read_text(encoding="utf-8")
    assert "old" not in page.read_text(encoding="utf-8")


def test_an_unknown_picture_is_named(tmp_path: Path) -> None:
    answer = CliRunner().invoke(main, ["network", "figures", "parkinglot", "--out", str(tmp_path)])
    assert answer.exit_code == 2
    assert "did you mean parking-lot?" in answer.stderr


def test_the_document_shows_every_picture_with_its_command_and_figures() -> None:
    text = (DOCS / "figures.md").read_text(encoding="utf-8")
    shown = re.findall(r"^!\[.+\]\(figures/(.+)\.svg\)$", text, re.M)
    assert shown == list(PICTURES)
    assert re.findall(r"^    labtests network figures (\S+)$", text, re.M) == shown
    assert re.findall(r"^<!-- measured (\S+) -->$", text, re.M) == shown
    assert " OUT" not in text
    for name in shown:
        assert (DOCS / "figures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
