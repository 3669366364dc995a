"""The Onyx switch of a dry run, by SSH: what the lab changes there acts on packets and is put back,
and what somebody else has configured stays as it is."""

import json
from typing import Any

import pytest
from switch_over_ssh import (
    OFF,
    ON,
    expect_lie_found_out,
    expect_negotiation_refused,
    expect_shared_priorities_changed_together,
    expect_shared_priorities_put_back,
    fixtures_of,
    link_of,
    made_and_put_back,
    shipped,
)
from typed import typed as as_typed

from labtests.capabilities.device import (
    DropTelemetry,
    EcnCurves,
    EcnMarking,
    Entitled,
    Obstacles,
    PfcTelemetry,
    QueueShares,
    QueueTelemetry,
    Versions,
)
from labtests.capabilities.facts import Neighbours, OwnClock, PortTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import MarkingCurve, PfcSetting, TrustSetting
from labtests.capabilities.settings import (
    DSCP_MAP,
    ECN,
    FRAME_LIMIT,
    PFC,
    QUEUE_MAP,
    SCHEDULING,
    TRUST,
)
from labtests.core.errors import CommandRejected
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.profile.planning import planned

TESTBED, BOX = "onyx-cx5", "SN2700"
OUT = Endpoint(device=BOX, interface="Eth1/1")
IN = Endpoint(device=BOX, interface="Eth1/2")
OTHER = Endpoint(device=BOX, interface="Eth1/3")
WHOLE = Endpoint(device=BOX, interface="")
DSCP = TrustSetting(source="dscp")
THREE = PfcSetting(mode="on", priorities=frozenset({3}))


simulated, lab = fixtures_of(TESTBED)


def shown(lab: Lab, line: str) -> str:
    """By hand; the answer."""
    return lab.transports[BOX].run(as_typed(line)).text


def configured(lab: Lab) -> list[str]:
    """The lines of the running configuration."""
    text = shown(lab, "show running-config")
    return [each.strip() for each in text.splitlines() if each.strip() and each[0] != "#"]


def by_hand(lab: Lab, *lines: str) -> None:
    reply = lab.transports[BOX].configure(tuple(map(as_typed, lines)))
    assert "%" not in reply.text, reply.text


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
    lab.change(IN, FRAME_LIMIT, 9022)


THEIRS = (
    "interface ethernet 1/1-1/3 qos trust both",
    "interface ethernet 1/1-1/3 qos map dscp 10 to switch-priority 0",
    "interface ethernet 1/1 traffic-class 2 congestion-control red minimum-relative 9 "
    "maximum-relative 90",
    "interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 500 "
    "maximum-absolute 1550",
    "interface ethernet 1/1 traffic-class 2 dcb ets strict",
    "interface ethernet 1/1-1/2 dcb priority-flow-control mode on force",
    "interface ethernet 1/1 mtu 4200 force",
    "dcb priority-flow-control priority 5 enable",
)


@pytest.mark.parametrize("theirs", [(), THEIRS], ids=["as installed", "configured"])
def test_all_settings_at_once_act_on_packets_and_go_back(lab, simulated, theirs):
    by_hand(lab, *theirs)
    before, network = configured(lab), simulated.lab.network.switch(BOX)
    with lab.restoring():
        all_settings(lab)
        assert network.pfc("Eth1/2") == ("on", frozenset(range(8)))
        assert network.dscp_map("Eth1/2")[:10] == (0, 1, 2, 3, 4, 5, 6, 7, 0, 1)
        curve = network.wred("Eth1/1")[3]
        assert (curve.ecn, curve.low_limit) == (True, 150_000 // 208)
        assert [n for n, each in enumerate(network.wred("Eth1/1")) if each] == [3]
        assert network.schedule("Eth1/1").queues == (*[("1", 1200)] * 7, ("sp", 0))
        now = configured(lab)
        assert "interface ethernet 1/2 mtu 9000 force" in now
        assert [each for each in now if " 1/3 " in each] == [
            each for each in before if " 1/3 " in each
        ]
    assert configured(lab) == before
    assert lab.overridden == []


def test_a_curve_of_somebody_is_put_back_as_it_was(lab):
    by_hand(lab, *(line for line in THEIRS if "congestion" in line))
    before = configured(lab)
    told = lab.ask(BOX, lab.setting(OUT, ECN).read("Eth1/1"))
    assert told.profile == "kB; percent in 2"
    assert {(each.queue, each.ecn, each.low_limit) for each in told.queues} == {
        (2, False, 9),
        (3, True, 500),
    }
    with lab.restoring():
        lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on(frozenset()))
        assert not any("congestion-control" in each for each in configured(lab))
    assert configured(lab) == before


