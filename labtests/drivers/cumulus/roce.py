"""What a switch tells of RoCE mode: one word that sets the defaults of all ports at once.

What it makes of `default-global` is not among what is applied; `nv show qos roce` has it, as text.
All of that is exact but the thresholds of ECN, which are rounded: those of the user guide are taken
where they round to what is shown, and no others are. A port's own word (`nv show interface PORT qos
roce status`) has to say the same. Both are recorded; how they show in lossy mode is not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labtests.capabilities import counters as c
from labtests.capabilities.device import RoceTelemetry
from labtests.capabilities.readings import Reading
from labtests.core.errors import CommandRejected
from labtests.drivers.cumulus.session import expected
from labtests.drivers.displays import Ruled, read_ruled
from labtests.drivers.parsing import READ_AGAIN, refuse
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Counted
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

Leaves = Mapping[tuple[str, ...], str]
"""Values by their path; "" for a path that is a member of a list."""
_CLASSES = "RoCE PCP/DSCP->SP mapping configurations"
_SERVED = "RoCE SP->TC mapping and ETS configurations"
_THRESHOLDS = {"146.48 KB": "150000", "1.43 MB": "1500000"}
"""As shown, and what the user guide says that is: the thresholds of a switch as installed."""
_SWITCHED = {"enabled": "enable", "yes": "enable", "disabled": "disable", "no": "disable"}
_TRUST = {"pcp,dscp": "both", "dscp": "l3", "pcp": "l2"}
_SOME, _NUMBER, _DIGIT = "-|[0-9]{1,2}(?:,[0-9]{1,2}){0,63}", "[0-9]{1,20}", "[0-7]"
_SIZE = r"[0-9]{1,20}(?:\.[0-9]{2})? (?:Bytes|[KMGTP]B)"
_CURVE = {"min-threshold": _SIZE, "max-threshold": _SIZE, "probability": "100|[1-9]?[0-9]"}
_WAYS = dict.fromkeys(("pfc rx-enabled?", "pfc tx-enabled?"), "|".join(_SWITCHED))
_TLV = {"priority": _DIGIT, "protocol-id": _NUMBER, "selector": "UDP"}
_SHOWN = {
    **{f"congestion-control {name}": looks for name, looks in _CURVE.items()},
    "congestion-control congestion-mode": "ECN|ecn, absolute",
    "congestion-control enabled-tc": _SOME,
    **_WAYS,
    "pfc pfc-priority": f"-|{_DIGIT}",
    "pfc cable-length?": _NUMBER,
    "trust trust-mode": "|".join(_TRUST),
    **{f"lldp-app-tlv {name}?": looks for name, looks in _TLV.items()},
}
_OF_PORT = ("nv", "show", "interface")
_MODE = "lossless|lossy|lossless-single-ipool"
_ROW = {"": "[0-7]|cnp|roce"}
_MAPPED = {**_ROW, "pcp": _SOME, "dscp": _SOME, "switch-prio": _DIGIT}
_WEIGHT = "(?:DWRR|dwrr)-(?:100|[1-9]?[0-9])%|strict[ -]priority"
_SERVES = {**_ROW, "switch-prio": _DIGIT, "traffic-class": _DIGIT, "scheduler-weight": _WEIGHT}
_POOL = {**_ROW, "name": "[a-z-]{1,64}", "mode": "Dynamic|DYNAMIC", "switch-priorities": _SOME,
         "traffic-class": _SOME, "size": f"{_SIZE}|[0-9]{{1,3}}%|inf"}  # fmt: skip
_USED = {"pool-id": _NUMBER, "current-usage": _SIZE, "max-usage": _SIZE}


@dataclass(frozen=True, slots=True)
class RoceView:
    """What RoCE mode has made: by feature, as leaves of a profile. `roomy`: the priorities that
    have memory for lossless traffic."""

    mode: str
    told: Mapping[str, Leaves]
    roomy: frozenset[int] = frozenset()

    def other(self, port: "RoceView", feature: str) -> str:
        """What a port says otherwise of a feature, of which it tells less; thresholds are shown
        there as the chip has them."""
        mine, its = self.told[feature].items(), port.told[feature].items()
        odd = mine ^ its if feature in ("pfc", "congestion-control") else its - mine
        said = {" ".join((*path, word)) for path, word in odd if "threshold" not in path[-1]}
        said |= {f"mode {port.mode}"} if self.mode != port.mode else set()
        return f"the status of a port says otherwise: {min(said)}" if said else ""


def parse_roce(reply: Reply) -> dict[str, RoceView]:
    """`nv show qos roce`, where RoCE mode is on. Raises UnreadableOutput, for packet trimming, too:
    it is not known."""
    shown, title = read_ruled(reply), "RoCE pool config"
    shown.only("", _CLASSES, _SERVED, title, "Exception List")  # of all that is told above
    if "Exception List" not in shown.blocks:
        refuse(reply, "it ends before its list of exceptions", READ_AGAIN)
    view = _view(shown, shown.values({"enable": "on", "mode=": _MODE, **_SHOWN}))
    pools = {row["name"]: row["switch-priorities"] for row in shown.rows(title, _POOL)}
    own = _numbers(pools.get("roce-reserved-ingress", "-"))
    _expect_each(reply, 64, [row["dscp"] for row in shown.rows(_CLASSES, _MAPPED)])
    _expect_each(reply, 8, [row["switch-prio"] for row in shown.rows(_SERVED, _SERVES)])
    _expect_each(reply, 8, [pools[name] for name in pools if name.endswith("-ingress")])
    if view.mode == "lossless-single-ipool":
        own = [path[1] for path in view.told["pfc"] if len(path) > 1]
    return {"switch": RoceView(view.mode, view.told, frozenset(map(int, own)))}


def _expect_each(reply: Reply, many: int, lists: Iterable[str]) -> None:
    """Every priority, or DSCP, once."""
    if sorted(int(n) for each in lists for n in _numbers(each)) != list(range(many)):
        refuse(reply, f"a table of {many} has not each of them once", READ_AGAIN)


def parse_roce_status(reply: Reply) -> dict[str, RoceView]:
    """`nv show interface PORT qos roce status`: of RoCE and CNPs. Raises UnreadableOutput."""
    shown, pools = read_ruled(reply), "RoCE Pool Status"
    shown.only("", _CLASSES, _SERVED, pools)
    if not list(shown.rows(pools, {**_POOL, **_USED})):
        refuse(reply, "it has no pools", READ_AGAIN)
    return {"port": _view(shown, shown.values({"mode": _MODE, **_SHOWN}))}


_USE, _DROPS = "buffer-max-usage buffer-usage", "unicast-no-buffer-discard"
_COUNTED = {
    f"{side}-stats {side}-{of}-stats {name}": f"{_SIZE}|{_NUMBER}|n/a"
    for side, of, names in (
        ("rx", "non-roce", f"{_USE} no-buffer-discard non-roce-bytes non-roce-packets"),
        ("rx", "non-roce", "pg-max-usage pg-usage"),
        ("rx", "pfc", "pause-duration pause-packets"),
        ("rx", "roce", f"{_USE} no-buffer-discard pg-max-usage pg-usage roce-bytes roce-packets"),
        ("tx", "cnp", f"{_USE} cnp-bytes cnp-packets tc-max-usage tc-usage {_DROPS}"),
        ("tx", "ecn", "ecn-marked-packets"),
        ("tx", "pfc", "pause-duration pause-packets"),
        ("tx", "roce", f"{_USE} roce-bytes roce-packets tc-max-usage tc-usage {_DROPS}"),
    )
    for name in names.split()
}
_READ = {
    "tx-stats tx-roce-stats roce-packets": c.ROCE_FORWARDED_PACKETS,
    "tx-stats tx-roce-stats unicast-no-buffer-discard": c.ROCE_DROPPED_PACKETS,
    "rx-stats rx-roce-stats no-buffer-discard": c.ROCE_DROPPED_IN_PACKETS,
    "tx-stats tx-pfc-stats pause-packets": c.ROCE_PFC_TX_FRAMES,
}


def parse_roce_counters(reply: Reply) -> dict[str, int | None]:
    """`nv show interface PORT qos roce counters`: None for n/a, and for what is rounded. Raises
    UnreadableOutput."""
    shown = read_ruled(reply)
    shown.only("")
    told = shown.values(_COUNTED)
    return {name: int(told[name]) if told[name].isdecimal() else None for name in told}


class CumulusRoceCounters(PlatformPart, RoceTelemetry):
    """What a port counts of RoCE, beside its queues and priorities."""

    def roce_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """See RoceTelemetry."""
        reply = yield from ask(program(*_OF_PORT, port, "qos", "roce", "counters"))
        try:
            told, missing = parse_roce_counters(expected(reply)), "the switch says n/a"
        except CommandRejected as off:
            told, missing = {}, f"as where RoCE mode is off: {off.problem}"
        counted = Counted(
            reply=reply, port=port, counts={"": told}, source=reply.command, missing=missing
        )
        return tuple(counted.of("", word, counter) for word, counter in _READ.items())


def roce_view() -> Asking[RoceView]:
    """Of the whole switch. Raises CommandRejected, UnreadableOutput."""
    return parse_roce(expected((yield from ask(program("nv", "show", "qos", "roce")))))["switch"]


def roce_status(port: str) -> Asking[RoceView]:
    """Of a port. Raises CommandRejected, UnreadableOutput."""
    shown = program(*_OF_PORT, port, "qos", "roce", "status")
    return parse_roce_status(expected((yield from ask(shown))))["port"]


def _view(shown: Ruled, now: Mapping[str, str]) -> RoceView:
    curve = {name: _THRESHOLDS.get(told, told) for name in _CURVE
             for told in (now[f"congestion-control {name}"],)}  # fmt: skip
    marking = _numbers(now["congestion-control enabled-tc"])
    rows = tuple(shown.rows(_SERVED, _SERVES))
    weights = {row["traffic-class"]: row["scheduler-weight"] for row in rows}
    shares = {n: {"mode": "strict"} if "s" in each else {"mode": "dwrr", "bw-percent": each[5:-1]}
              for n, each in weights.items()}  # fmt: skip
    if any(weights[row["traffic-class"]] != row["scheduler-weight"] for row in rows):
        refuse(shown.reply, "a traffic class has two weights")
    mapped = tuple(shown.rows(_CLASSES, _MAPPED))
    classes = {n: {"switch-priority": row["switch-prio"]}
               for row in mapped for n in _numbers(row["dscp"])}  # fmt: skip
    queues = {row["switch-prio"]: {"traffic-class": row["traffic-class"]} for row in rows}
    told = {
        "pfc": _pausing(shown, now),
        "congestion-control": _each(
            "traffic-class", {n: {"ecn": "enable", **curve} for n in marking}
        ),
        "egress-scheduler": _each("traffic-class", shares),
        "mapping": {("trust",): _TRUST[now["trust trust-mode"]], **_each("dscp", classes)},
        "egress-queue-mapping": _each("switch-priority", queues),
    }
    return RoceView(now["mode"], told)


def _each(first: str, told: Mapping[str, Mapping[str, str]]) -> Leaves:
    return {(first, n, name): each for n in told for name, each in told[n].items()}


def _pausing(shown: Ruled, now: Mapping[str, str]) -> Leaves:
    """Without a priority nothing may be said to be on, and with one both ways are told."""
    on = {way: now.get(f"pfc {way}-enabled", "") for way in ("rx", "tx")}
    ways: Leaves = {(way,): _SWITCHED[each] for way, each in on.items() if each}
    priority, mode = now["pfc pfc-priority"], now["mode"]
    if "enable" in ways.values() if priority == "-" else len(ways) < 2 or mode == "lossy":
        refuse(shown.reply, f"it is {mode}, with the pfc-priority {priority}, and {len(ways)} ways")
    return {} if priority == "-" else {("switch-priority", priority): "", **ways}


def _numbers(text: str) -> list[str]:
    return [each for each in text.split(",") if each != "-"]
