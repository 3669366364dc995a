"""What a case's figures hang on without saying so: senders that never leave their phase."""

from collections import defaultdict
from collections.abc import Iterator

from labtests.network.cases.building import nic_part, obeys_cnps
from labtests.network.cases.form import CaseFile, FlowPart

NAMED = 4
"""Flows of a group that are named; of more, how many."""


def notes(case: CaseFile) -> Iterator[str]:
    """A sentence for each group of equal senders without pacing that share a target.

    Frames of one size at one rate arrive in the order of the first ones for ever: who is dropped,
    paused or marked is then decided by the start times, and is the same with every seed.
    """
    if case.start_jitter_us:
        return
    rates = {name: link.rate_gbit_per_s for link in case.links for name in link.between}
    groups: dict[tuple[object, ...], list[FlowPart]] = defaultdict(list)
    for flow in case.flows:
        if _is_unpaced(case, flow):
            same = (flow.target, flow.mtu_bytes + flow.header_bytes, rates[flow.source])
            groups[same].append(flow)
    for (target, frame, rate), flows in groups.items():
        sources = list(dict.fromkeys(flow.source for flow in flows))
        if len(sources) > 1:
            told = ", ".join(sources[:NAMED]) + (", ..." if len(sources) > NAMED else "")
            yield (
                f"{len(sources)} senders to {target} ({told}) are equal and unpaced ({frame} B "
                f"frames at {rate:g} Gbit/s): they never leave their phase, and no seed changes "
                "it. Give `nic: {random_gap: 0.01}` or `start_jitter_us` to see what is typical"
            )


def _is_unpaced(case: CaseFile, flow: FlowPart) -> bool:
    """Whether it sends whole windows of equal frames, back to back."""
    part = nic_part(case, flow.source)
    obeys = obeys_cnps(case, flow.source)
    short = flow.size_bytes is not None and flow.size_bytes <= flow.mtu_bytes
    return flow.kind == "rc" and not obeys and not part.random_gap and not short
