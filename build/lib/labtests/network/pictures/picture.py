"""What a picture is, and the case files that come with the package."""

from dataclasses import dataclass
from importlib.resources import as_file, files

from labtests.network.cases import CaseFile, load
from labtests.network.reference.judging import ValidationRow

PAYLOAD, FRAME, ON_WIRE = 1024, 1086, 1106
"""Bytes of a data packet: payload, frame in a buffer, frame with preamble and gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing, and what it shows held against what it should be."""

    name: str
    svg: str
    rows: tuple[ValidationRow, ...]


def packaged(name: str) -> CaseFile:
    """The case file of this name in this package."""
    with as_file(files("labtests.network.pictures") / "cases" / f"{name}.yaml") as file:
        return load(file)


def pfc_only(case: CaseFile, *, duration_ms: float, warmup_ms: float) -> CaseFile:
    """The case without ECN and DCQCN, for so long (PFC alone is in its steady state at once)."""
    return case.model_copy(
        update={
            "nic": case.nic.model_copy(update={"dcqcn": None}),
            "switch": case.switch.model_copy(update={"ecn": None}),
            "duration_ms": duration_ms,
            "warmup_ms": warmup_ms,
        }
    )


def goodput_of(gbit_per_s: float) -> float:
    """Payload that a link of this rate carries, preamble and gap counted."""
    return gbit_per_s * PAYLOAD / ON_WIRE
