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
from functools import cache, cached_property, lru_cache
from itertools import accumulate, islice
from urllib.parse import quote

SHORTEST_CODE = 6  # characters of base64 or hexadecimal that are taken for a secret's
SHORTEST_EXACT_CODE = 4  # the same, where large and small letters are as base64 has them
SHORTEST_PLAIN = 3  # characters that are left of a secret in plain form
SHORTEST_SPREAD = 8  # characters of a secret that is also looked for across line ends
SHORTEST_CUT = 6  # characters, or half of it, by which a secret is known that was cut
_CUT = "..."
_MOST_PLACES = 10_000  # of a text that has more, nothing is shown: looking for each takes its time
_AGAIN = 8  # times that what is left and what stands instead may spell a secret anew

_HEX = "[0-9a-fA-F]"
_PAIR = rf"u[dD][89abAB]{_HEX}{{2}}\\++u[dD][c-fC-F]{_HEX}{{2}}"  # beyond 16 bits
_ESCAPE = rf"{_PAIR}|u{_HEX}{{4}}|U{_HEX}{{8}}|x{_HEX}{{2}}"
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# marks without width or that turn the direction, and control characters, as printable.py shows
# them; and what a font shows nothing of (Unicode: Default_Ignorable_Code_Point)
_MARKS = (
    r"\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff0-\ufffb\ufffd-\uffff"
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSEEN = rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_MARKS}\\]"
_PICTURES = {0x2400 + code: code for code in range(0x20)} | {0x2409: 0, 0x240A: 0, 0x2421: 0x7F}
_PICTURE = re.compile("[\u2400-\u2421]")


# A text is read in two steps: what its escapes mean; and of that, what a person sees.
_COLLAPSED = (  # any number of backslashes; without the short escapes: a backslash before a secret
    re.compile(rf"(\\++(?:{_ESCAPE}|[nrtbf])?)"),  # that begins with such a letter means nothing
    re.compile(rf"(\\++(?:{_ESCAPE})?)"),
)
_NESTED = {  # as JSON and repr write it: once, twice or three times
    n: re.compile(rf"((?:\\{{{2 * n}}})++|\\{{{n}}}(?:{_ESCAPE}|[nrtbf]))") for n in (1, 2, 4)
}


@dataclass(frozen=True, slots=True)
class _Unseen:
    """What nobody sees of a text: alone, with tabs, and with tabs and line ends."""

    alone: re.Pattern[str]
    tabs: re.Pattern[str]
    spread: re.Pattern[str]


def _unseen(what: str) -> _Unseen:
    each = (rf"((?:{what}{more})++)" for more in ("", r"|\t", r"|[\t\n]"))
    return _Unseen(*map(re.compile, each))


def _sequences(controls: str, strings: str = "") -> str:
    """What a terminal takes for itself (ECMA-48): ESC and a letter, CSI ... letter, and the texts
    of OSC (to BEL or ST), DCS, SOS, PM and APC (to ST). A control character in between is obeyed at
    once, and DEL and what has no width are nothing; CAN, SUB, ESC and these 8-bit `controls` end
    it. Which of those it knows, and whether ESC and one of `strings` begin a text, differs between
    terminals.

    Each introducer is the beginning of one, ended or not: no part of a text is looked at twice."""
    nothing = rf"\x00-\x17\x19\x1c-\x1f\x7f{_MARKS}"
    others = rf"(?![{controls}])[\x80-\x9f]" if controls else r"[\x80-\x9f]"
    csi, osc, text = (f"|{c}" if controls else "" for c in _EIGHT_BIT)
    esc, end = rf"\x1b[{nothing}]*+", rf"(?:[\x18\x1a\x9c]|\x1b[{nothing}]*+\\)?+"
    return (
        rf"(?:{esc}\[{csi})(?:[{nothing} -?]|{others})*+[@-~\x18\x1a]?+"
        rf"|(?:{esc}\]{osc})[^\x07\x18\x1a\x1b{controls}]*+(?:\x07|{end})"
        rf"|(?:{esc}[PX^_{strings}]{text})[^\x18\x1a\x1b{controls}]*+{end}"
        rf"|\x1b[{nothing} -/]*+[0-~\x18\x1a]?+"
    )


_EIGHT_BIT = (r"\x9b", r"\x9d", r"[\x90\x98\x9e\x9f]")
_BY_CHARACTER = _unseen(_UNSEEN)
_KNOWN = (r"\x80-\x9f", r"\x90\x98\x9b-\x9f", "")
"""Controls that a terminal knows: any, those that introduce something, none."""


@cache
def _by_sequence() -> list[_Unseen]:
    """As terminals take them; the first alone where a text has no 8-bit controls. Compiled for the
    first text that has one: it takes longer than most commands."""
    return [_unseen(f"{_sequences(each)}|{_UNSEEN}") for each in _KNOWN]


@cache
def _with_title() -> list[_Unseen]:
    """The same where ESC k begins a text."""
    return [_unseen(f"{_sequences(each, 'k')}|{_UNSEEN}") for each in _KNOWN]


