"""Counters as readings: what an answer says of a port, a queue or priority of it, or a host."""

from dataclasses import dataclass

from labtests.capabilities.records import Reading, Scope
from labtests.transport.protocol import Reply


def unit_of(counter: str) -> str:
    """What a counter counts, by its name."""
    return "bytes" if counter.endswith("_bytes") else "packets"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and what it is about."""

    reply: Reply
    port: str
    scope: Scope = "port"
    index: int | None = None

    def reading(
        self, counter: tuple[str, str], value: int | None, source: str, missing: str = ""
    ) -> Reading:
        """One counter: name and unit, number, the device's own words, and why there is none."""
        return Reading(
            device=self.reply.device,
            port=self.port,
            scope=self.scope,
            index=self.index,
            counter=counter[0],
            unit=counter[1],
            value=value,
            time_s=self.reply.time_s,
            source=source,
            missing=missing if value is None else "",
        )
