"""Fed with a recording's values, the emulated switch prints that recording.

Byte for byte where the recording's blanks are its own, word for word where they were lost.
"""

import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from labtests.network import PortCounters, PortDrops, Schedule, WredCurve
from labtests.simlab.comware import dcbx
from labtests.simlab.comware.cli import COMWARE
from labtests.simlab.comware.words import QUEUE_NAMES, TYPES
from labtests.simlab.dcbx import DcbxTlvs
from labtests.simlab.face import Announced
from labtests.simlab.screens import render
from labtests.simlab.switch_cli.arguments import Ranges, short_name
from labtests.simlab.switch_cli.counters import PauseFrames, QueueReading

DRIVER_TRANSCRIPTS = Path(__file__).parents[1] / "transcripts" / "comware"
NEW = (WredCurve(),) * 3  # of a queue of a new table
FACE_TRANSCRIPTS = Path(__file__).parents[1] / "transcripts" / "comware-face"


def recording(name: str, folder: Path = DRIVER_TRANSCRIPTS) -> str:
    """A recording without its command and comment lines."""
    text = (folder / f"{name}.txt").read_text(encoding="utf-8")
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith(("$ ", "# "))
    )


def printed(screen: str, **values: object) -> str:
    """What the emulated switch prints with these values."""
    return render(COMWARE.screens, screen, **{"hidden": frozenset(), **values})


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def drops(**counts: int) -> PortDrops:
    none = dict.fromkeys(PortDrops.__dataclass_fields__, 0)
    return PortDrops(**{**none, **counts})


def queues_of(text: str) -> list[QueueReading]:
    """The values of a recording's queue blocks."""
    blocks = re.findall(
        r"Forwarded: (\d+) packets, (\d+) bytes, (\d+) pps, (\d+) bps\s+"
        r"Dropped: (\d+) packets, (\d+) bytes\s+Current queue length: (\d+) packets",
        text,
    )
    return [
        QueueReading(
            forwarded_packets=int(b[0]),
            forwarded_bytes=int(b[1]),
            packets_per_s=int(b[2]),
            bits_per_s=int(b[3]),
            dropped_packets=int(b[4]),
            dropped_bytes=int(b[5]),
            length_cells=int(b[6]),
        )
        for b in blocks
    ]


def test_queue_statistics_of_document_000_word_for_word():
    text = recording("queue_statistics.s6550xe-pfc")
    queues = queues_of(text)
    assert len(queues) == 8
    assert words(printed("queue-statistics", port="Twenty-FiveGigE1/0/13", queues=queues)) == words(
        text
    )


@pytest.mark.parametrize("name", ["s6550xe-ecn", "s6550xe-drops"])
def test_queue_statistics_of_the_ecn_runs_word_for_word(name):
    """Only queues 0 to 3 are quoted there; the others were idle, up to 3 and 11 packets."""
    text = recording(f"queue_statistics.{name}")
    shown = printed("queue-statistics", port="Twenty-FiveGigE1/0/13", queues=queues_of(text))
    assert words(shown)[4:] == words(text)[4:]


def test_queue_statistics_has_the_indents_of_the_command_reference():
    manual = recording("queue_statistics.manual-colours").splitlines()
    shown = printed(
        "queue-statistics", port="GigabitEthernet1/0/1", queues=queues_of_zero()
    ).splitlines()

    def indent(lines: list[str], word: str) -> set[int]:
        return {len(line) - len(line.lstrip()) for line in lines if line.strip().startswith(word)}

    for word in ("Interface:", "Direction:", "Queue 3", "Forwarded:", "Dropped:", "Current"):
        assert indent(shown, word) == indent(manual, word), word


def queues_of_zero() -> list[QueueReading]:
    return [
        QueueReading(
            forwarded_packets=0,
            forwarded_bytes=0,
            dropped_packets=0,
            dropped_bytes=0,
            length_cells=0,
        )
    ] * 8


def row(
    port: str, mode: str, priorities: set[int], counts: dict[int, PauseFrames]
) -> dict[str, object]:
    return {
        "name": short_name(port, TYPES),
        "mode": mode,
        "operational": True,
        "priorities": Ranges(priorities),
        "counts": counts,
    }


@pytest.mark.parametrize(
    ("name", "port", "priority", "sent"), [("14", 14, 3, 99393), ("15", 15, 5, 29792)]
)
def test_old_pfc_columns_of_document_000_word_for_word(name, port, priority, sent):
    counted = {priority: PauseFrames(received=0, sent=sent)}
    shown = printed("pfc", rows=[row(f"Twenty-FiveGigE1/0/{port}", "on", set(range(8)), counted)])
    assert words(shown) == words(recording(f"priority_flow_control.s6550xe-port-{name}"))


