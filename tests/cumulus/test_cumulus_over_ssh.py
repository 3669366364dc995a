"""The Cumulus switch of a dry run, by SSH: what the lab changes there acts on packets and is put
back, one revision at a time, and what somebody else has configured stays as it is."""

import json
from dataclasses import replace
from typing import Any

import pytest
from in_process import InProcessLab, opened
from switch_over_ssh import (
    OFF,
    ON,
    ROOT,
    expect_counted,
    expect_lie_found_out,
    expect_negotiation_refused,
    expect_profile_put_back,
    fixtures_of,
    link_of,
)

from labtests.capabilities.device import (
    EcnCurves,
    EcnMarking,
    Obstacles,
    QueueShares,
    QueueTelemetry,
    RoceTelemetry,
    Versions,
)
from labtests.capabilities.facts import Caveats
from labtests.capabilities.records import MarkingCurve, PfcSetting, TrustSetting
from labtests.capabilities.settings import (
    CABLE_LENGTH,
    DSCP_MAP,
    ECN,
    FRAME_LIMIT,
    PFC,
    QUEUE_MAP,
    ROCE_MODE,
    SCHEDULING,
    TRUST,
)
from labtests.capabilities.values import NoSuchValue
from labtests.core.errors import CommandRejected, LabError
from labtests.core.headroom import headroom_for
from labtests.drivers.cumulus.profiles import Applied
from labtests.experiment import SIMULATED, Incast
from labtests.inventory import Endpoint, load
from labtests.lab.lab import Lab
from labtests.profile import ProfileFile
from labtests.profile.planning import made, planned
from labtests.simlab.cumulus import nv
from labtests.transport.commands import program

TESTBED, BOX = "cumulus-cx5", "SN2700"
OUT = Endpoint(device=BOX, interface="swp1")
IN = Endpoint(device=BOX, interface="swp2")
WHOLE = Endpoint(device=BOX, interface="")
OF_A_QUEUE = ("forwarded_packets", "forwarded_bytes", "dropped_packets", "marked_packets")
DSCP = TrustSetting(source="dscp")


simulated, lab = fixtures_of(TESTBED)


def typed(lab: Lab, line: str) -> str:
    """By hand; the answer."""
    reply = lab.transports[BOX].run(program(*line.split()))
    assert reply.status == 0, reply
    return reply.text


def configured(lab: Lab, path: str = "qos") -> dict[str, Any]:
    """What is applied."""
    told: dict[str, Any] = json.loads(typed(lab, f"nv show {path} --applied -o json"))
    return told


def everything(lab: Lab) -> tuple[dict[str, Any], ...]:
    return configured(lab), configured(lab, "interface")


def applied(lab: Lab, *lines: str) -> None:
    for line in lines:
        typed(lab, f"nv {line}")
    typed(lab, "nv config apply -y")


def profile_of(lab: Lab, at: Endpoint, feature: str) -> str:
    told: str = configured(lab, f"interface {at.interface}")["qos"][feature]["profile"]
    return told


def all_settings(lab: Lab) -> None:
    """Each of them once, and lossless priorities that go away and come again."""
    for at in (IN, OUT):
        lab.change(at, TRUST, DSCP)
        lab.change(at, PFC, OFF)
    for at in (IN, OUT):
        lab.change(at, PFC, ON)
    lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on({3}))
    lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((12,) * 7 + (None,)))
    lab.change(IN, DSCP_MAP, tuple(dscp % 8 for dscp in range(64)))
    lab.change(IN, FRAME_LIMIT, 9018)
    lab.change(WHOLE, QUEUE_MAP, (0, 1, 2, 3, 4, 5, 7, 6))


