"""`tc -d class show dev IF`: how the classes of an htb are served (tc-htb(8)).

A class first sends at its own `rate`; what is left of its parent's goes by `prio` (0 is served
first) and among equals by `quantum`, in bytes a round. Rates and bursts are kept as tc words them.
iproute2 6.15 and 7.3 print `burst 1600b/1mpu 0b`, older ones `burst 1600b/1 mpu 0b`.
"""

import re
from dataclasses import dataclass

from labtests.drivers.linux_switch.handles import Handle, handle
from labtests.drivers.parsing import matches, refuse, whole_number
from labtests.transport.protocol import Reply

_CLASS = re.compile(
    r"^class htb (?P<id>\S+) (?:root|parent (?P<parent>\S+))(?: leaf \S+)?"
    r"(?: prio (?P<prio>\d+))?(?: quantum (?P<quantum>\d+))? rate (?P<rate>\S+)"
    r"(?P<odd1>(?: overhead \S+)?) ceil (?P<ceil>\S+)(?P<odd2>(?: overhead \S+)?)"
    r"(?: linklayer (?P<linklayer>\S+))? burst (?P<burst>\d+(?:\.\d+)?[KM]?b)(?:/\d+)?"
    r"(?: ?mpu (?P<mpu>\S+))?(?P<odd3>(?: overhead \S+)?)"
    r" cburst (?P<cburst>\d+(?:\.\d+)?[KM]?b)(?:/\d+)?(?: ?mpu (?P<cmpu>\S+))?"
    r"(?P<odd4>(?: overhead \S+)?) level (?P<level>\d+)(?: offload)?\s*$"
)
_OF_OTHERS = re.compile(r"^class (?!htb )\w+ \S+ .*$")
_STATISTICS = re.compile(
    r"^ (?:Sent \d+ bytes|backlog \d|rate \d|lended: \d|tokens: -?\d|deficit |borrowed ).*$"
)
_RATE = re.compile(r"([0-9]+)([KMGT]?)bit")
_BITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KM]?)b")
_BYTES = {"": 1, "K": 2**10, "M": 2**20}


@dataclass(frozen=True, slots=True, kw_only=True)
class HtbClass:
    """One leaf class. `odd` are options (overhead, mpu, link layer) that a change would lose."""

    handle: Handle
    parent: Handle | None
    prio: int
    quantum_bytes: int
    rate: str
    ceil: str
    burst: str
    cburst: str
    odd: str

    @property
    def rate_bits_per_s(self) -> int:
        """What it sends at before the others get a turn."""
        return bits_per_s(self.rate)

    @property
    def ceil_bits_per_s(self) -> int:
        """What it sends at most."""
        return bits_per_s(self.ceil)


def bits_per_s(rate: str) -> int:
    """A rate as tc words it; below 1000 units it is exact."""
    number, unit = _RATE.fullmatch(rate).groups()  # type: ignore[union-attr]  # checked when read
    return int(number) * _BITS[unit]


def size_bytes(size: str) -> float:
    """A size as tc words it."""
    number, unit = _SIZE.fullmatch(size).groups()  # type: ignore[union-attr]  # checked when read
    return float(number) * _BYTES[unit]


def parse_classes(reply: Reply) -> tuple[HtbClass, ...]:
    """The leaf classes of htb, by their number."""
    found = [
        _class(reply, line)
        for line in matches(reply, _CLASS, _OF_OTHERS, _STATISTICS)
        if line.re is _CLASS and line["level"] == "0"
    ]
    if len({each.handle for each in found}) != len(found):
        refuse(reply, "a class appears twice")
    return tuple(sorted(found, key=lambda each: each.handle))


def _class(reply: Reply, line: re.Match[str]) -> HtbClass:
    if line["prio"] is None or line["quantum"] is None:
        refuse(reply, f"a leaf class without prio or quantum: {line.group().strip()!r}")
    for name in ("rate", "ceil"):
        if not _RATE.fullmatch(line[name]):
            refuse(reply, f"{name} of class {line['id']} is not a rate: {line[name]!r}")
    odd = [line[f"odd{n}"].strip() for n in range(1, 5)]
    odd += [f"mpu {line[n]}" for n in ("mpu", "cmpu") if line[n] not in (None, "0b")]
    odd += [f"linklayer {line['linklayer']}"] if line["linklayer"] not in (None, "ethernet") else []
    return HtbClass(
        handle=handle(reply, line["id"], "a class"),
        parent=None if line["parent"] is None else handle(reply, line["parent"], "a parent"),
        prio=whole_number(reply, line["prio"], "prio"),
        quantum_bytes=whole_number(reply, line["quantum"], "quantum"),
        rate=line["rate"],
        ceil=line["ceil"],
        burst=line["burst"],
        cburst=line["cburst"],
        odd=" ".join(each for each in odd if each),
    )


def burst_to_ask(rate: str, burst: str) -> str:
    """The size to give tc so that it shows this burst again: it counts in whole microseconds of the
    rate, rounded down twice (tc/tc_core.c). The size itself where no such size is found."""
    bytes_per_us = bits_per_s(rate) / 8e6
    wanted = size_bytes(burst)
    for more in range(4):
        size = int(wanted + more * bytes_per_us) + (1 if more else 0)
        if abs(_shown(size, bytes_per_us) - wanted) < 1:
            return f"{size}b"
    return burst


def _shown(size: int, bytes_per_us: float) -> int:
    ticks_per_us = 15.625  # 64 ns a tick: /proc/net/psched of every kernel since 2.6.31
    ticks = int(int(size / bytes_per_us) * ticks_per_us)
    return int(bytes_per_us * int(ticks / ticks_per_us))
