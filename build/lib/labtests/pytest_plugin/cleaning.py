"""Reports of pytest without secrets, and without anything a terminal would obey.

pytest makes a report once; the terminal, JUnit and the HTML page all show that one. So it is
cleaned where it is made: text, locals and arguments of a traceback (`-l`), what was captured.
"""

from collections.abc import Callable
from typing import Any

from _pytest._code.code import TerminalRepr

from labtests.core.printable import for_terminal
from labtests.core.redaction import Redaction

Clean = Callable[[str], str]


def cleaner(redaction: Redaction) -> Clean:
    """What is done to every text."""
    return lambda text: for_terminal(redaction.text(text))


def clean_report(report: Any, clean: Clean) -> None:
    """The report of a test or a collector, or the representation of an exception, in place."""
    if isinstance(report, TerminalRepr):
        _clean_parts(report, clean)
        return
    for name in ("longrepr", "sections", "user_properties", "wasxfail"):
        if hasattr(report, name):
            setattr(report, name, _cleaned(getattr(report, name), clean))


def _cleaned(value: Any, clean: Clean) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, TerminalRepr):
        _clean_parts(value, clean)
    elif isinstance(value, list):
        return [_cleaned(each, clean) for each in value]
    elif isinstance(value, tuple):
        return tuple(_cleaned(each, clean) for each in value)
    return value


def _clean_parts(value: TerminalRepr, clean: Clean) -> None:
    for name, part in vars(value).items():
        setattr(value, name, _cleaned(part, clean))
