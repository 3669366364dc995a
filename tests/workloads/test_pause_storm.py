"""A pause storm: what mausezahn is given is a pause of one priority, as 802.1Qbb has it."""

from dataclasses import replace

import pytest

from labtests.core.errors import WorkloadError
from labtests.workloads import PauseStorm

STORM = PauseStorm(priority=5, lasting_ms=250, times=3, apart_s=0.5, link_bits_per_s=1e9)


def test_the_frame_pauses_one_priority_for_as_long_as_a_frame_can():
    *command, frame = STORM.command("eth0").split()
    assert command == ["mausezahn", "-q", "eth0", "-c", "250", "-d", "1000usec"]
    octets = bytes.fromhex(frame.replace(":", ""))
    assert len(octets) == 60  # without FCS: the shortest frame of Ethernet
    assert octets[:6] == bytes.fromhex("0180c2000001")  # no bridge forwards it
    assert octets[12:16] == bytes.fromhex("88080101")  # MAC control, PFC
    assert int.from_bytes(octets[16:18]) == 1 << 5
    times = [int.from_bytes(octets[18 + 2 * n : 20 + 2 * n]) for n in range(8)]
    assert times == [0, 0, 0, 0, 0, 0xFFFF, 0, 0]
    assert not any(octets[34:])


def frame_of(form):
    return bytes.fromhex(replace(STORM, form=form).command("eth0").split()[-1].replace(":", ""))


def test_frames_that_may_hold_nobody_name_no_priority():
    link, empty = frame_of("link"), frame_of("no class")
    assert {len(link), len(empty)} == {60}
    assert link[:6] == empty[:6] == bytes.fromhex("0180c2000001")
    assert link[12:18] == bytes.fromhex("88080001ffff")  # 802.3x: one time, for the link
    assert not any(link[18:])
    assert empty[12:18] == bytes.fromhex("880801010000")
    assert empty[18:34] == b"\xff" * 16


def test_a_frame_from_the_address_0_is_else_the_same():
    usual, nameless = frame_of("priority"), frame_of("no source")
    assert nameless[6:12] == bytes(6) != usual[6:12]
    assert (nameless[:6], nameless[12:]) == (usual[:6], usual[12:])


def test_it_is_so_many_frames_in_so_long_a_time():
    assert (STORM.frames, STORM.every_s) == (750, 0.75)


@pytest.mark.parametrize("gbit", [1, 10, 25, 40, 100, 400])
def test_three_frames_of_four_may_come_late_at_any_speed(gbit):
    storm = replace(STORM, link_bits_per_s=gbit * 1e9)
    held_us = 65_535 * 512 / (gbit * 1e3)
    assert 1 <= storm.gap_us <= held_us / 4
    assert storm.gap_us * storm.frames / storm.times >= 250_000


NO_SPEED = [{"link_bits_per_s": speed} for speed in (0.0, float("nan"), 1e-300, float("inf"))]


@pytest.mark.parametrize("wrong", [{"priority": 8}, {"lasting_ms": 0}, {"times": 0}, *NO_SPEED])
def test_a_storm_that_cannot_be_is_refused(wrong):
    with pytest.raises(WorkloadError, match="cannot pause like this"):
        replace(STORM, **wrong)
