"""Classification at the edge of a network on a Comware switch: a QoS policy of a port, inbound.

A rule is an ACL (`acl advanced name`, UDP destination port and DSCP), a class that matches it, and
a behavior that gives a local precedence, which is the queue; the rest is a class that matches any
packet, and its behavior may give another DSCP. A policy takes its classes in the order in which
they were associated.

Syntax: H3C and HPE ACL and QoS configuration guides and command references for Comware 7 (`traffic
classifier`, `traffic behavior`, `qos policy`, `qos apply policy`). `remark dscp` beside `remark
local-precedence`: from memory of the same, and as in public configurations of its relative VRP.
From memory: that a DSCP that has a keyword is shown by it (both are read), in what order the lines
of a behavior are (any is read), and `name` of an ACL. Policies of other people
are applied, never changed; one of ours has a name made of its content, is shared by ports, and is
removed with all that is in it when no port applies it.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import Any

from labtests.capabilities import settings as s
from labtests.capabilities.device import EdgeClasses
from labtests.capabilities.records import EdgeRule, EdgeSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.comware.session import (
    CLI,
    QUIT,
    ComwareSetting,
    ConfigSection,
    interfaces,
    line,
    parse_configuration,
    show,
)
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import Shape, ValueKind
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

OURS = "labtests-edge"
_DSCPS = {
    **{str(number): number for number in range(64)},
    **{f"cs{number}": 8 * number for number in range(1, 8)},
    **{f"af{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)},
    "ef": 46,
    "default": 0,
}
_NOTATION = COMWARE.also(dscp=ValueKind("|".join(_DSCPS), _DSCPS.__getitem__))
_APPLY = COMWARE.shape("qos apply policy <policy> inbound")
_APPLIES = r"(?:undo )?qos apply policy .* inbound"
_CLASS = COMWARE.shape("classifier <name> behavior <behavior>( mode dcbx)?( insert-before <:.*>)?")
_RULE = _NOTATION.shape(
    "rule <:[0-9]+> permit udp destination-port eq <udp_port:number> dscp <dscp:dscp>"
)
_QUEUE = COMWARE.shape("remark local-precedence <queue:0-7>")
_REMARK = _NOTATION.shape("remark dscp <rest_dscp:dscp>")


class ComwareEdge(ComwareSetting[EdgeSetting], EdgeClasses):
    """The policy that a port applies to what comes in."""

    kind = s.EDGE

    def read(self, port: str) -> Asking[EdgeSetting]:
        """From the configuration: of the port, and of the whole switch where it applies ours."""
        reply, section = yield from self.configured(port)
        policy = _applied(reply, section)
        if policy is None or not policy.startswith(OURS):
            return EdgeSetting(policy=policy)
        return _policy(*(yield from _everything()), policy)

    def around(self, port: str, values: tuple[EdgeSetting, ...]) -> Asking[frozenset[str]]:
        """Policies of ours that other ports apply, and "+NAME" for one that is there, of all that
        the setting goes through."""
        ours = {v.policy for v in values if v.policy is not None and v.policy.startswith(OURS)}
        if not ours:
            return frozenset()
        reply, sections = yield from interfaces()
        others = {_applied(reply, each) for each in sections if each.interface != self.port(port)}
        _, everything = yield from _everything()
        there = {f"+{name}" for name in ours if f"qos policy {name}" in everything}
        return frozenset(there | {name for name in others if name in ours})

    def commands(
        self,
        port: str,
        earlier: EdgeSetting,
        wanted: EdgeSetting,
        around: frozenset[str] | None = None,
    ) -> Commands:
        """Make our policy, apply it, and remove one of ours that nobody applies then."""
        known = frozenset({f"+{earlier.policy}"}) if around is None else around
        made: list[CliLine] = []
        is_changed = earlier.policy == wanted.policy  # by somebody else: made anew over it
        if wanted != earlier and (is_changed or f"+{wanted.policy}" not in known):
            made += _made(wanted)
        applied: list[CliLine] = []
        if earlier.policy not in (None, wanted.policy):
            applied.append(line("undo", "qos", "apply", "policy", str(earlier.policy), "inbound"))
        if wanted.policy not in (None, earlier.policy):
            applied.append(line("qos", "apply", "policy", str(wanted.policy), "inbound"))
        gone = {name[1:] for name in known if name.startswith("+")} - known - {wanted.policy}
        ours = sorted(name for name in gone if name.startswith(OURS))
        removed = [each for name in ours for each in _removed(name)]
        return (*made, *(CLI.at(self.port(port), *applied) if applied else ()), *removed)

    def edge_for(
        self, rules: tuple[EdgeRule, ...], rest: int, rest_dscp: int | None = None
    ) -> EdgeSetting:
        """See EdgeClasses. Ports with the same rules share one policy."""
        named = sha256(repr((rules, rest, rest_dscp)).encode()).hexdigest()[:8]
        policy = f"{OURS}-{len(rules)}-{named}"
        return EdgeSetting(policy=policy, rules=rules, rest=rest, rest_dscp=rest_dscp)


def _everything() -> Asking[tuple[Reply, dict[str, ConfigSection]]]:
    reply = yield from show("display", "current-configuration")
    return reply, {each.head: each for each in parse_configuration(reply)}


def _applied(reply: Reply, section: ConfigSection) -> str | None:
    section.expect_known(reply, _APPLIES, _APPLY)
    said = section.said(reply, _APPLY)
    return None if said is None else str(said["policy"])


def _policy(reply: Reply, sections: dict[str, ConfigSection], name: str) -> EdgeSetting:
    """What is in a policy of ours; of one that somebody has changed, the name alone."""
    policy = sections.get(f"qos policy {name}")
    classes = [] if policy is None else policy.each(reply, _CLASS)
    read = [_class(reply, sections, each["name"], each["behavior"]) for each in classes]
    *rules, rest = read or [{}]
    if not rest.keys() >= {"rest"} or not all(each.keys() == _OF_A_RULE for each in rules):
        return EdgeSetting(policy=name)
    return EdgeSetting(policy=name, rules=tuple(EdgeRule(**each) for each in rules), **rest)


_OF_A_RULE = {"udp_port", "dscp", "queue"}


def _class(
    reply: Reply, sections: dict[str, ConfigSection], name: str, behavior: str
) -> dict[str, Any]:
    """A rule, or what becomes of all packets; nothing: it is not as we make them."""
    does = _only(reply, sections.get(f"traffic behavior {behavior}"), _QUEUE, _REMARK)
    classifier = sections.get(f"traffic classifier {name} operator and")
    if classifier is None or "queue" not in does:
        return {}
    if classifier.lines == ("if-match any",):
        return {"rest": does.pop("queue"), **does}
    if classifier.lines != (f"if-match acl name {name}",):
        return {}
    return does | _only(reply, sections.get(f"acl advanced name {name}"), _RULE)


def _only(reply: Reply, section: ConfigSection | None, *shapes: Shape) -> dict[str, Any]:
    """What the lines of a section say; nothing where it has others."""
    lines = () if section is None else section.lines
    said = [each for shape in shapes if section for each in section.each(reply, shape)]
    return dict(chain.from_iterable(each.items() for each in said if len(said) == len(lines)))


def _parts(setting: EdgeSetting) -> Iterator[tuple[str, EdgeRule | None, int, int | None]]:
    """The name of each class, its rule, its queue, and the DSCP that it gets."""
    for number, rule in enumerate(setting.rules):
        yield f"{setting.policy}-{number}", rule, rule.queue, None
    if setting.rest is not None:
        yield f"{setting.policy}-{len(setting.rules)}", None, setting.rest, setting.rest_dscp


def _made(setting: EdgeSetting) -> Iterator[CliLine]:
    if setting.policy is None or not setting.policy.startswith(OURS):
        return
    for name, rule, queue, dscp in _parts(setting):
        match: tuple[str, ...] = ("any",)
        if rule is not None:
            match = ("acl", "name", name)
            ports = ("udp", "destination-port", "eq", rule.udp_port, "dscp", rule.dscp)
            yield from (line("acl", "advanced", "name", name), line("rule", 0, "permit", *ports))
            yield QUIT
        yield from (line("traffic", "classifier", name), line("if-match", *match), QUIT)
        yield from (line("traffic", "behavior", name), line("remark", "local-precedence", queue))
        if dscp is not None:
            yield line("remark", "dscp", dscp)
        yield QUIT
    yield line("qos", "policy", setting.policy)
    for name, *_ in _parts(setting):
        yield line("classifier", name, "behavior", name)
    yield QUIT


def _removed(name: str) -> Iterator[CliLine]:
    """The policy first: what it uses cannot go before it. The number of its rules is in its
    name."""
    yield line("undo", "qos", "policy", name)
    rules = int(name.removeprefix(f"{OURS}-").partition("-")[0])
    for number in range(rules + 1):
        yield line("undo", "traffic", "classifier", f"{name}-{number}")
        yield line("undo", "traffic", "behavior", f"{name}-{number}")
    for number in range(rules):
        yield line("undo", "acl", "advanced", "name", f"{name}-{number}")
