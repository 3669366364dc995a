from collections.abc import Iterator

import pytest
from streams_bench import Served, serving


@pytest.fixture(scope="module")
def sonic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("sonic"), "sonic-cx5.yaml", "SN2700") as served:
        yield served


@pytest.fixture(scope="module")
def nexus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("nexus"), "nexus-cx5.yaml", "N9K") as served:
        yield served


@pytest.fixture(scope="module")
def cumulus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("cumulus"), "cumulus-cx5.yaml", "SN2700") as served:
        yield served
