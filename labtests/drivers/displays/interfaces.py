"""What interfaces count, in the words of one CLI, and what a switch says of its links."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from labtests.capabilities import counters as c
from labtests.capabilities.facts import LinkErrors, LinkFacts, LinkState, PortTelemetry
from labtests.capabilities.readings import Reading
from labtests.core.errors import UnreadableOutput
from labtests.drivers.displays.cli import CliPart, PortDisplay
from labtests.drivers.displays.shapes import Unfit
from labtests.drivers.readings import ERRORS, Answered, unit_of
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """One counter: its name here, the switch's own words, the number (None: it has none)."""

    counter: str
    words: str
    value: int | None


Counts = tuple[Count, ...]
Items = Iterable[tuple[str, int | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterWords:
    """What a CLI calls the counters of an interface, in lower case and by side: those that have a
    neutral name, those that keep the CLI's word, and those that are not read."""

    neutral: Mapping[str, Mapping[str, str]]
    own: Mapping[str, tuple[str, ...]]
    passed: frozenset[str]

    @property
    def expected(self) -> tuple[str, ...]:
        """The neutral names, but for those of drops that not every interface has."""
        every = (name for names in self.neutral.values() for name in names.values())
        return tuple(name for name in dict.fromkeys(every) if not name.startswith(c.DROPPED_FOR))

    def counts(self, sides: Iterable[tuple[str, Items]]) -> Counts:
        """What both sides count. Raises Unfit for words that are new, and for two numbers of one
        counter."""
        found: dict[str, Count] = {}
        for side, words, value in ((side, *item) for side, items in sides for item in items):
            name = self._name(side, words.lower())
            if name in found:
                raise Unfit(f"has two numbers of {words!r}")
            if name:
                found[name] = Count(counter=name, words=f"{side}: {words}", value=value)
        return tuple(found.values())

    def _name(self, side: str, word: str) -> str:
        if word in self.neutral[side]:
            return self.neutral[side][word]
        if word in self.own[side]:
            return f"{side.lower()}_{word.replace(' ', '_')}"
        if word not in self.passed:
            raise Unfit(f"counts {word!r} of {side}, which is unrecognised")
        return ""


class CliInterfaces(CliPart, LinkState, LinkErrors, PortTelemetry):
    """Links, and what ports count: in the same display, or in one of its own (`counters`), whose
    whole command is then the source of a number."""

    display: ClassVar[PortDisplay[Any]]
    counters: ClassVar[PortDisplay[Counts] | None] = None
    words: ClassVar[CounterWords]

    def link(self, port: str) -> Asking[LinkFacts]:
        """See LinkState."""
        _, shown = yield from self.shown(self.display, port)
        facts: LinkFacts = shown[0]
        return facts

    def link_errors(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Frames that arrived broken, and those that could not be sent whole."""
        reply = yield from self.asked(self.counters or self.display, port)
        counts = self._counts(reply, port)
        return tuple(r for r in self._readings(reply, port, counts) if r.counter in ERRORS)

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """All that is counted; None where it counts nothing of the kind, and where it is not
        understood: the other counters of a switch do not hang on its wording."""
        reply = yield from self.asked(self.counters or self.display, port)
        try:
            counts = self._counts(reply, port)
        except UnreadableOutput as error:
            return tuple(self._readings(reply, port, (), error.problem))
        return tuple(self._readings(reply, port, counts))

    def _counts(self, reply: Reply, port: str) -> Counts:
        if self.counters is not None:
            return self.of(self.counters, reply, port)
        counts: Counts = self.of(self.display, reply, port)[1]
        return counts

    def _readings(
        self, reply: Reply, port: str, counts: Counts, absent: str = ""
    ) -> Iterator[Reading]:
        name = reply.command if self.counters is not None else self.display.name
        shown = {each.counter for each in counts}
        none = (Count(counter=n, words=n, value=None) for n in self.words.expected)
        for each in (*counts, *(each for each in none if each.counter not in shown)):
            there = each.counter in shown
            yield Answered(reply, port).reading(
                (each.counter, unit_of(each.counter)),
                each.value,
                f"{name}: {each.words}",
                "the switch shows no number" if there else absent or f"`{name}` has no such line",
            )
