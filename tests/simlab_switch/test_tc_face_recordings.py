"""What the emulated tc prints and refuses is what the real one did, byte for byte."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from switch_bench import TRANSCRIPTS, SimulatedBox, recorded

from labtests.simlab.linux_switch import showing
from labtests.simlab.linux_switch.arguments import Words
from labtests.simlab.linux_switch.counting import QUEUES, QdiscCounts
from labtests.simlab.linux_switch.nodes import PortTree, listed
from labtests.simlab.linux_switch.showing import Form, ShownQdisc
from labtests.simlab.linux_switch.tool import alter
from labtests.simlab.refreshing import NOTHING

GUEST = "htb_red"
GUEST_RED = "avpkt 1000 burst 50 probability 0.1 bandwidth 12mbit"


def test_a_port_of_the_linux_lab_looks_changes_and_refuses_as_recorded(box: SimulatedBox) -> None:
    """The same commands in the same order, on the queues that `labtests linuxlab` makes."""
    steps = 0
    for command, text, status in recorded("htb-eight"):
        if command == "tc qdisc":
            text = "".join(
                line.replace("dev swp1", f"dev {port}") + "\n"
                for port in ("swp1", "swp2", "swp3")
                for line in text.splitlines()
            )
        done = box.shell(command)
        assert (done.out + done.err, done.status) == (text, status), command
        steps += 1
    assert steps > 50


@pytest.fixture(scope="module")
def guest_tree() -> PortTree:
    """The tree of the recordings made in a guest with a stock kernel, which has RED."""
    lines = ["qdisc add root handle 1: htb default 10"]
    lines += ["class add parent 1: classid 1:1 htb rate 12mbit ceil 12mbit"]
    for q in range(8):
        rates = f"rate 100kbit ceil 12mbit prio {7 - q}"
        lines.append(f"class add parent 1:1 classid 1:1{q} htb {rates}")
    for q in (0, 1, 2, 4, 5, 6, 7):
        lines.append(f"qdisc add parent 1:1{q} handle 1{q}: bfifo limit 400000")
    lines.append(
        f"qdisc add parent 1:13 handle 13: red limit 400000 min 30000 max 90000 {GUEST_RED} ecn"
    )
    for dscp in range(64):
        match = f"match ip dsfield {dscp << 2:#x} 0xfc flowid 1:1{dscp >> 3}"
        lines.append(f"filter add parent 1: protocol ip prio {dscp + 1} u32 {match}")
    tree = PortTree()
    unmoved: Any = SimpleNamespace(counting=SimpleNamespace(now=lambda port: (NOTHING,) * QUEUES))
    for line in lines:
        name, verb, *words = line.split()
        alter(unmoved, ("tcs0", name, verb), tree, Words(words))
    return tree


def _file(folder: str, name: str) -> str:
    text = (Path(TRANSCRIPTS) / folder / f"{name}.txt").read_text("utf-8")
    return text.split("\n", 2)[2]


def _rows(tree: PortTree) -> list[ShownQdisc]:
    return [
        ShownQdisc(qdisc=each, counts=QdiscCounts(), device="", ends=2)
        for each in listed(tree.qdiscs)
    ]


def test_qdiscs_with_red_as_in_a_stock_kernel(guest_tree: PortTree) -> None:
    shown = showing.qdiscs(_rows(guest_tree), Form(statistics=True, details=True, json=True))
    real = _file("linux_switch", f"qdiscs--{GUEST}")
    assert '"bytes":70,"packets":1,' in real, "the guest had sent one packet of its own"
    assert shown == real.replace('"bytes":70,"packets":1,', '"bytes":0,"packets":0,')


def test_classes_with_red_as_in_a_stock_kernel(guest_tree: PortTree) -> None:
    real = _file("linux_switch", f"classes--{GUEST}")
    assert "class red 13:1 parent 13: " in real
    assert showing.classes(guest_tree, Form(details=True)) == real


def test_filters_as_in_a_stock_kernel(guest_tree: PortTree) -> None:
    real = _file("linux_switch", f"filters--{GUEST}")
    assert showing.filters(guest_tree.filters, parent=1) == real


@pytest.mark.parametrize(
    "command",
    [
        "tc -s class show dev swp1",
        "tc -j filter show dev swp1",
        "tc qdisc add dev swp1 clsact",
        "tc qdisc del dev swp1 root",
        "tc filter add dev swp1 parent 1: protocol ip u32 match ip dsfield 4 0xfc flowid 1:17",
        "tc class add dev swp1 parent 1:1 classid 1:18 htb rate 8kbit ceil 200mbit",
        "tc class change dev swp1 parent 1:1 classid 1:10 htb rate 8kbit ceil 50mbit",
        "tc class change dev swp1 parent 1:1 classid 1:10 htb rate 100mbit ceil 200mbit",
        "tc qdisc replace dev swp1 parent 1:10 red limit 90000 avpkt 1000 nodrop ecn",
        "tc monitor",
        "tc -b file",
        "tc",
    ],
)
def test_what_is_not_emulated_says_so_and_changes_nothing(
    make_box: Callable[..., SimulatedBox], command: str
) -> None:
    box = make_box()
    before = box.shell("tc qdisc show").out + box.shell("tc -d class show dev swp1").out
    done = box.shell(command)
    assert done.status == 1
    assert done.out == ""
    assert re.search(r"does not emulate this: \S", done.err)
    assert box.shell("tc qdisc show").out + box.shell("tc -d class show dev swp1").out == before


def test_only_root_changes(box: SimulatedBox) -> None:
    line = "tc qdisc change dev swp1 parent 1:11 handle 101: bfifo limit 5000"
    done = box.shell(line, username="admin")
    assert (done.status, done.err) == (2, "RTNETLINK answers: Operation not permitted\n")