THEIRS = (
    "set qos pfc gold switch-priority 3,5",
    "set qos congestion-control gold traffic-class 1,2 min-threshold 40000",
    "set qos congestion-control gold traffic-class 1,2 red enable",
    "set qos egress-scheduler gold traffic-class 2,5 bw-percent 50",
    "set qos egress-scheduler gold traffic-class 6 mode strict",
    "set qos mapping gold trust both",
    "set qos mapping gold dscp 10,21,36 switch-priority 0",
    *(
        f"set interface swp1-3 qos {feature} profile gold"
        for feature in ("pfc", "congestion-control", "egress-scheduler", "mapping")
    ),
)


@pytest.mark.parametrize("theirs", [(), THEIRS], ids=["as installed", "with profiles"])
def test_all_settings_at_once_act_on_packets_and_go_back(lab, simulated, theirs):
    if theirs:
        applied(lab, *theirs)
    before, network = everything(lab), simulated.lab.network.switch(BOX)
    with lab.restoring():
        all_settings(lab)
        assert network.pfc("swp2") == ("on", frozenset(range(8)))
        assert network.dscp_map("swp2")[:10] == (0, 1, 2, 3, 4, 5, 6, 7, 0, 1)
        assert network.dot1p_lp == (0, 1, 2, 3, 4, 5, 7, 6)
        curve = network.wred("swp1")[3]
        assert (curve.ecn, curve.low_limit) == (True, 150_000 // 208)
        assert [n for n, each in enumerate(network.wred("swp1")) if each] == [3]
        assert network.schedule("swp1").queues == (*[("1", 1200)] * 7, ("sp", 0))
        qos, interfaces = everything(lab)
        assert interfaces["swp2"]["link"]["mtu"] == 9000
        assert interfaces["swp3"] == before[1]["swp3"]
        for feature, was in before[0].items():  # nobody else's profile is another one
            for name, profile in was.items():
                if feature != "egress-queue-mapping":
                    assert qos[feature][name] == profile, (feature, name)
        assert profile_of(lab, OUT, "pfc") == ("labtests-swp1-gold" if theirs else "labtests-swp1")
    assert everything(lab) == before
    assert lab.overridden == []


def test_a_change_is_one_revision_that_can_be_rolled_back(lab):
    before, rows = configured(lab), typed(lab, "nv config revision").splitlines()
    lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((20,) * 4 + (5,) * 4))
    now = typed(lab, "nv config revision").splitlines()
    assert len(now) == len(rows) + 1
    assert configured(lab) != before
    typed(lab, f"nv config apply {rows[-1].split()[0]} -y")
    assert configured(lab) == before


def test_a_curve_of_somebody_is_put_back_when_marking_was_switched_off(lab):
    applied(lab, *(line for line in THEIRS if "congestion" in line))
    before = everything(lab)
    told = lab.ask(BOX, lab.setting(OUT, ECN).read("swp1"))
    assert told.profile == "gold; RED in 1, 2"
    with lab.restoring():
        lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on(frozenset()))
        assert profile_of(lab, OUT, "congestion-control") == "labtests-swp1-gold"
        assert lab.ask(BOX, lab.setting(OUT, ECN).read("swp1")).queues == ()
    assert everything(lab) == before


def test_what_a_change_that_was_cut_off_has_left_goes_with_the_next_one(lab):
    before = everything(lab)
    applied(lab, "set qos pfc labtests-swp1-old switch-priority 7")
    typed(lab, "nv set qos pfc labtests-swp1 switch-priority 5")  # and the line was cut
    with lab.restoring():
        lab.change(OUT, PFC, ON)
        assert set(configured(lab)["pfc"]) == {"labtests-swp1"}
        assert typed(lab, "nv config diff -o commands") == ""
    assert everything(lab) == before


@pytest.mark.parametrize("line", ["roce", "roce enable on", "roce mode lossy"])
def test_roce_mode_that_a_change_was_cut_off_in_is_given_up(lab, line):
    before = everything(lab)
    typed(lab, f"nv set qos {line}")
    with lab.restoring():
        lab.change(OUT, PFC, ON)
        assert configured(lab)["roce"] == {"enable": "off"}
        assert typed(lab, "nv config diff -o commands") == ""
    assert everything(lab) == before