def test_old_pfc_columns_have_the_places_of_the_s6812_manual():
    counted = {0: PauseFrames(received=178, sent=43)}
    shown = printed("pfc", rows=[row("Ten-GigabitEthernet1/0/1", "auto", {0, 2, 3, 5, 6}, counted)])
    manual = recording("priority_flow_control.s6812-manual").splitlines()
    cut = manual[1].index("       Inpps")
    assert shown.splitlines() == [manual[0], manual[1][:cut], manual[2][:cut].rstrip()]


def test_new_pfc_columns_byte_for_byte_once_the_manual_is_unwrapped():
    """The manual page wraps at 80 columns and strips the blanks in front of the break."""
    lines = recording("priority_flow_control.s6550x-manual-wrapped").splitlines()
    pairs = zip(lines[::2], lines[1::2], strict=True)
    unwrapped = "".join(f"{first:<80}{second}\n" for first, second in pairs)
    counted = {0: PauseFrames(received=5, sent=5, received_per_s=3, sent_per_s=3)}
    assert printed("pfc-new", rows=[row("Twenty-FiveGigE1/0/1", "on", set(), counted)]) == unwrapped


def test_a_port_that_counted_no_pause_has_a_short_row():
    recorded = words(recording("priority_flow_control.nothing-counted"))[-1]
    shown = printed("pfc-new", rows=[row("Ten-GigabitEthernet1/0/10", "on", {3}, {})])
    assert shown.splitlines()[-1].split() == recorded


def test_every_counted_priority_has_its_row():
    counted = {3: PauseFrames(received=1, sent=2), 5: PauseFrames(received=0, sent=7)}
    shown = words(printed("pfc", rows=[row("Twenty-FiveGigE1/0/13", "on", {3, 5}, counted)]))
    assert [line[-3:] for line in shown[2:]] == [["3", "1", "2"], ["5", "0", "7"]]
    assert {line[0] for line in shown[2:]} == {"WGE1/0/13"}


def test_packet_drop_summary_byte_for_byte():
    shown = printed(
        "packet-drop",
        title="All interfaces",
        indent="   ",
        drops=drops(ecn_marked=1622267130),
    )
    assert shown == recording("packet_drop.data-center-summary")


def test_wred_table_byte_for_byte():
    assert printed("wred-table", name="1", queues=[NEW] * 8) == recording("qos_wred_table.manual")


def test_wred_table_shows_colours_exponent_and_ecn_in_their_columns():
    marking = tuple(
        WredCurve(
            low_limit=10 + n,
            high_limit=50 + n,
            probability_percent=20 + n,
            weighting_exponent=12,
            ecn=True,
        )
        for n in range(3)
    )
    queues = [NEW] * 3 + [marking] + [NEW] * 4
    line = printed("wred-table", name="t", queues=queues).splitlines()[7]
    assert line == "3     10    50    20     11    51    21     12    52    22     12        Y"


def test_wred_interface_byte_for_byte():
    text = recording("qos_wred_interface.manual-table")
    assert printed("wred-interface", port="GigabitEthernet1/0/3", table="q1") == text


def test_qos_trust_byte_for_byte_but_for_the_values():
    shown = printed("qos-trust", port="GigabitEthernet1/0/1", source="exp", override=False)
    assert shown == recording("qos_trust.manual").replace("priority:4", "priority:0")


