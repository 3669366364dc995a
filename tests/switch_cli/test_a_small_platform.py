"""A platform that labtests does not have: its tables, and the lab does the rest."""

import sys
from collections.abc import Iterator
from pathlib import Path

import nexus_switch
import pytest
import small_nexus
from in_process import InProcessLab
from small_nexus import DESCRIPTION
from test_switch_cli_nexus_over_ssh import PLATFORMS, TESTBED

from labtests.capabilities.device import PfcTelemetry
from labtests.capabilities.facts import PortTelemetry
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC, PORT_STATE, kind_of
from labtests.core.errors import CommandRejected
from labtests.inventory import Endpoint, load
from labtests.lab import lab as lab_room
from labtests.lab.lab import Lab
from labtests.transport.transcript import Transcript

PORT = Endpoint(device="N9K", interface="Ethernet1/1")
ON = PfcSetting(mode="on", priorities=frozenset({3}))


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessLab]:
    file = tmp_path_factory.mktemp("nexus") / "one-nexus.yaml"
    file.write_text(TESTBED, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "labtests.simlab.faces.small_nexus", nexus_switch)
        with InProcessLab(load(file, platforms=PLATFORMS), seed=1) as lab:
            lab.described = load(file, platforms=PLATFORMS)  # type: ignore[attr-defined]
            yield lab


@pytest.fixture
def lab(simulated: InProcessLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    known = lab_room.driver_module
    monkeypatch.setattr(
        lab_room,
        "driver_module",
        lambda platform: small_nexus if platform == "small-nexus" else known(platform),
    )
    testbed = simulated.reroute(simulated.described)  # type: ignore[attr-defined]
    with (
        Transcript(tmp_path / "journal.jsonl") as transcript,
        Lab.open(testbed, clock=simulated.clock, backend="simulated", transcript=transcript) as lab,
    ):
        yield lab


@pytest.mark.parametrize(
    ("kind", "earlier", "wanted"),
    [
        (PFC, PfcSetting(mode="auto", priorities=frozenset({3})), ON),
        (PORT_STATE, "up", "down"),
        (DESCRIPTION, "", "to-ServerA"),
    ],
)
def test_a_setting_is_made_read_back_and_put_back(lab, kind, earlier, wanted):
    assert lab.current(PORT, kind) == earlier
    with lab.restoring():
        lab.change(PORT, kind, wanted)
        assert lab.current(PORT, kind) == wanted
        assert lab.ahead.entries[-1].intent.setting == kind.name
    assert lab.current(PORT, kind) == earlier


def test_what_is_made_acts_on_packets(lab, simulated):
    switch = simulated.lab.network.switch("N9K")
    with lab.restoring():
        lab.change(PORT, PFC, ON)
        assert switch.pfc(PORT.interface)[0] == "on"
    assert switch.pfc(PORT.interface)[0] == "auto"


def test_what_the_switch_refuses_is_heard_with_the_line_it_refused(lab):
    wrong = Endpoint(device="N9K", interface="Ethernet9/9")
    with pytest.raises(CommandRejected, match="Invalid command") as caught:
        lab.change(wrong, PFC, ON)
    assert "Ethernet9/9" in caught.value.command


def test_its_counters_have_the_field_s_names_and_say_where_they_were_read(lab):
    found = lab.ask("N9K", lab.part("N9K", PfcTelemetry).pfc_counters((PORT.interface,)))
    found += lab.ask("N9K", lab.part("N9K", PortTelemetry).port_counters(PORT.interface))
    assert {each.counter for each in found} == {
        *("pfc_rx_frames", "pfc_tx_frames"),
        *("rx_bytes", "rx_packets", "tx_bytes", "tx_packets"),
    }
    assert all(each.value == 0 and each.source.startswith("show interface") for each in found)


def test_what_it_lacks_is_said_by_name(lab):
    assert not lab.offers("ecn", "N9K")
    with pytest.raises(Exception, match="N9K has no setting 'ecn'"):
        lab.current(PORT, kind_of("ecn"))
