"""The words of Onyx: sentences, the pager, names of ports, counters that faults may grow."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labtests.simlab.switch_cli import CliWords, CountingRules, Pager, Problem
from labtests.simlab.switch_cli.grammar import BadSyntax, TypedWord

_UNRECOGNIZED = '% Unrecognized command "{word}".\nType "?" for help.'
"""The first sentence: parsers of public tools. The second: an OS of the same origin."""


class OnyxWords(CliWords):
    """Sentences without a caret."""

    def rejection(self, problem: Problem, column: int, echoed: str) -> str:
        """The sentence, about the word that does not fit."""
        words = echoed[column:].split()
        return f"{self.problems[problem]}\n".format(word=words[0] if words else "")


WORDS = OnyxWords(
    problems={
        **dict.fromkeys((Problem.UNRECOGNIZED, Problem.WRONG, Problem.TOO_MANY), _UNRECOGNIZED),
        # both from memory
        Problem.INCOMPLETE: '% Incomplete command.\nType "?" for help.',
        Problem.AMBIGUOUS: '% Ambiguous command "{word}".\nType "?" for help.',
    },
    show="show",
    comment="#",
    denied=_UNRECOGNIZED.format(word="configure"),
    operators_may=frozenset({"show", "enable", "disable", "exit", "no", "cli"}),
)
PAGER = Pager(more="lines 1-23 ", erase="\r\x1b[K", lines=0)  # the words: a public tool
COUNTING = CountingRules(
    growing={"fcs errors": "crc_errors", "discard packets": "input_buffer_drops"}
)


class PortSpan(tuple[str, ...]):
    """Names of ports, printed as lines have them: `1/1-1/3`."""

    __slots__ = ()

    def __str__(self) -> str:
        ends = dict.fromkeys(number(each) for each in (self[0], self[-1]))
        return "-".join(ends)


def number(port: str) -> str:
    """`1/13` of Eth1/13."""
    return port.removeprefix("Eth")


@dataclass(frozen=True, slots=True)
class PortNumbers:
    """One of this switch's ports, or those from one to another: `1/1`, `1/1-1/3`."""

    names: tuple[str, ...]

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        match = re.fullmatch(r"([0-9/]+)(?:-([0-9/]+))?", words[0].text)
        if match is None:
            return None
        ends = (f"Eth{match[1]}", f"Eth{match[2] or match[1]}")
        if not set(ends) <= set(self.names):
            raise BadSyntax(Problem.WRONG, words[0].column)
        first, last = map(self.names.index, ends)
        return PortSpan(self.names[first : last + 1]), 1
