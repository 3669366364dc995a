"""From run.json (docs/run-json.md) to HTML. Pure: no device, no clock.

Everything in a run may be hostile: devices print what they like. So every value is escaped, and a
value that is not there is shown as not there, with the reason, never as 0.
"""

from labtests.report.answer import in_short, trust
from labtests.report.earlier import earlier_run
from labtests.report.pages import body, css, page
from labtests.report.past import Past, past_of
from labtests.report.runs import WHOLE_EXITS, read_run, was_whole
from labtests.report.sealing import sealed
from labtests.report.tables import FORMAT, write_run

__all__ = [
    "FORMAT",
    "WHOLE_EXITS",
    "Past",
    "body",
    "css",
    "earlier_run",
    "in_short",
    "page",
    "past_of",
    "read_run",
    "sealed",
    "trust",
    "was_whole",
    "write_run",
]
