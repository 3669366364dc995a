"""From run.json (docs/run-json.md) to HTML. Pure: no device, no clock, no script in the page.

Everything in a run may be hostile: devices print what they like. So every value is escaped, and a
value that is not there is shown as not there, with the reason, never as 0.
"""

from labtests.report.pages import css, page, state_html, summary_html, test_html
from labtests.report.runs import read_run
from labtests.report.sealing import sealed

__all__ = [
    "css",
    "page",
    "read_run",
    "sealed",
    "state_html",
    "summary_html",
    "test_html",
]
