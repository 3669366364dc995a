"""Which packets get which switch priority, and which priority which queue (traffic class).

What a port trusts and its DSCP map are one profile, which two settings look at. A port that trusts
no DSCP puts all IP packets without a tag into `port-default-sp`.
"""

from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import settings as s
from labtests.capabilities.records import TrustSetting
from labtests.drivers.cumulus import profiles as p
from labtests.drivers.maps import DscpMapSetting
from labtests.transport.commands import Shell

_SOURCES = {"l3": "dscp", "l2": "dot1p", "port": "none", "both": "auto"}
_WORDS = {source: word for word, source in _SOURCES.items()}
_SAME = tuple(range(8))
Mapped = tuple[str, tuple[int, ...]]
"""Whom the port trusts, and the priority of each DSCP."""


def mapped(leaves: p.Leaves) -> Mapped:
    """DSCPs that a profile leaves out have the default: 8p to 8p + 7 are p. Raises Unclear."""
    p.expect_shapes("mapping", leaves)
    p.members(leaves, "dscp", 64)
    trust = leaves.get(("trust",), "")
    if trust not in _SOURCES:
        raise p.Unclear(f"labtests does not know the trust {trust!r}", "use l2, l3, both or port")
    found = (p.number(leaves, ("dscp", str(n), "switch-priority"), n // 8, 7) for n in range(64))
    return trust, tuple(found)


class _Mapping(p.ProfileSetting[s.T, Mapped]):
    feature = "mapping"

    def _meaning(self, leaves: p.Leaves) -> Mapped:
        return mapped(leaves)

    def mapping(self, applied: p.Applied, port: str, wanted: Mapped) -> p.Applied:
        """The port applies one that says this. Tags are their own priority by default (guide)."""
        trust, classes = wanted
        told = applied.leaves.items()
        kept = {path: word for path, word in told if path[0] != "dscp" and path[1:2] != (word,)}
        dscps: dict[tuple[str, ...], str] = {
            ("dscp", str(n), "switch-priority"): str(c) for n, c in enumerate(classes)
        }
        usual = classes == tuple(n // 8 for n in range(64))
        kept |= {} if usual else dscps
        own = {**kept, ("trust",): trust}
        return self.meant(applied, port, wanted, dict(sorted(own.items())))


class CumulusTrust(_Mapping[TrustSetting]):
    """`l3` is dscp, `l2` dot1p, `port` none; `both` ("auto"): IP by DSCP, the rest by tag."""

    kind = s.TRUST

    def value(self, applied: p.Applied, port: str) -> TrustSetting:
        """As applied."""
        return TrustSetting(source=_SOURCES[self.in_force(applied, port)[0]])  # type: ignore[arg-type]

    def _made(self, applied: p.Applied, port: str, wanted: TrustSetting) -> p.Applied:
        if wanted.override or wanted.source not in _WORDS:
            problem = f"a port cannot classify so: {wanted}"
            raise self.reject(self.where(port), problem, 'use "dscp", without override')
        _, classes = self.in_force(applied, port)
        return self.mapping(applied, port, (_WORDS[wanted.source], classes))


class CumulusDscpMap(_Mapping[tuple[int, ...]], DscpMapSetting):
    """The switch priority of each DSCP, at a port that classifies by DSCP."""

    def value(self, applied: p.Applied, port: str) -> tuple[int, ...]:
        """Refused at a port that does not classify by DSCP."""
        trust, classes = self.in_force(applied, port)
        if trust not in ("l3", "both"):
            problem = f"the port does not classify by DSCP (trust {trust})"
            raise self.reject(self.where(port), problem, "set its trust to dscp first")
        return classes

    def _made(self, applied: p.Applied, port: str, wanted: tuple[int, ...]) -> p.Applied:
        return self.mapping(applied, port, (self.in_force(applied, port)[0], wanted))


class CumulusQueueMap(p.NvueSetting[tuple[int, ...]]):
    """The queue of each switch priority: the whole switch's."""

    kind = s.QUEUE_MAP
    feature = p.MAP
    wide = True

    def value(self, applied: p.Applied, port: str) -> tuple[int, ...]:
        """As applied."""
        self.expect_known(applied)
        leaves, where = applied.profiles.get(p.DEFAULT, {}), f"qos {p.MAP} {p.DEFAULT}"
        with self.clear(where):
            p.expect_shapes(p.MAP, leaves)
            p.members(leaves, "switch-priority", 8)
            paths = [("switch-priority", str(n), "traffic-class") for n in _SAME]
            return tuple(p.number(leaves, path, n, 7) for n, path in enumerate(paths))

    def _made(self, applied: p.Applied, port: str, wanted: tuple[int, ...]) -> p.Applied:
        if applied.roce and wanted != self.value(applied, port):
            problem = (
                f"RoCE mode ({applied.roce}) has a map of its own, and no line goes back to it"
            )
            raise self.reject("qos roce", problem, "`nv unset qos roce`")
        told: p.Leaves = {
            ("switch-priority", str(n), "traffic-class"): str(c) for n, c in enumerate(wanted)
        }
        return replace(applied, profiles={**applied.profiles, p.DEFAULT: told})

    def _lines(self, port: str, before: p.Applied, after: p.Applied) -> Iterator[Shell]:
        """What a priority has by itself is unset."""
        was, wanted = self.value(before, port), self.value(after, port)
        for priority in _SAME:
            at = ("qos", p.MAP, p.DEFAULT, "switch-priority", priority, "traffic-class")
            if was[priority] != wanted[priority]:
                plain = wanted[priority] == priority
                yield p.nv("unset", *at) if plain else p.nv("set", *at, wanted[priority])
