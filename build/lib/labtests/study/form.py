"""The form of a sweep file, as pydantic models; reader.py knows what fits."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from labtests.core.seeds import SEED_AT_MOST
from labtests.inventory.names import Name

MOST_POINTS = 1_000_000
Number = Annotated[float, Field(ge=-1e15, le=1e15)] | int


class _SweepPart(BaseModel):
    """Strict: no conversions, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class VaryPart(_SweepPart):
    """The values of one key: listed, or a range."""

    values: list[Any] | None = Field(default=None, min_length=1)
    low: Number | None = Field(default=None, alias="from")
    high: Number | None = Field(default=None, alias="to")
    steps: Annotated[int, Field(ge=1, le=MOST_POINTS)] | None = Field(
        default=None, description="grid: values from `from` to `to`, both included."
    )
    scale: Literal["linear", "log"] = "linear"

    @property
    def whole(self) -> bool:
        """Both ends are integers, so all values are."""
        return isinstance(self.low, int) and isinstance(self.high, int)


class LabPart(_SweepPart):
    """What a point runs on a lab (`--lab`)."""

    suites: list[str] | None = Field(
        default=None, min_length=1, description="For pytest; an RDMA incast unless given."
    )
    options: list[str] = Field(default=[], description="Of pytest.")
    limit_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)] = Field(
        default=240, description="A point that takes longer is ended, and has failed."
    )


class SweepFile(_SweepPart):
    """The top of a sweep file."""

    name: Name
    case: str | None = Field(default=None, description="A case file; beside this file.")
    testbed: str | None = Field(default=None, description="The network of a testbed file, instead.")
    profile: str | None = Field(default=None, description="Laid over the case; profile.KEY varies.")
    vary: dict[str, VaryPart] = Field(min_length=1)
    method: Literal["grid", "random", "latin-hypercube", "list"] = "grid"
    points: Annotated[int, Field(ge=1, le=MOST_POINTS)] | None = Field(
        default=None, description="random, latin-hypercube: how many."
    )
    sampling_seed: Annotated[int, Field(ge=0, le=SEED_AT_MOST)] = 1
    patterns: list[str] | Literal["all"] | None = Field(
        default=None, min_length=1, description="Instead of the case's own flows."
    )
    seeds: list[Annotated[int, Field(ge=0, le=SEED_AT_MOST)]] = Field(default=[1], min_length=1)
    measure: list[str] = Field(min_length=1)
    lab: LabPart = LabPart()
