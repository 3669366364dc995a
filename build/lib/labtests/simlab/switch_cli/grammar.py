"""How a switch reads a command line: keywords by unique prefix, arguments by form, errors by place.

A pattern is written as in the manuals, with arguments in `<…>` where manuals have italics:
`qos wrr <queue> group { 1 | 2 } byte-count <weight>`, `[ … ]` for what may be left out. All
patterns of a view form one tree of words.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol


class Problem(Enum):
    """Why a line is no command; each vendor has a sentence for each."""

    UNRECOGNIZED = auto()
    INCOMPLETE = auto()
    AMBIGUOUS = auto()
    TOO_MANY = auto()
    WRONG = auto()


class BadSyntax(Exception):
    """The line is not a command. `column` is where the caret goes, counted in the line."""

    def __init__(self, problem: Problem, column: int) -> None:
        super().__init__(f"{problem.name} at {column}")
        self.problem, self.column = problem, column


@dataclass(frozen=True, slots=True)
class TypedWord:
    """A word and where it stands."""

    text: str
    column: int


class Argument(Protocol):
    """A kind of argument. `str` of its value is how the switch prints it."""

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """The value and how many words it took; None when these words are none of its kind.

        Raises BadSyntax when they begin like one and are wrong."""
        ...


@dataclass(frozen=True, slots=True)
class CliCall:
    """A recognised command: all words in full, the keywords alone, the arguments by name."""

    words: tuple[str, ...]
    keywords: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The line as the switch would print it."""
        return " ".join(self.words)


Handler = Callable[[Any, CliCall], str]
"""Takes the session and the call, executes it and returns what is printed."""


@dataclass(frozen=True, slots=True)
class CliCommand:
    """What a pattern stands for. `changes`: it alters the configuration."""

    handler: Handler
    changes: bool = False


@dataclass(slots=True)
class _Node:
    keywords: dict[str, "_Node"] = field(default_factory=dict)
    arguments: list[tuple[str, Argument, "_Node"]] = field(default_factory=list)
    command: CliCommand | None = None


@dataclass(slots=True)
class _CommandWalk:
    """The words read so far, and where in the tree they lead."""

    node: _Node
    words: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def walk(self, words: Sequence[TypedWord]) -> None:
        """All of these. Raises BadSyntax."""
        while words:
            words = words[self._step(words) :]

    def _step(self, words: Sequence[TypedWord]) -> int:
        keyword = _keyword(self.node, words[0])
        if keyword is None:
            name, value, taken, self.node = _argument(self.node, words)
            self.values[name] = value
            self.words.append(str(value))
            return taken
        self.node = self.node.keywords[keyword]
        self.words.append(keyword)
        self.keywords.append(keyword)
        return 1


class Grammar:
    """All commands of one view."""

    def __init__(
        self, arguments: Mapping[str, Argument], commands: Mapping[str, CliCommand]
    ) -> None:
        self._arguments = arguments
        self._root = _Node()
        for pattern, command in commands.items():
            self._add(pattern, command)

    def parse(self, line: str) -> tuple[CliCommand, CliCall]:
        """The command and its arguments. Raises BadSyntax."""
        path = _CommandWalk(self._root)
        path.walk(_words(line))
        if path.node.command is None:
            raise BadSyntax(Problem.INCOMPLETE, len(line.rstrip()) + 1)
        return path.node.command, CliCall(tuple(path.words), tuple(path.keywords), path.values)

    def choices(self, before: str) -> list[str]:
        """What may stand in the place of the word begun: keywords, forms of arguments, `<cr>`.

        Raises BadSyntax when the words before it are no beginning of a command.
        """
        words = _words(before)
        begun = words.pop().text.lower() if before[-1:].strip() else ""
        path = _CommandWalk(self._root)
        path.walk(words)
        found = sorted(name for name in path.node.keywords if name.startswith(begun))
        if not begun:
            found += [f"<{name}>" for name, _, _ in path.node.arguments]
            found += ["<cr>"] if path.node.command is not None else []
        return found

    def _add(self, pattern: str, command: CliCommand) -> None:
        for tokens in _expand(_TOKEN.findall(pattern)):
            node = self._root
            for token in tokens:
                node = self._step(node, token)
            node.command = command

    def _step(self, node: _Node, token: str) -> _Node:
        if not token.startswith("<"):
            return node.keywords.setdefault(token, _Node())
        name = token.strip("<>")
        for known, _, following in node.arguments:
            if known == name:
                return following
        following = _Node()
        node.arguments.append((name, self._arguments[name], following))
        return following


def _words(line: str) -> list[TypedWord]:
    return [TypedWord(match.group(), match.start()) for match in re.finditer(r"\S+", line)]


def _keyword(node: _Node, word: TypedWord) -> str | None:
    """The keyword meant: spelled out, or the only one that begins so. None: perhaps an argument."""
    text = word.text.lower()
    if text in node.keywords:
        return text
    candidates = [name for name in node.keywords if name.startswith(text)]
    if len(candidates) > 1:
        raise BadSyntax(Problem.AMBIGUOUS, word.column)
    return candidates[0] if candidates else None


def _argument(node: _Node, words: Sequence[TypedWord]) -> tuple[str, Any, int, _Node]:
    for name, argument, following in node.arguments:
        found = argument.read(words)
        if found is not None:
            return name, *found, following
    if node.arguments:
        raise BadSyntax(Problem.WRONG, words[0].column)
    if node.keywords:
        raise BadSyntax(Problem.UNRECOGNIZED, words[0].column)
    raise BadSyntax(Problem.TOO_MANY, words[0].column)


# -- patterns ------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[\[\]{}|]|<[^>]+>|[^\s\[\]{}|]+")


def first_words(pattern: str) -> str:
    """The keywords before any argument or choice: `qos trust { dscp | dot1p }` -> `qos trust`."""
    return re.split(r"\s*[\[{<]", pattern, maxsplit=1)[0]


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
