"""The whole QoS state of a lab as one plain value: taken, compared, put back (docs/snapshot.md)."""

from labtests.snapshot.comparing import Difference, compare
from labtests.snapshot.files import FORMAT, Snapshot, is_snapshot, read, write
from labtests.snapshot.reader import Reader, in_parallel
from labtests.snapshot.taking import take

__all__ = [
    "FORMAT",
    "Difference",
    "Reader",
    "Snapshot",
    "compare",
    "in_parallel",
    "is_snapshot",
    "read",
    "take",
    "write",
]
