"""`ethtool -S IF` and `ethtool -i IF`, of any driver. Values are cumulative since it was loaded."""

import re

from labtests.capabilities import counters as c
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.parsing import BLANK, kept, matches, refuse, whole_number
from labtests.transport.protocol import Reply

ETHTOOL = Tool(
    install="install the package ethtool on this host",
    complaints=(
        Complaint(
            says=r"No such device|no device matches name",
            remedy="check the interface name in the testbed file against `ip link` on the host",
        ),
        Complaint(
            says=r"^no stats available|Operation not supported|^Cannot get|^netlink error",
            remedy="name the physical port of a NIC (not a bond, VLAN or loopback)",
        ),
        Complaint(
            says=r"bad command line argument|unknown parameter",
            remedy="this is a defect of labtests: report it with the run's journal",
        ),
    ),
)

_TITLE = re.compile(r"^NIC statistics:\s*$")
_COUNTER = re.compile(r"^\s*(\S.*?):\s*(\S+)\s*$")
_FIELD = re.compile(r"^([a-z-]+):\s*+((?:.*\S)?)\s*$")
AT_THE_WIRE = {
    "rx_crc_errors_phy": (c.RX_CRC_ERRORS, "packets"),
    "rx_symbol_err_phy": (c.RX_SYMBOL_ERRORS, "packets"),
    "rx_pcs_symbol_err_phy": (c.PCS_SYMBOL_ERRORS, "events"),
    "rx_corrected_bits_phy": (c.FEC_CORRECTED_BITS, "bits"),
    "tx_errors_phy": (c.TX_ERRORS, "packets"),
    "link_down_events_phy": (c.LINK_DOWNS, "events"),
}
"""What a bad cable, plug or port does, where a driver counts it at the wire: its word -> neutral
name and unit (mlx5 counters, Linux documentation)."""

_PACKET_LENGTHS = re.compile(r"^rx_[0-9]+(?:_to_[0-9]+)?_bytes_phy$")


MOST_COUNTERS = 16_384
"""Of a NIC: mlx5 with 128 channels has some 4500."""


def parse_ethtool_statistics(reply: Reply) -> dict[str, int]:
    """`ethtool -S`: name -> value, of any driver, in the order printed."""
    expect_success(reply, ETHTOOL)
    statistics: dict[str, int] = {}
    for line in matches(reply, _TITLE, _COUNTER, skip=BLANK):
        if line.re is _TITLE:
            if statistics:
                refuse(reply, "a second 'NIC statistics:' follows the first")
            continue
        if line[1] in statistics:
            refuse(reply, f"{line[1]} appears twice")
        name = kept(reply, line[1], "a counter's name")
        statistics[name] = whole_number(reply, line[2], name)
    if len(statistics) > MOST_COUNTERS:
        refuse(reply, f"it has {len(statistics)} counters")
    if not statistics:
        refuse(reply, "there is no counter in it")
    return statistics


def parse_ethtool_driver(reply: Reply) -> dict[str, str]:
    """`ethtool -i`: field -> text, "" where ethtool leaves it empty."""
    expect_success(reply, ETHTOOL)
    fields = {line[1]: kept(reply, line[2], line[1]) for line in matches(reply, _FIELD, skip=BLANK)}
    for needed in ("driver", "firmware-version"):
        if needed not in fields:
            refuse(reply, f"the line {needed}: is missing")
    return fields


def unit_of(name: str) -> str:
    """What a counter of this name counts."""
    if _PACKET_LENGTHS.match(name):  # a histogram: how many packets were that long
        return "packets"
    stem = name.removesuffix("_phy")
    for ending, unit in (("_bytes", "bytes"), ("_packets", "packets"), ("_pkts", "packets")):
        if stem.endswith(ending):
            return unit
    return "us" if stem.endswith("_duration") else "events"
