"""The ways in which a text may write a secret: escaped, in another case, with characters in between
that nobody sees, in base64, hexadecimal or as a URL.

Text and secret are brought to one plain form, and then searched for literally: linear in the text's
length, whoever wrote it.
"""

import json
import re
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

SHORTEST_CODE = 6  # characters of base64 or hexadecimal that are taken for a secret's
SHORTEST_PLAIN = 3  # characters that are left of a secret in plain form
SHORTEST_SPREAD = 8  # characters of a secret that is also looked for across line ends

_ESCAPE = (
    r"u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\++u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|x(?P<x>[0-9a-fA-F]{2})"
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# a terminal's sequences, marks without width or that turn the direction, control characters
_UNSEEN = (
    r"\x1b\[[0-?]{0,32}[ -/]{0,4}[@-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\u2400-\u2421\ufff9-\ufffb\ufffd-\uffff]"  # as printable.py shows them
)
_UNSEEN_CHARACTER = re.compile(_UNSEEN)
_FORMS = tuple(
    re.compile(rf"\\++(?:{escape})?|{_UNSEEN}" if escape else rf"\\++|{_UNSEEN}")
    for escape in (f"{_ESCAPE}|(?P<short>[nrtbf])", _ESCAPE, "")
)
"""Backslashes with what they mean as JSON and repr write it; without the short ones; and alone: a
backslash before a secret that begins with such a letter means nothing."""
_SPREAD = re.compile(rf"[\n\t]|{_UNSEEN}")
_CODE = re.compile(r"[A-Za-z0-9+/=_-]")
_CODE_EDGE = 3  # characters at either end of a coded secret that also have bits of it


@dataclass(frozen=True, slots=True)
class _Plain:
    """A text in plain form; where its pieces begin in it and begin and end in the original."""

    text: str
    starts: Sequence[int]
    places: Sequence[tuple[int, int]]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of a part of the plain text."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        piece = bisect_right(self.starts, at) - 1
        first, last = self.places[piece]
        length = (
            self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)
        ) - self.starts[piece]
        if length == last - first:  # as it is, character by character
            first += at - self.starts[piece]
            last = first + 1
        return first, last


class Spelled:
    """Finds these secrets, the longest first."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = tuple(secrets)
        hollow = [each for each in known if len(_plain(each, _FORMS[-1]).text) < SHORTEST_PLAIN]
        self._exact = (*known, *(form for each in hollow for form in _escaped(each)))
        self._codes = tuple(dict.fromkeys(code for each in known for code in _codes(each)))
        self._plain = tuple(_needles(known, form) for form in _FORMS)
        self._spread = _needles(filter(_is_distinct, known), _SPREAD)

    def hidden(self, text: str, instead: str) -> str:
        """The text with this in place of each of them."""
        if not self._exact:
            return text
        spans = sorted({*self._spans(text)})
        if not spans:
            return text
        parts, done = [], 0
        for start, end in _joined(spans):
            parts += [text[done:start], instead]
            done = end
        return "".join([*parts, text[done:]])

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self._exact:
            yield from _found(text, secret)
        forms = _FORMS if "\\" in text else _FORMS[-1:]
        for form in forms:
            plain = _plain(text, form)
            for secret in self._plain[_FORMS.index(form)]:
                yield from (plain.span(*place) for place in _found(plain.text, secret))
        for code in self._codes:  # of the last form
            for place in _found(plain.text, code):
                yield _with_edges(text, *plain.span(*place))
        if self._spread and ("\n" in text or "\t" in text):
            plain = _plain(text, _SPREAD)
            for secret in self._spread:
                yield from (plain.span(*place) for place in _found(plain.text, secret))


def _needles(secrets: Iterable[str], odd: re.Pattern[str]) -> tuple[str, ...]:
    plain = (_plain(each, odd).text for each in secrets)
    return tuple(dict.fromkeys(text for text in plain if len(text) >= SHORTEST_PLAIN))


def _plain(text: str, odd: re.Pattern[str]) -> _Plain:
    parts: list[str] = []
    starts, places, at, done = [], [], 0, 0
    for match in odd.finditer(text):
        meant = _meant(match)
        for part, place in (
            (text[done : match.start()], (done, match.start())),
            (meant, match.span()),
        ):
            if part:
                parts.append(_small(part))
                starts.append(at)
                places.append(place)
                at += len(part)
        done = match.end()
    parts.append(_small(text[done:]))
    starts.append(at)
    places.append((done, len(text)))
    return _Plain("".join(parts), starts, places)


def _meant(match: re.Match[str]) -> str:
    """The character that an escape stands for; "" for what nobody sees."""
    found = match.groupdict()
    if found.get("short"):
        character = _SHORT[found["short"]]
    elif found.get("high"):
        high, low = int(found["high"], 16) - 0xD800, int(found["low"], 16) - 0xDC00
        character = chr(0x10000 + (high << 10) + low)
    else:
        digits = found.get("u") or found.get("U") or found.get("x")
        number = int(digits, 16) if digits else 0
        character = chr(number) if number <= 0x10FFFF else ""
    return "" if character == "\\" or _UNSEEN_CHARACTER.fullmatch(character) else character


def _small(text: str) -> str:
    """In small letters, character by character."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(low if len(low := each.lower()) == 1 else each for each in text)


def _found(text: str, secret: str) -> Iterator[tuple[int, int]]:
    at = text.find(secret)
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + 1)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that overlap are one."""
    whole: list[tuple[int, int]] = []
    for start, end in spans:
        if whole and start < whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole


def _escaped(secret: str) -> tuple[str, ...]:
    """One of hardly anything but control characters and backslashes, as JSON and repr write it."""
    once = json.dumps(secret)[1:-1]
    forms = [once, json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(once)[1:-1]]
    for wide in (str, lambda character: json.dumps(character)[1:-1]):  # beyond 16 bits
        each = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else wide(c) for c in secret)
        forms += [each, each.upper().replace("\\U", "\\u")]
    return (*forms, repr(secret)[1:-1])


@lru_cache(maxsize=256)
def _codes(secret: str) -> tuple[str, ...]:
    """The secret in base64 (wherever in it the secret begins), hexadecimal and as in a URL."""
    data = secret.encode("utf-8", errors="surrogatepass")
    found = [data.hex()]
    for before in range(3):
        coded = b64encode(bytes(before) + data).decode("ascii")
        stable = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        found += [stable, stable.replace("+", "-").replace("/", "_")]
    for safe in ("", "/"):
        if (url := quote(data, safe=safe)) != secret:
            found.append(url)
    return tuple(code.lower() for code in found if len(code) >= SHORTEST_CODE)


def _with_edges(text: str, start: int, end: int) -> tuple[int, int]:
    for _ in range(_CODE_EDGE):
        start -= start > 0 and _CODE.match(text[start - 1]) is not None
        end += end < len(text) and _CODE.match(text[end]) is not None
    return start, end


def _is_distinct(secret: str) -> bool:
    """Whether columns of ordinary output can hardly spell it by accident, one below the other."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda each: not each.isalnum())
    return len(secret) >= SHORTEST_SPREAD and sum(any(map(kind, secret)) for kind in kinds) > 1
