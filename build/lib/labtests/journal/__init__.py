"""The change journal: what is about to be changed on a lab, written down ahead of the change; how
it is read after a crash; and the runs that were not finished.

What was said to the devices is another file: transport/transcript.py.
"""

from labtests.journal.append_only import InUse, NotWritten
from labtests.journal.changes import (
    FILE_NAME,
    Begun,
    ChangeJournal,
    Entry,
    Intent,
)
from labtests.journal.history import Story, read_changes
from labtests.journal.runner import Runner, state_of, this_runner
from labtests.journal.unfinished import Unfinished, register, state_folder, unfinished_runs

__all__ = [
    "FILE_NAME",
    "Begun",
    "ChangeJournal",
    "Entry",
    "InUse",
    "Intent",
    "NotWritten",
    "Runner",
    "Story",
    "Unfinished",
    "read_changes",
    "register",
    "state_folder",
    "state_of",
    "this_runner",
    "unfinished_runs",
]
