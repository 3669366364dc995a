"""The lab as a picture: who stands where, what is written where, and the culprit."""

from collections.abc import Callable
from typing import Any

import pytest

from labtests.report import page
from labtests.report.past import Past
from labtests.report.picture import SENDERS_AT_MOST, LabPicture, picture_of
from labtests.report.suites import suites_of

Json = dict[str, Any]


def cabled(run: Json, *pairs: str, senders: int) -> None:
    """The lab has these cables; `a-b` is one between them, at ports named after the other end."""
    names = {name for pair in pairs for name in pair.split("-")}
    roles = {f"h{n}": ["senders"] for n in range(senders)} | {"r": ["receiver"]}
    run["lab"]["devices"] = [{"name": name, "roles": roles.get(name, [])} for name in sorted(names)]
    run["lab"]["links"] = [
        {"ends": [{"device": a, "port": f"to-{b}"}, {"device": b, "port": f"to-{a}"}]}
        for a, b in (pair.split("-") for pair in pairs)
    ]


def drawn(run: Json) -> LabPicture:
    found = picture_of(run, suites_of(run, Past()))
    assert found is not None
    return found


@pytest.mark.parametrize("senders", [1, 5, 64])
def test_senders_stand_left_and_the_receiver_right_however_many_they_are(
    run: Json, senders: int
) -> None:
    cabled(run, *(f"h{n}-sw" for n in range(senders)), "sw-r", senders=senders)

    picture = drawn(run)
    at = {box.name: box.x for box in picture.boxes}

    assert picture.left_out == max(senders - SENDERS_AT_MOST, 0)
    assert len(at) == min(senders, SENDERS_AT_MOST) + 2
    assert at["h0"] < at["sw"] < at["r"]
    assert all(b.x >= 0 and b.x + b.w <= picture.width for b in picture.boxes)
    assert all(b.y >= 0 and b.y + b.h <= picture.height for b in picture.boxes)


def test_switches_stand_in_columns_by_how_far_they_are_from_the_receiver(run: Json) -> None:
    cabled(run, "h0-leaf1", "h1-leaf1", "leaf1-spine", "spine-leaf2", "leaf2-r", senders=2)

    at = {box.name: box.x for box in drawn(run).boxes}

    assert at["h0"] < at["leaf1"] < at["spine"] < at["leaf2"] < at["r"]


def test_a_sender_beside_the_receiver_stands_beside_it(run: Json) -> None:
    """Its cable would else go behind all switches that it is not in."""
    cabled(run, "h0-leaf1", "leaf1-spine", "spine-leaf2", "leaf2-r", "h1-leaf2", senders=2)
    run["tests"][0]["phases"][0]["flows"] = [
        {"sender": name, "receiver": "r", "tos": 96, "goodput_bits_per_s": 5e9}
        for name in ("h0", "h1")
    ]

    at = {box.name: box.x for box in drawn(run).boxes}
    told = {(cable.left, cable.right): cable for cable in drawn(run).cables}
    near, far = told["leaf2", "h1"], told["h0", "leaf1"]

    assert at["h0"] < at["leaf1"] < at["leaf2"] < at["h1"] == at["r"]
    assert [w.text for w in far.above] == ["p3 5 Gb/s \u2192"]
    assert [w.text for w in near.above] == ["\u2190 p3 5 Gb/s"]
    assert (far.ends, near.ends) == (False, True)
    assert near.words_x > near.port_x + 100
    assert "lt-broad" in page(run)


def test_a_host_of_a_switch_in_the_middle_stands_above_or_below_it(run: Json) -> None:
    ring = ("a-b", "b-c", "c-d", "d-e", "e-a")
    cabled(run, *ring, "h0-a", "h1-b", "c-r", "h2-d", "h3-e", senders=4)

    boxes = {box.name: box for box in drawn(run).boxes}
    upright = {(one.left, one.right): one for one in drawn(run).cables if one.upright}

    assert boxes["h0"].x == boxes["h3"].x < boxes["a"].x < boxes["h1"].x
    assert boxes["h1"].x == boxes["b"].x == boxes["h2"].x == boxes["d"].x
    assert boxes["h1"].y < boxes["b"].y < boxes["d"].y < boxes["h2"].y
    assert {frozenset(ends) for ends in upright} == {
        frozenset(ends) for ends in (("h1", "b"), ("h2", "d"), ("a", "e"))
    }
    for (left, right), cable in upright.items():
        for name in (left, right):
            assert boxes[name].x <= cable.x1 == cable.x2 <= boxes[name].x + boxes[name].w


