"""Numbers that come out the same interpreted and compiled, to the last bit."""

from labtests.simlab.network.compiled import compiled
from labtests.simlab.network.rows import clock_at
from labtests.simlab.network.tables import State

DRAWS = 2147483562
"""How many different numbers the generator draws, all equally likely."""


@compiled
def random_below(t: State, limit: int) -> int:
    """A random integer 0 <= n < limit <= DRAWS (two combined Lehmer generators, L'Ecuyer 1988).

    Equally likely when limit divides DRAWS; else the lower ones are likelier by up to limit/DRAWS.
    """
    clock = clock_at(t, 0)
    clock.random_1 = clock.random_1 * 40014 % 2147483563
    clock.random_2 = clock.random_2 * 40692 % 2147483399
    return int((clock.random_1 - clock.random_2) % DRAWS % limit)


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
