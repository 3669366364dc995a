"""Shell text as words and operators: quoting, variables, comments. The grammar is in grammar.py."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from labtests.simlab.linux.options import NOT_HERE

_OPERATOR = re.compile(
    r"(?P<descriptor>[0-9](?=[<>]))?"
    r"(?P<text>\(\(|&>>|&&|\|\||;;|>>|<<<|<<|>&|<&|&>|\|&|[;&|()<>\n])"
)
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_NAME = re.compile(rf"{_IDENTIFIER}|[0-9$?!#@*-]")
PARAMETER = re.compile(
    rf"#(?P<length>{_IDENTIFIER}|[0-9]+)"
    rf"|(?P<name>{_IDENTIFIER}|[0-9]+|[$?!#@*-])(?:(?P<how>:?[-+]|##?|%%?)(?P<word>.*))?",
    re.DOTALL,
)
"""What stands in `${…}`, as far as it is emulated."""
_BLANKS = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)*")
_PLAIN = re.compile(r"""[^ \t\r\n'"\\$`;&|()<>]+""")
_QUOTED = re.compile(r"""[^"\\$`]+""")


class ShellSyntax(Exception):
    """The text is no shell text, in bash's own words; or it is more than is emulated."""


def beyond(what: str) -> ShellSyntax:
    """The text is right, and this of it is not emulated."""
    return ShellSyntax(f"{NOT_HERE}: {what}")


@dataclass(frozen=True, slots=True)
class WordPart:
    """A piece of a word. Only unquoted text is split and globbed."""

    kind: Literal["text", "variable", "command", "arithmetic"]
    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its pieces, and the line it stands on."""

    parts: tuple[WordPart, ...]
    line: int

    @property
    def plain(self) -> str | None:
        """The text of a word without quotes and variables: only such can be a reserved word."""
        if all(part.kind == "text" and not part.quoted for part in self.parts):
            return "".join(part.text for part in self.parts)
        return None


@dataclass(frozen=True, slots=True)
class Operator:
    """`;`, `&&`, `>` and the like; `descriptor` is the 2 of `2>`."""

    text: str
    line: int
    descriptor: int | None = None


Token = Word | Operator
ALL_PARAMETERS = (WordPart("text", "", True), WordPart("variable", "@", True))
"""`"$@"`."""


class Lexer:
    """Reads tokens off a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1

    def tokens(self) -> Iterator[Token]:
        """All tokens."""
        while self._skip_blanks():
            operator = self._operator()
            yield operator if operator is not None else self._word()

    def _skip_blanks(self) -> bool:
        """Whether anything is left behind blanks, joined lines and a comment."""
        blanks = _BLANKS.match(self._text, self._at)
        assert blanks is not None
        self._at = blanks.end()
        self._line += blanks[0].count("\n")
        return self._at < len(self._text)

    def _operator(self) -> Operator | None:
        match = _OPERATOR.match(self._text, self._at)
        if match is None:
            return None
        if match["text"] == "((":
            raise beyond("((")
        self._at = match.end()
        descriptor = int(match["descriptor"]) if match["descriptor"] else None
        operator = Operator(match["text"], self._line, descriptor)
        self._line += match["text"] == "\n"
        return operator

    def _word(self) -> Word:
        parts: list[WordPart] = []
        line = self._line
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in " \t\r\n;&|()<>":
                break
            parts += self._piece(character)
        return Word(tuple(parts), line)

    def _piece(self, character: str) -> list[WordPart]:
        if character == "'":
            return [WordPart("text", self._until("'"), True)]
        if character == '"':
            return self._double_quoted()
        if character == "\\":
            self._at += 2
            return [WordPart("text", self._text[self._at - 1 : self._at], True)]
        if character in "$`":
            return [self._dollar(False)]
        match = _PLAIN.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return [WordPart("text", match[0], False)]

    def _until(self, quote: str) -> str:
        end = self._text.find(quote, self._at + 1)
        if end < 0:
            raise ShellSyntax(f"unexpected EOF while looking for matching `{quote}'")
        text = self._text[self._at + 1 : end]
        self._line += text.count("\n")
        self._at = end + 1
        return text

    def _double_quoted(self) -> list[WordPart]:
        parts = [WordPart("text", "", True)]
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != '"':
            character = self._text[self._at]
            if character == "\\":
                following = self._text[self._at + 1 : self._at + 2]
                keep = "" if following in '$`"\\\n' else "\\"
                parts.append(WordPart("text", keep + following.replace("\n", ""), True))
                self._at += 2
            elif character in "$`":
                parts.append(self._dollar(True))
            else:
                match = _QUOTED.match(self._text, self._at)
                assert match is not None
                parts.append(WordPart("text", match[0], True))
                self._at = match.end()
        if self._at >= len(self._text):
            raise ShellSyntax("unexpected EOF while looking for matching `\"'")
        self._at += 1
        return parts

    def _dollar(self, quoted: bool) -> WordPart:
        if self._text[self._at] == "`":
            return WordPart("command", self._until("`"), quoted)
        if self._text.startswith("$((", self._at):
            inner = self._balanced()[1:-1]
            operand(inner)
            return WordPart("arithmetic", inner, quoted)
        if self._text.startswith("$(", self._at):
            return WordPart("command", self._balanced(), quoted)
        if self._text.startswith("${", self._at):
            self._at += 1
            inner = self._until("}")
            found = PARAMETER.fullmatch(inner)
            if found is None or "${" in inner:
                raise beyond(f"${{{inner}}}")
            operand(found["word"] or "")
            return WordPart("variable", inner, quoted)
        if not quoted and self._text[self._at + 1 : self._at + 2] in ("'", '"'):
            raise beyond("$'…'")
        match = _NAME.match(self._text, self._at + 1)
        if match is None:
            self._at += 1
            return WordPart("text", "$", quoted)
        self._at = match.end()
        return WordPart("variable", match[0], quoted)

    def _balanced(self) -> str:
        start = self._at + 2
        depth, at = 1, start
        while at < len(self._text) and depth:
            if self._text[at] == "'":
                at = max(self._text.find("'", at + 1), at)
            depth += {"(": 1, ")": -1}.get(self._text[at], 0)
            at += 1
        if depth:
            raise ShellSyntax("unexpected EOF while looking for matching `)'")
        self._at = at
        return self._text[start : at - 1]


def operand(text: str) -> Word:
    """What stands behind the `:-` or `%%` of `${…}`, or in `$((…))`. Raises ShellSyntax."""
    words = list(Lexer(text if "'" in text or '"' in text else f'"{text}"').tokens())
    if len(words) != 1 or not isinstance(words[0], Word):
        raise beyond(text)
    return words[0]
