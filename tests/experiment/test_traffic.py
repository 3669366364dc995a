"""What each sender is asked, by links, pace and MTU."""

from dataclasses import replace

import pytest
from hosts_of import roles

from labtests.experiment import HARDWARE, SIMULATED, Class, NotHere, Roles
from labtests.experiment.roles import Trunk
from labtests.experiment.traffic import Traffic
from labtests.inventory import Endpoint

EARLY, LATE = Class(tos=0x60), Class(tos=0x40)


def traffic(*gbit, line=10e9, mtu_bytes=1500, pace=SIMULATED):
    *senders, receiver = roles(*gbit, line / 1e9)
    lab = Roles(senders=tuple(senders), receiver=receiver, line_bits_per_s=line)
    return Traffic(roles=lab, pace=pace, own_mtu_bytes={"h": mtu_bytes})


@pytest.mark.parametrize("pace", [SIMULATED, HARDWARE])
@pytest.mark.parametrize("senders", [2, 8, 40])
def test_late_queue_pairs_do_not_start_at_once_and_soon_send_together(pace, senders):
    starts = [s.starts_after_s for s in traffic(*[10] * senders, pace=pace).rdma(EARLY, LATE)]
    assert starts[:2] == [0.0, pace.stagger_s]
    assert starts == sorted(set(starts))
    assert starts[-1] <= pace.stagger_s + 0.25 * (pace.lab_seconds - pace.stagger_s)


def test_udp_of_slower_links_is_what_they_carry():
    first, slow, fast = traffic(10, 1, 10).udp(EARLY.offering(0.78), LATE.offering(0.515))
    assert first.tool.offered_bits_per_s == 7.8e9
    assert slow.tool.offered_bits_per_s <= 1e9
    assert slow.tool.offered_bits_per_s + fast.tool.offered_bits_per_s == 5.15e9


@pytest.mark.parametrize("mtu_bytes", [1280, 1500, 4200, 9000])
def test_a_load_is_in_datagrams_of_one_packet_and_its_share_is_of_the_wire(mtu_bytes):
    (one,) = traffic(10, 10, mtu_bytes=mtu_bytes).loads(EARLY.offering(0.5))
    assert one.tool.datagram_bytes + 28 == mtu_bytes
    packets_per_s = one.tool.offered_bits_per_s / 8 / one.tool.datagram_bytes
    assert packets_per_s * 8 * (mtu_bytes + 38) == pytest.approx(5e9)


def test_one_sender_alone_is_the_fastest_whose_bursts_make_no_queue():
    (one,) = traffic(25, 1, 10, 40).alone(EARLY.offering(0.6))
    assert one.role.name == "h3"
    assert one.tool.offered_bits_per_s <= 0.6 * 10e9
    for gbit, said in (((25, 40), "faster than the receiver's"), ((1, 25), "Gb/s")):
        with pytest.raises(NotHere, match=said):
            traffic(*gbit).alone(EARLY.offering(0.6))


def test_what_one_switch_holds_comes_from_senders_that_are_plugged_into_it():
    lab = traffic(10, 10, 10)
    far = [
        replace(role, switch=Endpoint(device="far", interface=role.switch.interface))
        for role in lab.roles.senders
    ]
    mixed = replace(lab, roles=replace(lab.roles, senders=(*far[:2], lab.roles.senders[2])))
    (one,) = mixed.beside_receiver().loads(EARLY.offering(0.5))
    assert one.role.name == "h3"
    remote = replace(lab, roles=replace(lab.roles, senders=tuple(far)))
    with pytest.raises(NotHere, match="no sender is plugged into s, as the receiver is"):
        remote.beside_receiver()


@pytest.mark.parametrize("line", [10e9, 25e9, 100e9])
def test_one_flow_has_one_source_port_however_fast_the_line(line):
    gbit = line / 1e9
    lab = traffic(gbit, gbit, line=line)
    (one,) = lab.one_flow(lab.roles.senders[1:], EARLY.offering(0.6))
    assert one.role.name == "h2"
    assert one.tool.processes == 1
    assert 1e9 <= one.tool.offered_bits_per_s <= 0.6 * line


