"""How Comware reads a command line: keywords by unique prefix, parameters by form, errors by place.

A pattern is written as in the manuals: `qos wrr <queue> group { 1 | 2 } byte-count <weight>`,
with `[ … ]` for what may be left out. All patterns of a view form one tree of words.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Problem(StrEnum):
    """Comware's own words (H3C Fundamentals Configuration Guide, "syntax error messages")."""

    UNRECOGNIZED = "% Unrecognized command found at '^' position."
    INCOMPLETE = "% Incomplete command found at '^' position."
    AMBIGUOUS = "% Ambiguous command found at '^' position."
    TOO_MANY = "% Too many parameters found at '^' position."
    WRONG = "% Wrong parameter found at '^' position."


class BadSyntax(Exception):
    """The line is not a command. `column` is where the caret goes, counted in the line."""

    def __init__(self, problem: Problem, column: int) -> None:
        super().__init__(problem.value)
        self.problem, self.column = problem, column


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands."""

    text: str
    column: int


class Parameter(Protocol):
    """A kind of argument."""

    def read(self, words: Sequence[Word]) -> tuple[Any, int] | None:
        """The value and how many words it took; None when these words are none of its kind.

        Raises BadSyntax when they begin like one and are wrong."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A recognised command: its keywords in full, and its arguments by name."""

    keywords: tuple[str, ...]
    values: dict[str, Any]


Handler = Callable[[Any, Call], str]
"""Gets the session's context and the call, does it and returns what is printed."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a pattern stands for. `changes`: it alters the configuration."""

    handler: Handler
    changes: bool = False


@dataclass(slots=True)
class _Node:
    keywords: dict[str, "_Node"] = field(default_factory=dict)
    parameters: list[tuple[str, Parameter, "_Node"]] = field(default_factory=list)
    command: Command | None = None


_TOKEN = re.compile(r"[\[\]{}|]|<[^>]+>|[^\s\[\]{}|]+")


class Grammar:
    """All commands of one view."""

    def __init__(self, parameters: dict[str, Parameter]) -> None:
        self._parameters = parameters
        self._root = _Node()

    def add(self, pattern: str, command: Command) -> None:
        """The command is known from now on; a later one of the same pattern replaces it."""
        for tokens in _expand(_TOKEN.findall(pattern)):
            node = self._root
            for token in tokens:
                node = self._step(node, token)
            node.command = command

    def parse(self, line: str) -> tuple[Command, Call]:
        """The command and its arguments. Raises BadSyntax."""
        words = [Word(m.group(), m.start()) for m in re.finditer(r"\S+", line)]
        node, keywords, values, index = self._root, list[str](), dict[str, Any](), 0
        while index < len(words):
            name, taken = _keyword(node, words[index]), 1
            if name is not None:
                keywords.append(name)
                node = node.keywords[name]
            else:
                node, taken = _argument(node, words[index:], values)
            index += taken
        if node.command is None:
            raise BadSyntax(Problem.INCOMPLETE, len(line.rstrip()) + 1)
        return node.command, Call(tuple(keywords), values)

    def choices(self, before: str) -> tuple[str, list[str]]:
        """The word begun, and what may stand in its place: keywords, forms of arguments, `<cr>`.

        Raises BadSyntax when the words before it are no beginning of a command.
        """
        words = [Word(m.group(), m.start()) for m in re.finditer(r"\S+", before)]
        begun = words.pop().text.lower() if before[-1:].strip() else ""
        node, index = self._root, 0
        while index < len(words):
            name, taken = _keyword(node, words[index]), 1
            if name is not None:
                node = node.keywords[name]
            else:
                node, taken = _argument(node, words[index:], {})
            index += taken
        found = sorted(name for name in node.keywords if name.startswith(begun))
        if not begun:
            found += [f"<{name}>" for name, _, _ in node.parameters]
            found += ["<cr>"] if node.command is not None else []
        return begun, found

    def _step(self, node: _Node, token: str) -> _Node:
        if not token.startswith("<"):
            return node.keywords.setdefault(token, _Node())
        name = token.strip("<>")
        for known, _, following in node.parameters:
            if known == name:
                return following
        following = _Node()
        node.parameters.append((name, self._parameters[name], following))
        return following


def _keyword(node: _Node, word: Word) -> str | None:
    """The keyword meant: spelled out, or the only one that begins so. None: perhaps an argument."""
    text = word.text.lower()
    if text in node.keywords:
        return text
    candidates = [name for name in node.keywords if name.startswith(text)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise BadSyntax(Problem.AMBIGUOUS, word.column)
    return None


def _argument(node: _Node, words: Sequence[Word], values: dict[str, Any]) -> tuple[_Node, int]:
    for name, parameter, following in node.parameters:
        found = parameter.read(words)
        if found is not None:
            values[name], taken = found
            return following, taken
    if node.parameters:
        raise BadSyntax(Problem.WRONG, words[0].column)
    if node.keywords:
        raise BadSyntax(Problem.UNRECOGNIZED, words[0].column)
    raise BadSyntax(Problem.TOO_MANY, words[0].column)


def _expand(tokens: list[str]) -> Iterator[list[str]]:
    """Every sequence of words that a pattern allows."""
    for index, token in enumerate(tokens):
        if token in "[{":
            end = _closing(tokens, index)
            choices = _alternatives(tokens[index + 1 : end])
            if token == "[":
                choices.append([])
            for choice in choices:
                yield from _expand([*tokens[:index], *choice, *tokens[end + 1 :]])
            return
    yield tokens


def _closing(tokens: list[str], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] in "[{") - (tokens[index] in "]}")
        if depth == 0:
            return index
    raise ValueError(f"a bracket is not closed in {tokens}")


def _alternatives(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "[{") - (token in "]}")
        if token == "|" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
