"""A run in a few lines, for a terminal: which lab, how far to trust it, what was asked, the
answer."""

from collections.abc import Iterator

from labtests.report.headline import headline
from labtests.report.past import Past
from labtests.report.runs import Json, entries, lab_of, number
from labtests.report.suites import Suite, suites_of
from labtests.report.view import label_of, one_machine, simulated

RED_AT_MOST = 5


def in_short(run: Json) -> Iterator[tuple[str, str]]:
    """Words and what they are, in the order of a newcomer's questions."""
    suites = suites_of(run, Past())
    lab = lab_of(run)
    about = str(lab.get("description") or "").splitlines()
    yield "lab", ": ".join(filter(None, (str(lab.get("name") or "?"), *about[:1])))
    yield "trust", trust(run)
    yield "asked", _asked(run, suites)
    yield "answer", headline(run, suites)
    red = [suite for suite in suites if suite.red]
    for suite in red[:RED_AT_MOST]:
        asked = f"{suite.question} {suite.word}: " if suite.question else ""
        yield label_of(suite.outcome).lower(), f"{suite.name}: {asked}{suite.answer}"
    if len(red) > RED_AT_MOST:
        yield "more", f"{len(red) - RED_AT_MOST} suites are red as well"


def trust(run: Json) -> str:
    """What its results are worth."""
    if one_machine(run):
        return "one machine: real programs and kernel queues, no switch chip, no NIC"
    if not simulated(run):
        return "hardware"
    seed = number(run.get("seed"))
    seeded = "" if seed is None else f", seed {seed}"
    return f"simulated{seeded}: no box was touched, and nothing here counts as a hardware result"


def _asked(run: Json, suites: list[Suite]) -> str:
    kept, controls = (sum(suite.controls[n] for suite in suites) for n in (0, 1))
    told = [f"{len(suites)} suite{'s' * (len(suites) != 1)}"]
    if controls:
        told.append(f"{kept} of {controls} controls went as they must")
    state = run.get("state")
    found = state.get("differences") if isinstance(state, dict) else None
    if isinstance(found, list):
        same = "the lab was left as found" if not entries(found) else "the lab is not as found"
        told.append(same)
    return ", ".join(told)