def test_queues_that_the_default_serves_unequally_are_served_alike_where_it_matters(lab, simulated):
    """12 and 13 percent: a sender that is offered half of the line would get less."""
    incast = Incast(lab=lab, pace=SIMULATED, progress=lambda _: None)
    network = simulated.lab.network.switch(BOX)
    with lab.restoring():
        incast.serve_alike({3, 5})
        assert "labtests-swp1" not in configured(lab)["egress-scheduler"]
        incast.serve_alike({2, 5})
        assert len(set(network.schedule("swp1").queues)) == 1
    assert "labtests-swp1" not in configured(lab)["egress-scheduler"]


def test_what_somebody_has_pending_is_never_applied(lab):
    typed(lab, "nv set interface swp2 link state down")
    before = everything(lab)
    (waiting,) = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert "1 changes are pending, first `nv set interface swp2 link state down`" in waiting
    with pytest.raises(CommandRejected, match="somebody's change is pending") as refused:
        lab.change(OUT, PFC, ON)
    assert "nv config detach" in refused.value.remedy
    assert everything(lab) == before
    assert "swp2 link state down" in typed(lab, "nv config diff -o commands")


def test_what_another_account_has_pending_is_told_of_and_not_in_the_way(lab, simulated):
    """`nv config diff` tells of the own account alone. Whoever leaves a revision behind would else
    be heard of when it is applied in a run."""
    applied(lab, "set qos pfc-watchdog polling-interval 200")
    assert lab.ask(BOX, lab.part(BOX, Caveats).caveats()) == ()
    simulated.lab.devices[BOX].chassis.revisions.begin("somebody")
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    assert lab.ask(BOX, lab.part(BOX, Caveats).caveats()) == (
        "revision 3 may be applied in a run (`nv config diff applied 3`)",
    )
    lab.change(OUT, PFC, ON)
    assert simulated.lab.devices[BOX].chassis.revisions.pending.keys() == {"somebody"}


def test_pauses_want_memory_which_is_not_made_by_the_way(lab):
    applied(lab, "unset qos traffic-pool default-lossless")
    with pytest.raises(CommandRejected, match="no memory is for lossless traffic") as refused:
        lab.change(IN, PFC, ON)
    assert "traffic-pool default-lossless memory-percent 50" in refused.value.remedy


def test_that_a_port_does_not_obey_all_pauses_as_asked_is_found_out(lab):
    before = everything(lab)
    asked = PfcSetting(mode="on", priorities=frozenset({3}), asymmetric="on")
    with lab.restoring(), pytest.raises(LabError, match="asymmetric='on'"):
        lab.change(IN, PFC, asked)
    assert everything(lab) == before


LOSSLESS_ROCE = PfcSetting(mode="on", priorities=frozenset({3}))