def test_a_ring_of_switches_and_a_host_without_a_role_are_drawn(run: Json) -> None:
    cabled(run, "h0-a", "a-b", "b-c", "c-a", "c-r", "b-other", senders=1)

    assert {box.name for box in drawn(run).boxes} == {"h0", "a", "b", "c", "r", "other"}
    assert len(drawn(run).cables) == 6


def test_what_was_counted_stands_at_its_place_and_the_culprit_is_ringed(
    run: Json, verdict_of: Callable[..., Json]
) -> None:
    phase = run["tests"][0]["phases"][0]
    of_queue = {**phase["counters"][0], "index": 5}
    told = {"dropped_packets": 17, "forwarded_packets": 100}
    phase["counters"] += [
        {**of_queue, "counter": name, "increase": grew} for name, grew in told.items()
    ]
    because = "S6550 Twenty-FiveGigE1/0/13 queue 5 dropped_packets grew by 17"
    run["tests"][0].update(outcome="fail", verdicts=[verdict_of(outcome="fail", because=because)])

    picture = drawn(run)
    (switch,) = [box for box in picture.boxes if box.switch]
    bad = [words.text for words in switch.lines if words.bad]

    assert bad == ["queue 5: ✕ 17 dropped"]
    assert [cable.port for cable in picture.cables if cable.ringed] == ["1/0/13"]
    assert [w.text for c in picture.cables for w in c.above] == ["p3 4.31 Gb/s →"]
    assert "queue 5: ✕ 17 dropped" in picture.said
    assert 'class="lt-ring"' in page(run)


def test_a_counter_that_cannot_be_used_is_not_drawn_as_a_figure(run: Json) -> None:
    for row in run["tests"][0]["phases"][0]["counters"]:
        row["unusable"] = "ran backwards"

    assert [box.lines for box in drawn(run).boxes if box.switch] == [()]


def test_a_run_that_does_not_say_how_the_lab_is_cabled_has_no_picture(run: Json) -> None:
    del run["lab"]["links"]

    assert picture_of(run, suites_of(run, Past())) is None
    assert "<figure" not in page(run)


def test_a_control_that_drops_on_purpose_is_not_the_picture_of_a_red_run(
    run: Json, verdict_of: Callable[..., Json]
) -> None:
    """The hosts' part is asked of both phases, and is red in both."""
    test = run["tests"][0]
    phase = test["phases"][0]
    drop = {**phase["counters"][0], "counter": "dropped_packets", "increase": 9}
    test["phases"] = [{**phase, "name": "off", "kind": "control", "counters": [drop]}, phase]
    crc = {"name": "S6550 Twenty-FiveGigE1/0/14 rx_crc_errors", "bound": "= 0", "measured": 1690}
    because = ("off", "S6550 Twenty-FiveGigE1/0/14 +5"), (phase["name"], "S6550 ... +1690")
    test["verdicts"] = [
        verdict_of(outcome="fail", because=said, phase=name, facts=[{**crc, "margin": -1690}])
        for name, said in because
    ]
    test["outcome"] = "fail"

    picture = drawn(run)
    (switch,) = [box for box in picture.boxes if box.switch]

    assert picture.phase == phase["name"]
    assert picture.suite.answer == "S6550 ... +1690"
    assert "\u2715 1/0/14 rx crc errors 1\u202f690" in [w.text for w in switch.lines if w.bad]


def test_a_counter_without_a_value_is_shown_at_its_device(
    run: Json, verdict_of: Callable[..., Json]
) -> None:
    dead = {"name": "S6550 Twenty-FiveGigE1/0/14 priority 3 pfc_tx_frames", "measured": None}
    facts = [{**dead, "bound": "> 0", "note": "no row"}]
    run["tests"][0] |= {
        "outcome": "inconclusive",
        "verdicts": [verdict_of(outcome="inconclusive", facts=facts)],
    }

    (switch,) = [box for box in drawn(run).boxes if box.switch]

    assert [w.text for w in switch.lines if w.bad] == ["? 1/0/14 p3 pfc tx frames: no", "value"]


