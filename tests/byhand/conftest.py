"""One free-running lab for all tests of this folder; each sets what it needs itself."""

from collections.abc import Iterator

import pytest
from served_lab import ServedLab


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedLab]:
    lab = ServedLab(tmp_path_factory.mktemp("lab"))
    yield lab
    status = lab.end()
    assert (status, "Traceback" in lab.text) == (0, False), lab.text


@pytest.fixture(autouse=True)
def _tidy(served: ServedLab) -> Iterator[None]:
    yield
    served.tidy()