_INTRODUCED = re.compile(r"[\x1b\x80-\x9f]")
_CONTROLS = re.compile(r"[\x80-\x9f]")
_TITLE = re.compile(rf"\x1b[\x00-\x17\x19\x1c-\x1f\x7f{_MARKS}]*+k")
_ESCAPED = re.compile(rf"\\++({_ESCAPE}|[nrtbf])")
_CODE = re.compile(r"[A-Za-z0-9+/=_-]")
_CODE_EDGE = 3  # characters at either end of a coded secret that also have bits of it


@dataclass(frozen=True)
class _Step:
    """From one text to the next: its `pieces`, and as what they were `read`; the second, the
    fourth and so on are read as something else."""

    pieces: Sequence[str]
    read: Sequence[str]

    @cached_property
    def _begins(self) -> Sequence[int]:
        return array("q", accumulate(map(len, self.pieces), initial=0))

    @cached_property
    def _starts(self) -> Sequence[int]:
        return array("q", accumulate(map(len, self.read), initial=0))

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of what was read stands in the text before."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        piece = bisect_right(self._starts, at) - 1
        if piece % 2:
            return self._begins[piece], self._begins[piece + 1]
        first = self._begins[piece] + at - self._starts[piece]
        return first, first + 1


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A text after its escapes are read, and the step to it."""

    text: str
    step: _Step | None = None

    def spans(
        self, needles: Iterable[str], seen: str, unseen: re.Pattern[str]
    ) -> Iterator[tuple[int, int]]:
        """Where these stand in the original, found in what is seen without the unseen."""
        every = (place for needle in needles for place in _found(seen, needle))
        found = list(islice(every, _MOST_PLACES + 1))
        if not found:
            return
        pieces = unseen.split(self.text)
        looked = _Step(pieces, [each if n % 2 == 0 else "" for n, each in enumerate(pieces)])
        for place in found:
            span = looked.back(*place)
            yield self.step.back(*span) if self.step else span


class Spelled:
    """Finds these secrets, the longest first."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = tuple(form for each in secrets for form in (each, *_as_a_word(each)))
        hollow = [each for each in known if len(_seen(each, _BY_CHARACTER)) < SHORTEST_PLAIN]
        self._exact = (*known, *(form for each in hollow for form in _escaped(each)))
        codes = tuple(dict.fromkeys(code for each in known for code in _codes(each)))
        self._codes = tuple(code.lower() for code in codes if len(code) >= SHORTEST_CODE)
        self._short_codes = tuple(code for code in codes if len(code) < SHORTEST_CODE)
        self._known = tuple(dict.fromkeys(form for each in known for form in (each, _bytes(each))))

    def hidden(self, text: str, instead: str) -> str:
        """The text with this in place of each of them."""
        for _ in range(_AGAIN if self._exact else 0):
            before, parts, done = text, [], 0
            places = self._places(text)
            if len(places) > _MOST_PLACES:
                return instead
            for start, end in _joined(sorted(places)):
                parts += [text[done:start], instead]
                done = end
            text = "".join([*parts, text[done:]]) if parts else text
            if text == before:
                return text
        return instead if self._exact else text  # a text that was made to spell one for ever

    def _places(self, text: str) -> set[tuple[int, int]]:
        """Where one of them stands; of a text that repeats them without end, only the first."""
        found: set[tuple[int, int]] = set()
        for span in self._spans(text):
            found.add(span)
            if len(found) > _MOST_PLACES:
                break
        return found

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for secret in self._exact:
            yield from _found(text, secret)
        as_it_is = _Meaning(_obeyed(text))
        yield from self._read(as_it_is, _BY_CHARACTER)
        yield from self._coded(text, as_it_is)
        if self._exact:
            yield from self._by_sequence(as_it_is)
        if "\\" not in text:
            return
        for escapes in _COLLAPSED:
            yield from self._read(_meaning(text, escapes), _BY_CHARACTER, escapes)
        for backslashes, escapes in _NESTED.items():
            if self._exact and "\\" * backslashes in text:
                yield from self._by_sequence(_meaning(text, escapes))

    def _by_sequence(self, meaning: _Meaning) -> Iterator[tuple[int, int]]:
        """A terminal's sequence is as a whole nothing that a person sees, where a terminal obeys
        it; where it is shown, only its control characters are."""
        if not _INTRODUCED.search(meaning.text):
            return
        ways = None if _CONTROLS.search(meaning.text) else 1
        titles = _with_title() if _TITLE.search(meaning.text) else []
        for unseen in (*_by_sequence()[:ways], *titles[:ways]):
            yield from self._read(meaning, unseen)

    def _read(
        self, meaning: _Meaning, unseen: _Unseen, escapes: re.Pattern[str] | None = None
    ) -> Iterator[tuple[int, int]]:
        needles = _needles(self._known, unseen, escapes)
        seen = _seen(meaning.text, unseen)
        yield from meaning.spans(needles.all, seen, unseen.alone)
        if _CUT in seen:
            yield from meaning.spans(needles.cut, seen, unseen.alone)
        if "\t" in seen:
            seen = seen.replace("\t", "")
            yield from meaning.spans(needles.mixed, seen, unseen.tabs)
        if "\n" in seen:
            yield from meaning.spans(needles.distinct, seen.replace("\n", ""), unseen.spread)

    def _coded(self, text: str, as_it_is: _Meaning) -> Iterator[tuple[int, int]]:
        seen = _seen(as_it_is.text, _BY_CHARACTER)
        for span in as_it_is.spans(self._codes, seen, _BY_CHARACTER.alone):
            yield _with_edges(text, *span)
        for code in self._short_codes:
            for span in islice(_found(text, code), _MOST_PLACES + 1):
                yield _with_edges(text, *span)


