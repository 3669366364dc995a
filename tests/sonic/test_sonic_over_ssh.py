"""The SONiC box of a dry run, by SSH: what the lab changes there acts on packets and is put back,
and what somebody else has configured stays as it is."""

import json
from dataclasses import replace
from typing import Any

import pytest
from switch_over_ssh import (
    OFF,
    ON,
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
    RateLimitedQueues,
    Versions,
)
from labtests.capabilities.records import MarkingCurve, TrustSetting
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
from labtests.transport.commands import program, root

TESTBED, BOX = "sonic-cx5", "SN2700"
OUT = Endpoint(device=BOX, interface="Ethernet0")
IN = Endpoint(device=BOX, interface="Ethernet4")
WHOLE = Endpoint(device=BOX, interface="")
OF_A_QUEUE = (
    *("forwarded_packets", "forwarded_bytes", "dropped_packets", "dropped_bytes"),
    "marked_packets",
)
CANNOT = ()
THEIRS = ("WRED_PROFILE", "SCHEDULER", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "BUFFER_PROFILE")


simulated, lab = fixtures_of(TESTBED)


def typed(lab: Lab, *words: str) -> str:
    """By hand, as root; the answer."""
    reply = lab.transports[BOX].run(root(*words))
    assert reply.status == 0, reply
    return reply.text


def configured(lab: Lab) -> dict[str, Any]:
    """CONFIG_DB, but for the buffer profiles that buffermgrd keeps once it has made them."""
    told: dict[str, Any] = json.loads(typed(lab, "sonic-cfggen", "-d", "--print-data"))
    profiles = told.pop("BUFFER_PROFILE", {})
    kept = {name: each for name, each in profiles.items() if not name.startswith("pg_lossless_")}
    return told | {"BUFFER_PROFILE": kept}


def all_settings(lab: Lab) -> None:
    """Each of them once, and lossless priorities that go away and come again."""
    for at in (IN, OUT):
        lab.change(at, TRUST, TrustSetting(source="dscp"))
        lab.change(at, PFC, OFF)
    for at in (IN, OUT):
        lab.change(at, PFC, ON)
    lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on({3}))
    lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((12,) * 7 + (None,)))
    lab.change(IN, DSCP_MAP, tuple(dscp % 8 for dscp in range(64)))
    lab.change(IN, FRAME_LIMIT, 9238)
    lab.change(WHOLE, QUEUE_MAP, (0, 1, 2, 3, 4, 5, 7, 6))


@pytest.mark.parametrize("qos", ["none", "of config qos reload"])
def test_all_settings_at_once_act_on_packets_and_go_back(lab, simulated, qos):
    if qos != "none":
        typed(lab, "config", "qos", "reload")
    before, network = configured(lab), simulated.lab.network.switch(BOX)
    with lab.restoring():
        all_settings(lab)
        assert network.pfc("Ethernet4") == ("on", frozenset(range(8)))
        assert network.dscp_map("Ethernet4")[:10] == (0, 1, 2, 3, 4, 5, 6, 7, 0, 1)
        assert network.dot1p_lp == (0, 1, 2, 3, 4, 5, 7, 6)
        curve = network.wred("Ethernet0")[3]
        assert (curve.ecn, curve.low_limit) == (True, 150_000 // 208)
        assert network.wred("Ethernet0")[4] is None
        assert network.schedule("Ethernet0").queues == (*[("1", 12)] * 7, ("sp", 0))
        now = configured(lab)
        assert now["PORT"]["Ethernet4"]["mtu"] == "9216"
        for table in THEIRS:  # nobody else's entry is another one
            for name, entry in before.get(table, {}).items():
                assert now[table][name] == entry, (table, name)
        unchanged = [key for key in before.get("QUEUE", {}) if key.startswith("Ethernet8|")]
        assert all(now["QUEUE"][key] == before["QUEUE"][key] for key in unchanged)
    assert configured(lab) == before
    assert lab.overridden == []


def test_a_curve_is_put_back_by_its_name_when_marking_was_switched_off(lab):
    typed(lab, "config", "qos", "reload")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "WRED_PROFILE|TWIN", "ecn", "ecn_all",
          "green_min_threshold", "1048576", "green_max_threshold", "2097152",
          "green_drop_probability", "5")  # fmt: skip
    before = configured(lab)
    with lab.restoring():
        lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on(frozenset()))
        assert "wred_profile" not in configured(lab)["QUEUE"]["Ethernet0|3"]
    assert configured(lab) == before


