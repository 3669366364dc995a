"""The evidence by hand is that of the verdicts' tests."""

import pytest
from handmade import control_of
from test_mutations import S1

from labtests.measure.evidence import Evidence


@pytest.fixture
def good() -> Evidence:
    return S1


@pytest.fixture
def control(good: Evidence) -> Evidence:
    return control_of(good)
