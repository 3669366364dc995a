"""Which packets get which switch-priority at a port, and which priority which traffic class
(`show qos interface`). A queue is a traffic class.
"""

import re
from dataclasses import dataclass
from typing import Literal

from labtests.capabilities import settings as s
from labtests.capabilities.device import DscpClasses
from labtests.capabilities.records import TrustSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.displays.trees import Node
from labtests.drivers.onyx.session import OnyxSetting, fields_of, in_json, needed, of_one_port
from labtests.drivers.parsing import READ_AGAIN
from labtests.transport.asking import Asking, ask_each
from labtests.transport.protocol import Reply

Source = Literal["dscp", "dot1p", "none", "auto"]
_SOURCES: dict[str, Source] = {"L3": "dscp", "L2": "dot1p", "port": "none", "both": "auto"}
_WORDS = {source: word for word, source in _SOURCES.items()}
_TRUST = "Trust mode"
_MAP = "PCP(DEI); DSCP to switch-priority mapping"
_REWRITE = "PCP(DEI); DSCP rewrite mapping (switch-priority to PCP(DEI); DSCP; traffic-class)"
_EGRESS = "Egress Interface"


@dataclass(frozen=True, slots=True)
class Qos:
    """What a port trusts, the switch-priority of each DSCP, the traffic class of each priority."""

    port: str
    trust: Source
    priorities: tuple[int, ...]
    classes: tuple[int, ...]


def parse_qos(reply: Reply) -> tuple[Qos]:
    """Of the one port that it is about."""
    port, node = of_one_port(reply)
    fields = fields_of(node)
    trust = needed(node, fields, _TRUST).text()
    source = {word.lower(): each for word, each in _SOURCES.items()}.get(trust.lower())
    if source is None:
        node.refuse(f"has the trust {trust[:80]!r}, which is unrecognised")
    priorities = _priorities(needed(node, fields, _MAP))
    return (Qos(port, source, priorities, _classes(needed(node, fields, _REWRITE))),)


def _priorities(node: Node) -> tuple[int, ...]:
    """Of DSCPs 0 to 63, each of which has to be there once."""
    found: dict[int, int] = {}
    for row in fields_of(node).values():
        fields = fields_of(row)
        priority = _below(needed(row, fields, "switch-priority"), 8)
        text = needed(row, fields, "DSCP").text()
        if not re.fullmatch("[0-9 ]*", text):
            row.refuse(f"has the DSCPs {text[:80]!r}")
        for dscp in map(int, text.split()):
            if dscp in found:
                row.refuse(f"has DSCP {dscp}, which another one has, too")
            found[dscp] = priority
    if set(found) != set(range(64)):
        node.refuse(f"has {len(found)} DSCPs, and not those from 0 to 63", READ_AGAIN)
    return tuple(found[dscp] for dscp in range(64))


def _classes(node: Node) -> tuple[int, ...]:
    rows = {name: row for name, row in fields_of(node).items() if name != _EGRESS}
    if set(rows) != set(map(str, range(8))):
        node.refuse("has not the switch-priorities from 0 to 7", READ_AGAIN)
    of_each = (fields_of(rows[str(n)]) for n in range(8))
    return tuple(_below(needed(node, each, "TC"), 8) for each in of_each)


def _below(node: Node, most: int) -> int:
    number = node.number()
    if number >= most:
        node.refuse(f"should be below {most}, not {number}")
    return number


class _OfQos(OnyxSetting[s.T]):
    def qos(self, port: str) -> Asking[Qos]:
        """As it is now."""
        (found,) = yield from self.of_ports(port)
        return found

    def of_ports(self, *ports: str) -> Asking[tuple[Qos, ...]]:
        """The same of several."""
        found = []
        asked = (in_json("qos", "interface", *self.at(port)) for port in ports)
        for port, reply in zip(ports, (yield from ask_each(*asked)), strict=True):
            self.cli.refusals.expect_answer(reply)
            (each,) = parse_qos(reply)
            self.expect_about(reply, port, each.port)
            found.append(each)
        return tuple(found)


class OnyxTrust(_OfQos[TrustSetting]):
    """`L3` is dscp, `L2` dot1p, `port` none; `both` ("auto"): IP by DSCP, the rest by tag."""

    kind = s.TRUST

    def read(self, port: str) -> Asking[TrustSetting]:
        """As the port shows it."""
        return TrustSetting(source=(yield from self.qos(port)).trust)

    def commands(
        self, port: str, earlier: TrustSetting, wanted: TrustSetting, around: None = None
    ) -> Commands:
        """One line."""
        if wanted.override or wanted.source not in _WORDS:
            problem, remedy = f"a port cannot classify so: {wanted}", 'use "dscp", without override'
            self.reject(f"interface {port} qos trust", problem, remedy)
        same = earlier == wanted
        return () if same else (self.of_port(port, "qos", "trust", _WORDS[wanted.source]),)


class OnyxDscpMap(_OfQos[s.DscpPriorities], DscpClasses):
    """The switch-priority of each DSCP, at a port that classifies by DSCP."""

    kind = s.DSCP_MAP

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """Refused at a port that does not classify by DSCP."""
        found = yield from self.qos(port)
        if found.trust not in ("dscp", "auto"):
            problem = f"the port does not classify by DSCP (trust {_WORDS[found.trust]})"
            self.reject(f"interface {port} qos trust", problem, "set its trust to dscp first")
        return found.priorities

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """A line for each DSCP that changes."""
        pairs = zip(earlier, wanted, strict=True)
        return tuple(
            self.of_port(port, "qos", "map", "dscp", dscp, "to", "switch-priority", after)
            for dscp, (before, after) in enumerate(pairs)
            if before != after
        )

    def dscp_map(self, port: str) -> Asking[tuple[int, ...]]:
        """See DscpClasses."""
        return self.read(port)


class OnyxQueueMap(_OfQos[tuple[int, ...]]):
    """The traffic class of each switch-priority. It is read and not set: each port has its own."""

    kind = s.QUEUE_MAP
    wide = True

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """That of all ports of the testbed, which have to agree."""
        found = {each.classes: each.port for each in (yield from self.of_ports(*self.ports))}
        if len(found) > 1:
            told = ", ".join(f"{port} {classes}" for classes, port in found.items())
            problem = f"ports have different traffic classes for the same priorities: {told}"
            self.reject("show qos interface", problem, "bind the same at all ports of the lab")
        return next(iter(found), tuple(range(8)))

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """It is not set."""
        if wanted != earlier:
            self.reject(
                f"traffic classes of priorities: {wanted}",
                f"they are {earlier}, and labtests does not change them",
                "by hand: `interface ethernet ... traffic-class N bind switch-priority ...`, or "
                "leave maps.queue_of_priority out",
            )
        return ()
