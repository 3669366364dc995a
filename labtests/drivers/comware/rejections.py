"""When a Comware switch says no.

Most refusals are a caret line and `% Unrecognized command found at '^' position.`; some are plain
sentences without a % ("The rule does not exist.", "This subnet overlaps with another interface!").
So inside a configuration block every line that is neither an echo of what was sent nor a known
notice counts as a refusal of the line before it.
"""

import re
from typing import NoReturn

from labtests.capabilities.settings import Commands
from labtests.core.errors import CommandRejected
from labtests.drivers.parsing import lines
from labtests.transport.protocol import Reply

# <H3C>, [H3C], [H3C-Twenty-FiveGigE1/0/14], RBM_P[H3C-...], and a trailing blank
_PROMPT = re.compile(r"^(?:RBM_[PS])?(?:<[^<>]+>|\[[^\[\]]+\])\s?")
_CARET = re.compile(r"^\s*\^\s*")
_REFUSAL = re.compile(r"^% ?\w.* found at '\^' position|^% ")
_NOTICE = re.compile(
    r"^System View: return to User View with Ctrl\+Z\.$"
    r"|^Enter system view, return user view with Ctrl\+Z\.$"  # Comware 5
    r"|^%[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"  # a log line of `terminal monitor`
)
_VIEW_CHANGES = frozenset({"system-view", "return", "quit"})

_REMEDIES = (
    (
        "Unrecognized command",
        "this model or software has no such command in this view, or the account's role may not "
        "use it; try it by hand with `?`",
    ),
    ("Incomplete command", "this model wants more words; try it by hand with `?`"),
    ("Ambiguous command", "this model knows two commands that start so; write it out"),
    ("Wrong parameter", "this model takes another value here; try it by hand with `?`"),
    ("Too many parameters", "this model wants fewer words; try it by hand with `?`"),
    ("Permission denied", "log in with an account that has the role network-admin"),
)
_CARET_ALONE = "a caret and no sentence"
_ANY_REMEDY = "send the line by hand in the same view and see what the switch wants instead"


def expect_answer(reply: Reply) -> None:
    """Raise CommandRejected when this answer to a `display` command is a refusal."""
    caret = False
    for line in lines(reply):
        said = _CARET.sub("", line).strip()
        caret = caret or _CARET.match(line) is not None
        if _REFUSAL.match(said) and not _NOTICE.match(said):
            _reject(reply.device, reply.command, said)
    if caret:
        _reject(reply.device, reply.command, _CARET_ALONE)


def is_refusal(reply: Reply) -> bool:
    """Whether the switch does not know (or not allow) this command."""
    try:
        expect_answer(reply)
    except CommandRejected:
        return True
    return False


def expect_accepted(reply: Reply, commands: Commands) -> None:
    """Raise CommandRejected, with the exact line, when a configuration line was refused.

    `reply` is everything the switch printed while `commands` were sent, echoes and prompts
    included or not.
    """
    sent = {_squeezed(command) for command in commands} | _VIEW_CHANGES
    command, caret = reply.command, False
    for line in lines(reply):
        said = _squeezed(_PROMPT.sub("", line))
        if said in sent:
            command = said
            continue
        caret = caret or _CARET.match(line) is not None
        said = _CARET.sub("", said)
        if said and not _NOTICE.match(said):
            _reject(reply.device, command, said)
    if caret:
        _reject(reply.device, command, _CARET_ALONE)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _reject(device: str, command: str, said: str) -> NoReturn:
    remedy = next((r for words, r in _REMEDIES if words in said), _ANY_REMEDY)
    raise CommandRejected(device, command, f"the switch answered {said!r}", remedy)
