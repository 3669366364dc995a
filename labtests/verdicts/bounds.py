"""What a number of a verdict is held to. Words and margin come from the same numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """As the report says it, with the ends that the number has to keep. Of a ratio or a time so
    many digits are told."""

    said: str
    least: float | None = None
    most: float | None = None
    digits: int | None = None

    def margin(self, measured: float) -> float:
        """To the nearer end, negative beyond it."""
        above = [] if self.least is None else [measured - self.least]
        below = [] if self.most is None else [self.most - measured]
        return self.told(min(above + below))

    def told(self, number: float) -> float:
        """With its digits."""
        return number if self.digits is None else round(number, self.digits)


MORE_THAN_NONE = Bound(said="> 0", least=0)
NONE = Bound(said="= 0", least=0, most=0)


def at_least(least: float, of: str = "") -> Bound:
    """`of`: more words."""
    return Bound(said=f">= {least}{of}", least=least)


def at_most(most: float, of: str = "") -> Bound:
    """`of`: more words."""
    return Bound(said=f"<= {most}{of}", most=most)


def exactly(number: int) -> Bound:
    """This one."""
    return Bound(said=f"= {number}", least=number, most=number)


def between(least: int, most: int, of: str = "") -> Bound:
    """One of these; `of`: more words."""
    return Bound(said=f"{least} to {most}{of}", least=least, most=most)
