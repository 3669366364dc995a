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

import re
from collections.abc import Container, Iterable, Mapping
from hashlib import sha256
from typing import Any

from labtests.capabilities import settings as s
from labtests.capabilities.device import EdgeClasses
from labtests.capabilities.records import EdgeRule, EdgeSetting
from labtests.drivers.comware import session
from labtests.drivers.comware.session import QUIT, ConfigSection, Lines, line
from labtests.drivers.comware.shared import SharedSetting, Users
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import Shape, ValueKind
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

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
_RULE = _NOTATION.shape("rule 0 permit udp destination-port eq <udp_port:number> dscp <dscp:dscp>")
_QUEUE = COMWARE.shape("remark local-precedence <queue:0-7>")
_REMARK = _NOTATION.shape("remark dscp <rest_dscp:dscp>")
_OF_A_RULE = {"udp_port", "dscp", "queue"}
_OUR_NAME = re.compile(r"labtests-edge-[0-9]{1,2}-[0-9a-f]{8}")
_OPERATOR = " operator and"
"""Behind a class in a configuration; it is not typed."""


class ComwareEdge(SharedSetting[EdgeSetting], EdgeClasses):
    """The policy that a port applies to what comes in."""

    kind = s.EDGE
    named = "policy"
    ours = "labtests-edge"
    made_by = "qos policy"
    applied_by = ("qos apply policy {} inbound", "undo qos apply policy {} inbound")

    def read(self, port: str) -> Asking[EdgeSetting]:
        """From the configuration: of the port, and of the whole switch where it applies ours."""
        policy = self.applied(*(yield from self.configured(port)))
        if policy is None or not self.is_ours(policy):
            return EdgeSetting(policy=policy)
        return _policy(*(yield from _everything()), policy)

    def is_ours(self, name: str | None) -> bool:
        """By a whole name: what is in a policy is removed by what its name says."""
        return name is not None and _OUR_NAME.fullmatch(name) is not None

    def edge_for(
        self, rules: tuple[EdgeRule, ...], rest: int, rest_dscp: int | None = None
    ) -> EdgeSetting:
        """See EdgeClasses. Ports with the same rules share one policy."""
        named = sha256(repr((rules, rest, rest_dscp)).encode()).hexdigest()[:8]
        policy = f"{self.ours}-{len(rules)}-{named}"
        return EdgeSetting(policy=policy, rules=rules, rest=rest, rest_dscp=rest_dscp)

    def applied(self, reply: Reply, section: ConfigSection) -> str | None:
        """See SharedSetting."""
        section.expect_known(reply, _APPLIES, _APPLY)
        return (section.said(reply, _APPLY) or {}).get("policy")

    def found(
        self, names: Iterable[str], users: Users, *, but: Container[str]
    ) -> Asking[dict[str, EdgeSetting | None]]:
        """By the configuration."""
        _, everything = yield from _everything()
        return {name: None for name in names if f"qos policy {name}" in everything}

    def making(self, earlier: EdgeSetting, wanted: EdgeSetting, *, there: bool) -> Lines:
        """One that is there is as its name says, unless somebody has changed what this port has: it
        is made anew over that."""
        for head, texts in _sections(wanted).items():
            if not there or earlier.policy == wanted.policy:
                yield line(*head.removesuffix(_OPERATOR).split())
                yield from (line(*text.split()) for text in texts)
                yield QUIT

    def removing(self, name: str) -> Lines:
        """The policy first: what it uses cannot go before it. The number of its rules is in its
        name."""
        yield line("undo", "qos", "policy", name)
        rules = int(name.split("-")[2])
        for number in range(rules + 1):
            yield line("undo", "traffic", "classifier", f"{name}-{number}")
            yield line("undo", "traffic", "behavior", f"{name}-{number}")
        for number in range(rules):
            yield line("undo", "acl", "advanced", "name", f"{name}-{number}")


def _sections(setting: EdgeSetting) -> dict[str, list[str]]:
    """What makes a policy of ours, in that order: the first line of each section, and its lines."""
    found: dict[str, list[str]] = {}
    parts = (*setting.rules, None) if setting.rest is not None else ()
    classes = [f"{setting.policy}-{number}" for number, _ in enumerate(parts)]
    for name, rule in zip(classes, parts, strict=True):
        does = [f"remark local-precedence {rule.queue if rule else setting.rest}"]
        if rule is not None:
            told = f"destination-port eq {rule.udp_port} dscp {rule.dscp}"
            found[f"acl advanced name {name}"] = [f"rule 0 permit udp {told}"]
        elif setting.rest_dscp is not None:
            does.append(f"remark dscp {setting.rest_dscp}")
        match = "any" if rule is None else f"acl name {name}"
        found[f"traffic classifier {name}{_OPERATOR}"] = [f"if-match {match}"]
        found[f"traffic behavior {name}"] = does
    found[f"qos policy {setting.policy}"] = [
        f"classifier {each} behavior {each}" for each in classes
    ]
    return found


def _everything() -> Asking[tuple[Reply, dict[str, ConfigSection]]]:
    reply = yield from session.show("display", "current-configuration")
    return reply, {each.head: each for each in session.parse_configuration(reply)}


def _policy(reply: Reply, sections: Mapping[str, ConfigSection], name: str) -> EdgeSetting:
    """What is in a policy of ours; of one that somebody has changed, the name alone."""
    none = ConfigSection(head="", lines=())

    def said(head: str, *shapes: Shape) -> dict[str, Any]:
        found = (each for shape in shapes for each in sections.get(head, none).each(reply, shape))
        return {key: value for each in found for key, value in each.items()}

    count = len(sections.get(f"qos policy {name}", none).lines)
    does = [
        said(f"acl advanced name {name}-{number}", _RULE)
        | said(f"traffic behavior {name}-{number}", _QUEUE, _REMARK)
        for number in range(count)
    ]
    *rules, rest = does or [{}]
    if "queue" not in rest or any(each.keys() != _OF_A_RULE for each in rules):
        return EdgeSetting(policy=name)
    found = EdgeSetting(
        policy=name,
        rules=tuple(EdgeRule(**each) for each in rules),
        rest=rest["queue"],
        rest_dscp=rest.get("rest_dscp"),
    )
    ours = _sections(found)
    same = all(
        _plain(head, sections.get(head, none).lines) == _plain(head, ours[head]) for head in ours
    )
    return found if same else EdgeSetting(policy=name)


def _plain(head: str, texts: Iterable[str]) -> list[str]:
    """DSCPs by number; only of a policy the order of its lines says something."""
    numbered = [_KEYWORD.sub(lambda dscp: str(_DSCPS[dscp[0]]), text) for text in texts]
    return numbered if head.startswith("qos policy ") else sorted(numbered)


_KEYWORD = re.compile(rf"(?<= dscp )(?:{'|'.join(_DSCPS)})$")
