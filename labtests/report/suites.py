"""One line for each suite, worst first: its question, the answer, the proof, its controls, what is
left of its closest bound, and what is another than in the earlier run."""

import re
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile

from labtests.report.earlier import Moved, Since
from labtests.report.past import Past, RedTest
from labtests.report.runs import Json, entries, lab_of, number
from labtests.report.text import plain, short_port
from labtests.report.view import OUTCOMES, kept_its_word, standing_of, verdicts_of

WORDS = {"pass": "Yes", "fail": "No"}
"""Verdicts ask so that a pass is a yes. Whatever is not known is never a no."""
NOT_KNOWN = "Not known"
OF_THE_HOSTS = "Did hosts and cables do their part?"
LONGEST_CASE, LONGEST_OWN = 24, 60
RED = ("fail", "error", "inconclusive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where to walk to: a device, and the port that is named; "" when only the device is."""

    device: str
    port: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What the page shows of one test before it is opened."""

    test: Json
    address: str
    name: str
    outcome: str
    question: str
    word: str
    answer: str
    more_answers: int
    controls: tuple[int, int]
    closest: Json | None
    left: float | None
    verdict: Json | None
    since: Since
    before: Json | None = None
    red_test: RedTest | None = None
    place: Spot | None = None
    moved: Moved | None = field(default=None)

    @property
    def red(self) -> bool:
        """Whether it needs a person."""
        return self.outcome in RED


def suites_of(run: Json, past: Past) -> list[Suite]:
    """Every test of the run, worst first, then as they ran."""
    tests = entries(run.get("tests"))
    names = _names(tests)
    known = places_of(run)
    addresses = _addresses(names)
    found = [
        _suite(test, (name, address), past, known)
        for test, name, address in zip(tests, names, addresses, strict=True)
    ]
    return sorted(found, key=lambda suite: OUTCOMES.index(suite.outcome))


def _names(tests: list[Json]) -> list[str]:
    """`suites/test_s1_pfc.py::…` is "s1 pfc"; of a file with several tests, each says what it is
    by its function. What is still the same has a number."""
    parts = [_file_and_function(test) for test in tests]
    beside: dict[str, set[str]] = {}
    for file, function in parts:
        beside.setdefault(file, set()).add(function)
    same = {file: _in_common(functions) for file, functions in beside.items()}
    found = [
        _with_case(_named(file, function, same[file]), case_of(test))
        for test, (file, function) in zip(tests, parts, strict=True)
    ]
    before = Counter[str]()
    for place, name in enumerate(found):
        before[name] += 1
        found[place] = name if before[name] == 1 else f"{name} {before[name]}"
    return found


def _file_and_function(test: Json) -> tuple[str, str]:
    """In words."""
    file, _, rest = str(test.get("id") or "").partition("::")
    file = file.rpartition("/")[2].removesuffix(".py").removeprefix("test_")
    function = rest.partition("[")[0].rpartition("::")[2].removeprefix("test_")
    return _words(file) or "test", _words(function)


def _words(text: str) -> str:
    return " ".join(re.findall(r"[A-Za-z0-9]+", text))


def _in_common(functions: set[str]) -> int | None:
    """With how many words all of them begin; None for one alone."""
    columns = zip(*(each.split() for each in functions), strict=False)
    same = len(list(takewhile(lambda words: len(set(words)) == 1, columns)))
    return None if len(functions) < 2 else same


def _named(file: str, function: str, same: int | None) -> str:
    """`early warning` beside another of its file is "early warning: before it loses"."""
    if same is None:
        return file
    own = textwrap.shorten(" ".join(function.split()[same:]), LONGEST_OWN, placeholder=" \u2026")
    return f"{file}: {own}" if own else file


def _addresses(names: list[str]) -> list[str]:
    """Where each is in the page: its name as a link has it, each of them once."""
    taken = Counter[str]()
    found = []
    for name in names:
        address = "-".join(re.findall(r"[a-z0-9]+", name.lower())) or "test"
        taken[address] += 1
        found.append(address if taken[address] == 1 else f"{address}--{taken[address]}")
    return found


def case_of(test: Json) -> str:
    """The id of a parametrised test's case; "" of any other test."""
    found = re.search(r"\[(.+)\]$", str(test.get("id") or ""), re.DOTALL)
    return found[1] if found else ""


def _with_case(name: str, case: str) -> str:
    """`verbs` of the case `reads` is "verbs [reads]"."""
    if not case:
        return name
    short = case if len(case) <= LONGEST_CASE else f"{case[:LONGEST_CASE]}\u2026"
    return f"{name} [{short}]"


def _suite(test: Json, called: tuple[str, str], past: Past, known: list[Spot]) -> Suite:
    name, address = called
    outcome = standing_of(test)
    earlier = entries((past.last or {}).get("tests"))
    before = next((each for each in earlier if each.get("id") == test.get("id")), None)
    red_test = past.tests.get(str(test.get("id")))
    mains, controls = verdicts_of(test, "main"), verdicts_of(test, "control")
    verdict = _telling(_experiments_first(test, mains), controls)
    if outcome in RED and verdict is not None and kept_its_word(verdict):
        verdict = None  # it is red for something else: what was raised
    answer = _answer(test, verdict)
    since = Since.of(test, before, None if red_test is None else red_test.passed)
    share, fact = closest([fact for v in mains for fact in entries(v.get("facts"))])
    return Suite(
        test=test,
        address=address,
        name=name,
        outcome=outcome,
        question=str(verdict.get("question") or "") if verdict else "",
        word=_word(verdict),
        answer=readable(answer, known),
        more_answers=max(len(mains) - 1, 0),
        controls=(sum(map(kept_its_word, controls)), len(controls)),
        closest=fact,
        left=share,
        verdict=verdict,
        since=since,
        before=before,
        red_test=red_test,
        place=place_in(f"{answer}\n{test.get('error') or ''}", known) if outcome in RED else None,
        moved=since.most,
    )


def _word(verdict: Json | None) -> str:
    """A control that is not what it had to be leaves the question open."""
    if verdict is None or verdict.get("role") == "control":
        return NOT_KNOWN
    return WORDS.get(str(verdict.get("outcome")), NOT_KNOWN)


def _experiments_first(test: Json, verdicts: list[Json]) -> list[Json]:
    """What is asked of the experiment goes before the same question asked of a control's phase."""
    controls = {p.get("name") for p in entries(test.get("phases")) if p.get("kind") == "control"}
    return sorted(verdicts, key=lambda verdict: verdict.get("phase") in controls)


def _telling(mains: list[Json], controls: list[Json]) -> Json | None:
    """The verdict that the line is about: the reddest, else the one that the suite is for."""
    for outcome in ("fail", "error", "inconclusive"):
        for verdict in mains:
            if verdict.get("outcome") == outcome:
                return verdict
    for verdict in (*mains, *controls):
        if not kept_its_word(verdict):
            return verdict
    asked = [v for v in mains if v.get("question") != OF_THE_HOSTS]
    return asked[0] if asked else (mains[0] if mains else None)


def _answer(test: Json, verdict: Json | None) -> str:
    if verdict is not None:
        return str(verdict.get("because") or "")
    error = test.get("error")
    if isinstance(error, str) and error:
        return error.splitlines()[0]
    return "no verdict was asked for" if test.get("outcome") == "pass" else "no verdict"


def broken(fact: Json) -> bool:
    """Whether it is why a verdict is not a pass: its bound is not kept, or it has no number."""
    measured, margin = number(fact.get("measured")), number(fact.get("margin"))
    if measured is None:
        return bool(fact.get("note"))
    return (margin is not None and margin < 0) or (fact.get("bound") == "= 0" and measured != 0)


def closest(facts: list[Json]) -> tuple[float | None, Json | None]:
    """The fact that has least left of its bound, and that as a share of the larger of the two."""
    shares = [(share, fact) for fact in facts if (share := _share_left(fact)) is not None]
    return min(shares, key=lambda pair: pair[0], default=(None, None))


def _share_left(fact: Json) -> float | None:
    measured, margin = number(fact.get("measured")), number(fact.get("margin"))
    if measured is None or margin is None:
        return None
    if str(fact.get("bound")).startswith("= "):
        return None  # it is kept, or it is not
    size = max(abs(measured), abs(measured - margin), abs(measured + margin))
    return margin / size if size and margin else None


def places_of(run: Json) -> list[Spot]:
    """Every device and port of the lab, the longest name first."""
    lab = lab_of(run)
    names = [str(device["name"]) for device in entries(lab.get("devices")) if device.get("name")]
    ports = {
        (str(end.get("device")), str(end.get("port")))
        for link in entries(lab.get("links"))
        for end in entries(link.get("ends"))
    }
    found = [Spot(device=device, port=port) for device, port in sorted(ports)]
    found += [Spot(device=name) for name in names]
    return sorted(found, key=lambda place: -len(f"{place.device} {place.port}"))


def after_place(text: str, place: Spot) -> str:
    """What is said of a place, without its name."""
    return re.sub(rf"^{re.escape(place.device)}[ :]{re.escape(place.port)}\s*", "", text)


def place_in(text: str, known: list[Spot]) -> Spot | None:
    """The port that a sentence names first, or the device."""
    found: list[tuple[int, int, Spot]] = []
    for place in known:
        for joint in (" ", ":") if place.port else ("",):
            words = f"{place.device}{joint}{place.port}"
            seen = re.search(rf"(?<![\w.-]){re.escape(words)}(?![\w/.-]*\w)", text)
            if seen:
                found.append((seen.start(), -len(words), place))
    return min(found, key=lambda one: one[:2])[2] if found else None


def readable(text: str, known: list[Spot]) -> str:
    """A sentence with short ports and grouped thousands; the whole names stay in the chain."""
    for port in {place.port for place in known if place.port}:
        text = text.replace(port, short_port(port))
    return str(plain(text))