def test_priorities_are_left_alone_while_another_port_needs_them(lab, simulated):
    before, network = configured(lab), simulated.lab.network.switch(BOX)
    with lab.restoring():
        lab.change(IN, PFC, THREE)
        lab.change(OTHER, PFC, THREE)
        lab.change(IN, PFC, OFF)
        assert network.pfc("Eth1/2")[0] == "off"
        assert network.pfc("Eth1/3") == ("on", frozenset({3}))
        lab.change(OTHER, PFC, OFF)
        assert not any("priority 3 enable" in each for each in configured(lab))
    assert configured(lab) == before


def test_pfc_of_the_whole_switch_is_not_enabled_by_the_way(lab, simulated):
    by_hand(lab, "no dcb priority-flow-control enable force")
    with pytest.raises(CommandRejected, match="disabled in the whole switch") as refused:
        lab.change(IN, PFC, ON)
    assert "dcb priority-flow-control enable force" in refused.value.remedy
    by_hand(lab, "interface ethernet 1/2 dcb priority-flow-control mode on force")
    assert simulated.lab.network.switch(BOX).pfc("Eth1/2")[0] == "off"
    with pytest.raises(CommandRejected, match="disabled in the whole switch"):
        lab.ask(BOX, lab.setting(IN, PFC).read("Eth1/2"))
    by_hand(lab, "dcb priority-flow-control enable force")
    assert lab.ask(BOX, lab.setting(IN, PFC).read("Eth1/2")).mode == "on"


def test_what_the_switch_cannot_do_is_refused_before_anything_is_sent(lab):
    before = configured(lab)
    plain = MarkingCurve(
        queue=3, kmin_bytes=1000, kmax_bytes=2000, pmax_percent=100, weighting_exponent=0
    )
    for wrong, says in (
        ({"pmax_percent": 20}, "no probability"),
        ({"weighting_exponent": 4}, "av"),
    ):
        values = {name: getattr(plain, name) for name in MarkingCurve.__slots__} | wrong
        with pytest.raises(CommandRejected, match=says):
            lab.part(BOX, EcnCurves).ecn_for((MarkingCurve(**values),), 208)
    expect_negotiation_refused(lab, IN)
    for limit in (0, 100, 9999):
        with pytest.raises(CommandRejected, match="not a valid frame length"):
            lab.change(IN, FRAME_LIMIT, limit)
    with pytest.raises(CommandRejected, match="cannot classify so"):
        lab.change(IN, TRUST, TrustSetting(source="dscp", override=True))
    with pytest.raises(CommandRejected, match="cannot be served so"):
        lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((101,) * 8))
    with pytest.raises(CommandRejected, match="does not change them"):
        lab.change(WHOLE, QUEUE_MAP, (7, 6, 5, 4, 3, 2, 1, 0))
    with pytest.raises(CommandRejected, match=r"does not classify by DSCP \(trust L2\)") as refused:
        lab.ask(BOX, lab.setting(IN, DSCP_MAP).read("Eth1/2"))
    assert "trust to dscp" in refused.value.remedy
    assert configured(lab) == before


def test_a_port_that_is_none_is_refused_before_anything_is_asked(lab):
    for wrong in ("1/1", "Eth1/1; reload", "Po1", "Eth1/1 | include x"):
        with pytest.raises(CommandRejected, match="not a valid Onyx interface name"):
            lab.ask(BOX, lab.setting(IN, PFC).read(wrong))


def known(readings: tuple[Reading, ...]) -> dict[tuple[Any, str], int | None]:
    return {(each.index, each.counter): each.value for each in readings}


