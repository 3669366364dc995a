"""Buffer profiles and watermarks of the SONiC box of a dry run, by SSH: what is set acts on packets
and goes back; what is not known is not 0."""

import json
from dataclasses import replace

import pytest
from switch_over_ssh import fixtures_of, shipped

from labtests.capabilities import counters as c
from labtests.capabilities.device import MemoryLimits, Watermarks
from labtests.capabilities.records import BufferThresholds, PfcSetting
from labtests.capabilities.settings import BUFFER_THRESHOLDS, PFC
from labtests.check import check
from labtests.core.errors import CommandRejected, LabErrors
from labtests.drivers.sonic.database import Db
from labtests.inventory import Endpoint
from labtests.profile.planning import made, planned
from labtests.transport.commands import root

TESTBED, BOX = "sonic-cx5", "SN2700"
IN = Endpoint(device=BOX, interface="Ethernet4")
USUAL = BufferThresholds(
    priority=3,
    unit="bytes",
    dynamic_exponent=-3,
    xon_offset=457_600,
    xon=2288,
    reserved=1664,
    headroom=56_992,
)

simulated, lab = fixtures_of(TESTBED)


def typed(lab, *words):
    return lab.transports[BOX].run(root(*words))


def told(lab, table):
    text = typed(lab, "sonic-cfggen", "-a", json.dumps({table: {}}), "-d", "--var-json", table).text
    return json.loads(text)


def lossless(lab, *priorities):
    lab.change(IN, PFC, PfcSetting(mode="on", priorities=frozenset(priorities)))


def seen(lab, at=IN):
    return lab.ask(BOX, lab.setting(at, BUFFER_THRESHOLDS).read(at.interface))


def test_a_group_gets_a_profile_of_its_own_which_acts_on_packets_and_goes_with_it(lab, simulated):
    lossless(lab, 3)
    assert seen(lab) == (USUAL,)
    before = {table: told(lab, table) for table in ("BUFFER_PG", "BUFFER_PROFILE")}
    (name,) = {each["profile"] for key, each in before["BUFFER_PG"].items() if key.endswith("|3")}
    other = replace(USUAL, dynamic_exponent=-5, headroom=20_800, reserved=2080, xon_offset=None)
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, (other,))
        assert seen(lab) == (other,)
        own = told(lab, "BUFFER_PG")["Ethernet4|3"]["profile"]
        assert own == f"labtests-4-3-{name}"
        assert told(lab, "BUFFER_PROFILE")[name] == before["BUFFER_PROFILE"][name]
        tables = simulated.lab.network.tables
        port = simulated.lab.network.switch(BOX)._ports[IN.interface]
        lane = tables.lane[8 * port + 3]
        assert (lane.alpha, int(lane.headroom_cells), int(lane.guaranteed_cells)) == (
            2**-5,
            100,
            10,
        )
        assert (int(lane.xon_cells), int(lane.xon_offset_cells)) == (11, 0)
    assert {table: told(lab, table) for table in before} == before
    assert seen(lab) == (USUAL,)


def test_lossless_priorities_come_and_go_around_a_group_of_its_own(lab):
    lossless(lab, 3)
    other = replace(USUAL, headroom=20_800)
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, (other,))
        with lab.restoring():
            lossless(lab, 3, 5)  # buffermgrd gives both groups its own profile
            assert seen(lab) == (other, replace(USUAL, priority=5))
        assert seen(lab) == (other,)
    assert seen(lab) == (USUAL,)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (replace(USUAL, dynamic_exponent=None, static=100_000), "its pool is dynamic"),
        (replace(USUAL, static=100_000), "has not one threshold"),
        (replace(USUAL, unit="cells"), "cells"),
        (replace(USUAL, headroom=None), "a size and headroom"),
        (replace(USUAL, priority=5), "group 5 has no buffer profile with headroom"),
    ],
    ids=["static", "two", "cells", "none", "of nothing"],
)
def test_what_a_profile_cannot_hold_is_refused_and_nothing_is_sent(lab, wanted, said):
    lossless(lab, 3)
    before = told(lab, "BUFFER_PROFILE")
    with pytest.raises(CommandRejected) as refused:
        lab.change(IN, BUFFER_THRESHOLDS, (wanted,))
    assert said in str(refused.value)
    assert told(lab, "BUFFER_PROFILE") == before


