"""Asymmetric PFC of a SONiC box, by SSH: whoever makes PFC at a port ends it, a profile may ask for
it, and it is put back as it was found."""

import json
from dataclasses import replace
from typing import Any

import pytest
from switch_over_ssh import OFF, ON, fixtures_of, made_and_put_back, shipped

from labtests.capabilities.device import AsymmetricPfc, Obstacles
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.core.errors import CommandRejected
from labtests.experiment import SIMULATED, Incast
from labtests.experiment.settings import DeviceSettings, SettingSeen, set_by_others
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.transport.commands import root

TESTBED, BOX = "sonic-cx5", "SN2700"
AT = Endpoint(device=BOX, interface="Ethernet4")
THREE = PfcSetting(mode="on", priorities=frozenset({3}))
FOUND = [("none", ""), ("none", "off"), ("none", "on"), ("reload", ""), ("reload", "on")]


simulated, lab = fixtures_of(TESTBED)


def typed(lab: Lab, *words: str) -> str:
    reply = lab.transports[BOX].run(root(*words))
    assert reply.status == 0, reply
    return reply.text


def asymmetric(lab: Lab, state: str) -> None:
    """As somebody types it."""
    assert typed(lab, "config", "interface", "pfc", "asymmetric", AT.interface, state) == ""


def configured(lab: Lab) -> dict[str, Any]:
    """CONFIG_DB, but for the buffer profile that buffermgrd keeps once it has made it."""
    told: dict[str, Any] = json.loads(typed(lab, "sonic-cfggen", "-d", "--print-data"))
    for name in [each for each in told["BUFFER_PROFILE"] if each.startswith("pg_lossless_")]:
        del told["BUFFER_PROFILE"][name]
    return told


def found(lab: Lab, qos: str, state: str) -> dict[str, Any]:
    if qos == "reload":
        typed(lab, "config", "qos", "reload")
    if state:
        asymmetric(lab, state)
    return configured(lab)


def seen(lab: Lab) -> DeviceSettings:
    """As before or after a phase."""
    now = SettingSeen(at=AT, setting="pfc", value=lab.current(AT, PFC))
    return DeviceSettings(settings=(now,), queues={})


@pytest.mark.parametrize("wanted", [ON, THREE, OFF])
@pytest.mark.parametrize(("qos", "state"), FOUND)
def test_whoever_sets_pfc_has_it_symmetric_and_it_is_put_back(lab, simulated, qos, state, wanted):
    before, network = found(lab, qos, state), simulated.lab.network.switch(BOX)
    assert lab.current(AT, PFC).asymmetric == (state or None)
    assert network.is_asymmetric(AT.interface) == (state == "on")
    with lab.restoring():
        lab.change(AT, PFC, wanted)
        assert lab.current(AT, PFC).asymmetric in (None, "off")
        assert not network.is_asymmetric(AT.interface)
    assert configured(lab) == before
    assert network.is_asymmetric(AT.interface) == (state == "on")
    assert lab.overridden == []


@pytest.mark.parametrize(("qos", "state"), FOUND)
def test_it_is_switched_on_and_off_alone_and_pfc_enable_is_not_written(lab, simulated, qos, state):
    before, network = found(lab, qos, state), simulated.lab.network.switch(BOX)
    now = lab.current(AT, PFC)
    on = lab.part(BOX, AsymmetricPfc).obeying_all(now)
    with lab.restoring():
        for wanted in (on, replace(on, asymmetric="off"), on, replace(on, asymmetric=None)):
            lab.change(AT, PFC, wanted)
            assert network.is_asymmetric(AT.interface) == (wanted.asymmetric == "on")
            assert lab.current(AT, PFC).priorities == now.priorities
    assert configured(lab) == before
    of_port = [c for change in lab.changes for c in change.commands]
    assert not any("pfc_enable" in each or "BUFFER_PG" in each for each in of_port)


def test_a_field_that_goes_is_told_off_before(lab, simulated):
    lab.change(AT, PFC, replace(OFF, asymmetric="on"))
    lab.change(AT, PFC, OFF)
    told = lab.changes[-1].commands
    assert [each.split("CONFIG_DB ")[1] for each in told] == [
        "HSET 'PORT|Ethernet4' pfc_asym off",
        "HDEL 'PORT|Ethernet4' pfc_asym",
    ]


def test_a_profile_is_symmetric_unless_it_says_otherwise(lab, simulated):
    network = simulated.lab.network.switch(BOX)
    asymmetric(lab, "on")
    assert "pfc" in made_and_put_back(lab, BOX, shipped(), lambda: configured(lab), ())
    asymmetric(lab, "off")
    profile = shipped().model_copy(update={"asymmetric_pfc": True})
    assert "pfc" in made_and_put_back(lab, BOX, profile, lambda: configured(lab), ())
    assert not network.is_asymmetric(AT.interface)


def test_a_suite_has_each_port_on_the_way_symmetric_and_puts_it_back(lab, simulated):
    network = simulated.lab.network.switch(BOX)
    for port in network.ports:
        typed(lab, "config", "interface", "pfc", "asymmetric", port, "on")
    before, incast = configured(lab), Incast(lab=lab, pace=SIMULATED)
    for prepare in (lambda: incast.pfc_at_switch(OFF), incast.no_pfc_anywhere):
        with lab.restoring():
            prepare()
            assert not any(map(network.is_asymmetric, network.ports))
        assert configured(lab) == before
        assert all(map(network.is_asymmetric, network.ports))


def test_it_is_no_obstacle(lab):
    asymmetric(lab, "on")
    assert lab.ask(BOX, lab.part(BOX, Obstacles).obstacles()) == ()


def test_who_switches_it_on_while_a_run_has_the_port_is_found_out(lab):
    with lab.restoring():
        lab.change(AT, PFC, THREE)
        before = seen(lab)
        assert set_by_others(lab, before) == ()
        asymmetric(lab, "on")
        after = seen(lab)
        (said,) = set_by_others(lab, after)
        assert "now it is mode: on, priorities: 3, asymmetric: on" in said
        (said,) = after.changed_since(before)
        assert "mode: on, priorities: 3, asymmetric: on after it" in said
    assert len(lab.overridden) == 1


def test_another_word_is_neither(lab):
    typed(lab, "sonic-db-cli", "CONFIG_DB", "HSET", "PORT|Ethernet4", "pfc_asym", "true")
    with pytest.raises(CommandRejected, match="pfc_asym is 'true'"):
        lab.current(AT, PFC)
