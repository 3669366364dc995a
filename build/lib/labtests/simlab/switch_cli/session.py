"""One command-line session: text in, text out, no terminal."""

import re
from collections.abc import Callable, Mapping
from string import ascii_letters
from typing import Any

from labtests.simlab.switch_cli.configuration import ROOT, CliSection, CommandRefused, Path
from labtests.simlab.switch_cli.grammar import BadSyntax, CliCall, CliCommand, Grammar, Problem
from labtests.simlab.switch_cli.switch import EmulatedSwitch

OPERATOR = "network-operator"
"""The role, of the fault `role`, that is limited to the vendor's `operators_may`."""


class CliSession:
    """The state of one session, and the answers to its commands."""

    def __init__(self, switch: EmulatedSwitch, grammars: Mapping[str, Grammar]) -> None:
        self.switch, self.cli = switch, switch.cli
        self.view = self.cli.first_view
        self.paths: tuple[Path, ...] = (ROOT,)
        """The sections that are being configured."""
        self.paging = True
        self.closing = False
        self.question: Callable[[str], str] | None = None
        """Takes the next line as an answer, and returns what is printed."""
        self._grammars = grammars

    @property
    def prompt(self) -> str:
        """The prompt; empty while a question waits for its answer."""
        if self.question is not None:
            return ""
        view = self.cli.views[self.view]
        name = self.paths[0][-1][1] if self.paths[0] else ""
        several = view.several if len(self.paths) > 1 else ""
        number = name.lstrip(ascii_letters + "-")
        told = {"host": self.switch.hostname, "name": name, "number": number}
        return (several or view.prompt).format_map(told)

    def run(self, line: str) -> str:
        """What is printed in answer to this line."""
        if self.question is not None:
            question, self.question = self.question, None
            return question(line)
        if not line.strip() or line.lstrip().startswith(self.cli.words.comment):
            return ""
        chain, printed = self.cli.words.chain, ""
        for command in line.split(chain) if chain else (line,):
            printed += self._run(command)
            if self.switch.faults.truncates(command):  # nothing comes behind what ends early
                break
        return printed

    def _run(self, line: str) -> str:
        prompt = self.prompt
        try:
            typed, matched = self.cli.words.split(line)
            shown = self._execute(*self._grammars[self.view].parse(typed))
            return shown if matched is None else self._filtered(shown, matched)
        except BadSyntax as error:
            self.switch.faults.happened["refused"] += 1
            return self._rejection(error, prompt, line)
        except CommandRefused as error:
            self.switch.faults.happened["refused"] += 1
            return f"{error}\n"

    def obey(self, line: str) -> str:
        """The same, ignoring faults and roles."""
        command, call = self._grammars[self.view].parse(line)
        return command.handler(self, call)

    def listing(self, before: str) -> str:
        """What `?` prints: what can follow the words so far, and the prompt again."""
        if self.question is not None:
            return ""
        prompt = self.prompt
        try:
            choices = self._grammars[self.view].choices(before)
        except BadSyntax as error:
            return self._rejection(error, prompt, before) + prompt
        title = self.cli.words.help_title.format(view=self.view.capitalize())
        shown = "".join(f"  {choice}\n" for choice in choices)
        return ("" if before.strip() else title) + shown + prompt

    # -- for commands ---------------------------------------------------------------------------

    @property
    def section(self) -> CliSection:
        """The (first) section being configured. Raises CommandRefused."""
        return self.switch.configuration.find(self.paths[0])

    def sections(self, kind: str) -> list[CliSection]:
        """What a setting of this kind changes: the sections being configured, otherwise all."""
        configuration, here = self.switch.configuration, self.paths[0][-1:]
        if here and here[0][0] == kind:
            return [configuration.find(path) for path in self.paths]
        return list(configuration.of(kind).values()) if kind else [configuration.root]

    def ports(self, call: CliCall) -> tuple[str, ...]:
        """The port named in the command, or all."""
        return (call.values["port"],) if "port" in call.values else self.switch.ports

    def blocks(self, call: CliCall, block: Callable[[str], str]) -> str:
        """The non-empty blocks of the ports, separated by blank lines."""
        shown = [block(port) for port in self.ports(call)]
        return "\n".join(text for text in shown if text)

    def show(self, screen: str, **values: Any) -> str:
        """The screen with these values."""
        return self.switch.show(screen, **values)

    def go(self, view: str, *paths: Path) -> None:
        """The session is in this view, configuring these sections."""
        self.view, self.paths = view, paths or (ROOT,)

    # -- answering --------------------------------------------------------------------------------

    def _execute(self, command: CliCommand, call: CliCall) -> str:
        faults, words = self.switch.faults, self.cli.words
        if faults.defects.role == OPERATOR and call.keywords[0] not in words.operators_may:
            raise CommandRefused(words.denied)
        if command.changes and faults.lies:
            return ""
        text = command.handler(self, call)
        return faults.truncate(" ".join(call.keywords), text)

    def _rejection(self, error: BadSyntax, prompt: str, line: str) -> str:
        column = len(prompt) + error.column
        return self.cli.words.rejection(error.problem, column, prompt + line)

    def _filtered(self, text: str, matched: re.Match[str]) -> str:
        how = [word for word in self.cli.words.filters if word.startswith(matched["how"].lower())]
        if not how:
            raise BadSyntax(Problem.UNRECOGNIZED, matched.start("how"))
        lines = text.splitlines(keepends=True)
        hits = [_found(matched["pattern"], line) for line in lines]
        return "".join(self.cli.words.filters[how[0]](lines, hits))


def _found(pattern: str, line: str) -> bool:
    try:
        return re.search(pattern, line) is not None
    except re.error:
        return pattern in line
