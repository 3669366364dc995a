"""Values as the page shows them. A value that is not there is a dash with its reason."""

import re
from datetime import datetime
from typing import Any

from jinja2 import Undefined
from markupsafe import Markup

from labtests.report.runs import number

LOOKED_AT = 1000
"""Characters of a name, from its end, of which some are shown."""
BRIEF = 170
"""Characters of a sentence in a line; one that says two things against one another has twice as
many at most."""


def dash(reason: object = "") -> Markup:
    """An em dash, and why there is no value."""
    why = "not recorded" if reason is None or isinstance(reason, Undefined) else str(reason)
    return Markup('<span class="lt-none">— {}</span>').format(why or "not recorded")


def shown(value: object) -> Any:
    """What any expression of a template becomes: nothing is never an empty place, or 0."""
    if isinstance(value, Markup):  # what was made here may be empty on purpose
        return value
    if value is None or isinstance(value, Undefined) or value == "":
        return dash()
    return value


def amount(value: object, reason: object = "") -> Markup:
    """A number with thin spaces between thousands; up to four decimals."""
    known = number(value)
    if known is None:
        if isinstance(value, str) and value:
            return Markup("{}").format(value)
        return dash(reason)
    if isinstance(known, int) or known == int(known):
        return Markup(f"{int(known):,}".replace(",", "&#8239;").replace("-", "&minus;"))
    return Markup(f"{known:,.4g}".replace(",", "&#8239;").replace("-", "&minus;"))


def signed(value: object, reason: object = "") -> Markup:
    """The same with its sign: differences and margins."""
    known = number(value)
    return Markup("+") + amount(known) if known is not None and known > 0 else amount(value, reason)


def gbit(value: object, reason: object = "") -> Markup:
    """Bits per second as Gb/s."""
    known = number(value)
    if known is None:
        return dash(reason)
    return Markup("{}&#8239;Gb/s").format(f"{known / 1e9:.3g}" if known else "0")


def seconds(value: object) -> Markup:
    """A duration."""
    known = number(value)
    if known is None:
        return dash()
    if known >= 120:
        return Markup("{}&#8239;min").format(f"{known / 60:.1f}")
    return Markup("{}&#8239;s").format(f"{known:.2f}" if known < 10 else f"{known:.1f}")


_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28}\b")
_FIGURE = re.compile(r"\d")


def brief(value: object) -> Any:
    """The beginning of a long sentence, whose whole stands with its test, and of git's hashes. A
    part that ends with a figure keeps the one after it ("sent 10; received 9"), a figure its unit,
    and what is short goes on: its first part may be half of a command."""
    if isinstance(value, str):
        value = _HASH.sub(r"\1", value)
    if not isinstance(value, str) or len(value) <= BRIEF:
        return value
    said, *rest = value.split("; ")
    for n, part in enumerate(rest):
        half = len(said) < BRIEF / 2 or (n == 0 and said[-1:].isdigit())
        if not half and len(said) + len(part) > BRIEF:
            break
        said += f"; {part}"
    if len(said) > 2 * BRIEF:
        first, *words = said[: 2 * BRIEF].split(" ")[:-1] or [said[: 2 * BRIEF]]
        while words and _FIGURE.search(words[-1]):
            words.pop()
        said = " ".join([first, *words])
    return said if said == value else said + " …"


def counted(some: int, of: int, verb: str) -> str:
    """How many suites do what: "2 of 9 suites fail", "1 of 9 suites fails", "1 suite fails"."""
    suites = "1 suite" if of == 1 else f"{some} of {of} suites"
    return f"{suites} {verb}" if some != 1 else f"{suites} {_SINGULAR.get(verb, verb)}"


_SINGULAR = {"fail": "fails", "pass": "passes", "prove nothing": "proves nothing"}


def date(value: object) -> Any:
    """A date of run.json (ISO 8601) as a person reads it; anything else as it is."""
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        return value
    return when.strftime("%Y-%m-%d %H:%M:%S ") + (when.tzname() or "")


def grouped(count: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{count:,}".replace(",", "\u202f")


_LONG = re.compile(r"(?<![\w./-])(\d{5,100})\b(?![\w/.]*\w)")
"""No longer than what measures something: int() takes 4300 digits."""
_SIGNS = ((">=", "\u2265"), ("<=", "\u2264"), ("->", "\u2192"))


def plain(sentence: object) -> Any:
    """What a device or verdict said, as it is read: long numbers in thousands, signs as signs."""
    if not isinstance(sentence, str):
        return sentence
    for typed, sign in _SIGNS:
        sentence = sentence.replace(typed, sign)
    return _LONG.sub(lambda match: grouped(int(match[1])), sentence)


def short_port(port: str) -> str:
    """`Twenty-FiveGigE1/0/13` is `1/0/13`; what has no such number stays."""
    found = re.search(r"(?<!\d)\d{1,6}(?:/\d{1,6}){1,6}$", port)
    return found[0] if found else port


def short_ports(text: str) -> str:
    """The same of all ports in a text."""
    return re.sub(r"(?<![\w-])[A-Za-z][A-Za-z-]*(\d+(?:/\d+)+)", r"\1", text)


def figure(value: object) -> str:
    """A number in an attribute: without markup."""
    known = number(value)
    return "no value" if known is None else f"{known:.6g}"


def percent(share: object) -> str:
    """A share with its sign."""
    known = number(share)
    if known is None:
        return "was 0"
    figure = abs(known) * 100
    said = f"{figure:.0f}" if figure >= 10 else f"{figure:.1f}"
    return ("+" if known > 0 else "−") + said + " %"


def part(share: object) -> str:
    """How much of a bound is left; negative when it is broken."""
    known = (number(share) or 0.0) * 100
    said = "< 0.1" if 0 < known < 0.1 else f"{abs(known):.2g}"
    return ("−" if known < 0 else "") + said + " %"


def counter_words(name: object) -> str:
    """What moved, without where: `S6550 1/0/13 queue 3 dropped_packets` is `queue 3 dropped`."""
    said = short_ports(str(name)[-LOOKED_AT:]).replace("_packets", "").replace("_", " ")
    found = re.search(r"(?:queue|priority) \d+ [\w ]+$", said)
    said = found[0] if found else said
    if len(said) <= 34:
        return said
    end = said[-33:]
    return f"\u2026 {end.partition(' ')[2] or end}"


def place(row: dict[str, Any]) -> str:
    """Where a counter is: `S6550 Twenty-FiveGigE1/0/13 queue 3`."""
    words = [str(row.get(key) or "") for key in ("device", "port")]
    if number(row.get("index")) is not None:
        words += [str(row.get("scope") or "index"), str(row["index"])]
    return " ".join(word for word in words if word) or "?"
