"""For every test: an example of hypothesis is not red because somebody else uses the machine, what
one test has used as a password is not hidden in the output of the next, and several processes
(`make test`, pytest-xdist) share the files of tests, the longest first."""

import pytest
from hypothesis import settings

import labtests.core.output

LONGEST_FIRST = (
    "linuxlab",
    "story",
    "recovery",
    "endtoend",
    "cases",
    "faults",
    "lease",
    "snapshot",
)
ONE_PROCESS = frozenset({"linuxlab"})
"""Rooms of which no two files run at once: real traffic needs the machine's CPUs."""

WHOLE_RUNS = dict.fromkeys(
    ("test_story_labels", "test_story_plan", "test_story_whole_run"), "story of whole runs"
)
"""Files that look at the same runs, each of which is made once a process."""

settings.register_profile("labtests", deadline=None)
settings.load_profile("labtests")


@pytest.fixture(autouse=True)
def _no_password_used_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labtests.core.output, "_used", set())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process runs a file, whose fixtures are its own; long rooms do not begin last."""
    order = {room: number for number, room in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(item.path.parent.name, len(order)))
    for item in items:
        room = item.path.parent.name
        together = room if room in ONE_PROCESS else f"{room}/{item.path.stem}"
        together = WHOLE_RUNS.get(item.path.stem, together)
        item.add_marker(pytest.mark.xdist_group(together))