def test_roce_mode_is_set_and_read_acts_on_packets_and_goes_back(lab, simulated):
    before, network = everything(lab), simulated.lab.network.switch(BOX)
    with lab.restoring():
        lab.change(WHOLE, ROCE_MODE, "lossless")
        assert network.pfc("swp1") == network.pfc("swp3") == ("on", frozenset({3}))
        assert network.dot1p_lp == (0, 0, 0, 3, 0, 0, 6, 0)
        assert network.dscp_map("swp2") == tuple(dscp // 8 for dscp in range(64))
        assert [n for n, each in enumerate(network.wred("swp1")) if each] == [0, 3]
        assert network.schedule("swp1").queues[6] == ("sp", 0)
        assert lab.current(WHOLE, ROCE_MODE) == "lossless"
        lab.change(WHOLE, ROCE_MODE, "lossy")
        assert network.pfc("swp1") == ("off", frozenset())
        assert [n for n, each in enumerate(network.wred("swp1")) if each] == [0, 3]
        assert lab.ask(BOX, lab.setting(OUT, PFC).read("swp1")).priorities == frozenset()
        with pytest.raises(CommandRejected, match="no memory is for lossless traffic"):
            lab.change(OUT, PFC, LOSSLESS_ROCE)
    assert everything(lab) == before
    assert network.dot1p_lp == tuple(range(8))
    assert lab.overridden == []


def test_a_lab_that_is_found_in_roce_mode_is_read_changed_and_left_so(lab, simulated):
    applied(lab, "set qos roce")
    before, network = everything(lab), simulated.lab.network.switch(BOX)
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    assert lab.ask(BOX, lab.setting(OUT, PFC).read("swp1")) == LOSSLESS_ROCE
    assert lab.ask(BOX, lab.setting(OUT, TRUST).read("swp1")).source == "auto"
    assert lab.ask(BOX, lab.setting(OUT, DSCP_MAP).read("swp1"))[24:32] == (3,) * 8
    assert lab.ask(BOX, lab.setting(WHOLE, QUEUE_MAP).read("")) == (0, 0, 0, 3, 0, 0, 6, 0)
    curves = lab.ask(BOX, lab.setting(OUT, ECN).read("swp1")).queues
    assert [(each.queue, each.low_limit, each.high_limit) for each in curves] == [
        (0, 150_000, 1_500_000),
        (3, 150_000, 1_500_000),
    ]
    served = lab.ask(BOX, lab.setting(OUT, SCHEDULING).read("swp1")).queues
    assert [each.weight for each in served if each.group != "sp"] == [50, 0, 0, 50, 0, 0, 0]
    with lab.restoring():
        lab.change(OUT, PFC, OFF)
        lab.change(IN, TRUST, DSCP)
        lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on({3}))
        lab.change(OUT, FRAME_LIMIT, 9018)
        assert network.pfc("swp1") == ("off", frozenset())
        assert network.pfc("swp2") == ("on", frozenset({3}))
        assert [n for n, each in enumerate(network.wred("swp1")) if each] == [3]
        lab.change(OUT, PFC, LOSSLESS_ROCE)
        assert "profile" not in configured(lab, "interface swp1")["qos"].get("pfc", {})
    assert everything(lab) == before


def test_what_roce_mode_does_not_tell_or_has_no_way_back_for_is_refused(lab):
    applied(lab, "set qos roce mode lossless")
    before = everything(lab)
    with pytest.raises(CommandRejected, match=r"no memory .* of priority 4, 5") as refused:
        lab.change(OUT, PFC, PfcSetting(mode="on", priorities=frozenset({3, 4, 5})))
    assert "RoCE mode is lossless for" in refused.value.remedy
    with pytest.raises(CommandRejected, match="has a map of its own"):
        lab.change(WHOLE, QUEUE_MAP, tuple(range(8)))
    applied(lab, "set qos congestion-control default-global traffic-class 3 min-threshold 40000")
    with pytest.raises(CommandRejected, match=r"min-threshold is '39.06 KB'"):
        lab.ask(BOX, lab.setting(OUT, ECN).read("swp1"))
    applied(lab, "unset qos congestion-control", "set qos roce cable-length 30")
    with pytest.raises(CommandRejected, match="its cable-length would be lost"):
        lab.change(WHOLE, ROCE_MODE, "off")
    applied(lab, "unset qos roce cable-length")
    assert everything(lab) == before


