"""A link that fails and comes back, by what is missing of paced flows."""

from dataclasses import replace

import pytest
from handmade import reading
from handmade_loads import load

from labtests.capabilities import counters as c
from labtests.measure.evidence import LinkFailure
from labtests.verdicts import Outcome, healed

PORT = ("leaf", "up1")
KEY = (*PORT, "queue", 3, c.QUEUE_FORWARDED_PACKETS)


def failed(*, missing=10, shut_s=11.0, open_s=12.0, carried=5000, again=2000, last=1.0):  # noqa: PLR0913
    """`again`: of what the port carried, what it did after it was opened."""
    seen = load()
    shut = reading(KEY, 7 + carried - again, 11.6)
    flows = tuple(
        replace(
            flow,
            asked_s=5.0,
            sent_datagrams=400_000,
            received_datagrams=400_000 - missing,
            intervals=tuple(
                replace(row, goodput_bits_per_s=last * flow.offered_bits_per_s)
                for row in flow.intervals
            ),
        )
        for flow in seen.flows
    )
    return replace(
        seen,
        flows=flows,
        failure=LinkFailure(ports=(PORT,), shut_s=shut_s, open_s=open_s),
        before=(*seen.before, reading(KEY, 7, 9.5)),
        samples=(*seen.samples, replace(shut, asked_s=11.5)),
        after=(*seen.after, reading(KEY, 7 + carried, 16.0)),
    )


def test_what_goes_on_soon_has_healed():
    verdict = healed(failed())
    assert verdict.outcome is Outcome.PASS
    assert "leaf up1 failed and came back: 20 packets of 2 flows were lost" in verdict.because


def test_a_long_outage_is_told_by_what_is_missing():
    verdict = healed(failed(missing=200_000))
    assert verdict.outcome is Outcome.FAIL
    assert "was away for 2.50 s" in verdict.because


def test_a_flow_that_does_not_come_back_is_red():
    verdict = healed(failed(last=0.1))
    assert verdict.outcome is Outcome.FAIL
    assert "last row / offered is 0.100" in verdict.because


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"shut_s": None, "open_s": None}, "no link failed while"),
        ({"open_s": None}, "no link came back while"),
        ({"carried": 0}, "no flow went by the link that failed"),
        ({"again": 10}, "grew by 10 after the link had come back: it stayed down, or no route"),
        ({"shut_s": 11.55}, "not read while the link was down, or after it"),
    ],
    ids=["no failure", "not back", "no traffic there", "none again", "not looked at"],
)
def test_without_a_failure_nothing_has_healed(how, says):
    verdict = healed(failed(**how))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert says in verdict.because
