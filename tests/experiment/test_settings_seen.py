"""What the devices said of their settings, as evidence has it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hosts_of import roles

from labtests.capabilities.records import PfcSetting, TrustSetting, WatchdogTimes
from labtests.capabilities.settings import PFC, PFC_WATCHDOG, WATCHDOG_TIMES
from labtests.core.errors import CommandRejected
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
        self.in_force = {}
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


class WithAMap(TwoSettings):
    """A lab whose switch maps DSCP at its port, until somebody takes that away."""

    planned = None
    told = (0,) * 32 + (4,) * 32

    def able(self, ability):
        return {"s": self}

    def part(self, device, ability):
        return self

    def dscp_map(self, port):
        yield from ()
        if self.told is None:
            raise CommandRejected("s", port, "the port does not classify by DSCP", "set trust")
        return self.told


def places_of_one_port():
    _, receiver = roles(10, 10)
    return SimpleNamespace(
        bottleneck=PORT, senders=(), receiver=receiver, hosts=(), transit=(), trunks=(), tags=None
    )


def test_a_map_that_somebody_takes_away_in_a_phase_was_changed_and_is_no_broken_lab():
    lab, places = WithAMap(), places_of_one_port()
    before = settings_seen(lab, places)
    lab.told = None
    (sentence,) = settings_seen(lab, places, after=True).changed_since(before)
    assert sentence == (
        "the DSCP map of s p2 could be read before the phase, and not after it: "
        "the port does not classify by DSCP"
    )
    with pytest.raises(CommandRejected):
        settings_seen(lab, places)


def test_a_map_that_is_gone_with_the_trust_that_this_run_asked_for_is_somebodys_doing():
    """Whoever reads it has set that trust already: to set it is no remedy."""
    lab, places = WithAMap(), places_of_one_port()
    dscp, none = TrustSetting(source="dscp"), TrustSetting(source="none")
    lab.told, lab.in_force = None, {(PORT, "trust"): dscp}
    lab.values[PORT, "trust"] = none
    with pytest.raises(CommandRejected) as gone:
        settings_seen(lab, places)
    assert gone.value.problem.endswith(
        ": trust of p2 was changed externally since this run asked for it: "
        "source: dscp, override: False then, source: none, override: False now"
    )
    assert gone.value.device == "s"
    assert gone.value.remedy.startswith("find out who or what sets this device")
    lab.values[PORT, "trust"] = dscp
    with pytest.raises(CommandRejected) as odd:
        settings_seen(lab, places)
    assert odd.value.remedy == "set trust"


class PfcOffInTheSwitch(TwoSettings):
    """A switch that tells no PFC of its ports any more."""

    def has(self, device, kind):
        return device == "s" and kind is PFC

    def shown(self, at, kind):
        yield from ()
        raise CommandRejected("s", at.interface, "PFC is disabled in the whole switch", "enable it")


def test_a_setting_that_cannot_be_read_any_more_was_changed_since_this_run_set_it():
    lab, places = PfcOffInTheSwitch(), places_of_one_port()
    with pytest.raises(CommandRejected) as unasked:
        settings_seen(lab, places)
    assert unasked.value.remedy == "enable it"
    lab.in_force = {(PORT, "pfc"): OFF}
    with pytest.raises(CommandRejected) as gone:
        settings_seen(lab, places)
    assert gone.value.problem == (
        "PFC is disabled in the whole switch: changed externally since this run asked for pfc there"
    )
    assert gone.value.remedy.startswith("enable it; and find out who or what sets this device")


def test_a_map_that_is_another_one_is_told_in_one_line_by_what_is_different():
    lab, places = WithAMap(), places_of_one_port()
    before = settings_seen(lab, places)
    lab.told = (0,) * 24 + (3,) * 8 + (4,) * 30 + (0, 6)
    (sentence,) = settings_seen(lab, places, after=True).changed_since(before)
    assert sentence == (
        "DSCP map of s p2 was changed externally during the phase: "
        "24-31 0, 62-63 4 before, 24-31 3, 62 0, 63 6 after it"
    )
