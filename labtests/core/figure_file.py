"""A drawing as the file that its reader wants: SVG, PDF or PNG, by the file's name.

PDF has lines and letters, their font with them. All three have the size that the drawing has: the
millimetres that it says, else a CSS pixel for each unit. The conversion is vl-convert-python's
(extra `figures`), whose PDF takes a pixel for a point.
"""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

import click

from labtests.core.errors import LabError
from labtests.core.private_files import safe_folder, told_of, write_bytes, write_private

KINDS = ("svg", "pdf", "png")
SVG = "http://www.w3.org/2000/svg"
PIXELS_PER_INCH, POINTS_PER_INCH, MM_PER_INCH = 96, 72, 25.4
"""Of CSS; of PDF."""
DOTS_PER_INCH = 300
"""Of a PNG: what printers ask for."""
Function = TypeVar("Function", bound=Callable[..., Any])
_NO_NAME = re.compile(r"[^A-Za-z0-9_.]+")


def kind_option(default: str, words: str) -> Callable[[Function], Function]:
    """The option --as of a command that draws files into a folder; it has it as `kind`."""
    kinds = click.Choice(KINDS)
    return click.option("--as", "kind", type=kinds, default=default, show_default=True, help=words)


def check_name(file: Path) -> None:
    """Raises LabError for a file that no drawing goes into, before any is made."""
    if _kind(file) not in KINDS:
        raise LabError(f"{file}: a drawing is a file that ends in .{', .'.join(KINDS)}")
    if _kind(file) != "svg":
        _converter(file)


def write_figure(file: Path, svg: str) -> None:
    """The drawing in the form that the file's name asks for. Raises LabError, also for a disk."""
    check_name(file)
    with told_of(file):
        if _kind(file) == "svg":
            write_private(file, svg)
        else:
            write_bytes(file, _converted(file, svg))


def in_folder(folder: Path, name: str, kind: str, svg: str) -> Path:
    """The drawing as NAME.KIND in this folder, which is made. A name may be a measure's: what is no
    letter, figure, `_` or `.` in it is a hyphen. Raises LabError."""
    file = folder / f"{_NO_NAME.sub('-', name)}.{kind}"
    check_name(file)
    try:
        safe_folder(folder)
    except OSError as error:
        raise LabError(f"{folder} cannot be made: {error.strerror}") from error
    write_figure(file, svg)
    return file


def _kind(file: Path) -> str:
    return file.suffix.lower().removeprefix(".")


def _converted(file: Path, svg: str) -> bytes:
    if _kind(file) == "pdf":
        return bytes(_converter(file).svg_to_pdf(_in_points(svg)))
    scale = POINTS_PER_INCH / PIXELS_PER_INCH
    return bytes(_converter(file).svg_to_png(svg, scale=scale, ppi=DOTS_PER_INCH))


def _in_points(svg: str) -> str:
    """The drawing, its size in points."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    said = root.get("width", "").removesuffix("mm")
    inches = float(said) / MM_PER_INCH if said else width / PIXELS_PER_INCH
    points = inches * POINTS_PER_INCH
    root.set("width", f"{points:.2f}")
    root.set("height", f"{points * height / width:.2f}")
    return ElementTree.tostring(root, encoding="unicode")


def _converter(file: Path) -> Any:
    try:
        return importlib.import_module("vl_convert")
    except ImportError as error:
        raise LabError(
            f"{file}: PDF and PNG need the package vl-convert-python, which is not installed\n"
            "  remedy: pip install 'labtests[figures]', or write a file that ends in .svg"
        ) from error
