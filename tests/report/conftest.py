"""Runs to render: a good one, and ways to spoil it."""

import copy
import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

Json = dict[str, Any]


def counter(name: str, before: int | None, after: int | None, **more: Any) -> Json:
    increase = None if before is None or after is None else after - before
    return {
        "device": "S6550",
        "port": "Twenty-FiveGigE1/0/13",
        "scope": "queue",
        "index": 3,
        "counter": name,
        "unit": "packets",
        "before": before,
        "after": after,
        "increase": increase,
        "unusable": "",
        "source": "Forwarded:",
        **more,
    }


def sample(name: str, time_s: float, value: int | None, **more: Any) -> Json:
    return {
        "device": "S6550",
        "port": "Twenty-FiveGigE1/0/14",
        "scope": "priority",
        "index": 3,
        "counter": name,
        "unit": "frames",
        "time_s": time_s,
        "value": value,
        **more,
    }


def verdict(role: str = "main", outcome: str = "pass", **more: Any) -> Json:
    expected = "fail" if role == "control" else "pass"
    return {
        "question": f"the {role} question",
        "outcome": outcome,
        "because": f"the {role} sentence",
        "phase": "PFC on",
        "role": role,
        "expected": expected,
        "as_expected": outcome == expected,
        "backend": "simulated",
        "facts": [
            {
                "name": "queue 3 drops",
                "measured": 0,
                "bound": "exactly 0",
                "margin": None,
                "unit": "packets",
                "note": "",
            },
            {
                "name": "sum of goodputs",
                "measured": 9.53,
                "bound": ">= 9.0",
                "margin": 0.53,
                "unit": "Gb/s",
                "note": "",
            },
        ],
        "disagreements": [],
        **more,
    }


def flow(sender: str, start_s: float) -> Json:
    return {
        "sender": sender,
        "receiver": "ServerC",
        "tool": "iperf3",
        "tos": 96,
        "status": "complete",
        "because": "",
        "command": "iperf3 -c 192.168.10.12 -p 1000 -u -b 7800m -l 65500 -S 96 -J",
        "intervals": [
            {"start_s": start_s + n, "end_s": start_s + n + 1, "goodput_bits_per_s": 4.3e9 + n}
            for n in range(4)
        ],
        "goodput_bits_per_s": 4.31e9,
        "offered_bits_per_s": 7.8e9,
        "sent_datagrams": 16375,
        "received_datagrams": 16375,
        "lost_datagrams": 0,
        "retransmits": None,
        "iterations": None,
        "retries": [],
    }


def phase() -> Json:
    return {
        "name": "PFC on",
        "kind": "experiment",
        "start_s": 10.0,
        "end_s": 15.0,
        "settled": True,
        "unreachable": [],
        "flows": [flow("ServerA", 10.0), flow("ServerB", 11.0)],
        "counters": [
            counter("forwarded_packets", 1000, 37_715_815),
            counter("dropped_packets", 7, 7),
            counter(
                "pfc_rx_frames",
                None,
                None,
                unusable="no value before the run: PFC is not enabled here",
                device="ServerB",
            ),
        ],
        "samples": [
            *(sample("pfc_tx_frames", 10.0 + n, 900 * n) for n in range(5)),
            *(sample("dropped_packets", 10.0 + n, 0) for n in range(5)),
            *(sample("queue_length_packets", 10.0 + n, 40 * n) for n in range(5)),
            *(sample("np_cnp_sent", 10.0 + n, None) for n in range(5)),
        ],
        "settings": [
            {
                "device": "S6550",
                "port": "Twenty-FiveGigE1/0/13",
                "ability": "trust",
                "value": "dscp",
            },
            {
                "device": "S6550",
                "port": "Twenty-FiveGigE1/0/13",
                "ability": "scheduling",
                "value": "wrr\nqueue 0: weight 1",
            },
        ],
    }


