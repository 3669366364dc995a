"""The search for settings that meet the goals: Optuna proposes, the packet network answers."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import optuna
import yaml
from optuna.trial import TrialState
from sqlalchemy.exc import SQLAlchemyError

from labtests.core.errors import InventoryError, LabError, WrongOption
from labtests.study.bounds import (
    HEADROOM,
    KMAX,
    KMIN,
    PMAX,
    SearchRange,
    anywhere,
    broken,
    outside,
    rate_gbit_per_s,
)
from labtests.study.goals import MEASURES, Figures, Standing, figures_of, standings
from labtests.study.points import Base, StudyJob, case_of
from labtests.study.running import Progress, StudyBench, run

MOST_REFUSED = 200
"""Proposals in a row that break a rule, before the search gives up."""
START, NAME = "start", "name"
Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedSetting:
    """A setting and how it stands; `name` of one that was not searched for, `rules` it breaks."""

    values: Values
    name: str
    rules: tuple[str, ...]
    figures: Figures
    standing: tuple[Standing, Standing, Standing]

    @property
    def short(self) -> tuple[int, float]:
        """Less is better: goals missed, and by how much."""
        missed = sum(not each.met for each in self.standing)
        return missed, sum(each.short for each in self.standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What is searched, over which patterns and seeds, and how long."""

    ranges: Mapping[str, SearchRange]
    patterns: tuple[str, ...]
    seeds: tuple[int, ...]
    trials: int
    minutes: float | None
    sampler: str
    storage: str
    title: str


def starts(base: Base) -> dict[str, Values]:
    """The profile's own setting, and published ones scaled to the rate of this network."""
    rate = rate_gbit_per_s(case_of(base.tree({}), "case"))
    own = base.profile({})
    known: dict[str, Values] = {
        "the profile": {
            KMIN: own.ecn[0].kmin_bytes,
            KMAX: own.ecn[0].kmax_bytes,
            PMAX: own.ecn[0].pmax_percent,
        }
    }
    file = resources.files("labtests.study").joinpath("published.yaml")
    for each in yaml.safe_load(file.read_text(encoding="utf-8")):
        factor = rate / each["rate_gbit_per_s"]
        known[each["name"]] = {
            KMIN: max(1, round(each["kmin_bytes"] * factor)),
            KMAX: round(each["kmax_bytes"] * factor),
            PMAX: each["pmax_percent"],
        }
    return known


class Search:
    """One search, kept in an Optuna study: the same command goes on with it."""

    def __init__(self, plan: SearchPlan, bench: StudyBench, told: Callable[[str], None]) -> None:
        """Raises LabError: the storage cannot be used."""
        self._plan, self._bench, self._told = plan, bench, told
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            self._study = optuna.create_study(
                storage=storage_at(plan.storage),
                study_name=plan.title,
                directions=["minimize"] * len(MEASURES),
                load_if_exists=True,
            )
        except Exception as error:
            raise LabError(
                f"--storage {_place(plan.storage)}: {_cause(error)}\n"
                "  remedy: the URL of a database of its own (sqlite:///FILE, postgresql://...), "
                "and room for it"
            ) from error
        self._study.sampler = _sampler(plan.sampler, 1 + len(self._study.trials))

    def run(self) -> list[TriedSetting]:
        """All settings that were tried, the named ones first. Raises LabError: the storage is full,
        or has gone away."""
        try:
            return self._searched()
        except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
            raise LabError(
                f"--storage {_place(self._plan.storage)}: {_cause(error)}\n"
                "  remedy: finished runs are kept: make room, or start the database, and give the "
                "same command"
            ) from error

    def _expect_sound(self) -> None:
        """Raises WrongOption: of many settings within the bounds each breaks a rule. Nothing is
        run."""
        tried = 0
        for values in anywhere(self._plan.ranges, MOST_REFUSED):
            rules = self._rules(values)
            if not rules:
                return
            tried += 1
        raise WrongOption(
            f"none of {tried} settings within these bounds keeps all rules; the last one: "
            f"{rules[0]}\n  remedy: other bounds (--bound), or another profile"
        )

    def _searched(self) -> list[TriedSetting]:
        if self._plan.trials:
            self._expect_sound()
        began, tried = time.monotonic(), self._before()
        most, refused = self._plan.trials + len(starts(self._bench.base)), 0
        while len(tried) < most and not self._over(began):
            found = self._next()
            refused = refused + 1 if found is None else 0
            if refused >= MOST_REFUSED:
                raise WrongOption(
                    f"{MOST_REFUSED} settings in a row break a rule, the last one: {self._last}\n"
                    "  remedy: other bounds (--bound), or another profile"
                )
            if found is not None:
                tried.append(found)
                self._tell(tried)
        return tried

    def _over(self, began: float) -> bool:
        minutes = self._plan.minutes
        return minutes is not None and time.monotonic() - began > 60 * minutes

    def _before(self) -> list[TriedSetting]:
        """The named settings, and what an earlier process has tried."""
        tried: list[TriedSetting] = []
        for name, values in starts(self._bench.base).items():
            tried.append(self._tried(values, name))
            self._tell(tried)
        self._adopt(tried)
        for trial in self._study.get_trials(states=(TrialState.RUNNING,), deepcopy=False):
            self._study.enqueue_trial(trial.params)  # a kill has interrupted it
            self._study.tell(trial.number, state=TrialState.FAIL)
        for trial in self._study.get_trials(states=(TrialState.COMPLETE,), deepcopy=False):
            values = self._values(trial.params)
            if START not in trial.user_attrs and not outside(self._plan.ranges, values):
                tried.append(self._tried(values, f"trial {trial.number}"))
        return tried

    _last = ""

    def _adopt(self, tried: Sequence[TriedSetting]) -> None:
        """Named settings within the ranges are trials, too: the search starts from them."""
        known = {t.user_attrs.get(START) for t in self._study.get_trials(deepcopy=False)}
        for each in tried:
            params = {key: value for key, value in each.values.items() if key in self._plan.ranges}
            whole = set(params) == set(self._plan.ranges)
            inside = not outside(self._plan.ranges, params)
            if whole and inside and each.name not in known:
                trial = optuna.trial.create_trial(
                    params={key: _param(self._plan.ranges[key], v) for key, v in params.items()},
                    distributions={k: _distribution(r) for k, r in self._plan.ranges.items()},
                    values=[standing.short for standing in each.standing],
                    user_attrs={START: each.name},
                )
                self._study.add_trial(trial)

    def _next(self) -> TriedSetting | None:
        trial = self._study.ask({k: _distribution(r) for k, r in self._plan.ranges.items()})
        values = self._values(trial.params)
        rules = self._rules(values)
        if rules:
            self._last = rules[0]
            self._study.tell(trial, state=TrialState.FAIL)
            return None
        found = self._tried(values, f"trial {trial.number}")
        self._study.tell(trial, [each.short for each in found.standing])
        return found

    def _values(self, params: Mapping[str, Any]) -> Values:
        of = self._plan.ranges
        return {key: 2.0**value if of[key].powers else value for key, value in params.items()}

    def _rules(self, values: Values) -> tuple[str, ...]:
        base = self._bench.base
        try:
            case = case_of(base.tree(values), "case")
        except InventoryError as error:
            return (error.mistakes[0],)
        rules = broken(case, base.profile(values))
        return (*rules, *outside(self._plan.ranges, values))

    def _tried(self, values: Values, name: str) -> TriedSetting:
        """One setting over all patterns. Its finished runs are not repeated."""
        figures = self.figures(values, self._plan.patterns, self._plan.seeds)
        return TriedSetting(
            values=values,
            name=name,
            rules=self._rules(values),
            figures=figures,
            standing=standings(figures),
        )

    def figures(
        self, values: Values, patterns: Sequence[str], seeds: Sequence[int]
    ) -> dict[str, tuple[float, float, float]]:
        """What a setting gives."""
        jobs = [StudyJob(values=values, pattern=p, seed=s) for p in patterns for s in seeds]
        return figures_of(run(self._bench, jobs, Progress(len(jobs), lambda _: None)))

    def _tell(self, tried: Sequence[TriedSetting]) -> None:
        best = min(tried, key=lambda each: each.short)
        last = tried[-1]
        self._told(
            f"setting {len(tried)} ({last.name}): misses {last.short[0]} of {len(MEASURES)} goals, "
            f"short by {last.short[1]:.2f}; best so far {best.short[1]:.2f} ({best.name})"
        )


