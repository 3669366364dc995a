"""All pictures by name; into a folder, and their figures into the document that shows them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

from labtests.core.errors import LabError
from labtests.core.figure_file import in_folder
from labtests.core.private_files import write_private
from labtests.inventory.mistakes import nearest, quoted
from labtests.network.pictures import locking, losing, mixing, queueing, releasing, sharing
from labtests.network.pictures.picture import Picture
from labtests.network.reference.judging import ValidationRow

PICTURES: MappingProxyType[str, Callable[[], Picture]] = MappingProxyType(
    {
        "parking-lot": sharing.parking_lot,
        "victim-flow": sharing.victim_flow,
        "deadlock": releasing.deadlock,
        "routing-loop": locking.routing_loop,
        "cyclic-dependency": locking.cyclic_dependency,
        "mixed-ecn": mixing.mixed_ecn,
        "go-back": losing.go_back,
        "pause-sawtooth": queueing.pause_sawtooth,
        "dcqcn-queue": queueing.dcqcn_queue,
    }
)


def made(names: Sequence[str]) -> Iterator[Picture]:
    """The pictures of these names, or all. Raises LabError for a name that is not there."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        raise LabError(f"no picture {quoted(unknown[0])}: {nearest(unknown[0], PICTURES)}")
    for name in names or PICTURES:
        yield PICTURES[name]()


def write(picture: Picture, folder: Path, kind: str = "svg") -> Path:
    """The picture as a file of this kind in the folder, which is made. Raises LabError when it
    cannot be."""
    return in_folder(folder, picture.name, kind, picture.svg)


def lines(rows: Sequence[ValidationRow]) -> Iterator[str]:
    """What a picture shows, beside what it should show."""
    yield f"{'measured':>9} {'expected':>9}  {'tolerance':14} quantity"
    for row in rows:
        out = "" if row.verdict == "pass" else "   OUT"
        yield (
            f"{row.measured or 0:9.4g} {row.expected or 0:9.4g}  {row.tolerance:14} "
            f"{row.check}: {row.quantity}{out}"
        )


def quote(page: Path, pictures: Sequence[Picture]) -> None:
    """The page's block behind `<!-- measured NAME -->` of each picture has its figures of now.

    Raises LabError when the page cannot be read or written, or has no such block.
    """
    try:
        content = page.read_text(encoding="utf-8")
        for picture in pictures:
            content = _quoted(page, content, picture)
        write_private(page, content)
    except OSError as error:
        raise LabError(f"{page}: {error.strerror}") from error


def _quoted(page: Path, content: str, picture: Picture) -> str:
    mark = f"<!-- measured {picture.name} -->"
    before, found, behind = content.partition(f"{mark}\n```text\n")
    _, end, rest = behind.partition("```\n")
    if not found or not end:
        raise LabError(
            f"{page} has no block for the figures of {picture.name}\n"
            f"  remedy: put the line {mark} into it, and a block of ```text below"
        )
    return "".join([before, found, *(f"{line}\n" for line in lines(picture.rows)), end, rest])
