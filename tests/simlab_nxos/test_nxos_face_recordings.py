"""Fed with a recording's numbers, the emulated Nexus prints that recording byte for byte."""

import json
import re
from pathlib import Path

import pytest

from labtests.network import PortCounters, PortDrops
from labtests.simlab.nxos.cli import NXOS
from labtests.simlab.nxos.policies import DELIVERED, PauseBuffer
from labtests.simlab.screens import render
from labtests.simlab.switch_cli.counters import PauseFrames, QueueReading

ROOT = Path(__file__).parents[1] / "transcripts"


def recording(name: str) -> str:
    """Without its command and source."""
    return (ROOT / f"{name}.txt").read_text(encoding="utf-8").split("\n", 2)[2]


def printed(screen: str, **values: object) -> str:
    return render(NXOS.screens, screen, **{"hidden": frozenset(), **values})


def queuing(port: str = "Ethernet1/51") -> str:
    """A port like the recorded one: class 5 is lossless, and has sent pauses."""
    idle = QueueReading(
        forwarded_packets=0, forwarded_bytes=0, dropped_packets=0, dropped_bytes=0, length_cells=0
    )
    busy = QueueReading(
        forwarded_packets=202328436,
        forwarded_bytes=203884632744,
        dropped_packets=0,
        dropped_bytes=0,
        length_cells=0,
    )
    none = dict.fromkeys(PortDrops.__dataclass_fields__, 0)
    return printed(
        "queuing",
        port=port,
        own=False,
        served=list(enumerate(DELIVERED)),
        queues=[idle] * 5 + [busy] + [idle] * 2,
        shut_drops=[0] * 8,
        buffers={5: PauseBuffer(size=348608, pause=77376, resume=75712)},
        drops=PortDrops(**{**none, "input_buffer_drops": 19490}),
        lossless={5},
        pauses=[PauseFrames(received=0, sent=150 if n == 5 else 0) for n in range(8)],
    )


def test_how_queues_are_served_is_printed_as_recorded():
    assert queuing("Ethernet1/1").startswith(recording("nxos-face/queuing-table"))


def test_a_queue_is_printed_as_recorded_and_below_it_its_marks():
    text = recording("nxos-face/queuing-group")
    counted, rule, following, end = text.rsplit("\n", 4)[:4]
    assert counted in queuing()
    behind = queuing().split(counted + "\n")[1].split("\n")
    assert behind[0].split() == ["|", "ECN", "Pkts", "|", "0|", "0|"]
    assert behind[1:4] == [rule, following, end]


def test_what_arrives_is_printed_as_recorded():
    own = recording("nxos-face/queuing-ingress")
    slice_of_all = own.replace("71206", "19490")  # the slice has lost more than this port alone
    assert queuing().endswith("\n\n" + slice_of_all)


def test_pause_frames_are_printed_as_recorded():
    rows = [
        {
            "port": f"Ethernet1/{number}",
            "mode": "On",
            "lossless": {5},
            "counted": True,
            "counts": [PauseFrames(received=0, sent=sent if n == 5 else 0) for n in range(8)],
        }
        for number, sent in ((51, 150), (52, 143), (53, 101), (54, 4))
    ]
    assert printed("pfc-detail", rows=rows) == recording("nxos/pfc_detail.n9k")


def test_pauses_of_ports_are_printed_as_recorded():
    ports = ("Ethernet1/1", "Vethernet9547", "Ethernet1/1/2", "Ethernet7/1/33", "Br-Ethernet1/17/1")
    rows = [{"port": port, "mode": "Auto", "lossless": (), "counts": []} for port in ports]
    rows[-1] |= {"counts": [PauseFrames(received=373112640, sent=5422273)]}
    assert printed("pfc", rows=rows) == recording("nxos/priority_flow_control.ucs")


