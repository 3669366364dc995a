"""What is written ahead of a change comes back as the very same Python value."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.capabilities.records import (
    DcqcnSetting,
    EcnSetting,
    PfcSetting,
    QueueSchedule,
    SchedulingSetting,
    TrustSetting,
    WredQueue,
)
from labtests.inventory.testbed import Device, Management, Port, Vlan
from labtests.journal.values import NotStorable, pack, readable, unpack

NUMBERS = st.integers(-(2**70), 2**70)
TEXTS = st.text(max_size=12)
RECORDS = (
    PfcSetting,
    TrustSetting,
    WredQueue,
    EcnSetting,
    QueueSchedule,
    SchedulingSetting,
    DcqcnSetting,
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(allow_nan=False), TEXTS)
HASHABLE = st.recursive(
    st.one_of(SCALARS, *map(st.from_type, RECORDS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple), st.frozensets(inner, max_size=3)
    ),
    max_leaves=6,
)
VALUES = st.one_of(HASHABLE, st.lists(HASHABLE, max_size=3), st.dictionaries(TEXTS, HASHABLE))


def packed_text(value):
    """The same for equal values, whose `repr` may name the members of a set in another order."""
    return json.dumps(pack(value))


def typed(value):
    """The value with the type of each of its parts; sets in an order of their own."""
    if isinstance(value, frozenset):
        return frozenset, [typed(each) for each in sorted(value, key=packed_text)]
    if isinstance(value, tuple | list):
        return type(value), [typed(each) for each in value]
    if isinstance(value, dict):
        return dict, [(key, typed(each)) for key, each in value.items()]
    return type(value), value


@settings(max_examples=60)
@given(VALUES)
def test_a_value_comes_back_the_same_in_value_and_type(value):
    again = unpack(json.loads(json.dumps(pack(value))))
    assert again == value
    assert typed(again) == typed(value)


def test_a_device_with_its_address_comes_back():
    management = Management(host="h", user="u", become=True, key_file="/k")
    port = Port(device="d", interface="p", address="10.0.0.1", prefix_length=24, vlan=Vlan(id=9))
    device = Device(name="d", platform="connectx", management=management, ports=(port,))
    assert unpack(json.loads(json.dumps(pack(device)))) == device


@pytest.mark.parametrize("value", [object(), b"raw", {1, 2}, float("nan"), pytest.Item])
def test_what_would_not_come_back_the_same_is_refused(value):
    with pytest.raises(NotStorable):
        pack(value)


@pytest.mark.parametrize(
    "packed",
    [
        {"record": "os:_Environ", "fields": {}},
        {"record": "labtests.lab.lab:Lab", "fields": {}},
        {"record": "labtests.records:PfcSetting", "fields": {"mode": "on"}},
        {"record": "labtests.journal.values:importlib.sys", "fields": {}},
        {"member": "labtests.records:PfcSetting", "name": "mode"},
        {"unknown": 1},
        {"set": [{"list": []}]},
    ],
)
def test_a_file_that_says_something_else_makes_nothing(packed):
    with pytest.raises(NotStorable):
        unpack(packed)


def test_a_field_without_a_value_is_not_told_to_a_person():
    """`level: None` says nothing, and was read as a value."""
    told = readable(EcnSetting(profile=None, queues=()))
    assert "None" not in told
    assert "queues: none" in told
