"""DCBX of an emulated NIC: its firmware's parameters, and who sets PFC and ETS."""

from collections.abc import Callable
from pathlib import Path

import pytest
from linux_bench import INTERFACE, Hands

from labtests.inventory import Endpoint
from labtests.simlab.dcbx import DcbxTlvs
from labtests.simlab.linux.calls import screen

RECORDING = (
    Path(__file__).parents[1] / "transcripts" / "connectx" / "mlxconfig--mstconfig-dcbx-off.txt"
)
MLXCONFIG = "mlxconfig -d 0000:03:00.0"
END = Endpoint(device="ServerA", interface=INTERFACE)
TOLD = DcbxTlvs(
    pfc=frozenset({4, 5}),
    class_of_priority=(0, 0, 1, 1, 2, 2, 3, 3),
    percent=(50, 50, None, None, None, None, None, None),
)


def test_mlxconfig_prints_the_recording():
    recorded = RECORDING.read_text(encoding="utf-8").split("\n", 2)[2]
    rows = [line.split() for line in recorded.splitlines() if line.startswith("         ")]
    shown = screen("mlxconfig", device="01:00.1", rows={row[0]: row[1] for row in rows})
    assert shown == recorded


def test_a_parameter_is_set_for_the_next_boot(hands: Hands) -> None:
    asked = f"{MLXCONFIG} q LLDP_NB_DCBX_P1 DCBX_WILLING_P1"
    assert "LLDP_NB_DCBX_P1                     True(1)" in hands.run(asked).out
    assert "RX_MODE" not in hands.run(asked).out
    assert "reboot machine" in hands.run(f"{MLXCONFIG} -y set LLDP_NB_DCBX_P1=FALSE").out
    assert "LLDP_NB_DCBX_P1                     False(0)" in hands.run(asked).out


@pytest.mark.parametrize(
    "command",
    [
        "mlxconfig -d 04:00.0 q",
        f"{MLXCONFIG} q NO_SUCH",
        f"{MLXCONFIG} set DCBX_CEE_P1=0",
        "mlxconfig",
    ],
)
def test_what_is_not_there_is_refused(hands: Hands, command: str) -> None:
    session = hands.run(command)
    assert session.status not in (0, None)
    assert session.err


def heard(hands: Hands) -> None:
    """As if its switch had told that."""
    hands.lab.dcbx._heard[END] = TOLD
    hands.lab.dcbx.on_heard[END]()


def shown(hands: Hands) -> str:
    return hands.run(f"mlnx_qos -i {INTERFACE}").out


def test_firmware_takes_pfc_and_ets_over_and_the_os_keeps_its_own(hands: Hands) -> None:
    hands.run(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0")
    heard(hands)
    assert "enabled     0   0   0   1   0   0   0   0" in shown(hands)
    hands.run(f"mlnx_qos -i {INTERFACE} -d fw")
    assert "DCBX mode: Firmware controlled" in shown(hands)
    assert "enabled     0   0   0   0   1   1   0   0" in shown(hands)
    assert "tc: 1 ratelimit: unlimited, tsa: ets, bw: 50%" in shown(hands)
    hands.run(f"mlnx_qos -i {INTERFACE} -f 0,0,0,1,0,0,0,0")
    assert "enabled     0   0   0   0   1   1   0   0" in shown(hands)


def test_after_a_boot_without_dcbx_nothing_is_taken_over(make_lab: Callable[..., Hands]) -> None:
    hands = make_lab(real=True)
    hands.run(f"{MLXCONFIG} -y set LLDP_NB_RX_MODE_P1=0")
    hands.lab.inject({"kind": "reboot", "device": "ServerA", "seconds": 1})
    hands.advance(3)
    heard(hands)
    hands.run(f"mlnx_qos -i {INTERFACE} -d fw")
    assert "enabled     0   0   0   0   0   0   0   0" in shown(hands)
