"""The evidence every verdict test starts from."""

import pytest
from handmade import control_of, good_evidence


@pytest.fixture
def good():
    return good_evidence()


@pytest.fixture
def control(good):
    return control_of(good)
