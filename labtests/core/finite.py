"""Numbers of options."""

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number within bounds: `nan`, which no comparison refuses, is none, and `inf` neither."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """See click."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return found
