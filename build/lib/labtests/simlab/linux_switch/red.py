"""The options of RED: what tc makes of them for the kernel (iproute2: q_red.c, tc_red.c)."""

import math

from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux_switch.arguments import Words, kernel_error
from labtests.simlab.linux_switch.nodes import RedOptions
from labtests.simlab.linux_switch.quantities import read_rate, read_size, send_ticks

_DEFAULT_RATE = 10_000_000
_SIZES = ("limit", "min", "max", "avpkt")
_OTHERS = ("harddrop", "adaptive", "adaptative", "nodrop", "qevent")
_LONGEST_IDLE = 512  # entries of the kernel's table


def red_options(words: Words) -> tuple[RedOptions, str]:
    """The options, and what tc remarks about them."""
    numbers: dict[str, int] = {}
    probability, rate, ecn = 0.02, 0, False
    while words:
        name = words.take()
        if name in _SIZES:
            numbers[name] = _size(words, name)
        elif name == "burst":
            numbers[name] = words.number("RED", "burst")
        elif name == "probability":
            probability = _probability(words)
        elif name == "bandwidth":
            rate = read_rate(words.take()) or 0
        elif name == "ecn":
            ecn = True
        else:
            _strange(name)
    return _evaluated(numbers, probability, rate, ecn=ecn)


def _evaluated(
    numbers: dict[str, int], probability: float, rate: int, *, ecn: bool
) -> tuple[RedOptions, str]:
    if not numbers.get("limit") or not numbers.get("avpkt"):
        raise Refused("RED: Required parameter (limit, avpkt) is missing\n", 1)
    remarks = "" if rate else "RED: set bandwidth to 10Mbit\n"
    rate = rate or _DEFAULT_RATE
    limit, packet = numbers["limit"], numbers["avpkt"]
    highest = numbers.get("max") or limit // 4
    lowest = numbers.get("min") or highest // 3
    burst = numbers.get("burst") or (2 * lowest + highest) // (3 * packet)
    if highest <= lowest:
        raise Refused("RED: failed to calculate probability.\n", 1)
    ewma = _ewma(lowest, burst, packet)
    if limit < highest:
        raise kernel_error("Invalid argument")
    options = RedOptions(
        limit=limit,
        min=lowest,
        max=highest,
        ewma=ewma,
        probability=probability,
        cell_log=_cell_log(ewma, packet, rate),
        ecn=ecn,
    )
    return options, remarks


def _size(words: Words, name: str) -> int:
    text = words.take()
    size = read_size(text)
    if size is None:
        raise Refused(f'RED: Illegal value for "{name}": "{text}"\n', 1)
    return size


def _probability(words: Words) -> float:
    text = words.take()
    try:
        return float(text)
    except ValueError:
        raise Refused(f'RED: Illegal value for "probability": "{text}"\n', 1) from None


def _strange(name: str) -> None:
    if name in _OTHERS:
        raise NotEmulated(f"RED with {name}")
    raise Refused(f"RED: unknown parameter {name}\n", 1)


def _ewma(lowest: int, burst: int, packet: int) -> int:
    """The weight whose average follows a burst of so many packets (tc_red_eval_ewma)."""
    wanted = burst + 1 - lowest / packet
    if wanted >= 1:
        for exponent in range(1, 32):
            weight = 0.5**exponent
            if wanted <= (1 - (1 - weight) ** burst) / weight:
                return exponent
    raise Refused("RED: failed to calculate EWMA constant.\n", 1)


def _cell_log(ewma: int, packet: int, rate: int) -> int:
    """For the average of an empty queue (tc_red_eval_idle_damping)."""
    decay = -math.log(1 - 0.5**ewma) / send_ticks(rate, packet)
    longest = 31 / decay
    for log in range(32):
        if longest / (1 << log) < _LONGEST_IDLE:
            return log
    raise Refused("RED: failed to calculate idle damping table.\n", 1)
