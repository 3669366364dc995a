"""Counters as readings: what an answer says of a port, a queue or priority of it, or a host."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkErrors, PortTelemetry
from labtests.capabilities.readings import Reading, Scope
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

ERRORS = frozenset({c.RX_ERRORS, c.RX_CRC_ERRORS, c.TX_ERRORS})
"""Frames that arrived broken, and those that could not be sent whole."""


def unit_of(counter: str) -> str:
    """What a counter counts, by its name."""
    if counter in (c.WATCHDOG_SHUTDOWNS, c.WATCHDOG_RESTORED, c.CARRIER_CHANGES):
        return "events"
    last = counter.rpartition("_")[2]
    return last if last in ("bytes", "frames") else "packets"


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

    def of_eight(
        self,
        sources: Mapping[str, str],
        counted: Callable[[int, str], tuple[int | None, str]],
    ) -> tuple[Reading, ...]:
        """Of each queue or priority the counters that have these sources: number, and why there is
        none."""
        return tuple(
            replace(self, index=n).reading((name, unit_of(name)), value, words, why)
            for n in range(8)
            for name, words in sources.items()
            for value, why in (counted(n, name),)
        )

    def of_blocks(
        self,
        sources: Mapping[str, str],
        blocks: Mapping[int, Mapping[str, int | None]],
        no_block: str,
        no_line: Callable[[str], str] = lambda name: "",
    ) -> tuple[Reading, ...]:
        """The same of an answer that has a block for each, with lines in it. `no_block` is why
        there is none where there is no block (of this `{}`), `no_line` where a block lacks it."""

        def counted(index: int, name: str) -> tuple[int | None, str]:
            if index not in blocks:
                return None, no_block.format(index)
            return blocks[index].get(name), no_line(name)

        return self.of_eight(sources, counted)


class ErrorsAmongCounters(LinkErrors, PortTelemetry):
    """A switch that counts what a bad cable does among all that a port counts."""

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Frames that arrived broken, and those that could not be sent whole."""
        found = yield from self.port_counters(port)
        return tuple(reading for reading in found if reading.counter in ERRORS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What an answer counts at a port, by thing (a queue, a priority) and the device's own word.
    `source` is what the answer is, `missing` why a number that is not there is not known."""

    reply: Reply
    port: str
    counts: Mapping[str, Mapping[str, int | None]]
    source: str
    missing: str

    def of(
        self, thing: str, word: str, counter: str, scope: Scope = "port", index: int | None = None
    ) -> Reading:
        """One counter of one thing."""
        value = self.counts.get(thing, {}).get(word)
        words = f"{self.source}: {thing} {word}".replace("  ", " ")
        at = Answered(self.reply, self.port, scope, index)
        return at.reading((counter, unit_of(counter)), value, words, self.missing)

    def of_eight(self, things: str, words: Mapping[str, str], scope: Scope) -> tuple[Reading, ...]:
        """Of each queue or priority, which is a thing of this name with its number in it (`UC{}`),
        the counters of these words."""
        return tuple(
            self.of(things.format(n), word, counter, scope, n)
            for n in range(8)
            for word, counter in words.items()
        )

    def sum(self, word: str, counter: str, meant: Callable[[str], bool]) -> Reading:
        """Packets of all things that are meant, at the port. Where one is not known, the sum is
        not."""
        told = {thing: each.get(word) for thing, each in self.counts.items() if meant(thing)}
        known = [each for each in told.values() if each is not None]
        whole = sum(known) if known and len(known) == len(told) else None
        words = f"{self.source}: {word} of {', '.join(told) or 'nothing'}"
        at = Answered(self.reply, self.port)
        return at.reading((counter, unit_of(counter)), whole, words, self.missing)
