"""What counts as a figure in a tool's JSON."""

import math
from typing import TypeGuard


def is_figure(value: object) -> TypeGuard[int | float]:
    """A finite number from 0 on. `1e999` is read as infinity by json, and true is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= 2**63 and math.isfinite(value)
