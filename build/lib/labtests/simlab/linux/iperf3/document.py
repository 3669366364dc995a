"""JSON as cJSON 1.7.15 prints it: TABs, `"name":<TAB>value`, the first element of a list glued."""

import json
from typing import Any


def dump(value: Any, depth: int = 0) -> str:
    """The text of a value, without a line end behind it."""
    if isinstance(value, dict):
        return _object(value, depth)
    if isinstance(value, list):
        # cJSON indents an element by one more than its list, and puts `, ` between elements
        return "[" + ", ".join(dump(element, depth + 1) for element in value) + "]"
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value)
    return number(value)


def _object(value: dict[str, Any], depth: int) -> str:
    inner = "\t" * (depth + 1)
    fields = [
        f"{inner}{json.dumps(name)}:\t{dump(field, depth + 1)}" for name, field in value.items()
    ]
    body = ",\n".join(fields) + "\n" if fields else ""
    return "{\n" + body + "\t" * depth + "}"


def number(value: float) -> str:
    """15 digits when they give the same double back, else 17."""
    if value == int(value) and abs(value) < 2**31:
        return str(int(value))
    text = f"{value:.15g}"
    return text if float(text) == value else f"{value:.17g}"
