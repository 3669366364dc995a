"""The Comware driver against emulated switches, over SSH."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from driven import driving
from in_process import InProcessLab
from typed import typed

from labtests.capabilities.records import (
    EcnSetting,
    PfcSetting,
    QueueSchedule,
    SchedulingSetting,
    TrustSetting,
)
from labtests.core.errors import CommandRejected, LabError, UnreadableOutput
from labtests.drivers.comware import SESSION
from labtests.inventory import load
from labtests.transport.ssh.connecting import connect

Driver = driving("comware")

TESTBED = """\
name: two-switches
devices:
  Leaf:
    platform: comware
    management: {host: leaf.lab.example, user: admin}
    ports:
      Twenty-FiveGigE1/0/13: {}
      Twenty-FiveGigE1/0/14: {}
      Twenty-FiveGigE1/0/15: {}
  Spine:
    platform: comware
    management: {host: spine.lab.example, user: admin}
    ports: {Twenty-FiveGigE1/0/1: {}}
links:
  - between: [Leaf:Twenty-FiveGigE1/0/13, Spine:Twenty-FiveGigE1/0/1]
    speed_gbit_per_s: 10
    length_m: 3
"""
PORT, OUT = "Twenty-FiveGigE1/0/14", "Twenty-FiveGigE1/0/13"


@contextmanager
def leaf_of(folder):
    """A fresh lab of two switches, and an open session with the leaf."""
    file = folder / "two-switches.yaml"
    file.write_text(TESTBED, encoding="utf-8")
    testbed = load(file)
    with InProcessLab(testbed, seed=1) as lab:
        device = lab.reroute(testbed).device("Leaf")
        transport = connect(device, SESSION, clock=lab.clock)
        try:
            yield lab, transport
        finally:
            transport.close()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with leaf_of(tmp_path_factory.mktemp("testbed")) as (_, transport):
        yield transport


@pytest.fixture
def leaf(session):
    return Driver(session)


@pytest.fixture
def liar(tmp_path):
    with leaf_of(tmp_path) as (lab, transport):
        yield lab, Driver(transport)


@pytest.mark.parametrize(
    "wanted",
    [
        PfcSetting(mode="on", priorities=frozenset({3})),
        PfcSetting(mode="on", priorities=frozenset(range(8))),
        PfcSetting(mode="auto", priorities=frozenset({0, 2, 3, 5, 6})),
        PfcSetting(mode="off", priorities=frozenset({5})),
    ],
)
def test_pfc_is_made_so_and_put_back(leaf, wanted):
    earlier = leaf.pfc(PORT)
    leaf.set_pfc(PORT, wanted)
    assert leaf.pfc(PORT) == wanted
    leaf.set_pfc(PORT, earlier)
    assert leaf.pfc(PORT) == earlier == PfcSetting(mode="off", priorities=frozenset())


@pytest.mark.parametrize(
    "wanted", [TrustSetting(source="dscp"), TrustSetting(source="dot1p", override=True)]
)
def test_trust_is_made_so_and_put_back(leaf, wanted):
    earlier = leaf.trust(PORT)
    leaf.set_trust(PORT, wanted)
    assert leaf.trust(PORT) == wanted
    leaf.set_trust(PORT, earlier)
    assert leaf.trust(PORT) == earlier == TrustSetting(source="none")


def test_marking_is_made_so_and_put_back_and_leaves_no_table(leaf, session):
    earlier = leaf.ecn(OUT)
    leaf.set_ecn(OUT, leaf.ecn_on({2, 3}))
    assert leaf.ecn(OUT) == leaf.ecn_on({2, 3})
    leaf.set_ecn(OUT, earlier)
    assert leaf.ecn(OUT) == earlier == EcnSetting()
    assert "labtests" not in session.run(typed("display current-configuration")).text
    assert "labtests" not in session.run(typed("display qos wred table")).text


def test_two_ports_may_mark_differently_and_one_keeps_its_table_when_the_other_goes(leaf):
    leaf.set_ecn(OUT, leaf.ecn_on({2}))
    leaf.set_ecn(PORT, leaf.ecn_on({5}))
    leaf.set_ecn("WGE1/0/15", leaf.ecn_on({5}))
    leaf.set_ecn(PORT, EcnSetting())
    assert leaf.ecn("WGE1/0/15") == leaf.ecn_on({5})
    assert leaf.ecn(OUT) == leaf.ecn_on({2})
    leaf.set_ecn("WGE1/0/15", EcnSetting())
    leaf.set_ecn(OUT, EcnSetting())


def test_a_users_table_is_applied_again_as_it_was(leaf, session):
    # as in document 000: all queues mark, with the model's own curve
    session.configure(
        typed(
            (
                "qos wred queue table test1",
                *(f"queue {q} ecn" for q in range(8)),
                "queue 5 drop-level 0 low-limit 10 high-limit 20 discard-probability 30",
                "quit",
                f"interface {OUT}",
                "qos wred apply test1",
                "quit",
            )
        )
    )
    earlier = leaf.ecn(OUT)
    assert earlier.profile == "test1"
    assert earlier.marking_queues == set(range(8))
    assert earlier.queues[5].high_limit == 20
    leaf.set_ecn(OUT, leaf.ecn_on({2}))
    leaf.set_ecn(OUT, earlier)
    assert leaf.ecn(OUT) == earlier
    session.configure(typed((f"interface {OUT}", "undo qos wred apply", "quit")))


def test_scheduling_is_made_so_and_put_back(leaf):
    earlier = leaf.scheduling(OUT)
    assert len(earlier.queues) in (0, 8)
    byte_count = SchedulingSetting(
        discipline="wrr",
        unit="byte-count",
        queues=tuple(
            QueueSchedule(queue=q, group="sp" if q == 5 else "1", weight=None if q == 5 else q + 1)
            for q in range(8)
        ),
    )
    strict = SchedulingSetting(discipline="sp", unit="")
    for wanted in (byte_count, strict, earlier):
        leaf.set_scheduling(OUT, wanted)
        assert leaf.scheduling(OUT) == wanted


def test_the_dscp_map_is_made_so_and_put_back(leaf):
    earlier = leaf.dscp_map("")
    assert earlier == tuple(dscp // 8 for dscp in range(64))
    wanted = (*earlier[:26], 5, *earlier[27:])
    leaf.set_dscp_map("", wanted)
    assert leaf.dscp_map("") == wanted
    leaf.set_dscp_map("", earlier)


def test_a_quiet_switch_counts_zero_where_it_counts(leaf):
    queues = leaf.queue_counters(OUT)
    assert {r.value for r in queues} == {0}
    drops = {r.counter: r.value for r in leaf.drop_counters(OUT)}
    assert drops["buffer_dropped_out_packets"] == drops["ecn_marked_packets"] == 0


def test_pauses_are_counted_only_for_priorities_with_pfc_in_operation(leaf):
    assert {r.value for r in leaf.pfc_counters((OUT,))} == {None}
    leaf.set_trust(OUT, TrustSetting(source="dscp"))
    leaf.set_pfc(OUT, PfcSetting(mode="on", priorities=frozenset({3})))
    counted = {r.index for r in leaf.pfc_counters((OUT,)) if r.value == 0}
    leaf.set_pfc(OUT, PfcSetting(mode="off", priorities=frozenset()))
    leaf.set_trust(OUT, TrustSetting(source="none"))
    assert counted == {3}


def test_versions_and_obstacles_are_told(leaf):
    assert leaf.versions()["comware"].startswith("7.")
    assert leaf.obstacles() == ()


def test_a_port_that_the_switch_does_not_have_is_an_error(leaf):
    for ask in (leaf.pfc, leaf.trust, leaf.ecn, leaf.scheduling, leaf.queue_counters):
        with pytest.raises(CommandRejected) as refusal:
            ask("Twenty-FiveGigE1/0/99")
        assert refusal.value.device == "Leaf"


def test_a_priority_that_does_not_exist_is_refused_with_its_line(leaf):
    with pytest.raises(CommandRejected) as refusal:
        leaf.set_pfc(PORT, PfcSetting(mode="on", priorities=frozenset({9})))
    assert refusal.value.command == "priority-flow-control no-drop dot1p 9"
    leaf.set_pfc(PORT, PfcSetting(mode="off", priorities=frozenset()))


def test_a_switch_that_lies_is_found_out_in_every_setting(liar):
    lab, leaf = liar
    lab.fault(kind="lie", device="Leaf")
    for change, wanted in (
        (leaf.set_pfc, PfcSetting(mode="on", priorities=frozenset({3}))),
        (leaf.set_trust, TrustSetting(source="dscp")),
        (leaf.set_ecn, leaf.ecn_on({2})),
        (leaf.set_scheduling, SchedulingSetting(discipline="sp", unit="")),
    ):
        with pytest.raises(LabError, match="Leaf"):
            change(OUT, wanted)
    with pytest.raises(CommandRejected, match="reads back"):
        leaf.set_dscp_map("", (7,) * 64)


class HalfTheAnswer:
    """A session that loses the second half of every answer, up to the prompt."""

    def __init__(self, session):
        self.device, self.configure = session.device, session.configure
        self._session = session

    def run(self, command, *, timeout_s=30.0):
        reply = self._session.run(command, timeout_s=timeout_s)
        return replace(reply, text=reply.text[: len(reply.text) // 2])


def test_an_output_that_is_cut_in_the_middle_is_never_a_number(session):
    leaf = Driver(HalfTheAnswer(session))
    for ask in (leaf.pfc, leaf.trust, leaf.ecn, leaf.scheduling, leaf.dscp_map):
        with pytest.raises(UnreadableOutput):
            ask(OUT)
    for count in (leaf.queue_counters, leaf.drop_counters, lambda port: leaf.pfc_counters((port,))):
        with pytest.raises(UnreadableOutput):
            count(OUT)


def test_drop_lines_that_are_gone_are_refused_or_without_value(liar):
    lab, leaf = liar
    lab.fault(kind="missing-counter", device="Leaf", port=OUT, counter="queue-drops")
    with pytest.raises(UnreadableOutput, match="lacks the line 'Dropped'"):
        leaf.queue_counters(OUT)
