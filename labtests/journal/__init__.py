"""What was asked of every device and what it answered, as it happened, without secrets.

One JSON object per line (`labtests-journal/1`). Every line has

    order       1, 2, 3, ... in the order of writing
    time_s      the lab's clock: of a reply when it was complete, else of the moment
    device      its name in the testbed; "" when no device is meant
    kind        see below

and by kind

    run         command, text, errors, status
    configure   commands (a list), command, text, errors, status; of a host that was sent several
                lines also parts: of each that was sent command, text, errors, status
    start       process (a number), command, limit_s
    output      process, text, errors: what was printed since the line before; status: its exit
                status once known. Written only when something is new.
    signal      process, signal ("INT", "TERM", "KILL", or "close" = ended and gone)
    note        text

`status` is null on a CLI. A call that raised has `problem`, `remedy` and `error` (the name in
errors.py) in place of an answer. Secrets are replaced by `***` (see redaction.py). `recording.py`
replays such a file as a lab.

Beside it stands the change journal (changes.py): what is about to be changed, ahead of the change.
"""

from labtests.journal.changes import (
    FILE_NAME,
    Begun,
    ChangeJournal,
    Entry,
    Intent,
)
from labtests.journal.pages import InUse, NotWritten
from labtests.journal.redaction import RedactingFilter, Redaction, redacted_logs
from labtests.journal.runner import Runner, state_of, this_runner
from labtests.journal.story import Story, read_changes
from labtests.journal.unfinished import Unfinished, register, state_folder, unfinished_runs
from labtests.journal.wrapping import JournalledProcess, JournalledTransport
from labtests.journal.writing import Journal

__all__ = [
    "FILE_NAME",
    "Begun",
    "ChangeJournal",
    "Entry",
    "InUse",
    "Intent",
    "Journal",
    "JournalledProcess",
    "JournalledTransport",
    "NotWritten",
    "RedactingFilter",
    "Redaction",
    "Runner",
    "Story",
    "Unfinished",
    "read_changes",
    "redacted_logs",
    "register",
    "state_folder",
    "state_of",
    "this_runner",
    "unfinished_runs",
]
