"""A device that prints without end where a line, a name or a view is expected: an error of it is
short, what is kept of it is short, and it is an error of that device, no defect of labtests."""

import json
from collections.abc import Callable

import pytest
from invoke.runners import Result

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.core import output
from labtests.core.errors import DeviceError, LabError, UnreadableOutput, WorkloadError
from labtests.drivers.comware import box as comware_box
from labtests.drivers.connectx.host import parse_service_state
from labtests.drivers.linux.ethtool import parse_ethtool_driver
from labtests.drivers.linux.host import KERNEL
from labtests.drivers.linux.host import parse_version as parse_host_version
from labtests.drivers.linux.links import parse_date
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.linux_switch.tree import tree_of
from labtests.drivers.nxos import box, interfaces, pfc, queuing, session
from labtests.drivers.nxos.configuration import parse_configuration
from labtests.transport.protocol import Reply
from labtests.transport.ssh.fabric_runner import CommandFailed

SECRET = "Hunter2-Geheim"
LONG = 100_000
SHORT = 10_000  # characters of a whole error
CLOCK = "10:20:30.123 UTC Mon Nov 23 2026\n"


def said(text: str) -> Reply:
    return Reply(device="A", command="show", text=text, status=0)


LINES: dict[str, Callable[[str], object]] = {
    "interface": lambda text: interfaces.INTERFACE.read(said(text)),
    "queuing": lambda text: queuing.QUEUING.read(said(text)),
    "pfc": lambda text: pfc.parse_pfc_detail(said(text)),
    "clock": lambda text: box.parse_clock(said(text)),
    "neighbour": lambda text: box.parse_lldp_neighbors(
        said(f"Chassis id: x\n{text}Total entries displayed: 1\n")
    ),
    "refusal": lambda text: session.REFUSALS.expect_answer(said(f"% {text}")),
    "service": lambda text: parse_service_state(said(text)),
    "date": lambda text: parse_date(said(text)),
}


@pytest.mark.parametrize("length", [LONG, 2**21])
@pytest.mark.parametrize("what", LINES)
def test_an_error_is_not_as_long_as_a_line(what: str, length: int) -> None:
    with pytest.raises(DeviceError) as raised:
        LINES[what]("\x7f" * length + "\n")
    assert len(str(raised.value)) < SHORT
    assert len(repr(raised.value)) < SHORT


def test_no_error_holds_more_than_a_sentence_nor_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_used", {SECRET})
    error = DeviceError("A", "show " + "x" * LONG, f"{SECRET} " + "y" * LONG, "z" * LONG)
    for held in (error.command, error.problem, error.remedy, *error.args):
        assert len(held) < 5000
    assert error.problem.startswith("*** yyy")
    assert len(str(WorkloadError("x" * LONG))) < SHORT
    flow = FlowResult(
        sender="A",
        receiver="B",
        tool="iperf3",
        tos=0,
        status=FlowStatus.FAILED,
        because=SECRET + "x" * LONG,
        command="iperf3",
    )
    assert flow.because.startswith("***xxx")
    assert len(flow.because) < 5000


@pytest.mark.parametrize("length", [LONG, 2**25])
def test_a_failed_command_of_a_suite_does_not_repeat_a_line_without_end(length: int) -> None:
    failed = CommandFailed("A", Result(command="c", stderr="\x1b" * length, exited=1))
    assert len(str(failed)) < SHORT


@pytest.mark.parametrize("between", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\n"])
def test_what_ends_a_line_inside_a_secret_leaves_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    monkeypatch.setattr(output, "_used", {SECRET})
    text = f"x {SECRET[:7]}{between}{SECRET[7:]}"
    assert output.last_line(text, "") == "x ***"
    assert output.lines_said(text) == ["x ***"]
    failed = CommandFailed("A", Result(command="c", stderr=text, exited=1))
    assert "Geheim" not in str(failed)
    assert "Hunter" not in str(failed)


def nested(depth: int) -> str:
    return "\n".join(" " * n + "a" for n in range(depth)) + "\n" + CLOCK


def test_a_configuration_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(UnreadableOutput, match="stands under 16 others"):
        parse_configuration(said(nested(2000)))
    assert len(parse_configuration(said(nested(16)))) == 1


NEIGHBOUR = (
    "Chassis id: a\nPort id: {0}\nLocal Port id: Eth1/1\nPort Description: {0}\nSystem Name: {0}\n"
    "Total entries displayed: 1\n"
)
NEIGHBOUR_OF_COMWARE = (
    "LLDP neighbor-information of port 1[Twenty-FiveGigE1/0/1]:\n"
    "LLDP agent nearest-bridge:\n LLDP Neighbor index : 1\n Port ID             : {0}\n"
)
KEPT: dict[str, Callable[[str], object]] = {
    "nxos": lambda word: box.parse_version(said(f"cisco {word} Chassis\n  NXOS: version {word}\n")),
    "comware": lambda word: comware_box.parse_version(
        said(f"H3C Comware Software, Version {word}\n{word} uptime is 1 day\n")
    ),
    "kernel": lambda word: parse_host_version(said(f"6{word}\n"), KERNEL[1]),
    "firmware": lambda word: parse_ethtool_driver(
        said(f"driver: mlx5_core\nfirmware-version: {word}\n")
    ),
    "neighbour of a Nexus": lambda word: box.parse_lldp_neighbors(said(NEIGHBOUR.format(word))),
    "neighbour of Comware": lambda word: comware_box.parse_lldp_neighbors(
        said(NEIGHBOUR_OF_COMWARE.format(word))
    ),
}


@pytest.mark.parametrize("what", KEPT)
def test_a_name_or_a_version_is_not_without_end(what: str) -> None:
    """Told as it is, such a one made a table of 12 MB."""
    assert "x" * 255 in str(KEPT[what]("x" * 255))
    for length in (1000, LONG):
        with pytest.raises(LabError, match=r"has \d+ characters"):
            KEPT[what]("x" * length)


def qdisc(handle: str, parent: str | None, **more: object) -> dict[str, object]:
    counts = dict.fromkeys(("packets", "bytes", "drops", "qlen", "backlog"), 0)
    place = {"root": True} if parent is None else {"parent": parent}
    return {"kind": "tbf", "handle": handle, "options": {"rate": 1}, **counts, **place, **more}


def chain(length: int) -> list[dict[str, object]]:
    return [
        qdisc("1:", None),
        *(qdisc(f"{n + 1:x}:", f"{n:x}:1") for n in range(1, length)),
    ]


BANDS = {"kind": "prio", "options": {"bands": 10**15, "priomap": [0] * 16}}
ENDLESS = {
    "a circle": ([*chain(2), qdisc("1:", "2:1")], "two qdiscs have the same handle"),
    "deep": (chain(1000), "hangs under 16 others"),
    "many": ([*chain(1), *[qdisc("0:", "1:1")] * 5000], "more than 2048"),
    "bands": ([qdisc("1:", None, **BANDS)], "do not fit"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", ENDLESS)
def test_a_tree_of_queues_has_an_end(what: str) -> None:
    qdiscs, problem = ENDLESS[what]
    shown = said(json.dumps(qdiscs) + "\n")
    with pytest.raises(UnreadableOutput, match=problem):
        tree_of(shown, parse_qdiscs(shown))
    whole = said(json.dumps(chain(16)) + "\n")
    assert len(tree_of(whole, parse_qdiscs(whole)).leaves) == 1
