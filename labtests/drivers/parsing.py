"""Strict reading of command output, shared by every parser.

An unread line is how a drop counter becomes "0 drops". So every line of an output is read by a rule
or skipped by a rule, and anything else is refused with the line, its number and what to do; so is
an output whose last line has no end.
"""

import re
from collections.abc import Iterator
from typing import NoReturn

from labtests.core.errors import UnreadableOutput
from labtests.core.output import excerpt, quoted_excerpt
from labtests.transport.protocol import Reply

BLANK = re.compile(r"^\s*$")
BLANK_OR_RULER = re.compile(r"^[-\s]*$")
LONGEST_LINE = 10_000  # characters: one of /proc/net/netstat has 3000
MOST_LINES = 100_000  # of one answer: `ethtool -S` has 3000, 512 ports of a switch 30 000
LONGEST_FIELD = 512
_MAC = re.compile("(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}[.]){2}[0-9A-Fa-f]{4}")
_NO_NUMBER = re.compile(r"[0-9]{100}")

SAVE_IT = "save the output under tests/transcripts and teach the parser this line"
READ_AGAIN = "run it again by hand; if it stays so, save the output under tests/transcripts"


def refuse(reply: Reply, problem: str, remedy: str = SAVE_IT) -> NoReturn:
    """Raise UnreadableOutput for this answer."""
    raise UnreadableOutput(reply.device, reply.command, problem, remedy)


def incomplete(reply: Reply, what: str) -> NoReturn:
    """Raise UnreadableOutput for an answer that lacks something it always has."""
    refuse(reply, f"the output is incomplete: {what}", READ_AGAIN)


def matches(
    reply: Reply, *rules: re.Pattern[str], skip: re.Pattern[str] = BLANK_OR_RULER
) -> Iterator[re.Match[str]]:
    """Each line as the first rule reads it. A line that no rule reads is an error, never a gap."""
    for number, line in enumerate(whole_lines(reply), start=1):
        if skip.match(line):
            continue
        match = next((m for rule in rules if (m := rule.match(line))), None)
        if match is None:
            refuse(reply, f"line {number} is unrecognised: {quoted_excerpt(line)}")
        yield match


def whole(reply: Reply) -> str:
    """What was answered. Every program that is read by a driver ends its last line; where the end
    is missing, the line is not whole, and `99` may have been 99393. That it is the last line is
    proven by the transports: a host's exit status, a mark after each command, a CLI's prompt."""
    whole_lines(reply)
    return reply.text


def whole_lines(reply: Reply) -> list[str]:
    """The lines of an answer, each of which has its end."""
    found = lines(reply)
    if reply.text and not reply.text.endswith(("\n", "\r")):
        incomplete(reply, f"the last line has no end: {quoted_excerpt(found[-1])}")
    return found


def lines(reply: Reply) -> list[str]:
    r"""The lines of an answer. Only \n, \r\n and \r end a line: str.splitlines would also cut at
    form feeds and Unicode separators, which a hostile port description may hold. What is read of a
    line is shown and kept, so a line has an end."""
    _expect_numbers(reply)
    if reply.text.count("\n") + reply.text.count("\r") > 2 * MOST_LINES:
        refuse(reply, f"it has more than {MOST_LINES} lines")
    found = re.split(r"\r\n|\n|\r", reply.text.removesuffix("\n").removesuffix("\r"))
    if len(found) > MOST_LINES:
        refuse(reply, f"it has more than {MOST_LINES} lines")
    for number, line in enumerate(found, start=1):
        if len(line) > LONGEST_LINE:
            refuse(reply, f"line {number} has {len(line)} characters: no line is so long")
    return found


def _expect_numbers(reply: Reply) -> None:
    """int() would refuse 4300 digits with an error that is none of a device."""
    if _NO_NUMBER.search(reply.text):
        refuse(reply, "it has a number of 100 digits or more")


def kept(reply: Reply, text: str, what: str) -> str:
    """A text that is kept and shown, such as a name or a version: IEEE 802.1AB has 255 octets."""
    if len(text) > LONGEST_FIELD:
        refuse(reply, f"{what} has {len(text)} characters: it cannot be one")
    return text


def whole_number(reply: Reply, text: str, what: str) -> int:
    """A counter's value: ASCII digits only. A sign, a unit, a comma or anything else is refused."""
    if not re.fullmatch(r"[0-9]{1,40}", text):
        refuse(reply, f"{what} should be a whole number, not {excerpt(text, 80)!r}")
    return int(text)


def mac_digits(text: str) -> str | None:
    """Of a MAC address, `aa:bb:cc:dd:ee:ff` or `aabb.ccdd.eeff`; None for another text."""
    return re.sub("[:.]", "", text).lower() if _MAC.fullmatch(text) else None
