"""No text of --fault is a traceback."""

from pathlib import Path

import pytest

from labtests.core.errors import WrongOption
from labtests.inventory import load
from labtests.recovery.snapshot.session import faults_of

TESTBED = Path(__file__).parents[2] / "testbeds" / "h3c-s6550-cx4.yaml"
WORDS = {"deep": "[" * 60_000, "self": '{"self": 1}', "self, too": '{"kind": "cut", "self": 1}'}


@pytest.mark.parametrize("words", WORDS)
def test_a_fault_that_is_none_is_refused_in_few_words(words: str) -> None:
    with pytest.raises(WrongOption) as raised:
        faults_of(load(TESTBED), [WORDS[words]])
    assert len(str(raised.value)) < 1000