def test_what_a_change_that_was_cut_off_has_left_goes_with_the_next_one(lab):
    before = configured(lab)
    lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((20,) * 8))
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "SCHEDULER|labtests-0-9", "type", "STRICT")
    for queue in range(8):  # as if nothing had been bound yet
        typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", f"QUEUE|Ethernet0|{queue}")
    lab.restore()
    assert configured(lab) == before


def test_references_are_written_as_the_release_writes_them(lab):
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "SCHEDULER|gold", "type", "DWRR", "weight", "9")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "QUEUE|Ethernet0|3", "scheduler",
          "[SCHEDULER|gold]")  # fmt: skip
    before = configured(lab)
    with lab.restoring():
        lab.change(OUT, SCHEDULING, lab.part(BOX, QueueShares).scheduling_for((20,) * 8))
        assert (
            configured(lab)["QUEUE"]["Ethernet0|3"]["scheduler"] == "[SCHEDULER|labtests-0-3-gold]"
        )
    assert configured(lab) == before


def test_an_entry_of_several_queues_is_read_and_not_changed(lab):
    typed(lab, "config", "qos", "reload")
    for queue in "34":
        typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", f"QUEUE|Ethernet0|{queue}")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "QUEUE|Ethernet0|3-4", "wred_profile",
          "AZURE_LOSSLESS", "scheduler", "scheduler.1")  # fmt: skip
    seen = lab.ask(BOX, lab.setting(OUT, ECN).read(OUT.interface))
    assert seen.marking_queues == {3, 4}
    with pytest.raises(CommandRejected, match="not about one queue of one port") as refused:
        lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on({3}))
    assert "an entry of its own" in refused.value.remedy


def test_a_buffer_profile_of_somebody_else_comes_back(lab):
    """buffermgrd writes its own in its place, when pfc_enable changes."""
    typed(lab, "config", "qos", "reload")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "BUFFER_PROFILE|deep", "xoff", "99", "xon", "9")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "BUFFER_PG|Ethernet4|3-4", "profile", "deep")
    before = configured(lab)
    with lab.restoring():
        lab.change(IN, PFC, ON)
        assert configured(lab)["BUFFER_PG"]["Ethernet4|3-4"] == {"profile": "deep"}
        lab.change(IN, PFC, OFF)
    assert configured(lab) == before


def test_a_profile_that_neither_marks_nor_drops_comes_back(lab):
    typed(lab, "config", "qos", "reload")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "WRED_PROFILE|IDLE", "ecn", "ecn_none")
    for queue in "25":
        typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", f"QUEUE|Ethernet0|{queue}", "wred_profile",
              "IDLE")  # fmt: skip
    before = configured(lab)
    with lab.restoring():
        lab.change(OUT, ECN, lab.part(BOX, EcnMarking).ecn_on({2}))
    assert configured(lab) == before


def test_a_lossless_priority_in_the_group_of_another_is_not_changed(lab):
    """As `config interface pfc priority` leaves it, which changes no map: there is no way back."""
    typed(lab, "config", "qos", "reload")
    typed(lab, "config", "interface", "pfc", "priority", "Ethernet4", "6", "on")
    before = configured(lab)
    with pytest.raises(CommandRejected, match="traffic class 6 into priority group 0") as refused:
        lab.change(IN, PFC, OFF)
    assert "Ethernet4 6 off" in refused.value.remedy
    assert configured(lab) == before


