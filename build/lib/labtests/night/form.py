"""A night's file: which suites run on which testbeds, and who is told."""

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from labtests.core.errors import InventoryError
from labtests.inventory import Readable, Testbed, load
from labtests.inventory.document import read_file
from labtests.inventory.finding import is_path, located, to_dial
from labtests.inventory.form import checked
from labtests.inventory.names import Description, EnvironmentName

Minutes = Annotated[int, Field(ge=0, le=7 * 24 * 60)]
Occasion = Literal["red", "first-green", "margin"]
_OURS = ("testbed", "inventory", "run-dir", "wait-for-lease")
"""Options that the night gives itself; each has a second name (`--labtests-testbed`)."""


class _NightPart(BaseModel):
    """Strict: no conversions, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RunForm(_NightPart):
    """One run of pytest."""

    testbed: Description
    suites: list[Description] = Field(default=["suites"], min_length=1)
    options: list[Description] = []
    wait_for_lease_minutes: Minutes = 30


class NotifyForm(_NightPart):
    """Who is told: URLs of the package apprise, in an environment variable."""

    when: list[Occasion] = Field(default=["red", "first-green", "margin"], min_length=1)
    urls_env: EnvironmentName = "LABTESTS_NOTIFY"


class NightFile(_NightPart):
    """The whole file."""

    night: Description
    budget_minutes: Minutes | None = None
    notify: NotifyForm | None = None
    runs: list[RunForm] = Field(min_length=1, max_length=1000)


@dataclass(frozen=True, slots=True)
class NightRun:
    """One run of pytest on a lab."""

    number: int
    testbed: Testbed
    form: RunForm

    @property
    def backend(self) -> str:
        """The word that its verdicts will be stamped with, as far as the file says."""
        if "--dry-run" in self.form.options:
            return "simulated"
        return "hardware" if self.testbed.linux_lab is None else "namespaces"


@dataclass(frozen=True, slots=True)
class Night:
    """A file that was read, with its testbeds."""

    form: NightFile
    runs: tuple[NightRun, ...]


def read_night(named: str) -> Night:
    """The night that a file describes; every testbed of it is read, too. Raises InventoryError with
    every mistake, NotPrivate for a file that others can have put in the user's way."""
    document = read_file(to_dial(Path(named), named=True))
    mistakes = document.mistakes
    form = None
    if document.tree is not None or not mistakes.lines():
        form = checked(document.tree, NightFile, "a night", mistakes)
    runs = []
    for number, run in enumerate([] if form is None else form.runs):
        if ours := [word for word in run.options if _name_of(word) in _OURS]:
            mistakes.add(("runs", number, "options"), f"{ours[0]} is given by the night itself")
        for place, suite in enumerate(run.suites):
            if why := _no_suite(suite, is_module="--pyargs" in run.options):
                mistakes.add(("runs", number, "suites", place), why)
        try:
            runs.append(NightRun(number, load(_testbed(run)), run))
        except InventoryError as error:
            mistakes.add(("runs", number, "testbed"), str(error).partition("\n")[0])
    if form is None or mistakes.lines():
        raise InventoryError(mistakes.lines())
    return Night(form, tuple(runs))


def _name_of(option: str) -> str:
    return option.partition("=")[0].removeprefix("--").removeprefix("labtests-")


def _no_suite(asked: str, *, is_module: bool) -> str:
    """Why pytest, started here, would not find it; "" where it would."""
    place, _, test = asked.partition("::")
    file = Path(place)
    if not place or not file.exists():
        if is_module and _is_module(place):
            return ""
        return f"no such suite: {place} (in {Path.cwd()}); remedy: a path from there" + (
            ", or a module" if is_module else ", or options: [--pyargs] for a module"
        )
    name = re.split(r"::|\[", test)[0]
    if name and not re.search(rf"\b(def|class) {re.escape(name)}\b", _source(file)):
        return f"no such test: {name}; remedy: pytest --collect-only {place} shows them"
    return ""


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _source(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _testbed(run: RunForm) -> Readable | Path:
    if "--dry-run" in run.options:
        return located(run.testbed)
    return to_dial(located(run.testbed), named=is_path(run.testbed))
