"""Differences: an integer, or a reason why there is none."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from labtests.capabilities.readings import Reading
from labtests.measure.evidence import differences

values = st.none() | st.integers(min_value=0, max_value=2**64 - 1)


def read(value, time_s, **other):
    fields = {
        "device": "sw", "port": "p", "scope": "queue", "index": 3, "counter": "dropped_packets",
        "unit": "packets", "source": "display", "missing": "",
    }  # fmt: skip
    return Reading(**(fields | other), value=value, time_s=time_s)


def only(before, after):
    [difference] = differences(before, after).values()
    return difference


@given(values, values)
def test_a_difference_is_exact_or_absent(before, after):
    difference = only([read(before, 1.0)], [read(after, 2.0)])
    if before is None or after is None or after < before:
        assert difference.increase is None
        assert difference.unusable
    else:
        assert difference.increase == after - before
        assert difference.unusable == ""


def test_a_counter_that_disappears_is_not_zero():
    gone = only([read(7, 1.0)], [])
    assert gone.increase is None
    assert gone.unusable == "the counter did not exist after the run"


def test_a_counter_that_appears_is_not_its_value():
    assert only([], [read(7, 2.0)]).increase is None


def test_a_missing_value_says_what_the_device_said():
    difference = only([read(7, 1.0)], [replace(read(None, 2.0), missing="the cell says N/A")])
    assert difference.unusable == "no value after the run: the cell says N/A"


def test_running_backwards_is_a_wrap_or_a_reset_never_a_number():
    difference = only([read(2**32 - 1, 1.0)], [read(4, 2.0)])
    assert difference.increase is None
    assert "wrapped, reset or cleared" in difference.unusable


def test_two_reads_of_one_moment_are_stale():
    assert "stale" in only([read(7, 1.0)], [read(7, 1.0)]).unusable


def test_a_counter_read_from_elsewhere_is_not_the_same_counter():
    other = only([read(7, 1.0)], [read(9, 2.0, source="ethtool")])
    assert other.increase is None
    assert "display" in other.unusable


def test_gauges_are_never_subtracted():
    gauge = {"counter": "queue_length_packets"}
    assert differences([read(7, 1.0, **gauge)], [read(3, 2.0, **gauge)]) == {}
