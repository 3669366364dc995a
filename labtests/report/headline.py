"""The verdict in one sentence, with its number."""

import re
from collections.abc import Iterable

from labtests.report.runs import Json, entries, number, texts
from labtests.report.suites import Suite
from labtests.report.text import brief, counted, grouped, short_ports
from labtests.report.view import NAMESPACES, kept_its_word, verdicts_of

_WHERE = {"hardware": "", NAMESPACES: " on one machine"}
_QUEUE = re.compile(r"(.*?) ?\b(queue \d+)\b.*")


def headline(run: Json, suites: list[Suite]) -> str:
    """What a person needs to know who reads nothing else. A lab that is not as it was found is
    said in any case."""
    said = _of_suites(run, suites)
    state = run.get("state")
    if suites and run.get("problem") and not any(suite.red for suite in suites):
        said += ", but the run has a problem"
    if isinstance(state, dict) and entries(state.get("differences")):
        said += ", and the lab is not as it was found"
    return said


def _of_suites(run: Json, suites: list[Suite]) -> str:
    asked = [suite for suite in suites if suite.outcome not in ("skipped", "unjudged")]
    if not suites:
        return "The lab was not usable" if run.get("problem") else "No test ran"
    if not asked:
        return "Nothing was proven"
    red = [suite for suite in asked if suite.red]
    left_out = texts(run.get("not_run"))
    if red:
        cut = f", {len(left_out)} did not run" if left_out else ""
        return _of_red(red, len(suites) + len(left_out), cut)
    rest = _not_asked(suites)
    if left_out:
        return f"Not whole: {counted(len(asked), len(suites) + len(left_out), 'ran')}{rest}"
    return _of_green(run, asked, f"{counted(len(asked), len(suites), 'pass')}{rest}")


def _not_asked(suites: list[Suite]) -> str:
    """What is no answer is not hidden behind those that are."""
    told = ""
    for outcome, words in (("skipped", "skipped"), ("unjudged", "without a verdict")):
        if count := sum(suite.outcome == outcome for suite in suites):
            told += f", {count} {words}"
    return told


def _of_red(red: list[Suite], count: int, cut: str) -> str:
    failed = [suite for suite in red if suite.outcome == "fail"]
    lost, queues, ports = _lost(v for suite in failed for v in verdicts_of(suite.test, "main"))
    if lost:
        where = f" at {' and '.join(map(short_ports, ports))}" if 0 < len(ports) < 3 else ""
        where += f" in {' and '.join(queues)}" if 0 < len(queues) < 4 else ""
        return f"Not lossless: {grouped(lost)} packet{'s' * (lost != 1)} lost{where}{cut}"
    if all(map(cut_off, red)):
        return f"Not whole: {red[0].name} was {cut_off(red[0])}{cut}"
    words = {"fail": "fail", "error": "could not be judged: the lab broke"}
    for outcome, word in words.items():
        if found := [suite for suite in red if suite.outcome == outcome]:
            return f"{counted(len(found), count, word)}{cut}{_why(found)}"
    return f"Not known: {counted(len(red), count, 'prove nothing')}{cut}{_why(red)}"


def cut_off(suite: Suite) -> str:
    """Of a test that somebody ended: by what; no lab broke. "" for others."""
    said = str(suite.test.get("error") or "").partition("\n")[0]
    return said if said.startswith("interrupted by ") else ""


def _why(suites: list[Suite]) -> str:
    """The worst verdict's sentence, of the first suite that says where to look."""
    suite = next((each for each in suites if each.place), suites[0])
    told = suite.verdict is None or not kept_its_word(suite.verdict)
    said = str(brief(suite.answer)) if told else ""
    return f"; {suite.name}: {said}" if said else ""


def _of_green(run: Json, asked: list[Suite], passes: str) -> str:
    where = _WHERE.get(str(run.get("backend")), " in simulation")
    sent = sum(_forwarded(verdicts_of(suite.test, "main")) for suite in asked)
    if not sent:
        return f"{passes}{where}"
    return f"Lossless{where}: 0 of {grouped(sent)} packets lost; {passes}"


def _lost(verdicts: Iterable[Json]) -> tuple[int, list[str], list[str]]:
    """Packets that a failed verdict counts where none may be lost, each counter once; the queues
    and the ports."""
    found: dict[tuple[str, str], int] = {}
    for verdict in verdicts:
        if verdict.get("outcome") != "fail":
            continue
        for fact in _dropped(verdict):
            measured = number(fact.get("measured"))
            found[str(verdict.get("phase")), str(fact.get("name"))] = int(measured or 0)
    lost = {key: count for key, count in found.items() if count > 0}
    places = [(m[2], m[1]) for _, name in lost if (m := _QUEUE.fullmatch(name))]
    queues, ports = (sorted({place[n] for place in places}) for n in (0, 1))
    return sum(lost.values()), queues, ports


def _dropped(verdict: Json) -> list[Json]:
    return [each for each in _of_drops(verdict) if each.get("bound") == "= 0"]


def _of_drops(verdict: Json) -> list[Json]:
    facts = entries(verdict.get("facts"))
    return [each for each in facts if str(each.get("name")).endswith(" dropped_packets")]


def _asks_for_none(verdict: Json) -> bool:
    """Of losses, and not one that wants some: those may be made on purpose."""
    drops = _of_drops(verdict)
    return bool(drops) and drops == _dropped(verdict)


def _forwarded(verdicts: Iterable[Json]) -> int:
    """Packets of one suite's verdicts on losses, each queue of a phase once."""
    found = {
        (str(verdict.get("phase")), str(fact.get("name"))): int(number(fact.get("measured")) or 0)
        for verdict in verdicts
        if _asks_for_none(verdict)
        for fact in entries(verdict.get("facts"))
        if re.search(r" queue \d+ forwarded_packets$", str(fact.get("name")))
    }
    return sum(found.values())
