"""Traffic by name: each pattern makes the flows of a case from the hosts that its network has.

Hosts are taken switch by switch in the order of the case; the first switch is that of the first
host. `local` senders are plugged into the target's switch, `remote` ones into the others, in turn;
`mixed` takes both in turn. A *trunk* is a link between two switches.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import cycle, islice
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from labtests.core.errors import InventoryError
from labtests.inventory.document import read
from labtests.inventory.form import checked
from labtests.network.cases.host_ports import with_host_ports
from labtests.network.paths import FIRST_SOURCE_PORT, SOURCE_PORTS

Many = Annotated[int, Field(ge=1, le=1024)]
Pair = tuple[str, str]
Tree = dict[str, Any]
DATA_PRIORITY, ACK_PRIORITY, TCP_PRIORITY = 3, 6, 0
TX_DEPTH = 128
OF_ITS_OWN = ("workloads", "flows_from", "events", "storms", "slow_receivers")
"""What happens in a case, beside its flows: not beside a pattern."""
LEAD_US = 0.7
"""Between the starts of two flows: real ones do not start in the same nanosecond."""


class PatternPart(BaseModel):
    """One pattern, as patterns.yaml has it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)

    kind: Literal["incast", "burst", "victim", "all-to-all", "ring", "permutation"]
    senders: Many = 1
    targets: Many = 1
    hosts: Many = 2
    placed: Literal["local", "remote", "mixed"] = Field(default="mixed", alias="from")
    both_ways: bool = False
    message_bytes: Annotated[int, Field(ge=1)] = 65536
    mtu_bytes: Annotated[int, Field(ge=256, le=4096)] = 1024
    qps: Many = 1
    burst_bytes: Annotated[int, Field(ge=1)] = 65536
    period_us: Annotated[float, Field(gt=0)] | int = 1000.0
    tcp_flows: Annotated[int, Field(ge=0)] = 0
    trunk_m: list[int] = []
    failed_trunks: Annotated[int, Field(ge=0)] = 0


class UnfitPattern(ValueError):
    """A network is too small for a pattern."""


@cache
def catalogue() -> Mapping[str, PatternPart]:
    """All patterns that come with labtests, by name."""
    file = resources.files("labtests.study") / "patterns.yaml"
    document = read("patterns.yaml", file.read_bytes())
    mistakes, found = document.mistakes, {}
    assert isinstance(document.tree, dict)
    for name, tree in document.tree.items():
        part = checked(tree, PatternPart, f"pattern {name}", mistakes)
        if part is not None:
            found[str(name)] = part
    if lines := mistakes.lines():
        raise InventoryError(lines)
    return found


def fitting(tree: Tree) -> tuple[list[str], dict[str, str]]:
    """The patterns that a network has room for, and why not of each other one."""
    fit, unfit = [], {}
    for name, pattern in catalogue().items():
        try:
            applied(tree, pattern)
            fit.append(name)
        except UnfitPattern as error:
            unfit[name] = f"{name} does not fit: {error}"
    return fit, unfit


def applied(tree: Tree, pattern: PatternPart) -> Tree:
    """The case with this traffic instead of its own. Raises UnfitPattern."""
    tree = with_host_ports(tree)
    links = _links(tree, pattern)
    pairs = _pairs(_plugged(tree), pattern)
    flows = list(_with_ports([*_flows(tree, pairs, pattern), *_tcp(pairs, pattern)]))
    kept = {key: value for key, value in tree.items() if key not in OF_ITS_OWN}
    return {**kept, "links": links, "flows": flows, "sampling": {"queues": []}}


def _plugged(tree: Tree) -> list[list[str]]:
    """The hosts of each switch that has some, in the order of the case."""
    switch_of: dict[str, str] = {}
    for link in tree["links"]:
        one, other = link["between"]
        for host, peer in ((one, other), (other, one)):
            if host in tree["hosts"]:
                switch_of[host] = peer
    found: dict[str, list[str]] = {}
    for host in tree["hosts"]:
        found.setdefault(switch_of[host], []).append(host)
    return list(found.values())


def _in_turn(groups: list[list[str]]) -> Iterator[str]:
    """One host of each group, then the next of each."""
    waiting = deque(iter(group) for group in groups)
    while waiting:
        group = waiting.popleft()
        host = next(group, None)
        if host is not None:
            yield host
            waiting.append(group)


def _taken(hosts: Iterator[str], many: int, what: str) -> list[str]:
    found = list(islice(hosts, many))
    if len(found) < many:
        raise UnfitPattern(f"it needs {many} {what}, the network has {len(found)}")
    return found


