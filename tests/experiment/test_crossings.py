"""Which port a sender's packets pass before the bottleneck: as far as only one way leads there."""

from dataclasses import replace

import pytest
from test_ways import lab

from labtests.experiment.crossings import crossings, entries, returns
from labtests.experiment.roles import Roles, roles_of
from labtests.inventory import Endpoint

AT_A_LEAF, AT_THE_LAST = ("H1-A1", "I1-A2"), ("R1-B1",)
BY_DSCP = tuple(dscp // 8 for dscp in range(64))
TOS = 26 << 2


def roles(*between: str, beside: tuple[str, ...] = ()) -> Roles:
    """Hosts H and I at switch A, R at switch B, and what is between."""
    testbed = lab(*AT_A_LEAF, *between, *AT_THE_LAST, *beside, hosts="HIR", addressed="HIR")
    senders = tuple(Endpoint(device=name, interface="1") for name in "HI")
    receiver = Endpoint(device="R", interface="1")
    return roles_of(replace(testbed, roles={"senders": senders, "receiver": (receiver,)}))


def said(where: Roles, known: str = "ABCST") -> dict[str, dict[int, int]]:
    """The queue of each flow, by port, where the maps of these switches are known."""
    queues = {entry: BY_DSCP for entry in entries(where) if entry.device in known}
    found = crossings(where, queues, [(role, TOS) for role in where.senders])
    return {"".join(each.port): dict(each.queues) for each in found}


BOTH = {0: 3, 1: 3}


@pytest.mark.parametrize(
    ("between", "passed"),
    [
        (("A9-B9",), {"A9": BOTH}),
        (("A9-S1", "S2-B9"), {"A9": BOTH, "S2": BOTH}),
        (("A9-S1", "S2-T1", "T2-B9"), {"A9": BOTH, "S2": BOTH, "T2": BOTH}),
        (("A9-B9", "A8-B8"), {}),
        (("A9-S1", "S2-B9", "A8-T1", "T2-B8"), {}),
        (("A9-S1", "S2-B9", "S3-B8"), {"A9": BOTH}),
        (("A9-S1", "A8-S3", "S2-B9"), {}),
    ],
    ids=["cable", "spine", "chain", "two cables", "two spines", "two at its end", "two to it"],
)
def test_only_what_packets_pass_for_certain_is_told(between, passed):
    assert said(roles(*between)) == passed


def test_of_a_switch_whose_maps_are_not_known_nothing_is_said():
    where = roles("A9-S1", "S2-B9")
    assert said(where, known="A") == {"A9": BOTH}
    assert said(where, known="S") == {"S2": BOTH}


def test_entries_are_asked_once_for_all_senders_behind_them():
    found = [str(each).replace(":", "") for each in entries(roles("A9-S1", "S2-B9"))]
    assert found == ["A1", "S1", "A2", "S2"]


@pytest.mark.parametrize(
    ("between", "passed"),
    [
        ((), {}),
        (("A9-B9",), {"B9": (6, ("H", "I"))}),
        (("A9-S1", "S2-B9"), {"B9": (6, ("H", "I")), "S1": (6, ("H", "I"))}),
        (("A9-B9", "A8-B8"), {}),
        (("A9-S1", "S2-B9", "S3-B8"), {}),  # which of both the last switch takes is not known
    ],
    ids=["one switch", "cable", "spine", "two cables", "two at its end"],
)
def test_what_comes_back_passes_the_same_switches(between, passed):
    where = roles(*between) if between else on_one_switch()
    ends = [where.bottleneck, *(end for end in where.transit)]
    found = returns(where, dict.fromkeys(ends, BY_DSCP), 48)
    assert {"".join(each.port): (each.queue, each.senders) for each in found} == passed
    assert returns(where, {}, 48) == ()


def on_one_switch() -> Roles:
    testbed = lab("H1-A1", "I1-A2", "R1-A3", hosts="HIR", addressed="HIR")
    senders = tuple(Endpoint(device=name, interface="1") for name in "HI")
    receiver = (Endpoint(device="R", interface="1"),)
    return roles_of(replace(testbed, roles={"senders": senders, "receiver": receiver}))
