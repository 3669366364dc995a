"""What the devices said of their settings, as evidence has it."""

from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.experiment.settings import DeviceSettings, SettingSeen
from labtests.inventory import Endpoint

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
