"""The Nexus of a dry run, by SSH and netmiko: what the lab changes there it puts back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from in_process import InProcessLab
from switch_over_ssh import (
    ON,
    connected,
    expect_profile_put_back,
    expect_shared_priorities_changed_together,
    expect_shared_priorities_put_back,
    served,
)

from labtests.capabilities.device import EcnMarking, PfcTelemetry, QueueShares, QueueTelemetry
from labtests.capabilities.facts import LinkState, Neighbours
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.capabilities.settings import (
    DSCP_MAP,
    ECN,
    FRAME_LIMIT,
    HEADROOM,
    PFC,
    SCHEDULING,
    TRUST,
)
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab

TESTBED = "nexus-cx5"
OUT = Endpoint(device="N9K", interface="Ethernet1/13")
IN = Endpoint(device="N9K", interface="Ethernet1/14")


@pytest.fixture(scope="module")
def simulated() -> Iterator[InProcessLab]:
    with served(TESTBED) as lab:
        yield lab


@pytest.fixture
def lab(simulated: InProcessLab, tmp_path: Path) -> Iterator[Lab]:
    with connected(simulated, TESTBED, tmp_path) as lab:
        yield lab


def configured(simulated: InProcessLab) -> str:
    session: Any = simulated.lab.devices["N9K"].session()  # type: ignore[attr-defined]
    shown: str = session.run("show running-config ipqos") + session.run(
        "show running-config interface"
    )
    return "\n".join(line for line in shown.splitlines() if not line.startswith("!"))


def test_all_settings_at_once_act_on_packets_and_go_back(lab, simulated):
    before, network = configured(simulated), simulated.lab.network.switch("N9K")
    marking = lab.part("N9K", EcnMarking).ecn_on({3})
    shares = lab.part("N9K", QueueShares).scheduling_for((12,) * 8)
    with lab.restoring():
        for at in (IN, OUT):
            lab.change(at, TRUST, TrustSetting(source="dscp"))
            lab.change(at, PFC, PfcSetting(mode="off", priorities=frozenset()))
        for at in (IN, OUT):
            lab.change(at, PFC, ON)
        lab.change(OUT, ECN, marking)
        lab.change(OUT, SCHEDULING, shares)
        lab.change(IN, DSCP_MAP, tuple(dscp % 8 for dscp in range(64)))
        lab.change(IN, HEADROOM, ((3, 500),))
        lab.change(IN, FRAME_LIMIT, 9238)
        assert network.pfc("Ethernet1/14") == ("on", frozenset(range(8)))
        assert network.dscp_map("Ethernet1/14")[:10] == (0, 1, 2, 3, 4, 5, 6, 7, 0, 1)
        assert network.wred("Ethernet1/13")[3].ecn
        assert network.schedule("Ethernet1/13").levels == (7,) * 8
    assert configured(simulated) == before
    assert network.pfc("Ethernet1/14") == ("auto", frozenset())
    assert lab.overridden == []


def test_what_it_counts_and_tells_is_read(lab):
    (first, *_) = lab.ask("N9K", lab.part("N9K", QueueTelemetry).queue_counters(OUT.interface))
    assert (first.counter, first.value is None) == ("forwarded_packets", False)
    found = lab.ask("N9K", lab.part("N9K", PfcTelemetry).pfc_counters((IN.interface,)))
    assert len(found) == 16
    heard = lab.ask("N9K", lab.part("N9K", Neighbours).neighbours())
    assert (heard[0].port, heard[0].name) == (OUT.interface, "ServerC")
    assert lab.ask("N9K", lab.part("N9K", LinkState).link(OUT.interface)).up


def test_a_profile_is_planned_made_and_put_back(lab, simulated):
    expect_profile_put_back(lab, "N9K", lambda: configured(simulated), cannot=(), least=5)


def test_ports_that_share_lossless_priorities_change_together(lab, simulated):
    ports = (OUT, IN, Endpoint(device="N9K", interface="Ethernet1/15"))
    expect_shared_priorities_changed_together(lab, ports, lambda: configured(simulated))


BY_HAND = """configure terminal
policy-map type network-qos THEIRS
class type network-qos c-8q-nq1
pause pfc-cos 1
exit
exit
system qos
service-policy type network-qos THEIRS
exit
interface Ethernet1/13
priority-flow-control mode on"""


def test_priorities_of_a_port_that_somebody_has_on_come_back(tmp_path):
    others = (IN, Endpoint(device="N9K", interface="Ethernet1/15"))
    with served(TESTBED) as own, connected(own, TESTBED, tmp_path) as lab:
        own.lab.inject({"kind": "somebody", "device": "N9K", "command": BY_HAND})
        expect_shared_priorities_put_back(lab, others, OUT, lambda: configured(own))
