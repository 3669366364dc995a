"""An interactive Comware session: prompts, errors under a caret, pages, questions."""

import re

from labtests.simlab.comware.configuration import Refused
from labtests.simlab.comware.grammar import BadSyntax, Call, Command, Grammar, Problem
from labtests.simlab.comware.views import USER, Box, Context, Kind
from labtests.simlab.face import Console, Help

BANNER = """\
******************************************************************************
* Copyright (c) 2004-2024 New H3C Technologies Co., Ltd. All rights reserved.*
* Without the owner's prior written consent,                                 *
* no decompiling or reverse-engineering shall be allowed.                    *
******************************************************************************

"""

MORE = "  ---- More ----"  # driver facts have the words; blanks and what erases it are from memory
ERASE_MORE = f"\x1b[{len(MORE)}D{' ' * len(MORE)}\x1b[{len(MORE)}D"
PAGE_LINES = 24  # the default `screen-length` of a VTY line

OPERATOR = "network-operator"
OPERATORS_MAY = ("display", "system-view", "quit", "return", "screen-length", "terminal", "ping")
"""Every role may enter and leave the system view; an operator can do nothing there (HPE 5710
Fundamentals Configuration Guide: RBAC; each command's predefined user roles)."""

_FILTER = re.compile(r"\s\|\s*(?P<how>\w+)\s+(?P<pattern>.+?)\s*$")


class Interpreter:
    """One session's command line: text in, text out. Knows nothing of terminals."""

    def __init__(self, box: Box, known: dict[Kind, Grammar]) -> None:
        self.context = Context(box)
        self._known = known

    @property
    def prompt(self) -> str:
        """What stands before the next line; nothing while a question waits for its answer."""
        if self.context.question is not None:
            return ""
        return self.context.view.prompt(self.context.box.configuration.sysname)

    def run(self, line: str) -> str:
        """What is printed for this line."""
        if self.context.question is not None:
            question, self.context.question = self.context.question, None
            return question(line)
        if not line.strip() or line.lstrip().startswith("#"):
            return ""
        matched = _FILTER.search(line) if line.lstrip().lower().startswith("dis") else None
        typed = line[: matched.start()] if matched else line
        prompt = self.prompt
        try:
            command, call = self._known[self.context.view.kind].parse(typed)
            shown = self._execute(command, call)
            return shown if matched is None else _filtered(shown, matched, line)
        except BadSyntax as error:
            return rejection(error, prompt, line)
        except Refused as error:
            return f"{error}\n"

    def help(self, key: str, before: str) -> Help | None:
        """`?` lists what may follow; Tab completes a keyword that is the only one."""
        if self.context.question is not None:
            return None
        view, prompt = self.context.view, self.prompt
        try:
            begun, choices = self._known[view.kind].choices(before)
        except BadSyntax as error:
            shown = rejection(error, prompt, before)
            return Help(listing=shown + prompt) if key == "?" else Help()
        if key == "\t":
            only = len(choices) == 1 and not choices[0].startswith("<")
            return Help(insert=choices[0][len(begun) :] + " " if only and begun else "")
        title = f"{view.kind.capitalize()} view commands:\n" if not before.strip() else ""
        listing = "".join(f"  {choice}\n" for choice in choices)
        return Help(listing=title + listing + prompt)

    def _execute(self, command: Command, call: Call) -> str:
        faults = self.context.box.faults
        if faults.defects.role == OPERATOR and call.keywords[0] not in OPERATORS_MAY:
            raise Refused("Permission denied.")
        if command.changes and faults.lies:
            return ""
        text = command.handler(self.context, call)
        return faults.truncate(" ".join(call.keywords), text)


def rejection(error: BadSyntax, prompt: str, line: str) -> str:
    """The caret under the place in the echoed line, padded to that line's end, then the message.

    The padding is that of a recording. Captures of some releases have a blank before the `%`.
    """
    caret = " " * (len(prompt) + error.column) + "^"
    return f"{caret.ljust(len(prompt) + len(line))}\n{error.problem.value}\n"


def _filtered(text: str, matched: re.Match[str], line: str) -> str:
    """`display … | include X`."""
    try:
        pattern = re.compile(matched["pattern"])
    except re.error:
        pattern = re.compile(re.escape(matched["pattern"]))
    shown, how = text.splitlines(keepends=True), matched["how"].lower()
    hits = [bool(pattern.search(each)) for each in shown]
    if "include".startswith(how):
        return "".join(each for each, hit in zip(shown, hits, strict=True) if hit)
    if "exclude".startswith(how):
        return "".join(each for each, hit in zip(shown, hits, strict=True) if not hit)
    if "begin".startswith(how):
        return "".join(shown[hits.index(True) :]) if True in hits else ""
    raise BadSyntax(Problem.UNRECOGNIZED, matched.start("how"))


class Terminal:
    """An interpreter at a console: prints prompts and pages."""

    def __init__(self, box: Box, known: dict[Kind, Grammar], console: Console) -> None:
        self._interpreter = Interpreter(box, known)
        self._console = console
        self._rest: list[str] = []  # of a display that waits at its More line

    def open(self) -> None:
        """The banner and the first prompt are printed."""
        self._console.on_interrupt = self._interrupt
        self._console.on_suspend = self._suspend
        self._console.on_help = self._interpreter.help
        self._console.on_eof = lambda: self._console.exit(0)
        self._console.write(BANNER + self._interpreter.prompt)
        self._console.on_line = self._line

    def _line(self, line: str) -> None:
        faults = self._interpreter.context.box.faults
        if not faults.given(line) or faults.hangs(line):
            return  # no prompt comes until Ctrl-C
        text = self._interpreter.run(line)
        faults.obeyed(line)
        if self._interpreter.context.closing:
            self._console.write(text)
            self._console.exit(0)
            return
        self._rest = text.splitlines(keepends=True)
        pages = self._interpreter.context.paging and self._console.pty
        self._print(PAGE_LINES if pages else len(self._rest))

    def _print(self, count: int) -> None:
        shown, self._rest = self._rest[:count], self._rest[count:]
        self._console.write("".join(shown))
        if self._rest:
            self._console.write(MORE)
            self._console.on_key = self._key
        else:
            self._console.write(self._interpreter.prompt)
            self._console.on_key = None

    def _key(self, key: str) -> None:
        """At the More line: a page, a line, or (Ctrl-C, q) no more. Other keys do nothing."""
        if key not in " \r\n\x03q":
            return
        self._console.write(ERASE_MORE)
        if key in "\x03q":
            self._rest = []
        self._print(PAGE_LINES if key == " " else 1)

    def _interrupt(self) -> None:
        self._interpreter.context.question = None
        self._console.write(f"\n{self._interpreter.prompt}")

    def _suspend(self) -> None:
        """Ctrl-Z: back to user view."""
        self._interpreter.context.question = None
        self._interpreter.context.view = USER
        self._console.write(f"\n{self._interpreter.prompt}")


def batch(box: Box, known: dict[Kind, Grammar], commands: str) -> str:
    """Everything a command given to `ssh host …` prints: no prompts, no pages."""
    interpreter = Interpreter(box, known)
    return "".join(interpreter.run(line) for line in commands.splitlines())
