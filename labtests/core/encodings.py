"""The ways in which a text may write a secret: escaped, in another case, with characters in between
that nobody sees, in base64, hexadecimal or as a URL.

Text and secret are brought to one plain form, and then searched for literally: linear in the text's
length, whoever wrote it.
"""

import json
import re
from array import array
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from urllib.parse import quote

SHORTEST_CODE = 6  # characters of base64 or hexadecimal that are taken for a secret's
SHORTEST_PLAIN = 3  # characters that are left of a secret in plain form
SHORTEST_SPREAD = 8  # characters of a secret that is also looked for across line ends
_AGAIN = 8  # times that what is left and what stands instead may spell a secret anew

_HEX = "[0-9a-fA-F]"
_PAIR = rf"u[dD][89abAB]{_HEX}{{2}}\\++u[dD][c-fC-F]{_HEX}{{2}}"  # beyond 16 bits
_ESCAPE = rf"{_PAIR}|u{_HEX}{{4}}|U{_HEX}{{8}}|x{_HEX}{{2}}"
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# marks without width or that turn the direction, control characters, as printable.py shows them;
# and what a font shows nothing of (Unicode: Default_Ignorable_Code_Point)
_UNSEEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\u2400-\u2421\ufff0-\ufffb\ufffd-\uffff"
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_UNSEEN_CHARACTER = re.compile(_UNSEEN)

# what a terminal takes for itself (ECMA-48): ESC and a letter, CSI ... letter, and the texts of OSC
# (to BEL or ST), DCS, SOS, PM and APC (to ST); each introduced by ESC and a sign, or by one 8-bit
# character; as it is, as printable.py shows it, or as JSON and repr write it. CAN, SUB and whatever
# introduces the next one end it, too. No part of a text is looked at twice: `*+`
_WRITTEN = r"\\++(?:x|u00|U000000)"
_ESC = rf"(?:[\x1b\u241b]|{_WRITTEN}1[bB])"
_NEXT = rf"(?=[\x80-\x9f]|{_ESC}|{_WRITTEN}[89][0-9a-fA-F])"
_STRING_END = r"[\x1b\u241b]\\|" + "|".join(  # ESC and \; as written once, twice or three times
    rf"(?:\\{{{2 * n}}})*+\\{{{n}}}(?:x|u00|U000000)1[bB]\\{{{2 * n}}}" for n in (1, 2, 4)
)
_STOP = rf"(?:{_STRING_END}|[\x18\x1a\x9c\u2418\u241a]|{_WRITTEN}(?:18|1[aA]|9[cC])|{_NEXT})"
_TEXT = (
    r"(?:[^\\\x07\x18\x1a\x1b\x80-\x9f\u2407\u2418\u241a\u241b]++"
    r"|\\++(?!(?:x|u00|U000000)(?:07|18|1[abAB]|[89][0-9a-fA-F])))*+"
)
_BEL = rf"(?:[\x07\u2407]|{_WRITTEN}07)"
_NUMBERS = (  # a terminal does at once what a control character in between says, and goes on
    rf"(?:[\x00-\x17\x19\x1c-\x1f -?\u2400-\u2417\u2419\u241c-\u241f]"
    rf"|{_WRITTEN}(?:0[0-9a-fA-F]|1[0-79c-fC-F]))*+"
)
_SEQUENCE = (
    rf"(?:(?:{_ESC}\[|\x9b|{_WRITTEN}9[bB]){_NUMBERS}[@-~]"
    rf"|(?:{_ESC}\]|\x9d|{_WRITTEN}9[dD]){_TEXT}(?:{_BEL}|{_STOP})"
    rf"|(?:{_ESC}[PX^_]|[\x90\x98\x9e\x9f]|{_WRITTEN}9[08eEfF])(?:{_TEXT}{_BEL})*+{_TEXT}{_STOP}"
    rf"|{_ESC}[ -/]*+[0-~])"
)
_INTRODUCED = re.compile(rf"[\x1b\u241b\x80-\x9f]|(?<!\\){_WRITTEN}(?:1[bB]|9[0-9a-fA-F])")


@dataclass(frozen=True, slots=True)
class _Form:
    """What is odd in a text, in one group; and whether that may be an escape, which is read."""

    odd: re.Pattern[str]
    escapes: bool = False


def _forms(unseen: str) -> tuple[_Form, ...]:
    """Backslashes with what they mean as JSON and repr write it; without the short ones; and alone:
    a backslash before a secret that begins with such a letter means nothing."""
    return (
        _Form(re.compile(rf"((?:{unseen})++|\\++(?:{_ESCAPE}|[nrtbf])?)"), escapes=True),
        _Form(re.compile(rf"((?:{unseen})++|\\++(?:{_ESCAPE})?)"), escapes=True),
        _Form(re.compile(rf"((?:{unseen}|\\++)++)")),
    )


_BY_CHARACTER = (_forms(_UNSEEN), _Form(re.compile(rf"((?:[\n\t]|{_UNSEEN})++)")))
_BY_SEQUENCE = (
    _forms(rf"{_SEQUENCE}|{_UNSEEN}"),
    _Form(re.compile(rf"((?:{_SEQUENCE}|[\n\t]|{_UNSEEN})++)")),
)
"""Two ways to read a text; and of each, last, the one across line ends. A terminal's sequence is as
a whole nothing that a person sees, where a terminal obeys it; where it is shown, only its control
characters are."""
_ESCAPED = re.compile(rf"\\++({_ESCAPE}|[nrtbf])")
_CODE = re.compile(r"[A-Za-z0-9+/=_-]")
_CODE_EDGE = 3  # characters at either end of a coded secret that also have bits of it


