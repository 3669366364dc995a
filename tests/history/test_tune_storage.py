"""A search of `labtests tune` may stand in the PostgreSQL database of a history."""

from collections.abc import Iterator
from contextlib import contextmanager

import optuna
import pytest

from labtests.history.store import History
from labtests.study.tuning import storage_at


@contextmanager
def search(where: str) -> Iterator[optuna.Study]:
    storage = storage_at(where)
    yield optuna.create_study(storage=storage, study_name="x", load_if_exists=True)
    storage.remove_session()
    storage.engine.dispose()


def test_a_search_and_a_history_share_a_database(where: str) -> None:
    if not where.startswith("postgresql"):
        pytest.skip("a SQLite file has no schemas")
    with History.open(where) as history, search(where) as study:
        study.add_trial(optuna.trial.create_trial(params={}, distributions={}, value=1.5))
        assert history.labs() == {}
    with History.open(where) as history, search(where) as study:
        assert history.labs() == {}
        assert [trial.value for trial in study.trials] == [1.5]
