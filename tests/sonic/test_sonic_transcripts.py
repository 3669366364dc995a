"""Every recording of a SONiC box is read as its .expected says, or refused as it says."""

import pytest
from platform_recordings import label
from sonic_recordings import ALL, PARSERS

from labtests.core.errors import UnreadableOutput

READ = [recording for recording in ALL.recordings if ALL.is_read(recording)]
STRICT = [r for r in READ if r.name.split(".")[0] != "version"]


@pytest.mark.parametrize("recording", ALL.recordings, ids=label)
def test_a_recording_says_what_is_expected_of_it(recording):
    assert ALL.rendered(recording) == recording.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_parser_has_a_recording_and_every_expectation_too():
    ALL.expect_complete()


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_recording_is_refused_by_every_other_parser(recording):
    reply, own = ALL.load(recording), ALL.parser_of(recording)
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
    ALL.expect_new_line_refused(recording, "Frobnicated pkts : 7 of 9")


def test_neighbours_of_the_management_port_are_not_in_the_way():
    assert [each.port for each in PARSERS["lldp"](ALL.load("lldp.dx010"))] == [
        "Ethernet16",
        "Ethernet64",
    ]


def test_marks_that_are_not_counted_are_not_0():
    queues = PARSERS["wred_counters"](ALL.load("wred_counters.given-03"))["Ethernet8"]
    assert queues["UC1"] == {"WredDrp/pkts": 1, "EcnMarked/pkts": None}
