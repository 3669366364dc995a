"""What is asked of the switch of a dry run by SSH, whatever its platform is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from in_process import InProcessLab, opened

from labtests.capabilities.device import DropTelemetry, PfcTelemetry, QueueTelemetry
from labtests.capabilities.facts import LinkFacts, LinkState, Neighbours, PortTelemetry
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.core.errors import CommandRejected, LabError
from labtests.inventory import Endpoint, load
from labtests.lab.changes import Wanted
from labtests.lab.lab import Lab
from labtests.profile.form import ProfileFile
from labtests.profile.planning import made, planned
from labtests.profile.reader import load as load_profile
from labtests.recovery.snapshot import compare, take

ROOT = Path(__file__).parents[1]
ON = PfcSetting(mode="on", priorities=frozenset(range(8)))
OFF = PfcSetting(mode="off", priorities=frozenset())


@contextmanager
def served(testbed: str) -> Iterator[InProcessLab]:
    with InProcessLab(load(ROOT / "testbeds" / f"{testbed}.yaml"), seed=1) as lab:
        yield lab


@contextmanager
def connected(simulated: InProcessLab, testbed: str, folder: Path) -> Iterator[Lab]:
    loaded = load(ROOT / "testbeds" / f"{testbed}.yaml")
    with opened(simulated, loaded, folder / "journal.jsonl") as lab:
        yield lab


def fixtures_of(testbed: str) -> tuple[Any, Any]:
    """The fixtures `simulated`, the lab of a dry run, and `lab`, which is logged in to it."""

    @pytest.fixture
    def simulated() -> Iterator[InProcessLab]:
        with served(testbed) as lab:
            yield lab

    @pytest.fixture
    def lab(simulated: InProcessLab, tmp_path: Path) -> Iterator[Lab]:
        with connected(simulated, testbed, tmp_path) as lab:
            yield lab

    return simulated, lab


def shipped(pmax_percent: int | None = None) -> ProfileFile:
    """The shipped profile; with another probability than its own."""
    profile = load_profile(ROOT / "profiles" / "lossless-25g.yaml").form
    if pmax_percent is None:
        return profile
    curves = [each.model_copy(update={"pmax_percent": pmax_percent}) for each in profile.ecn or ()]
    return profile.model_copy(update={"ecn": curves})


def expect_profile_put_back(
    lab: Lab, box: str, state: Callable[[], Any], *, cannot: tuple[str, ...], least: int
) -> None:
    """The shipped profile is planned, made and undone; more than `least` settings differ then, and
    what the switch cannot do is told by these words each."""
    assert len(made_and_put_back(lab, box, shipped(), state, cannot)) > least


def made_and_put_back(
    lab: Lab, box: str, profile: ProfileFile, state: Callable[[], Any], cannot: tuple[str, ...]
) -> set[str]:
    """The same of any profile; the settings that differ then."""
    before, taken = state(), take(lab)
    with lab.restoring():
        plans = planned(profile, lab)
        of_switch = next(plan for plan in plans if plan.device == box)
        assert not of_switch.impossible
        told = [each.problem for each in of_switch.findings if each.kind == "cannot"]
        assert all(any(word in each for word in cannot) for each in told), told
        assert all(any(word in each for each in told) for word in cannot), told
        made(profile, lab, plans)
        assert not any(plan.steps for plan in planned(profile, lab))
        differ = {each.setting for each in compare(taken, take(lab))}
    assert state() == before
    assert list(compare(taken, take(lab))) == []
    return differ


def expect_lie_found_out(lab: Lab, simulated: InProcessLab, at: Endpoint) -> None:
    simulated.lab.inject({"kind": "lie", "device": at.device})
    with pytest.raises(LabError, match="reads back as"):
        lab.change(at, PFC, replace(ON, priorities=frozenset({3})))
    simulated.lab.inject({"kind": "heal", "device": at.device})


def expect_shared_priorities_changed_together(
    lab: Lab, ports: tuple[Endpoint, ...], state: Callable[[], Any]
) -> None:
    """Lossless priorities that are the whole switch's, of several ports at once: on, other ones,
    off and on again. All is put back, and nobody is said to have changed anything."""
    before, box = state(), ports[0].device
    with lab.restoring():
        for wanted in (replace(ON, priorities=frozenset({n})) for n in (3, 4)):
            lab.change_all(box, [Wanted(at, PFC, wanted) for at in ports])
            assert [lab.current(at, PFC) for at in ports] == [wanted] * len(ports)
            lab.change_all(box, [Wanted(at, PFC, OFF) for at in ports])
            assert {lab.current(at, PFC).mode for at in ports} == {"off"}
    assert state() == before
    assert lab.overridden == []


def expect_shared_priorities_put_back(
    lab: Lab, off: tuple[Endpoint, ...], on: Endpoint, state: Callable[[], Any]
) -> None:
    """A port that somebody has on has their priorities again, whichever port was changed first, and
    nobody is said to have changed any, whether they were changed together or not."""
    before, theirs = state(), lab.current(on, PFC)
    assert theirs.mode == "on"
    for first in ((), off[:1]):
        with lab.restoring():
            for at in first:
                lab.change(at, PFC, ON)
            lab.change_all(on.device, [Wanted(at, PFC, ON) for at in (*off, on)])
            for at in (on, *off):
                lab.change(at, PFC, OFF)
        assert lab.current(on, PFC) == theirs
        assert state() == before
    assert lab.overridden == []


def expect_negotiation_refused(lab: Lab, at: Endpoint) -> None:
    with pytest.raises(CommandRejected, match="negotiates no PFC"):
        lab.change(at, PFC, PfcSetting(mode="auto", priorities=frozenset({3})))


def expect_counted(lab: Lab, out: Endpoint, into: Endpoint, *, of_a_queue: tuple[str, ...]) -> None:
    """Queues, pauses and drops are all known, and the neighbour is the receiver."""
    box, port = out.device, out.interface
    queues = lab.ask(box, lab.part(box, QueueTelemetry).queue_counters(port))
    assert [each.counter for each in queues] == [*of_a_queue] * 8
    assert all(each.value is not None for each in queues)
    assert len(lab.ask(box, lab.part(box, PfcTelemetry).pfc_counters((into.interface,)))) == 16
    counted = lab.ask(box, lab.part(box, PortTelemetry).port_counters(port))
    assert counted
    assert all(each.value is not None for each in counted)
    drops = lab.ask(box, lab.part(box, DropTelemetry).drop_counters(port))
    assert {each.counter: each.value for each in drops} == {
        "buffer_dropped_in_packets": 0,
        "ecn_marked_packets": 0,
        "queue_wred_dropped_packets": 0,
        "other_queues_dropped_packets": 0,
    }
    heard = lab.ask(box, lab.part(box, Neighbours).neighbours())
    assert (heard[0].port, heard[0].name) == (port, "ServerC")


def link_of(lab: Lab, at: Endpoint) -> LinkFacts:
    return lab.ask(at.device, lab.part(at.device, LinkState).link(at.interface))