def test_an_entry_of_two_groups_does_not_say_two_things(lab):
    lossless(lab, 3, 4)
    first, second = seen(lab)
    with pytest.raises(CommandRejected, match="one entry of 2 groups"):
        lab.change(IN, BUFFER_THRESHOLDS, (replace(first, headroom=20_800), second))
    alike = tuple(replace(each, headroom=20_800) for each in (first, second))
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, alike)
        assert seen(lab) == alike
    assert seen(lab) == (first, second)


def test_a_profile_that_labtests_would_not_make_is_come_back_to(lab):
    """One without a size, and a number with zeros in front, is somebody's all the same."""
    lossless(lab, 3)
    (name,) = {e["profile"] for k, e in told(lab, "BUFFER_PG").items() if k.endswith("|3")}
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", f"BUFFER_PROFILE|{name}", "xon", "02288")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HDEL", f"BUFFER_PROFILE|{name}", "size")
    before = {table: told(lab, table) for table in ("BUFFER_PG", "BUFFER_PROFILE")}
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, (replace(USUAL, headroom=20_800),))
        assert told(lab, "BUFFER_PG")["Ethernet4|3"]["profile"].startswith("labtests-")
    assert {table: told(lab, table) for table in before} == before


@pytest.mark.parametrize("value", ["-9", "9", "1e3", "", "--3"])
def test_a_threshold_that_is_none_is_told(lab, value):
    lossless(lab, 3)
    (name,) = {e["profile"] for k, e in told(lab, "BUFFER_PG").items() if k.endswith("|3")}
    profiles = told(lab, "BUFFER_PROFILE")
    odd = {**profiles, name: {**profiles[name], "dynamic_th": value}}
    db = Db({"BUFFER_PG": told(lab, "BUFFER_PG"), "BUFFER_PROFILE": odd, "BUFFER_POOL": {}})
    with pytest.raises(CommandRejected, match="BUFFER_PROFILE"):
        lab.setting(IN, BUFFER_THRESHOLDS).value(db, IN.interface)


def test_two_entries_of_a_group_are_not_one(lab):
    lossless(lab, 3)
    (name,) = {e["profile"] for k, e in told(lab, "BUFFER_PG").items() if k.endswith("|3")}
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "BUFFER_PG|Ethernet4|3-4", "profile", name)
    with pytest.raises(CommandRejected, match="has group 3, too"):
        seen(lab)


def test_what_may_be_held_is_told_in_bytes(lab):
    lossless(lab, 3)
    (only,) = lab.ask(BOX, lab.part(BOX, MemoryLimits).memory_limits(IN.interface)).priorities
    assert (only.priority, only.headroom_bytes, only.alpha) == (3, 56_992, 1 / 8)
    assert only.pool_bytes == int(told(lab, "BUFFER_POOL")["ingress_lossless_pool"]["size"])


def test_a_profile_s_cells_are_told_in_bytes_and_made_behind_pfc(lab):
    form = shipped()
    buffer = form.buffer.model_copy(update={"headroom_cells": 400})
    profile = form.model_copy(update={"buffer": buffer})
    with lab.restoring():
        plans = planned(profile, lab)
        (plan,) = (plan for plan in plans if plan.device == BOX)
        notes = [each.problem for each in plan.findings if each.kind == "note"]
        assert "buffer.headroom_cells: 400 cells of 208 B are 83200 bytes here" in notes
        later = {each.setting for each in plan.troubles if each.later}
        assert "buffer_thresholds" in later  # no group is lossless yet
        assert plan.impossible == []
        made(profile, lab, plans)
        assert {each.headroom for each in seen(lab)} == {83_200}
        assert not any(each.steps or each.troubles for each in planned(profile, lab))
    assert seen(lab) == ()


def test_the_check_sees_headroom_that_is_too_small_and_a_kmax_that_is_never_reached(lab):
    typed(lab, "config", "qos", "reload")
    assert {each.level for each in check(lab, idle_s=0).findings if each.check == "memory"} == {
        "ok"
    }
    (name,) = {e["profile"] for k, e in told(lab, "BUFFER_PG").items() if k.endswith("|3-4")}
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", f"BUFFER_PROFILE|{name}", "xoff", "512",
          "dynamic_th", "-6")  # fmt: skip
    found = [each for each in check(lab, idle_s=0).findings if each.check == "memory"]
    said = {(each.level, each.finding.partition(":")[0].partition(" from ")[0]) for each in found}
    assert said == {
        ("failure", "priority 3 has headroom of 512 bytes"),
        ("failure", "priority 4 has headroom of 512 bytes"),
        ("warning", "queue 3 marks all"),
        ("warning", "queue 4 marks all"),
    }
    assert all(each.device == BOX and each.remedy for each in found)