@dataclass(frozen=True, slots=True)
class _PlainText:
    """A text in plain form. Its `pieces`, and as what they were `read`: the second, the fourth and
    so on are odd."""

    text: str
    pieces: Sequence[str]
    read: Sequence[str]

    def spans(self, needles: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Where they stand in the original."""
        found = [place for needle in needles for place in _found(self.text, needle)]
        if not found:
            return
        begins = array("q", accumulate(map(len, self.pieces), initial=0))
        starts = array("q", accumulate(map(len, self.read), initial=0))

        def place(at: int) -> tuple[int, int]:
            piece = bisect_right(starts, at) - 1
            if piece % 2:
                return begins[piece], begins[piece + 1]
            first = begins[piece] + at - starts[piece]
            return first, first + 1

        for start, end in found:
            yield place(start)[0], place(end - 1)[1]


class Spelled:
    """Finds these secrets, the longest first."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = tuple(secrets)
        alone = _BY_CHARACTER[0][-1]
        hollow = [each for each in known if len(_plain(each, alone).text) < SHORTEST_PLAIN]
        self._exact = (*known, *(form for each in hollow for form in _escaped(each)))
        self._codes = tuple(dict.fromkeys(code for each in known for code in _codes(each)))
        distinct = tuple(filter(_is_distinct, known))
        self._plain: dict[_Form, tuple[str, ...]] = {}
        self._spread: dict[_Form, tuple[str, ...]] = {}
        for forms, spread in (_BY_CHARACTER, _BY_SEQUENCE):
            self._plain |= {form: _needles(known, form) for form in forms}
            self._spread[spread] = _needles(distinct, spread)

    def hidden(self, text: str, instead: str) -> str:
        """The text with this in place of each of them."""
        for _ in range(_AGAIN if self._exact else 0):
            before, parts, done = text, [], 0
            for start, end in _joined(sorted({*self._spans(text)})):
                parts += [text[done:start], instead]
                done = end
            text = "".join([*parts, text[done:]]) if parts else text
            if text == before:
                return text
        return instead if self._exact else text  # a text that was made to spell one for ever

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self._exact:
            yield from _found(text, secret)
        yield from self._read(text, *_BY_CHARACTER)
        if self._exact and _INTRODUCED.search(text):
            yield from self._read(text, *_BY_SEQUENCE)

    def _read(self, text: str, forms: Sequence[_Form], spread: _Form) -> Iterator[tuple[int, int]]:
        flat = text.replace("\n", "").replace("\t", "")
        ordinary = flat.isascii() and flat.isprintable()  # nothing in it is unseen
        for form in forms if "\\" in text else forms[-1:]:
            plain = _as_it_is(text) if ordinary and "\\" not in text else _plain(text, form)
            yield from plain.spans(self._plain[form])
        for span in plain.spans(self._codes):  # of the last form
            yield _with_edges(text, *span)
        needles = self._spread[spread]
        if needles and len(flat) < len(text):
            small = _small(flat) if ordinary else ""
            if not ordinary or any(secret in small for secret in needles):
                yield from _plain(text, spread).spans(needles)


def _needles(secrets: Iterable[str], form: _Form) -> tuple[str, ...]:
    plain = (_plain(each, form).text for each in secrets)
    return tuple(dict.fromkeys(text for text in plain if len(text) >= SHORTEST_PLAIN))


def _as_it_is(text: str) -> _PlainText:
    return _PlainText(_small(text), [text], [text])


def _plain(text: str, form: _Form) -> _PlainText:
    pieces = form.odd.split(text)
    read = pieces[:]
    read[1::2] = map(_meant, pieces[1::2]) if form.escapes else [""] * (len(pieces) // 2)
    return _PlainText(_small("".join(read)), pieces, read)


def _meant(odd: str) -> str:
    """The character that an escape stands for; "" for what nobody sees."""
    escape = _ESCAPED.fullmatch(odd) if odd[0] == "\\" else None
    if escape is None:
        return ""
    digits = escape[1]
    return _character(digits if len(digits) < 10 else digits[:5] + digits[-4:])


@lru_cache(maxsize=4096)
def _character(digits: str) -> str:
    """`n`, `x6e`, `u006e`, `U0000006e`; `ud83dde00` is a pair beyond 16 bits."""
    if digits in _SHORT:
        character = _SHORT[digits]
    elif digits[0] == "u" and len(digits) > 5:
        high, low = int(digits[1:5], 16) - 0xD800, int(digits[5:], 16) - 0xDC00
        character = chr(0x10000 + (high << 10) + low)
    else:
        number = int(digits[1:], 16)
        character = chr(number) if number <= 0x10FFFF else ""
    return "" if character == "\\" or _UNSEEN_CHARACTER.fullmatch(character) else character


def _small(text: str) -> str:
    """In small letters, character by character."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(low if len(low := each.lower()) == 1 else each for each in text)
    return small.replace("\u03c2", "\u03c3")  # a sigma at the end of a word


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
