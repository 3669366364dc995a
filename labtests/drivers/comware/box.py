"""What the switch is and runs (`display version`), its clock (local time, and how far that is from
UTC), and who is at the other end of a cable (`display lldp neighbor-information verbose`).
"""

import re
from datetime import timedelta
from typing import Any

from labtests.capabilities.facts import Neighbour
from labtests.drivers.comware.session import ComwarePart, line
from labtests.drivers.comware.values import COMWARE, many, maybe, record
from labtests.drivers.displays import ANY, MAYBE, ONCE, CliBox, Unfit, ValueKind, first_said, read
from labtests.drivers.displays.box import utc_s
from labtests.drivers.parsing import BLANK, refuse
from labtests.transport.protocol import Reply

_SOFTWARE = re.compile(
    r"^[^:]*Comware (?:Platform )?Software, (?:Software )?Version (?P<comware>[\w.-]+)"
    r"(?:, (?P<release>(?:Release|Ess|Feature|Alpha|Beta|Demo|Test|ESS) \S+))?"
)
_MODEL = re.compile(r"^(?P<model>\S.*?) uptime is ")


def parse_version(reply: Reply) -> dict[str, str]:
    """`model`, `comware` (e.g. 7.1.070) and `release`; "" where the switch does not say.

    The rest of this output is boards and boot images, and is not read.
    """
    line = "Comware Software, Version ..."
    return first_said(reply, _MODEL, _SOFTWARE, needed="comware", line=line)


# -- the clock -------------------------------------------------------------------------------------


def _span(text: str) -> timedelta:
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _utc_s(
    time: str, shown: str, date: str, *, ahead: timedelta = timedelta(), **told: Any
) -> dict[str, float]:
    """Whether summer time counts is said by the zone's name, and must agree with its dates."""
    if told.get("sign") == "minus":
        ahead = -ahead
    if shown == told.get("summer"):
        ahead += told["summer_ahead"]
    elif shown != told.get("zone", "UTC") or _in_summer(date[:5], **told):
        raise Unfit(f"does not say how far {shown} is from UTC")
    return {"utc_s": utc_s(f"{time} {date}", "%H:%M:%S %m/%d/%Y", ahead)}


def _in_summer(day: str, begin: str = "", end: str = "", **_: Any) -> bool:
    """Whether the date, to the day, is inside what may also begin late in a year."""
    return begin < day < end if begin < end else bool(begin) and (day > begin or day < end)


_DAY = "[0-9]{2}/[0-9]{2}"
_SPAN = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_notation = COMWARE.also(span=ValueKind(_SPAN, _span))
_CLOCK = _notation.record(
    rf"<time:{_SPAN}>(\.[0-9]+)? <shown> [A-Z][a-z]{{2}} <date:{_DAY}/[0-9]{{4}}>",
    _notation.maybe("Time Zone : <zone> <sign:add|minus> <ahead:span>"),
    _notation.line(
        f"Summer Time : <summer> <:{_SPAN}> <begin:{_DAY}> <:{_SPAN}> <end:{_DAY}>"
        " <summer_ahead:span>",
        times=MAYBE,
    ),
    make=_utc_s,
    times=ONCE,
)


def parse_clock(reply: Reply) -> dict[str, float]:
    """`utc_s`, seconds since 1970."""
    return read(reply, _CLOCK, skip=BLANK)[0]


# -- neighbours ------------------------------------------------------------------------------------


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


class ComwareBox(ComwarePart, CliBox):
    """By three displays; a clock in whole seconds, neighbours that are the nearest bridge."""

    version = (line("display", "version"), parse_version)
    clock = (line("display", "clock"), lambda reply: parse_clock(reply)["utc_s"], 1.0)
    heard = (line("display", "lldp", "neighbor-information", "verbose"), parse_lldp_neighbors)
