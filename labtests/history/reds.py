"""Since when a test is red: the first run in which it was, the last one in which it passed, and
what was different in the lab between the two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from labtests.history.comparing import found_otherwise
from labtests.history.store import History, KeptSummary

RED = ("fail", "error", "inconclusive")
_MOST_CHANGES = 5


@dataclass(frozen=True, slots=True)
class RedSince:
    """A test that is red in a run, without having passed since `first`; `green` is the run in which
    it did before, None where none is known."""

    test: str
    first: KeptSummary
    green: KeptSummary | None

    def told(self, history: History) -> Iterator[str]:
        """In words."""
        first = f"run {self.first.number} ({self.first.run.when})"
        if self.green is None:
            yield f"red since {first}; no run is known in which it passed"
            return
        yield f"red since {first}; it passed last in run {self.green.number} "\
              f"({self.green.run.when})"  # fmt: skip
        yield from changes(history, self.green.number, self.first.number)


def red_since(runs: Sequence[KeptSummary], number: int) -> Iterator[RedSince]:
    """For each test that is red in the run of this number, of one lab's runs, newest first. Runs
    with faults count only where they are asked for."""
    found = [each for each in runs if each.number == number or each.run.faults == "[]"]
    at = next((place for place, each in enumerate(found) if each.number == number), None)
    if at is None:
        return
    for test in found[at].run.tests:
        if test.outcome in RED:
            first, green = last_pass(test.name, found[at:])
            yield RedSince(test.name, first or found[at], green)


def last_pass(
    name: str, runs: Sequence[KeptSummary]
) -> tuple[KeptSummary | None, KeptSummary | None]:
    """Of a test in runs, newest first: the first bad run after the last one in which it passed, and
    that one; None for what is not there."""
    first = None
    for each in runs:
        outcome = each.run.answers.get(name, "")
        if outcome == "pass":
            return first, each
        if outcome in RED:
            first = each
    return first, None


def changes(history: History, old: int, new: int) -> Iterator[str]:
    """What was different in the lab, as both runs found it, and in the suites."""
    before, after = history.whole(old), history.whole(new)
    if before.state is None and after.state is None:
        yield "what changed in the lab with it is not known"
    found = [str(each) for each in found_otherwise(before, after)]
    yield from (f"changed with it: {line}" for line in found[:_MOST_CHANGES])
    if len(found) > _MOST_CHANGES:
        yield f"... and {len(found) - _MOST_CHANGES} more: labtests compare {old} {new}"
    if not found and before.state is not None:
        yield "nothing that is read of the lab or the suites changed with it"
