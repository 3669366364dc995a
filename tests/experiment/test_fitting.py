"""What is asked of senders fits their links; what does not fit is skipped with a true sentence."""

import pytest
from hosts_of import names, roles
from hypothesis import given
from hypothesis import strategies as st

from labtests.experiment import Class, NotHere
from labtests.experiment.fitting import (
    FULL,
    early_and_late,
    expect_congestion,
    expect_marks_in_time,
    expect_near_rates,
    fastest_at_the_ends,
    held_alone,
    one_packet_bytes,
    payload_share,
    spread,
)

A, B = Class(tos=0x60), Class(tos=0xA0)


@pytest.mark.parametrize(
    ("mtu_bytes", "packets", "share"), [(1500, 45, 0.9616), (4200, 16, 0.9859), (9000, 8, 0.9928)]
)
def test_the_goodput_of_long_datagrams_is_what_their_fragments_leave(mtu_bytes, packets, share):
    assert payload_share(mtu_bytes, 65500) == pytest.approx(share, abs=1e-4)
    assert payload_share(mtu_bytes, 65500) == 65500 / (65508 + packets * 58)


@pytest.mark.parametrize("mtu_bytes", [1500, 4200, 9000])
def test_the_longest_datagram_in_one_packet_fills_the_mtu(mtu_bytes):
    longest = one_packet_bytes(mtu_bytes)
    assert longest + 28 == mtu_bytes
    assert payload_share(mtu_bytes, longest) == longest / (mtu_bytes + 38)
    assert payload_share(mtu_bytes, longest + 1) < payload_share(mtu_bytes, longest)


def test_links_of_line_rate_take_one_class_each_and_round_again():
    parts = spread([A.offering(0.75), A.offering(0.75), B.offering(0.15)], roles(10, 10), 10e9)
    assert [(role.name, each.tos, each.offered_share) for role, each in parts] == [
        ("h1", 0x60, 0.75), ("h2", 0x60, 0.75), ("h1", 0xA0, 0.15),
    ]  # fmt: skip


def test_what_a_slow_link_does_not_carry_goes_to_others():
    parts = spread([A.offering(0.75, window_bytes=9), B.offering(0.75)], roles(1, 10, 10), 10e9)
    assert names([role for role, _ in parts]) == ["h1", "h2", "h2", "h3"]
    assert sum(each.offered_share for _, each in parts if each.tos == A.tos) == pytest.approx(0.75)
    assert {each.window_bytes for _, each in parts if each.tos == A.tos} == {9}


def test_more_than_all_links_carry_is_not_asked_and_the_reason_has_the_figures():
    with pytest.raises(NotHere, match=r"asks the senders for 15 Gb/s.*\(1\+10 Gb/s\)"):
        spread([A.offering(0.75), B.offering(0.75)], roles(1, 10), 10e9)


@pytest.mark.parametrize(
    ("senders", "gbit", "mtu_bytes"), [(2, 10, 1500), (8, 10, 4200), (3, 1, 1500), (2, 100, 9000)]
)
def test_where_marks_come_before_the_rp_speeds_up_dcqcn_is_asked(senders, gbit, mtu_bytes):
    expect_marks_in_time(senders, gbit * 1e9, mtu_bytes)


def test_where_marks_come_too_late_it_is_skipped_with_the_figures():
    with pytest.raises(NotHere, match=r"a packet of 4096 B takes 33.5 us: each of 3 .* per 1 ms"):
        expect_marks_in_time(3, 1e9, 4200)


links = st.lists(st.sampled_from([1, 10, 25, 40, 100]), min_size=2, max_size=8)


@given(gbit=links, shares=st.lists(st.floats(0.05, 0.9), min_size=1, max_size=3), at=st.data())
def test_no_sender_is_ever_asked_for_more_than_its_link(gbit, shares, at):
    line = at.draw(st.sampled_from([1e9, 10e9, 25e9, 100e9]))
    senders = roles(*gbit)
    try:
        parts = spread([A.offering(share) for share in shares], senders, line)
    except NotHere:
        room = sum(FULL * role.link_bits_per_s / line for role in senders)
        assert sum(shares) > room - 0.01 * len(gbit) * len(shares)
        return
    assert sum(each.offered_share for _, each in parts) == pytest.approx(sum(shares))
    for role in senders:
        asked = sum(each.offered_share for sender, each in parts if sender == role)
        assert asked * line <= role.link_bits_per_s


def test_late_senders_share_alike_as_far_as_their_links_go():
    assert early_and_late((0.78, 0.515), roles(10, 10), 10e9) == (0.78, 0.515)
    assert early_and_late((0.78, 0.5), roles(25, 25, 25), 25e9) == (0.78, 0.25, 0.25)
    first, slow, fast = early_and_late((0.78, 0.515), roles(10, 1, 10), 10e9)
    assert (first, slow) == (0.78, pytest.approx(0.095))
    assert slow + fast == pytest.approx(0.515)
    with pytest.raises(NotHere, match=r"12\.95 Gb/s"):
        early_and_late((0.78, 0.515), roles(10, 1), 10e9)


def test_the_fastest_links_are_first_and_last_and_equal_ones_stay_in_order():
    assert names(fastest_at_the_ends(roles(10, 10, 10))) == ["h1", "h2", "h3"]
    assert names(fastest_at_the_ends(roles(1, 10, 25))) == ["h3", "h1", "h2"]
    assert names(fastest_at_the_ends(roles(25, 1, 10))) == ["h1", "h2", "h3"]


def test_of_many_senders_dcqcn_alone_gets_as_many_as_it_holds():
    assert names(held_alone(roles(10, 10, 10))) == ["h1", "h2", "h3"]
    assert len(held_alone(roles(*(25,) * 16))) == 16
    assert names(held_alone(roles(*(25,) * 32))) == [*(f"h{n}" for n in range(1, 16)), "h32"]


def test_senders_that_can_not_fill_the_bottleneck_are_told_by_their_links():
    expect_congestion(roles(10, 10), 10e9)
    expect_congestion(roles(25, 1), 1e9)
    with pytest.raises(NotHere, match=r"\(1\+1\+1\+1 Gb/s\)"):
        expect_congestion(roles(1, 1, 1, 1), 10e9)
    with pytest.raises(NotHere, match="a slowdown would not show"):
        expect_congestion(roles(*[1] * 12), 10e9)


def test_dcqcn_alone_is_asked_to_hold_senders_of_four_times_the_bottleneck_and_no_faster_ones():
    expect_near_rates(roles(40, 10), 10e9)
    with pytest.raises(NotHere, match="h2 can send 10 times as fast as the bottleneck's 1 Gb/s"):
        expect_near_rates(roles(1, 10), 1e9)