def test_the_entry_of_lossy_traffic_is_not_overwritten(lab):
    typed(lab, "config", "qos", "reload")
    before = configured(lab)
    with pytest.raises(CommandRejected, match="lossy traffic, and labtests could not restore it"):
        lab.change(IN, PFC, replace(ON, priorities=frozenset({0, 3})))
    assert configured(lab) == before


def test_one_of_several_dscp_maps_is_not_taken_off(lab):
    typed(lab, "config", "qos", "reload")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "DSCP_TO_TC_MAP|OTHER", "0", "0")
    with pytest.raises(CommandRejected, match="one of several DSCP maps"):
        lab.change(IN, TRUST, TrustSetting(source="none"))


def test_what_the_switch_cannot_do_is_refused_before_anything_is_sent(lab):
    curves = (
        MarkingCurve(queue=3, kmin_bytes=1, kmax_bytes=2, pmax_percent=3, weighting_exponent=4),
    )
    with pytest.raises(CommandRejected, match="not at an average"):
        lab.part(BOX, EcnCurves).ecn_for(curves, 208)
    expect_negotiation_refused(lab, IN)


def test_a_box_that_says_yes_and_does_nothing_is_found_out(lab, simulated):
    expect_lie_found_out(lab, simulated, IN)


def test_what_it_counts_and_tells_is_read(lab):
    expect_counted(lab, OUT, IN, of_a_queue=OF_A_QUEUE)
    link = link_of(lab, OUT)
    assert (link.up, link.speed_bits_per_s, link.frame_bytes) == (True, 25 * 10**9, 9122)
    assert lab.ask(BOX, lab.part(BOX, Versions).versions())["sonic"].startswith("SONiC.")


def test_marks_that_nobody_polls_are_not_known_and_never_0(lab):
    typed(lab, "counterpoll", "wredqueue", "disable")
    queues = lab.ask(BOX, lab.part(BOX, QueueTelemetry).queue_counters(OUT.interface))
    marks = [each for each in queues if each.counter == "marked_packets"]
    assert [each.value for each in marks] == [None] * 8
    assert "counterpoll show" in marks[0].missing


def test_a_strict_queue_is_held_to_a_rate_and_let_go(lab, simulated):
    network = simulated.lab.network.switch(BOX)
    shares, part = (None,) * 8, lab.part(BOX, RateLimitedQueues)
    strict = lab.part(BOX, QueueShares).scheduling_for(shares)
    with lab.restoring():
        lab.change(OUT, SCHEDULING, strict)
        limited = part.rate_limited(strict, 6, 1_000_000_007)
        assert limited.queues[6].most_bits_per_s == 1_000_000_000  # whole bytes
        lab.change(OUT, SCHEDULING, limited)
        now = configured(lab)
        entry = now["SCHEDULER"][now["QUEUE"]["Ethernet0|6"]["scheduler"]]
        assert entry == {"type": "STRICT", "meter_type": "bytes", "pir": "125000000"}
        assert [limit and limit.bits_per_s for limit in network.rate_limits("Ethernet0")] == [
            *[None] * 6, 1_000_000_000, None
        ]  # fmt: skip
        lab.change(OUT, SCHEDULING, strict)
        assert network.rate_limits("Ethernet0") == (None,) * 8
    assert network.rate_limits("Ethernet0") == (None,) * 8


def test_a_rate_in_packets_is_refused(lab):
    database = ("sonic-db-cli", "CONFIG_DB", "HSET")
    typed(lab, *database, "SCHEDULER|pps", "type", "STRICT", "meter_type", "packets", "pir", "9")
    typed(lab, *database, "QUEUE|Ethernet0|2", "scheduler", "pps")
    with pytest.raises(CommandRejected, match=r"SCHEDULER\|pps': its pir counts packets"):
        lab.current(OUT, SCHEDULING)


def test_a_port_that_there_is_not_is_named(lab):
    with pytest.raises(CommandRejected, match="Port doesn't exist! Ethernet99"):
        lab.ask(BOX, lab.part(BOX, QueueTelemetry).queue_counters("Ethernet99"))
    with pytest.raises(CommandRejected, match="there is no such port"):
        lab.ask(BOX, lab.setting(OUT, FRAME_LIMIT).read("Ethernet99"))


