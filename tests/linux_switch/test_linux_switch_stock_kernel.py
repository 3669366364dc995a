"""A Linux switch with a stock distribution kernel: ets, prio, RED and flower filters."""

from switch_box import RecordedSwitch, recording, without

from labtests.drivers.linux_switch import Driver
from labtests.drivers.linux_switch.filters import parse_filters

ETS = recording("qdiscs--tbf-over-ets")
FLOWER = recording("filters--flower")


def test_flower_filters_are_read_in_decimal_and_in_hexadecimal():
    link = recording("link--dummy")
    older = without(
        without(without(FLOWER, "tos 96/0xfc", "tos 0x60/fc"), "tos 104/0xfc", "tos 0x68/fc"),
        "tos 184\n",
        "tos 0xb8/ff\n",
    )
    expected = {24: 3, 26: 4}
    for filters in (FLOWER, older):
        named = [(f.kind, f.tos_value, f.tos_mask) for f in parse_filters(filters)]
        assert named == [
            ("flower", 96, 0xFC),
            ("flower", 104, 0xFC),
            ("flower", 184, 0xFF),
            ("matchall", 0, 0),
        ]
    only_dscp = without(FLOWER, "ip_tos 184\n", "ip_tos 184/0xfc\n")
    found = Driver(RecordedSwitch((ETS, only_dscp, link))).dscp_map("swp9")
    assert found == tuple((expected | {46: 0}).get(dscp, 7) for dscp in range(64))
