"""Which leaves a path means, and how their values are written (gNMI specification 2.2 to 2.4)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from labtests.protocols import gnmi
from labtests.simlab.streaming.served import Leaf, ServedValue
from labtests.simlab.timeline import NS_PER_S

_MODULE = re.compile(r"[a-z]+(-[a-z0-9]+)+:")  # not `Ethernet0:3`, nor `oid:0x15`
SHORTEST_NS = NS_PER_S
Element = tuple[str, tuple[tuple[str, str], ...]]
Sampled = Sequence[tuple[str, Leaf]]


class Unanswerable(Exception):
    """The request is refused: the name of a gRPC status, and why."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status


@lru_cache(maxsize=65536)
def parsed(text: str) -> tuple[str, tuple[Element, ...], Any]:
    """A path as its origin, its elements, and a message without the origin, which a prefix has."""
    message = gnmi.path(text)
    told = gnmi.pb2.Path(elem=message.elem)
    return message.origin, _elements(message.elem), told


def _elements(elements: Iterable[Any]) -> tuple[Element, ...]:
    """Without the modules' names that may stand before elements of OpenConfig."""
    return tuple((_MODULE.sub("", each.name), _keys(each)) for each in elements)


def _keys(element: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(element.key.items()))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A path that somebody asks for. Without a space it means any."""

    space: str
    elements: tuple[Element, ...]
    apart: frozenset[str] = frozenset()

    @classmethod
    def of(cls, prefix: Any, path: Any, served: ServedValue) -> "Pattern":
        """As prefix and path say it together."""
        named = served.target if prefix.target == served.target else ""
        elements = _elements([*prefix.elem, *path.elem])
        return cls(named or path.origin or prefix.origin, elements, served.apart)

    def leads_to(self, head: str) -> bool:
        """Whether it may mean something below that."""
        return all(map(_fits, self.elements, parsed(head)[1]))

    def means(self, text: str) -> bool:
        """Whether it means this leaf."""
        space, elements, _ = parsed(text)
        if self.space not in ("", space) or len(elements) < len(self.elements):
            return False
        if any(name in self.apart for name, _ in elements[len(self.elements) :]):
            return False
        return all(map(_fits, self.elements, elements))

    def grouped(self, leaves: Sampled, whole: bool) -> Iterable[tuple[Any, Any]]:
        """Paths and what stands there: each leaf, or with `whole` one tree for each place that
        it means; for names with a wildcard one tree by what they stand for."""
        if not whole:
            for text, leaf in leaves:
                yield parsed(text)[2], leaf
            return
        places: dict[tuple[Element, ...], dict[str, Any]] = {}
        for text, leaf in leaves:
            _, elements, _ = parsed(text)
            place, rest = self._place(elements)
            if not rest:
                yield parsed(text)[2], leaf
            else:
                _put(places.setdefault(place, {}), rest, leaf)
        for place, tree in places.items():
            written = [gnmi.pb2.PathElem(name=name, key=dict(keys)) for name, keys in place]
            yield gnmi.pb2.Path(elem=written), tree

    def _place(
        self, elements: tuple[Element, ...]
    ) -> tuple[tuple[Element, ...], Sequence[Element]]:
        depth = len(self.elements)
        wild = next((i for i, (name, _) in enumerate(self.elements) if "*" in name), None)
        if wild is None:
            return elements[:depth], elements[depth:]
        below = elements[depth:] if wild + 1 < depth < len(elements) else elements[wild:]
        return self.elements, below


def _fits(asked: Element, found: Element) -> bool:
    name, keys = asked
    if name != found[0] and not ("*" in name and fnmatchcase(found[0], name)):
        return False
    held = dict(found[1])
    return all(value in ("*", held.get(key)) for key, value in keys)


def _put(tree: dict[str, Any], elements: Sequence[Element], leaf: Leaf) -> None:
    """Into a tree as JSON has it: an element with keys is one of a list, and has them as fields."""
    (name, keys), rest = elements[0], elements[1:]
    if not rest:
        tree[name] = leaf
    elif not keys:
        _put(tree.setdefault(name, {}), rest, leaf)
    else:
        entries = tree.setdefault(name, [])
        mine = next((e for e in entries if dict(keys).items() <= e.items()), None)
        if mine is None:
            entries.append(mine := dict(keys))
        _put(mine, rest, leaf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """One of a list: what, and when."""

    pattern: Pattern
    interval_ns: int
    changes: bool  # ON_CHANGE, or a sample without what did not change
    events: bool  # what is there when it happens
    heartbeat_ns: int


def read(listed: Any, served: ServedValue) -> tuple[Subscription, ...]:
    """What a SubscriptionList asks for. Raises Unanswerable."""
    if listed.encoding not in gnmi.ENCODINGS.values():
        raise Unanswerable("UNIMPLEMENTED", f"encoding {listed.encoding} is not supported")
    if not listed.subscription:
        raise Unanswerable("INVALID_ARGUMENT", "no path is subscribed to")
    return tuple(_one(each, listed, served) for each in listed.subscription)


def _one(each: Any, listed: Any, served: ServedValue) -> Subscription:
    interval_ns = each.sample_interval or SHORTEST_NS
    if interval_ns < SHORTEST_NS and served.refuses:
        raise Unanswerable(
            "INVALID_ARGUMENT", f"invalid interval: {interval_ns} ns. It cannot be less than 1s"
        )
    sampled = each.mode != gnmi.ON_CHANGE
    pattern = Pattern.of(listed.prefix, each.path, served)
    events = any(name in served.events for name, _ in pattern.elements)
    return Subscription(
        pattern=pattern,
        interval_ns=max(interval_ns, SHORTEST_NS) if sampled else SHORTEST_NS,
        changes=not events and (not sampled or each.suppress_redundant),
        events=events,
        heartbeat_ns=each.heartbeat_interval,
    )


def written(pattern: Pattern, leaves: Sampled, encoding: int, whole: bool) -> list[Any]:
    """Updates of a notification."""
    trees = whole and encoding != gnmi.pb2.PROTO
    return [
        gnmi.pb2.Update(path=path, val=gnmi.typed(held, encoding))
        for path, held in pattern.grouped(leaves, trees)
    ]


def changed(leaves: Sampled, before: Mapping[str, Leaf]) -> Sampled:
    """Those that are not as they were."""
    return [(text, leaf) for text, leaf in leaves if before.get(text) != leaf]