def test_what_somebody_has_changed_of_roce_mode_is_read_as_it_is_in_operation(lab):
    """The user guide's example: priority 2 instead of 3."""
    applied(
        lab,
        *("set qos roce", "set qos pfc default-global switch-priority 2"),
        "set qos egress-queue-mapping default-global switch-priority 2 traffic-class 3",
        "set qos egress-queue-mapping default-global switch-priority 3 traffic-class 0",
        "set qos mapping default-global dscp 26 switch-priority 2",
    )
    assert lab.ask(BOX, lab.setting(OUT, DSCP_MAP).read("swp1"))[26] == 2
    assert lab.ask(BOX, lab.setting(WHOLE, QUEUE_MAP).read(""))[2:4] == (3, 0)
    assert lab.ask(BOX, lab.setting(OUT, PFC).read("swp1")).priorities == {2}
    with pytest.raises(CommandRejected, match="of priority 3"):
        lab.change(OUT, PFC, LOSSLESS_ROCE)
    with pytest.raises(CommandRejected, match="Invalid config"):  # so a published script says
        lab.change(WHOLE, ROCE_MODE, "lossy")


@pytest.mark.parametrize(
    ("where", "told", "instead"),
    [
        ("", "DWRR-50%", "WFQ-50%"),
        ("", "pfc-priority      3", "pfc-priority      4,5"),
        ("status", "rx-enabled        yes", "rx-enabled        no "),
        ("status", "pfc-priority      3", "pfc-priority      4"),
        ("status", "mode                lossless", "mode                lossy   "),
    ],
)
def test_a_display_of_roce_mode_that_is_odd_is_an_obstacle_and_nothing_is_guessed(
    lab, monkeypatch, where, told, instead
):
    real = nv.screened

    def odd(box, path):
        text = real(box, path)
        return text.replace(told, instead) if path[-1] == (where or "roce") else text

    applied(lab, "set qos roce")
    monkeypatch.setattr(nv, "screened", odd)
    with pytest.raises(CommandRejected, match="RoCE mode is on") as refused:
        lab.ask(BOX, lab.setting(OUT, PFC).read("swp1"))
    assert "nv unset qos roce" in refused.value.remedy
    if not where:
        (found,) = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
        assert "RoCE mode is on (lossless), and what it sets is not known" in found
    applied(lab, *THEIRS[:1], "set interface swp1 qos pfc profile gold")
    assert lab.ask(BOX, lab.setting(OUT, PFC).read("swp1")).priorities == {3, 5}


def test_a_mode_that_is_applied_and_not_in_operation_is_found_out(lab, monkeypatch):
    real, told = nv.screened, ("lossy        lossy", "lossless     lossless")
    monkeypatch.setattr(nv, "screened", lambda box, path: real(box, path).replace(*told))
    before = everything(lab)
    with (
        pytest.raises(LabError, match="is lossless in operation, and lossy as applied"),
        lab.restoring(),
    ):
        lab.change(WHOLE, ROCE_MODE, "lossy")
    assert everything(lab) == before


def test_the_way_back_of_roce_mode_does_not_rest_on_how_it_shows(lab, monkeypatch):
    """In lossy mode nothing is recorded: it may be unreadable."""
    monkeypatch.setattr(nv, "screened", lambda box, path: "frobnicated\n")
    before = everything(lab)
    with lab.restoring():
        lab.change(WHOLE, ROCE_MODE, "lossy")
        with pytest.raises(CommandRejected, match="its pfc is not known"):
            lab.ask(BOX, lab.setting(OUT, PFC).read("swp1"))
    assert everything(lab) == before


def test_roce_is_counted_apart(lab):
    applied(lab, "set qos roce")
    found = {
        each.counter: each
        for each in lab.ask(BOX, lab.part(BOX, RoceTelemetry).roce_counters("swp1"))
    }
    assert [each.value for each in found.values()] == [0] * 4


