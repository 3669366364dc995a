"""Which packets get into which qos-group (queue): the policy-map `type qos` that a port applies.

A port without one puts everything into group 0. A policy classifies by DSCP (`match dscp`), by CoS,
or by neither; one that looks at anything else is refused.
"""

from collections.abc import Hashable

from labtests.capabilities import settings as s
from labtests.capabilities.records import TrustSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.displays import Unfit, written
from labtests.drivers.maps import DscpMapSetting
from labtests.drivers.nxos.configuration import Block, Classes, Configured, PolicyPlace
from labtests.drivers.nxos.policies import IPQOS, PolicySetting, Use, base, named
from labtests.drivers.nxos.session import NXOS, NxosSetting
from labtests.transport.asking import Asking, known

DSCPS, COSES = range(64), range(8)
_OTHERS = "class-default"
_MATCH = NXOS.shape("match <what:dscp|cos> <values:list>")
_GROUP = NXOS.shape("set qos-group <group:0-7>")
_SOURCES = {"dscp": DSCPS, "cos": COSES}
_USUAL = {"dscp": tuple(dscp // 8 for dscp in DSCPS), "cos": tuple(COSES), "": ()}
Groups = tuple[str, tuple[int, ...]]
"""By what ("dscp", "cos", or "" for nothing), and the group of each value of it."""


class _Ingress(PolicySetting[s.T]):
    """What the policy of arriving packets does."""

    slot = "qos input"

    def groups(self, of: Configured, classes: Classes) -> Groups:
        """The first class that matches counts."""
        matched = {name: self._matched(of, name) for name in {each.name for each in classes}}
        told = [(each, matched[each.name], _GROUP.first(each.lines)) for each in classes]
        whats = {what for _, (what, _), _ in told if what}
        if len(whats) > 1:
            raise self.reject(IPQOS, "it classifies by DSCP and by CoS", "use one of them")
        what = whats.pop() if whats else ""
        groups: dict[int, int] = {}
        for each, (_, values), said in told:
            for value in _SOURCES.get(what, range(1)) if each.name == _OTHERS else values:
                groups.setdefault(value, said.get("group", 0))
        return what, tuple(groups.get(value, 0) for value in _SOURCES.get(what, range(1)))

    def _matched(self, of: Configured, name: str) -> tuple[str, frozenset[int]]:
        if name == _OTHERS:
            return "", frozenset()
        where = f"class-map type qos {name}"
        if name not in of.class_maps:
            raise self.reject(where, "it is not there", "make it, or take the class away")
        lines = of.class_maps[name].lines
        found = [_MATCH.pattern.fullmatch(text) for text in lines]
        whats = {"" if match is None else match["what"] for match in found}
        several = len(lines) > 1 and name not in of.alternatives
        if len(whats) != 1 or "" in whats or several:
            raise self.reject(
                where,
                "it matches more than DSCPs, or more than CoS values",
                "classify by `match dscp` alone, or by `match cos` alone",
            )
        read = _MATCH.readers["values"]
        try:
            values = [read(match["values"]) for match in found if match is not None]
        except Unfit as problem:
            raise self.reject(where, str(problem), "write the values as numbers") from problem
        return whats.pop(), frozenset().union(*values)

    def made(self, place: PolicyPlace, wanted: Groups) -> Use:
        """A policy of ours that does this."""
        what, groups = wanted
        maps, classes = [], []
        for group in sorted(set(groups) - {0}):
            values = [value for value, each in enumerate(groups) if each == group]
            match = f"match {what} {written(values)}"
            maps.append(Block(named((what, values)), (match,)))
            classes.append(Block(maps[-1].name, (f"set qos-group {group}",)))
        classes.append(Block(_OTHERS, ("set qos-group 0",)))
        return self.using(place, tuple(classes), tuple(maps))

    def _means(self, of: Configured, classes: Classes) -> Hashable:
        return self.groups(of, classes)


class NxosTrust(_Ingress[TrustSetting]):
    """By what a port classifies. Trust without a policy of somebody's: DSCP 8p to 8p + 7 into
    group p."""

    kind = s.TRUST

    def value(self, of: Configured, place: PolicyPlace) -> TrustSetting:
        """By the policy that the port applies."""
        what, _ = self.groups(of, of.of(place) or ())
        if what == "":
            return TrustSetting(source="none")
        return TrustSetting(source="dscp" if what == "dscp" else "dot1p")

    def _use(self, of: Configured, place: PolicyPlace, wanted: TrustSetting) -> Use:
        """Somebody's own policy, where it does it."""
        others = of.policies.get((place.kind, base(of, place) or ""), ())
        what = {"dscp": "dscp", "dot1p": "cos", "none": ""}.get(wanted.source)
        if what is None or wanted.override:
            raise self.reject(
                f"service-policy of {place.port}",
                f"a port cannot trust {wanted.source}{' with override' * wanted.override}",
                'use "dscp", "dot1p" or "none", without override',
            )
        if others and self.groups(of, others)[0] == what:
            return self.using(place, others)
        return self.made(place, (what, _USUAL[what]))


class NxosDscpMap(_Ingress[tuple[int, ...]], DscpMapSetting):
    """The qos-group of each DSCP at a port that classifies by DSCP."""

    def value(self, of: Configured, place: PolicyPlace) -> tuple[int, ...]:
        """Refused where there is none."""
        what, groups = self.groups(of, of.of(place) or ())
        if what != "dscp":
            raise self.reject(
                f"show running-config interface {place.port}",
                "the port has no DSCP map, because it does not classify by DSCP",
                "apply a policy to it first: service-policy type qos input ...",
            )
        return groups

    def _use(self, of: Configured, place: PolicyPlace, wanted: tuple[int, ...]) -> Use:
        return self.made(place, ("dscp", wanted))


class NxosQueueMap(NxosSetting[tuple[int, ...]]):
    """A priority and its queue are one thing here, the qos-group."""

    kind = s.QUEUE_MAP
    wide = True

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """Nothing is asked."""
        return known(tuple(COSES))

    def commands(
        self, port: str, earlier: tuple[int, ...], wanted: tuple[int, ...], around: None = None
    ) -> Commands:
        """It is not a setting."""
        if wanted != tuple(COSES):
            raise self.reject(
                f"a queue for each priority: {wanted}",
                "the queue of a qos-group has its number",
                "leave maps.queue_of_priority out, and map DSCPs to the queues themselves",
            )
        return ()
