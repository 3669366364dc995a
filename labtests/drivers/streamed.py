"""What a platform streams, as a table: by the path of a value, with `{port}` and `{index}` in it,
the counter, what it is of, and its unit."""

import re
from collections.abc import Mapping

from labtests.capabilities.readings import Scope
from labtests.capabilities.streams import StreamLeaf

Streamed = Mapping[str, tuple[str, Scope, str]]


def pattern(path: str, port: str = r"[^\]]+") -> str:
    """As a regular expression, with groups for the port and the index."""
    found = re.escape(path).replace(r"\{index\}", "(?P<index>[0-7])")
    found = found.replace(r"\{port\}", f"(?P<port>{port})", 1)
    return found.replace(r"\{port\}", "(?P=port)")


def leaves_of(streamed: Streamed, port: str = r"[^\]]+") -> tuple[StreamLeaf, ...]:
    """One for each. `port`: how ports are called there."""
    return tuple(
        StreamLeaf(path=pattern(path, port), counter=counter, scope=scope, unit=unit)
        for path, (counter, scope, unit) in streamed.items()
    )
