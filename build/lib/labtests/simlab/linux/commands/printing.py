"""echo and printf."""

import re

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import NOT_HERE

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "e": "\x1b"}
_CONVERSION = re.compile(r"%([-+ 0#]*[0-9]{0,4}(?:\.[0-9]{1,4})?)([diouxXcsbeEfgG%])")


def echo(call: Call) -> int:
    """bash's echo: -n and -e."""
    words = list(call.arguments)
    options = ""
    while words and re.fullmatch(r"-[neE]+", words[0]):
        options += words.pop(0)[1:]
    text = " ".join(words)
    if "e" in options:
        text = unescaped(text)
    call.out(text if "n" in options else text + "\n")
    return 0


def printf(call: Call) -> int:
    """bash's printf; the format is used again while arguments are left."""
    if not call.arguments:
        call.err("printf: usage: printf [-v var] format [arguments]\n")
        return 2
    form, *values = call.arguments
    if "%" in _CONVERSION.sub("", form):
        call.err(f"bash: line 1: {NOT_HERE}: printf {form}\n")
        return 2
    text = ""
    while True:
        before = len(values)
        text += _once(unescaped(form), values)
        if not values or len(values) == before:
            break
    call.out(text)
    return 0


def unescaped(text: str) -> str:
    """Backslash escapes as characters."""
    return re.sub(r"\\(0?[0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", _escape, text)


def _escape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567" or code[1:]:
        return chr(int(code[1:], 16) if code[0] == "x" else int(code, 8) % 256)
    return _ESCAPES.get(code, match[0])


def _once(form: str, values: list[str]) -> str:
    def convert(match: re.Match[str]) -> str:
        flags, kind = match[1], match[2]
        if kind == "%":
            return "%"
        value = values.pop(0) if values else ""
        if kind in "csb":
            return f"%{flags}s" % (unescaped(value) if kind == "b" else value)
        if kind in "diouxX":
            return f"%{flags}{kind.replace('i', 'd')}" % _integer(value)
        return f"%{flags}{kind}" % float(value or 0)

    return _CONVERSION.sub(convert, form)


def _integer(value: str) -> int:
    try:
        return int(value or "0", 0)
    except ValueError:
        return 0
