"""After a crash: what an earlier run changed is found, said, and put back (docs/recovery.md)."""

from labtests.recovery.guard import (
    LabHeld,
    NotPutBack,
    claim,
    expect_put_back,
    held_by,
    left_behind,
)
from labtests.recovery.replay import Recovered, find, forget, recover

__all__ = [
    "LabHeld",
    "NotPutBack",
    "Recovered",
    "claim",
    "expect_put_back",
    "find",
    "forget",
    "held_by",
    "left_behind",
    "recover",
]
