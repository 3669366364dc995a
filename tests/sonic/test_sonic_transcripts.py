"""Every recording of a SONiC box is read as its .expected says, or refused as it says."""

from dataclasses import replace

import pytest
from sonic_recordings import FOLDER, PARSERS, RECORDINGS, is_read, label, load, parser_of, rendered

from labtests.core.errors import UnreadableOutput

READ = [recording for recording in RECORDINGS if is_read(recording)]
STRICT = [r for r in READ if r.name.split(".")[0] != "version"]


@pytest.mark.parametrize("recording", RECORDINGS, ids=label)
def test_a_recording_says_what_is_expected_of_it(recording):
    assert rendered(recording) == recording.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_parser_has_a_recording_that_it_reads():
    assert {recording.name.split(".")[0] for recording in READ} == set(PARSERS)


def test_no_expectation_is_left_without_its_recording():
    assert {r.stem for r in FOLDER.glob("*.expected")} == {r.stem for r in RECORDINGS}


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_recording_is_refused_by_every_other_parser(recording):
    reply, own = load(recording), parser_of(recording)
    for name, parse in PARSERS.items():
        if parse is own or name == "table":  # which reads any entries
            continue
        if name == "queue_counters" and reply.text.strip() == "{}":
            continue
        with pytest.raises(UnreadableOutput) as refusal:
            parse(reply)
        assert refusal.value.remedy, name


@pytest.mark.parametrize("recording", STRICT, ids=label)
def test_a_line_that_is_new_is_refused_wherever_it_stands(recording):
    reply = load(recording)
    lines = reply.text.splitlines(keepends=True)
    for place in {0, len(lines) // 2, len(lines)}:
        more = [*lines[:place], "Frobnicated pkts : 7 of 9\n", *lines[place:]]
        with pytest.raises(UnreadableOutput):
            parser_of(recording)(replace(reply, text="".join(more)))


def test_neighbours_of_the_management_port_are_not_in_the_way():
    assert [each.port for each in PARSERS["lldp"](load("lldp.dx010"))] == [
        "Ethernet16",
        "Ethernet64",
    ]


def test_marks_that_are_not_counted_are_not_0():
    queues = PARSERS["wred_counters"](load("wred_counters.given-03"))["Ethernet8"]
    assert queues["UC1"] == {"WredDrp/pkts": 1, "EcnMarked/pkts": None}