def _place(storage: str) -> str:
    """A URL without the password."""
    return storage.split("@")[-1]


def _cause(error: BaseException) -> str:
    """In a line what is at the bottom of it, as the database says it."""
    while isinstance(error, optuna.exceptions.OptunaError) and error.__cause__ is not None:
        error = error.__cause__
    return (str(error).splitlines() or [type(error).__name__])[0]


def _sampler(name: str, seed: int) -> Any:
    """One that goes on does not propose again what it did."""
    if name == "nsga2":
        return optuna.samplers.NSGAIISampler(seed=seed, population_size=12)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=8)


def storage_at(url: str) -> Any:
    """An Optuna storage. In PostgreSQL it has a schema of its own, so that it may stand in the
    database of a history, whose tables and revision it would take for its own else."""
    if not url.startswith("postgresql"):
        return optuna.storages.RDBStorage(url)
    from sqlalchemy import create_engine, make_url, text

    place = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(place)
    with engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA IF NOT EXISTS labtests_tune"))
    engine.dispose()
    options = {"connect_args": {"options": "-csearch_path=labtests_tune"}}
    shown = place.render_as_string(hide_password=False)
    return optuna.storages.RDBStorage(shown, engine_kwargs=options)


def _param(of: SearchRange, value: float) -> int:
    return round(value) if not of.powers else round(math.log2(value))


def _distribution(of: SearchRange) -> Any:
    if of.powers:
        return optuna.distributions.IntDistribution(
            round(math.log2(of.low)), round(math.log2(of.high))
        )
    return optuna.distributions.IntDistribution(round(of.low), round(of.high), log=True)


def proposal(tried: Sequence[TriedSetting]) -> TriedSetting:
    """The best of those that break no rule. Raises LabError: all do."""
    sound = [each for each in tried if not each.rules]
    if not sound:
        raise LabError(f"every setting breaks a rule; the first: {tried[0].rules[0]}")
    return min(sound, key=lambda each: each.short)


def steps_around(values: Values, ranges: Mapping[str, SearchRange]) -> Iterator[tuple[str, Values]]:
    """The setting with each variable by a third less and more (alpha: half and twice)."""
    for key, of in ranges.items():
        if key == HEADROOM or key not in values:
            continue
        for factor in (0.5, 2.0) if of.powers else (2 / 3, 1.5):
            value = values[key] * factor
            value = float(value) if of.powers else max(1, round(value))
            if value != values[key] and (key != PMAX or value <= 100):
                yield f"{key.rsplit('.', 1)[-1]} {value:g}", {**values, key: value}


def out_of(folder: Path) -> str:
    """The storage in a study's own folder."""
    return f"sqlite:///{folder / 'search.sqlite'}"
