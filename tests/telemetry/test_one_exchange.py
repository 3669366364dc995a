"""What a host is asked at one moment is one exchange, and says what it would say alone."""

import re
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "connectx"))
sys.path.insert(0, str(Path(__file__).parents[1] / "linux_switch"))

import connectx_host
import switch_box
from recorded_shell import RecordedShell, called

from labtests.capabilities import counters as c
from labtests.check.gathering import Watching
from labtests.core.errors import CommandTimeout, LabError
from labtests.drivers import connectx, linux, linux_switch
from labtests.drivers.linux.statistics import statistics_command
from labtests.experiment.roles import Role, Roles
from labtests.experiment.settings import settings_seen
from labtests.inventory import Endpoint
from labtests.lab.devices import Devices
from labtests.measure.telemetry import Telemetry, Watch
from labtests.transport.exchanges import Exchanges

HW = "grep -H . /sys/class/infiniband/{}/ports/1/hw_counters/*"
MLX, VIRTIO, TC = "ens1f0np0", "enp0s3", "tcs0"


def recorded(*names, of=connectx_host.recording):
    return [of(name) for name in names]


SNMP = connectx_host.recording("proc_net_snmp--kernel618")
NETSTAT = connectx_host.recording("proc_net_snmp--netstat-kernel618")
COUNTED = connectx_host.recording("net_statistics--virtio")
HOSTS = {  # driver, port, what it prints
    "connectx": (
        connectx,
        MLX,
        [
            *recorded("rdma_links--mlx5"),
            *(SNMP, NETSTAT, called(COUNTED, statistics_command(MLX))),
            called(connectx_host.recording("ethtool_statistics--cx4"), f"ethtool -S {MLX}"),
            called(connectx_host.recording("hw_counters--rxe"), HW.format("mlx5_0")),
        ],
    ),
    "linux": (
        linux,
        VIRTIO,
        [
            *recorded("tc_qdiscs--fq_codel", "rdma_links--rxe"),
            *(NETSTAT, called(COUNTED, statistics_command(VIRTIO))),
            *recorded("hw_counters--rxe", "ethtool_statistics--virtio-rings"),
            SNMP,
        ],
    ),
    "linux-switch": (
        linux_switch,
        TC,
        recorded(
            "qdiscs--htb_red", "classes--htb_red", "filters--htb_red", of=switch_box.recording
        ),
    ),
}


class Alone(Exchanges):
    """Every question by itself."""

    def ask(self, asking, *occasions):
        return super().ask(asking)

    def _at_once(self, commands):
        return ()


class Lab:
    """Some hosts. `sent(name)` is how many exchanges there were with one since the last time."""

    def __init__(self, folder, *kinds, together=True):
        self.shells, self.drivers, self.transports, ports = {}, {}, {}, {}
        for kind in kinds:
            driver, port, replies = HOSTS[kind]
            shell = RecordedShell(kind, replies, folder / f"{kind}-{together}")
            self.shells[kind] = shell
            self.transports[kind] = Exchanges(shell) if together else Alone(shell)
            self.drivers[kind] = driver.driver_of(kind)
            ports[kind] = (port,)
        self.watch = Watch(ports=ports, bottleneck=("linux-switch", TC))
        self.telemetry = Telemetry(self, self.shells[kinds[0]].clock)
        self.clock, self.planned = self.shells[kinds[0]].clock, None
        self.testbed = SimpleNamespace(
            devices=[
                SimpleNamespace(name=kind, ports=[SimpleNamespace(interface=end) for end in ends])
                for kind, ends in ports.items()
            ]
        )

    of_each = Devices.of_each
    able, has, setting = Devices.able, Devices.has, Devices.setting
    part, ask, shown, _now = Devices.part, Devices.ask, Devices.shown, Devices._now

    def snapshot(self):
        return self.telemetry.snapshot(self.watch)

    def sample(self):
        return self.telemetry.sample(self.watch)

    def sent(self, kind):
        count = len(self.shells[kind].asked)
        self.shells[kind].asked.clear()
        return count


def values(readings):
    """Everything of them but when."""
    return [replace(reading, time_s=0.0, asked_s=None) for reading in readings]


@pytest.mark.parametrize(
    ("kind", "one_by_one", "first"),
    [("connectx", (7, 2), 2), ("linux", (7, 2), 2), ("linux-switch", (2, 1), 1)],
)
def test_a_moment_is_one_exchange_and_its_readings_are_the_same(tmp_path, kind, one_by_one, first):
    lab, alone = Lab(tmp_path, kind), Lab(tmp_path, kind, together=False)
    assert (alone.snapshot(), alone.sent(kind))[1] == one_by_one[0]
    assert (alone.sample(), alone.sent(kind))[1] == one_by_one[1]
    expected, sampled = values(alone.snapshot()), values(alone.sample())
    assert any(reading.value is not None for reading in expected)

    assert values(lab.snapshot()) == expected
    assert lab.sent(kind) == first  # the folder of an RDMA device is only known afterwards
    for _ in range(3):
        assert values(lab.sample()) == sampled
        assert lab.sent(kind) == 1
        assert values(lab.snapshot()) == expected
        assert lab.sent(kind) == 1