def test_dscp_map_of_document_000_word_for_word():
    values = [dscp // 8 for dscp in range(64)]
    shown = printed("map-table", name="dscp-dot1p", values=values)
    assert words(shown) == words(recording("map_table.s6550xe-dscp-dot1p"))


def test_a_map_byte_for_byte():
    text = recording("map_table.manual-directions")
    undirected = text[text.rindex("MAP-TABLE") :]
    assert printed("map-table", name="dot1p-lp", values=[2, 0, 1, 3, 4, 5, 6, 7]) == undirected


def scheduled(served: Schedule) -> str:
    return printed(
        f"queue-{served.discipline}",
        port="GigabitEthernet1/0/1",
        schedule=served,
        names=QUEUE_NAMES,
    )


def test_weighted_round_robin_byte_for_byte():
    served = Schedule(discipline="wrr", unit="weight", queues=(("1", 1),) * 7 + (("sp", 1),))
    shown = scheduled(served)
    assert shown == recording("queue_schedule.manual-wrr")


def test_strict_priority_byte_for_byte():
    served = Schedule(discipline="sp", unit="weight", queues=(("sp", 1),) * 8)
    assert scheduled(served) == recording("queue_schedule.manual-sp")


def test_fair_queuing_byte_for_byte_but_for_a_lost_blank():
    served = Schedule(discipline="wfq", unit="byte-count")
    text = recording("queue_schedule.manual-hardware-wfq").replace("\n5 ", "\n 5 ")
    assert scheduled(served) == text


def test_clock_byte_for_byte():
    text = recording("display-clock", FACE_TRANSCRIPTS)
    assert printed("clock", now=datetime(2011, 1, 8, 19, 35, 31)) == text


def test_interface_brief_byte_for_byte():
    text = recording("display-interface-brief", FACE_TRANSCRIPTS)
    down = {"link": "DOWN", "speed": "auto", "linked": False, "description": ""}
    up = {"link": "UP", "speed": "1G(a)", "linked": True, "description": ""}
    rows = [{"name": f"GE3/{n}", **(down if n else up)} for n in range(5)]
    bridge = text[text.index("Brief information on interfaces in bridge mode") :]
    assert printed("interface-brief", rows=rows) == "".join(
        bridge.splitlines(keepends=True)[: 6 + len(rows)]
    )


def test_interface_has_the_lines_of_the_recording_in_their_order():
    text = recording("display-interface", FACE_TRANSCRIPTS)
    none = PortCounters(rx_packets=0, rx_bytes=0, tx_packets=0, tx_bytes=0)
    shown = printed(
        "interface",
        port="Ten-GigabitEthernet13/2/12",
        shut=False,
        cabled=True,
        address="40b93c3ce9a0",
        description="SOME_DEVICE_DESCR",
        rate_bits_per_s=1_000_000_000,
        traffic=PortCounters(rx_packets=0, rx_bytes=0, tx_packets=72002554, tx_bytes=4608163456),
        per_s=none,
        window_s=5,
        crc_errors=0,
        frame_bytes=10_000,
    )
    recorded = text.splitlines()
    ours_only = {line for line in shown.splitlines() if line not in recorded}
    same = [line for line in shown.splitlines() if line not in ours_only]
    assert same == [line for line in recorded if line in same]
    assert {line.split(":")[0].split(" is ")[0] for line in ours_only} == {
        "Media type",
        "Last clearing of counters",
        " Last 5 seconds input",
        " Last 5 seconds output",
        "         72002554 unicasts, 0 broadcasts, 0 multicasts, 0 pauses",
    }


def test_version_begins_with_the_four_lines_of_the_recording():
    recorded = recording("version.hpe-5945").splitlines()[:4]
    uptime_s = (84 * 7 + 2) * 86400 + 3 * 3600 + 51 * 60 + 7
    shown = printed("version", model="S6550", uptime_s=uptime_s).splitlines()
    for line, form in zip(shown, recorded, strict=True):
        assert line.split()[:1] in (form.split()[:1], ["H3C"])
    assert shown[2].endswith("uptime is 84 weeks, 2 days, 3 hours, 51 minutes")
    assert shown[3] == recorded[3]


def test_the_running_configuration_of_a_port_is_that_of_document_000(cli):
    cli.in_port(14, "priority-flow-control enable", "priority-flow-control no-drop dot1p 0-7")
    cli.in_port(14, "qos trust dscp")
    cli("system-view", "interface WGE1/0/14")
    assert words(cli("dis th")) == words(recording("configuration.s6550xe-port-14"))


def test_the_running_configuration_of_a_wred_table_is_that_of_document_000(cli):
    cli("system-view", "qos wred queue table test1")
    cli.accepts(*(f"queue {queue} ecn" for queue in range(8)))
    assert cli.prompt == "[S6550-wred-table-test1]"
    assert words(cli("dis th")) == words(recording("configuration.s6550xe-wred-table"))


def dcbx_of(text: str) -> list[list[str]]:
    """The part about DCBX, without APP."""
    begin, end = text.index(" DCBX Control info:"), text.index(" DCBX APP info:")
    return words(text[begin:end])


def test_dcbx_is_told_and_heard_in_the_words_of_the_manual():
    told = DcbxTlvs(
        pfc=frozenset({1, 2, 3}),
        class_of_priority=tuple(range(8)),
        percent=(15, None, 15, 14, 14, 14, 14, 14),
    )
    part = dcbx.shown(told)
    port = {"port": "Twenty-FiveGigE1/0/14", "number": 1}
    heard = Announced(chassis="", port_id_type="", port_id="", description="", name="")
    local = printed("lldp-local", **port, description="", dcbx=part) + " DCBX APP info:"
    neighbour = printed("lldp-neighbor", **port, heard=heard, dcbx=part) + " DCBX APP info:"
    assert dcbx_of(local) == dcbx_of(recording("dcbx_told.manual"))
    assert dcbx_of(neighbour) == dcbx_of(recording("lldp_neighbors.manual-dcbx"))


def test_of_a_version_that_no_manual_shows_nothing_is_displayed():
    told = DcbxTlvs(pfc=frozenset({3}), class_of_priority=tuple(range(8)), percent=(None,) * 8)
    assert dcbx.shown(replace(told, versions=("rev101",))) is None
    assert dcbx.shown(None) is None


# -- what an engineer asks beside PFC -------------------------------------------------------------


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("name", ["lldp-list", "lldp-list-long"])
def test_the_list_of_neighbours_is_the_recording(name):
    text = recording(name, FACE_TRANSCRIPTS)
    rows = []
    for line in text.splitlines():
        if re.match(r"(Chassis ID|System Name|\s)", line):
            continue
        if " " not in line:  # a name goes on
            rows[-1]["heard"]["name"] += line
            continue
        cells = [line[:21].strip(), line[21:37].strip(), line[37:53].strip(), line[53:].strip()]
        heard = {"name": cells[0], "chassis": cells[2], "port_id": cells[3]}
        rows.append({"name": cells[1], "heard": heard})
    shown = stripped(printed("lldp-list", rows=rows))
    assert shown[-len(stripped(text)) :] == stripped(text)


def test_counters_of_all_ports_are_the_recording():
    text = recording("counters", FACE_TRANSCRIPTS)
    heads = ("name", "packets", "broadcasts", "multicasts", "errors")
    rows = [dict(zip(heads, line.split(), strict=True))
            for line in text.splitlines() if re.match(r"X?GE", line)]  # fmt: skip
    assert printed("counters", rows=rows) == text


def test_rates_devices_and_transceivers_have_the_words_of_the_recordings():
    rate = {"name": "WGE1/0/2", "usage": 100, "packets": 2825427}
    recorded = recording("counters-rate", FACE_TRANSCRIPTS)
    assert words(printed("counters-rate", rows=[rate])) == words(recorded)
    heads = recording("device", FACE_TRANSCRIPTS).splitlines()[0]
    assert printed("device", model="S").splitlines()[0].split() == heads.split()
    recorded = recording("transceiver", FACE_TRANSCRIPTS).replace(
        "GigabitEthernet1/0/1", "WGE1/0/1"
    )
    names = [line.partition(":")[0] for line in stripped(recorded)]
    shown = printed("transceiver", port="WGE1/0/1", present=True)
    assert [line.partition(":")[0] for line in stripped(shown)] == names


def test_pings_are_the_recordings():
    recorded = recording("ping", FACE_TRANSCRIPTS)
    assert printed("ping", host="192.168.1.1", count=5, answered=False) == recorded
    answered = {"host": "198.19.144.117", "count": 1, "answered": True, "ms": "0.871"}
    assert printed("ping", **answered) == recording("ping-answered", FACE_TRANSCRIPTS)


@pytest.mark.parametrize("name", ["lldp-neighbors", "lldp-neighbor-host"])
def test_neighbours_in_brief_are_the_recordings(name):
    recorded = recording(name, FACE_TRANSCRIPTS)
    number, port = re.search(r"port (\d+)\[(\S+)\]", recorded).groups()
    chassis, port_id, kind = re.search(
        r"ChassisID/subtype   : (\S+)/MAC address\n PortID/subtype      : (\S+)/(.+)", recorded
    ).groups()
    heard = {"chassis": chassis, "port_id": port_id, "port_id_type": kind}
    shown = printed("lldp-neighbor-brief", number=number, port=port, heard=heard)
    assert shown.rstrip() == recorded.rstrip()


def test_who_made_the_box_and_what_a_module_tells_are_the_recordings():
    recorded = recording("device-manuinfo", FACE_TRANSCRIPTS)
    named = dict(line.split(" : ") for line in recorded.splitlines()[1:])
    model, serial, address, made, vendor = named.values()
    told = {"model": model, "serial": serial, "made": made, "vendor": vendor}
    assert printed("device-manuinfo", hardware_address=address, **told) == recorded
    recorded = recording("transceiver-diagnosis", FACE_TRANSCRIPTS)
    port = "Ten-GigabitEthernet1/0/51"
    assert printed("transceiver-diagnosis", port=port, present=True) == recorded
