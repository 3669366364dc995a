"""Plans and what is made of them, on toy devices: by ability, in order, all or nothing."""

import pytest
from profile_lab import toy_lab

from labtests.capabilities.records import PfcSetting
from labtests.core.errors import LabError
from labtests.profile import ProfileFile
from labtests.profile.planning import made, planned
from labtests.profile.rendering import command_lines, plain, plan_lines

PROFILE = ProfileFile(
    name="toy", rate_gbit_per_s=25, mtu_bytes=4200, lossless=[3], trust="dscp",
    scheduling=[20, 20, 20, 20, 10, 10, "strict", "strict"],
    buffer={"cable_m": 5.0},
)  # fmt: skip
ON = PfcSetting(mode="on", priorities=frozenset({3}))


@pytest.fixture
def toys(monkeypatch, tmp_path):
    return toy_lab(monkeypatch, tmp_path)


def steps(plans):
    return {plan.device: [(s.at.interface, s.intent.setting) for s in plan.steps] for plan in plans}


def test_a_plan_sends_nothing_and_asks_only_cabled_ports(toys):
    lab, boxes = toys
    plans = planned(PROFILE, lab)
    assert all(box.sent == [] for box in boxes.values())
    host = [("e0", "trust"), ("e0", "mtu"), ("e0", "pfc")]
    switch = [("p1", "trust"), ("p2", "trust"), ("p1", "pfc"), ("p2", "pfc")]
    assert steps(plans) == {"A": host, "B": host, "S": switch}


def test_what_a_device_cannot_do_is_said(toys):
    lab, _ = toys
    plans = planned(PROFILE, lab)
    said = {p.device: [(f.kind, f.port, f.problem) for f in p.findings] for p in plans}
    cannot = {
        name: {text.split(":")[0] for kind, _, text in found if kind == "cannot"}
        for name, found in said.items()
    }
    assert cannot["A"] == {"maps.dscp", "scheduling", "buffer.cable_m"}
    assert cannot["S"] == {
        "maps.dscp", "maps.queue_of_priority", "mtu_bytes", "scheduling", "buffer.headroom_cells"
    }  # fmt: skip
    assert ("note", "p9", "no cable in the testbed: left alone") in said["S"]


def test_a_link_that_is_too_long_or_too_fast_for_the_profile_is_warned_of(toys):
    lab, _ = toys
    buffer = PROFILE.buffer.model_copy(update={"cable_m": 2.0})
    short = PROFILE.model_copy(update={"buffer": buffer})
    slow = PROFILE.model_copy(update={"rate_gbit_per_s": 10.0})
    for profile in (short, slow):
        warned = {(f.device, f.port) for p in planned(profile, lab) for f in p.findings
                  if f.kind == "warning"}  # fmt: skip
        assert warned == {("A", "e0"), ("B", "e0"), ("S", "p1"), ("S", "p2")}
    assert not [f for p in planned(PROFILE, lab) for f in p.findings if f.kind == "warning"]


def test_apply_makes_all_of_it_and_a_second_time_nothing(toys):
    lab, boxes = toys
    done = made(PROFILE, lab, planned(PROFILE, lab))
    assert len(done) == 10
    assert [name for name, _, _ in boxes["A"].made] == ["trust", "mtu", "pfc"]
    sent = {name: len(box.sent) for name, box in boxes.items()}
    again = planned(PROFILE, lab)
    assert sum(plan.open_steps for plan in again) == 0
    assert made(PROFILE, lab, again) == []
    assert {name: len(box.sent) for name, box in boxes.items()} == sent


def test_what_is_kept_stays_when_the_lab_closes_and_what_is_not_does_not(toys):
    lab, boxes = toys
    with lab:
        made(PROFILE, lab, planned(PROFILE, lab))
        lab.ahead.keep()
        more = PROFILE.model_copy(update={"lossless": [3, 4]})
        made(more, lab, planned(more, lab))
        assert boxes["S"].values["pfc", "p1"] != ON
    assert boxes["S"].values["pfc", "p1"] == ON


