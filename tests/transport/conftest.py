"""A real sshd and a small switch CLI, both on loopback, each private to the test session."""

from collections.abc import Iterator

import pytest
from cli_server import CliServer
from sshd_server import Sshd, end_sshd, start_sshd

from labtests.core.clock import WallClock


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    running = start_sshd(tmp_path_factory.mktemp("sshd"))
    yield running
    end_sshd(running)


@pytest.fixture(scope="session")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CliServer]:
    with CliServer(tmp_path_factory.mktemp("switch")) as server:
        yield server


@pytest.fixture
def clock() -> WallClock:
    return WallClock()
