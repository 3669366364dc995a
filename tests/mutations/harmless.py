"""Mutations that stand for no loss and no missing proof, each with the reason."""

from itertools import chain

import harmless_anywhere
import harmless_classes
import harmless_pauses
import harmless_rdma
import harmless_ways
from harmless_words import Harmless
from mutating import Mutation

ROOMS = (harmless_anywhere, harmless_classes, harmless_pauses, harmless_rdma, harmless_ways)
DECLARED: tuple[Harmless, ...] = tuple(chain.from_iterable(each.DECLARED for each in ROOMS))


def why_harmless(suite: str, mutation: Mutation) -> str:
    """The reason that is declared; "" for none."""
    return next((each.because for each in DECLARED if each.has(suite, mutation)), "")
