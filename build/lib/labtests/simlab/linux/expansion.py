"""Words become arguments: variables, command substitution, word splitting, globs, tilde."""

import posixpath
import re
from collections.abc import Generator
from fnmatch import fnmatchcase

from labtests.simlab.linux.arithmetic import evaluate
from labtests.simlab.linux.execution import Execution, ShellExit
from labtests.simlab.linux.processes import Pause
from labtests.simlab.linux.syntax import ALL_PARAMETERS, PARAMETER, Word, WordPart, operand

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
    if word.parts == ALL_PARAMETERS:
        return list(shell.parameters[1:])
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
    if not fields[-1] and not word.parts[-1].quoted and (len(fields) > 1 or not whole):
        fields.pop()
    if fields and _starts_plain(word):
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
    if pieces and value[-1].isspace():
        fields.append("")
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
        text = yield from single(shell, operand(part.text))
        return str(evaluate(text, shell.variables()))
    if part.kind == "variable":
        return (yield from _variable(shell, part.text))
    return part.text


def _variable(shell: Execution, text: str) -> Generator[Pause, None, str]:
    found = PARAMETER.fullmatch(text)
    assert found is not None
    name, how = found["length"] or found["name"], found["how"] or ""
    value = shell.find(name)
    if how.endswith(("-", "+")):
        there = bool(value) if how.startswith(":") else value is not None
        wanted = there == how.endswith("+")
        if not wanted:
            return "" if how.endswith("+") else value or ""
        return (yield from single(shell, operand(found["word"])))
    if value is None and "u" in shell.flags:
        shell.complain(f"{name}: unbound variable", 1)
        raise ShellExit(127)
    value = value or ""
    if how:
        value = _trimmed(value, how, (yield from single(shell, operand(found["word"]))))
    return str(len(value)) if found["length"] else value


def _trimmed(value: str, how: str, pattern: str) -> str:
    """Without the shortest (`#`, `%`) or longest (`##`, `%%`) start or end of this pattern."""
    of_start, longest = how[0] == "#", len(how) == 2
    for at in sorted(range(len(value) + 1), reverse=of_start == longest):
        start, rest = value[:at], value[at:]
        if fnmatchcase(start if of_start else rest, pattern):
            return rest if of_start else start
    return value


def _starts_plain(word: Word) -> bool:
    first = word.parts[0] if word.parts else None
    return first is not None and first.kind == "text" and not first.quoted and first.text != ""


def _tilde(text: str) -> str:
    return re.sub(r"^~(root)?(?=/|$)", "/root", text)