def test_what_the_switch_cannot_do_is_refused_before_anything_is_sent(lab):
    before = typed(lab, "nv config revision")
    curves = (
        MarkingCurve(queue=3, kmin_bytes=1, kmax_bytes=2, pmax_percent=3, weighting_exponent=4),
    )
    with pytest.raises(CommandRejected, match="no average"):
        lab.part(BOX, EcnCurves).ecn_for(curves, 208)
    expect_negotiation_refused(lab, IN)
    with pytest.raises(CommandRejected, match="more than 100 percent"):
        lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((20,) * 8))
    with pytest.raises(CommandRejected, match="not a valid frame length") as refused:
        lab.change(IN, FRAME_LIMIT, 10_000)
    assert "570 to 9234" in refused.value.remedy
    with pytest.raises(CommandRejected, match="cannot classify so"):
        lab.change(IN, TRUST, TrustSetting(source="exp"))
    with pytest.raises(CommandRejected, match="does not classify by DSCP"):
        lab.ask(BOX, lab.setting(IN, DSCP_MAP).read("swp2"))
    assert typed(lab, "nv config revision") == before


def test_a_name_that_leaves_no_room_for_ours_is_refused_before_anything_is_sent(lab):
    long = "x" * 120
    setting = lab.setting(OUT, PFC)
    applied = Applied(
        profiles={long: {("switch-priority", "3"): ""}}, profile=long, roomy=frozenset(range(8))
    )
    assert setting.value(applied, "swp1").priorities == {3}
    with pytest.raises(CommandRejected, match="would not be a valid profile name"):
        setting.commands("swp1", setting.value(applied, "swp1"), ON, applied)


def test_a_line_that_is_refused_leaves_nothing_behind(lab, monkeypatch):
    before, setting = everything(lab), lab.setting(OUT, FRAME_LIMIT)
    monkeypatch.setattr("labtests.drivers.cumulus.interfaces.CumulusFrameLimit.mtus", range(99_999))
    with pytest.raises(CommandRejected, match="Invalid config") as refused:
        lab.change(OUT, FRAME_LIMIT, 20_018)
    assert refused.value.remedy
    assert everything(lab) == before
    assert typed(lab, "nv config diff -o commands") == ""
    assert lab.ask(BOX, setting.read("swp1")) == 9234


def test_a_box_that_says_yes_and_does_nothing_is_found_out(lab, simulated):
    expect_lie_found_out(lab, simulated, IN)


def test_what_it_counts_and_tells_is_read(lab):
    expect_counted(lab, OUT, IN, of_a_queue=OF_A_QUEUE)
    link = link_of(lab, OUT)
    assert (link.up, link.speed_bits_per_s, link.frame_bytes) == (True, 25 * 10**9, 9234)
    assert lab.ask(BOX, lab.part(BOX, Versions).versions()) == {"cumulus": "5.11.0-SIMULATED"}


def test_a_counter_that_is_not_shown_is_not_known_and_never_0(lab, simulated):
    hide = {"kind": "missing-counter", "device": BOX, "port": "swp1"}
    simulated.lab.inject(hide | {"counter": "queue-drops"})
    queues = lab.ask(BOX, lab.part(BOX, QueueTelemetry).queue_counters(OUT.interface))
    drops = [each for each in queues if each.counter == "dropped_packets"]
    assert [each.value for each in drops] == [None] * 8
    assert "does not show it" in drops[0].missing


def test_a_port_that_there_is_not_is_named(lab):
    with pytest.raises(CommandRejected, match="does not exist") as refused:
        lab.ask(BOX, lab.part(BOX, QueueTelemetry).queue_counters("swp99"))
    assert "check the interface name" in refused.value.remedy
    with pytest.raises(CommandRejected, match="does not exist"):
        lab.ask(BOX, lab.setting(OUT, FRAME_LIMIT).read("swp99"))


def test_a_watchdog_a_shaper_and_a_profile_that_is_not_there_are_told(lab):
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    applied(
        lab,
        "set interface swp2 qos pfc-watchdog state enable",
        "set qos egress-shaper slow port-max-rate 200000",
        "set interface swp1 qos egress-shaper profile slow",
    )
    shaper, guard = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert "swp2: the PFC watchdog may shut a queue in a run" in guard
    assert "swp1: it may be slower than its link (qos egress-shaper profile slow)" in shaper


