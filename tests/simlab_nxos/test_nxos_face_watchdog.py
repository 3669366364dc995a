"""The watchdog of the emulated Nexus does to packets what is configured: a storm that is shorter
than the interval never shuts a queue, a longer one does, and the other classes lose nothing."""

import pytest

from labtests.capabilities import counters as c
from labtests.drivers.nxos.watchdog import PFC_QUEUE_DETAIL, parse_pfc_queue
from labtests.network import UdpRequest
from labtests.transport.protocol import Reply

MS = 1_000_000
OUT, *SENDING = ("Ethernet1/13", "Ethernet1/14", "Ethernet1/15")
LOSSLESS = (
    *("class-map type qos match-any ROCE", "match dscp 24-31"),
    *("class-map type qos match-any OTHER", "match dscp 40-47"),
    *("policy-map type qos IN", "class ROCE", "set qos-group 3", "class OTHER", "set qos-group 5"),
    *("policy-map type network-qos NQ", "class type network-qos c-8q-nq3", "pause pfc-cos 3"),
    *("system qos", "service-policy type network-qos NQ"),
    *(line for port in (OUT, *SENDING) for line in (
        f"interface {port}", "priority-flow-control mode on", "service-policy type qos input IN")),
)  # fmt: skip
WATCHED = (
    "priority-flow-control watch-dog-interval on",
    "priority-flow-control auto-restore multiplier 2",
    f"interface {OUT}",
    "priority-flow-control watch-dog-interval on",
)


@pytest.fixture
def busy(cli, simulation):
    """Half of the line: a lossless class from one host, another class from the other."""
    cli.configure(*LOSSLESS)
    for name in "ABC":
        nic = simulation.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    for name, dscp in (("A", 24), ("B", 40)):
        simulation.network.start_udp(
            UdpRequest(
                device=name,
                interface="eth0",
                destination="192.168.10.10",
                tos=dscp << 2,
                rate_bits_per_s=2_500_000_000,
                datagram_bytes=1400,
            )
        )
    simulation.advance(10 * MS)
    return simulation


def storm(simulation, lasting_ms):
    """The receiver pauses priority 3 for so long, and is then quiet for half a second."""
    control = simulation.network.nic("C", "eth0").flow_control
    now_ns = simulation.timeline.now_ns
    control.storm(frozenset({3}), period_us=100, stop_ns=now_ns + lasting_ms * MS)
    simulation.advance((lasting_ms + 500) * MS)


def counters(cli):
    text = cli(f"show queuing pfc-queue interface {OUT} detail")
    return PFC_QUEUE_DETAIL.read(Reply(device="N9K", command="", text=text))[OUT][3]


def view(cli):
    return parse_pfc_queue(Reply(device="N9K", command="", text=cli("show queuing pfc-queue")))


def dropped(switch, queue):
    return switch.network.queue_counters(OUT)[queue].dropped_packets


@pytest.mark.parametrize(("lasting_ms", "shutdowns"), [(90, 0), (205, 1)])
def test_a_queue_is_shut_by_a_storm_longer_than_interval_and_poll_and_by_no_shorter_one(
    cli, busy, switch, lasting_ms, shutdowns
):
    cli.configure(*WATCHED)
    storm(busy, lasting_ms)
    counted = counters(cli)
    lost = counted[c.WATCHDOG_LAST_DROPPED_PACKETS]
    assert (lost > 0) == bool(shutdowns)
    assert dropped(switch, 3) == lost + counted[c.WATCHDOG_DROPPED_IN_PACKETS]
    drained = lost - counted[c.WATCHDOG_DROPPED_OUT_PACKETS]
    assert (drained > 0) == bool(shutdowns)
    storm(busy, lasting_ms)
    storm(busy, lasting_ms)
    counted = counters(cli)
    assert counted[c.WATCHDOG_SHUTDOWNS] == counted[c.WATCHDOG_RESTORED] == 3 * shutdowns
    assert dropped(switch, 5) == 0


def test_while_the_storm_lasts_the_queue_is_shown_as_shut(cli, busy):
    cli.configure(*WATCHED)
    busy.network.nic("C", "eth0").flow_control.storm(frozenset({3}), period_us=100)
    busy.advance(250 * MS)
    assert view(cli)[1][OUT].shut == {3}
    assert "[Shutdown]" in cli(f"show queuing pfc-queue interface {OUT} detail")
    assert view(cli)[1][SENDING[0]].on is False


@pytest.mark.parametrize("left_out", [0, 2])
def test_without_one_of_the_two_lines_nothing_is_watched(cli, busy, switch, left_out):
    cli.configure(*WATCHED[:left_out], *(WATCHED[2:3] if left_out else WATCHED[1:]))
    storm(busy, 300)
    assert view(cli)[1][OUT].on is False
    assert dropped(switch, 3) == 0


def test_a_queue_that_serves_a_fixed_time_after_it_was_shut_is_shut_again_in_a_storm(cli, busy):
    cli.configure(*WATCHED[:1], "priority-flow-control fixed-restore multiplier 1", *WATCHED[2:])
    storm(busy, 1000)
    counted = counters(cli)
    assert counted[c.WATCHDOG_SHUTDOWNS] == counted[c.WATCHDOG_RESTORED] > 1


def test_each_range_is_held(cli):
    cli("configure terminal")
    for line in (
        "priority-flow-control watch-dog interval 99",
        "priority-flow-control watch-dog shutdown-multiplier 11",
        "priority-flow-control auto-restore multiplier 101",
    ):
        assert "% Invalid" in cli(line), line
