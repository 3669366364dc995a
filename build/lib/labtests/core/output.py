"""The way out: what a command prints, and every file that it writes, goes through here.

A password that this process has used is hidden in it, however a device writes it; and nothing in a
line moves the cursor or hides (printable.py).
"""

import resource
import threading

import click

from labtests.core.encodings import Spelled
from labtests.core.printable import for_terminal

HIDDEN = "***"
_SHORTEST = 4
_LOOKED_AT = 1 << 20  # characters of a text that may be shown in part
_QUOTED = 200
_MOST_OF_A_SENTENCE = 4000  # characters

_used: set[str] = set()
_lock = threading.Lock()  # devices are connected in parallel


def used(secret: str) -> None:
    """From now on it does not go out, not in a core file either."""
    _leave_no_core()
    if len(secret) >= _SHORTEST:
        with _lock:
            _used.add(secret)


def _leave_no_core() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def clean(text: str) -> str:
    """The text without any secret that was used."""
    if not _used:
        return text
    with _lock:
        known = sorted(_used, key=lambda secret: (-len(secret), secret))
    return Spelled(known).hidden(text, HIDDEN)


def quoted_excerpt(said: object) -> str:
    """What a device has said, in quotes and not without end: hidden before it is cut, so that
    half a secret is no other word."""
    whole = said if isinstance(said, str) else repr(said)
    plain = excerpt(whole, _QUOTED + 1)
    shown = repr(plain) if isinstance(said, str) else plain
    return shown if len(shown) <= _QUOTED else f"{shown[:_QUOTED]}... (cut)"


def told(sentence: str) -> str:
    """A sentence in which a device is quoted, as an error holds it: hidden, and not without end."""
    known = excerpt(sentence, _MOST_OF_A_SENTENCE + 1)
    return known if len(known) <= _MOST_OF_A_SENTENCE else f"{known[:_MOST_OF_A_SENTENCE]}... (cut)"


def lines_said(text: str) -> list[str]:
    """The lines of what a device has said, without margins and without blank ones: hidden before
    they are parted, for what ends a line may stand in the middle of a secret."""
    return [line.strip() for line in excerpt(text, _LOOKED_AT).splitlines() if line.strip()]


def last_line(text: str, otherwise: str) -> str:
    """The last of them, as far as it is told; `otherwise` where nothing was said."""
    return excerpt([otherwise, *lines_said(text)][-1], _QUOTED, last=True)


def excerpt(text: str, most: int, *, last: bool = False) -> str:
    """The first or the last characters, at most so many, of what somebody else wrote: cut after it
    was cleaned, for half a secret is no longer known as one. Of a text too long to look at, only
    its length."""
    if len(text) > _LOOKED_AT:
        return f"{len(text)} characters"
    known = clean(text)
    if len(known) <= most:
        return known
    return known[-most:] if last else known[:most]


def say(text: str) -> None:
    """A line of a result."""
    click.echo(for_terminal(clean(text)))


def tell(text: str) -> None:
    """The same, for what is not a result: on stderr."""
    click.echo(for_terminal(clean(text)), err=True)
