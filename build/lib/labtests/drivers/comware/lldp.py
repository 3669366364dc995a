"""`display lldp neighbor-information verbose`: who is at the other end of a cable."""

from labtests.capabilities.facts import Neighbour, Neighbours
from labtests.drivers.comware.session import ComwarePart, show
from labtests.drivers.comware.values import COMWARE, many, maybe, record
from labtests.drivers.displays import ANY, read
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_FLUSH, _BY_ONE = range(1), range(1, 2)
_INDEX = "LLDP [Nn]eighbor index : .*"
# DCBX, VLANs, addresses, and whatever a neighbour tells of itself over several lines
_UNREAD = rf"(?!{_INDEX}|LLDP agent |(LLDP|CDP) neighbor-information of port ).*"
_PORT = record(
    r"LLDP neighbor-information of port <:number>\[<port:port>:?\]:?",
    record(
        _INDEX,
        COMWARE.line("Port ID : <port_id:text>", indent=_BY_ONE),
        maybe("Port description : <port_description:.*>", indent=_BY_ONE),
        maybe("System name : <name:.*>", indent=_BY_ONE),
        many(_UNREAD),
        make=dict,
        into="told",
        times=ANY,
        indent=_BY_ONE,
    ),
    many("LLDP agent nearest-bridge[:：]", indent=_FLUSH),
    COMWARE.line(r"LLDP agent \S+[:：]", many(f"{_INDEX}|{_UNREAD}"), times=ANY, indent=_FLUSH),
    many(
        "(Port ID|Port description|System name) : .*",
        indent=_BY_ONE,
        refused="{above} shows a field outside of any neighbour",
    ),
    many(_UNREAD),
    make=lambda port, told: [(port, each) for each in told],
    times=ANY,
    indent=_FLUSH,
)
_CDP = COMWARE.line(
    "CDP neighbor-information of port .*",
    many("(?!(LLDP|CDP) neighbor-information of port ).*"),
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


class LldpNeighbours(ComwarePart, Neighbours):
    """Who is at the other end of each cable."""

    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """By LLDP, nearest bridge."""
        shown = yield from show("display", "lldp", "neighbor-information", "verbose")
        return parse_lldp_neighbors(shown)
