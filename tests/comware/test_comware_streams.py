"""What Comware is told to stream: read, planned and undone; what it streams has a meaning each."""

import pytest

from labtests.capabilities import counters as c
from labtests.capabilities.records import DialOut, StreamSetting
from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware.streams import ComwareStream, ComwareStreams
from labtests.transport.protocol import Reply

OFF = StreamSetting(on=False)
OURS = DialOut(
    address="10.7.0.9", port=50051, every_s=2, sampled=("buffermonitor/egressdrops",),
    changes=("buffermonitor/portquedropevent",),
)  # fmt: skip
ON = StreamSetting(on=True, ours=OURS, drop_alarms=True)
GROUPS = """\
 grpc enable
 buffer packet-drop alarm enable
telemetry
 sensor-group labtests
  sensor path buffermonitor/egressdrops
 sensor-group labtests-events
  sensor path buffermonitor/portquedropevent
 sensor-group rack7
  sensor path ifmgr/interfaces
 destination-group labtests
  ipv4-address 10.7.0.9 port 50051
 destination-group rack7
  ipv4-address 10.9.9.9 port 50051
 subscription labtests
  sensor-group labtests sample-interval 2
  sensor-group labtests-events
  destination-group labtests
 subscription rack7
  sensor-group rack7 sample-interval 60
  destination-group rack7
"""


def read(text: str) -> StreamSetting:
    asking = ComwareStream("S").read("")
    (command,) = next(asking)
    assert "display current-configuration" in str(command)
    with pytest.raises(StopIteration) as ended:
        asking.send((Reply(device="S", command=str(command), text=text),))
    value: StreamSetting = ended.value.value
    return value


def lines(earlier: StreamSetting, wanted: StreamSetting) -> list[str]:
    return [str(each) for each in ComwareStream("S").commands("", earlier, wanted)]


def test_what_is_ours_is_read_among_the_groups_of_others():
    assert read(GROUPS + "return\n") == ON
    assert read("telemetry\nreturn\n") == OFF
    assert read(" grpc enable\nreturn\n") == StreamSetting(on=True)


def test_a_subscription_is_made_view_by_view_and_taken_away_again():
    assert lines(OFF, ON) == [
        "buffer packet-drop alarm enable",
        "grpc enable",
        "telemetry",
        "sensor-group labtests",
        "sensor path buffermonitor/egressdrops",
        "quit",
        "sensor-group labtests-events",
        "sensor path buffermonitor/portquedropevent",
        "quit",
        "destination-group labtests",
        "ipv4-address 10.7.0.9 port 50051",
        "quit",
        "subscription labtests",
        "sensor-group labtests sample-interval 2",
        "sensor-group labtests-events",
        "destination-group labtests",
        "quit",
        "quit",
    ]
    assert lines(ON, OFF) == [
        "telemetry",
        "undo subscription labtests",
        "undo destination-group labtests",
        "undo sensor-group labtests-events",
        "undo sensor-group labtests",
        "quit",
        "undo buffer packet-drop alarm enable",
        "undo grpc enable",
    ]
    assert lines(ON, ON) == []


def test_what_was_on_before_stays_on():
    assert "undo grpc enable" not in lines(ON, StreamSetting(on=True))
    alarmed = lines(ON, StreamSetting(on=False, drop_alarms=True))
    assert not any("packet-drop" in each for each in alarmed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GROUPS, "cut off"),
        (GROUPS.split(" subscription labtests")[0] + "return\n", "a part of"),
        (GROUPS.replace("port 50051", "port 50051 vpn-instance m") + "return\n", "unrecognised"),
        (GROUPS.replace("  sensor-group labtests-events\n", "") + "return\n", "not whole"),
    ],
)
def test_what_could_not_be_put_back_is_refused(text, said):
    with pytest.raises(UnreadableOutput, match=said):
        read(text)


def test_every_table_that_is_subscribed_to_has_a_field_with_a_meaning():
    table = ComwareStreams("sw", ("Twenty-FiveGigE1/0/13",)).stream_table()
    tables = {"/".join(leaf.path.split("/")[:2]) for leaf in table.leaves}
    assert {*table.sampled, *table.changes} == {f"/{each}" for each in tables}
    assert {*table.sensors, *table.events} == {each.lower() for each in tables}
    meaning = table.meaning_of("BufferMonitor/PFCStatistics/PFCStatistic/PfcSend")
    assert meaning is not None
    assert (meaning.counter, meaning.scope, meaning.unit) == (c.PFC_TX_FRAMES, "priority", "frames")
    assert table.meaning_of("BufferMonitor/PFCStatistics/PFCStatistic/IfIndex") is None