@dataclass(frozen=True, slots=True)
class _Needles:
    """What is looked for: everywhere; beside what was cut out; across tabs; and across tabs and
    line ends."""

    all: tuple[str, ...]
    cut: tuple[str, ...]
    mixed: tuple[str, ...]
    distinct: tuple[str, ...]


@lru_cache(maxsize=256)
def _needles(
    secrets: tuple[str, ...], unseen: _Unseen, escapes: re.Pattern[str] | None
) -> _Needles:
    def seen(chosen: Iterable[str], without: str = "") -> tuple[str, ...]:
        read = ((_meaning(each, escapes).text if escapes else _obeyed(each)) for each in chosen)
        texts = (_seen(each, unseen).translate(dict.fromkeys(map(ord, without))) for each in read)
        return tuple(dict.fromkeys(text for text in texts if len(text) >= SHORTEST_PLAIN))

    mixed = [each for each in secrets if _is_mixed(each)]
    distinct = [each for each in mixed if len(each) >= SHORTEST_SPREAD]
    whole = seen(secrets)
    cut = tuple(dict.fromkeys(part for each in whole for part in _cut(each)))
    return _Needles(whole, cut, seen(mixed, "\t"), seen(distinct, "\t\n"))


def _cut(secret: str) -> Iterator[str]:
    """Its beginnings and ends, where the rest was cut out, as pytest and reprlib do."""
    least = max(SHORTEST_PLAIN, min(SHORTEST_CUT, (len(secret) + 1) // 2))
    for length in range(least, len(secret)):
        yield secret[:length] + _CUT
        yield _CUT + secret[-length:]


def _obeyed(text: str) -> str:
    """With the control characters instead of their pictures."""
    return text.translate(_PICTURES) if _PICTURE.search(text) else text


def _meaning(text: str, escapes: re.Pattern[str]) -> _Meaning:
    pieces = escapes.split(text)
    read = pieces[:]
    read[1::2] = map(_meant, pieces[1::2])
    return _Meaning(_obeyed("".join(read)), _Step(pieces, read))


def _seen(text: str, unseen: _Unseen) -> str:
    """In small letters, what is left of it."""
    flat = text.replace("\n", "").replace("\t", "")
    ordinary = flat.isascii() and flat.isprintable() and "\\" not in flat
    return _small(text if ordinary else unseen.alone.sub("", text))


def _bytes(secret: str) -> str:
    """Each byte as a character: so repr shows it."""
    return secret.encode("utf-8", errors="surrogatepass").decode("latin-1")


def _meant(odd: str) -> str:
    """The character that an escape stands for; backslashes alone are one."""
    escape = _ESCAPED.fullmatch(odd)
    if escape is None:
        return "\\"
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
    return character


class _SmallLetters(dict[int, str]):
    """What str.translate looks a character up in: each is worked out once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        capital = letter.upper()
        small = (capital if len(capital) == 1 else letter).lower()
        return self.setdefault(code, small if len(small) == 1 else letter)


_SMALL = _SmallLetters()


def _small(text: str) -> str:
    """In small letters, character by character: those of the capital, which several may share."""
    return text.lower() if text.isascii() else text.translate(_SMALL)


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


def _as_a_word(secret: str) -> tuple[str, ...]:
    """As a shell's quoted word has one with quotes in it: shlex.quote's way, and by hand."""
    forms = ("'\"'\"'", "'\\''") if "'" in secret else ()
    return tuple(secret.replace("'", form) for form in forms)


def _escaped(secret: str) -> tuple[str, ...]:
    """One of hardly anything but control characters and backslashes, as JSON and repr write it."""
    once = json.dumps(secret)[1:-1]
    forms = [once, json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(once)[1:-1]]
    for wide in (str, lambda character: json.dumps(character)[1:-1]):  # beyond 16 bits
        each = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else wide(c) for c in secret)
        forms += [each, each.upper().replace("\\U", "\\u")]
    shown = repr(secret)[1:-1]
    return (*forms, shown, repr(shown)[1:-1])


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
    return tuple(code for code in found if len(code) >= SHORTEST_EXACT_CODE)


def _with_edges(text: str, start: int, end: int) -> tuple[int, int]:
    for _ in range(_CODE_EDGE):
        start -= start > 0 and _CODE.match(text[start - 1]) is not None
        end += end < len(text) and _CODE.match(text[end]) is not None
    return start, end


def _is_mixed(secret: str) -> bool:
    """Whether columns of ordinary output can hardly spell it by accident, one below the other."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda each: not each.isalnum())
    return sum(any(map(kind, secret)) for kind in kinds) > 1