@pytest.mark.parametrize(("asked_s", "lasts_s"), [(0.0, 8), (7.5, 8), (29.1, 30)])
def test_a_load_lasts_as_long_as_it_is_to_be_seen(asked_s, lasts_s):
    (one,) = traffic(10, 10, pace=HARDWARE).lasting(asked_s).loads(EARLY.offering(0.5))
    assert one.tool.duration_s == lasts_s


@pytest.mark.parametrize("mtu_bytes", [1280, 1500, 9000])
def test_a_small_socket_has_room_for_a_datagram_whatever_the_mtu(mtu_bytes):
    (one,) = traffic(10, 10, mtu_bytes=mtu_bytes).loads(EARLY.offering(0.2, window_bytes=4096))
    assert one.tool.window_bytes == 4096
    assert one.tool.datagram_bytes == min(mtu_bytes, 1500) - 28


def test_a_small_socket_is_not_asked_of_many_processes():
    """Each has a socket of its own: at 40 Gbit/s it is read in time, and nothing is lost there."""
    narrow = [Class(tos=tos).offering(0.2, window_bytes=4096) for tos in (0x60, 0xA0)]
    assert len(traffic(10, 10).loads(*narrow)) == 2
    with pytest.raises(
        NotHere, match="iperf3 processes, each of which may read its own small socket"
    ):
        traffic(40, 40, line=40e9).loads(*narrow)


def test_a_sender_that_can_not_overload_its_queue_is_no_sender_of_a_control():
    with pytest.raises(
        NotHere, match="h3 can send at most 4 Gb/s and its class is due half of 10 Gb/s"
    ):
        traffic(10, 4, 4).rdma(EARLY, LATE)
    assert len(traffic(10, 4, 10).rdma(EARLY, LATE)) == 3


def behind(trunk_gbit, *gbit, line=10e9):
    """All senders but the last go through one cable."""
    lab = traffic(*gbit, line=line)
    names = frozenset(role.name for role in lab.roles.senders[:-1])
    ends = (Endpoint(device="s", interface="up"), Endpoint(device="t", interface="down"))
    trunk = Trunk(ends=ends, bits_per_s=trunk_gbit * 1e9, senders=names)
    return replace(lab, roles=replace(lab.roles, trunks=(trunk,)))


def test_a_cable_between_switches_that_would_be_the_bottleneck_skips_the_suite():
    with pytest.raises(NotHere, match=r"s:up - t:down carries 10 Gb/s but .* sends 15 Gb/s"):
        behind(10, 10, 10, 10).loads(EARLY.offering(0.75), LATE.offering(0.75))
    assert len(behind(16, 10, 10, 10).loads(EARLY.offering(0.75), LATE.offering(0.75))) == 2
    with pytest.raises(
        NotHere, match=r"sends 20 Gb/s through it: that cable would be the bottleneck"
    ):
        behind(10, 10, 10, 10).rdma(EARLY, LATE)
    assert len(behind(10, 10, 10).rdma(EARLY, LATE)) == 2  # one of them goes through it
    assert len(behind(10, 10, 10, 10, line=1e9).rdma(EARLY, LATE)) == 3  # wider than the bottleneck


def test_of_a_pair_no_two_are_in_one_queue():
    senders = traffic(10, 25, 10, 25).rdma(EARLY, LATE, pair=True)
    assert [(s.role.name, s.tool.tos) for s in senders] == [("h2", 0x60), ("h4", 0x40)]


def test_buffers_are_those_of_every_switch_and_sender():
    two, eight = traffic(10, 10), traffic(*[10] * 8)
    assert eight.buffers_bytes - two.buffers_bytes == 6 * 2 * 2**20
    assert two.buffers_bytes >= 16_000_000
