"""Shell words as commands: lists, pipelines, redirections, if/for/while, groups and subshells."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

from labtests.simlab.linux.syntax import (
    ALL_PARAMETERS,
    Lexer,
    Operator,
    ShellSyntax,
    Token,
    Word,
    beyond,
)

_REDIRECTIONS = ("<<", "<", ">", ">>", ">&", "<&", "&>", "&>>", "<<<")
_BEYOND = ("[[", "case", "select", "function", "coproc")
_SEPARATORS = (";", "&", "\n")
_BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}")
_DEEPEST = 50
"""What commands may nest: more would end the process that emulates the host. bash has no bound."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """`2> file` and the like."""

    operator: str
    descriptor: int
    target: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """Assignments, a command with its arguments, and where its streams go."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`."""

    commands: tuple["Command", ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class ListItem:
    """One pipeline of a list, and when it runs: always, after success (&&), after failure (||)."""

    pipeline: Pipeline
    condition: Literal["", "&&", "||"]
    background: bool


@dataclass(frozen=True, slots=True)
class List:
    """Pipelines one after the other."""

    entries: tuple[ListItem, ...]


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """`{ …; }`, or `( … )` in a process of its own."""

    body: List
    subshell: bool
    redirections: tuple[Redirection, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`if`: tests with what follows them, and what is done when none is true."""

    branches: tuple[tuple[List, List], ...]
    otherwise: List | None


@dataclass(frozen=True, slots=True)
class For:
    """`for NAME in WORDS`."""

    name: str
    words: tuple[Word, ...]
    body: List


@dataclass(frozen=True, slots=True)
class While:
    """`while` and `until`."""

    test: List
    body: List
    until: bool


Command = Simple | CommandGroup | If | For | While


@lru_cache(maxsize=512)  # many hosts are asked the same
def parse(text: str) -> List:
    """The commands of a text. Raises ShellSyntax in bash's words."""
    parser = _Parser(list(Lexer(text).tokens()))
    commands = parser.list_until(())
    parser.expect_end()
    return commands


def incomplete(text: str) -> bool:
    """Whether a shell asks for more: an open quote, an `if` without `fi`, a `|` at the end."""
    try:
        parse(text)
    except ShellSyntax as error:
        return "unexpected end of file" in str(error) or "unexpected EOF" in str(error)
    return text.endswith("\\\n")


@dataclass(slots=True)
class _Parser:
    tokens: Sequence[Token]
    at: int = field(default=0)
    depth: int = field(default=0)

    def list_until(self, ends: tuple[str, ...]) -> List:
        """Pipelines up to one of these reserved words or operators, which stays unread."""
        entries: list[ListItem] = []
        self._skip_newlines()
        condition: Literal["", "&&", "||"] = ""
        while self._peek() is not None and not self._is_end(ends):
            pipeline = self._pipeline()
            separator = self._operator_text()
            background = separator == "&"
            entries.append(ListItem(pipeline, condition, background))
            condition = ""
            if separator == "&&" or separator == "||":
                condition = "&&" if separator == "&&" else "||"
                self.at += 1
                self._skip_newlines()
                if self._peek() is None:
                    raise ShellSyntax("syntax error: unexpected end of file")
            elif separator in _SEPARATORS:
                self.at += 1
                self._skip_newlines()
            else:
                break
        return List(tuple(entries))

    def expect_end(self) -> None:
        """Nothing is left."""
        token = self._peek()
        if token is not None:
            raise self._unexpected(token)

    def _pipeline(self) -> Pipeline:
        negated = self._reserved("!")
        if negated:
            self.at += 1
        commands = [self._command()]
        while self._operator_text() in ("|", "|&"):
            if self._operator_text() == "|&":
                raise beyond("|& (2>&1 | is)")
            self.at += 1
            self._skip_newlines()
            commands.append(self._command())
        return Pipeline(tuple(commands), negated)

    def _command(self) -> Command:
        token = self._peek()
        if token is None:
            raise ShellSyntax("syntax error: unexpected end of file")
        if isinstance(token, Operator):
            if token.text == "(":
                return self._deeper(partial(self._group, ")"))
            if token.text not in _REDIRECTIONS:
                raise self._unexpected(token)
            return self._simple()
        compound: dict[str, Callable[[], Command]] = {"{": partial(self._group, "}")}
        compound |= {"if": self._if, "for": self._for, "while": self._while, "until": self._while}
        if token.plain in _BEYOND:
            raise beyond(str(token.plain))
        start = compound.get(token.plain or "")
        return self._simple() if start is None else self._redirected(self._deeper(start))

    def _deeper(self, start: Callable[[], Command]) -> Command:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ShellSyntax("syntax error: maximum nesting level exceeded")
        try:
            return start()
        finally:
            self.depth -= 1

    def _redirected(self, command: Command) -> Command:
        """`for … done > FILE` is `{ for … done; } > FILE`."""
        redirections = tuple(self._redirections())
        if not redirections:
            return command
        pipeline = Pipeline((command,), negated=False)
        return CommandGroup(List((ListItem(pipeline, "", background=False),)), False, redirections)

    def _group(self, end: str) -> CommandGroup:
        self.at += 1
        body = self.list_until((end,))
        self._expect(end)
        return CommandGroup(body, end == ")", tuple(self._redirections()))

    def _if(self) -> Command:
        branches: list[tuple[List, List]] = []
        otherwise = None
        while self._reserved("if") or self._reserved("elif"):
            self.at += 1
            test = self.list_until(("then",))
            self._expect("then")
            branches.append((test, self.list_until(("elif", "else", "fi"))))
        if self._reserved("else"):
            self.at += 1
            otherwise = self.list_until(("fi",))
        self._expect("fi")
        return If(tuple(branches), otherwise)

    def _for(self) -> Command:
        self.at += 1
        name = self._next_word().plain or ""
        words = [Word(ALL_PARAMETERS, 1)]
        if self._reserved("in"):
            self.at += 1
            words.clear()
            while isinstance(self._peek(), Word):
                words.append(self._next_word())
        if self._operator_text() in _SEPARATORS:
            self.at += 1
            self._skip_newlines()
        return For(name, tuple(words), self._do())

    def _while(self) -> Command:
        until = self._reserved("until")
        self.at += 1
        test = self.list_until(("do",))
        return While(test, self._do(), until)

    def _do(self) -> List:
        self._expect("do")
        body = self.list_until(("done",))
        self._expect("done")
        return body

    def _simple(self) -> Simple:
        words: list[Word] = []
        redirections: list[Redirection] = []
        token = self._peek()
        line = token.line if token is not None else 1
        while True:
            redirections += self._redirections()
            if words and self._operator_text() == "(":
                raise beyond("functions, arrays")
            if not isinstance(self._peek(), Word):
                return Simple(tuple(words), tuple(redirections), line)
            words.append(self._next_word())

    def _redirections(self) -> list[Redirection]:
        found: list[Redirection] = []
        while self._operator_text() in _REDIRECTIONS:
            token = self._peek()
            assert isinstance(token, Operator)
            self.at += 1
            if token.text == "<<":
                raise beyond("<< (printf | is)")
            usual = 0 if token.text.startswith("<") else 1
            descriptor = usual if token.descriptor is None else token.descriptor
            found.append(Redirection(token.text, descriptor, self._next_word()))
        return found

    def _next_word(self) -> Word:
        token = self._peek()
        if not isinstance(token, Word):
            raise self._unexpected(token)
        self.at += 1
        for part in token.parts:
            if part.kind == "command":
                parse(part.text)
            if part.kind == "text" and not part.quoted and _BRACES.search(part.text):
                raise beyond(part.text)
        return token

    def _peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _operator_text(self) -> str:
        token = self._peek()
        return token.text if isinstance(token, Operator) else ""

    def _reserved(self, word: str) -> bool:
        token = self._peek()
        return isinstance(token, Word) and token.plain == word

    def _is_end(self, ends: tuple[str, ...]) -> bool:
        return self._operator_text() in (*ends, ")") or any(self._reserved(end) for end in ends)

    def _expect(self, text: str) -> None:
        if self._operator_text() != text and not self._reserved(text):
            raise self._unexpected(self._peek())
        self.at += 1

    def _skip_newlines(self) -> None:
        while self._operator_text() == "\n":
            self.at += 1

    def _unexpected(self, token: Token | None) -> ShellSyntax:
        if token is None:
            return ShellSyntax("syntax error: unexpected end of file")
        text = token.text if isinstance(token, Operator) else token.plain or "word"
        text = "newline" if text == "\n" else text
        return ShellSyntax(f"syntax error near unexpected token `{text}'")
