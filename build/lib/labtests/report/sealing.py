"""A Content-Security-Policy for the page: the scripts that are known run, and nothing else does.

What a device printed is escaped everywhere. This is the second wall, should one place be missed, in
this project or in pytest-html (which writes a test's id as it is).
"""

import base64
import hashlib
from functools import cache
from importlib import resources

_BEGIN, _END, _HEAD = "<script>", "</script>", "<head>"
_AS_WIDE = '<meta name="viewport" content="width=device-width, initial-scale=1">'
_OF_PYTEST_HTML = 'id="data-container"'
_HANDLER = ' onclick="location.reload()"'
"""Of a button that is not shown; the policy would only complain of it."""


@cache
def page_script() -> str:
    """What draws when something is opened; the same bytes in every page."""
    return resources.files("labtests.report").joinpath("page.js").read_text(encoding="ascii")


def policy(*more: str) -> str:
    """Of a page with our script, and these."""
    known = " ".join(f"'sha256-{_digest(text)}'" for text in (page_script(), *more))
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; "
        f"script-src {known}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def sealed(html: str) -> str:
    """pytest-html's page with the policy in its head. A page of another kind stays as it is.

    Its script is the last of the page; whatever a report holds stands before it."""
    begin = html.rfind(_BEGIN)
    end = html.find(_END, begin)
    if begin < 0 or end < 0 or _OF_PYTEST_HTML not in html or _HEAD not in html:
        return html
    held = policy(html[begin + len(_BEGIN) : end])
    meta = f'{_HEAD}<meta http-equiv="Content-Security-Policy" content="{held}">{_AS_WIDE}'
    html = html.replace(_HANDLER, "")  # in a text of the run it would have its quotes escaped
    return html.replace("<html>", '<html lang="en">', 1).replace(_HEAD, meta, 1)