def test(title: str, outcome: str, verdicts: list[Json]) -> Json:
    return {
        "id": f"suites/test_{title}.py::test_{title}",
        "title": title,
        "outcome": outcome,
        "duration_s": 8.25,
        "error": None,
        "rerun": f"pytest suites/test_{title}.py --testbed lab --dry-run --seed 1",
        "verdicts": verdicts,
        "phases": [phase()],
        "changes": [
            {
                "time_s": 9.5,
                "device": "ServerA",
                "command": "mlnx_qos -i eth0 -f 0,0,0,1,0,0,0,0",
                "status": 0,
                "text": "pfc of eth0",
            }
        ],
    }


test.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture
def run() -> Json:
    """A simulated run with one passed test and its control."""
    return {
        "format": "labtests-run/1",
        "lab": {
            "name": "h3c-s6550-cx4",
            "file": "testbeds/h3c-s6550-cx4.yaml",
            "description": "three servers, one switch",
            "devices": [
                {
                    "name": "ServerA",
                    "platform": "connectx",
                    "roles": ["senders"],
                    "login": "ssh root@server-a",
                    "versions": {"perftest": "6.24", "firmware": ""},
                },
                {"name": "ServerC", "platform": "connectx", "roles": ["receiver"], "versions": {}},
                {"name": "S6550", "platform": "comware", "roles": [], "versions": {}},
            ],
            "links": [
                {
                    "ends": [
                        {"device": host, "port": "eth0"},
                        {"device": "S6550", "port": f"Twenty-FiveGigE1/0/{port}"},
                    ],
                    "speed_bits_per_s": 10_000_000_000,
                }
                for host, port in (("ServerA", 14), ("ServerC", 13))
            ],
        },
        "backend": "simulated",
        "modelled": "Packets and queues are modelled; optics are not.",
        "seed": 1,
        "started": "2026-11-21T09:30:00+00:00",
        "ended": "2026-11-21T09:30:41+00:00",
        "command_line": "pytest suites --dry-run",
        "labtests_version": "0.1.0",
        "exit_code": 0,
        "problem": "",
        "journal": "journal.jsonl",
        "tests": [test("pauses", "pass", [verdict(), verdict("control", "fail")])],
    }


@pytest.fixture
def hardware(run: Json) -> Json:
    """The same, from real devices."""
    run = copy.deepcopy(run)
    run.update(backend="hardware", modelled="", seed=None)
    for test_ in run["tests"]:
        for verdict_ in test_["verdicts"]:
            verdict_["backend"] = "hardware"
    return run


def replaced(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A run with every leaf replaced."""
    if isinstance(value, dict):
        return {key: replaced(item, leaf) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, leaf) for item in value]
    return leaf(value)


@pytest.fixture
def spoiled() -> Callable[[Any, Callable[[Any], Any]], Any]:
    return replaced


@pytest.fixture
def verdict_of() -> Callable[..., Json]:
    return verdict


@pytest.fixture
def sample_of() -> Callable[..., Json]:
    return sample


@pytest.fixture
def test_of() -> Callable[..., Json]:
    return test


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag in ("style", "script")
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.words += data.split()


@pytest.fixture
def text_of() -> Callable[[str], str]:
    """What a page says, with single spaces."""

    def text(html: str) -> str:
        parser = _Text()
        parser.feed(html)
        return " ".join(parser.words)

    return text


@pytest.fixture
def data_of() -> Callable[[str], Json]:
    """What the script draws, with its texts in place of their numbers where rows are drawn."""

    def data(html: str) -> Json:
        begin = html.index('id="lt-data">') + len('id="lt-data">')
        return dict(json.loads(html[begin : html.index("</script>", begin)]))

    return data


@pytest.fixture
def tags_of() -> Callable[[str], list[tuple[str, dict[str, str | None]]]]:
    """Every element of a page with its attributes."""

    def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
        parser = _Text()
        parser.feed(html)
        return parser.tags

    return tags
