"""What the devices said of their settings, as evidence has it."""

from dataclasses import replace
from types import SimpleNamespace

from hosts_of import roles

from labtests.capabilities.records import PfcSetting, TrustSetting, WatchdogTimes
from labtests.capabilities.settings import PFC_WATCHDOG, WATCHDOG_TIMES
from labtests.experiment.settings import DeviceSettings, SettingSeen, settings_seen
from labtests.inventory import Endpoint
from labtests.transport.asking import Running, answered, known

NIC = Endpoint(device="a", interface="eth0")
OFF = PfcSetting(mode="off", priorities=frozenset())


def test_pfc_is_told_by_port_and_nothing_of_ports_without_it():
    seen = DeviceSettings(
        settings=(
            SettingSeen(at=NIC, setting="pfc", value=OFF),
            SettingSeen(at=NIC, setting="trust", value=TrustSetting(source="dscp")),
        ),
        queues={},
    )
    assert seen.pfc == {("a", "eth0"): OFF}


class TwoSettings:
    """A lab whose switch has the two settings of a PFC watchdog, and nothing else."""

    def __init__(self):
        self.values = {(SWITCH, "watchdog_times"): SLOW, (PORT, "pfc_watchdog"): "on"}

    def has(self, device, kind):
        return device == "s" and kind in (WATCHDOG_TIMES, PFC_WATCHDOG)

    def able(self, ability):
        return {}

    def place(self, at, kind):
        return SWITCH if kind is WATCHDOG_TIMES else at

    def shown(self, at, kind):
        return known(self.values[at, kind.name])

    def ask(self, device, asking, *occasions):
        return answered(Running(asking), lambda asked: [])


SWITCH, PORT = Endpoint(device="s", interface=""), Endpoint(device="s", interface="p2")
SLOW = WatchdogTimes(
    on=True,
    interval_ms=1000,
    shutdown_multiplier=10,
    auto_restore_multiplier=2,
    fixed_restore_multiplier=0,
)


def test_the_watchdog_of_a_storm_is_a_setting_under_test():
    lab, (sender, receiver) = TwoSettings(), roles(10, 10)
    places = SimpleNamespace(
        bottleneck=PORT, senders=(sender,), receiver=receiver, hosts=(sender, receiver),
        transit=(), trunks=(), tags=None,
    )  # fmt: skip
    before = settings_seen(lab, places, watchdog=True)
    assert {(each.at, each.setting) for each in before.settings} == set(lab.values)
    lab.values[SWITCH, "watchdog_times"] = replace(SLOW, on=False)
    (sentence,) = settings_seen(lab, places, watchdog=True).changed_since(before)
    assert sentence.startswith("watchdog_times of s was changed externally during the phase")
    assert settings_seen(lab, places).settings == ()
