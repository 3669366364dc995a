"""What the switch is and runs (`show version`), its clock, and who is at the other end of a cable
(`show lldp neighbors detail`).

A clock in a zone other than UTC is refused: how far it is away is not shown. A neighbour's own
texts may go over several lines and look like anything. So what counts are the first five lines of a
block, in their order, and the number of blocks has to be the one that the switch says at the end.
"""

import re

from labtests.capabilities.facts import Neighbour
from labtests.drivers.displays import ONCE, CliBox, Unfit, first_said, read, utc_s
from labtests.drivers.displays.box import expect_total
from labtests.drivers.nxos.session import NXOS, NxosPart, full_name, line
from labtests.drivers.parsing import incomplete, kept, mac_digits, refuse, whole_lines
from labtests.transport.protocol import Reply

_SOFTWARE = re.compile(r"^\s*(?:NXOS|system):\s+version (?P<nxos>\S+)")
_MODEL = re.compile(r"^\s*cisco (?P<model>\S.*?) [Cc]hassis\b")


def parse_version(reply: Reply) -> dict[str, str]:
    """`model` and `nxos`; "" where the switch does not say the first. The rest is licences, images
    and times, and is not read."""
    return first_said(reply, _MODEL, _SOFTWARE, needed="nxos", line="NXOS: version ...")


# -- the clock -------------------------------------------------------------------------------------


def local_s(time: str, fraction: str, date: str, zone: str = "") -> float:
    """Seconds since 1970 of its own zone, whichever that is."""
    return utc_s(f"{time} {date}", "%H:%M:%S %b %d %Y") + float(f"0.{fraction}")


def _utc_s(zone: str, **told: str) -> float:
    if zone not in ("UTC", "GMT"):
        raise Unfit(f"does not say how far {zone} is from UTC", "set `clock timezone UTC 0 0`")
    return local_s(**told)


BESIDE = r"(Time source is \w+|Warning: No NTP .*)"
"""What may stand before and behind it, and is not read (a published session; a public tool)."""
SHOWN = NXOS.record(
    r"[.*]?<time:[0-9]{2}:[0-9]{2}:[0-9]{2}>\.<fraction:[0-9]{1,6}> <zone> "
    "[A-Z][a-z]{2} <date:[A-Z][a-z]{2} [0-9]{1,2} [0-9]{4}>",
    make=_utc_s,
    times=ONCE,
)


def parse_clock(reply: Reply) -> tuple[float, ...]:
    """Seconds since 1970."""
    return read(reply, SHOWN, NXOS.many(BESIDE))


# -- neighbours ------------------------------------------------------------------------------------


_WORDS = ("Chassis id", "Port id", "Local Port id", "Port Description", "System Name")
_NOTHING = ("not advertised", "null")


def parse_lldp_neighbors(reply: Reply) -> tuple[Neighbour, ...]:
    """All of them. A MAC address as port is given by its digits."""
    texts = [text.strip() for text in whole_lines(reply)]
    begins = [n for n, text in enumerate(texts) if text.startswith(f"{_WORDS[0]}: ")]
    found = tuple(_neighbour(reply, texts[begin : begin + len(_WORDS)]) for begin in begins)
    expect_total(reply, len(found))
    if len({each.port for each in found}) != len(found):
        refuse(reply, "a port has two neighbours")
    return found


def _neighbour(reply: Reply, texts: list[str]) -> Neighbour:
    told = []
    for words, text in zip(_WORDS, texts, strict=False):
        name, colon, value = text.partition(":")
        if name != words or not colon:
            refuse(reply, f"{text!r} stands where `{words}:` should")
        told.append("" if value.strip() in _NOTHING else kept(reply, value.strip(), words))
    if len(told) != len(_WORDS):
        incomplete(reply, f"the neighbour {texts[0]!r} has no `{_WORDS[len(told)]}`")
    _, port_id, local, description, name = told
    port_id = mac_digits(port_id) or port_id
    return Neighbour(
        port=full_name(local) or local, name=name, port_id=port_id, port_description=description
    )


class NxosBox(NxosPart, CliBox):
    """By three displays; a clock to the millisecond."""

    version = (line("show", "version"), parse_version)
    clock = (line("show", "clock"), lambda reply: parse_clock(reply)[0], 0.001)
    heard = (line("show", "lldp", "neighbors", "detail"), parse_lldp_neighbors)