def test_a_reading_has_the_time_of_the_answer_and_a_sample_since_when_it_may_be(tmp_path):
    lab = Lab(tmp_path, "linux")
    lab.snapshot()
    began_s = lab.telemetry._clock.now_s()
    taken = lab.sample()
    assert {(r.asked_s, r.time_s) for r in taken} == {(began_s, began_s + 1.0)}
    assert {r.time_s for r in lab.snapshot()} == {began_s + 2.0}


def test_each_moment_asks_anew(tmp_path):
    lab = Lab(tmp_path, "linux-switch")
    lab.snapshot()
    shown = lab.shells["linux-switch"]._path / "0"
    text = shown.read_text()
    (before,) = (
        r for r in lab.snapshot() if r.counter == c.QUEUE_FORWARDED_PACKETS and not r.index
    )
    shown.write_text(re.sub(rf'"packets":{before.value}\b', f'"packets":{before.value + 7}', text))
    (after,) = (r for r in lab.snapshot() if r.counter == c.QUEUE_FORWARDED_PACKETS and not r.index)
    assert after.value == before.value + 7


@pytest.mark.parametrize("kind", HOSTS)
def test_answers_that_cannot_be_told_apart_are_asked_for_one_by_one(tmp_path, kind):
    lab, alone = Lab(tmp_path, kind), Lab(tmp_path, kind, together=False)
    lab.snapshot()
    lab.sent(kind)
    lab.shells[kind].damage = lambda text: re.sub(r"labtests-[0-9a-f]+ 0 0\n", "", text)
    assert values(lab.snapshot()) == values(alone.snapshot())
    assert lab.sent(kind) > 1


def test_an_output_that_is_cut_off_is_never_a_number(tmp_path):
    lab = Lab(tmp_path, "linux-switch")
    lab.snapshot()
    lab.shells["linux-switch"].damage = lambda text: text[: len(text) // 2]
    with pytest.raises(LabError, match="JSON"):
        lab.snapshot()


def test_a_host_that_does_not_manage_so_much_at_once_is_asked_one_by_one_from_then_on(tmp_path):
    lab, alone = Lab(tmp_path, "linux"), Lab(tmp_path, "linux", together=False)

    def slow(command):
        if "printf" in command:
            raise CommandTimeout("linux", command, "it did not end", "wait")

    lab.shells["linux"].before = slow
    for expected in (1 + 7, 7):
        assert values(lab.snapshot()) == values(alone.snapshot())
        assert lab.sent("linux") == expected


def test_hosts_are_asked_side_by_side(tmp_path):
    lab = Lab(tmp_path, *HOSTS)
    lab.snapshot()
    lab.sample()
    all_under_way = threading.Barrier(len(HOSTS), timeout=20)
    for shell in lab.shells.values():
        shell.before = lambda command: all_under_way.wait()
    lab.snapshot()
    lab.sample()
    assert all_under_way.n_waiting == 0


def test_the_settings_before_a_phase_are_one_exchange_with_each_host(tmp_path):
    lab = Lab(tmp_path, "linux", "linux-switch")
    alone = Lab(tmp_path, "linux", "linux-switch", together=False)
    host = Endpoint(device="linux", interface=VIRTIO)
    port = Endpoint(device="linux-switch", interface=TC)
    role = Role(nic=host, switch=port, link_bits_per_s=12_000_000, address="192.0.2.1")
    roles = Roles(senders=(role,), receiver=role, line_bits_per_s=12_000_000)
    expected = settings_seen(alone, roles)
    assert alone.sent("linux-switch") >= 3
    assert [seen.setting for seen in expected.settings if seen.at == port][:1] == ["ecn"]
    assert sorted(set(expected.queues[port])) == list(range(8))
    assert settings_seen(lab, roles) == expected
    assert (lab.sent("linux"), lab.sent("linux-switch")) == (0, 2)  # where filters are
    assert settings_seen(lab, roles) == expected
    assert (lab.sent("linux"), lab.sent("linux-switch")) == (0, 1)


@pytest.mark.parametrize("kind", ["connectx", "linux"])
def test_a_check_looks_at_an_idle_host_in_two_exchanges(tmp_path, kind):
    """Its counters, and the errors of its cables."""
    lab = Lab(tmp_path, kind)
    watching = Watching(lab, 0.0)
    assert lab.sent(kind) <= 4  # what is asked is not all known in advance
    idle = watching.ended()
    assert lab.sent(kind) == 2
    assert len(idle.counters) > 20
    assert all(difference.increase == 0 for difference in idle.errors.values())
