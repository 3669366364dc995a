"""`show lldp neighbors detail`: who is at the other end of a cable.

A neighbour's own texts may go over several lines and look like anything. So what counts are the
first five lines of a block, in their order, and the number of blocks has to be the one that the
switch says at the end.
"""

import re

from labtests.capabilities.facts import Neighbour, Neighbours
from labtests.drivers.nxos.names import full_name
from labtests.drivers.nxos.session import NxosPart, show
from labtests.drivers.parsing import incomplete, kept, refuse, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_WORDS = ("Chassis id", "Port id", "Local Port id", "Port Description", "System Name")
_TOTAL = re.compile(r"Total entries displayed:\s*([0-9]{1,6})")
_MAC = re.compile(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}")
_NOTHING = ("not advertised", "null")


def parse_lldp_neighbors(reply: Reply) -> tuple[Neighbour, ...]:
    """All of them. A MAC address as port is given by its digits."""
    texts = [text.strip() for text in whole_lines(reply)]
    totals = [int(match[1]) for text in texts if (match := _TOTAL.fullmatch(text))]
    if not totals or _TOTAL.fullmatch(next(t for t in reversed(texts) if t)) is None:
        incomplete(reply, "it does not end with `Total entries displayed`")
    begins = [n for n, text in enumerate(texts) if text.startswith(f"{_WORDS[0]}: ")]
    found = tuple(_neighbour(reply, texts[begin : begin + len(_WORDS)]) for begin in begins)
    if totals != [len(found)]:
        refuse(reply, f"it says {totals[-1]} entries and shows {len(found)}")
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
    port_id = port_id.replace(".", "") if _MAC.fullmatch(port_id) else port_id
    return Neighbour(
        port=full_name(local) or local, name=name, port_id=port_id, port_description=description
    )


class NxosNeighbours(NxosPart, Neighbours):
    """Who is at the other end of each cable."""

    def neighbours(self) -> Asking[tuple[Neighbour, ...]]:
        """By LLDP."""
        return parse_lldp_neighbors((yield from show("lldp", "neighbors", "detail")))
