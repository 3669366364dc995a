"""`tc filter add ... u32`: filters by the DSCP byte, as a port's boot script makes them."""

from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux_switch.arguments import Words
from labtests.simlab.linux_switch.nodes import FilterNode, PortTree
from labtests.simlab.linux_switch.quantities import read_class

_SHIFTS = {("ip", "dsfield"): 16, ("ip", "tos"): 16, ("ip6", "priority"): 20}
"""Where in the first word of the packet the byte is (iproute2: f_u32.c)."""


def add_filter(tree: PortTree, words: Words) -> None:
    """One more. Raises Refused, NotEmulated."""
    protocol, pref, parent = "", 0, 0
    while words:
        word = words.take()
        if word == "parent":
            parent = words.handle()
        elif word == "protocol":
            protocol = words.take()
        elif word in ("prio", "pref", "preference"):
            pref = words.number("u32", "prio")
        elif word == "u32":
            break
        else:
            raise NotEmulated(f"a filter with `{word}`")
    tree.filters.append(_u32(words, protocol, pref, parent))


def _u32(words: Words, protocol: str, pref: int, parent: int) -> FilterNode:
    value = mask = 0
    to = None
    while words:
        word = words.take()
        if word == "match":
            shift = _SHIFTS.get((words.take(), words.take()))
            if shift is None:
                raise NotEmulated("a u32 filter on anything but the DSCP byte")
            value, mask = (words.number("u32", "match") << shift for _ in range(2))
        elif word in ("flowid", "classid"):
            to = read_class(words.take())
        else:
            raise NotEmulated(f"a u32 filter with `{word}`")
    if to is None or not mask:
        raise Refused('Illegal "match"\n', 1)
    return FilterNode(
        parent=parent, protocol=protocol, pref=pref, value=value & mask, mask=mask, to=to
    )
