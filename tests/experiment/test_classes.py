"""Who sends which counted packets, and how often a round is tried."""

import pytest
from hosts_of import roles

from labtests.experiment import SIMULATED, Roles
from labtests.experiment import classes as module
from labtests.experiment.classes import ROUNDS, SPACINGS, ClassRounds
from labtests.experiment.settings import DeviceSettings


@pytest.fixture
def nobody_else(monkeypatch):
    """The settings of the lab are, and stay, what this run has made of them."""
    seen = DeviceSettings(settings=(), queues={})
    monkeypatch.setattr(module, "settings_seen", lambda *_: seen)
    monkeypatch.setattr(module, "set_by_others", lambda *_: ())


def rounds_of(senders=3, queues=tuple(dscp >> 3 for dscp in range(64))):
    *sending, receiver = roles(*[10] * (senders + 1))
    lab = Roles(senders=tuple(sending), receiver=receiver, line_bits_per_s=10**10)
    return ClassRounds(lab=None, roles=lab, pace=SIMULATED, queues=queues, progress=print)


def test_the_first_sender_sends_all_64_and_every_other_one_eight_of_them():
    sent = {}
    for role, counts in rounds_of(4).rounds:
        sent.setdefault(role.name, []).extend(tos >> 2 for tos, _ in counts)
    assert sorted(sent.pop("h1")) == list(range(64))
    assert {name: len(set(dscps)) for name, dscps in sent.items()} == {"h2": 8, "h3": 8, "h4": 8}


def test_others_send_the_round_that_the_map_spreads_most():
    queues = tuple(dscp & 7 if dscp % 8 == 5 else dscp % 8 for dscp in range(64))
    spread = tuple(7 - (dscp >> 3) if dscp % 8 == 5 else 0 for dscp in range(64))
    assert len(set(queues)) == 8  # by the last three bits: no round is spread at all
    assert rounds_of(2, queues).rounds[-1][1] == ROUNDS[0]
    (best,) = {counts for role, counts in rounds_of(5, spread).rounds if role.name != "h1"}
    assert best == ROUNDS[5]


def test_a_plan_counts_the_rounds_of_every_sender():
    assert rounds_of(5).span.least_s == pytest.approx(12 * SIMULATED.settling.least_s)


def test_a_disturbed_round_is_sent_again_with_every_packet_more_often(monkeypatch, nobody_else):
    sent = []

    def once(self, name, sender, counts, maps):
        sent.append((name, counts))
        return module.PhaseRecord(evidence=len(sent))

    monkeypatch.setattr(ClassRounds, "_once", once)
    monkeypatch.setattr(module, "undisturbed", lambda number: number >= 2)
    first, *others = rounds_of().run()
    assert len(first) == 2
    assert {len(each) for each in others} == {1}
    (name, counts), (again, spaced), (following, _), *_ = sent
    assert (name, again) == ("round 1 of 10, h1", "round 1 of 10, h1, again (1)")
    assert following == "round 2 of 10, h1"
    assert spaced == tuple((tos, SPACINGS[1] * count) for tos, count in counts)
    assert all(count & (count - 1) == 0 for _, count in spaced)  # still told apart


def test_it_gives_up_after_its_last_try(monkeypatch, nobody_else):
    monkeypatch.setattr(ClassRounds, "_once", lambda self, *_: module.PhaseRecord(evidence=0))
    monkeypatch.setattr(module, "undisturbed", lambda _: False)
    assert {len(each) for each in rounds_of().run()} == {len(SPACINGS)}
