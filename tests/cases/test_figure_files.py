"""Drawings as SVG, PDF and PNG: of the size that they say, letters as letters."""

import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labtests.__main__ import main
from labtests.core import figure_file

ROOT = Path(__file__).parents[2]
CASE = ROOT / "docs" / "cases" / "routing-loop.yaml"
DRAWING = ROOT / "docs" / "figures" / "pause-sawtooth.svg"
MM_PER_INCH = 25.4


def plotted(file: Path, *more: object) -> Result:
    return CliRunner().invoke(
        main, ["network", "run", str(CASE), "--plot", str(file), *map(str, more)]
    )


def page_points(pdf: bytes) -> tuple[float, float]:
    found = re.search(rb"/MediaBox ?\[0 0 ([0-9.]+) ([0-9.]+)\]", pdf)
    assert found is not None
    return float(found[1]), float(found[2])


def png_pixels(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    wide, high = struct.unpack(">II", png[16:24])
    return int(wide), int(high)


def test_a_pdf_is_as_wide_as_it_was_asked_for_and_its_letters_are_letters(tmp_path: Path) -> None:
    assert plotted(tmp_path / "plot.pdf", "--width-mm", 88).exit_code == 0
    pdf = (tmp_path / "plot.pdf").read_bytes()
    wide, high = page_points(pdf)
    assert wide / 72 * MM_PER_INCH == pytest.approx(88, abs=0.1)
    assert 0.3 < high / wide < 4
    assert b"/BaseFont" in pdf
    assert b"/FontFile" in pdf  # with it, not asked of the reader's machine
    assert b"/Subtype/Image" not in pdf.replace(b" ", b"")


def test_a_png_has_300_dots_to_an_inch_and_shows_something(tmp_path: Path) -> None:
    assert plotted(tmp_path / "plot.png", "--width-mm", 88).exit_code == 0
    png = (tmp_path / "plot.png").read_bytes()
    assert png_pixels(png)[0] == pytest.approx(88 / MM_PER_INCH * 300, abs=2)
    assert round(struct.unpack(">I", png[png.index(b"pHYs") + 4 :][:4])[0] * 0.0254) == 300
    packed = b"".join(re.findall(rb"IDAT(.*?)....(?=....I[DE])", png, re.DOTALL))
    assert len(set(zlib.decompressobj().decompress(packed))) > 20


def test_a_drawing_without_a_size_has_a_pixel_for_each_unit(tmp_path: Path) -> None:
    svg = DRAWING.read_text(encoding="utf-8")
    box = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert box is not None
    wide, high = int(box[1]), int(box[2])
    file = figure_file.in_folder(tmp_path / "made", "sawtooth", "pdf", svg)
    assert page_points(file.read_bytes()) == pytest.approx((wide * 0.75, high * 0.75), abs=0.02)
    file = figure_file.in_folder(tmp_path / "made", "sawtooth", "png", svg)
    assert png_pixels(file.read_bytes()) == pytest.approx((wide * 3.125, high * 3.125), abs=2)


def test_a_measure_with_any_name_is_a_file_of_this_folder(tmp_path: Path) -> None:
    svg = DRAWING.read_text(encoding="utf-8")
    names = ("map-goodput / theoretical maximum (>=)", "../../out", "front-a-b")
    files = [figure_file.in_folder(tmp_path / "made", name, "svg", svg) for name in names]
    assert [file.name for file in files] == [
        "map-goodput-theoretical-maximum-.svg", "..-..-out.svg", "front-a-b.svg"
    ]  # fmt: skip
    assert {file.parent for file in files} == {tmp_path / "made"}


def test_a_name_that_is_no_drawing_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    answer = plotted(tmp_path / "plot.jpg")
    assert answer.exit_code == 2
    assert "plot.jpg: a drawing is a file that ends in .svg, .pdf, .png" in answer.stderr
    assert not answer.stdout


def test_without_the_package_it_is_named_and_svg_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(figure_file.importlib, "import_module", missing)
    with pytest.raises(figure_file.LabError, match=r"vl-convert-python, which is not installed"):
        figure_file.write_figure(tmp_path / "x.pdf", DRAWING.read_text(encoding="utf-8"))
    figure_file.write_figure(tmp_path / "x.svg", DRAWING.read_text(encoding="utf-8"))
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<svg")