def test_an_interface_is_printed_as_recorded_but_for_its_media_and_what_packets_here_have_not():
    text = recording("nxos/interface.genie-31")
    none = PortCounters(rx_packets=0, rx_bytes=0, tx_packets=0, tx_bytes=0)
    shown = printed(
        "interface",
        port="Ethernet1/1",
        shut=False,
        address="ecce132315e8",
        description="FAN-OUT-S1_E6/1",
        mtu=9216,
        rate_bits_per_s=10**10,
        linked=True,
        window_s=30,
        traffic=none,
        per_s=none,
        crc_errors=0,
    )
    missing = {
        line for line in text.splitlines() if _form(line) not in set(map(_form, shown.splitlines()))
    }
    assert missing == {
        "  Belongs to Po101",
        "  Port mode is trunk",
        "    admin fec state is auto, oper fec state is off",
        "  Load-Interval #2: 5 minute (300 seconds)",
        "    input rate 1.02 Kbps, 0 pps; output rate 15.58 Kbps, 23 pps",
        "    input rate 1.00 Kbps, 0 pps; output rate 15.19 Kbps, 22 pps",
    }


def _form(line: str) -> str:
    """A line with other numbers."""
    return re.sub(r"\d+", "0", line)


@pytest.mark.parametrize("folder", ["nxos", "nxos-face"])
def test_every_screen_names_recordings_that_there_are(folder: str) -> None:
    first = [path.read_text().split("\n", 1)[0] for path in NXOS.screens.glob("*.j2")]
    assert all(line.startswith("{# recordings: ") for line in first)
    named = {name for line in first for name in re.findall(rf"{folder}/([\w.-]+)\.txt", line)}
    assert named
    assert {name for name in named if not (ROOT / folder / f"{name}.txt").exists()} == set()


# -- what an engineer asks beside PFC -------------------------------------------------------------


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_interfaces_in_brief_are_the_recording():
    up = {"linked": True, "shut": False, "rate_bits_per_s": 10**10}
    rows = [{"name": f"Eth1/{n}", **up} for n in (1, 2, 3)]
    assert printed("interface-brief", rows=rows) == recording("nxos-face/interface-brief")


def test_the_status_of_interfaces_is_the_recording_but_for_modules():
    told = {"description": "", "linked": False, "rate_bits_per_s": 10**10}
    names = ("Eth1/2", "Eth1/3", "Eth1/8")
    rows = [{"name": name, "shut": name == "Eth1/2", **told} for name in names]
    recorded = recording("nxos-face/interface-status").replace("SFP-H10GB-CU2M", "--")
    recorded = recorded.replace("xcvrAbsen", "notconnec")
    assert stripped(printed("interface-status", rows=rows)) == stripped(recorded)


def test_counters_are_the_recording_but_for_those_of_many_receivers():
    traffic = PortCounters(rx_bytes=1162614, rx_packets=14178, tx_bytes=12199396, tx_packets=23366)
    recorded = recording("nxos-face/counters")
    shown = printed("counters", rows=[{"name": "Eth1/33", "traffic": traffic}])
    ours = [line.replace("   64", "    0").replace("   65", "    0") for line in stripped(recorded)]
    assert [re.sub("1$", "0", each) if "    0   " in each else each for each in ours] == stripped(
        shown
    )


def test_errors_are_the_recording_but_for_what_the_network_does_not_know():
    row = {"name": "Eth1/1", "crc_errors": 0, "out_discards": 0, "in_discards": 0}
    recorded = recording("nxos-face/counters-errors").replace("13450", "    0")
    recorded = recorded.replace("  230", "    0").replace("1000", "   0")
    assert stripped(printed("counters-errors", rows=[row])) == stripped(recorded)


def test_the_list_of_neighbours_is_the_recording():
    names = ("nx-osv9000-3-long-name.com", "nx-osv9000-4-extremely-long-name", "nx-osv9000-2")
    ports = ("Ethernet1/1", "Ethernet1/1", "Ethernet1/3")
    rows = [
        {"name": f"Eth1/{n}", "heard": {"name": name, "port_id": port}}
        for n, (name, port) in enumerate(zip(names, ports, strict=True), 1)
    ]
    recorded = [
        line.replace("  BR  ", "      ") for line in stripped(recording("nxos-face/lldp-list"))
    ]
    assert stripped(printed("lldp-list", rows=rows)) == recorded


