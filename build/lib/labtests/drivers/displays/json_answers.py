"""What an answer in JSON says, before anybody asks what it means."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from labtests.core.output import excerpt
from labtests.core.trusted_files import MOST_PARTS, expect_parts
from labtests.drivers.parsing import LONGEST_FIELD, READ_AGAIN, refuse
from labtests.transport.protocol import Reply

_NOT_JSON = "this is not JSON, or not all of it"


def json_shown(reply: Reply) -> Any:
    """All of it. What is no JSON is refused; so is an object that has one name twice (which of the
    two counts, nobody has said), and a name that is too long to be one."""
    try:
        expect_parts(reply.text, MOST_PARTS)
        return json.loads(reply.text, object_pairs_hook=_fields, parse_constant=_no_json)
    except ValueError as error:
        refuse(reply, f"{_NOT_JSON}: {error}", READ_AGAIN)
    except (RecursionError, MemoryError, OverflowError) as error:
        problem = f"it is nested too deeply, or too large: {type(error).__name__}"
        refuse(reply, f"{_NOT_JSON}: {problem}", READ_AGAIN)


def _fields(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if len(name) > LONGEST_FIELD:
            raise ValueError(f"an object has a name of {len(name)} characters")
        if name in fields:
            raise ValueError(f"an object has the name {excerpt(name, 80)!r} twice")
        fields[name] = value
    return fields


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")
