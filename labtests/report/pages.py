"""The page and its parts: templates filled with a run. Everything is escaped by default."""

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from labtests.core.printable import visible
from labtests.report import text, view
from labtests.report.details import details
from labtests.report.exact import sawteeth
from labtests.report.headline import cut_off, headline
from labtests.report.ledger import ledger_of
from labtests.report.past import Past
from labtests.report.picture import picture_of
from labtests.report.runs import Json, entries, lab_of, texts
from labtests.report.sealing import page_script, policy
from labtests.report.suites import RED, Suite, suites_of
from labtests.report.view import UNJUDGED, standing_of
from labtests.transport.chronicle import Chronicle
from labtests.verdicts import right_control

NONE, UNKNOWN = Chronicle(), Past()


def css() -> str:
    """The style of everything below; goes into one <style> of the page."""
    return resources.files("labtests.report").joinpath("style.css").read_text(encoding="utf-8")


def body(run: Json, *, past: Past = UNKNOWN, journal: Chronicle = NONE) -> str:
    """All of the page but its frame, which is ours or pytest-html's: style, the first screen, a
    line for each suite with its proof behind it, the lab, and what the script draws."""
    suites = suites_of(run, past)
    told = [suite for suite in suites if not cut_off(suite)]  # what somebody ended says nothing
    controls = [suite.controls for suite in suites]
    shown = _rendered(
        "body.html.j2",
        run=run,
        earlier=past.last,
        past=past,
        journal=journal,
        suites=suites,
        headline=headline(run, suites),
        picture=picture_of(run, suites),
        needs=_by_place([suite for suite in suites if suite.red]),
        turned=[s for s in told if s.red and s.since.was and s.since.was not in RED],
        cut=len(suites) - len(told),
        stayed=sum(suite.red and suite.since.was in RED for suite in suites),
        new=[suite for suite in told if suite.red and not suite.since.was],
        reddened=_since_green(told, past),
        healed=sum(s.since.changed and s.outcome == "pass" for s in suites),
        controls=(sum(kept for kept, _ in controls), sum(count for _, count in controls)),
    )
    drawn = details(suites, journal.exchanges)
    block = f'<script type="application/json" id="lt-data">{drawn}</script>'
    drawing = f'<script type="module">{page_script()}</script>'
    return "\n".join([f"<style>{css()}</style>", shown, block, drawing])


def _by_place(red: list[Suite]) -> list[list[Suite]]:
    """One walk for all that is red at one port."""
    walks: dict[object, list[Suite]] = {}
    for suite in red:
        known = suite.place is not None and suite.place.port
        walks.setdefault(suite.place if known else suite.address, []).append(suite)
    return list(walks.values())


def _since_green(suites: list[Suite], past: Past) -> list[Suite]:
    """What is red and was asked and green in the last green run."""
    passed = {t.get("id") for t in entries((past.green or {}).get("tests"))
              if standing_of(t) in ("pass", UNJUDGED)}  # fmt: skip
    return [suite for suite in suites if suite.red and suite.test.get("id") in passed]


def page(run: Json, *, past: Past = UNKNOWN, journal: Chronicle = NONE) -> str:
    """A whole page in a frame of its own, self-contained: nothing is fetched."""
    name = lab_of(run).get("name")
    stamp = " (SIMULATED)" if view.simulated(run) else ""
    return _rendered(
        "page.html.j2",
        policy=policy(),
        title=f"labtests: {name or 'a lab without a name'}{stamp}",
        body=Markup(body(run, past=past, journal=journal)),
    )


def _rendered(template: str, **values: object) -> str:
    return visible(_environment().get_template(template).render(**values))


_FILTERS: tuple[Callable[..., Any], ...] = (
    *(text.amount, text.brief, text.date, text.gbit, text.seconds, text.signed, text.figure),
    *(
        text.short_port,
        text.percent,
        text.part,
        text.counter_words,
        text.plain,
        entries,
        texts,
        view.outcome_class,
    ),
)
_GLOBALS: tuple[Callable[..., Any], ...] = (
    *(view.counts_of, view.verdicts_of, view.contradicts_itself, view.kept_its_word),
    *(right_control, view.simulated, view.one_machine, view.versions_of, view.tells),
    *(ledger_of, view.alarms_of),
    *(view.losses_of, view.noise_of, view.login_of, view.served, view.journal_named),
    *(view.error_of, sawteeth),
)
"""What templates call, by the names that it has here."""


def _by_name(functions: tuple[Callable[..., Any], ...]) -> dict[str, Callable[..., Any]]:
    return {function.__name__: function for function in functions}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("labtests.report"),
        autoescape=True,
        undefined=ChainableUndefined,
        finalize=text.shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_by_name(_FILTERS))
    environment.filters["label"] = view.label_of
    environment.tests["lt_tells"] = view.tells
    environment.globals.update(_by_name(_GLOBALS), wrong_control=view.wrong_of)
    return environment
