"""Words become arguments: variables, command substitution, word splitting, globs, tilde."""

import posixpath
import re
from collections.abc import Generator

from labtests.simlab.linux.arithmetic import evaluate
from labtests.simlab.linux.execution import Execution
from labtests.simlab.linux.processes import Pause
from labtests.simlab.linux.syntax import Word, WordPart

_DEFAULT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9?$!#@*-]):?-(.*)", re.DOTALL)
_ESCAPED = str.maketrans({"*": "\ue000", "?": "\ue001", "[": "\ue002"})  # quoted: not for globs
_RESTORED = str.maketrans({"\ue000": "*", "\ue001": "?", "\ue002": "["})


def arguments(shell: Execution, words: tuple[Word, ...]) -> Generator[Pause, None, list[str]]:
    """The arguments that the words stand for."""
    found: list[str] = []
    for word in words:
        found += yield from _fields(shell, word)
    return found


def single(shell: Execution, word: Word) -> Generator[Pause, None, str]:
    """The word as one string, without splitting: an assignment's value, a redirection's target."""
    text = ""
    for part in word.parts:
        text += yield from _value(shell, part)
    return _tilde(text) if _starts_plain(word) else text


def _fields(shell: Execution, word: Word) -> Generator[Pause, None, list[str]]:
    fields: list[str] = [""]
    whole = any(part.quoted for part in word.parts)  # "" is an argument, an empty $x is none
    for part in word.parts:
        value = yield from _value(shell, part)
        if part.quoted:
            fields[-1] += value.translate(_ESCAPED)
        elif part.kind == "text":
            fields[-1] += value
        else:
            whole = _split_onto(fields, value) or whole
    if not whole and fields == [""]:
        return []
    if _starts_plain(word):
        fields[0] = _tilde(fields[0])
    return [name for text in fields for name in _globbed(shell, text)]


def _split_onto(fields: list[str], value: str) -> bool:
    """Append an unquoted value: its blanks separate arguments. Whether there was anything."""
    pieces = value.split()
    if value[:1].isspace() and fields[-1] and pieces:
        fields.append("")
    for number, piece in enumerate(pieces):
        if number:
            fields.append("")
        fields[-1] += piece
    return bool(pieces)


def _globbed(shell: Execution, text: str) -> list[str]:
    if not any(character in text for character in "*?["):
        return [text.translate(_RESTORED)]
    if text.startswith("/"):
        found = shell.host.tree.glob(text)
    else:
        found = [
            posixpath.relpath(path, shell.process.directory)
            for path in shell.host.tree.glob(posixpath.join(shell.process.directory, text))
        ]
    return found or [text.translate(_RESTORED)]


def _value(shell: Execution, part: WordPart) -> Generator[Pause, None, str]:
    if part.kind == "command":
        return (yield from shell.substitute(part.text))
    if part.kind == "arithmetic":
        return str(evaluate(part.text, shell.variables()))
    if part.kind == "variable":
        return _variable(shell, part.text)
    return part.text


def _variable(shell: Execution, text: str) -> str:
    default = _DEFAULT.fullmatch(text)
    if default is not None:
        return shell.variable(default[1]) or default[2]
    if text.startswith("#") and len(text) > 1:
        return str(len(shell.variable(text[1:])))
    return shell.variable(text)


def _starts_plain(word: Word) -> bool:
    return bool(word.parts) and word.parts[0].kind == "text" and not word.parts[0].quoted


def _tilde(text: str) -> str:
    return "/root" + text[1:] if text == "~" or text.startswith("~/") else text
