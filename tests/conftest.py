"""For every test: an example of hypothesis is not red because somebody else uses the machine, and
what one test has used as a password is not hidden in the output of the next."""

import pytest
from hypothesis import settings

import labtests.door

settings.register_profile("labtests", deadline=None)
settings.load_profile("labtests")


@pytest.fixture(autouse=True)
def _no_password_used_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labtests.door, "_used", set())
