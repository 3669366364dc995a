"""What ports may hold, against what arrives after a pause, and against the curves of queues."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "switch_cli"))

from silent_hosts import star

from labtests.capabilities.facts import LinkFacts
from labtests.capabilities.records import PfcSetting, PortMemory, PriorityMemory
from labtests.check.cables import CheckedLab
from labtests.check.finding import Unknown
from labtests.check.gathering import Known
from labtests.check.memory import memory, most_bytes
from labtests.core.headroom import arriving_bytes, headroom_for

PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
LINES = star("SN2700", "sonic", PORTS, {"C": PORTS[0], "A": PORTS[1], "B": PORTS[2]})
ON = PfcSetting(mode="on", priorities=frozenset({3}))
OFF = PfcSetting(mode="off", priorities=frozenset())
AUTO = PfcSetting(mode="auto", priorities=frozenset({3}))
ROOM, POOL = 60_000, 16_000_000
USUAL = PriorityMemory(
    priority=3, headroom_bytes=ROOM, reserved_bytes=2000, alpha=1 / 8, pool_bytes=POOL
)
TWO = 2 / 8 / (1 + 2 / 8) * POOL + 2 * (ROOM + 2000)  # of two groups


def seen(own=USUAL, kmax=(), pfc=ON, **more):
    told, mtu, cable = (more.get(name) for name in ("told", "mtu", "cable"))
    held = {port: PortMemory(priorities=(own,), kmax_bytes=kmax) for port in PORTS}
    switch = Known(
        name="SN2700",
        memory=held if told is None else {**held, **told},
        settings={
            ("", "queue_map"): tuple(range(8)),
            **{(port, "pfc"): pfc for port in PORTS},
            **({} if cable is None else {(port, "cable_length"): cable for port in PORTS}),
        },
    )
    links = {} if mtu is None else {"eth0": LinkFacts(up=True, mtu_bytes=mtu)}
    known = {name: Known(name=name, host=True, links=links) for name in ("A", "B", "C")}
    found = memory(CheckedLab(LINES, {**known, "SN2700": switch}))
    return [each for each in found if each.port == "Ethernet0"]


def test_enough_headroom_and_a_curve_that_is_reached_are_good():
    assert {each.level for each in seen(kmax=((3, 2_000_000),))} == {"ok"}
    assert len(seen(kmax=((3, 2_000_000),))) == 2


@pytest.mark.parametrize(
    ("room", "level"), [(100, "failure"), (None, "not known"), (ROOM, "ok")], ids=str
)
def test_headroom_is_held_against_what_arrives(room, level):
    (finding,) = seen(own=replace(USUAL, headroom_bytes=room))
    assert (finding.level, finding.check, finding.device) == (level, "memory", "SN2700")
    if level == "failure":
        assert "priority 3 has headroom of 100 bytes" in finding.finding
        assert finding.remedy


def test_less_than_the_rule_and_more_than_what_is_certain_is_a_note():
    link = LINES.links[0]
    least = arriving_bytes(link.speed_bits_per_s, link.length_m, processing_s=0)
    (finding,) = seen(own=replace(USUAL, headroom_bytes=least))
    assert finding.level == "note"


def test_the_rule_in_bytes_is_never_more_than_the_rule_in_cells():
    for gbit in (10, 25, 40, 100, 400):
        for metres in (1, 15, 100, 300):
            rate = gbit * 10**9
            assert arriving_bytes(rate, metres) <= headroom_for(rate, metres) * 208


@pytest.mark.parametrize(
    ("kmax", "level"), [(int(TWO), "ok"), (int(TWO) + 2, "warning")], ids=["can", "cannot"]
)
def test_kmax_is_held_against_all_that_may_come(kmax, level):
    *_, finding = seen(kmax=((3, kmax),))
    assert finding.level == level
    if level == "warning":
        assert f"from {kmax} bytes on (Kmax), and never has so many" in finding.finding
        assert "alpha" in finding.remedy


@pytest.mark.parametrize(
    "more",
    [
        {"pfc": OFF},
        {"pfc": Unknown(why="no")},
        {"own": replace(USUAL, pool_bytes=None)},
        {"own": replace(USUAL, alpha=None)},
        {"told": {"Ethernet4": Unknown(why="no")}},
    ],
    ids=["lossy", "pfc not known", "no pool", "no alpha", "a port not known"],
)
def test_a_queue_that_anybody_may_fill_is_not_judged(more):
    assert not any("Kmax" in each.finding for each in seen(kmax=((3, 10**12),), **more))


def test_what_groups_hold_together():
    static = PriorityMemory(priority=3, headroom_bytes=10, static_bytes=1000)
    assert most_bytes([static, static]) == 2020
    assert most_bytes([USUAL, USUAL]) == pytest.approx(TWO)
    assert most_bytes([USUAL, replace(USUAL, pool_bytes=1)]) is None


def test_what_a_port_does_not_tell_is_said():
    (finding,) = seen(told={"Ethernet0": Unknown(why="cut off")})
    assert (finding.level, finding.finding) == ("not known", "cut off")


@pytest.mark.parametrize(
    ("mtu", "level"),
    [(None, "ok"), (1500, "ok"), (9000, "failure")],
    ids=["not told", "1500", "9000"],
)
def test_frames_are_as_long_as_the_peer_s_mtu(mtu, level):
    own = replace(USUAL, headroom_bytes=2 * 9000)  # and not two frames of 9018
    (finding,) = seen(own=own, mtu=mtu)
    assert finding.level == level
    if level == "failure":
        assert "in frames of 9018 bytes" in finding.finding


@pytest.mark.parametrize(
    ("pfc", "says"),
    [(AUTO, "PFC is auto"), (Unknown(why="cut off"), "cut off"), (None, "PFC was not read")],
    ids=["auto", "not read", "none"],
)
def test_where_it_is_not_known_what_is_lossless_nothing_is_good(pfc, says):
    (finding,) = seen(own=replace(USUAL, headroom_bytes=1), pfc=pfc)
    assert finding.level == "not known"
    assert says in finding.finding


def test_where_pfc_is_off_no_headroom_is_asked_for():
    assert seen(own=replace(USUAL, headroom_bytes=1), pfc=OFF) == []


@pytest.mark.parametrize(
    ("cable", "pfc", "warns"), [(2, ON, True), (3, ON, False), (2, OFF, False)]
)
def test_a_lossless_port_has_buffers_for_its_cable(cable, pfc, warns):
    found = seen(told=dict.fromkeys(PORTS), pfc=pfc, cable=cable)
    assert [each.level for each in found] == ["warning"] * warns
    if warns:
        assert found[0].finding == (
            "it is lossless, with buffers for a cable of 2 m, and has one of 3 m"
        )
