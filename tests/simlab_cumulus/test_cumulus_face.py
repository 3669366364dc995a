"""The emulated Cumulus switch prints trees and says no as recorded, and applies revisions."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "switch_cli"))

from silent_hosts import silence, star

from labtests.network import UdpRequest
from labtests.simlab.cumulus import CumulusBox
from labtests.simlab.cumulus.nv import nv
from labtests.simlab.face import Announced
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import NotEmulated, Refused

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
PORTS = ("swp1", "swp2", "swp3")


class Process:
    user = "cumulus"


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> SimulatedLab:
    silence(monkeypatch)
    hosts = {"C": PORTS[0], "A": PORTS[1], "B": PORTS[2]}
    return SimulatedLab(star("SN2700", "cumulus", PORTS, hosts), seed=1)


def box(lab: SimulatedLab) -> CumulusBox:
    found = lab.devices["SN2700"]
    assert isinstance(found, CumulusBox)
    return found


def typed(lab: SimulatedLab, line: str, user: str = "cumulus") -> str:
    process: Any = Process()
    process.user = user
    return nv(box(lab).chassis, Call(host=box(lab), process=process, argv=tuple(line.split())))


def told(lab: SimulatedLab, path: str) -> Any:
    return json.loads(typed(lab, f"nv show {path} -o json"))


def recording(name: str) -> list[str]:
    """Without its command and source."""
    return (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()[2:]


def test_what_is_there_by_itself_is_as_recorded(lab: SimulatedLab) -> None:
    typed(lab, "nv unset qos traffic-pool")
    typed(lab, "nv config apply -y")
    recorded = json.loads("\n".join(recording("cumulus/qos.installed")))
    since_5_6 = {"pfc-watchdog": {"polling-interval": 100, "robustness": 3}}
    assert told(lab, "qos --applied") == recorded | since_5_6
    assert told(lab, "qos congestion-control --applied") == recorded["congestion-control"]


def test_a_neighbour_s_mac_address_has_colons(lab: SimulatedLab) -> None:
    ((name, heard),) = told(lab, "interface lldp")["swp1"]["lldp"]["neighbor"].items()
    port = heard["port"]["name"]
    assert re.fullmatch("(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", port)
    assert re.search(rf" {name} +{port}  swp", typed(lab, "nv show interface"))


def test_a_link_has_the_fields_that_are_recorded(lab: SimulatedLab) -> None:
    recorded = json.loads("\n".join(recording("cumulus/link.counted")))
    link = told(lab, "interface swp1 link")
    assert recorded.keys() <= link.keys()
    assert recorded["stats"].keys() == link["stats"].keys()
    assert {name: type(each) for name, each in recorded["stats"].items()} == {
        name: type(each) for name, each in link["stats"].items()
    }


def test_counters_have_the_columns_of_the_recorded_tables(lab: SimulatedLab) -> None:
    shown = told(lab, "interface swp1 counters qos")
    heads = [re.split(r"\s{2,}", line.strip()) for line in recording("cumulus/counters.table")]
    groups = {"priority-group": "ingress-buffer-stats", "traffic-class": "egress-queue-stats"}
    for first, kind in groups.items():
        (columns,) = [head[1:] for head in heads if head[0] == first]
        assert set(columns) <= set(shown[kind]["3"])
    (columns,) = [head[1:] for head in heads if head[0] == "switch-priority"]
    assert set(shown["pfc-stats"]["3"]) == {c for c in columns if c.endswith("frames")}
    assert {"ecn-marked-packets", "mc-buffer-discards", "pause-frames"} == set(
        shown["port-stats"]["tx-stats"]
    )


@pytest.mark.parametrize("name", ["scheduler", "scheduler-class", "queues", "mapping", "pfc-off"])
def test_tables_of_a_port_are_as_recorded(lab: SimulatedLab, name: str) -> None:
    file = TRANSCRIPTS / "cumulus-face" / f"shown-{name}.txt"
    command = file.read_text(encoding="utf-8").splitlines()[0].removeprefix("$ ")
    shown = [line.rstrip() for line in typed(lab, command).splitlines()]
    assert shown == [line.rstrip() for line in recording(f"cumulus-face/shown-{name}")]


def test_the_tables_of_counters_have_the_recorded_heads(lab: SimulatedLab) -> None:
    """Durations of pauses are not there: their unit is in no document."""
    shown = [
        line.split() for line in typed(lab, "nv show interface swp1 counters qos").splitlines()
    ]
    for line in recording("cumulus/counters.table"):
        words = [word for word in line.split() if not word.endswith("-duration")]
        known = [[w for w in each if w != "ecn-marked-frames"] for each in shown]
        assert words in known or set(line) <= set("- =.") or "0" in words, line


def test_a_profile_that_is_applied_is_in_force_at_its_port(lab: SimulatedLab) -> None:
    for line in ("qos pfc gold switch-priority 3", "interface swp1 qos pfc profile gold"):
        typed(lab, f"nv set {line}")
    assert told(lab, "interface swp1 qos pfc") == {"rx": "disable", "tx": "disable"}
    typed(lab, "nv config apply -y")
    shown = {"cable-length": 10, "rx": "enable", "switch-priority": {"3": {}}, "tx": "enable"}
    assert told(lab, "interface swp1 qos pfc") == shown == told(lab, "qos pfc gold")
    assert typed(lab, "nv show interface swp1 qos pfc").splitlines()[-1].split() == [
        *("[switch-priority]", "3")
    ]
    recorded = recording("cumulus/port.qos-table")
    mine = typed(lab, "nv show interface swp1 qos").splitlines()
    assert [line.split() for line in mine[2:]] == [["pfc"], ["profile", "gold"]]
    assert mine[0].split() == recorded[0].split()
    assert told(lab, "interface swp1 qos congestion-control traffic-class 0 ecn") == "enable"


def test_what_people_see_of_the_watchdog_has_the_lines_of_the_guide(lab: SimulatedLab) -> None:
    for line in ("qos pfc default-global switch-priority 3", "interface swp1-2 qos pfc-watchdog"):
        typed(lab, f"nv set {line}")
    typed(lab, "nv config apply -y")
    guide = [line.split() for line in recording("cumulus/watchdog.guide")]
    heads = [words for words in guide if words and set(words[0]) != set("=")]
    shown = typed(lab, "nv show interface swp1 qos pfc-watchdog").splitlines()
    mine = [line.split() for line in shown if line and "=" not in line]
    rulers = [n for n, words in enumerate(heads) if set(words[0]) == {"-"}]
    assert [each for n, each in enumerate(mine) if n not in rulers] == [
        ["0" if n > 5 and place == 2 else word.replace("DEADLOCK", "OK")
         for place, word in enumerate(each)]
        for n, each in enumerate(heads) if n not in rulers
    ]  # fmt: skip
    assert told(lab, "interface swp1 qos pfc-watchdog status 3") == {
        "deadlock-count": 0,
        "status": "OK",
    }
    words = typed(lab, "nv show qos pfc-watchdog").split()
    assert words[words.index("polling-interval") :] == [
        *("polling-interval", "0:00:00.100000", "0:00:00.100000", "robustness", "3", "3")
    ]


def test_interfaces_are_listed_under_the_heads_of_the_guide(
    lab: SimulatedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Announced(
        chassis="", port_id_type="Interface name", port_id="eth0", description="", name="C"
    )
    monkeypatch.setattr(type(box(lab).chassis), "lldp_neighbour", lambda self, port: heard)
    shown = typed(lab, "nv show interface").splitlines()
    recorded = recording("cumulus-face/interfaces")
    assert re.split(r"\s{2,}", shown[0]) == re.split(r"\s{2,}", recorded[0])
    rows = [re.split(r"\s{2,}", line)[:6] for line in shown[2:]]
    assert [row[:4] for row in rows] == [[f"+ {port}", "9216", "10G", "up"] for port in PORTS]


def test_a_storm_is_a_deadlock_until_it_is_over_and_counts_until_it_is_cleared(
    lab: SimulatedLab,
) -> None:
    for line in (
        *("qos pfc default-global switch-priority 3", "qos mapping default-global trust l3"),
        *("interface swp1 qos pfc-watchdog", "qos pfc-watchdog robustness 1"),
    ):
        typed(lab, f"nv set {line}")
    typed(lab, "nv config apply -y")
    for name in "AC":
        nic = lab.network.nic(name, "eth0")
        nic.set_trust("dscp")
        nic.set_pfc(frozenset({3}))
    lab.network.start_udp(
        UdpRequest(device="A", interface="eth0", destination="192.168.10.10", tos=24 << 2,
                   rate_bits_per_s=1e9, datagram_bytes=1000)
    )  # fmt: skip
    ms, status = 10**6, "interface swp1 qos pfc-watchdog status"
    stop = lab.timeline.now_ns + 400 * ms
    lab.network.nic("C", "eth0").flow_control.storm(frozenset({3}), period_us=100, stop_ns=stop)
    lab.advance(300 * ms)
    assert told(lab, status)["3"] == {"deadlock-count": 1, "status": "DEADLOCK"}
    assert {each["status"] for n, each in told(lab, status).items() if n != "3"} == {"OK"}
    lab.advance(400 * ms)
    assert told(lab, status)["3"] == {"deadlock-count": 1, "status": "OK"}
    cleared = typed(lab, "nv action clear interface swp1 qos pfc-watchdog deadlock-count")
    assert cleared == "Action succeeded\n"
    assert told(lab, status)["3"] == {"deadlock-count": 0, "status": "OK"}


@pytest.mark.parametrize(
    "line",
    [
        *("nv set bridge domain br_default", "nv set qos link-pause mine tx enable"),
        *("nv set interface swp1 qos remark profile mine", "nv list-commands"),
        *("nv action clear interface swp1 counters", "nv show qos", "nv config show"),
        *("nv show interface swp1 qos buffer", "nv show interface swp1 qos roce status"),
        *("nv show interface swp1 qos roce counters", "nv show interface swp1 qos roce"),
    ],
)
def test_what_only_a_real_switch_does_is_no_invalid_command(lab: SimulatedLab, line: str) -> None:
    with pytest.raises(NotEmulated):
        typed(lab, line)


def test_revisions_are_listed_in_the_columns_that_are_recorded(lab: SimulatedLab) -> None:
    first = typed(lab, "nv config revision").splitlines()
    recorded = recording("cumulus-face/revision")
    assert first[:2] == [line.rstrip() for line in recorded[:2]]
    assert (
        re.sub(r"\d", "0", first[2])[:109]
        == re.sub(r"\d", "0", recorded[2].replace("applied_and_saved", "applied          "))[:109]
    )


def test_what_is_pending_is_not_in_force_until_it_is_applied(lab: SimulatedLab) -> None:
    network = lab.network.switch("SN2700")
    assert typed(lab, "nv set qos pfc gold switch-priority 3,5-6") == "created [rev_id: 2]\n"
    assert typed(lab, "nv set interface swp1-2 qos pfc profile gold") == ""
    assert network.pfc("swp1") == ("off", frozenset())
    assert "gold" not in told(lab, "qos pfc --applied")
    assert "gold" in told(lab, "qos pfc --pending")
    assert typed(lab, "nv config diff -o commands").splitlines() == [
        "nv set qos pfc gold switch-priority 3",
        "nv set qos pfc gold switch-priority 5",
        "nv set qos pfc gold switch-priority 6",
        "nv set interface swp1 qos pfc profile gold",
        "nv set interface swp2 qos pfc profile gold",
    ]
    assert typed(lab, "nv config diff -o commands", user="somebody") == ""
    assert typed(lab, "nv config apply -y") == "applied [rev_id: 2]\n"
    assert network.pfc("swp1") == ("on", frozenset({3, 5, 6}))
    assert network.pfc("swp3") == ("off", frozenset())
    typed(lab, "nv unset interface swp1 qos pfc")
    assert typed(lab, "nv config diff -o commands") == ("nv unset interface swp1 qos pfc profile\n")
    typed(lab, "nv config detach")
    assert typed(lab, "nv config apply 1 -y") == "applied [rev_id: 4]\n"
    assert network.pfc("swp1") == ("off", frozenset())


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            ("qos pfc gold tx maybe",),
            "qos.pfc.gold.tx: 'maybe' is not one of ['enable', 'disable']",
        ),
        (("interface swp1 link mtu 9999",), "mtu: 9999 is greater than the maximum of 9216"),
        (("interface swp1 link mtu long",), "interface.swp1.link.mtu: 'long' is not of type"),
        (("interface swp1 qos pfc profile none",), "pfc profile none is not there"),
        (("qos egress-scheduler default-global traffic-class 0-7 bw-percent 13",), "104 percent"),
        (("qos traffic-pool default-lossy memory-percent 60",), "all pools is more than 100"),
    ],
)
def test_what_cannot_be_is_refused_as_recorded_and_stays_pending(
    lab: SimulatedLab, lines: tuple[str, ...], says: str
) -> None:
    before = told(lab, "qos --applied")
    for line in lines:
        typed(lab, f"nv set {line}")
    with pytest.raises(Refused) as refused:
        typed(lab, "nv config apply -y")
    first, *rest = refused.value.printed.splitlines()
    recorded = recording("cumulus-face/invalid")
    assert re.sub(r"\d", "0", first) == re.sub(r"\d", "0", recorded[0])
    assert all(line.startswith("  ") for line in (*rest, recorded[1]))
    assert says in refused.value.printed
    assert told(lab, "qos --applied") == before
    assert typed(lab, "nv config diff -o commands") != ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nv set qos frobnication on", "Error: Invalid Command"),
        ("nv set qos pfc gold switch-priority 8", "Error: Invalid Command"),
        ("nv set interface Ethernet1 link mtu 9000", "'Ethernet1' is not a 'interface-name'"),
        ("nv show interface swp9 link -o json", "Error: The requested item does not exist."),
        ("nv show qos frobnication --applied -o json", "does not exist"),
        ("nv config apply 99 -y", "Error: Unknown revision: 99"),
        ("nv config apply -y", "no pending revision"),
        ("nv frobnicate", "Error: Invalid Command"),
    ],
)
def test_what_there_is_not_is_refused(lab: SimulatedLab, line: str, says: str) -> None:
    with pytest.raises(Refused, match=re.escape(says)):
        typed(lab, line)
    with pytest.raises(NotEmulated):
        typed(lab, "nv show qos")


def test_profiles_do_what_the_guide_says_of_them(lab: SimulatedLab) -> None:
    network = lab.network.switch("SN2700")
    assert network.dscp_map("swp1") == (0,) * 64  # trusts tags, and frames have none
    for line in (
        "qos mapping default-global trust l3",
        "qos mapping default-global dscp 10,21,36 switch-priority 0",
        "qos mapping customports trust port",
        "qos mapping customports port-default-sp 4",
        "interface swp2 qos mapping profile customports",
        "qos congestion-control my-red-profile traffic-class 1,2 min-threshold 40000",
        "qos congestion-control my-red-profile traffic-class 1,2 red enable",
        "qos congestion-control default-global traffic-class 0 ecn disable",
        "interface swp1 qos congestion-control profile my-red-profile",
        "qos egress-scheduler list2 traffic-class 2,5 bw-percent 50",
        "qos egress-scheduler list2 traffic-class 6 mode strict",
        "interface swp1 qos egress-scheduler profile list2",
        "qos egress-queue-mapping default-global switch-priority 2 traffic-class 7",
    ):
        typed(lab, f"nv set {line}")
    typed(lab, "nv config apply -y")
    assert [network.dscp_map("swp1")[dscp] for dscp in (0, 10, 21, 36, 63)] == [0, 0, 0, 0, 7]
    assert network.dscp_map("swp2") == (4,) * 64
    first, second = network.wred("swp1")[0], network.wred("swp1")[1]
    assert first is None
    assert second is not None
    assert (second.low_limit, second.ecn, second.mark_leaving) == (40_000 // 208, True, False)
    assert network.wred("swp2") == (None,) * 8
    served = network.schedule("swp1").queues
    assert (served[2], served[5], served[6], served[0]) == (
        *[("1", 5000)] * 2,
        ("sp", 0),
        ("1", 1),
    )
    assert network.dot1p_lp == (0, 1, 7, 3, 4, 5, 6, 7)


def test_a_reboot_brings_what_was_saved(lab: SimulatedLab) -> None:
    def applied(line: str) -> None:
        typed(lab, f"nv set {line}")
        typed(lab, "nv config apply -y")

    applied("qos pfc saved switch-priority 3")
    assert typed(lab, "nv config save") == "saved [rev_id: applied]\n"
    applied("qos pfc lost switch-priority 4")
    typed(lab, "nv set qos pfc pending switch-priority 5")
    lab.inject({"kind": "reboot", "device": "SN2700", "seconds": 1})
    lab.advance(2_000_000_000)
    assert set(told(lab, "qos pfc --pending")) == {"saved"}


def test_counters_are_of_the_last_second(lab: SimulatedLab) -> None:
    lab.network.start_udp(
        UdpRequest(device="A", interface="eth0", destination="192.168.10.10", tos=0,
                   rate_bits_per_s=1e8, datagram_bytes=1000)
    )  # fmt: skip

    def sent() -> tuple[int, int]:
        counted = told(lab, "interface swp1 counters qos")["egress-queue-stats"]
        port = told(lab, "interface swp1 link")["stats"]["out-pkts"]
        return port, sum(each["tx-frames"] for each in counted.values())

    lab.advance(900_000_000)
    assert sent() == (0, 0)
    lab.advance(200_000_000)
    port, queues = sent()
    assert (port, queues > 0) == (0, True)
    lab.advance(1_000_000_000)
    assert sent()[0] > 0


# -- RoCE mode -------------------------------------------------------------------------------------


def in_roce_mode(lab: SimulatedLab, *lines: str) -> None:
    for line in ("unset qos traffic-pool", "set qos roce", *lines):
        typed(lab, f"nv {line}")
    typed(lab, "nv config apply -y")


def test_roce_mode_is_shown_as_recorded(lab: SimulatedLab) -> None:
    """But for the head, which the recording has a blank too far to the left."""
    in_roce_mode(lab)
    shown = typed(lab, "nv show qos roce").splitlines()
    recorded = [line.rstrip() for line in recording("cumulus/roce.lossless")]
    assert [line.rstrip() for line in shown[1:] if line] == [line for line in recorded[1:] if line]
    assert shown[0].split() == recorded[0].split()


def test_roce_mode_of_a_port_is_shown_as_recorded(lab: SimulatedLab) -> None:
    """But for what the chip makes of thresholds, sizes, and what is held."""
    in_roce_mode(lab)
    shown = typed(lab, "nv show interface swp1 qos roce status").splitlines()
    recorded = recording("cumulus/roce-status.swp16")
    for mine, theirs in zip(shown, recorded, strict=True):
        if "DYNAMIC" in mine:
            assert mine.split()[:6] == theirs.split()[:6]
        elif "min-threshold" not in mine:
            assert mine.rstrip() == theirs.rstrip()
    assert "146.45 KB" in shown[6]  # 721 cells of 208 bytes


def test_roce_counters_have_the_lines_of_the_recording(lab: SimulatedLab) -> None:
    in_roce_mode(lab)
    shown = typed(lab, "nv show interface swp1 qos roce counters").splitlines()
    for mine, theirs in zip(shown, recording("cumulus/roce-counters.swp16"), strict=True):
        assert (mine[:29], mine[54:]) == (theirs[:29], theirs[54:])


def test_roce_mode_is_the_default_and_profiles_of_ports_go_before_it(lab: SimulatedLab) -> None:
    network = lab.network.switch("SN2700")
    in_roce_mode(lab, "set qos pfc none tx disable", "set interface swp2 qos pfc profile none")
    assert network.pfc("swp1") == ("on", frozenset({3}))
    assert network.pfc("swp2") == ("off", frozenset())
    assert "pfc-priority      3" in typed(lab, "nv show interface swp1 qos roce status")
    assert "pfc-priority      -" in typed(lab, "nv show interface swp2 qos roce status")
    typed(lab, "nv set qos roce mode lossy")
    typed(lab, "nv config apply -y")
    assert network.pfc("swp1") == ("off", frozenset())
    lossy = typed(lab, "nv show qos roce")
    assert "pfc-priority      -" in lossy
    assert "roce-reserved" not in lossy
    typed(lab, "nv unset qos roce")
    typed(lab, "nv config apply -y")
    assert network.dot1p_lp == tuple(range(8))


def test_what_is_lossless_can_be_another_priority_as_in_the_guide(lab: SimulatedLab) -> None:
    in_roce_mode(lab, "set qos pfc default-global switch-priority 2")
    assert lab.network.switch("SN2700").pfc("swp1") == ("on", frozenset({2}))
    typed(lab, "nv set qos roce mode lossy")
    with pytest.raises(Refused) as refused:
        typed(lab, "nv config apply -y")
    assert "mode lossy" in refused.value.printed


def test_roce_counters_and_buffers_move_with_packets(lab: SimulatedLab) -> None:
    in_roce_mode(lab)
    for name in "ABC":
        lab.network.nic(name, "eth0").set_trust("dscp")
        lab.network.nic(name, "eth0").set_pfc(frozenset({3}))
    for name in "AB":
        lab.network.start_udp(
            UdpRequest(device=name, interface="eth0", destination="192.168.10.10", tos=26 << 2,
                       rate_bits_per_s=9e9, datagram_bytes=1000)
        )  # fmt: skip
    lab.advance(3_000_000_000)

    def value(port: str, path: str) -> str:
        text = typed(lab, f"nv show interface {port} qos roce counters")
        found: list[str] = []
        for line in text.split(f"  {path.split()[0]}\n")[1].splitlines():
            if line.split()[0] == path.split()[1]:
                found.append(line[29:52].strip())
        return found[0]

    counted = told(lab, "interface swp1 counters qos")
    sent = counted["egress-queue-stats"]["3"]["tx-frames"]
    assert (sent > 10_000, value("swp1", "tx-roce-stats roce-packets")) == (True, str(sent))
    assert value("swp1", "tx-roce-stats unicast-no-buffer-discard") == "0"
    paused = told(lab, "interface swp2 counters qos")["pfc-stats"]["3"]["tx-pause-frames"]
    assert (paused > 0, value("swp2", "tx-pfc-stats pause-packets")) == (True, str(paused))
    assert value("swp2", "rx-roce-stats pg-max-usage").endswith(("KB", "MB"))
    assert value("swp2", "rx-non-roce-stats pg-max-usage") == "0 Bytes"
    rows = typed(lab, "nv show interface swp1 qos buffer egress-traffic-class").splitlines()
    assert rows[5].split()[:3] == ["3", "13", "DYNAMIC"]
    assert float(rows[5].split()[7]) > 0
    groups = typed(lab, "nv show interface swp2 qos buffer ingress-priority-group").splitlines()
    assert groups[6].split()[:3] == ["3", "1", "DYNAMIC"]
    assert "Lossless" in groups[6]
    assert "Lossy" in groups[5]


def test_buffers_of_queues_are_shown_as_recorded(lab: SimulatedLab) -> None:
    """But for what is reserved, and the queue of multicasts."""
    shown = typed(lab, "nv show interface swp1 qos buffer egress-traffic-class").splitlines()
    recorded = recording("cumulus-face/buffer-egress")[:-1]
    for mine, theirs in zip(shown, recorded, strict=True):
        assert mine.rstrip() == theirs.rstrip().replace("1008 Bytes", "0 Bytes   ")


def test_buffers_of_groups_have_the_heads_and_cells_that_are_recorded(lab: SimulatedLab) -> None:
    shown = typed(lab, "nv show interface swp1 qos buffer ingress-priority-group").splitlines()
    recorded = recording("cumulus/counters.buffer-table")
    assert [line.split() for line in shown[:2]] == [line.split() for line in recorded[:2]]
    assert shown[3].split()[:8] == recorded[3].split()[:8]
    assert len(shown[3].split()) == len(recorded[3].split())
