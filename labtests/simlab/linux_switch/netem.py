"""netem, as far as it is emulated: `limit N loss [random] P%` (tc-netem(8)).

JSON has the names of iproute2's tc/q_netem.c: `loss-random`, with the share that is lost; text as
of its print_qdisc. What it delays, doubles or reorders is not emulated, and its seed is not shown,
as iproute2 6.1 does not.
"""

from typing import Any

from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux_switch.arguments import Words
from labtests.simlab.linux_switch.nodes import DEFAULT_PACKETS, QdiscNode

ALL = 2**32 - 1
MILLION = 1_000_000


def netem_options(made: QdiscNode, words: Words) -> None:
    """Its words. Raises Refused, NotEmulated."""
    made.limit = DEFAULT_PACKETS
    while words:
        word = words.take()
        if word == "limit":
            made.limit = words.number("netem", "limit")
        elif word == "loss":
            text = words.take()
            made.loss = _part(words.take() if text == "random" else text)
        else:
            raise NotEmulated(f"`{word}` of a netem")


def lost_per_million(node: QdiscNode) -> int:
    """What the network is to lose."""
    return round(MILLION * node.loss / ALL)


def shown_netem(node: QdiscNode) -> dict[str, Any]:
    """In JSON, where `%g` leaves six digits."""
    random = {"loss": _digits(node.loss / ALL), "correlation": 0}
    shown: dict[str, Any] = {"limit": node.limit}
    return shown | ({"loss-random": random} if node.loss else {}) | {"ecn": False, "gap": 0}


def netem_words(node: QdiscNode) -> str:
    """In words."""
    lost = f" loss {100 * node.loss / ALL:g}%" if node.loss else ""
    return f"limit {node.limit}{lost}"


def _digits(share: float) -> float:
    return float(f"{share:g}")


def _part(text: str) -> int:
    """A share in percent (lib/utils.c, get_percent)."""
    number = text.removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = -1.0
    if number == text or not 0 <= share <= 1:
        raise Refused(f'Illegal "loss percent": "{text}"\n', 1)
    return round(share * ALL)
