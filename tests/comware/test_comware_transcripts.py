"""Every recording of a Comware switch is read as its .expected says, or refused as it says."""

import pytest
from recordings import FOLDER, PARSERS, RECORDINGS, is_read, label, load, parser_of, rendered

from labtests.core.errors import UnreadableOutput


@pytest.mark.parametrize("recording", RECORDINGS, ids=label)
def test_a_recording_says_what_is_expected_of_it(recording):
    assert rendered(recording) == recording.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_parser_has_a_recording_that_it_reads():
    read = {recording.name.split(".")[0] for recording in RECORDINGS if is_read(recording)}
    assert read == set(PARSERS)


def test_no_expectation_is_left_without_its_recording():
    assert {r.with_suffix("").name for r in FOLDER.glob("*.expected")} == {
        r.with_suffix("").name for r in RECORDINGS
    }


@pytest.mark.parametrize("recording", RECORDINGS, ids=label)
def test_a_recording_is_refused_by_every_other_parser(recording):
    reply = load(recording)
    others = {name: parse for name, parse in PARSERS.items() if parse != parser_of(recording)}
    for parse in others.values():
        with pytest.raises(UnreadableOutput) as refusal:
            parse(reply)
        assert refusal.value.device == "recorded"
        assert refusal.value.command == reply.command
        assert refusal.value.remedy
