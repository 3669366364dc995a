"""Fixtures for suites: `testbed`, `lab` (open devices), `incast` and `ring` (experiments)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn, TypeVar

import pytest

from labtests.capabilities.device import abilities_like, meaning_of
from labtests.capabilities.facts import Lacking
from labtests.core.errors import LabError, LeaseBusy, LeaseLost, Unreachable, WrongOption
from labtests.experiment import Incast, Ring, Span, measure, roles_of
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.measure.evidence import Refresh
from labtests.pytest_plugin.options import option, soak_seconds
from labtests.pytest_plugin.run import RUN, Run
from labtests.recovery import LabHeld, NotPutBack

UNUSABLE_EXIT, UNREACHABLE_EXIT = 10, 15
LAB_FIXTURES = frozenset({"lab", "incast", "ring"})
AnyIncast = TypeVar("AnyIncast", bound=Incast)
INCAST = pytest.StashKey[Incast]()
CHANGES_BEFORE = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def testbed(request: pytest.FixtureRequest) -> Testbed:
    """The testbed file of --testbed, as frozen records."""
    return request.config.stash[RUN].testbed


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Every device of the testbed, connected. Changes are undone and read back at the end.

    A device that cannot be reached ends the session at once, with exit code 15, and so does a lab
    that somebody else has; something that would disturb the settings does so with 10, and so do
    changes that an earlier run has left.
    """
    run = request.config.stash[RUN]
    try:
        opened = run.open_lab(progress_of(run))
        run.preflight.expect_fit(
            opened,
            idle_s=run.asked.idle_s(run.lab),
            tolerated=frozenset(option(run.config, "tolerate")),
            say=progress_of(run),
        )
        if not run.asked.planning:
            progress_of(run)("reading the whole lab, to compare with at the end")
            run.proof.begin(opened)
        run.apply_profile(opened, progress_of(run))
        run.open_streams(opened, progress_of(run))
        yield opened
    except LabError as error:
        _exit(run, error)
    finally:
        run.close_lab()


@pytest.fixture
def incast(request: pytest.FixtureRequest, lab: Lab) -> Iterator[Incast]:
    """An experiment on the testbed's senders and receiver: `incast.control` is a phase that has to
    be red, `incast.run` one that gives its evidence, `incast.judge` takes verdicts on it, of
    labtests.verdicts (docs/writing-suites.md). What it changes is put back after."""
    yield from _experiment(request, lab, Incast)


@pytest.fixture
def ring(request: pytest.FixtureRequest, lab: Lab) -> Iterator[Ring]:
    """The same on a ring of switches, where the testbed's roles have one; else it skips."""
    yield from _experiment(request, lab, Ring)


@pytest.fixture(autouse=True)
def required(request: pytest.FixtureRequest) -> None:
    """Before any other fixture of a test that has the lab: what its `requires` marks ask for."""
    marks = list(request.node.iter_markers("requires"))
    if marks and needs_lab(request.node):
        _require(marks, request.getfixturevalue("lab"))


def _experiment(
    request: pytest.FixtureRequest, lab: Lab, kind: type[AnyIncast]
) -> Iterator[AnyIncast]:
    run = request.config.stash[RUN]
    try:
        lab.expect_lease()
    except LeaseLost as error:
        _exit(run, error)
    request.node.stash[CHANGES_BEFORE] = len(lab.changes)
    with lab.restoring():
        experiment = kind(
            lab=lab,
            pace=run.asked.pace(run.lab),
            with_controls=not option(run.config, "no_controls"),
            progress=progress_of(run),
            idle=run.preflight.noise,
            measured=lambda anew: _refresh(run, lab, anew=anew),
            soak_s=soak_seconds(run.config),
        )
        request.node.stash[INCAST] = experiment
        yield experiment
        run.spans[request.node.nodeid] = sum(experiment.planned, Span(least_s=0.0, most_s=0.0))


def _refresh(run: Run, lab: Lab, *, anew: bool) -> Refresh:
    """Measured before the first phase of a run, and when it has turned out to be another one."""
    if run.refresh is None or anew:
        run.refresh = measure(lab, roles_of(lab.testbed), progress_of(run))
    return run.refresh


def needs_lab(item: pytest.Item) -> bool:
    """Whether it asks for a fixture of ours, not one of its own with the same name."""
    found = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return any(found[n][-1].func.__module__ == __name__ for n in LAB_FIXTURES & set(found))


