"""Which packets get which switch-priority at a port, and which priority which traffic class
(`show qos interface`). A queue is a traffic class.
"""

from dataclasses import dataclass
from typing import Literal

from labtests.capabilities import settings as s
from labtests.capabilities.records import TrustSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.displays import PortDisplay
from labtests.drivers.displays.trees import Node
from labtests.drivers.maps import DscpMapSetting, FixedQueueMap
from labtests.drivers.onyx.session import OnyxSetting, Told
from labtests.drivers.parsing import READ_AGAIN
from labtests.transport.asking import Asking, by_name
from labtests.transport.protocol import Reply

Source = Literal["dscp", "dot1p", "none", "auto"]
_SOURCES: dict[str, Source] = {"L3": "dscp", "L2": "dot1p", "port": "none", "both": "auto"}
_WORDS = {source: word for word, source in _SOURCES.items()}
_MAP = "PCP(DEI); DSCP to switch-priority mapping"
_REWRITE = "PCP(DEI); DSCP rewrite mapping (switch-priority to PCP(DEI); DSCP; traffic-class)"
_EGRESS = "Egress Interface"


@dataclass(frozen=True, slots=True)
class Qos:
    """What a port trusts, the switch-priority of each DSCP, the traffic class of each priority."""

    trust: Source
    priorities: tuple[int, ...]
    classes: tuple[int, ...]


def parse_qos(reply: Reply) -> dict[str, Qos]:
    """Of the one port that it is about."""
    port, told = Told.of_a_port(reply)
    trust = told["Trust mode"].one_of(*(word.lower() for word in _SOURCES))
    classes = Told.by(told[_REWRITE])
    rows = {name: each for name, each in classes.fields.items() if name != _EGRESS}
    return {
        port: Qos(
            trust=next(each for word, each in _SOURCES.items() if word.lower() == trust),
            priorities=_priorities(Told.by(told[_MAP])),
            classes=tuple(_below_8(each["TC"]) for each in Told(classes.node, rows).numbered(8)),
        )
    }


def _priorities(told: Told) -> tuple[int, ...]:
    """Of DSCPs 0 to 63, each of which has to be there once."""
    found: dict[int, int] = {}
    for row in map(Told.by, told.fields.values()):
        priority = _below_8(row["switch-priority"])
        for dscp in map(int, row["DSCP"].like("[0-9 ]*", "DSCPs")[0].split()):
            if dscp in found:
                row.node.refuse(f"has DSCP {dscp}, which another one has, too")
            found[dscp] = priority
    if set(found) != set(range(64)):
        told.node.refuse(f"has {len(found)} DSCPs, and not those from 0 to 63", READ_AGAIN)
    return tuple(found[dscp] for dscp in range(64))


def _below_8(node: Node) -> int:
    return int(node.like("[0-7]", "a number below 8")[0])


QOS = PortDisplay(command="show qos interface <port>", shows=parse_qos)


class OnyxTrust(OnyxSetting[TrustSetting]):
    """`L3` is dscp, `L2` dot1p, `port` none; `both` ("auto"): IP by DSCP, the rest by tag."""

    kind = s.TRUST

    def read(self, port: str) -> Asking[TrustSetting]:
        """As the port shows it."""
        return TrustSetting(source=(yield from self.shown(QOS, port))[1].trust)

    def commands(
        self, port: str, earlier: TrustSetting, wanted: TrustSetting, around: None = None
    ) -> Commands:
        """One line."""
        if wanted.override or wanted.source not in _WORDS:
            problem, remedy = f"a port cannot classify so: {wanted}", 'use "dscp", without override'
            raise self.reject(f"interface {port} qos trust", problem, remedy)
        same = earlier == wanted
        return () if same else (self.of_port(port, "qos", "trust", _WORDS[wanted.source]),)


class OnyxDscpMap(OnyxSetting[s.DscpPriorities], DscpMapSetting):
    """The switch-priority of each DSCP, at a port that classifies by DSCP."""

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """Refused at a port that does not classify by DSCP."""
        _, found = yield from self.shown(QOS, port)
        if found.trust not in ("dscp", "auto"):
            problem = f"the port does not classify by DSCP (trust {_WORDS[found.trust]})"
            raise self.reject(f"interface {port} qos trust", problem, "set its trust to dscp first")
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


class OnyxQueueMap(OnyxSetting[tuple[int, ...]], FixedQueueMap):
    """The traffic class of each switch-priority. It is read and not set: each port has its own."""

    fixed = (
        "labtests does not change them",
        "by hand: `interface ethernet ... traffic-class N bind switch-priority ...`, or leave "
        "maps.queue_of_priority out",
    )

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """That of all ports of the testbed, which have to agree."""
        of_ports = yield from by_name({port: self.shown(QOS, port) for port in self.ports})
        found = {each.classes: port for port, (_, each) in of_ports.items()}
        if len(found) > 1:
            told = ", ".join(f"{port} {classes}" for classes, port in found.items())
            problem = f"ports have different traffic classes for the same priorities: {told}"
            raise self.reject(
                "show qos interface", problem, "bind the same at all ports of the lab"
            )
        return next(iter(found), tuple(range(8)))
