"""Verdicts are total: what is not a number is said so, is never green, and proves no loss."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from test_mutations import SUITES

from labtests.capabilities.flows import FlowResult
from labtests.verdicts import Outcome

NONE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
OF_A_FLOW = ("goodput_bits_per_s", "offered_bits_per_s", "asked_s", "sent_bits_per_s")


def mutated(flow: FlowResult, number: float) -> Iterator[tuple[str, FlowResult]]:
    for name in OF_A_FLOW:
        yield name, replace(flow, **{name: number})
    for at, row in enumerate(flow.intervals):
        for name in ("start_s", "end_s", "goodput_bits_per_s"):
            rows = list(flow.intervals)
            rows[at] = replace(row, **{name: number})
            yield f"row {at} {name}", replace(flow, intervals=tuple(rows))


@pytest.mark.parametrize("what", NONE)
@pytest.mark.parametrize("suite", SUITES)
def test_what_is_no_number_is_neither_green_nor_a_proof(suite, what):
    seen, ask = SUITES[suite]
    wrong = []
    for at in range(len(seen.flows)):
        for name, flow in mutated(seen.flows[at], NONE[what]):
            flows = (*seen.flows[:at], flow, *seen.flows[at + 1 :])
            outcomes = {verdict.outcome for verdict in ask(replace(seen, flows=flows))}
            if outcomes == {Outcome.PASS} or Outcome.FAIL in outcomes:
                wrong.append((at, name, sorted(outcomes)))
    assert wrong == []


@pytest.mark.parametrize("suite", ["below", "tcp"])
def test_a_flow_that_sends_longer_than_it_was_asked_to_is_named(suite):
    seen, ask = SUITES[suite]
    first = seen.flows[0]
    asked_s = (first.intervals[-1].end_s - first.intervals[0].start_s) / 2
    flows = (replace(first, asked_s=asked_s), *seen.flows[1:])
    said = [verdict.because for verdict in ask(replace(seen, flows=flows))]
    assert any(f"{first.sender} -> r ({first.tool}) sent for" in sentence for sentence in said)