def test_a_watchdog_and_a_shaper_are_obstacles_and_asymmetric_pfc_is_a_setting(lab):
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    database = ("sonic-db-cli", "CONFIG_DB", "HSET")
    typed(lab, *database, "PFC_WD|Ethernet4", "action", "drop", "detection_time", "400")
    typed(lab, "config", "interface", "pfc", "asymmetric", "Ethernet8", "on")
    typed(lab, *database, "SCHEDULER|slow", "type", "DWRR", "weight", "1", "pir", "1000")
    typed(lab, *database, "QUEUE|Ethernet0|2", "scheduler", "slow")
    shaper, guard = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert "PFC watchdog may shut a queue in a run (action drop after 400 ms" in guard
    assert "slower than its link (SCHEDULER|slow: pir)" in shaper


def test_by_hand_asymmetric_pfc_is_on_or_off_at_a_port_that_there_is(lab):
    asymmetric = ("config", "interface", "pfc", "asymmetric")
    refused = lab.transports[BOX].run(root(*asymmetric, "Ethernet8", "maybe"))
    assert "'maybe' is not one of 'on', 'off'" in refused.errors
    assert typed(lab, *asymmetric, "Ethernet99", "on") == "Cannot find interface Ethernet99\n"
    typed(lab, *asymmetric, "Ethernet8", "on")
    shown = typed(lab, "show", "pfc", "asymmetric", "Ethernet8").splitlines()
    assert [line.split() for line in shown if line][-1] == ["Ethernet8", "on"]


def test_what_buffermgrd_has_left_behind_is_an_obstacle_for_it_could_not_be_put_back(lab):
    """`pfc_enable` had 6 once; the entry stays, and would be gone after a run."""
    typed(lab, "config", "qos", "reload")
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    for state in ("on", "off"):
        typed(lab, "config", "interface", "pfc", "priority", "Ethernet4", "6", state)
    (left,) = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert left.startswith("Ethernet4: a run would take BUFFER_PG|Ethernet4|6 away for good; `DEL`")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", "BUFFER_PG|Ethernet4|6")
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()


def test_a_port_that_was_switched_off_is_an_obstacle_until_it_is_lossless_again(lab):
    """The way back to `off` gives every group that its map reaches a lossless profile."""
    typed(lab, "config", "qos", "reload")
    before = configured(lab)
    for n in "34":
        typed(lab, "config", "interface", "pfc", "priority", "Ethernet4", n, "off")
    taken, left = lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())
    assert taken.startswith("Ethernet4: a run would take BUFFER_PG|Ethernet4|4 away for good")
    assert left.startswith("Ethernet4: a run would leave BUFFER_PG|Ethernet4|7; make the port loss")
    typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", "BUFFER_PG|Ethernet4|4")
    for n in "34":
        typed(lab, "config", "interface", "pfc", "priority", "Ethernet4", n, "on")
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) != ()  # of 3, on its way to 3 and 4
    typed(lab, "sonic-db-cli", "CONFIG_DB", "DEL", "BUFFER_PG|Ethernet4|3")
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()
    with lab.restoring():
        lab.change(IN, PFC, OFF)
    assert configured(lab) == before


def test_config_wants_root_and_known_words(lab):
    session = lab.transports[BOX]
    told = session.run(program("config", "interface", "pfc", "priority", "Ethernet99", "3", "on"))
    assert told.text == "Cannot find interface Ethernet99\n"
    told = session.run(program("show", "frobnication"))
    assert (told.status, told.errors) == (
        2,
        'Usage: show [OPTIONS] COMMAND [ARGS]...\nTry "show -h" for help.\n\n'
        'Error: No such command "frobnication".\n',
    )


def test_a_profile_is_planned_made_and_put_back(lab):
    expect_profile_put_back(lab, BOX, lambda: configured(lab), cannot=CANNOT, least=4)
