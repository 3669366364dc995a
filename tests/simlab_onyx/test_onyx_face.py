"""The emulated Onyx switch prints what is recorded, takes lines in every form that guides have, and
says no in the vendor's words."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labtests.simlab.lab import SimulatedLab
from labtests.simlab.onyx.cli import ONYX
from labtests.simlab.screens import render
from labtests.simlab.switch_cli import CliSession

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
PORTS = tuple(f"Eth1/{n}" for n in range(1, 9))
Typing = Callable[..., str]


@pytest.fixture
def configured(typed: Typing) -> Typing:
    """Taken without a word, in the configuration mode."""
    typed("enable", "configure terminal")

    def configure(*lines: str) -> str:
        assert typed(*lines) == ""
        return running(typed)

    return configure


def running(typed: Typing) -> str:
    """What of it is about ports and PFC."""
    text = typed("show running-config").partition("Interface Ethernet")[2]
    lines = (line.strip() for line in text.partition("## Persistent")[0].splitlines())
    return "\n".join(line for line in lines if line.startswith(("interface", "dcb")))


def told(typed: Typing, what: str) -> Any:
    return json.loads(typed(f"show {what} | json-print"))


def recording(name: str) -> str:
    """Without its command and source."""
    return (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").split("\n", 2)[2]


# -- as recorded -----------------------------------------------------------------------------------


def form(shown: Any) -> Any:
    """The names, and what kind of value each has."""
    if isinstance(shown, dict):
        return {name: form(each) for name, each in shown.items()}
    if isinstance(shown, list):
        return [form(each) for each in shown]
    return type(shown).__name__


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("ets.weights", "dcb ets interface ethernet 1/1"),
        ("qos.both", "qos interface ethernet 1/1"),
        ("congestion.red-and-ecn", "interfaces ethernet 1/1 congestion-control"),
    ],
)
def test_json_has_the_form_that_is_recorded(
    name: str, what: str, configured: Typing, typed: Typing
) -> None:
    configured(
        "interface ethernet 1/1 traffic-class 2 congestion-control red minimum-relative 9 "
        "maximum-relative 90",
        "interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 500 "
        "maximum-absolute 1550",
        "interface ethernet 1/1 traffic-class 2 dcb ets strict",
        "interface ethernet 1/1 traffic-class 3 dcb ets strict",
        "interface ethernet 1/1 qos trust both",
    )
    recorded, shown = json.loads(recording(f"onyx/{name}")), told(typed, what)
    assert form(shown) == form(recorded)
    if name != "qos.both":  # where rewriting is configured
        assert _without_percents(shown) == _without_percents(recorded)


def _without_percents(shown: Any) -> Any:
    """How W(%) is rounded is not known."""
    if isinstance(shown, dict):
        return {name: _without_percents(each) for name, each in shown.items() if name != "W(%)"}
    return [_without_percents(each) for each in shown] if isinstance(shown, list) else shown


def test_pfc_has_the_form_that_is_recorded_in_json_and_as_text(
    configured: Typing, typed: Typing
) -> None:
    configured("dcb priority-flow-control priority 3 enable")
    configured("interface ethernet 1/1-1/2 dcb priority-flow-control mode on force")
    lists, ports = told(typed, "dcb priority-flow-control")
    recorded, of_ports = json.loads(recording("onyx/pfc.two-priorities"))
    assert lists.keys() == recorded.keys()
    assert form(ports["Eth1/1"]) == form(of_ports["Eth1/1"])
    assert lists["Priority Disabled List"] == "0 1 2 4 5 6 7"
    text = typed("show dcb priority-flow-control interface ethernet 1/1-1/2")
    assert text == recording("onyx-face/priority-flow-control").replace("......\n", "")


def test_neighbours_and_links_have_the_form_that_is_recorded(
    session: CliSession, typed: Typing
) -> None:
    session.switch.faults.defects.neighbours.update(dict.fromkeys(PORTS, ""))
    (nobody,) = told(typed, "lldp interfaces ethernet remote")
    assert nobody == json.loads(recording("onyx/lldp.nobody"))[0]
    session.switch.faults.defects.neighbours.clear()
    (heard,) = told(typed, "lldp interfaces ethernet remote")[0]["Eth1/1"]
    mac = "(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"
    assert re.fullmatch(mac, heard["Remote port-id"])
    assert re.fullmatch(mac, heard["Remote chassis id"])
    (shown,) = told(typed, "interfaces ethernet 1/1")
    recorded = json.loads(recording("onyx/interface.with-vlans"))[0]
    assert shown["Eth1/1"][0].keys() <= recorded.keys()
    received, sent = told(typed, "interfaces ethernet 1/1 counters")[0]["Eth1/1"]
    assert received["Rx"][0].keys() - {"fcs errors"} <= recorded["Rx"].keys()
    assert sent["Tx"][0].keys() <= recorded["Tx"].keys()


def test_a_version_is_printed_as_recorded() -> None:
    recorded = recording("onyx-face/version")
    lines = [line for line in recorded.splitlines() if line.startswith(("Product", "Uptime"))]
    values = dict(re.split(r":\s+", line, maxsplit=1) for line in lines)
    shown = render(ONYX.screens, "version", told=values)
    assert shown.splitlines() == lines


def test_a_port_is_printed_as_recorded_and_its_flow_control_found(typed: Typing) -> None:
    recorded = recording("onyx-face/interface")
    lines = [line.split(":", 1) for line in recorded.splitlines() if line.startswith("  ")]
    values = {words.strip(): text.strip() for words, text in lines}
    assert render(ONYX.screens, "interface", ports={"Eth1/1": values}) == recorded
    shown = typed("show interfaces ethernet 1/1").splitlines()[2:]
    assert {line.split(":")[0].strip() for line in shown} <= values.keys()
    flow = typed("show interfaces ethernet 1/1 | include Flow-control").strip()
    assert flow == recorded.splitlines()[-2].strip()


def test_the_running_configuration_begins_and_ends_as_recorded(
    configured: Typing, typed: Typing
) -> None:
    configured("interface ethernet 1/7-1/8 dcb priority-flow-control mode on force")
    shown, recorded = (
        [re.sub(r"Generated at .*|Hostname: .*", "", line) for line in text.splitlines()]
        for text in (typed("show running-config"), recording("onyx-face/running-config"))
    )
    assert shown[:10] == recorded[:10]
    assert shown[-4:] == recorded[-4:]
    assert "   dcb priority-flow-control enable force" in shown
    kinds = {line for line in shown if line.startswith("## ")}
    assert kinds <= {line for line in recorded if line.startswith("## ")}


def test_every_screen_names_recordings_that_there_are_or_why_there_is_none() -> None:
    first = [path.read_text().split("\n", 1)[0] for path in ONYX.screens.glob("*.j2")]
    assert all(line.startswith("{# recordings: ") for line in first)
    named = {name for line in first for name in re.findall(r"(onyx-face/[\w.-]+)\.txt", line)}
    assert len(named) == 4
    assert all((TRANSCRIPTS / f"{name}.txt").exists() for name in named)
    assert all("recordings: none; " in line for line in first if "onyx-face" not in line)


# -- lines -----------------------------------------------------------------------------------------


def test_lines_act_on_packets_whichever_way_they_are_typed(
    lab: SimulatedLab, configured: Typing, session: CliSession
) -> None:
    network = lab.network.switch("SN2700")
    configured("dcb priority-flow-control priority 3 enable")
    configured("interface ethernet 1/1", "dcb priority-flow-control mode on force")
    assert session.prompt == "SN2700 [standalone: master] (config interface ethernet 1/1) # "
    configured("exit")
    configured("int eth 1/2-1/3 dcb pri mode on force", "interface ethernet 1/2 qos trust l3")
    assert [network.pfc(port)[0] for port in PORTS[:3]] == ["on"] * 3
    assert network.pfc("Eth1/2")[1] == {3}
    assert network.dscp_map("Eth1/2")[26] == 3
    assert network.dscp_map("Eth1/3")[26] == 0  # L2, and no tag
    configured("no dcb priority-flow-control enable force")
    assert network.pfc("Eth1/2")[0] == "off"
    configured("dcb priority-flow-control enable force")
    configured("interface ethernet 1/2 no dcb priority-flow-control mode force")
    assert [network.pfc(port)[0] for port in PORTS[:3]] == ["on", "off", "on"]


@pytest.mark.parametrize(
    ("line", "undone", "printed"),
    [
        ("mtu 9000 force", "no mtu", "mtu 9000 force"),
        ("mtu 9000", "mtu 1500", "mtu 9000 force"),
        ("qos trust both", "no qos trust", "qos trust both"),
        ("qos trust port", "qos trust L2", "qos trust port"),
        (
            "qos map dscp 10 to switch-priority 5",
            "qos map dscp 10 to switch-priority 1",
            "qos map dscp 10 to switch-priority 5",
        ),
        (
            "traffic-class 3 congestion-control ecn minimum-absolute 5 maximum-absolute 6",
            "no traffic-class 3 congestion-control",
            "traffic-class 3 congestion-control ecn minimum-absolute 5 maximum-absolute 6",
        ),
        ("traffic-class 3 dcb ets strict", "no traffic-class 3 dcb ets", None),
        ("traffic-class 3 dcb ets wrr 20", "traffic-class 3 dcb ets wrr 13", None),
        ("flowcontrol send on force", "flowcontrol send off force", None),
        ("shutdown", "no shutdown", None),
        ("description to C", "no description", None),
    ],
)
def test_what_is_set_is_printed_and_undone(
    line: str, undone: str, printed: str | None, configured: Typing
) -> None:
    at, before = "interface ethernet 1/1", configured()
    assert f"{at} {printed or line}" in configured(f"{at} {line}").splitlines()
    assert configured(f"{at} {undone}") == before


def test_a_start_again_brings_what_was_written(
    lab: SimulatedLab, configured: Typing, session: CliSession
) -> None:
    configured("interface ethernet 1/1 mtu 9000 force", "configuration write")
    configured("interface ethernet 1/1 mtu 4000 force")
    session.switch.load_saved()
    assert "interface ethernet 1/1 mtu 9000 force" in configured()


# -- modes, words, pages ---------------------------------------------------------------------------


def test_modes_are_entered_and_left_as_in_guides(session: CliSession, typed: Typing) -> None:
    prompts = []
    for line in ("", "en", "conf t", "interface ethernet 1/1-1/2", "exit", "exit", "disable"):
        typed(line)
        prompts.append(session.prompt.removeprefix("SN2700 [standalone: master] "))
    config = "(config) # "
    assert prompts == ["> ", "# ", config, "(config interface ethernet 1/1) # ", config, "# ", "> "]
    typed("exit")
    assert session.closing


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("show frobnications", '% Unrecognized command "frobnications".'),
        ("interface ethernet 1/9 mtu 9000", '% Unrecognized command "1/9".'),
        ("interface ethernet 1/1 mtu 10", '% Unrecognized command "10".'),
        ("interface ethernet 1/1 qos trust L4", '% Unrecognized command "L4".'),
        ("show version now", '% Unrecognized command "now".'),
        ("show dcb", "% Incomplete command."),
        ("interface ethernet 1/1 d", '% Ambiguous command "d".'),
    ],
)
def test_what_is_no_command_is_refused_without_a_caret(
    line: str, says: str, typed: Typing, configured: Typing
) -> None:
    before = configured()
    assert typed(line) == f'{says}\nType "?" for help.\n'
    assert running(typed) == before


def test_nothing_is_configured_below_the_configuration_mode(typed: Typing) -> None:
    line = "interface ethernet 1/1 mtu 9000 force"
    assert typed(line).startswith('% Unrecognized command "interface"')
    typed("enable")
    assert typed(line).startswith('% Unrecognized command "interface"')


def test_help_and_filters(session: CliSession, typed: Typing) -> None:
    listed = session.listing("show dcb ").splitlines()
    assert [each.strip() for each in listed[:-1]] == ["ets", "priority-flow-control"]
    assert listed[-1] == session.prompt
    assert "json-print" in session.listing("show version | ")
    assert typed("show version | include model").startswith("Product model:")
    assert "Generated" not in typed("show running-config | exclude Generated")
