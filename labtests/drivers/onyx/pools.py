"""Traffic pools: the parts of the switch's packet memory, each for some priorities.

All of them stand in the running configuration, of which only lines with the word `pool` are asked
for, and its first and last line. That `include` takes alternatives is from memory; where it does
not, the word alone is asked for, twice, which has to come to the same.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from labtests.capabilities.records import OWN_POOL, TrafficPool, TrafficPools, pools_conflict
from labtests.capabilities.settings import TRAFFIC_POOLS, Commands
from labtests.core.output import quoted_excerpt
from labtests.drivers.onyx.session import CLI, OnyxSetting, line
from labtests.drivers.parsing import READ_AGAIN, incomplete, refuse, whole_lines
from labtests.transport.asking import Asking, ask, ask_each
from labtests.transport.commands import CliLine, cli
from labtests.transport.protocol import Reply

_FILTER = re.compile("[a-z|-]+")
_WHOLE = cli(_FILTER, "show", "running-config", "|", "include", "pool|prefix-modes")
_PLAIN = (
    cli(_FILTER, "show", "running-config", "|", "include", "pool"),
    cli(_FILTER, "show", "run", "|", "include", "pool"),
)
"""In two forms, for nothing is asked twice in one reading."""
_MARK = re.compile("(?:no )?cli default prefix-modes enable")
_OURS = re.compile("(?:no )?traffic pool(?: |$)")
_POOL = re.compile(
    r"traffic pool (?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,19})"
    r"(?: type (?P<type>lossless|lossy|lossy-mc)"
    r"| memory percent (?P<percent>[0-9]{1,3}(?:\.[0-9]{1,2})?)"
    r"| map switch-priority (?P<priorities>[0-7](?: [0-7])*))?"
)
_NONE: frozenset[int] = frozenset()


def parse_pools(reply: Reply) -> TrafficPools:
    """All of an answer that has the first and the last line of the configuration, too."""
    texts = _texts(reply)
    marks = [_MARK.fullmatch(text) is not None for text in texts]
    if not (any(marks) and marks[0] and marks[-1] and sum(marks) == 2):
        incomplete(reply, "the configuration does not begin and end with its prefix modes")
    return _pools(reply, texts[1:-1])


def _texts(reply: Reply) -> list[str]:
    return [text.strip() for text in whole_lines(reply) if text.strip()]


def _pools(reply: Reply, texts: Iterable[str]) -> TrafficPools:
    """What these lines say, of which those that are about something else are not kept."""
    found: dict[str, TrafficPool] = {}
    for text in texts:
        told = _POOL.fullmatch(text)
        if told is None and (_OURS.match(text) or "pool" not in text):
            refuse(reply, f"the line {quoted_excerpt(text)} is unrecognised")
        if told is not None:
            empty = TrafficPool(name=told["name"], type=None, memory_percent=None, priorities=_NONE)
            found[told["name"]] = _with(reply, found.get(told["name"], empty), told)
    pools = tuple(found[name] for name in sorted(found))
    if problem := pools_conflict(pools):
        refuse(reply, problem, READ_AGAIN)
    return pools


def _with(reply: Reply, pool: TrafficPool, told: re.Match[str]) -> TrafficPool:
    """The pool, and what one more line says of it."""
    new = frozenset(map(int, (told["priorities"] or "").split()))
    percent = None if told["percent"] is None else float(told["percent"])
    twice = (told["type"] and pool.type) or (percent and pool.memory_percent)
    of_type: Any = told["type"] or pool.type
    if twice or new & pool.priorities or not (percent is None or 0 < percent <= 100):
        refuse(reply, f"the line {quoted_excerpt(told[0])} comes twice, or cannot be", READ_AGAIN)
    return replace(
        pool,
        type=of_type,
        memory_percent=f"{percent:.2f}" if percent else pool.memory_percent,
        priorities=pool.priorities | new,
    )


def pools_told() -> Asking[TrafficPools]:
    """All pools of the switch, or a refusal."""
    reply = yield from ask(_WHOLE)
    if CLI.refusals.is_refusal(reply) or all("pool" in text for text in _texts(reply)):
        return (yield from _told_twice())
    return parse_pools(reply)


def _told_twice() -> Asking[TrafficPools]:
    """The same of a switch that shows no end of its configuration."""
    first, second = yield from ask_each(*_PLAIN)
    CLI.refusals.expect_answer(first)
    if first.text != second.text:
        incomplete(second, "it is not what the same question was answered in its other form")
    return _pools(first, _texts(first))


class OnyxTrafficPools(OnyxSetting[TrafficPools]):
    """All pools. One that is to lose something is taken away, and made anew."""

    kind = TRAFFIC_POOLS
    wide = True

    def read(self, port: str) -> Asking[TrafficPools]:
        """As configured."""
        return pools_told()

    def commands(
        self, port: str, earlier: TrafficPools, wanted: TrafficPools, around: None = None
    ) -> Commands:
        """First what gives memory and priorities back, last what takes most."""
        if problem := pools_conflict(wanted):
            raise self.reject("traffic pool", problem, "give each priority and percent away once")
        before, after = ({pool.name: pool for pool in pools} for pools in (earlier, wanted))
        gone = [name for name, pool in before.items() if _loses(pool, after.get(name))]
        left = {name: pool for name, pool in before.items() if name not in gone}

        def more(pool: TrafficPool) -> int:
            there = left.get(pool.name)
            return pool.hundredths - (there.hundredths if there else 0)

        lines = [line("no", "traffic", "pool", name) for name in gone]
        for pool in sorted(wanted, key=more):
            lines += _made(pool, left.get(pool.name))
        return tuple(lines)


def _loses(before: TrafficPool, after: TrafficPool | None) -> bool:
    """Whether something of a pool is to go for which no line is known."""
    if after is None or before.priorities - after.priorities:
        return True
    return (before.type is not None and after.type is None) or (
        before.memory_percent is not None and after.memory_percent is None
    )


def _made(pool: TrafficPool, before: TrafficPool | None) -> Iterator[CliLine]:
    """The lines that lead there from what there is."""
    at = ("traffic", "pool", pool.name)
    told = before or TrafficPool(name=pool.name, type=None, memory_percent=None, priorities=_NONE)
    if before is None and pool == told:
        yield line(*at)
    if pool.type is not None and pool.type != told.type:
        yield line(*at, "type", pool.type)
    if pool.memory_percent is not None and pool.memory_percent != told.memory_percent:
        yield line(*at, "memory", "percent", pool.memory_percent)
    if new := sorted(pool.priorities - told.priorities):
        yield line(*at, "map", "switch-priority", *new)


def pools_in_the_way(pools: TrafficPools) -> Iterator[str]:
    """What pools of somebody do to PFC, whatever a run sets."""
    for pool in pools:
        if pool.name == OWN_POOL or not pool.priorities:
            continue
        held = " and ".join(map(str, sorted(pool.priorities)))
        where = f"traffic pool {pool.name} ({pool.type or 'lossy'}, priority {held})"
        way = f"take it away for the run: `no traffic pool {pool.name}`"
        if pool.type == "lossless":
            yield f"{where}: flow control is on there, whatever PFC of a port is told; {way}"
        else:
            yield f"{where}: whether PFC works for what is in a lossy pool is not known; {way}"
