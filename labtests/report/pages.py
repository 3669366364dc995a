"""The page and its parts: templates filled with a run. Everything is escaped by default."""

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from labtests.core.printable import visible
from labtests.report import text, view
from labtests.report.runs import Json, entries, texts
from labtests.verdicts import right_control


def css() -> str:
    """The style of everything below; goes into one <style> of the page."""
    return resources.files("labtests.report").joinpath("style.css").read_text(encoding="utf-8")


def summary_html(run: Json) -> str:
    """The first screen: lab, backend, when, versions, and every test's verdicts and controls."""
    return _rendered("summary.html.j2", run=run)


def test_html(test: Json) -> str:
    """One test in full: verdicts with their facts, plots, counters, settings, commands, rerun."""
    return _rendered("test.html.j2", test=test)


test_html.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def state_html(run: Json) -> str:
    """The last section: what differs between the lab as it was found and as it was left."""
    return _rendered("state.html.j2", run=run)


def page(run: Json) -> str:
    """A whole page, self-contained: no script, and nothing is fetched. Passed tests are folded."""
    return _rendered(
        "page.html.j2",
        run=run,
        style=Markup(css()),
        summary=Markup(summary_html(run)),
        state=Markup(state_html(run)),
        tests=[(test, Markup(test_html(test))) for test in view.tests_of(run)],
    )


def _rendered(template: str, **values: object) -> str:
    return visible(_environment().get_template(template).render(**values))


_FILTERS: tuple[Callable[..., Any], ...] = (
    *(text.amount, text.brief, text.dash, text.date, text.gbit, text.moment, text.seconds),
    *(text.signed, entries, texts),
)
_GLOBALS: tuple[Callable[..., Any], ...] = (
    *(view.anchor, view.tests_of, view.counts_of, view.verdicts_of, view.contradicts_itself),
    *(view.kept_its_word, right_control, view.simulated, view.one_machine, view.plots_of),
    *(view.counters_of, view.still_of, view.settings_of, view.versions_of),
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
    environment.filters.update(
        outcome=view.outcome_of, label=view.label_of, standing=view.standing_of
    )
    environment.globals.update(_by_name(_GLOBALS), wrong_control=view.wrong_of)
    return environment
