"""Who sends which counted packets, and how often a round is tried."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hosts_of import roles

from labtests.core.errors import LabError
from labtests.experiment import SIMULATED, Roles
from labtests.experiment import classes as module
from labtests.experiment.classes import EVERY, SPACINGS, ClassRounds
from labtests.experiment.incast import _reversed
from labtests.experiment.settings import DeviceSettings


@pytest.fixture
def nobody_else(monkeypatch):
    """The settings of the lab are, and stay, what this run has made of them."""
    seen = DeviceSettings(settings=(), queues={})
    monkeypatch.setattr(module, "settings_seen", lambda *_, **__: seen)
    monkeypatch.setattr(module, "set_by_others", lambda *_: ())


def rounds_of(senders=3, queues=tuple(dscp >> 3 for dscp in range(64))):
    *sending, receiver = roles(*[10] * (senders + 1))
    lab = Roles(senders=tuple(sending), receiver=receiver, line_bits_per_s=10**10)
    return ClassRounds(lab=None, roles=lab, pace=SIMULATED, queues=queues, progress=print)


def test_every_sender_sends_all_64():
    sent = {}
    for role, counts in rounds_of(4).rounds:
        sent.setdefault(role.name, []).extend(tos >> 2 for tos, _ in counts)
    assert {name: sorted(dscps) for name, dscps in sent.items()} == {
        name: list(range(64)) for name in ("h1", "h2", "h3", "h4")
    }


def test_the_way_back_is_one_round_of_the_receiver_to_the_first_sender():
    there = rounds_of(2)
    back = replace(there, roles=_reversed(there.roles), in_one=True)
    ((role, counts),) = back.rounds
    assert (role.name, back.roles.receiver.name, counts) == ("h3", "h1", EVERY)
    assert back.roles.bottleneck == there.roles.senders[0].switch


def test_no_two_dscps_of_a_round_are_sent_in_the_same_number():
    for _, counts in rounds_of(2).rounds:
        assert len({count for _, count in counts}) == len(counts)


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


@pytest.mark.parametrize("where_it_comes_in", [True, False], ids=["in", "out"])
def test_ports_that_map_a_dscp_differently_are_named_and_nothing_is_sent(
    monkeypatch, nobody_else, where_it_comes_in
):
    """A port whose map is for what leaves it may have any other one."""
    asked = replace(rounds_of(2), lab=SimpleNamespace(has=lambda *_: where_it_comes_in))
    at, entry = asked.roles.bottleneck, asked.roles.senders[1].switch
    other = tuple(7 if dscp == 12 else queue for dscp, queue in enumerate(asked.queues))
    seen = DeviceSettings(settings=(), queues={at: asked.queues, entry: other})
    monkeypatch.setattr(module, "settings_seen", lambda *_, **__: seen)
    monkeypatch.setattr(module, "undisturbed", lambda _: True)
    sent = []
    once = lambda self, name, *_: sent.append(name) or module.PhaseRecord(evidence=0)  # noqa: E731
    monkeypatch.setattr(ClassRounds, "_once", once)
    if not where_it_comes_in:
        assert len(asked.run()) == len(asked.rounds) == len(sent)
        return
    with pytest.raises(LabError, match=f"{entry} puts DSCP 12 into queue 7, and {at} into 1"):
        asked.run()
    assert sent == []
