"""Mistakes in case files have a place: file, line, column and what is wrong."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_case import SMALL, case

from labtests.__main__ import main
from labtests.core.errors import InventoryError


@pytest.mark.parametrize(
    ("line", "wrong", "problem"),
    [
        ("duration_ms: 2", "duration_ms: fast", "2:14: duration_ms: must be a number, not the"),
        ("duration_ms: 2", "duration_ms: 0", "2:14: duration_ms: must be greater than 0"),
        ("source: a,", "source: z,", '12:14: flows[0].source: "z" is not there: known: a, b, c'),
        ("target: c}", "target: a}", "source and target are the same host"),
        ("rate_gbit_per_s: 25, length_m: 5}", "rate_gbit_per_s: 25}", "delay_us or length_m"),
        (
            "rate_gbit_per_s: 25,",
            "rate_gbit_per_s: 9000,",
            "rate_gbit_per_s: must be at most 8000",
        ),
        ("switches: {s: }", "switches: {s: {memori: {}}}", "did you mean memory?"),
        ("source: a, target: c}", "source: a, target: c, kind: udp}", "a udp flow needs it"),
        ("{a: , b: , c: }", "{a: , b: , c: , d: }", "3:24: hosts.d: host d has no link"),
        (
            "{s: }",
            "{s: {routes: [{to: z, via: a}]}}",
            'switches.s.routes[0].to: "z" is neither a host',
        ),
        ("{s: }", "{s: {routes: [{to: c, via: t}]}}", 'routes[0].via: "t" is not there: known'),
        ("{s: }", "{s: {routes: [{to: c, via: a}]}}", "a is a host and forwards nothing to c"),
        (
            "flows:",
            "events: [{do: down, device: s}]\nflows:",
            "which port of s? add port: a or b or c",
        ),
        ("flows:", "events: [{do: down, device: a, every: 2}]\nflows:", "goes with lose, corrupt"),
        ("flows:", "events: [{do: up, device: s, port: z}]\nflows:", '"z" is not there: known: a'),
        ("flows:", "events: [{do: up, device: z}]\nflows:", 'events[0].device: "z" is not there'),
        ("flows:", "events: [{do: route, device: a}]\nflows:", "a is not a switch: hosts have no"),
        ("flows:", "events: [{do: route, device: s}]\nflows:", "a route needs `to`"),
        (
            "flows:",
            "events: [{do: down, device: a, at_us: 5, until_us: 5}]\nflows:",
            "until_us: must be later than at_us (5)",
        ),
        (
            "flows:",
            "tunnels: [{between: [s, a]}]\nflows:",
            'tunnels[0].between[1]: "a" is not a switch',
        ),
        ("switch: {pfc: [3]}", "switch: {dscp_dot1p: {64: 1}}", "dscp_dot1p"),
        ("target: c}", "target: c, ttl: 0}", "flows[0].ttl: must be at least 1"),
        ("{pfc: [3]}\nlinks", "{routes: [{to: c, via: a}]}\nlinks", "belong to one switch"),
        (
            "switch: {pfc: [3]}",
            "switch: {ports: {aa: {pfc: [3]}}}",
            '6:18: switch.ports.aa: "aa" is not there: did you mean a?',
        ),
        (
            "switches: {s: }",
            "switches: {s: {ports: {a: {ecn: [{queues: [3], low_bytes: 9, high_bytes: 8,"
            " probability: 1.0}]}}}}",
            "high_bytes: is less than low_bytes (9)",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {rate_limits: [{queues: [8], rate_gbit_per_s: 1}]}",
            "6:34: switch.rate_limits[0].queues[0]: must be at most 7",
        ),
        (
            "source: a, target: c}",
            "source: a, target: c, go_back: message, ack_every_packets: 4}",
            "go_back: message acknowledges whole messages",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {ecn: [{queues: [3], low_bytes: 0, high_bytes: 1, probability: 1, "
            "mark: leaving, poll_period_us: 1}]}",
            "6:106: switch.ecn[0].poll_period_us: a polled queue marks arriving packets",
        ),
        (
            "nic: {pfc: [3]}",
            "nic: {dcqcn: {cnp_polled: true, cnp_pacing: port}}",
            "nic.dcqcn.cnp_pacing: cnp_polled keeps its interval for each flow",
        ),
        (
            "nic: {pfc: [3]}",
            "nic: {dcqcn: {parameters: {rpg_hia_rate: 3}}}",
            "5:28: nic.dcqcn.parameters.rpg_hia_rate: no DCQCN parameter: did you mean "
            "rpg_hai_rate?",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {pfc: [3], memory: {total_bytes: 60000}}",
            "6:20: switch.memory: s: guaranteed cells and headroom take 98592 of 60000 bytes",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {pfc: [3], memory: {egress_shared_bytes: 1000}}",
            "switch.memory.egress_shared_bytes: says nothing without egress_alpha",
        ),
        (
            "switch: {pfc: [3]}",
            "switch: {memory: {groups: [{priorities: [3, 3], alpha: 1, xoff_bytes: 9}]}}",
            "switch.memory.groups[0].priorities: priority 3 is given twice",
        ),
        (
            "switches: {s: }",
            "switches: {s: {memory: {groups: [{priorities: [3], alpha: 1, xoff_bytes: 9}]}}}",
            "switches.s.memory.groups[0]: has alpha (dynamic) and xoff_bytes (static)",
        ),
    ],
)
def test_a_mistake_names_its_line_and_column(
    tmp_path: Path, line: str, wrong: str, problem: str
) -> None:
    with pytest.raises(InventoryError) as error:
        case(tmp_path, SMALL.replace(line, wrong, 1))
    assert any(problem in mistake for mistake in error.value.mistakes), error.value.mistakes
    assert all(re.search(r"case\.yaml:\d+:\d+: ", line) for line in error.value.mistakes)


def test_a_case_without_a_path_says_which(tmp_path: Path) -> None:
    text = SMALL.replace("{s: }", "{s: , t: }").replace("[c, s]", "[c, t]")
    file = tmp_path / "case.yaml"
    file.write_text(text, encoding="utf-8")
    answer = CliRunner().invoke(main, ["network", "run", str(file)])
    assert answer.exit_code == 2
    assert "case.yaml:12:25: flows[0].target: no path from a to c: add the links" in answer.stderr


@pytest.mark.parametrize("seed", ["-1", "2147483649"])
def test_a_seed_that_cannot_be_is_refused(tmp_path: Path, seed: str) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(SMALL, encoding="utf-8")
    answer = CliRunner().invoke(main, ["network", "run", str(file), "--seed", seed])
    assert answer.exit_code == 2
    assert "0<=x<=2147483648" in answer.stderr
