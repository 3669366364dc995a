"""A profile of eight queues on a Linux switch of three: it cannot be, and nothing is sent."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "linux_switch"))

from driven import driving
from switch_box import RecordedSwitch, recording

from labtests.inventory import Endpoint
from labtests.profile.planning import _planned
from labtests.profile.reader import load

Driver = driving("linux-switch")

PORT = "tcs0"
LOSSLESS_25G = Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml"


def planned_at(kind, profile):
    """The plan for one port of such a switch, and its session."""
    names = (f"{what}--{kind}" for what in ("qdiscs", "classes", "filters"))
    box = RecordedSwitch(
        recording(name) for name in names if (TRANSCRIPTS / f"{name}.txt").exists()
    )
    driver, at = Driver(box), Endpoint(device="sw", interface=PORT)
    link = SimpleNamespace(speed_bits_per_s=25e9, length_m=3.0)
    lab = SimpleNamespace(
        testbed=SimpleNamespace(link_of=lambda _: link),
        driver=lambda *_: driver,
        current=lambda at, setting: getattr(driver, setting)(at.interface),
        commands=lambda at, setting, *both: getattr(driver, f"{setting}_commands")(
            at.interface, *both
        ),
    )
    port = SimpleNamespace(interface=PORT, endpoint=at)
    return _planned(profile, lab, SimpleNamespace(name="sw", ports=(port,))), box


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
    assert [step.setting for step in plan.steps] == ["scheduling"]
    assert box.changed == []


def test_a_profile_of_the_mtu_alone_asks_for_nothing_else():
    plan, box = planned_at("htb_red", load(LOSSLESS_25G.with_name("mtu-9000.yaml")).form)
    assert plan.wishes == plan.steps == plan.troubles == []
    assert [f.kind for f in plan.findings if f.kind != "note"] == ["cannot"]  # no MTU on a switch
    assert box.changed == []


def test_the_profile_of_the_linux_lab_fits_a_switch_of_eight_htb_queues():
    plan, box = planned_at("htb_red", load(LOSSLESS_25G.with_name("linux-lab.yaml")).form)
    assert plan.impossible == []
    assert [step.setting for step in plan.steps] == ["scheduling"]
    assert len(plan.steps[0].commands) == 7  # one is served so already
    assert box.changed == []