def test_what_a_cable_lost_is_written_on_it(run: Json, verdict_of: Callable[..., Json]) -> None:
    name = "sent by S6550 Twenty-FiveGigE1/0/13 - received by ServerC eth0"
    fact = {"name": name, "measured": 1690, "bound": "-10 to 10", "margin": -1680}
    red = verdict_of(outcome="inconclusive", facts=[fact])
    run["tests"][0] |= {"outcome": "inconclusive", "verdicts": [red]}

    told = {cable.port: [w.text for w in cable.below if w.bad] for cable in drawn(run).cables}

    assert told == {"1/0/13": ["\u2715 1\u202f690 missing"], "1/0/14": []}
    assert "<b>broken</b>" in page(run)


def test_more_than_was_sent_is_not_written_as_less_than_nothing(
    run: Json, verdict_of: Callable[..., Json]
) -> None:
    name = "sent by ServerA eth0 - received by S6550 Twenty-FiveGigE1/0/14"
    fact = {"name": name, "measured": -11453, "bound": "= 0", "margin": -11453}
    verdict = verdict_of(outcome="inconclusive", facts=[fact])
    run["tests"][0].update(outcome="inconclusive", verdicts=[verdict])

    words = [words.text for cable in drawn(run).cables for words in cable.below]

    assert words == ["\u2715 11\u202f453 too many"]


def test_the_name_of_a_port_has_room_beside_what_is_sent(run: Json) -> None:
    for name in ("Ethernet4", "FourHundredGigE-of-a-leaf"):
        for link in run["lab"]["links"]:
            link["ends"][1]["port"] = name
        for cable in drawn(run).cables:
            words = max((len(words.text) for words in cable.above), default=0)
            assert cable.x2 - cable.x1 > 6.6 * (words + len(cable.port))


def test_long_facts_do_not_make_a_wide_picture(run: Json, verdict_of: Callable[..., Json]) -> None:
    fact = {"name": "S6550 Twenty-FiveGigE1/0/14 a fact of rather many letters in all",
            "measured": 123456789, "bound": "= 0", "margin": -1}  # fmt: skip
    width = drawn(run).width
    verdict = verdict_of(outcome="fail", facts=[fact])
    run["tests"][0].update(outcome="fail", verdicts=[verdict])

    (switch,) = [box for box in drawn(run).boxes if box.switch]

    assert drawn(run).width < width + 80
    assert "".join(words.text for words in switch.lines).endswith("123\u202f456\u202f789")


def test_millions_of_drops_fit_into_their_switch(
    run: Json, verdict_of: Callable[..., Json]
) -> None:
    phase = run["tests"][0]["phases"][0]
    for each in phase["counters"]:
        told = {"dropped_packets": 4_060_588, "forwarded_packets": 100}
        if each["counter"] in told:
            each |= {"port": "Twenty-FiveGigE1/0/13", "scope": "queue", "index": 3,
                     "increase": told[each["counter"]]}  # fmt: skip
    because = "S6550 Twenty-FiveGigE1/0/13 queue 3 got 25.0 %, not 60.0 %"
    failed = verdict_of(outcome="fail", because=because, phase=phase["name"])
    run["tests"][0] |= {"verdicts": [failed], "outcome": "fail"}

    (switch,) = [box for box in drawn(run).boxes if box.switch]
    longest = max((w.text for w in switch.lines), key=len)

    assert longest == "queue 3: \u2715 4\u202f060\u202f588 dropped"
    assert switch.w >= 12 + 8.5 * len(longest)  # bold, at 14 px


def test_a_suite_that_drops_on_purpose_is_not_the_picture_of_a_green_run(run: Json) -> None:
    phase = run["tests"][0]["phases"][0]
    drop = {**phase["counters"][0], "counter": "dropped_packets", "increase": 9}
    drops = {**phase, "name": "overload", "counters": [*phase["counters"], drop] * 2}
    run["tests"][0]["phases"] = [drops, phase]

    assert drawn(run).phase == phase["name"]
