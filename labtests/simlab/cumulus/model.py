"""NVUE's tree: what may be set where, what a switch has by itself, and what both come to.

The words are those of `nv list-commands`. What a switch has by itself is recorded: installed.json
is tests/transcripts/cumulus/qos.installed. What RoCE mode makes of it is a table of the user guide.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product, takewhile
from typing import Any

from labtests.simlab.data import beside

Tree = dict[str, Any]
Place = tuple[str, ...]
DEFAULT = "default-global"
FEATURES = ("pfc", "congestion-control", "egress-scheduler", "mapping")
MAP = "egress-queue-mapping"
QUEUES = tuple(map(str, range(8)))
_LINES: Mapping[str, str] = beside(__file__, "lines")
"""What may be set, and to what: a range, or one of some words; a member has no value."""
RULES = tuple((tuple(line.split()), leaf) for line, leaf in _LINES.items())


@dataclass(frozen=True, slots=True)
class NoSuchPort(Exception):
    """An interface that there is not."""

    name: str


def _values(step: str, word: str, ports: Sequence[str]) -> list[str]:
    """What a word stands for at a place of a line; nothing where it does not fit."""
    if step == "<profile>":
        return [word] if re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,63}", word) else []
    if step == "<port>":
        return [each for part in word.split(",") for each in _ports(part, ports)]
    if not step.startswith("<"):
        return [word] if word in step.split("|") else []
    numbers: list[str] = []
    for part in word.split(","):
        match = re.fullmatch("([0-9]{1,2})(?:-([0-9]{1,2}))?", part)
        if match is None or int(match[2] or match[1]) > int(step[1:-1]):
            return []
        numbers += map(str, range(int(match[1]), int(match[2] or match[1]) + 1))
    return numbers


def _ports(part: str, ports: Sequence[str]) -> list[str]:
    """`swp1-4` is four."""
    match = re.fullmatch("([a-z]+)([0-9]{1,3})-([0-9]{1,3})", part)
    names = [part] if match is None else [
        f"{match[1]}{n}" for n in range(int(match[2]), int(match[3]) + 1)
    ]  # fmt: skip
    for name in names:
        if name not in ports:
            raise NoSuchPort(name)
    return names


def places(words: Place, ports: Sequence[str], *, to_set: bool) -> list[tuple[Place, str | None]]:
    """The places that a line is about, and the value that it gives them: None for a member. To
    unset, a line may end early. No places: it is no line of NVUE. Raises NoSuchPort."""
    for steps, leaf in RULES:
        wanted = len(steps) + bool(leaf)
        if (to_set and len(words) != wanted) or (not to_set and not 1 < len(words) <= wanted):
            continue
        pairs = list(zip(steps, words, strict=False))
        found = list(takewhile(bool, (_values(step, word, ports) for step, word in pairs)))
        if len(found) == len(pairs):
            value = words[-1] if leaf and to_set else None
            return [(path, value) for path in product(*found)]
    return []


def put(tree: Tree, path: Place, value: str | None) -> None:
    """Set it. Of a link's states there is one."""
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
        if name == "state":
            tree.clear()
    if value is None:
        tree.setdefault(path[-1], {})
    else:
        tree[path[-1]] = int(value) if value.isdecimal() and value.isascii() else value


def take(tree: Tree, path: Place) -> None:
    """Unset it, with what is under it, and what would be left empty above."""
    *above, last = path
    way = [tree]
    for name in above:
        if not isinstance(way[-1].get(name), dict):
            return
        way.append(way[-1][name])
    way[-1].pop(last, None)
    for parent, name in reversed(list(zip(way, above, strict=False))):
        if not parent[name]:
            del parent[name]