def why_no_lab(error: BaseException | None) -> str:
    """Whether a session with a device could not be opened, or broke, or the lab is not ours any
    more: in a word; "" for any other error."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(why_no_lab, error.exceptions)), "")
    if isinstance(error, LeaseLost):
        return "lease lost"
    return "lab unreachable" if isinstance(error, Unreachable) else ""


def _exit(run: Run, error: LabError) -> NoReturn:
    word, code = "lab not usable", UNUSABLE_EXIT
    if isinstance(error, WrongOption):
        word, code = "wrong option", pytest.ExitCode.USAGE_ERROR
    if gone := why_no_lab(error):
        word, code = gone, UNREACHABLE_EXIT
    elif isinstance(error, LabHeld | LeaseBusy):
        word, code = "lab in use", UNREACHABLE_EXIT
    elif isinstance(error, NotPutBack):
        word = "lab left modified by an earlier run"
    run.problem = f"{word}: {error}"
    pytest.exit(word, returncode=code)


def _require(marks: Sequence[pytest.Mark], lab: Lab) -> None:
    """Skip, with the reason, what no device of this testbed can do, or not the one that has to."""
    needed = [name for mark in marks for name in mark.args]
    _expect_known([*needed, *(name for _, names in _asked_of(marks, lab) for name in names)], lab)
    sentences = []
    if lacking := [name for name in needed if not lab.offers(name)]:
        sentences.append(f"no device of {lab.testbed.name} supports: {_in_words(lacking)}")
    for devices, names in _asked_of(marks, lab):
        needed += names
        sentences += _not_there(lab, devices, names)
    why: dict[str, list[str]] = {}
    for device, part in lab.able(Lacking).items():
        lacks = lab.ask(device, part.lacks())
        for sentence in {why for name, why in lacks.items() if name in needed}:
            why.setdefault(sentence, []).append(device)
    sentences += [f"{', '.join(devices)}: {sentence}" for sentence, devices in why.items()]
    if sentences:
        pytest.skip("; ".join(sentences))


def _asked_of(marks: Iterable[pytest.Mark], lab: Lab) -> Iterator[tuple[list[str], list[str]]]:
    """Devices, and what each of them has to have: `hosts=` and `switches=` of the marks."""
    for mark in marks:
        if not mark.kwargs:
            continue
        roles = roles_of(lab.testbed)
        each = (*roles.senders, roles.receiver)
        of_kind = {
            "hosts": [role.name for role in each],
            "switches": [r.switch.device for r in each],
        }
        for kind, names in mark.kwargs.items():
            if kind not in of_kind:
                told = f"@pytest.mark.requires({kind}=...): there are {' and '.join(of_kind)}"
                pytest.fail(told, pytrace=False)
            yield (
                list(dict.fromkeys(of_kind[kind])),
                [names] if isinstance(names, str) else [*names],
            )


def _not_there(lab: Lab, devices: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    lacking: dict[str, list[str]] = {}  # devices that lack the same are told at once
    for name in names:
        if found := [device for device in devices if not lab.offers(name, device)]:
            lacking.setdefault(", ".join(found), []).append(name)
    for without, what in lacking.items():
        yield f"{without}: no support for {_in_words(what)}"


def _expect_known(names: Iterable[str], lab: Lab) -> None:
    """A mistyped ability would skip its test for good. One of somebody's own platform is known
    where a device of that platform is."""
    for name in names:
        if not (meaning_of(name) or lab.offers(name)):
            near = "".join(f"; did you mean {each}?" for each in abilities_like(name))
            told = (
                f"@pytest.mark.requires: {name!r} is an ability unknown to labtests and to the lab"
            )
            pytest.fail(f"{told}{near}", pytrace=False)


def _in_words(names: Iterable[str]) -> str:
    """Names of a `requires` mark, each with what its ability is."""
    return ", ".join(f"{name} ({meaning_of(name)})" for name in names)


def progress_of(run: Run, *, below: bool = False) -> Callable[[str], None]:
    """One plain line for each part of a phase, unless -q asks for silence. `below`: pytest's letter
    for a test, which ends no line, stands before it."""
    terminal = run.config.pluginmanager.get_plugin("terminalreporter")
    capture = run.config.pluginmanager.get_plugin("capturemanager")

    def say(text: str) -> None:
        run.heard(text)
        if terminal is None or capture is None or run.config.getoption("verbose") < 0:
            return
        with capture.global_and_fixture_disabled():
            terminal.write_line("\n" * below + run.clean(f"  {text}"))

    return say
