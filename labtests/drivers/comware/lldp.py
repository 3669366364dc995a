"""`display lldp neighbor-information verbose`: who is at the other end of a cable."""

from labtests.capabilities.facts import Neighbour
from labtests.drivers.comware.values import line, record
from labtests.drivers.displays import ANY, MAYBE, read
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

_FLUSH, _BY_ONE = range(1), range(1, 2)
_INDEX = "LLDP [Nn]eighbor index : .*"
# DCBX, VLANs, addresses, and whatever a neighbour tells of itself over several lines
_UNREAD = rf"(?!{_INDEX}|LLDP agent |(LLDP|CDP) neighbor-information of port ).*"
_PORT = record(
    r"LLDP neighbor-information of port <:number>\[<port:port>:?\]:?",
    record(
        _INDEX,
        line("Port ID : <port_id:text>", indent=_BY_ONE),
        line("Port description : <port_description:.*>", times=MAYBE, indent=_BY_ONE),
        line("System name : <name:.*>", times=MAYBE, indent=_BY_ONE),
        line(_UNREAD, times=ANY),
        make=dict,
        into="told",
        times=ANY,
        indent=_BY_ONE,
    ),
    line("LLDP agent nearest-bridge[:：]", times=ANY, indent=_FLUSH),
    line(r"LLDP agent \S+[:：]", line(f"{_INDEX}|{_UNREAD}", times=ANY), times=ANY, indent=_FLUSH),
    line(
        "(Port ID|Port description|System name) : .*",
        times=ANY,
        indent=_BY_ONE,
        refused="{above} shows something of no neighbour",
    ),
    line(_UNREAD, times=ANY),
    make=lambda port, told: [(port, each) for each in told],
    times=ANY,
    indent=_FLUSH,
)
_CDP = line(
    "CDP neighbor-information of port .*",
    line("(?!(LLDP|CDP) neighbor-information of port ).*", times=ANY),
    times=ANY,
    indent=_FLUSH,
)


def parse_lldp_neighbors(reply: Reply) -> tuple[Neighbour, ...]:
    """Nearest bridges only, and no CDP. What else a neighbour tells is not read."""
    found = [each for port in read(reply, _PORT, _CDP) for each in port]
    if not found:
        refuse(
            reply, "no neighbour is shown", "see that LLDP is on at both ends: lldp global enable"
        )
    return tuple(
        Neighbour(**{"name": "", "port_description": "", **told}, port=port) for port, told in found
    )
