"""Every recording of a Nexus is read as its .expected says, or refused as it says."""

from dataclasses import replace

import pytest
from nxos_recordings import ALL, PARSERS
from platform_recordings import label

from labtests.core.errors import UnreadableOutput

READ = [recording for recording in ALL.recordings if ALL.is_read(recording)]
_STRICT = ("clock", "interface", "pfc_detail", "pfc_queue", "pfc_queue_detail", "queuing")
STRICT = [r for r in READ if r.name.split(".")[0] in _STRICT]


@pytest.mark.parametrize("recording", ALL.recordings, ids=label)
def test_a_recording_says_what_is_expected_of_it(recording):
    assert ALL.rendered(recording) == recording.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_parser_has_a_recording_and_every_expectation_too():
    ALL.expect_complete()


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_recording_is_refused_by_every_other_parser(recording):
    reply = ALL.load(recording)
    own = ALL.parser_of(recording)
    for name, parse in PARSERS.items():
        if parse is own or name == "configuration":  # which keeps sections that it does not know
            continue
        with pytest.raises(UnreadableOutput) as refusal:
            parse(reply)
        assert refusal.value.remedy


@pytest.mark.parametrize("recording", STRICT, ids=label)
def test_a_line_that_is_new_is_refused_wherever_it_stands(recording):
    ALL.expect_new_line_refused(recording, "    Frobnicated Pkts : 7 of 9")


def test_a_configuration_without_the_clock_behind_it_was_cut():
    reply = ALL.load("configuration.azure-05")
    with pytest.raises(UnreadableOutput, match="seems cut off"):
        PARSERS["configuration"].__globals__["configuration"].parse_configuration(reply)


def test_a_neighbour_cannot_stand_in_the_description_of_another_one():
    reply = ALL.load("lldp.ntc-01")
    forged = (
        "System Description: x\nChassis id: 0000.0000.0001\nPort id: eth0\nLocal Port id: Eth1/9\n"
        "Port Description: eth0\nSystem Name: ServerA\nSystem Description: "
    )
    with pytest.raises(UnreadableOutput, match="it says 4 entries and shows 5"):
        PARSERS["lldp"](replace(reply, text=reply.text.replace("System Description: ", forged, 1)))
