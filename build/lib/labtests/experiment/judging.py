"""Turning verdicts into what pytest understands."""

from collections.abc import Sequence
from dataclasses import dataclass

from labtests.verdicts import Outcome, Verdict, worst, wrong_control


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict and what was expected. A control has to be red, a main verdict has to pass.

    A control has to be red for its own `reason`, a text in its sentence. One whose claim cannot be
    proven has to be inconclusive, and to say `unprovable`.
    """

    verdict: Verdict
    control: bool
    reason: str = ""
    unprovable: str = ""

    @property
    def expected(self) -> Outcome:
        """What it had to be."""
        if not self.control:
            return Outcome.PASS
        return Outcome.INCONCLUSIVE if self.unprovable else Outcome.FAIL

    @property
    def as_expected(self) -> bool:
        """A main verdict that passes, a control that is red for the reason that it had to have."""
        said = self.verdict.because
        return (
            self.verdict.outcome is self.expected
            and self.unprovable in said
            and self.reason in said
        )

    @property
    def counts_as(self) -> Outcome:
        """What it means for the test. A control that is not red proves nothing: inconclusive."""
        if not self.control:
            return self.verdict.outcome
        return Outcome.PASS if self.as_expected else Outcome.INCONCLUSIVE


class NotPassed(AssertionError):
    """The test's verdict is not a pass. `outcome` says which kind of red it is."""

    def __init__(self, judged: Sequence[Judged]) -> None:
        self.outcome = worst(j.counts_as for j in judged)
        super().__init__("\n".join(_line(j) for j in judged if not j.as_expected))


def _line(judged: Judged) -> str:
    verdict, expected = judged.verdict, judged.expected
    if not judged.control:
        return str(verdict)
    what = wrong_control(verdict.outcome, expected)
    if verdict.outcome is expected:
        what += f", expected {judged.reason or judged.unprovable!r}"
    return f"{what} ({verdict.phase}): {verdict}"
