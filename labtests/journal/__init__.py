"""What was asked of every device and what it answered, as it happened, without secrets.

One JSON object per line (`labtests-journal/1`). Every line has

    order       1, 2, 3, ... in the order of writing
    time_s      the lab's clock: of a reply when it was complete, else of the moment
    device      its name in the testbed; "" when no device is meant
    kind        see below

and by kind

    run         command, text, errors, status
    configure   commands (a list), command, text, errors, status
    start       process (a number), command, limit_s
    output      process, text, errors: what was printed since the line before; status: its exit
                status once known. Written only when something is new.
    signal      process, signal ("INT", "TERM", "KILL", or "close" = ended and gone)
    note        text

`status` is null on a CLI. A call that raised has `problem`, `remedy` and `error` (the name in
errors.py) in place of an answer. Secrets are replaced by `***` (see redaction.py). `recording.py`
replays such a file as a lab.
"""

from labtests.journal.redaction import RedactingFilter, Redaction, redacted_logs
from labtests.journal.wrapping import JournalledProcess, JournalledTransport
from labtests.journal.writing import Journal

__all__ = [
    "Journal",
    "JournalledProcess",
    "JournalledTransport",
    "RedactingFilter",
    "Redaction",
    "redacted_logs",
]
