"""What a VLAN interface tells of tags, and what is refused."""

import re
from pathlib import Path

import pytest

from labtests.core.errors import UnreadableOutput
from labtests.drivers.linux.tos import socket_priority
from labtests.drivers.linux.vlan import VlanInterfaces, parse_vlan
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

RECORDED = Path(__file__).parents[1] / "transcripts" / "linux" / "vlan--gateway.txt"
TEXT = RECORDED.read_text(encoding="utf-8").split("\n", 2)[2]


def reply(text: str = TEXT) -> Reply:
    return Reply(device="A", command="ip -d link show dev eth4.840", text=text, status=0)


def answered(asking: Asking[object], text: str) -> object:
    next(asking)
    with pytest.raises(StopIteration) as done:
        asking.send((reply(text),))
    return done.value.value


def test_the_map_says_the_tag_of_each_dscp() -> None:
    text = TEXT.replace("{ 0:5 1:5 2:5 3:5 4:5 5:5 6:5 7:5 }", "{ 2:3 4:5 }")
    tags = parse_vlan(reply(text))
    assert tags is not None
    assert tags.egress == ((2, 3), (4, 5))
    assert [tags.of_dscp[dscp] for dscp in (0, 2, 3, 4, 6, 7, 24, 26, 46)] == [
        0, 3, 3, 0, 5, 5, 0, 3, 5,
    ]  # fmt: skip


def test_without_a_map_every_tag_has_priority_0() -> None:
    tags = parse_vlan(reply(re.sub(r"\n +egress-qos-map \{[^}]*\}", "", TEXT)))
    assert tags is not None
    assert tags.egress == ()
    assert set(tags.of_dscp) == {0}


def test_an_alias_of_the_link_is_anybody_s_words() -> None:
    for alias in ("egress-qos-map { 9:1 } ", "1: eth4.840@eth9: <"):
        assert parse_vlan(reply(f"{TEXT}    alias {alias}\n")) == parse_vlan(reply())


@pytest.mark.parametrize("end", range(len(TEXT)))
def test_a_part_of_an_answer_is_refused(end: int) -> None:
    with pytest.raises(UnreadableOutput):
        parse_vlan(reply(TEXT[:end]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("7:5 }", "7:8 }"),
        ("7:5 }", "x:5 }"),
        ("1:5", "0:4"),
        ("vlan protocol 802.1Q", "vlan protocol 802.1ad"),
        ("    vlan protocol 802.1Q id 840 <REORDER_HDR> \n", ""),
        ("12: iptv@eth4", "iptv"),
    ],
)
def test_what_is_no_map_of_a_vlan_is_refused(old: str, new: str) -> None:
    assert old in TEXT
    with pytest.raises(UnreadableOutput):
        parse_vlan(reply(TEXT.replace(old, new)))


@pytest.mark.parametrize(
    ("port", "vlan", "why"),
    [("eth4", 841, "not VLAN 841 of eth4, but VLAN 840"), ("eth5", 840, "VLAN 840 of eth5")],
)
def test_an_interface_of_another_port_or_vlan_is_refused(port: str, vlan: int, why: str) -> None:
    asking = VlanInterfaces("A").tags(port, f"{port}.{vlan}", vlan)
    next(asking)
    with pytest.raises(UnreadableOutput, match=why):
        asking.send((reply(),))


def test_the_interface_of_the_port_is_asked() -> None:
    (command,) = next(VlanInterfaces("A").tags("eth4", "eth4.840", 840))
    assert str(command) == "ip -d link show dev eth4.840"
    assert answered(VlanInterfaces("A").tags("eth4", "eth4.840", 840), TEXT) == parse_vlan(reply())


@pytest.mark.parametrize(
    ("tos", "priority"), [(0, 0), (2, 0), (8, 2), (11, 2), (16, 6), (24, 4), (26, 4), (224, 0)]
)
def test_a_sockets_priority_follows_its_tos(tos: int, priority: int) -> None:
    assert socket_priority(tos) == priority
