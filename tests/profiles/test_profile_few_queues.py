"""A profile of eight queues on a Linux switch of three: it cannot be, and nothing is sent."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "linux_switch"))

from switch_box import RecordedSwitch, recording

from labtests.core.clock import WallClock
from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.lab.lab import Lab
from labtests.profile.planning import planned
from labtests.profile.reader import load

PORT = "tcs0"
LOSSLESS_25G = Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml"


def planned_at(kind, profile):
    """The plan for one port of such a switch, and its session."""
    names = (f"{what}--{kind}" for what in ("qdiscs", "classes", "filters"))
    box = RecordedSwitch(
        recording(name) for name in names if (TRANSCRIPTS / f"{name}.txt").exists()
    )
    link = Link(
        a=Endpoint(device="sw", interface=PORT),
        b=Endpoint(device="h", interface="e0"),
        speed_bits_per_s=25 * 10**9,
        length_m=3.0,
    )
    device = Device(
        name="sw",
        platform="linux-switch",
        management=Management(host="sw"),
        ports=(Port(device="sw", interface=PORT),),
    )
    testbed = Testbed(name="few", file=Path("few.yaml"), devices=(device,), links=(link,))
    lab = Lab(testbed, {"sw": box}, clock=WallClock(), backend="simulated")
    (plan,) = planned(profile, lab)
    return plan, box


TRANSCRIPTS = Path(__file__).parents[1] / "transcripts" / "linux_switch"


@pytest.mark.parametrize("kind", ["prio_red", "ets_tbf_red"])
def test_queues_that_a_port_lacks_make_the_profile_impossible(kind):
    plan, box = planned_at(kind, load(LOSSLESS_25G).form)
    said = {trouble.setting: trouble.problem for trouble in plan.impossible}
    assert set(said) == {"ecn", "scheduling"}
    assert "it has the queues [0, 1, 2], and is to mark in [3]" in said["ecn"]
    assert "queue 3: 50 %" in said["scheduling"]
    assert "queue 6: strict" in said["scheduling"]
    assert plan.steps == []
    assert box.changed == []


def test_a_profile_of_the_queues_that_are_there_is_planned():
    form = load(LOSSLESS_25G).form
    three = form.model_copy(update={"scheduling": ("strict", 30, 70, 0, 0, 0, 0, 0), "ecn": ()})
    plan, box = planned_at("ets_tbf_red", three)
    assert plan.impossible == []
    assert [step.intent.setting for step in plan.steps] == ["scheduling"]
    assert box.changed == []


def test_a_profile_of_the_mtu_alone_asks_for_nothing_else():
    plan, box = planned_at("htb_red", load(LOSSLESS_25G.with_name("mtu-9000.yaml")).form)
    assert plan.wishes == plan.steps == plan.troubles == []
    assert [f.kind for f in plan.findings if f.kind != "note"] == ["cannot"]  # no MTU on a switch
    assert box.changed == []


def test_the_profile_of_the_linux_lab_fits_a_switch_of_eight_htb_queues():
    plan, box = planned_at("htb_red", load(LOSSLESS_25G.with_name("linux-lab.yaml")).form)
    assert plan.impossible == []
    assert [step.intent.setting for step in plan.steps] == ["scheduling"]
    assert len(plan.steps[0].commands) == 7  # one is served so already
    assert box.changed == []