def test_policy_maps_have_the_margins_of_the_guide():
    recorded = [line for line in stripped(recording("nxos-face/policy-map")) if "=" not in line]
    body = ["class type network-qos class-default", "  mtu 9216", "  multicast-optimize"]
    policy = ("policy-map type network-qos JUMBO_MTU_9216", body)
    shown = stripped(printed("policies", types=[("network-qos", [policy])]))
    assert [line for line in shown if line and "=" not in line] == recorded


def test_json_has_fields_of_the_recordings_and_one_row_is_an_object(cli):
    recorded = json.loads(recording("nxos-face/version-json"))
    version = json.loads(cli("show version | json"))
    assert version.keys() <= recorded.keys()
    assert {name: type(each) for name, each in version.items()} == {
        name: type(recorded[name]) for name in version
    }
    (first, *_) = json.loads(recording("nxos-face/interface-json"))["TABLE_interface"][
        "ROW_interface"
    ]
    shown = json.loads(cli("show interface | json"))["TABLE_interface"]["ROW_interface"]
    assert [list(each) for each in shown] == [list(first)] * len(shown)
    one = json.loads(cli("show interface e1/14 | json"))["TABLE_interface"]["ROW_interface"]
    assert one == shown[1]
    assert one["interface"] == "Ethernet1/14"


def test_the_inventory_is_as_recorded() -> None:
    printed_now = printed("inventory", model="93180YC-EX", serial="FDO223607FK")
    assert printed_now == recording("nxos-face/inventory")


def rows(shown, *names):
    """Through tables of one row."""
    for name in names:
        shown = shown[f"TABLE_{name}"][f"ROW_{name}"]
    return shown


def test_json_of_queues_has_the_numbers_of_the_text(cli):
    text = cli("show queuing interface e1/14")
    egress, ingress = rows(
        json.loads(cli("show queuing interface e1/14 | json")), "module", "queuing_interface"
    )
    assert (egress["dir"], ingress["dir"]) == ("Egress", "Ingress")
    assert egress["if_name_str"] == "Ethernet1/14"
    groups = rows(egress, "qosgrp_egress_stats")
    assert [each["eq-qosgrp"] for each in groups] == [str(n) for n in range(8)]
    for each in rows(groups[0], "qosgrp_egress_stats_entry"):
        assert f"{each['eq-stat-type']} {each['eq-stat-units']}" in text
        assert each["eq-uc-stat-value"] == "0"
    assert [each["cos"] for each in rows(ingress, "pfc_stats")] == [str(n) for n in range(8)]
    assert len(rows(json.loads(cli("show queuing interface | json")), "module",
                    "queuing_interface")) == 8  # fmt: skip


def test_json_of_the_tabular_view_has_a_row_for_each_counter(cli):
    shown = json.loads(cli("show queuing tabular interface e1/14 | json"))
    counters = rows(shown, "module", "queuing_interface", "queuing_counter")
    assert {each["counter_name_str"] for each in counters} >= {"uc-tx-pkts", "pfc-rx-pkts"}
    assert all(each[f"qos_group_{n}"] == "0" for each in counters for n in range(8))


def test_json_of_the_watchdog_tells_times_and_states(cli):
    on = "priority-flow-control watch-dog-interval on"
    cli.configure(on, "priority-flow-control watch-dog interval 300")
    shown = json.loads(cli("show queuing pfc-queue interface e1/14 | json"))
    assert (shown["glb-wd-status"], shown["glb-wd-timer"]) == ("Enabled", "300")
    port = rows(shown, "queuing_interface")
    assert (port["wd-status"], port["vl-bmp"], port["qosgrp_3_state"]) == ("Disabled", "0x0", "-")
