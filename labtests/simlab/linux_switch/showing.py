"""What `tc ... show` prints: forms of iproute2 6.1, as recorded with Linux 6.18 and 6.1."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from labtests.simlab.linux.options import NotEmulated
from labtests.simlab.linux_switch.counting import QdiscCounts
from labtests.simlab.linux_switch.netem import netem_words, shown_netem
from labtests.simlab.linux_switch.nodes import (
    ClassNode,
    FilterNode,
    PortTree,
    QdiscNode,
    listed_classes,
)
from labtests.simlab.linux_switch.quantities import Id, rate_words, shown_burst, size_words

_FIRST_TABLE, _FIRST_ORDER = 0x800, 0x800
_TOP_LEVEL = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The options before the object: -s, -d, -j, -p."""

    statistics: bool = False
    details: bool = False
    json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQdisc:
    """A qdisc to be shown. `device` is "" when one device was asked for."""

    qdisc: QdiscNode
    counts: QdiscCounts
    device: str
    ends: int  # references to a root qdisc: one, and each transmit queue


# -- qdiscs ----------------------------------------------------------------------------------------


def qdiscs(rows: Sequence[ShownQdisc], form: Form) -> str:
    """All of them."""
    if form.json:
        shown = [_row(row, form) for row in rows]
        return json.dumps(shown, separators=(",", ":")) + "\n"
    return "".join(_lines(row, form) for row in rows)


def _row(row: ShownQdisc, form: Form) -> dict[str, Any]:
    node = row.qdisc
    shown: dict[str, Any] = {"kind": node.kind, "handle": f"{node.handle:x}:"}
    shown |= {"dev": row.device} if row.device else {}
    if node.parent is None:
        shown |= {"root": True, "refcnt": row.ends}
    else:
        shown["parent"] = str(node.parent)
    shown["options"] = _options(node, form)
    return shown | (_statistics(node, row.counts) if form.statistics else {})


def _options(node: QdiscNode, form: Form) -> dict[str, Any]:
    if node.kind == "htb":
        version = {"ver": "3.17"} if form.details else {}
        default = {"r2q": 10, "default": f"{node.default_minor:#x}", "direct_packets_stat": 0}
        return default | version | {"direct_qlen": 1000}
    if node.kind == "noqueue":
        return {}
    if node.kind == "netem":
        return shown_netem(node)
    if node.red is None:
        return {"limit": node.limit}
    red = node.red
    shown: dict[str, Any] = {"limit": red.limit, "min": red.min, "max": red.max, "ecn": red.ecn}
    shown |= dict.fromkeys(("harddrop", "adaptive", "nodrop"), False)
    if form.details:
        shown |= {"ewma": red.ewma, "probability": red.probability, "Scell_log": red.cell_log}
    return shown


def _statistics(node: QdiscNode, counts: QdiscCounts) -> dict[str, int]:
    shown = {
        "bytes": counts.bytes,
        "packets": counts.packets,
        "drops": counts.drops,
        "overlimits": counts.overlimits,
        "requeues": 0,
        "backlog": counts.backlog_bytes,
        "qlen": counts.backlog_packets,
    }
    if node.red is None:
        return shown
    own = {"marked": counts.marked, "early": counts.early, "pdrop": counts.full, "other": 0}
    return shown | own


def _lines(row: ShownQdisc, form: Form) -> str:
    node, counts = row.qdisc, row.counts
    device = f"dev {row.device} " if row.device else ""
    place = f"root refcnt {row.ends}" if node.parent is None else f"parent {node.parent}"
    lines = [f"qdisc {node.kind} {node.handle:x}: {device}{place} {_option_words(node, form)}"]
    if form.statistics:
        lines += [
            f" Sent {counts.bytes} bytes {counts.packets} pkt "
            f"(dropped {counts.drops}, overlimits {counts.overlimits} requeues 0) ",
            f" backlog {size_words(counts.backlog_bytes)} {counts.backlog_packets}p requeues 0",
        ]
        if node.red is not None:
            lines.append(
                f"  marked {counts.marked} early {counts.early} pdrop {counts.full} other 0 "
            )
    return "".join(f"{line}\n" for line in lines)


