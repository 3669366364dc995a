"""The form of a profile file, as pydantic models. They know forms; sense.py knows what fits."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from labtests.core.headroom import CELL_BYTES
from labtests.inventory.names import Description, Name
from labtests.inventory.schema import CableM, GbitPerS

Priority = Annotated[int, Field(ge=0, le=7)]
Dscp = Annotated[int, Field(ge=0, le=63)]
Cells = Annotated[int, Field(ge=0, le=2**31)]
Bytes = Annotated[int, Field(ge=1, le=2**40)]
Percent = Annotated[int, Field(ge=1, le=100)]
MbitPerS = Annotated[int, Field(ge=1, le=1_000_000)]
Microseconds = Annotated[int, Field(ge=1, le=1_000_000)]
Fraction1024 = Annotated[int, Field(ge=0, le=1023)]

STRICT = "strict"


class _ProfilePart(BaseModel):
    """Strict: no conversions, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _share(value: Any) -> Any:
    percent = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 100
    if value != STRICT and not percent:
        raise ValueError("must be a share in percent (1 to 100) or strict")
    return value


Share = Annotated[
    Any,
    AfterValidator(_share),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 100}, {"const": STRICT}]}
    ),
]


class DscpPart(_ProfilePart):
    """Where some DSCPs lead."""

    dscp: list[Dscp] = Field(min_length=1, description="DSCPs, 0 to 63.")
    priority: Priority = Field(description="The priority they get.")


class MapsPart(_ProfilePart):
    """How a packet's header becomes a priority, and a priority a queue."""

    dscp: list[DscpPart] = Field(
        default=[], description="DSCPs that differ from DSCP // 8, the usual map."
    )
    queue_of_priority: list[Priority] | None = Field(
        default=None,
        min_length=8,
        max_length=8,
        description="The queue of 802.1p priorities 0 to 7; unless given, the same number.",
    )


class ProfileEcnPart(_ProfilePart):
    """Marking by RED on the queue length, for some priorities."""

    priorities: list[Priority] = Field(min_length=1)
    kmin_bytes: Bytes = Field(description="Below, nothing is marked.")
    kmax_bytes: Bytes = Field(description="Above, every packet is marked.")
    pmax_percent: Percent = Field(description="Probability of a mark at kmax_bytes.")
    weighting_exponent: Annotated[int, Field(ge=0, le=15)] = Field(
        default=0, description="Queue lengths are averaged with weight 2**-n; 0: not averaged."
    )


class CnpPart(_ProfilePart):
    """How congestion notification packets are marked by those who send them."""

    dscp: Dscp
    priority: Priority


class ReactionPart(_ProfilePart):
    """The reaction point (RP): a sender that slows down. Left out: stays as it is."""

    priorities: list[Priority] | None = Field(
        default=None, description="Where it is on; unless given, the priorities with ECN."
    )
    clamp_target_rate: bool | None = Field(
        default=None, description="Each CNP also lowers the target rate to the current rate."
    )
    increase_timer_us: Microseconds | None = Field(default=None, description="T: time stage.")
    byte_counter_bytes: Annotated[int, Field(ge=0, le=2**31)] | None = Field(
        default=None, description="B: byte stage; 0: off."
    )
    recovery_stages: Annotated[int, Field(ge=1, le=31)] | None = Field(
        default=None, description="F: stages of fast recovery before increases."
    )
    additive_increase_mbit_per_s: MbitPerS | None = Field(default=None, description="R_AI.")
    hyper_increase_mbit_per_s: MbitPerS | None = Field(default=None, description="R_HAI.")
    minimum_rate_mbit_per_s: MbitPerS | None = Field(default=None, description="The floor.")
    alpha_kept_1024: Fraction1024 | None = Field(
        default=None, description="1 - g, in 1/1024: what an update keeps of the old alpha."
    )
    alpha_timer_us: Microseconds | None = Field(
        default=None, description="K: alpha decays when no CNP came for so long."
    )
    cut_interval_us: Microseconds | None = Field(
        default=None, description="At least so long between two cuts of a flow."
    )
    initial_alpha_1024: Fraction1024 | None = Field(
        default=None, description="Alpha at the first CNP, in 1/1024."
    )


