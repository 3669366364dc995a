"""What `make mutations` rests on, with evidence put together by hand."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from capturing import Asked, Call, Case
from harmless import why_harmless
from judging import Judge, phases, with_known_changes
from mutating import KINDS, Mutation, place_of
from mutations import LEFT_OUT, ROOT, RUNS, not_captured

from labtests.capabilities import counters as c
from labtests.experiment.judging import Judged
from labtests.measure.evidence import Evidence, LinkFailure
from labtests.verdicts import lossless, sound


def case_of(seen: Evidence, control: Evidence) -> Case:
    """S1's first question, and whether hosts did their part."""
    calls = [
        Call("sound", (seen,), {}),
        Call("lossless", (seen, {3, 5}), {"controls": (control,)}),
    ]
    verdicts = sound(seen), lossless(seen, {3, 5}, controls=(control,))
    asked = [Asked(n, Judged(verdict=v, control=False)) for n, v in enumerate(verdicts)]
    return Case("by hand", "s1_pfc", calls, asked)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"probe", "watermarks", "samples", "phase"}))
def test_the_same_seed_makes_the_same_mutation(good: Evidence, kind: str) -> None:
    made = [[KINDS[kind](good, random.Random(seed)) for seed in range(20)] for _ in range(2)]
    found = [mutation for mutation in made[0] if mutation is not None]
    assert found
    assert made[0] == made[1]
    assert all(mutation.seen != good for mutation in found)


def test_the_judge_finds_a_packet_that_is_gone_or_dropped(
    good: Evidence, control: Evidence
) -> None:
    judge = Judge(case_of(good, control))
    assert judge.green(good, good)
    rng = random.Random(1)
    found = [KINDS["lost and counted"](good, rng) for _ in range(60)]
    drops = [m for m in found if m is not None and m.counter == c.QUEUE_DROPPED_PACKETS and m.load]
    assert drops
    assert not any(judge.green(good, m.seen) for m in drops)


@pytest.mark.parametrize(("suite", "excused"), [("scheduling.each", False), ("s1_pfc.x", True)])
def test_samples_are_excused_where_totals_are_asked(
    good: Evidence, suite: str, excused: bool
) -> None:
    gone = Mutation("samples", good, "", "bottleneck", c.QUEUE_FORWARDED_PACKETS)
    assert bool(why_harmless(suite, gone)) is excused


def test_both_ends_of_a_cable_that_failed_are_a_place_of_their_own(good: Evidence) -> None:
    ends = (("sw", "p8"), ("far", "p1"))
    way = replace(good, transit=(*ends, ("sw", "p9"), ("far", "p2")))
    failed = LinkFailure(ports=(ends[0],), shut_s=1.0, open_s=2.0)
    assert {place_of(replace(way, failure=failed), *end) for end in ends} == {"cut cable"}
    assert place_of(replace(way, failure=failed), "far", "p2") == "between switches"
    assert place_of(way, *ends[1]) == "between switches"


def test_both_phases_are_mutated(good: Evidence, control: Evidence) -> None:
    assert {seen.kind for seen in phases(case_of(good, control))} == {"experiment", "control"}


@pytest.mark.parametrize(
    ("kind", "place", "counter"),
    [
        ("lost and counted", "bottleneck", c.QUEUE_DROPPED_PACKETS),
        ("frozen", "bottleneck", c.QUEUE_FORWARDED_PACKETS),
        ("missing", "bottleneck", c.QUEUE_DROPPED_PACKETS),
        ("lost and counted", "sender's NIC", c.NIC_TX_DISCARDED_PACKETS),
        ("lost and counted", "sender's switch port", c.RX_CRC_ERRORS),
        ("lost uncounted", "before its queue", ""),
        ("phase", "phase", "not settled"),
    ],
)
def test_a_loss_is_declared_harmless_nowhere(
    good: Evidence, kind: str, place: str, counter: str
) -> None:
    mutation = Mutation(kind, good, "", place, counter)
    assert not why_harmless("s1_pfc.holds", mutation)


def test_a_suite_that_no_run_has_asked_is_named(tmp_path: Path) -> None:
    """A testbed that lacks what it needs skips it, and says nothing."""
    suites = [file.stem.removeprefix("test_") for file in (ROOT / "suites").glob("test_*.py")]
    for suite in set(suites) - LEFT_OUT - {"go_back_n"}:
        (tmp_path / f"lab--{suite}.some_test.pickle.gz").touch()
    assert not_captured(tmp_path) == ["go_back_n"]
    (tmp_path / "lab--go_back_n.some_test.pickle.gz").touch()
    assert not_captured(tmp_path) == []


def test_each_run_has_a_testbed_that_can_be_read() -> None:
    assert all((ROOT / testbed).is_file() for testbed in RUNS)


def test_a_ports_drop_is_excused_only_where_nics_count_classes(good: Evidence) -> None:
    whole = Mutation("lost and counted", good, "", "bottleneck", c.NET_RX_DROPPED)
    assert good.by_class
    assert why_harmless("s1_pfc.holds", whole)
    nobody = replace(good, senders=tuple(replace(p, priority=None) for p in good.senders))
    assert not why_harmless("s1_pfc.holds", replace(whole, seen=nobody))


@pytest.mark.parametrize(
    ("suite", "place", "counter"),
    [
        ("tunnels.marks_survive", "receiver's host", c.IP_IN_CE_PACKETS),
        ("tcp_ecn.marks", "sender's host", c.TCP_RETRANSMITTED_SEGMENTS),
        ("verbs.every_host", "sender's NIC", c.OUT_OF_SEQUENCE),
        ("verbs.every_host", "receiver's NIC", c.PACKET_SEQ_ERR),
        ("verbs.each", "sender's switch port", c.QUEUE_DROPPED_PACKETS),
        ("s1_pfc.holds", "sender's switch port", c.RX_OVERSIZE_PACKETS),
        ("edge_classes.only_roce", "bottleneck", c.QUEUE_FORWARDED_PACKETS),
    ],
)
def test_what_a_suite_claims_is_not_excused(
    good: Evidence, suite: str, place: str, counter: str
) -> None:
    seen = replace(good, name="round 1 of 9, a" if suite.startswith("edge") else good.name)
    for kind in ("frozen", "missing", "swapped ports"):
        assert not why_harmless(suite, Mutation(kind, seen, "", place, counter))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"probe", "watermarks", "samples", "phase"}))
def test_what_a_mutation_has_in_common_with_what_it_was_is_not_worked_out_again(
    good: Evidence, kind: str
) -> None:
    for seed in range(10):
        mutation = KINDS[kind](good, random.Random(seed))
        if mutation is not None:
            now, afresh = mutation.seen, replace(mutation.seen)
            with_known_changes(good, now)
            assert now.changes == afresh.changes
            assert now.noise == afresh.noise
            assert now.numbers == afresh.numbers
            assert now.keys_of.keys() == afresh.keys_of.keys()
            assert now.samples_of == afresh.samples_of
