"""Values as the page shows them. A value that is not there is a dash with its reason."""

from datetime import UTC, datetime
from typing import Any

from jinja2 import Undefined
from markupsafe import Markup

from labtests.report.runs import number

BRIEF = 240
"""Characters of a sentence on the first screen."""

EPOCH_S = 1e8
"""Lab times above this are seconds since 1970 (hardware); below, seconds since the lab's start."""


def dash(reason: object = "") -> Markup:
    """An em dash, and why there is no value."""
    why = "not recorded" if reason is None or isinstance(reason, Undefined) else str(reason)
    return Markup('<span class="lt-none">— {}</span>').format(why or "not recorded")


def shown(value: object) -> Any:
    """What any expression of a template becomes: nothing is never an empty place, or 0."""
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


def moment(value: object) -> Markup:
    """A moment of the lab's clock: UTC on hardware, seconds since the start of a simulated lab."""
    known = number(value)
    if known is None:
        return dash()
    if abs(known) > EPOCH_S:
        try:
            return Markup("{}").format(
                datetime.fromtimestamp(known, UTC).strftime("%H:%M:%S.%f")[:-3] + " UTC"
            )
        except (OverflowError, OSError, ValueError):
            return dash(f"{known} is not a time")
    return Markup("{}&#8239;s").format(f"{known:.3f}")


def brief(value: object) -> Any:
    """The beginning of a long sentence; its whole stands with its test."""
    if not isinstance(value, str) or len(value) <= BRIEF:
        return value
    return value[:BRIEF].rpartition(" ")[0] + " … (whole below)"


def date(value: object) -> Any:
    """A date of run.json (ISO 8601) as a person reads it; anything else as it is."""
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        return value
    return when.strftime("%Y-%m-%d %H:%M:%S ") + (when.tzname() or "")


def place(row: dict[str, Any]) -> str:
    """Where a counter is: `S6550 Twenty-FiveGigE1/0/13 queue 3`."""
    words = [str(row.get(key) or "") for key in ("device", "port")]
    if number(row.get("index")) is not None:
        words += [str(row.get("scope") or "index"), str(row["index"])]
    return " ".join(word for word in words if word) or "?"
