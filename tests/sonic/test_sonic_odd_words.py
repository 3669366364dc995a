"""Words and keys that no manual of SONiC shows are refused, and are not taken for `off` or 0."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.drivers.sonic import egress, maps, pfc
from labtests.drivers.sonic.counters import parse_queue_counters
from labtests.drivers.sonic.database import DbSetting, parse_table
from labtests.transport.protocol import Reply


def read(kind: type[DbSetting[Any]], tables: Mapping[str, Any]) -> Any:
    """What these tables of the switch say of its first port."""
    setting = kind("SN", ("Ethernet0",))
    asking = setting.read("Ethernet0")
    asked: Any = next(asking)
    try:
        while True:
            asked = asking.send(tuple(_answer(str(each), tables) for each in asked))
    except StopIteration as end:
        return end.value


def _answer(command: str, tables: Mapping[str, Any]) -> Reply:
    text = json.dumps(tables.get(command.split()[-1], {}))
    return Reply(device="SN", command=command, text=f"{text}\n")


def wred(**fields: Any) -> dict[str, Any]:
    curve = {"min_threshold": "1000", "max_threshold": "2000", "drop_probability": "5"}
    profile = {f"green_{name}": value for name, value in curve.items()}
    return {
        "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}},
        "WRED_PROFILE": {"P": {**profile, **fields}},
    }


def mapped(*names: str) -> dict[str, Any]:
    return {
        "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "A"}},
        "DSCP_TO_TC_MAP": {"A": dict.fromkeys(names, "7")},
    }


TOGETHER = {"Ethernet0,Ethernet4": {"pfc_enable": "3,4", "dscp_to_tc_map": "A"}}
ODD = [
    *((egress.SonicEcn, wred(ecn=word)) for word in ("ECN_ALL", "ecn_green_all", ["ecn_all"], "")),
    *(
        (egress.SonicEcn, wred(wred_green_enable=word))
        for word in (True, "True", 1, "enabled", "TRUE")
    ),
    (pfc.SonicPfc, {"PORT_QOS_MAP": TOGETHER}),
    (maps.SonicTrust, {"PORT_QOS_MAP": TOGETHER, "DSCP_TO_TC_MAP": {"A": {}}}),
    *((maps.SonicDscpMap, mapped(name)) for name in ("0x05", "064", "05", "-1", "5,6")),
]


@pytest.mark.parametrize(("kind", "tables"), ODD, ids=range(len(ODD)))
def test_an_odd_word_is_refused(kind: type[DbSetting[Any]], tables: Mapping[str, Any]) -> None:
    with pytest.raises(CommandRejected) as refused:
        read(kind, tables)
    assert refused.value.device == "SN"
    assert refused.value.remedy


def test_known_words_are_read() -> None:
    assert read(egress.SonicEcn, wred(ecn="ecn_all")).queues[0].ecn
    assert not read(egress.SonicEcn, wred(ecn="ecn_red", wred_green_enable="true")).queues[0].ecn
    for word in ("ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red"):
        assert read(egress.SonicEcn, wred(ecn=word)).queues == ()
    assert read(maps.SonicDscpMap, mapped("5", "63"))[:7] == (0, 0, 0, 0, 0, 7, 0)
    assert read(pfc.SonicPfc, {"PORT_QOS_MAP": {"Ethernet4": {}}}).mode == "off"


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_table, '{"Ethernet0": {"mtu": "9100", "mtu": "1500"}}'),
        (parse_queue_counters, '{"Ethernet0": {"UC0": {}, "UC0": {}}}'),
    ],
    ids=["table", "queues"],
)
def test_a_field_that_is_told_twice_is_refused(parse, text):
    """The last one counted, and nobody had said so."""
    with pytest.raises(UnreadableOutput, match="twice"):
        parse(Reply(device="SN2700", command="x", text=text))
