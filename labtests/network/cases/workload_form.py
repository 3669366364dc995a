"""The form of a case file's `workloads`: patterns of traffic that become flows (workloads.py)."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from labtests.inventory.names import Name, PortName
from labtests.network.cases.device_form import CasePart, Count, NotNegative, Positive

Size = Annotated[int, Field(ge=1, le=2**50)]
Load = Annotated[float, Field(gt=0, le=1)]


class WorkloadPart(CasePart):
    """Traffic among some hosts."""

    name: Name
    pattern: Literal[
        "poisson",
        "incast",
        "permutation",
        "ring-all-reduce",
        "tree-all-reduce",
        "all-to-all",
        "background-tcp",
    ]
    hosts: list[PortName] | None = Field(
        default=None, min_length=2, description="All unless given, each by its first link."
    )
    start_us: NotNegative = 0.0
    stop_us: NotNegative | None = Field(default=None, description="Nothing starts from then on.")
    sizes: Literal["web-search", "data-mining", "storage", "hadoop", "cache"] | None = Field(
        default=None, description="poisson: a published distribution; or size_bytes."
    )
    size_bytes: Size | None = Field(
        default=None, description="Of each flow; of a collective: of each host's data."
    )
    load: Load | None = Field(
        default=None, description="poisson: share of each host's link that it sends, on the wire."
    )
    target: PortName | None = Field(default=None, description="incast: who receives.")
    senders: Count | None = Field(default=None, description="incast: so many of them, at random.")
    period_us: Positive | None = Field(default=None, description="incast: between bursts.")
    repeat: Count = Field(default=1, description="Collectives: one behind the other.")
    flow: dict[str, Any] = Field(
        default_factory=dict, description="Keys of every flow: priority, mtu_bytes, qps, ..."
    )

    @field_validator("flow")
    @classmethod
    def _whole(cls, flow: dict[str, Any]) -> dict[str, Any]:
        """Keys of a flow are checked later: there 4.0 is whole, as in a flow of its own."""
        return {
            key: int(value) if isinstance(value, float) and value.is_integer() else value
            for key, value in flow.items()
        }


NEEDED = {
    "poisson": ("load",),
    "incast": ("target", "size_bytes"),
    "permutation": (),
    "ring-all-reduce": ("size_bytes",),
    "tree-all-reduce": ("size_bytes",),
    "all-to-all": ("size_bytes",),
    "background-tcp": (),
}
ALLOWED = {
    "load": ("poisson",),
    "sizes": ("poisson",),
    "target": ("incast",),
    "senders": ("incast",),
    "period_us": ("incast",),
    "repeat": ("ring-all-reduce", "tree-all-reduce", "all-to-all"),
    "size_bytes": tuple(name for name in NEEDED if name != "background-tcp"),
}
"""Which keys a pattern must have, and which patterns may have a key."""
