"""The ways to break a run, and the points: where in its change journal each is tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

CHANGING = frozenset({"change", "undoing"})  # a command follows
ABOUT_DEVICES = CHANGING | {"made", "undone"}
ANY = ABOUT_DEVICES | {"begun", "folded", "ended"}
AT_COMMANDS = frozenset({"not obeyed", "obeyed"})  # of the command that follows


@dataclass(frozen=True, kw_only=True)
class Way:
    """`hows` say when: around a write, or at the command that follows it. `tries` in `make break`,
    `quick` ones in the tests. `harmless`: the run is to pass all the same."""

    hows: tuple[str, ...]
    at: frozenset[str]
    tries: int
    quick: int = 0
    harmless: bool = False


WAYS: Mapping[str, Way] = {
    "kill -9": Way(hows=("before", "torn", "after"), at=ANY, tries=12, quick=1),
    "SIGTERM": Way(hows=("before", "after"), at=ANY, tries=6),
    "SIGHUP": Way(hows=("after", "before"), at=ANY, tries=3),
    "SIGINT": Way(hows=("before", "after"), at=ANY, tries=4),
    "SIGINT twice": Way(hows=("after", "before"), at=ABOUT_DEVICES, tries=4, quick=1),
    "cut": Way(
        hows=("obeyed", "before", "not obeyed", "after"), at=ABOUT_DEVICES, tries=8, quick=1
    ),
    "reboot": Way(
        hows=("after", "obeyed", "not obeyed", "before"), at=ABOUT_DEVICES, tries=8, quick=1
    ),
    "hang": Way(hows=("after",), at=CHANGING, tries=4),
    "lie": Way(hows=("after",), at=CHANGING, tries=5),
    "full disk": Way(hows=("before", "after"), at=ABOUT_DEVICES, tries=4),
    "no growth": Way(hows=("before", "after"), at=ABOUT_DEVICES, tries=4, quick=1),
    "second run": Way(hows=("after", "before"), at=ABOUT_DEVICES, tries=2, harmless=True),
    "clock": Way(
        hows=("forward before", "backward before", "forward after", "backward after"),
        at=ANY,
        tries=4,
        harmless=True,
    ),
    "their clock": Way(
        hows=("forward before", "backward after"), at=ABOUT_DEVICES, tries=4, harmless=True
    ),
    "frozen": Way(hows=("before", "after"), at=ABOUT_DEVICES, tries=4),
}


@dataclass(frozen=True)
class Point:
    """A way, at one line of the journal (`step`, from 1), of this kind."""

    way: str
    step: int
    line: str
    how: str

    def __str__(self) -> str:
        return f"{self.way:12} {self.how:15} line {self.step:2} ({self.line})"


def chosen(lines: Sequence[str], *, seed: int, quick: bool = False) -> list[Point]:
    """Spread over the lines (their kinds, in order) and the hows of each way; the seed decides the
    rest."""
    random, points = Random(seed), []
    for name, way in WAYS.items():
        tries = way.quick if quick else way.tries
        for number in range(tries):
            how = way.hows[number % len(way.hows)]
            at = way.at & CHANGING if how in AT_COMMANDS else way.at
            possible = [step for step, kind in enumerate(lines, start=1) if kind in at]
            first, last = (len(possible) * n // tries for n in (number, number + 1))
            step = random.choice(possible[first : max(last, first + 1)])
            points.append(Point(name, step, lines[step - 1], how))
    return points
