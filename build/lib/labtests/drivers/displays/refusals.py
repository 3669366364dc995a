"""When a CLI says no: an error line instead of an answer, or between lines of configuration.

Inside a configuration block every line that is neither an echo of what was sent nor a known notice
counts as a refusal of the line before it: a new sentence is never taken for consent.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from labtests.capabilities.settings import Commands
from labtests.core.errors import CommandRejected
from labtests.drivers.parsing import lines
from labtests.transport.protocol import Reply

_CARET = re.compile(r"^\s*\^\s*")
_CARET_ALONE = "a caret and no sentence"
_ANY_REMEDY = "send the line by hand in the same view and see what the switch wants instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The words of one CLI: its prompt, how a refusal of a question begins, what it may say that is
    none, the lines that change views, and what helps where a refusal has certain words."""

    prompt: re.Pattern[str]
    refusal: re.Pattern[str]
    notice: re.Pattern[str]
    views: frozenset[str]
    remedies: Mapping[str, str] = field(default_factory=dict)

    def expect_answer(self, reply: Reply) -> None:
        """Raise CommandRejected when this answer to a question is a refusal."""
        caret = False
        for line in lines(reply):
            said = _CARET.sub("", line).strip()
            caret = caret or _CARET.match(line) is not None
            if self.refusal.match(said) and not self.notice.match(said):
                self._reject(reply.device, reply.command, said)
        if caret:
            self._reject(reply.device, reply.command, _CARET_ALONE)

    def is_refusal(self, reply: Reply) -> bool:
        """Whether the switch does not know (or not allow) this question."""
        try:
            self.expect_answer(reply)
        except CommandRejected:
            return True
        return False

    def expect_accepted(self, reply: Reply, commands: Commands) -> None:
        """Raise CommandRejected, with the exact line, when a configuration line was refused.

        `reply` is everything the switch printed while `commands` were sent, echoes and prompts
        included or not.
        """
        sent = {_squeezed(command) for command in commands} | self.views
        command, caret = reply.command, False
        for line in lines(reply):
            said = _squeezed(self.prompt.sub("", line))
            if said in sent:
                command = said
                continue
            caret = caret or _CARET.match(line) is not None
            said = _CARET.sub("", said)
            if said and not self.notice.match(said):
                self._reject(reply.device, command, said)
        if caret:
            self._reject(reply.device, command, _CARET_ALONE)

    def _reject(self, device: str, command: str, said: str) -> NoReturn:
        found = (remedy for words, remedy in self.remedies.items() if words in said)
        problem = f"the switch answered {said!r}"
        raise CommandRejected(device, command, problem, next(found, _ANY_REMEDY))


def _squeezed(text: str) -> str:
    return " ".join(text.split())
