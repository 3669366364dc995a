"""Which packets get into which qos-group (queue): the policy-map `type qos` that a port applies, or
else the switch (`system qos`).

Without one everything is put into group 0. A policy classifies by DSCP (`match dscp`), by CoS, or
by neither; one that looks at anything else is refused.
"""

from collections.abc import Hashable
from typing import Any

from labtests.capabilities import settings as s
from labtests.capabilities.records import TrustSetting
from labtests.drivers.displays import Unfit, written
from labtests.drivers.maps import DscpMapSetting, FixedQueueMap
from labtests.drivers.nxos.configuration import Classes, Configured, PolicyClass
from labtests.drivers.nxos.policies import IPQOS, PolicySetting, named
from labtests.drivers.nxos.session import NXOS, NxosSetting
from labtests.transport.asking import Asking, known

DSCPS, COSES = range(64), range(8)
_OTHERS = "class-default"
_MATCH = NXOS.shape("match <what:dscp|cos> <values:list>")
_GROUP = NXOS.shape("set qos-group <group:0-7>")
_SOURCES = {"dscp": DSCPS, "cos": COSES, "": range(1)}
_TRUSTED: dict[str, Any] = {"dscp": "dscp", "cos": "dot1p", "": "none"}
_USUAL = {"dscp": tuple(dscp // 8 for dscp in DSCPS), "cos": tuple(COSES), "": ()}
Groups = tuple[str, tuple[int, ...]]
"""By what ("dscp", "cos", or "" for nothing), and the group of each value of it."""


class _Ingress(PolicySetting[s.T]):
    """What the policy of arriving packets does."""

    slot = "qos input"

    def groups(self, classes: Classes) -> Groups:
        """The first class that matches counts. A class-map is read once, whoever uses it."""
        by_name = {each.name: each for each in classes}
        matched = {name: self._matched(each) for name, each in by_name.items()}
        told = [(*matched[each.name], _GROUP.first(each.lines)) for each in classes]
        whats = {what for what, _, _ in told if what}
        if len(whats) > 1:
            raise self.reject(IPQOS, "it classifies by DSCP and by CoS", "use one of them")
        what = whats.pop() if whats else ""
        every, groups = _SOURCES[what], dict[int, int]()
        for _, values, said in told:
            for value in every if values is None else values:
                groups.setdefault(value, said.get("group", 0))
        return what, tuple(groups.get(value, 0) for value in every)

    def _matched(self, each: PolicyClass) -> tuple[str, frozenset[int] | None]:
        """By what, and which values; None: all that no other class has."""
        if each.name == _OTHERS:
            return "", None
        where = f"class-map type qos {each.name}"
        if each.matches is None:
            raise self.reject(where, "it is not there", "make it, or take the class away")
        try:
            found = [_MATCH.first([text]) for text in each.matches]
        except Unfit as unfit:
            raise self.reject(where, str(unfit), "write the values as numbers") from unfit
        whats = {match.get("what", "") for match in found}
        several = len(found) > 1 and not each.one_is_enough
        if len(whats) != 1 or "" in whats or several:
            problem = "it matches more than DSCPs, or more than CoS values"
            remedy = "classify by `match dscp` alone, or by `match cos` alone"
            raise self.reject(where, problem, remedy)
        return whats.pop(), frozenset().union(*(match["values"] for match in found))

    def made(self, what: str, groups: tuple[int, ...]) -> Classes:
        """Classes of ours that do this."""
        classes = []
        for group in sorted(set(groups) - {0}):
            values = [value for value, each in enumerate(groups) if each == group]
            match = (f"match {what} {written(values)}",)
            name = named((what, values))
            classes.append(PolicyClass(name, (f"set qos-group {group}",), match))
        return (*classes, PolicyClass(_OTHERS, ("set qos-group 0",)))

    def _means(self, classes: Classes) -> Hashable:
        return self.groups(classes)


class NxosTrust(_Ingress[TrustSetting]):
    """By what a port classifies. Trust without a policy of somebody's: DSCP 8p to 8p + 7 into
    group p."""

    kind = s.TRUST

    def value(self, of: Configured, port: str) -> TrustSetting:
        """By the policy in force."""
        what, _ = self.groups(self.in_force(of, port))
        return TrustSetting(source=_TRUSTED[what])

    def _classes(self, of: Configured, port: str, wanted: TrustSetting) -> Classes:
        """Somebody's own, where they do it."""
        what = next((what for what, source in _TRUSTED.items() if source == wanted.source), None)
        if what is None or wanted.override:
            problem = f"a port cannot trust {wanted.source}{' with override' * wanted.override}"
            remedy = 'use "dscp", "dot1p" or "none", without override'
            raise self.reject(f"service-policy of {self.port(port)}", problem, remedy)
        _, others = self.others(of, port)
        if others and self.groups(others)[0] == what:
            return others
        return self.made(what, _USUAL[what])


class NxosDscpMap(_Ingress[tuple[int, ...]], DscpMapSetting):
    """The qos-group of each DSCP at a port that classifies by DSCP."""

    def value(self, of: Configured, port: str) -> tuple[int, ...]:
        """Refused where there is none."""
        what, groups = self.groups(self.in_force(of, port))
        if what != "dscp":
            where = f"show running-config interface {self.port(port)}"
            problem = "the port has no DSCP map, because it does not classify by DSCP"
            remedy = "apply a policy to it first: service-policy type qos input ..."
            raise self.reject(where, problem, remedy)
        return groups

    def _classes(self, of: Configured, port: str, wanted: tuple[int, ...]) -> Classes:
        return self.made("dscp", wanted)


class NxosQueueMap(NxosSetting[tuple[int, ...]], FixedQueueMap):
    """A priority and its queue are one thing here, the qos-group."""

    fixed = (
        "the queue of a qos-group has its number",
        "leave maps.queue_of_priority out, and map DSCPs to the queues themselves",
    )

    def read(self, port: str) -> Asking[tuple[int, ...]]:
        """Nothing is asked."""
        return known(tuple(COSES))
