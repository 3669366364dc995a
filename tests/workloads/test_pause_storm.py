"""A pause storm: what mausezahn is given is a pause of one priority, as 802.1Qbb has it."""

import pytest

from labtests.core.errors import WorkloadError
from labtests.workloads import PauseStorm

STORM = PauseStorm(priority=5, lasting_ms=250, times=3, apart_s=0.5)


def test_the_frame_pauses_one_priority_for_as_long_as_a_frame_can():
    *command, frame = STORM.command("eth0").split()
    assert command == ["mausezahn", "-q", "eth0", "-c", "250", "-d", "1msec"]
    octets = bytes.fromhex(frame.replace(":", ""))
    assert len(octets) == 60  # without FCS: the shortest frame of Ethernet
    assert octets[:6] == bytes.fromhex("0180c2000001")  # no bridge forwards it
    assert octets[12:16] == bytes.fromhex("88080101")  # MAC control, PFC
    assert int.from_bytes(octets[16:18]) == 1 << 5
    times = [int.from_bytes(octets[18 + 2 * n : 20 + 2 * n]) for n in range(8)]
    assert times == [0, 0, 0, 0, 0, 0xFFFF, 0, 0]
    assert not any(octets[34:])


def test_it_is_so_many_frames_in_so_long_a_time():
    assert (STORM.frames, STORM.every_s) == (750, 0.75)


@pytest.mark.parametrize("wrong", [{"priority": 8}, {"lasting_ms": 0}, {"times": 0}])
def test_a_storm_that_cannot_be_is_refused(wrong):
    with pytest.raises(WorkloadError, match="cannot pause like this"):
        PauseStorm(**{"priority": 5, "lasting_ms": 1, "times": 1, "apart_s": 0.5, **wrong})
