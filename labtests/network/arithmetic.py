"""Numbers that come out the same interpreted and compiled, to the last bit."""

from collections.abc import Callable
from typing import Any, cast

from labtests.network.compiled import INTERPRETED, compiled, inlined
from labtests.network.compiler import numba
from labtests.network.rows import clock_at
from labtests.network.tables import State

DRAWS = 2147483562
"""How many different numbers the generator draws, all equally likely."""
NOT_NEGATIVE = (1 << 62) - 1
"""Changes no product or difference here; says to the compiler that the remainder needs no sign."""


@inlined
def random_below(t: State, limit: int) -> int:
    """A random integer 0 <= n < limit <= DRAWS (two combined Lehmer generators, L'Ecuyer 1988).

    Equally likely when limit divides DRAWS; else the lower ones are likelier by up to limit/DRAWS.
    """
    clock = clock_at(t, 0)
    clock.random_1 = (clock.random_1 * 40014 & NOT_NEGATIVE) % 2147483563
    clock.random_2 = (clock.random_2 * 40692 & NOT_NEGATIVE) % 2147483399
    draw = clock.random_1 - clock.random_2
    if draw < 0:
        draw += DRAWS
    return int((draw & NOT_NEGATIVE) % limit)


@compiled
def exponential(t: State, mean: int) -> int:
    """A random integer >= 0, exponentially distributed with this mean (ps; at most 2**58).

    By comparing uniform numbers alone (von Neumann 1951), so with the same bits interpreted and
    compiled, which a logarithm would not promise. A falling run u1 > u2 > ... is drawn; of odd
    length, its first number is the fraction; of even length, one whole mean is added and it begins
    anew. 4.3 draws an average.
    """
    whole = 0
    while True:
        first = random_below(t, DRAWS)
        last = first
        length = 1
        while True:
            draw = random_below(t, DRAWS)
            if draw >= last:
                break
            last = draw
            length += 1
        if length & 1:
            return int(whole + mean // DRAWS * first + mean % DRAWS * first // DRAWS)
        whole += mean


@compiled
def power(base: float, exponent: int) -> float:
    """base**exponent by squaring: the same rounding interpreted and compiled."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


def _lowest_bit(word: int) -> int:
    """The number of the lowest bit that is set in `word` > 0."""
    return (int(word) & -int(word)).bit_length() - 1


def _compiled_lowest_bit() -> Callable[[int], int]:
    types = numba().core.types

    def lowest_bit(_typing: Any, _word: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

        return types.int64(types.int64), generate

    return cast(Callable[[int], int], numba().extending.intrinsic(lowest_bit))


lowest_bit = _lowest_bit if INTERPRETED else _compiled_lowest_bit()
"""The number of the lowest bit that is set in an integer > 0 (one instruction)."""


@compiled
def highest_bit(mask: int) -> int:
    """The number of the highest bit that is set in `mask`, of eight."""
    i = 7
    while not (mask >> i) & 1:
        i -= 1
    return i