def test_a_refusal_on_one_device_undoes_all_devices(toys):
    lab, boxes = toys
    boxes["B"].refuses = {("mtu", 4200)}
    with pytest.raises(LabError, match="% no"), lab:
        made(PROFILE, lab, planned(PROFILE, lab))
    for name in ("A", "S"):
        last = {(setting, port): wanted for setting, port, wanted in boxes[name].made}
        assert all(wanted != ON for (setting, _), wanted in last.items() if setting == "pfc")


def test_a_device_that_says_yes_and_does_nothing_is_found_out(toys):
    lab, boxes = toys
    boxes["A"].deaf = {"mtu"}
    with pytest.raises(LabError) as caught:
        made(PROFILE, lab, planned(PROFILE, lab))
    assert "accepted, but mtu of e0 reads back as 1500 instead of 4200" in str(caught.value)


def test_what_cannot_be_read_is_a_trouble_and_no_gap(toys):
    lab, boxes = toys
    boxes["A"].unread = {"mtu": "no such file"}
    plan = planned(PROFILE, lab)[0]
    assert [(t.setting, t.later) for t in plan.impossible] == [("mtu", False)]
    assert plan.open_steps == 2
    assert any("CANNOT: e0 mtu" in line for line in plan_lines(plan))


def test_the_text_has_the_exact_commands_and_json_has_the_same(toys):
    lab, _ = toys
    plans = planned(PROFILE, lab)
    text = "\n".join(plan_lines(plans[2]))
    assert "p1 pfc: mode off -> on, priorities none -> 3\n        p1 pfc [3]" in text
    document = plain(plans)
    assert [c["commands"] for c in document["A"]["changes"]] == [
        ["e0 trust dscp"], ["e0 mtu 4200"], ["e0 pfc [3]"]
    ]  # fmt: skip
    assert document["A"]["changes"][1] | {"difference": ""} == {
        "port": "e0", "setting": "mtu", "earlier": 1500, "wanted": 4200, "difference": "",
        "commands": ["e0 mtu 4200"],
    }  # fmt: skip


def test_a_suites_plan_is_printed_by_the_same_function(toys):
    lab, _ = toys
    made(PROFILE, lab, planned(PROFILE, lab))
    mine = [change for change in lab.changes if change.device == "A"]
    assert list(command_lines("A", mine)) == [
        "A:", "    e0 trust dscp", "    e0 mtu 4200", "    e0 pfc [3]"
    ]  # fmt: skip
    assert list(command_lines("A", [])) == ["A:", "    nothing to change"]


def test_a_roce_mode_is_asked_of_switches_alone_and_said_where_there_is_none(toys):
    lab, _ = toys
    plans = planned(ProfileFile(name="toy", roce_mode="lossless"), lab)
    said = {p.device: [f.problem for f in p.findings if f.kind == "cannot"] for p in plans}
    assert said == {
        "A": [],
        "B": [],
        "S": ["roce_mode: the switch driver does not support roce_mode"],
    }


def test_a_pool_of_the_memory_is_asked_of_switches_alone_and_said_where_there_is_none(toys):
    lab, _ = toys
    form = {"name": "toy", "rate_gbit_per_s": 25, "mtu_bytes": 1500, "trust": "dscp"}
    buffer = {"cable_m": 5, "lossless_memory_percent": 50}
    plans = planned(ProfileFile(**form, lossless=[3], buffer=buffer), lab)
    said = {p.device: [f.problem for f in p.findings if "memory" in f.problem] for p in plans}
    assert said == {
        "A": [],
        "B": [],
        "S": ["buffer.lossless_memory_percent: the switch driver does not support traffic_pools"],
    }


def test_asymmetric_pfc_is_asked_of_switches_alone_and_said_where_there_is_none(toys):
    lab, _ = toys
    asked = PROFILE.model_copy(update={"asymmetric_pfc": True})
    plans = planned(asked, lab)
    new = {p.device: [f for f in p.findings if "asymmetric" in f.problem] for p in plans}
    (said,) = new.pop("S")
    assert (said.kind, said.port) == ("cannot", "")
    assert said.problem == "asymmetric_pfc: the switch driver does not support asymmetric PFC"
    assert new == {"A": [], "B": []}
    assert [p.steps for p in plans] == [p.steps for p in planned(PROFILE, lab)]
