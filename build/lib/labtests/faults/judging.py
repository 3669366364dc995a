"""What a run says of its fault: red in the right words, in others, or not at all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from labtests.faults.declared import Declared
from labtests.faults.places import Places

Seen = Literal["red", "blames another", "green", "skipped", "not met", "broken"]
RED: Seen = "red"
BLAMES_ANOTHER: Seen = "blames another"
GREEN: Seen = "green"
SKIPPED: Seen = "skipped"
NOT_MET: Seen = "not met"
BROKEN: Seen = "broken"

ANSWERS = frozenset({0, 1, 10, 15})
"""Exit codes of a run that has said something of the lab (README)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One run of one suite: what was seen, and its words."""

    seen: Seen
    words: str


def judged(run: Mapping[str, Any] | None, status: int, declared: Declared, places: Places) -> Heard:
    """Of the run.json of a run that has ended with this exit code."""
    if run is None or status not in ANSWERS:
        return Heard(seen=BROKEN, words=f"pytest ended with exit code {status}")
    if run["faults_not_met"]:
        told = "; ".join(f"{each['fault']}: {each['why']}" for each in run["faults_not_met"])
        return Heard(seen=NOT_MET, words=told)
    outcomes = {test["outcome"] for test in run["tests"]}
    words = "; ".join(_sentences(run)).replace("\n", " ")
    if status == 0 and outcomes == {"skipped"}:
        seen = RED if declared.skips and not _missing(words, declared, places) else SKIPPED
        return Heard(seen=seen, words=words)
    if status == 0:
        return Heard(seen=GREEN, words="")
    if missing := _missing(words, declared, places):
        return Heard(seen=BLAMES_ANOTHER, words=f"(without {', '.join(missing)}) {words}")
    return Heard(seen=RED, words=words)


def as_declared(declared: Declared, seen: Seen) -> bool:
    """Whether a suite that the fault names has done what it has to."""
    return seen == (GREEN if declared.unseen else RED)


def _sentences(run: Mapping[str, Any]) -> Iterator[str]:
    """What a user reads of what is wrong."""
    for test in run["tests"]:
        for verdict in test["verdicts"]:
            if verdict["role"] == "main" and verdict["outcome"] != "pass":
                yield verdict["because"]
            elif verdict["role"] != "main" and not verdict["as_expected"]:
                yield f"control {verdict['phase']!r}: {verdict['because']}"
        if test["error"]:
            yield test["error"]
    if run["problem"]:
        yield run["problem"]
    if differences := (run["state"] or {}).get("differences"):
        yield f"not as it was found: {differences}"


def _missing(words: str, declared: Declared, places: Places) -> list[str]:
    """Which of the words that the fault asks for are not there."""
    absent = []
    for each in declared.says:
        choice = [places.named(word) for word in ((each,) if isinstance(each, str) else each)]
        if not any(word.lower() in words.lower() for word in choice):
            absent.append(" or ".join(choice))
    return absent