class NotificationPart(_ProfilePart):
    """The notification point (NP): a receiver that answers marks with CNPs."""

    priorities: list[Priority] | None = Field(
        default=None, description="Where it is on; unless given, the priorities with ECN."
    )
    cnp_interval_us: Microseconds | None = Field(
        default=None, description="At least so long between two CNPs."
    )


class ProfileDcqcnPart(_ProfilePart):
    """DCQCN at the hosts."""

    reaction_point: ReactionPart = ReactionPart()
    notification_point: NotificationPart = NotificationPart()


class IngressPart(_ProfilePart):
    """What a lossless priority group has at a switch's ingress."""

    guaranteed_cells: Cells
    alpha: Annotated[float, Field(gt=0, le=1024)] = Field(
        description="Dynamic threshold: share of the unused shared memory, e.g. 0.125."
    )


class EgressPart(_ProfilePart):
    """What the queue of a lossless priority may hold at a switch's egress."""

    guaranteed_cells: Cells
    share_cells: Cells = Field(description="Static maximum, which must never be reached.")


class BufferPart(_ProfilePart):
    """The packet memory that makes PFC work: cable, headroom, and (S22) the shares."""

    cell_bytes: Annotated[int, Field(ge=1, le=65536)] = Field(
        default=CELL_BYTES, description="One memory cell of the switches."
    )
    cable_m: CableM = Field(description="The longest cable between two neighbours.")
    headroom_cells: Cells | None = Field(
        default=None, description="Per port and lossless priority; unless given, as S23 says."
    )
    lossless_memory_percent: Annotated[float, Field(ge=0.01, le=100)] | None = Field(
        default=None,
        description="Of a switch's memory, for all lossless priorities together, where it has "
        "pools (Onyx); unless given, they stay as they are.",
    )
    shared_cells: Cells | None = Field(default=None, description="The shared pool of a switch.")
    ingress: IngressPart | None = None
    egress: EgressPart | None = None
    ingress_ports: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        default=None, description="Ports that can send to one port at once (a top-of-rack: 39)."
    )


class ProfileFile(_ProfilePart):
    """An intended lossless configuration, in the field's words and not in a vendor's."""

    name: Name = Field(description="The profile's name.")
    description: Description = ""
    rate_gbit_per_s: GbitPerS | None = Field(
        default=None,
        description="The fastest link it is meant for: headroom grows with it. Required with "
        "lossless and with buffer.",
    )
    mtu_bytes: Annotated[int, Field(ge=576, le=9978)] | None = Field(
        default=None,
        description="Of IP packets at the hosts; switches pass frames that carry them. Required "
        "with lossless; unless given, it stays as it is.",
    )
    roce_mode: Literal["lossless", "lossy"] | None = Field(
        default=None,
        description="Of switches that one word sets up for RoCE (Cumulus), before all else; "
        "unless given, it stays as it is.",
    )
    lossless: list[Priority] = Field(
        default=[],
        description="Priorities with PFC on every port, host and switch; unless given, PFC stays "
        "as it is.",
    )
    negotiate_pfc: bool = Field(
        default=False, description="Switches let DCBX decide (auto) instead of PFC always on."
    )
    asymmetric_pfc: bool = Field(
        default=False,
        description="Switch ports obey pauses of all priorities, and send those of lossless, where "
        "they can be told so (SONiC); unless given, they obey what they send.",
    )
    trust: Literal["dscp", "dot1p"] | None = Field(
        default=None,
        description="What decides a packet's priority. Required with lossless, maps and cnp; "
        "unless given, it stays as it is.",
    )
    maps: MapsPart = MapsPart()
    ecn: list[ProfileEcnPart] = []
    scheduling: list[Share] | None = Field(
        default=None,
        min_length=8,
        max_length=8,
        description="Queues 0 to 7: share in percent (all together 100), or strict.",
    )
    cnp: CnpPart | None = None
    dcqcn: ProfileDcqcnPart | None = None
    buffer: BufferPart | None = None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of profile files, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ProfileFile.model_json_schema(),
        "title": "labtests profile",
    }