def test_a_profile_is_planned_made_and_put_back(lab):
    expect_profile_put_back(lab, BOX, lambda: everything(lab), cannot=(), least=3)


def test_a_profile_has_headroom_for_its_cables(lab, simulated):
    network = simulated.lab.network.switch(BOX)
    profile = ProfileFile(
        name="long", rate_gbit_per_s=25, lossless=[3], mtu_bytes=1500,
        buffer={"cable_m": 40.5, "headroom_cells": 120},
    )  # fmt: skip
    before = everything(lab)
    with lab.restoring():
        plans = planned(profile, lab)
        (told,) = [each.findings for each in plans if each.device == BOX]
        assert "buffer.headroom_cells: the switch works it out, by buffer.cable_m" in [
            each.problem for each in told
        ]
        made(profile, lab, plans)
        assert lab.current(OUT, CABLE_LENGTH) == 41
        assert network.group_counters("swp1")[3].lossless
        assert simulated.lab.devices[BOX].chassis.headroom_cells("swp1") == headroom_for(25e9, 41)
        assert not any(plan.steps for plan in planned(profile, lab))
    assert everything(lab) == before


@pytest.mark.parametrize("first", ["cable", "pfc"])
def test_the_length_of_a_cable_is_set_beside_pauses_and_goes_back(lab, simulated, first):
    chassis, before = simulated.lab.devices[BOX].chassis, everything(lab)
    assert lab.ask(BOX, lab.setting(OUT, CABLE_LENGTH).read("swp1")) == 10
    changes = [(CABLE_LENGTH, 300), (PFC, LOSSLESS_ROCE)]
    with lab.restoring():
        for kind, value in changes if first == "cable" else reversed(changes):
            lab.change(OUT, kind, value)
        shown = configured(lab)["pfc"]["labtests-swp1"]
        assert shown == {"cable-length": 300, "rx": "enable", "switch-priority": {"3": {}},
                         "tx": "enable"}  # fmt: skip
        assert chassis.headroom_cells("swp1") == headroom_for(25e9, 300)
        lab.change(OUT, CABLE_LENGTH, 10)
        assert chassis.headroom_cells("swp1") == headroom_for(25e9, 10)
        assert lab.ask(BOX, lab.setting(OUT, PFC).read("swp1")) == LOSSLESS_ROCE
    assert everything(lab) == before
    assert lab.overridden == []


def test_a_run_has_buffers_for_the_cables_of_the_testbed(tmp_path):
    testbed = load(ROOT / "testbeds" / f"{TESTBED}.yaml")
    links = tuple(replace(link, length_m=299.5) for link in testbed.links)
    testbed = replace(testbed, links=links)
    with InProcessLab(testbed, seed=1) as simulated:
        chassis = simulated.lab.devices[BOX].chassis
        with opened(simulated, testbed, tmp_path / "journal.jsonl") as lab:
            incast = Incast(lab=lab, pace=SIMULATED, progress=lambda _: None)
            applied(lab, "set qos pfc mine cable-length 400",
                    "set interface swp2 qos pfc profile mine")  # fmt: skip
            before = everything(lab)
            with lab.restoring():
                incast.lossless_on_the_way(3)
                assert chassis.headroom_cells("swp1") == headroom_for(25e9, 300)
                assert chassis.headroom_cells("swp2") == headroom_for(25e9, 400)
            assert everything(lab) == before


@pytest.mark.parametrize("length", [0, 100_001])
def test_a_length_that_the_switch_does_not_take_is_refused(lab, length):
    before = everything(lab)
    with pytest.raises((CommandRejected, NoSuchValue)):
        lab.change(OUT, CABLE_LENGTH, length)
    assert everything(lab) == before


