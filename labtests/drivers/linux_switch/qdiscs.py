"""`tc -s -d -j qdisc show dev IF invisible`: every qdisc of a port, its options and counters.

`packets` and `bytes` are what has left the qdisc (counted when it is taken out); `drops` are not
in them. Measured: 500 datagrams into a bfifo give packets 22, drops 478. Bytes are of the Ethernet
frame without its check sequence. Options of a kind that matters here are read in full; of other
kinds only the counters are. JSON of iproute2 5.0 and newer; `-d` for RED's weight and probability.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labtests.core.output import excerpt
from labtests.core.trusted_files import json_of
from labtests.drivers.linux_switch.handles import Handle, handle
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

Json = Mapping[str, Any]

HOOKS = frozenset({"ingress", "clsact"})
"""No queues: places for filters, at arrival and (clsact) before the root qdisc."""

_REMEDY = "see that iproute2 on this switch is 5.0 or newer (`tc -V`)"


@dataclass(frozen=True, slots=True, kw_only=True)
class QdiscStatistics:
    """What a qdisc has let out and dropped, and what it holds now."""

    packets: int
    bytes: int
    drops: int
    backlog_packets: int
    backlog_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Red:
    """RED as tc-red(8): thresholds in bytes of the average queue.

    `early` are its own drops (probable and forced), not those of a full queue. `probability` is
    None where an old kernel shows a logarithm.
    """

    limit_bytes: int
    min_bytes: int
    max_bytes: int
    ecn: bool
    flags: tuple[str, ...]  # of harddrop, adaptive, nodrop
    ewma: int | None
    idle: int | None  # Scell_log: how its average falls while nothing comes
    probability: float | None
    marked: int
    early: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """How prio or ets is divided: the first `strict` bands are served in order, the others share
    by quantum. `priomap` is the band of each of the 16 packet priorities."""

    strict: int
    quanta_bytes: tuple[int, ...]
    priomap: tuple[int, ...]

    @property
    def number(self) -> int:
        """How many bands there are."""
        return self.strict + len(self.quanta_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Htb:
    """Where htb puts what no filter takes (minor number of a class, 0: past every queue), and how
    much went past."""

    default_minor: int
    direct_packets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdisc:
    """One queueing discipline. `parent` is None at the root. What its kind has not is None."""

    kind: str
    handle: Handle
    parent: Handle | None
    counts: QdiscStatistics
    limit: int | None = None  # bytes of a bfifo, packets of a pfifo
    rate_bits_per_s: int | None = None  # of a tbf
    marked: int | None = 0  # None: this kind may mark, and labtests does not know where it says so
    red: Red | None = None
    bands: Bands | None = None
    htb: Htb | None = None
    loss: float | None = None  # of a netem: the share that it loses at random; None: by a model

    def __str__(self) -> str:
        where = "root" if self.parent is None else f"parent {self.parent}"
        return f"{self.kind} {self.handle} {where}"


MOST_LOGARITHM = 31  # of RED's weight and idle table
MOST_BANDS = 16  # of prio and ets in Linux (TCQ_PRIO_BANDS, TCQ_ETS_MAX_BANDS)


def parse_qdiscs(reply: Reply) -> tuple[Qdisc, ...]:
    """Every qdisc of a port, in the order of tc."""
    try:
        shown = json_of(reply.text)
    except ValueError:
        refuse(reply, f"the answer is not JSON: {excerpt(reply.text, 80)!r}", _REMEDY)
    if not isinstance(shown, list) or not all(isinstance(each, dict) for each in shown):
        refuse(reply, "the answer is not a list of qdiscs", _REMEDY)
    return tuple(_qdisc(reply, each) for each in shown)


def _qdisc(reply: Reply, shown: Json) -> Qdisc:
    kind = shown.get("kind")
    if not isinstance(kind, str) or not isinstance(shown.get("options", {}), dict):
        refuse(reply, f"a qdisc without kind or options: {shown}")
    name = handle(reply, shown.get("handle"), f"the handle of a {kind}")
    look = _Fields(reply, f"{kind} {name}", shown)
    options = _Fields(
        reply, look.what, {key.strip(): value for key, value in shown.get("options", {}).items()}
    )
    parent = None if shown.get("root") else handle(reply, shown.get("parent"), f"parent of {name}")
    return Qdisc(
        kind=kind,
        handle=name,
        parent=parent,
        counts=_counts(look),
        limit=options.number("limit") if kind in ("bfifo", "pfifo") else None,
        rate_bits_per_s=8 * options.number("rate") if kind == "tbf" else None,
        marked=_marked(look, kind),
        red=_red(look, options) if kind == "red" else None,
        bands=_bands(options, kind) if kind in ("prio", "ets") else None,
        htb=_htb(options) if kind == "htb" else None,
        loss=_loss(options) if kind == "netem" else None,
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """An object of the answer; every look at a field that is not there is an error."""

    reply: Reply
    what: str
    shown: Json

    def number(self, name: str, absent: int | None = None) -> int:
        """A whole number that is not negative."""
        value = self.shown.get(name, absent)
        if type(value) is not int or value < 0:
            refuse(self.reply, f"{self.what}: {name} should be a whole number, not {value!r}")
        return value

    def logarithm(self, name: str) -> int | None:
        """One that the kernel takes (red_check_params); None where it is not told."""
        value = self.number(name) if name in self.shown else None
        if value is not None and value > MOST_LOGARITHM:
            refuse(self.reply, f"{self.what}: {name} should be up to {MOST_LOGARITHM}, not {value}")
        return value

    def share(self, name: str) -> float | None:
        """One, 0 to 1; None where it is not told."""
        value = self.shown.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            problem = f"{self.what}: {name} should be a number from 0 to 1, not {value!r}"
            refuse(self.reply, problem)
        return float(value)

    def numbers(self, name: str) -> tuple[int, ...]:
        """A list of them; () where there is none."""
        value = self.shown.get(name, [])
        if not isinstance(value, list) or not all(type(each) is int for each in value):
            refuse(self.reply, f"{self.what}: {name} should be whole numbers, not {value!r}")
        return tuple(value)


def _counts(look: _Fields) -> QdiscStatistics:
    return QdiscStatistics(
        packets=look.number("packets"),
        bytes=look.number("bytes"),
        drops=look.number("drops"),
        backlog_packets=look.number("qlen"),
        backlog_bytes=look.number("backlog"),
    )


_NEVER_MARKS = frozenset(
    {"bfifo", "pfifo", "pfifo_fast", "pfifo_head_drop", "tbf", "htb", "prio", "ets", "noqueue"}
)


def _marked(look: _Fields, kind: str) -> int | None:
    if kind == "red":
        return look.number("marked")
    if kind == "fq_codel":
        return look.number("ecn_mark")
    if kind == "netem" and look.shown.get("options", {}).get("ecn") is False:
        return 0  # with `ecn` it marks what it would have lost
    return 0 if kind in _NEVER_MARKS else None


def _red(look: _Fields, options: _Fields) -> Red:
    return Red(
        limit_bytes=options.number("limit"),
        min_bytes=options.number("min"),
        max_bytes=options.number("max"),
        ecn=bool(options.shown.get("ecn", False)),
        flags=tuple(f for f in ("harddrop", "adaptive", "nodrop") if options.shown.get(f)),
        ewma=options.logarithm("ewma"),
        idle=options.logarithm("Scell_log"),
        probability=options.share("probability"),
        marked=look.number("marked"),
        early=look.number("early"),
    )


def _bands(options: _Fields, kind: str) -> Bands:
    number = options.number("bands")
    quanta = options.numbers("quanta")
    strict = options.number("strict", 0) if kind == "ets" else number
    priomap = options.numbers("priomap")
    fits = strict + len(quanta) == number <= MOST_BANDS
    if not fits or len(priomap) != 16 or max(priomap) >= number:
        refuse(
            options.reply,
            f"{options.what}: {number} bands do not fit strict {strict}, quanta {quanta}, "
            f"priomap {priomap}",
        )
    return Bands(strict=strict, quanta_bytes=quanta, priomap=priomap)


def _loss(options: _Fields) -> float | None:
    """`loss-random`, as iproute2 writes it (tc/q_netem.c); None for `loss-state`, `loss-gemodel`:
    by a model it is not known how much."""
    if any(name.startswith("loss-") and name != "loss-random" for name in options.shown):
        return None
    random = options.shown.get("loss-random", {})
    share = random.get("loss", 0.0) if isinstance(random, dict) else None
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        refuse(options.reply, f"{options.what}: loss should be a share, not {share!r}")
    return float(share)


def _htb(options: _Fields) -> Htb:
    default = options.shown.get("default", "0")
    try:
        minor = int(default, 16)
    except (TypeError, ValueError):
        refuse(options.reply, f"{options.what}: default should be hexadecimal, not {default!r}")
    return Htb(default_minor=minor, direct_packets=options.number("direct_packets_stat"))