# -- watermarks ------------------------------------------------------------------------------------


def peaks(lab):
    part = lab.part(BOX, Watermarks)
    found = lab.ask(BOX, part.watermarks(IN.interface))
    return {(each.counter, each.index): each for each in found}


def test_nothing_is_known_before_the_first_poll_and_of_a_group_without_a_profile(lab):
    lossless(lab, 3)
    part, found = lab.part(BOX, Watermarks), peaks(lab)
    assert len(found) == 32
    assert {each.value for each in found.values()} == {None}
    assert lab.ask(BOX, part.watermark_age_s()) == 75.0
    lab.clock.sleep(61)
    found = peaks(lab)
    assert found[c.SHARED_PEAK_BYTES, 3].value == 0
    assert found[c.SHARED_PEAK_BYTES, 5].value is None  # printed as 0
    assert "BUFFER_PG" in found[c.SHARED_PEAK_BYTES, 5].missing


def test_what_is_not_polled_is_not_known_although_it_is_shown(lab):
    lossless(lab, 3)
    lab.clock.sleep(61)
    typed(lab, "counterpoll", "watermark", "disable")
    found, part = peaks(lab), lab.part(BOX, Watermarks)
    assert {each.value for each in found.values()} == {None}
    assert "PG_WATERMARK is not polled" in found[c.HEADROOM_PEAK_BYTES, 3].missing
    with pytest.raises(CommandRejected, match="counterpoll watermark enable"):
        lab.ask(BOX, part.watermark_age_s())


def test_clearing_forgets_what_was_polled_and_not_what_was_not(lab):
    typed(lab, "counterpoll", "watermark", "interval", "1000")
    part = lab.part(BOX, Watermarks)
    assert lab.ask(BOX, part.watermark_age_s()) == 1.25
    lab.clock.sleep(3)
    typed(lab, "sonic-clear", "queue", "watermark", "unicast")
    assert peaks(lab)[c.QUEUE_PEAK_BYTES, 0].value == 0
    before = lab.transports[BOX].run(root("watermarkstat", "-t", "buffer_pool")).text
    assert before.splitlines()[0] == "Shared pool maximum occupancy:"
    lab.ask(BOX, part.forget_watermarks())
    assert {each.value for (name, _), each in peaks(lab).items() if name == c.QUEUE_PEAK_BYTES} == {
        0
    }


def configured(lab):
    """PFC of all ports, and what their groups refer to."""
    return {table: told(lab, table) for table in ("PORT_QOS_MAP", "BUFFER_PG")}


def taken_away(lab, at=IN):
    """As a reboot does it."""
    typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", f"PORT_QOS_MAP|{at.interface}")
    own = [key for key in told(lab, "BUFFER_PG") if key.startswith(f"{at.interface}|")]
    for key in (key for key in own if not key.endswith("|0")):
        typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", f"BUFFER_PG|{key}")
    assert seen(lab, at) == ()


def test_thresholds_of_a_group_that_went_with_its_pfc_are_as_before_it(lab):
    found = configured(lab)
    with lab.restoring():
        lossless(lab, 3)
        lab.change(IN, BUFFER_THRESHOLDS, (replace(USUAL, headroom=20_800),))
        taken_away(lab)
    assert configured(lab) == found
    assert not [name for name in told(lab, "BUFFER_PROFILE") if name.startswith("labtests")]


def test_thresholds_of_somebody_come_back_behind_their_group(lab):
    own = replace(USUAL, headroom=20_800)
    lossless(lab, 3)
    lab.change(IN, BUFFER_THRESHOLDS, (own,))
    lab.ahead.keep()
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, (replace(own, headroom=30_800),))
        lossless(lab)
        taken_away(lab)
    assert seen(lab) == (own,)


def test_thresholds_of_a_group_that_somebody_else_took_away_are_told_of(lab):
    lossless(lab, 3)
    lab.ahead.keep()
    lab.change(IN, BUFFER_THRESHOLDS, (replace(USUAL, headroom=20_800),))
    taken_away(lab)
    with pytest.raises(LabErrors) as left:
        lab.restore()
    assert "group 3 has no buffer profile with headroom" in str(left.value.exceptions[0])


OWN = replace(USUAL, headroom=20_800)


def of_somebody(lab):
    """Thresholds that are not labtests' to forget."""
    lossless(lab, 3)
    lab.change(IN, BUFFER_THRESHOLDS, (OWN,))
    lab.ahead.keep()


