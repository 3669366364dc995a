"""A pytest plugin that keeps what a suite asks: each verdict function with its evidence, as called.

    pytest suites --testbed FILE --dry-run -p capturing --keep-asked FOLDER

(with tests/mutations in PYTHONPATH) writes FOLDER/TESTBED--SUITE.pickle.gz for each test that
passed. A verdict that is the argument of another call (`reddest`) is kept as that call's number.
"""

import gzip
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import labtests.experiment.incast
import labtests.experiment.ring
import labtests.verdicts as verdicts
from labtests.experiment.judging import Judged
from labtests.verdicts import Verdict


@dataclass(frozen=True)
class Answer:
    """What the call of this number returned."""

    call: int


@dataclass(frozen=True)
class Call:
    """One question: the name of a function of labtests.verdicts, and what it was given."""

    function: str
    args: tuple[Any, ...]
    named: dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A verdict on which the test rests: the number of its call, and what it had to be."""

    call: int
    judged: Judged


@dataclass
class Case:
    """All that one test asked in one run: what it takes to judge its evidence again."""

    testbed: str
    suite: str
    calls: list[Call] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


class Recorder:
    """Stands in front of the functions of labtests.verdicts while a test runs."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.answers: list[Verdict] = []

    def in_front_of(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def asked(*args: Any, **named: Any) -> Any:
            answer = function(*args, **named)
            if isinstance(answer, Verdict):
                kept = {key: self._kept(value) for key, value in named.items()}
                self.calls.append(Call(name, tuple(map(self._kept, args)), kept))
                self.answers.append(answer)
            return answer

        return asked

    def _kept(self, value: Any) -> Any:
        if isinstance(value, Verdict):
            return Answer(self.number_of(value))
        if isinstance(value, list | tuple) and any(isinstance(each, Verdict) for each in value):
            return tuple(map(self._kept, value))
        return value

    def number_of(self, verdict: Verdict) -> int:
        return next(n for n, each in enumerate(self.answers) if each is verdict)


@contextmanager
def recorded(module: ModuleType) -> Iterator[Recorder]:
    """Calls of these functions from the suite's module and from the fixtures."""
    recorder = Recorder()
    fixtures = labtests.experiment.incast, labtests.experiment.ring
    with pytest.MonkeyPatch.context() as patch:
        for where in (module, *fixtures):
            for name in verdicts.__all__:
                function = getattr(verdicts, name)
                if getattr(where, name, None) is function and callable(function):
                    patch.setattr(where, name, recorder.in_front_of(name, function))
        yield recorder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep-asked", type=Path, help="a folder for what suites have asked")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    folder = pyfuncitem.config.getoption("--keep-asked")
    with recorded(pyfuncitem.module) as recorder:
        called = yield
    experiment = pyfuncitem.funcargs.get("incast", pyfuncitem.funcargs.get("ring"))
    if folder is not None and experiment is not None and experiment.judged:
        asked = [_asked(recorder, judged) for judged in experiment.judged]
        case = Case(experiment.lab.testbed.name, _name(pyfuncitem), recorder.calls, asked)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{case.testbed}--{case.suite}.pickle.gz"
        file.write_bytes(gzip.compress(pickle.dumps(case), compresslevel=4))
    return called


def _asked(recorder: Recorder, judged: Judged) -> Asked:
    return Asked(recorder.number_of(judged.verdict), judged)


def _name(item: pytest.Function) -> str:
    return f"{item.path.stem.removeprefix('test_')}.{item.name.removeprefix('test_')}"