def test_roce_mode_is_for_longer_cables_and_a_profile_of_ours_is_no_shorter(lab, simulated):
    chassis = simulated.lab.devices[BOX].chassis
    applied(lab, "set qos roce")
    assert lab.ask(BOX, lab.setting(OUT, CABLE_LENGTH).read("swp1")) == 100
    assert chassis.headroom_cells("swp1") == headroom_for(25e9, 100)
    applied(lab, "set qos roce cable-length 30")
    before = everything(lab)
    assert lab.ask(BOX, lab.setting(OUT, CABLE_LENGTH).read("swp1")) == 30
    with lab.restoring():
        lab.change(OUT, PFC, OFF)
        assert configured(lab)["pfc"]["labtests-swp1"]["cable-length"] == 30
        lab.change(OUT, PFC, LOSSLESS_ROCE)
        lab.change(OUT, CABLE_LENGTH, 50)
        assert chassis.headroom_cells("swp1") == headroom_for(25e9, 50)
    assert everything(lab) == before


def test_a_profile_asks_for_roce_mode_before_what_goes_before_it(lab, simulated):
    """One word for the whole switch; a port's own profiles are laid over it, and both go again."""
    shares = [20, 10, 10, 40, 10, 5, 5, "strict"]
    profile = ProfileFile(
        name="roce",
        roce_mode="lossless",
        trust="dscp",
        maps={"queue_of_priority": [0, 0, 0, 3, 0, 0, 6, 0]},  # as the mode has it
        scheduling=shares,
    )
    before = everything(lab)
    with lab.restoring():
        made(profile, lab, planned(profile, lab))
        of_box = [each.commands for each in lab.changes if each.device == BOX]
        assert "nv set qos roce mode lossless" in str(of_box[0])
        assert "roce" not in str(of_box[1:])
        assert all(not plan.steps for plan in planned(profile, lab))
    assert everything(lab) == before


def test_what_was_changed_between_two_roce_modes_goes_back_in_the_first_of_them(lab):
    """The length of the cable that a port has by the mode is no length of its own."""
    before = everything(lab)
    with lab.restoring():
        lab.change(WHOLE, ROCE_MODE, "lossless")
        lab.change(IN, CABLE_LENGTH, 40)
        lab.change(WHOLE, ROCE_MODE, "lossy")
    assert everything(lab) == before
    assert lab.overridden == []


def test_a_port_that_applies_the_default_by_name_does_so_again(lab):
    at_ports = [f"set interface swp1-2 qos {feature} profile default-global"
                for feature in ("egress-scheduler", "mapping")]  # fmt: skip
    applied(lab, *at_ports, "set qos pfc default-global switch-priority 3",
            "set interface swp1-2 qos pfc profile default-global")  # fmt: skip
    before = everything(lab)
    with lab.restoring():
        all_settings(lab)
        assert everything(lab) != before
    assert everything(lab) == before
    assert lab.overridden == []


def test_the_cable_of_roce_mode_is_not_known_beside_one_of_the_default(lab):
    """Which of the two a switch goes by is in no document."""
    applied(lab, "set qos roce mode lossless", "set qos pfc default-global cable-length 7")
    with pytest.raises(CommandRejected, match="cable-length of 7, and RoCE mode one of 100"):
        lab.current(IN, CABLE_LENGTH)
    (told,) = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert "a cable-length of 7" in told
    applied(lab, "set qos roce cable-length 7")
    assert lab.current(IN, CABLE_LENGTH) == 7


def test_counters_of_a_roce_mode_that_somebody_has_taken_away_are_missing_and_no_error(lab):
    """So the phase goes on to say what was changed."""
    applied(lab, "set qos roce mode lossless")
    asked = lab.part(BOX, RoceTelemetry)
    assert all(each.value == 0 for each in lab.ask(BOX, asked.roce_counters("swp2")))
    applied(lab, "unset qos roce")
    told = lab.ask(BOX, asked.roce_counters("swp2"))
    assert {each.value for each in told} == {None}
    assert all(each.missing.startswith("as where RoCE mode is off: ") for each in told)
