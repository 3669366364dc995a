"""Traffic pools of an Onyx switch: how they are read, and, by SSH, made and put back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from onyx_recordings import ALL, PARSERS
from switch_over_ssh import OFF, fixtures_of, made_and_put_back, shipped
from typed import typed as as_typed

from labtests.capabilities.device import Obstacles
from labtests.capabilities.records import PfcSetting, TrafficPool, TrafficPools
from labtests.capabilities.settings import PFC, TRAFFIC_POOLS
from labtests.capabilities.values import NoSuchValue, expect_value
from labtests.core.errors import CommandRejected, DeviceError, LabError, UnreadableOutput
from labtests.drivers.onyx.pools import OnyxTrafficPools
from labtests.experiment.settings import DeviceSettings, SettingSeen, set_by_others
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.profile.form import ProfileFile
from labtests.profile.planning import planned
from labtests.recovery.snapshot import compare, take
from labtests.transport.asking import Running, answered
from labtests.transport.protocol import Reply

TESTBED, BOX = "onyx-cx5", "SN2700"
WHOLE = Endpoint(device=BOX, interface="")
IN = Endpoint(device=BOX, interface="Eth1/2")
FIRST, LAST = "no cli default prefix-modes enable\n", "cli default prefix-modes enable\n"
UNKNOWN = '% Unrecognized command "prefix-modes".\nType "?" for help.\n'
TWO = """\
   traffic pool bulk memory percent 20.00
   traffic pool bulk map switch-priority 0 1
   traffic pool bulk map switch-priority 2
   traffic pool roce type lossless
   traffic pool roce memory percent 50.5
   traffic pool roce map switch-priority 5