def flat(tree: Mapping[str, Any], path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """All places and their values; {} for a member."""
    for name, each in tree.items():
        if isinstance(each, dict) and each:
            yield from flat(each, (*path, name))
        else:
            yield (*path, name), each


def merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> Tree:
    """Both; where they differ, more."""
    found = dict(base)
    for name, each in more.items():
        both = isinstance(each, dict) and isinstance(found.get(name), dict) and name != "state"
        found[name] = merged(found[name], each) if both else deepcopy(each)
    return found


# -- what is there by itself -----------------------------------------------------------------------

_INSTALLED, _USUAL = beside(__file__, "installed"), beside(__file__, "usual")
"""As recorded (release 5.5); and what is there beside it, the watchdog since 5.6."""
_CURVE: Tree = _INSTALLED["congestion-control"][DEFAULT]["traffic-class"]["0"]
_OF_A_CLASS = {"congestion-control": _CURVE, "egress-scheduler": {"mode": "dwrr"}}


def installed(ports: Sequence[str]) -> Tree:
    """A switch that nobody has configured."""
    ports_of = {port: deepcopy(_USUAL["interface"]) for port in ports}
    watchdog = dict(_USUAL["watchdog"])
    return {"interface": ports_of, "qos": {**deepcopy(_INSTALLED), "pfc-watchdog": watchdog}}


def _roce(mode: str, told: Tree) -> Tree:
    """Of what is lossless, what is told counts instead (guide)."""
    lossless = told.get("pfc", {}).get(DEFAULT, {}).get("switch-priority", {"3": {}})
    classes = {n: {"traffic-class": int(n) if n in "36" else 0} for n in QUEUES}
    half = {"bw-percent": 50, "mode": "dwrr"}
    served = {"0": half, "3": half, "6": {"mode": "strict"}}
    qos: Tree = {
        "congestion-control": {DEFAULT: {"traffic-class": {n: dict(_CURVE) for n in "03"}}},
        "egress-queue-mapping": {DEFAULT: {"switch-priority": classes}},
        "egress-scheduler": {DEFAULT: {"traffic-class": served}},
        "mapping": {DEFAULT: {"trust": "both"}},
    }
    if mode == "lossless":
        cable_m = told.get("roce", {}).get("cable-length", 100)
        own = {"switch-priority": lossless, "cable-length": cable_m}
        qos["pfc"] = {DEFAULT: {**_USUAL["of a profile"]["pfc"], **own}}
        pool = {"roce-lossless": {"memory-percent": 50, "switch-priority": lossless}}
        qos["traffic-pool"] = {"default-lossy": {"memory-percent": 50}, **pool}
    return {"qos": qos}


def applied_view(ports: Sequence[str], told: Tree) -> Tree:
    """What `--applied` shows of what somebody has set."""
    return _together(installed(ports), told)


def in_force(ports: Sequence[str], told: Tree) -> Tree:
    """The same with what RoCE mode makes of it, which no recording shows as applied."""
    base, roce = installed(ports), applied_view(ports, told)["qos"]["roce"]
    if roce["enable"] == "on":
        base = _together(base, _roce(roce["mode"], told.get("qos", {})))
    return _together(base, told)


def _together(base: Tree, told: Tree) -> Tree:
    """Classes of a profile are those that are told, where some are."""
    whole, qos = merged(base, told), told.get("qos", {})
    for feature, usual in _OF_A_CLASS.items():
        for name, profile in qos.get(feature, {}).items():
            classes = profile.get("traffic-class", {})
            told_of = {n: merged(usual, each) for n, each in classes.items()}
            whole["qos"][feature][name] = {"traffic-class": told_of}
    for feature, usual in _USUAL["of a profile"].items():
        for name, profile in whole["qos"][feature].items():
            whole["qos"][feature][name] = merged(usual, profile)
    if "roce" in qos:
        whole["qos"]["roce"] = {"enable": "on", "mode": "lossless", **qos["roce"]}
    for interface in whole["interface"].values():
        if (watched := interface.get("qos", {}).get("pfc-watchdog")) == {}:
            watched["state"] = "enable"
    return whole
