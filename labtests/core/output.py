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
_LOOKED_AT = 2**16  # characters of an excerpt's text: no secret that begins in it is longer
_EXCERPT = 200

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


def excerpt(said: object) -> str:
    """What a device has said, in quotes and not without end: hidden before it is cut, so that
    half a secret is no other word."""
    text = said[:_LOOKED_AT] if isinstance(said, str) else repr(said)[:_LOOKED_AT]
    plain = clean(text)
    shown = repr(plain) if isinstance(said, str) else plain
    return shown if len(shown) <= _EXCERPT else f"{shown[:_EXCERPT]}... (cut)"


def say(text: str) -> None:
    """A line of a result."""
    click.echo(for_terminal(clean(text)))


def tell(text: str) -> None:
    """The same, for what is no result: on stderr."""
    click.echo(for_terminal(clean(text)), err=True)
