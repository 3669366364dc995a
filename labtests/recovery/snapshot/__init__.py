"""The whole QoS state of a lab as one plain value: taken, compared, put back (docs/snapshot.md)."""

from labtests.recovery.snapshot.comparing import SnapshotDifference, compare
from labtests.recovery.snapshot.files import FORMAT, Snapshot, is_snapshot, read, write
from labtests.recovery.snapshot.reader import Reader, in_parallel
from labtests.recovery.snapshot.taking import take

__all__ = [
    "FORMAT",
    "Reader",
    "Snapshot",
    "SnapshotDifference",
    "compare",
    "in_parallel",
    "is_snapshot",
    "read",
    "take",
    "write",
]
