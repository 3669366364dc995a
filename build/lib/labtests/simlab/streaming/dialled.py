"""What a switch that dials out is configured to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialled:
    """One destination of one subscription, and what goes there: sensor paths with their seconds,
    0 for those of events."""

    subscription: str
    host: str
    port: int
    sensors: tuple[tuple[str, int], ...]
