"""Whether the lab is as it was found is not known: then no test of that run is a pass."""

from typing import Any
from xml.etree import ElementTree

import pytest

from labtests.pytest_plugin.run import Run
from labtests.verdicts import Outcome

_RED = frozenset({"failure", "error", "skipped"})


def no_pass(session: pytest.Session, run: Run, problem: str) -> None:
    """What was a pass is an error of its test's end: in run.json, in JUnit's file, on the HTML page
    and in the terminal's count. `problem` is what the run says of the lab."""
    said, items = run.clean(problem), {item.nodeid: item for item in getattr(session, "items", [])}
    for entry in run.tests:
        if entry["outcome"] != Outcome.PASS.value:
            continue
        entry |= {"outcome": Outcome.ERROR.value, "error": said}
        if (item := items.get(entry["id"])) is not None:
            _report(item, said)
    _in_junit(session.config, said)


def _report(item: pytest.Item, said: str) -> None:
    """To all but JUnit's plugin, which would take it for one more test."""
    from _pytest.junitxml import xml_key

    report = pytest.TestReport(
        item.nodeid, item.location, {item.name: 1}, "failed", said, "teardown"
    )
    plugins = [xml] if (xml := item.config.stash.get(xml_key, None)) is not None else []
    call = item.config.pluginmanager.subset_hook_caller("pytest_runtest_logreport", plugins)
    call(report=report)


def _in_junit(config: pytest.Config, said: str) -> None:
    from _pytest.junitxml import xml_key

    xml: Any = config.stash.get(xml_key, None)
    for reporter in [] if xml is None else xml.node_reporters_ordered:
        case = reporter.to_xml()
        if _RED & {child.tag for child in case}:
            continue
        ElementTree.SubElement(case, "error", message=said).text = said
        for outcome in case.findall("properties/property[@name='outcome']"):
            outcome.set("value", Outcome.ERROR.value)
        xml.stats["passed"] -= 1
        xml.stats["error"] += 1
