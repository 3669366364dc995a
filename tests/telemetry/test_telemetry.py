"""Snapshots of a lab: complete or an error, settled or said not to be."""

from types import SimpleNamespace

import pytest

from labtests.capabilities.device import DropTelemetry, PfcTelemetry, QueueTelemetry
from labtests.capabilities.readings import Reading
from labtests.core.errors import LabErrors, UnreadableOutput
from labtests.measure.telemetry import Telemetry, Watch, table
from labtests.transport.asking import Running, answered, known


def reading(device, counter, value, time_s=0.0):
    return Reading(
        device=device, port="p1", scope="queue", index=3, counter=counter, unit="packets",
        value=value, time_s=time_s, source="display", missing="" if value is not None else "N/A",
    )  # fmt: skip


class Switch(QueueTelemetry, DropTelemetry, PfcTelemetry):
    """Its forwarded counter grows by `growth` at each read, so many times."""

    def __init__(self, name, growth=()):
        self.name, self.growth, self.reads = name, list(growth), 0

    def queue_counters(self, port):
        self.reads += 1
        total = sum(self.growth[: self.reads])
        return known((reading(self.name, "forwarded_packets", 100 + total),))

    def drop_counters(self, port):
        return known((reading(self.name, "ecn_marked_packets", 5),))

    def pfc_counters(self, ports):
        return known(tuple(reading(self.name, "pfc_tx_frames", 7) for _ in ports))


class Broken(Switch):
    def queue_counters(self, port):
        yield from ()
        raise UnreadableOutput(self.name, "display qos", "cut", "read again")


def telemetry(*switches):
    clock = SimpleNamespace(t=0.0)
    clock.now_s = lambda: clock.t
    clock.sleep = lambda seconds: setattr(clock, "t", clock.t + seconds)
    able = {s.name: s for s in switches}
    devices = SimpleNamespace(
        able=lambda ability: {n: s for n, s in able.items() if isinstance(s, ability)},
        ask=lambda device, asking, *_: answered(Running(asking), list),
    )
    watch = Watch(ports=dict.fromkeys(able, ("p1",)), bottleneck=(switches[0].name, "p1"))
    return Telemetry(devices, clock), watch, clock


FORWARDED = frozenset({("sw", "p1", "queue", 3, "forwarded_packets")})


def test_a_snapshot_has_every_counter_in_a_fixed_order():
    reader, watch, _ = telemetry(Switch("sw"), Switch("other"))
    names = [(r.device, r.counter) for r in reader.snapshot(watch)]
    per_switch = ["pfc_tx_frames", "forwarded_packets", "ecn_marked_packets"]
    assert names == [(d, c) for d in ("sw", "other") for c in per_switch]


def test_counters_have_settled_when_two_reads_are_equal():
    reader, watch, clock = telemetry(Switch("sw", growth=[5, 3, 0]))
    readings, moving = reader.settled(watch, FORWARDED, step_s=0.5, deadline_s=10)
    assert not moving
    assert [r.value for r in readings if r.counter == "forwarded_packets"] == [108]
    assert clock.t == pytest.approx(1.0)


def test_counters_that_keep_moving_are_said_not_to_have_settled():
    reader, watch, clock = telemetry(Switch("sw", growth=[1] * 1000))
    _, moving = reader.settled(watch, FORWARDED, step_s=0.5, deadline_s=3)
    assert moving == FORWARDED
    assert clock.t == pytest.approx(3.0)


def test_traffic_of_other_people_does_not_keep_it_from_settling():
    reader, watch, _ = telemetry(Switch("sw", growth=[1] * 1000))
    other = frozenset({("sw", "p1", "queue", 3, "ecn_marked_packets")})
    assert not reader.settled(watch, other, step_s=0.5, deadline_s=3)[1]


def test_one_device_that_fails_is_named_alone():
    reader, watch, _ = telemetry(Switch("sw"), Broken("leaf"))
    with pytest.raises(UnreadableOutput, match="leaf: 'display qos': cut"):
        reader.snapshot(watch)


def test_two_devices_that_fail_are_both_named():
    reader, watch, _ = telemetry(Broken("sw"), Broken("leaf"))
    with pytest.raises(LabErrors) as caught:
        reader.snapshot(watch)
    assert "sw: 'display qos'" in str(caught.value)
    assert "leaf: 'display qos'" in str(caught.value)


def test_a_sample_reads_the_bottleneck_only():
    reader, watch, _ = telemetry(Switch("sw"), Switch("other"))
    assert {r.device for r in reader.sample(watch)} == {"sw"}


def test_the_table_is_tidy_and_a_missing_value_is_not_zero():
    frame = table([reading("sw", "dropped_packets", 0), reading("sw", "dropped_packets", None)])
    assert list(frame.columns) == [
        "device", "port", "scope", "index", "counter", "unit", "time_s", "value", "source",
        "missing",
    ]  # fmt: skip
    assert str(frame["value"].dtype) == "UInt64"
    assert frame["value"].isna().tolist() == [False, True]
    assert frame["missing"].tolist() == ["", "N/A"]


def test_a_counter_beyond_53_bits_stays_exact_in_the_table():
    assert table([reading("sw", "forwarded_packets", 2**53 + 1)])["value"][0] == 2**53 + 1