def test_counters_neighbours_links_clock_and_versions(lab, simulated):
    queues = known(lab.ask(BOX, lab.part(BOX, QueueTelemetry).queue_counters("Eth1/1")))
    assert {name for _, name in queues} == {
        "forwarded_packets", "forwarded_bytes", "dropped_packets"
    }  # fmt: skip
    assert len(queues) == 24
    assert None not in queues.values()
    ports = ("Eth1/2", "Eth1/3")
    assert len(lab.ask(BOX, lab.part(BOX, PfcTelemetry).pfc_counters(ports))) == 32
    counted = known(lab.ask(BOX, lab.part(BOX, PortTelemetry).port_counters("Eth1/1")))
    assert {"rx_packets", "rx_dropped", "rx_crc_errors", "tx_errors"} <= {n for _, n in counted}
    assert None not in counted.values()
    assert known(lab.ask(BOX, lab.part(BOX, DropTelemetry).drop_counters("Eth1/1"))) == {
        (None, "ecn_marked_packets"): 0,
        (None, "queue_wred_dropped_packets"): 0,
    }
    heard = lab.ask(BOX, lab.part(BOX, Neighbours).neighbours())
    assert (heard[0].port, heard[0].name) == ("Eth1/1", "ServerC")
    link = link_of(lab, OUT)
    assert (link.up, link.speed_bits_per_s, link.frame_bytes) == (True, 25 * 10**9, 1522)
    versions = lab.ask(BOX, lab.part(BOX, Versions).versions())
    assert versions["onyx"].startswith("3.10")
    clock = lab.ask(BOX, lab.part(BOX, OwnClock).own_clock())
    assert abs(clock.device_s - simulated.lab.devices[BOX].now.timestamp()) < 2


def test_hidden_counters_are_not_known_and_none_is_0(lab, simulated):
    for counter in ("pfc", "queue-drops", "queue-5"):
        simulated.lab.inject(
            {"kind": "missing-counter", "device": BOX, "port": "Eth1/1", "counter": counter}
        )
    queues = known(lab.ask(BOX, lab.part(BOX, QueueTelemetry).queue_counters("Eth1/1")))
    assert queues[3, "dropped_packets"] is None
    assert queues[3, "forwarded_packets"] == 0
    assert queues[5, "forwarded_packets"] is None
    pauses = lab.ask(BOX, lab.part(BOX, PfcTelemetry).pfc_counters(("Eth1/1", "Eth1/2")))
    assert {each.port: each.value for each in pauses} == {"Eth1/1": None, "Eth1/2": 0}
    assert all(each.missing for each in pauses if each.value is None)


def test_what_distorts_a_test_is_told(lab):
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    by_hand(lab, "interface ethernet 1/2 flowcontrol receive on force")
    (found,) = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert found == "Eth1/2: it pauses all priorities together (`flowcontrol`)"


def test_an_account_that_may_not_configure_is_told_so(lab, simulated):
    part = lab.part(BOX, Entitled)
    lines = lab.ask(BOX, part.trial())
    assert lines == ("interface ethernet 1/1", "exit")
    part.expect_entitled(lines, lab.transports[BOX].configure(lines))
    simulated.lab.inject({"kind": "role", "device": BOX, "role": "network-operator"})
    with pytest.raises(CommandRejected, match="no configuration mode"):
        lab.change(IN, PFC, ON)


def test_a_lie_is_found_out(lab, simulated):
    expect_lie_found_out(lab, simulated, IN)


def test_a_profile_is_planned_made_and_undone(lab):
    differ = made_and_put_back(lab, BOX, shipped(100), lambda: configured(lab), ("headroom",))
    assert len(differ) > 6


def test_a_probability_that_a_profile_wants_is_told_to_be_none_of_the_switch(lab):
    plan = next(each for each in planned(shipped(), lab) if each.device == BOX)
    assert {each.setting for each in plan.impossible} == {"ecn"}
    assert all(
        "no probability can be set there, such as 20 %" in e.problem for e in plan.impossible
    )


def test_a_plan_says_the_lines_that_are_sent(lab):
    shares = lab.part(BOX, QueueShares).scheduling_for((12, 13, 20, None, 12, 13, 12, 13))
    setting = lab.setting(OUT, SCHEDULING)
    now = lab.ask(BOX, setting.read("Eth1/1"))
    assert setting.commands("Eth1/1", now, shares, None) == (
        "interface ethernet 1/1 traffic-class 2 dcb ets wrr 20",
        "interface ethernet 1/1 traffic-class 3 dcb ets strict",
    )
    assert json.loads(shown(lab, "show version | json-print"))["Product name"] == "Onyx"


@pytest.mark.parametrize("theirs", [(), THEIRS], ids=["as installed", "configured"])
def test_ports_that_share_lossless_priorities_change_together(lab, theirs):
    by_hand(lab, *theirs)
    expect_shared_priorities_changed_together(lab, (OUT, IN, OTHER), lambda: configured(lab))


def test_priorities_of_a_port_that_somebody_has_on_come_back(lab):
    by_hand(
        lab,
        "dcb priority-flow-control priority 1 enable",
        "interface ethernet 1/1 dcb priority-flow-control mode on force",
    )
    expect_shared_priorities_put_back(lab, (IN, OTHER), OUT, lambda: configured(lab))