"""


def pool(
    name: str, percent: float | None = None, *priorities: int, of_type: Any = "lossless"
) -> TrafficPool:
    memory = None if percent is None else f"{percent:.2f}"
    held = frozenset(priorities)
    return TrafficPool(name=name, type=of_type, memory_percent=memory, priorities=held)


READ = (pool("bulk", 20, 0, 1, 2, of_type=None), pool("roce", 50.5, 5))


def answer(text: str, command: str = "show running-config | include pool|prefix-modes") -> Reply:
    return Reply(device=BOX, command=command, text=text)


def read(*texts: str) -> TrafficPools:
    """What is read of these answers, the first of the first question."""
    left = list(texts)
    asking = OnyxTrafficPools(BOX, ("Eth1/1",)).read("")
    return answered(
        Running(asking), lambda asked: [answer(left.pop(0), str(each)) for each in asked]
    )


# -- reading ---------------------------------------------------------------------------------------


def test_all_pools_are_read_whichever_way_their_priorities_stand():
    assert read(FIRST + TWO + LAST) == READ
    assert read(FIRST + LAST) == ()
    alone = "   traffic pool spare\n"
    assert read(FIRST + alone + LAST) == (pool("spare", of_type=None),)


def test_lines_about_other_pools_are_passed_over():
    others = "   ip dhcp pool 7\n   interface ethernet 1/1 description to pool A\n"
    assert read(FIRST + others + TWO + LAST) == READ


def test_an_answer_that_is_cut_anywhere_is_refused():
    whole = FIRST + TWO + LAST
    for end in range(1, len(whole)):
        if whole[:end].strip() and whole[:end] + "\n" != whole:
            with pytest.raises(UnreadableOutput):
                read(whole[:end])
            with pytest.raises(UnreadableOutput):
                read(whole[:end] + "\n")


@pytest.mark.parametrize("first", [UNKNOWN, "", "\n"], ids=["refused", "nothing", "a blank line"])
def test_where_include_takes_no_alternatives_the_word_alone_is_asked_for_twice(first):
    assert read(first, TWO, TWO) == READ
    assert read(first, "", "") == ()
    for end in range(len(TWO)):
        for texts in ((TWO[:end], TWO), (TWO, TWO[:end])):
            with pytest.raises(UnreadableOutput):
                read(first, *texts)
    with pytest.raises(CommandRejected):
        read(first, UNKNOWN, UNKNOWN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("type lossless", "type frobnicated"),
        ("type lossless", "type lossless map switch-priority 3"),
        ("percent 50.5", "percent 101"),
        ("percent 50.5", "percent 0.00"),
        ("percent 50.5", "percent 100.01"),
        ("percent 50.5", "kb 50"),
        ("percent 50.5", "percent 81"),
        ("switch-priority 5", "switch-priority 8"),
        ("switch-priority 5", "switch-priority 3,5"),
        ("switch-priority 5", "switch-priority 2"),
        ("switch-priority 2", "switch-priority 1"),
        ("traffic pool roce map", "no traffic pool roce map"),
        ("pool roce type", "pool roce$ type"),
        ("traffic pool bulk memory", "traffic pool roce memory"),
        ("   traffic pool roce type lossless", "username a password 7 b"),
        ("50.5\n", "50.5\n   traffic pool roce type lossy\n"),
    ],
)
def test_what_is_new_or_cannot_be_is_refused(old, new):
    assert old in TWO
    with pytest.raises(UnreadableOutput):
        read(FIRST + TWO.replace(old, new, 1) + LAST)


def test_what_was_published_is_read_and_its_lines_are_those_that_are_sent():
    reply = ALL.load("pools.published")
    found = PARSERS["pools"](reply)
    lines = [text.strip() for text in reply.text.splitlines()[1:-1]]
    assert list(OnyxTrafficPools(BOX).commands("", (), found)) == lines


# -- lines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "wanted", "lines"),
    [
        ((), (), []),
        (READ, READ, []),
        (READ, READ[1:], ["no traffic pool bulk"]),
        ((), (pool("a", of_type=None),), ["traffic pool a"]),
        ((pool("a", 0.09, 1),), (pool("a", 12.34, 1),), ["traffic pool a memory percent 12.34"]),
        (
            (pool("a", 0.09, 1),),
            (pool("a", 0.09, 1, 7, 2),),
            ["traffic pool a map switch-priority 2 7"],
        ),
        (
            (pool("a", 0.09, 1),),
            (pool("a", 0.09, 2),),
            [
                "no traffic pool a",
                "traffic pool a type lossless",
                "traffic pool a memory percent 0.09",
                "traffic pool a map switch-priority 2",
            ],
        ),
        (
            (pool("a", None, 1),),
            (pool("a", None, 1, of_type=None),),
            ["no traffic pool a", "traffic pool a map switch-priority 1"],
        ),
        (
            (pool("a", 0.09),),
            (pool("a"),),
            ["no traffic pool a", "traffic pool a type lossless"],
        ),
        (
            (pool("a", 20), pool("b", 80)),
            (pool("a", 80), pool("b", 20)),
            ["traffic pool b memory percent 20.00", "traffic pool a memory percent 80.00"],
        ),
    ],
)
def test_lines_lead_from_one_value_to_the_other(earlier, wanted, lines):
    assert list(OnyxTrafficPools(BOX).commands("", earlier, wanted)) == lines


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ((pool("a", None, 3), pool("b", None, 3)), "priority 3 is in traffic pool b and in a"),
        ((pool("a", 50), pool("b", 50.01)), "100.01 % of the memory"),
        ((pool("b"), pool("a")), "once, by name"),
        ((pool("a"), pool("a")), "once, by name"),
    ],
)
def test_pools_that_no_switch_can_have_are_refused(wanted, says):
    with pytest.raises(CommandRejected, match=says):
        OnyxTrafficPools(BOX).commands("", (), wanted)
    with pytest.raises(NoSuchValue):
        expect_value("traffic_pools", wanted)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(pool("a"), name="a b"),
        replace(pool("a"), name="a" * 21),
        *(
            replace(pool("a"), memory_percent=each)
            for each in ("0.00", "100.01", "5", "5.0", "05.00")
        ),
        replace(pool("a"), memory_percent="-1.00"),
        replace(pool("a"), priorities=frozenset({8})),
        pool("a", of_type="other"),
    ],
)
def test_a_pool_is_looked_at_before_a_command_is_made_of_it(wrong):
    expect_value("traffic_pools", READ)
    with pytest.raises(NoSuchValue):
        expect_value("traffic_pools", (wrong,))


# -- by SSH ----------------------------------------------------------------------------------------

simulated, lab = fixtures_of(TESTBED)
THEIRS = (
    "traffic pool bulk memory percent 20",
    "traffic pool bulk map switch-priority 0 1",
    "traffic pool roce type lossless",
    "traffic pool roce memory percent 50.0",
    "traffic pool roce map switch-priority 5",
)
OURS = pool("labtests", 30, 3, 4)


def shown(lab: Lab, line: str) -> str:
    return lab.transports[BOX].run(as_typed(line)).text


def by_hand(lab: Lab, *lines: str) -> None:
    reply = lab.transports[BOX].configure(tuple(map(as_typed, lines)))
    assert "%" not in reply.text.replace("%d", ""), reply.text


def configured(lab: Lab) -> list[str]:
    """The whole running configuration, but for its time."""
    text = shown(lab, "show running-config")
    return [line for line in text.splitlines() if "Generated" not in line]


@pytest.mark.parametrize("theirs", [(), THEIRS], ids=["none", "somebody's"])
@pytest.mark.parametrize(
    "change",
    [
        lambda now: tuple(sorted((*now, OURS), key=lambda each: each.name)),
        lambda now: (pool("roce", 20, 3, 5),),
        lambda now: (),
        lambda now: (pool("bulk", 100, 5, of_type="lossy-mc"),),
    ],
    ids=["one more", "changed and gone", "all gone", "moved"],
)
def test_pools_are_made_read_back_and_put_back(
    lab: Lab, theirs: tuple[str, ...], change: Callable[[TrafficPools], TrafficPools]
) -> None:
    by_hand(lab, *theirs)
    before, taken, now = configured(lab), take(lab), lab.current(WHOLE, TRAFFIC_POOLS)
    assert [each.name for each in now] == (["bulk", "roce"] if theirs else [])
    wanted = change(now)
    with lab.restoring():
        lab.change(WHOLE, TRAFFIC_POOLS, wanted)
        assert lab.current(WHOLE, TRAFFIC_POOLS) == wanted
        differ = {each.setting for each in compare(taken, take(lab))}
        assert differ == ({"traffic_pools"} if wanted != now else set())
    assert configured(lab) == before
    assert lab.overridden == []
    assert list(compare(taken, take(lab))) == []


def test_what_is_in_a_lossless_pool_is_lossless_at_every_port(lab, simulated):
    network = simulated.lab.network.switch(BOX)
    with lab.restoring():
        lab.change(WHOLE, TRAFFIC_POOLS, (OURS,))
        assert network.pfc("Eth1/2") == ("on", frozenset({3, 4}))
        lab.change(IN, PFC, PfcSetting(mode="on", priorities=frozenset({6})))
        assert network.pfc("Eth1/2") == ("on", frozenset({3, 4, 6}))
        assert network.pfc("Eth1/1") == ("on", frozenset({3, 4}))
        lab.change(IN, PFC, OFF)
        assert network.pfc("Eth1/2") == ("on", frozenset({3, 4}))
    assert network.pfc("Eth1/2") == ("off", frozenset())


def test_a_switch_that_takes_a_line_and_does_nothing_is_found_out(lab, simulated):
    simulated.lab.inject({"kind": "lie", "device": BOX})
    with pytest.raises(LabError, match="reads back as"):
        lab.change(WHOLE, TRAFFIC_POOLS, (OURS,))
    simulated.lab.inject({"kind": "heal", "device": BOX})


def test_a_cut_configuration_is_refused_and_nothing_is_changed(lab, simulated):
    by_hand(lab, *THEIRS)
    before = configured(lab)
    simulated.lab.inject({"kind": "truncate", "device": BOX, "command": "show running-config"})
    with pytest.raises(DeviceError):
        lab.change(WHOLE, TRAFFIC_POOLS, (OURS,))
    simulated.lab.inject({"kind": "heal", "device": BOX})
    assert configured(lab) == before


def test_who_changes_a_pool_while_a_run_has_it_is_found_out(lab):
    def seen() -> DeviceSettings:
        now = lab.current(WHOLE, TRAFFIC_POOLS)
        told = SettingSeen(at=WHOLE, setting="traffic_pools", value=now)
        return DeviceSettings(settings=(told,), queues={})

    with lab.restoring():
        lab.change(WHOLE, TRAFFIC_POOLS, (OURS,))
        assert set_by_others(lab, seen()) == ()
        by_hand(lab, "traffic pool labtests memory percent 7")
        (said,) = set_by_others(lab, seen())
        assert "7.00" in said
    assert len(lab.overridden) == 1


def test_pools_of_somebody_are_obstacles_and_their_remedies_work(lab):
    def obstacles() -> tuple[str, ...]:
        return lab.ask(BOX, lab.part(BOX, Obstacles).obstacles())

    by_hand(lab, *THEIRS, "traffic pool spare", "traffic pool labtests type lossless")
    by_hand(lab, "traffic pool labtests map switch-priority 3")
    lossy, lossless = obstacles()
    assert "traffic pool bulk (lossy, priority 0 and 1): whether PFC works" in lossy
    assert "traffic pool roce (lossless, priority 5): flow control is on there" in lossless
    for said in (lossy, lossless):
        by_hand(lab, said.rpartition("`")[0].rpartition("`")[2])
    assert obstacles() == ()


def profile(percent: float) -> ProfileFile:
    form = shipped(100)
    assert form.buffer is not None
    update = {"lossless_memory_percent": percent}
    return form.model_copy(update={"buffer": form.buffer.model_copy(update=update)})


def test_a_profile_has_a_pool_for_what_is_lossless_beside_those_of_others(lab):
    by_hand(lab, *THEIRS)
    differ = made_and_put_back(lab, BOX, profile(12.5), lambda: configured(lab), ("headroom",))
    assert "traffic_pools" in differ
    (plan,) = (each for each in planned(profile(12.5), lab) if each.device == BOX)
    assert plan.steps[0].intent.setting == "traffic_pools"
    assert plan.steps[0].commands == (
        "traffic pool labtests type lossless",
        "traffic pool labtests memory percent 12.50",
        "traffic pool labtests map switch-priority 3",
    )
    notes = [each.problem for each in plan.findings if "lossless_memory_percent" in each.problem]
    assert len(notes) == 1
    (plan,) = (each for each in planned(shipped(100), lab) if each.device == BOX)
    assert not any("pool" in each.problem for each in plan.findings)


@pytest.mark.parametrize(
    ("line", "percent", "says"),
    [
        (
            "traffic pool roce map switch-priority 3",
            10,
            "3 is in traffic pool roce and in labtests",
        ),
        ("traffic pool roce type lossy-mc", 31, "101 % of the memory"),
    ],
)
def test_a_profile_takes_nothing_from_a_pool_of_somebody(lab, line, percent, says):
    by_hand(lab, *THEIRS, line)
    (plan,) = (each for each in planned(profile(percent), lab) if each.device == BOX)
    (trouble,) = plan.impossible
    assert trouble.setting == "traffic_pools"
    assert says in trouble.problem
    assert trouble.problem.startswith(BOX)
    assert "take somebody's pool away first" in trouble.problem
    assert "bulk, roce" in trouble.problem