def _option_words(node: QdiscNode, form: Form) -> str:
    """The same as JSON has, in words; RED's end with a blank."""
    if node.kind == "netem":
        return netem_words(node)
    shown = []
    for name, value in _options(node, form).items():
        if value is False:
            continue
        if name in ("limit", "min", "max"):
            value = f"{value}p" if node.kind == "pfifo" else size_words(value)
        elif name == "probability":
            value = f"{value:g}"
        shown.append(name if value is True else f"{name} {value}")
    return " ".join([*shown, ""] if node.red is not None else shown)


# -- classes ---------------------------------------------------------------------------------------


def classes(tree: PortTree, form: Form) -> str:
    """Those of htb, then the one of each RED. iproute2 6.1 has no JSON of them and prints text."""
    if form.statistics:
        raise NotEmulated("statistics of classes (lended, borrowed, tokens)")
    lines = [_class_line(tree, each, form) for each in listed_classes(tree.classes.values())]
    reds = (each for each in tree.qdiscs if each.red is not None)
    lines += [_class_of_red(tree, each) for each in reds]
    return "".join(f"{line}\n" for line in lines)


def _class_line(tree: PortTree, each: ClassNode, form: Form) -> str:
    words = [f"class htb {each.id} {'root' if each.parent is None else f'parent {each.parent}'}"]
    leaf = tree.below(each.id)
    inner = tree.is_inner(each.id)
    if leaf is not None and leaf.handle:
        words.append(f"leaf {leaf.handle:x}:")
    if not inner:
        words.append(f"prio {each.prio}")
        words += [f"quantum {each.quantum}"] if form.details else []
    words.append(f"rate {rate_words(each.rate)} ceil {rate_words(each.ceil)}")
    bursts = [size_words(shown_burst(each.rate, each.burst))]
    bursts.append(size_words(shown_burst(each.ceil, each.cburst)))
    if form.details:
        more = "/1 mpu 0b"
        words.append(f"linklayer ethernet burst {bursts[0]}{more} cburst {bursts[1]}{more}")
        words.append(f"level {_TOP_LEVEL if inner else 0}")
    else:
        words.append(f"burst {bursts[0]} cburst {bursts[1]}")
    return " ".join(words) + " "


def _class_of_red(tree: PortTree, red: QdiscNode) -> str:
    below = tree.below(Id(red.handle, 1))
    leaf = f"leaf {below.handle:x}: " if below is not None and below.handle else ""
    return f"class red {red.handle:x}:1 parent {red.handle:x}: {leaf}"


# -- filters ---------------------------------------------------------------------------------------


def filters(found: Iterable[FilterNode], *, parent: int | None) -> str:
    """By preference, each with its table; `parent` None: of all, and named in each line."""
    chosen = [each for each in found if parent in (None, each.parent)]
    groups: dict[tuple[int, str, int], list[FilterNode]] = {}
    for each in sorted(chosen, key=lambda each: each.pref):
        groups.setdefault((each.pref, each.protocol, each.parent), []).append(each)
    text = ""
    for number, ((pref, protocol, owner), group) in enumerate(groups.items()):
        where = f"parent {owner:x}: " if parent is None else ""
        head = f"filter {where}protocol {protocol} pref {pref} u32 chain 0 "
        text += f"{head}\n" + _table(head, _FIRST_TABLE + number, group)
    return text


def _table(head: str, table: int, group: Sequence[FilterNode]) -> str:
    lines = [f"{head}fh {table:x}: ht divisor 1 "]
    for number, each in enumerate(group):
        node = _FIRST_ORDER + number
        lines += [
            f"{head}fh {table:x}::{node:x} order {node} key ht {table:x} bkt 0 "
            f"*flowid {each.to} not_in_hw ",
            f"  match {each.value:08x}/{each.mask:08x} at 0",
        ]
    return "".join(f"{line}\n" for line in lines)
