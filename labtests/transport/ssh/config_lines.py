"""A line of ssh_config as OpenSSH reads it, written so that paramiko reads the same.

paramiko takes a comment behind a value for a part of it, and knows no single quotes: with
`HostKeyAlias box # the lab` it would look for another name than ssh, and learn a key for it.
"""

import re
import shlex
from collections.abc import Iterator

from labtests.transport.ssh.known_files import FILE_OPTIONS

_OPTION = re.compile(r"[ \t]*(\w+)(?:[ \t]*=[ \t]*|[ \t]+|(?=\"))(.*)", re.ASCII)
_ONE_LINE_TO_ITS_END = ("proxycommand", "localcommand", "remotecommand", "knownhostscommand")
_PATTERNS = ("host", "match")
_ONE_WORD = frozenset(
    ("connecttimeout", "hostkeyalias", "hostname", "identityfile", "port", "proxyjump", "user")
)
"""Options that are read here and have one value: with more ssh refuses the file."""
_ESCAPED = "\\\"'"


def lines_of(text: str) -> Iterator[str]:
    """The lines, each in plain words. Raises ValueError with number and reason."""
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.rstrip(" \t\r\f").lstrip(" \t\r")
        try:
            yield plain(stripped) if stripped and not stripped.startswith("#") else ""
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def plain(line: str) -> str:
    """Raises ValueError for what ssh refuses, and for what cannot be said to paramiko."""
    found = _OPTION.fullmatch(line)
    if found is None or not found[2] or "\0" in line:
        raise ValueError("not an option and its value")
    option, value = found[1], found[2]
    if option.lower() in (*_ONE_LINE_TO_ITS_END, *FILE_OPTIONS):
        return f"{option} {value}"
    words = _words(value)
    if not words:
        raise ValueError(f"{option} has no value")
    if len(words) > 1 and option.lower() in _ONE_WORD:
        raise ValueError(f"{option} has more than one value")
    if option.lower() in _PATTERNS:
        return f"{option} {shlex.join(words)}"
    return f"{option} {' '.join(map(_quoted, words))}"


def _words(value: str) -> list[str]:
    """Up to a comment (misc.c, argv_split)."""
    words: list[str] = []
    rest = value.lstrip(" \t")
    while rest and not rest.startswith("#"):
        word, rest = _first_word(rest)
        words.append(word)
        rest = rest.lstrip(" \t")
    return words


def _first_word(text: str) -> tuple[str, str]:
    word, quote, at = "", "", 0
    while at < len(text) and (quote or text[at] not in " \t"):
        here, behind = text[at], text[at + 1 : at + 2]
        if here == "\\" and behind and (behind in _ESCAPED or (behind == " " and not quote)):
            word, at = word + behind, at + 1
        elif here == quote or (not quote and here in "\"'"):
            quote = "" if quote else here
        else:
            word += here
        at += 1
    if quote:
        raise ValueError(f"a quote {quote} has no end")
    return word, text[at:]


def _quoted(word: str) -> str:
    """For paramiko, which takes double quotes off at both ends, and an `=` at the beginning."""
    if '"' in word:
        raise ValueError("a quote in a value is not read here")
    return f'"{word}"' if not word or " " in word or "\t" in word or word.startswith("=") else word
