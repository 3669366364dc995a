"""pytest-html's page with a Content-Security-Policy: its own script runs, and nothing else does.

What a device printed is escaped everywhere. This is the second wall, should one place be missed, in
this project or in pytest-html (which writes a test's id as it is).
"""

import base64
import hashlib

_BEGIN, _END, _HEAD = "<script>", "</script>", "<head>"
_AS_WIDE = '<meta name="viewport" content="width=device-width, initial-scale=1">'
_OF_PYTEST_HTML = 'id="data-container"'


def sealed(html: str) -> str:
    """The page with the policy in its head. A page of another kind stays as it is.

    The script is the last of the page; whatever a report holds stands before it."""
    begin = html.rfind(_BEGIN)
    end = html.find(_END, begin)
    if begin < 0 or end < 0 or _OF_PYTEST_HTML not in html or _HEAD not in html:
        return html
    script = html[begin + len(_BEGIN) : end].encode()
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    meta = f'{_HEAD}<meta http-equiv="Content-Security-Policy" content="{policy}">{_AS_WIDE}'
    return html.replace(_HEAD, meta, 1)
