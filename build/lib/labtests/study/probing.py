"""Samples of end-to-end latency: messages of one packet, each by a fresh queue pair.

A sample is the time from handing 64 B to the NIC until its ACK is back: it waits for its turn in
the NIC, for pauses, and in every queue of its class; the ACK goes in a class of its own. One that
is not done at the end has waited at least until then, and counts with that.
"""

import random
from collections.abc import Iterator

from labtests.network.cases.figures import Figures
from labtests.network.cases.form import CaseFile, FlowPart

PAIRS, TIMES = 4, 50
PROBE_BYTES = 64


def probed(case: CaseFile, seed: int) -> CaseFile:
    """The same case, and probes between some of its RC flows' hosts. Same seed, same times."""
    return case.model_copy(update={"flows": [*case.flows, *_probes(case, seed)]})


def _probes(case: CaseFile, seed: int) -> Iterator[FlowPart]:
    pairs = list({(f.source, f.target): f for f in case.flows if f.kind == "rc"}.values())
    every = max(1, len(pairs) // PAIRS)
    chosen = pairs[::every][:PAIRS]
    window_us = 1000 * (case.duration_ms - case.warmup_ms)
    times = random.Random(seed)
    for number in range(TIMES):
        share = (number + times.random()) / (TIMES + 1)
        start_us = 1000 * case.warmup_ms + share * window_us
        for flow in chosen:
            yield FlowPart(
                source=flow.source,
                target=flow.target,
                priority=flow.priority,
                dscp=flow.dscp,
                pcp=flow.pcp,
                control_priority=flow.control_priority,
                verb="write",
                message_bytes=PROBE_BYTES,
                size_bytes=PROBE_BYTES,
                start_us=round(start_us, 3),
            )


def latencies_us(case: CaseFile, figures: Figures, flows: int) -> list[float]:
    """Of the probes, which are the flows behind the first `flows`."""
    end_us = 1000 * case.duration_ms
    return [
        end_us - part.start_us if found.completion_us is None else found.completion_us
        for part, found in zip(case.flows[flows:], figures.flows[flows:], strict=True)
    ]
