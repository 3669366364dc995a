"""The lab undoes what it changed, whatever happened in between; a plan changes nothing."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from toys import ToyBox, ToySetting, platform, toy_driver

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.core.errors import CommandRejected, LabErrors
from labtests.inventory import Endpoint
from labtests.lab.changes import Planned
from labtests.lab.lab import Lab
from labtests.pytest_plugin.run import Run

PORT = Endpoint(device="sw", interface="p1")
OTHER = Endpoint(device="sw", interface="p2")
OFF = PfcSetting(mode="off", priorities=frozenset())
ON = PfcSetting(mode="on", priorities=frozenset({3}))


class Box(ToyBox):
    """`state` is the PFC of each port; it breaks in the middle of what is in `breaks`."""

    def __init__(self):
        super().__init__()
        self.breaks = set()
        self.values = {("pfc", "p1"): OFF, ("pfc", "p2"): OFF}
        self.at_made = self._break

    @property
    def state(self):
        return {port: value for (_, port), value in self.values.items()}

    def _break(self, port, wanted):
        if (port, wanted) in self.breaks:
            raise CommandRejected("sw", f"{port} pfc {wanted.mode}", "link lost", "try again")


@pytest.fixture
def box():
    return Box()


@pytest.fixture
def lab(box, monkeypatch):
    pfc = ToySetting(box, PFC, OFF, lambda wanted: wanted.mode)
    module = platform(lambda device, ports=(): toy_driver(box, pfc))
    monkeypatch.setattr("labtests.lab.lab.driver_module", lambda name: module)
    testbed = SimpleNamespace(devices=(SimpleNamespace(name="sw", platform="toy", ports=()),))
    clock = SimpleNamespace(now_s=lambda: 1.0)
    return Lab(testbed, {"sw": box}, clock=clock, backend="simulated")


def test_the_lab_puts_back_what_it_changed_last_first(lab, box):
    with lab.restoring():
        lab.change(PORT, PFC, ON)
        lab.change(OTHER, PFC, ON)
        assert box.state == {"p1": ON, "p2": ON}
    assert box.state == {"p1": OFF, "p2": OFF}
    assert box.sent == ["p1 pfc on", "p2 pfc on", "p2 pfc off", "p1 pfc off"]


def test_a_setting_that_is_so_already_sends_nothing(lab, box):
    with lab.restoring():
        lab.change(PORT, PFC, OFF)
    assert box.sent == []
    assert lab.changes == []


def change_and_die(lab, *ends):
    with lab.restoring():
        for end in ends:
            lab.change(end, PFC, ON)
        raise KeyboardInterrupt


def change(lab, box, *ends, later_refuses=()):
    with lab.restoring():
        for end in ends:
            lab.change(end, PFC, ON)
        box.refuses.update(later_refuses)


def test_a_test_that_dies_is_undone(lab, box):
    with pytest.raises(KeyboardInterrupt):
        change_and_die(lab, PORT, OTHER)
    assert box.state == {"p1": OFF, "p2": OFF}


def test_a_change_that_broke_half_way_is_undone_too(lab, box):
    box.breaks.add(("p1", ON))
    with pytest.raises(CommandRejected, match="link lost"):
        change(lab, box, PORT)
    assert box.state["p1"] == OFF


def test_one_undo_that_fails_does_not_stop_the_others_and_is_named(lab, box):
    with pytest.raises(LabErrors) as caught:
        change(lab, box, PORT, OTHER, later_refuses={("p2", OFF)})
    assert box.state == {"p1": OFF, "p2": ON}
    said = "sw:p2: pfc was mode: off, priorities: none and could not be restored: "
    assert said in str(caught.value)


def test_what_nobody_has_thought_of_does_not_stop_the_others_either(lab, box):
    def breaks(port, wanted):
        if (port, wanted) == ("p2", OFF):
            raise EOFError

    box.at_made = breaks
    with pytest.raises(LabErrors, match="could not be restored") as caught:
        change(lab, box, PORT, OTHER)
    assert box.state["p1"] == OFF
    assert "EOFError: (no message) (a defect of labtests)" in str(caught.value)


def test_inner_changes_are_undone_before_outer_ones(lab, box):
    with lab.restoring():
        lab.change(PORT, PFC, ON)
        with lab.restoring():
            lab.change(OTHER, PFC, ON)
        assert box.state == {"p1": ON, "p2": OFF}
    assert box.state["p1"] == OFF


def test_leaving_the_lab_undoes_and_closes(lab, box):
    with lab:
        lab.change(PORT, PFC, ON)
    assert box.state["p1"] == OFF
    assert box.closed


def test_a_plan_sends_nothing_and_goes_on_from_what_it_pretends(lab, box):
    lab.planned = Planned()
    with lab.restoring():
        lab.change(PORT, PFC, ON)
        lab.change(PORT, PFC, OFF)
        lab.change(PORT, PFC, ON)
    assert box.sent == []
    lines = [(line, change.undo) for change in lab.changes for line in change.commands]
    assert lines == [
        ("p1 pfc on", False),
        ("p1 pfc off", False),
        ("p1 pfc on", False),
        ("p1 pfc off", True),
    ]


def test_abilities_are_asked_for_never_vendors(lab):
    assert lab.has("sw", PFC)
    assert lab.offers("pfc")
    assert not lab.offers("reaction_point")


def test_what_somebody_else_set_meanwhile_is_put_back_and_said(lab, box):
    auto = PfcSetting(mode="auto", priorities=frozenset({3}))
    with lab.restoring():
        lab.change(PORT, PFC, ON)
        lab.change(OTHER, PFC, ON)
        box.values["pfc", "p1"] = auto
    assert box.state == {"p1": OFF, "p2": OFF}
    (sentence,) = lab.overridden
    assert "sw:p1: pfc was changed by somebody else to" in sentence
    assert "auto" in sentence


@pytest.mark.parametrize("broken", ["streams", "exports"])
def test_what_cannot_be_closed_keeps_no_run_from_putting_the_lab_back(broken):
    done = []

    def close(name):
        done.append(name)
        if name == broken:
            raise OSError(28, "No space left on device")

    exports = ExitStack()
    exports.callback(close, "exports")
    lab = SimpleNamespace(
        streams=SimpleNamespace(close=lambda: close("streams")),
        restore=lambda: done.append("restored"),
        close=lambda: done.append("closed"),
    )
    proof = SimpleNamespace(end=lambda lab: done.append("proved"))
    with pytest.raises(OSError, match="No space"):
        Run._put_back(SimpleNamespace(exports=exports, proof=proof), lab)
    assert done == ["streams", "exports", "restored", "proved", "closed"]
