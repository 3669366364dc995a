"""What CI services read in junit.xml beside what pytest writes there."""

from typing import Any

import pytest

from labtests.pytest_plugin.run import Run


def add_not_run(xml: Any, run: Run) -> None:
    """A case for each test that was left out, with the reason: a lab that was not reachable is told
    of every test that was asked for, and a test that is missing is not taken for one that is gone.
    `xml` is pytest's own plugin."""
    why = f"not run: {run.problem.partition(chr(10))[0] or 'left out'}"
    for nodeid in run.not_run:
        file, _, name = nodeid.partition("::")
        place = (file, None, name)
        skipped = pytest.TestReport(nodeid, place, {}, "skipped", (file, 0, why), "setup")
        properties = [("backend", run.backend), ("outcome", "not run")]
        ended = pytest.TestReport(
            nodeid, place, {}, "passed", None, "teardown", user_properties=properties
        )
        for report in (skipped, ended):
            xml.pytest_runtest_logreport(report)
