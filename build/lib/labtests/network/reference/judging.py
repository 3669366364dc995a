"""One comparison of a measured value with what was expected."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["pass", "fail", "shown", "not modelled"]
Trust = Literal["A", "B", "C", "F"]
"""A, B, C: how far a reference run, or a measurement, can be relied upon; F: a closed form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRow:
    """A row of `labtests network validate`."""

    check: str
    trust: Trust
    quantity: str
    expected: float | None
    measured: float | None
    tolerance: str
    verdict: Verdict

    @property
    def ratio(self) -> float | None:
        """Measured over expected."""
        if self.measured is None or not self.expected:
            return None
        return self.measured / self.expected

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "ratio": self.ratio}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is compared: its name, how far the expected value can be relied upon, its quantity."""

    name: str
    trust: Trust
    quantity: str

    def near(self, measured: float, expected: float, share: float) -> ValidationRow:
        """Within a share of the expected value."""
        inside = abs(measured - expected) <= share * abs(expected)
        return self.judged(measured, expected, f"{share:.3g}", inside)

    def between(
        self, measured: float, bounds: tuple[float, float], expected: float
    ) -> ValidationRow:
        """Within bounds; the expected value is shown."""
        low, high = bounds
        return self.judged(measured, expected, f"{low:.7g}..{high:.7g}", low <= measured <= high)

    def judged(
        self, measured: float, expected: float, tolerance: str, inside: bool
    ) -> ValidationRow:
        """The row; trust C is shown, never judged."""
        verdict: Verdict = "pass" if inside else "fail"
        return ValidationRow(
            check=self.name,
            trust=self.trust,
            quantity=self.quantity,
            expected=expected,
            measured=measured,
            tolerance=tolerance,
            verdict="shown" if self.trust == "C" else verdict,
        )

    def not_modelled(self, why: str) -> ValidationRow:
        """The row of something that this network cannot do."""
        return ValidationRow(
            check=self.name,
            trust=self.trust,
            quantity=f"{self.quantity}: {why}",
            expected=None,
            measured=None,
            tolerance="-",
            verdict="not modelled",
        )


def check(name: str, quantity: str) -> Check:
    """A check against a closed form."""
    return Check(name=name, trust="F", quantity=quantity)


Family = Callable[[], Iterable[ValidationRow]]
"""Checks of one closed form with several settings."""
