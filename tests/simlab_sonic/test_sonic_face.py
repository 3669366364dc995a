"""The emulated SONiC box prints tables as recorded, and shows counters as old as its polls are."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "switch_cli"))

from silent_hosts import silence, star

from labtests.network import PfcWatchdog, UdpRequest
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import tabulated
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.sonic import SonicBox, showing
from labtests.simlab.sonic.database import CELL_BYTES, POOL
from labtests.simlab.sonic.watermarks import SonicPeaks

ROOT = Path(__file__).parents[1] / "transcripts" / "sonic"
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")
LEFT = ("lldp",)
DOWN = {"admin_status": "down"}
TABLES = {
    "pfc_counters.given-01": "pfc counters",
    "wred_counters.given-05": "queue wredcounters",
    "group_drops.given-01": "priority-group drop counters",
    "counters.given-21": "interfaces counters",
    "status.given-01": "interfaces status",
    "lldp.dx010": "lldp table",
}


HELD = {
    "watermarks.uc-05": "queue watermark unicast",
    "watermarks.hr-11": "priority-group watermark headroom",
    "watermarks.sh-05": "priority-group watermark shared",
    "watermarks.pool-09": "buffer_pool watermark",
}


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> SimulatedLab:
    silence(monkeypatch)
    hosts = {"C": PORTS[0], "A": PORTS[1], "B": PORTS[2]}
    return SimulatedLab(star("SN2700", "sonic", PORTS, hosts), seed=1)


def box(lab: SimulatedLab) -> SonicBox:
    found = lab.devices["SN2700"]
    assert isinstance(found, SonicBox)
    return found


def shown(lab: SimulatedLab, named: str) -> str:
    return showing.SHOW[named](box(lab).chassis)


def recording(name: str) -> list[str]:
    """Without its command and source."""
    return (ROOT / f"{name}.txt").read_text(encoding="utf-8").splitlines()[2:]


def table(lines: list[str]) -> tuple[int, list[list[str]]]:
    """Where the first table begins, and its rows, cut at its ruler."""
    at = next(n for n, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line))
    spans = [match.span() for match in re.finditer("-+", lines[at])]
    rows = []
    for line in [lines[at - 1], *lines[at + 1 :]]:
        if not line.strip() or line.startswith("-"):
            break
        rows.append([line[begin:end].strip() for begin, end in spans])
    return at - 1, rows


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_printed_byte_for_byte_as_recorded(name: str) -> None:
    lines = recording(name)
    begins, (heads, *rows) = table(lines)
    printed = tabulated(heads, rows, right=name.partition(".")[0] not in LEFT)
    assert printed.splitlines() == lines[begins : begins + len(rows) + 2]


@pytest.mark.parametrize("name", [name for name in TABLES if name != "lldp.dx010"])
def test_a_display_has_the_columns_that_are_recorded(lab: SimulatedLab, name: str) -> None:
    _, (recorded, *_) = table(recording(name))
    _, (printed, *_) = table(shown(lab, TABLES[name]).splitlines())
    assert printed == recorded


def test_drops_are_shown_as_recorded_but_for_counters_of_reasons(lab: SimulatedLab) -> None:
    file = ROOT.parent / "sonic-face" / "drop-counts.txt"
    lines = file.read_text(encoding="utf-8").splitlines()[2:]
    _, (heads, *rows) = table(lines)
    assert tabulated(heads, rows).splitlines() == lines[:5]
    chassis = box(lab).chassis
    chassis.write("PORT", {"Ethernet8": chassis.db.entry("PORT", "Ethernet8") | DOWN})
    text = shown(lab, "dropcounters counts")
    _, (printed, *ports) = table(text.splitlines())
    assert printed == heads[:6]
    assert [row[:2] for row in ports] == [
        ["Ethernet0", "U"],
        ["Ethernet4", "U"],
        ["Ethernet8", "X"],
    ]
    assert {cell for row in ports for cell in row[2:]} == {"0"}
    assert text.endswith("\n\n")


def counted(lab: SimulatedLab) -> tuple[int, int]:
    """Packets that the port and its queues have sent, by their displays."""
    _, (heads, row, *_) = table(shown(lab, "interfaces counters").splitlines())
    port = int(row[heads.index("TX_OK")].replace(",", ""))
    queues = box(lab).chassis.statistics.queues("Ethernet0")
    return port, sum(each.forwarded_packets for each in queues)


def test_counters_are_of_the_last_poll_and_polls_are_as_configured(lab: SimulatedLab) -> None:
    lab.network.start_udp(
        UdpRequest(device="A", interface="eth0", destination="192.168.10.10", tos=0,
                   rate_bits_per_s=1e8, datagram_bytes=1000)
    )  # fmt: skip
    lab.advance(900_000_000)
    assert counted(lab) == (0, 0)
    lab.advance(200_000_000)
    first = counted(lab)
    assert min(first) > 0
    chassis = box(lab).chassis
    entry = chassis.db.tables["FLEX_COUNTER_TABLE"]["QUEUE"]
    chassis.change(lambda: entry.update(POLL_INTERVAL="10000"))
    lab.advance(5_000_000_000)
    port, queues = counted(lab)
    assert port > 4 * first[0]
    assert queues < 2 * first[1]
    lab.advance(4_000_000_000)
    assert counted(lab)[1] > 6 * first[1]


def test_only_a_group_that_its_class_reaches_and_that_has_headroom_pauses(
    lab: SimulatedLab,
) -> None:
    chassis, network = box(lab).chassis, lab.network.switch("SN2700")
    chassis.change(lambda: chassis.db.load("qos reload"))
    assert network.pfc("Ethernet0") == ("on", frozenset({3, 4}))
    entry = chassis.db.tables["PORT_QOS_MAP"]["Ethernet0"]
    chassis.change(lambda: entry.update(pfc_enable="3,5"))  # TC 5 goes into PG 0 (AZURE)
    assert network.pfc("Ethernet0") == ("on", frozenset({3}))
    assert chassis.db.tables["BUFFER_PG"]["Ethernet0|5"] == {
        "profile": chassis.cabled["Ethernet0"].profile
    }
    chassis.change(lambda: chassis.db.tables["BUFFER_PG"].pop("Ethernet0|3-4") and None)
    assert network.pfc("Ethernet0") == ("on", frozenset({3}))  # buffermgrd has made `3`, too


def test_a_reboot_brings_what_was_saved(lab: SimulatedLab) -> None:
    chassis = box(lab).chassis
    chassis.change(lambda: chassis.db.load("qos reload"))
    lab.inject({"kind": "reboot", "device": "SN2700", "seconds": 1})
    lab.advance(2_000_000_000)
    assert chassis.db.tables["PORT_QOS_MAP"] == {}


# -- watermarks ------------------------------------------------------------------------------------


@pytest.fixture
def held(lab: SimulatedLab) -> SonicPeaks:
    return box(lab).chassis.watermarks


@pytest.mark.parametrize("name", HELD)
def test_a_display_of_watermarks_is_as_recorded(lab: SimulatedLab, name: str) -> None:
    lines = recording(name)
    begins, (heads, *rows) = table(lines)
    assert tabulated(heads, rows).splitlines() == lines[begins : begins + len(rows) + 2]
    printed = shown(lab, HELD[name]).splitlines()
    assert printed[0] == lines[0]
    recorded = [head for head in heads if head not in ("UC8", "UC9")]
    assert table(printed)[1][0] == recorded


def loaded(lab: SimulatedLab, ms: int) -> None:
    """Both hosts send more than the line takes, for so long."""
    flows = [
        lab.network.start_udp(
            UdpRequest(device=host, interface="eth0", destination="192.168.10.10", tos=12,
                       rate_bits_per_s=8e9, datagram_bytes=1000)
        )
        for host in ("A", "B")
    ]  # fmt: skip
    lab.advance(ms * 1_000_000)
    for flow in flows:
        flow.stop()
    lab.advance(200_000_000)


def cell(lab: SimulatedLab, kind: str, port: str, column: str) -> str:
    _, (heads, *rows) = table(showing.watermark(box(lab).chassis, kind).splitlines())
    return next(row[heads.index(column)] for row in rows if row[0] == port)


def called(lab: SimulatedLab, line: str) -> str:
    """What a program prints for root. Raises Refused, NotEmulated."""
    program, *words = line.split()
    process: Any = SimpleNamespace(user="root")
    call = Call(host=box(lab), process=process, argv=(program, *words))
    return str(box(lab).programs()[program](call))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("config qos reload more", "Got unexpected extra argument (more)"),
        ("counterpoll show more", "Got unexpected extra argument (more)"),
        ("counterpoll queue enable 500", "Got unexpected extra argument (500)"),
        ("pfcwd interval 200 300", "Got unexpected extra argument (300)"),
        ("show version more", "Got unexpected extra argument (more)"),
        ("sonic-clear queue watermark unicast 3", "Got unexpected extra argument (3)"),
        ("counterpoll queue interval", "Missing argument."),
        ("config interface mtu Ethernet0", "Missing argument."),
    ],
)
def test_words_that_are_too_many_or_too_few_are_told_from_each_other(
    lab: SimulatedLab, line: str, problem: str
) -> None:
    with pytest.raises(Refused) as refused:
        called(lab, line)
    (path,) = re.findall(r"Usage: (.*) \[OPTIONS\]", str(refused.value))
    assert line.startswith(path)
    assert path.split()[-1] not in ("more", "300", "Ethernet0")
    assert str(refused.value).endswith(f"\nError: {problem}\n")


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ("-gmin 4000000", "gmin (4000000) and gmax (2097152). gmin should be smaller than gmax"),
        ("-ymin 300 -ymax 200", "ymin (300) and ymax (200). ymin should be smaller than ymax"),
        ("-gdrop 101 -gmin 9000000", "gdrop (101). gdrop should be an integer between 0 and 100."),
    ],
)
@pytest.mark.parametrize("program", ["ecnconfig -p", "config ecn -profile"])
def test_a_curve_that_cannot_be_is_refused_and_not_kept(
    lab: SimulatedLab, program: str, told: str, problem: str
) -> None:
    called(lab, "config qos reload")
    before = called(lab, "show ecn")
    with pytest.raises(Refused) as refused:
        called(lab, f"{program} AZURE_LOSSLESS {told}")
    assert str(refused.value).startswith(f"Invalid {problem}\n")
    assert called(lab, "show ecn") == before


@pytest.mark.parametrize(
    "line",
    [
        "sonic-db-cli CONFIG_DB HSET PFC_WD|Ethernet0 detection_time soon",
        "sonic-db-cli CONFIG_DB HSET SCHEDULER|scheduler.0 weight much",
        "sonic-db-cli CONFIG_DB HDEL WRED_PROFILE|AZURE_LOSSLESS green_max_threshold",
        # above its green_max_threshold
        "sonic-db-cli CONFIG_DB HSET WRED_PROFILE|AZURE_LOSSLESS green_min_threshold 4000000",
    ],
)
def test_what_orchagent_can_make_nothing_of_leaves_the_ports_as_they_were(
    lab: SimulatedLab, line: str
) -> None:
    network = lab.network.switch("SN2700")
    called(lab, "config qos reload")
    before = [(network.schedule(p), network.wred(p), network.guards.get(p)) for p in PORTS]
    called(lab, line)
    now = [(network.schedule(p), network.wred(p), network.guards.get(p)) for p in PORTS]
    assert now == before
    assert "Ethernet0:3" in called(lab, "pfcwd show stats -e Ethernet0:3")


@pytest.mark.parametrize(
    ("program", "line"),
    [
        *(("show", "lldp neighbors"), ("show", "interfaces transceiver eeprom")),
        *(("sonic-clear", "counters"), ("sonic-clear", "queuec"), ("ecnconfig", "-q 3,4")),
    ],
)
def test_what_only_a_real_box_does_is_no_unknown_command(
    lab: SimulatedLab, program: str, line: str
) -> None:
    with pytest.raises(NotEmulated):
        called(lab, f"{program} {line}")


def test_a_watermark_is_the_exact_peak_and_as_old_as_the_last_poll(
    lab: SimulatedLab, held: SonicPeaks
) -> None:
    chassis, network = box(lab).chassis, lab.network.switch("SN2700")
    chassis.change(lambda: chassis.db.load("qos reload"))
    loaded(lab, 5)
    assert cell(lab, "q_shared_uni", "Ethernet0", "UC3") == "N/A"
    peak = network.queue_counters("Ethernet0")[3].peak_cells * CELL_BYTES
    group = network.group_counters("Ethernet4")[3]
    lab.advance(60_000_000_000)
    assert cell(lab, "q_shared_uni", "Ethernet0", "UC3") == str(peak) != "0"
    assert cell(lab, "pg_shared", "Ethernet4", "PG3") == str(group.peak_shared_cells * CELL_BYTES)
    assert cell(lab, "buffer_pool", POOL, "Bytes") != "0"


def test_what_was_held_before_it_is_cleared_comes_with_the_next_poll(
    lab: SimulatedLab, held: SonicPeaks
) -> None:
    chassis = box(lab).chassis
    chassis.change(lambda: chassis.db.load("qos reload"))
    loaded(lab, 5)
    held.clear("q_shared_uni")
    assert cell(lab, "q_shared_uni", "Ethernet0", "UC3") == "0"
    lab.advance(60_000_000_000)
    stale = cell(lab, "q_shared_uni", "Ethernet0", "UC3")
    assert int(stale) > 0
    held.clear("q_shared_uni")
    lab.advance(60_000_000_000)
    assert cell(lab, "q_shared_uni", "Ethernet0", "UC3") == "0"


def test_polls_are_as_configured_and_a_reboot_forgets_all(
    lab: SimulatedLab, held: SonicPeaks
) -> None:
    chassis = box(lab).chassis
    entry = chassis.db.tables["FLEX_COUNTER_TABLE"]["PG_WATERMARK"]
    chassis.change(lambda: entry.update(POLL_INTERVAL="1000"))
    lab.advance(1_500_000_000)
    assert cell(lab, "pg_headroom", "Ethernet4", "PG3") == "0"
    assert cell(lab, "q_shared_uni", "Ethernet0", "UC3") == "N/A"
    lab.inject({"kind": "reboot", "device": "SN2700", "seconds": 1})
    assert cell(lab, "pg_headroom", "Ethernet4", "PG3") == "N/A"


def test_a_watchdog_takes_every_time_that_the_program_takes(lab: SimulatedLab) -> None:
    called(lab, "config qos reload")
    called(lab, "sonic-db-cli CONFIG_DB HSET PORT_QOS_MAP|Ethernet0 pfcwd_sw_enable 3,")
    called(lab, "pfcwd start --action drop Ethernet0 100 -r 60000")
    guard = lab.network.switch("SN2700").guards.get("Ethernet0")
    assert isinstance(guard, PfcWatchdog)
    assert (guard.detect_ps, guard.quiet_ps) == (100 * 10**9, 60_000 * 10**9)
    assert guard.priorities == {3}


@pytest.mark.parametrize(
    ("action", "drops", "goes_on"),
    [("drop", True, False), ("forward", False, True), ("alert", False, False)],
)
def test_a_storm_is_met_by_the_action_that_the_watchdog_was_started_with(
    lab: SimulatedLab, action: str, *, drops: bool, goes_on: bool
) -> None:
    called(lab, "config qos reload")
    called(lab, f"pfcwd start --action {action} Ethernet0 100 -r 200")
    for name in "AC":
        nic = lab.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    lab.network.start_udp(
        UdpRequest(device="A", interface="eth0", destination="192.168.10.10", tos=3 << 2,
                   rate_bits_per_s=1e7, datagram_bytes=1000)
    )  # fmt: skip
    ms, queue = 10**6, lab.network.switch("SN2700").queue_counters
    stop = lab.timeline.now_ns + 600 * ms
    lab.network.nic("C", "eth0").flow_control.storm(frozenset({3}), period_us=100, stop_ns=stop)
    lab.advance(300 * ms)
    before = queue("Ethernet0")[3]
    lab.advance(200 * ms)
    after = queue("Ethernet0")[3]
    row = called(lab, "pfcwd show stats -e Ethernet0:3").splitlines()[-1].split()
    assert row[:3] == ["Ethernet0:3", "stormed", "1/0"]
    assert (after.dropped_packets > before.dropped_packets) == drops
    assert (after.forwarded_packets > before.forwarded_packets) == goes_on
    assert (row[3] != "0/0") == drops
