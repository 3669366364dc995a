"""When a Comware switch says no.

Most refusals are a caret line and `% Unrecognized command found at '^' position.`; some are plain
sentences without a % ("The rule does not exist.", "This subnet overlaps with another interface!").
"""

import re

from labtests.drivers.displays import Refusals

_REFUSALS = Refusals(
    # <H3C>, [H3C], [H3C-Twenty-FiveGigE1/0/14], RBM_P[H3C-...], and a trailing blank
    prompt=re.compile(r"^(?:RBM_[PS])?(?:<[^<>]+>|\[[^\[\]]+\])\s?"),
    refusal=re.compile(r"^% ?\w.* found at '\^' position|^% "),
    notice=re.compile(
        r"^System View: return to User View with Ctrl\+Z\.$"
        r"|^Enter system view, return user view with Ctrl\+Z\.$"  # Comware 5
        r"|^%[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"  # a log line of `terminal monitor`
    ),
    views=frozenset({"system-view", "return", "quit"}),
    remedies={
        "Unrecognized command": "this model or software has no such command in this view, or the "
        "account's role may not use it; try it by hand with `?`",
        "Incomplete command": "this model wants more words; try it by hand with `?`",
        "Ambiguous command": "this model knows two commands that start so; write it out",
        "Wrong parameter": "this model takes another value here; try it by hand with `?`",
        "Too many parameters": "this model wants fewer words; try it by hand with `?`",
        "Permission denied": "log in with an account that has the role network-admin",
    },
)
expect_answer, is_refusal = _REFUSALS.expect_answer, _REFUSALS.is_refusal
expect_accepted = _REFUSALS.expect_accepted
