"""The whole QoS state of a lab as one plain value: taken, compared, put back (docs/snapshot.md)."""

from labtests.recovery.snapshot.comparing import SnapshotDifference, compare
from labtests.recovery.snapshot.files import Snapshot, is_snapshot, read, write
from labtests.recovery.snapshot.taking import take

__all__ = [
    "Snapshot",
    "SnapshotDifference",
    "compare",
    "is_snapshot",
    "read",
    "take",
    "write",
]
