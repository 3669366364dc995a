import pytest
from connectx_host import recording


@pytest.fixture(name="recording")
def recording_fixture():
    return recording