def test_thresholds_changed_on_both_sides_of_pfc_come_back_as_they_were_first(lab):
    of_somebody(lab)
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, (replace(OWN, headroom=30_800),))
        lossless(lab)
        lossless(lab, 3)
        lab.change(IN, BUFFER_THRESHOLDS, (replace(OWN, headroom=40_000),))
        taken_away(lab)
    assert seen(lab) == (OWN,)


def test_thresholds_wait_for_pfc_of_an_outer_block(lab):
    of_somebody(lab)
    with lab.restoring():
        lossless(lab, 3, 5)
        own, fifth = seen(lab)
        with lab.restoring():
            lab.change(IN, BUFFER_THRESHOLDS, (replace(own, headroom=30_800), fifth))
            taken_away(lab)
    assert seen(lab) == (OWN,)


def test_thresholds_whose_pfc_could_not_be_put_back_are_still_to_be(lab, simulated):
    of_somebody(lab)
    lossless(lab, 3, 5)
    own, fifth = seen(lab)
    lab.change(IN, BUFFER_THRESHOLDS, (replace(own, headroom=30_800), fifth))
    taken_away(lab)
    simulated.lab.inject({"kind": "lie", "device": BOX})
    with pytest.raises(LabErrors):
        lab.restore()
    simulated.lab.inject({"kind": "heal", "device": BOX})
    left = [each.intent.setting for each in lab.ahead.entries]
    for each in lab.ahead.entries:
        each.left = ""  # the next start tries them again
    lab.restore()
    assert left == ["pfc", "buffer_thresholds"]
    assert seen(lab) == (OWN,)


def test_what_is_there_of_thresholds_goes_before_pfc(lab):
    found = configured(lab)
    with lab.restoring():
        lossless(lab, 3, 5)
        wanted = tuple(replace(each, headroom=20_800) for each in seen(lab))
        lab.change(IN, BUFFER_THRESHOLDS, wanted)
        typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", "BUFFER_PG|Ethernet4|5")
    assert configured(lab) == found


def test_thresholds_between_two_changes_of_pfc_go_back_between_them(lab):
    found = configured(lab)
    with lab.restoring():
        lossless(lab, 4)
        lab.change(IN, BUFFER_THRESHOLDS, (replace(OWN, priority=4),))
        lossless(lab, 2)
    assert configured(lab) == found
    assert not lab.ahead.entries


def test_thresholds_of_a_group_that_came_between_two_changes_of_them_go_before_it(lab):
    of_somebody(lab)
    found = configured(lab)
    with lab.restoring():
        lab.change(IN, BUFFER_THRESHOLDS, (replace(OWN, headroom=30_800),))
        lossless(lab, 3, 5)
        wanted = tuple(replace(each, headroom=40_000) for each in seen(lab))
        lab.change(IN, BUFFER_THRESHOLDS, wanted)
    assert configured(lab) == found
    assert seen(lab) == (OWN,)


def test_thresholds_of_several_ports_wait_together(lab):
    ports = (IN, Endpoint(device=BOX, interface="Ethernet8"))
    for at in ports:
        lab.change(at, PFC, PfcSetting.of(frozenset({3})))
        lab.change(at, BUFFER_THRESHOLDS, (OWN,))
    lab.ahead.keep()
    with lab.restoring():
        for at in ports:
            lab.change(at, PFC, PfcSetting.of(frozenset({3, 5})))
        for at in ports:
            wanted = tuple(replace(each, headroom=30_800) for each in seen(lab, at))
            lab.change(at, BUFFER_THRESHOLDS, wanted)
        for at in ports:
            taken_away(lab, at)
    assert [seen(lab, at) for at in ports] == [(OWN,), (OWN,)]


def test_no_entry_of_pfc_is_left_beside_groups_that_all_have_their_own(lab):
    lossless(lab, 2)
    lab.change(IN, BUFFER_THRESHOLDS, (replace(OWN, priority=2),))
    lab.ahead.keep()
    found = configured(lab)
    with lab.restoring():
        lossless(lab, 3)
        lossless(lab, 2, 3)
        with lab.restoring():
            wanted = tuple(replace(each, headroom=41_600) for each in seen(lab))
            lab.change(IN, BUFFER_THRESHOLDS, wanted)
            lossless(lab)
            lossless(lab, 6)
    assert configured(lab) == found
    assert not lab.ahead.entries