def _pairs(groups: list[list[str]], pattern: PatternPart) -> list[Pair]:
    """Who sends to whom."""
    if pattern.kind in ("incast", "burst", "victim"):
        return _incast(groups, pattern)
    hosts = _taken(_in_turn(groups), pattern.hosts, "hosts")
    if pattern.kind == "all-to-all":
        return [(one, other) for one in hosts for other in hosts if one != other]
    ahead = 1 if pattern.kind == "ring" else max(1, len(hosts) // 2 - 1)
    pairs = [(host, hosts[(n + ahead) % len(hosts)]) for n, host in enumerate(hosts)]
    return pairs + [(b, a) for a, b in pairs] if pattern.both_ways else pairs


def _incast(groups: list[list[str]], pattern: PatternPart) -> list[Pair]:
    """Senders of different targets differ as long as there are hosts. A victim shares its way with
    senders of an incast, and has a target of its own."""
    extra = pattern.kind == "victim"
    targets = _taken(iter(groups[0]), pattern.targets + extra, "targets on a switch")
    near = [host for host in groups[0] if host not in targets]
    far = groups[1:]
    pools = {"local": [near], "remote": far, "mixed": [near, list(_in_turn(far))]}
    pool = list(_in_turn(pools[pattern.placed]))
    if len(pool) < pattern.senders + extra:
        raise UnfitPattern(
            f"it needs {pattern.senders + extra} {pattern.placed} senders, not {len(pool)}"
        )
    around = cycle(pool)
    pairs = [(next(around), t) for t in targets[: pattern.targets] for _ in range(pattern.senders)]
    return [*pairs, (next(around), targets[-1])] if extra else pairs


def _flows(tree: Tree, pairs: list[Pair], pattern: PatternPart) -> Iterator[Tree]:
    for number, (source, target) in enumerate(pairs):
        flow = {
            "source": source,
            "target": target,
            "priority": DATA_PRIORITY,
            "control_priority": ACK_PRIORITY,
            "message_bytes": pattern.message_bytes,
            "mtu_bytes": pattern.mtu_bytes,
            "qps": pattern.qps,
            "tx_depth": TX_DEPTH,
        }
        if pattern.kind != "burst":
            yield {**flow, "start_us": number * LEAD_US}
            continue
        ends_us = 1000.0 * float(tree["duration_ms"])
        start_us = 0.0
        flow["message_bytes"] = min(pattern.burst_bytes, pattern.message_bytes)
        while start_us + pattern.period_us < ends_us:  # the last one has a period to end in
            yield {**flow, "start_us": start_us, "size_bytes": pattern.burst_bytes}
            start_us += pattern.period_us


def _with_ports(flows: list[Tree]) -> Iterator[Tree]:
    """Each queue pair has a source port of its own, which is known: so is its way (carrying.py)."""
    used = 0
    for flow in flows:
        yield {**flow, "source_port": FIRST_SOURCE_PORT + used % SOURCE_PORTS}
        used += flow.get("qps", 1)


def _tcp(pairs: list[Pair], pattern: PatternPart) -> Iterator[Tree]:
    """Background: TCP between the same hosts, in a lossy class."""
    for number, (source, target) in enumerate(islice(cycle(pairs), pattern.tcp_flows)):
        flow = {"source": source, "target": target, "kind": "tcp", "priority": TCP_PRIORITY}
        yield {**flow, "start_us": number * LEAD_US}


def _links(tree: Tree, pattern: PatternPart) -> list[Tree]:
    """The cables: trunks as long as the pattern has them, without those of the first host's switch
    that have failed (the last ones listed; one is left, and no switch is cut off)."""
    first = _first_switch(tree)
    trunks = [n for n, link in enumerate(tree["links"]) if _is_trunk(tree, link)]
    own = [n for n in trunks if first in tree["links"][n]["between"]]
    if (pattern.trunk_m or pattern.failed_trunks or pattern.placed == "remote") and not own:
        raise UnfitPattern("the network has no link between switches")
    if pattern.failed_trunks >= len(own) and pattern.failed_trunks:
        raise UnfitPattern(f"{pattern.failed_trunks} of {len(own)} trunks of {first} cannot fail")
    dead = set(own[len(own) - pattern.failed_trunks :]) if pattern.failed_trunks else set()
    lengths = dict(zip(trunks, cycle(pattern.trunk_m), strict=False)) if pattern.trunk_m else {}
    found = []
    for number, link in enumerate(tree["links"]):
        if number in lengths:
            rest = {k: v for k, v in link.items() if k != "delay_us"}
            link = {**rest, "length_m": float(lengths[number])}
        if number not in dead:
            found.append(link)
    _expect_joined(tree, found)
    return found


def _first_switch(tree: Tree) -> str:
    host = next(iter(tree["hosts"]))
    ends = next(link["between"] for link in tree["links"] if host in link["between"])
    return str(ends[0] if ends[1] == host else ends[1])


def _is_trunk(tree: Tree, link: Tree) -> bool:
    return all(name in tree["switches"] for name in link["between"])


def _expect_joined(tree: Tree, links: list[Tree]) -> None:
    """Each host still has a way to each other."""
    near: dict[str, set[str]] = {}
    for link in links:
        one, other = link["between"]
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    reached, frontier = set(), [next(iter(tree["hosts"]))]
    while frontier:
        name = frontier.pop()
        if name not in reached:
            reached.add(name)
            frontier += near.get(name, ())
    lost = [host for host in tree["hosts"] if host not in reached]
    if lost:
        raise UnfitPattern(f"{lost[0]} would be cut off")


def kinds() -> Counter[str]:
    """How many patterns there are of each kind."""
    return Counter(pattern.kind for pattern in catalogue().values())
