"""What no vendor's tests need of switch_cli, and what holds for the tables of all of them."""

import re
from dataclasses import replace
from pathlib import Path

import nexus_switch
import pytest
from nexus_switch import NEXUS

from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.simlab.comware.cli import COMWARE
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.screens import columns
from labtests.simlab.switch_cli import (
    CliCommand,
    CliSwitch,
    SectionKind,
    SwitchCli,
    View,
    enter,
    leave,
    setting,
    settings,
    to_view,
    top,
)
from labtests.simlab.switch_cli.arguments import AnyName, Number
from labtests.simlab.switch_cli.grammar import Grammar

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
NOTHING = CliCommand(lambda session, call: "")


def switch_with(cli: SwitchCli) -> CliSwitch:
    """In a lab of two such switches, without a server."""
    devices = [
        Device(
            name=name,
            platform="comware",
            management=Management(host=f"{name}.example"),
            ports=(Port(device=name, interface="Ethernet1/1"),),
        )
        for name in ("one", "two")
    ]
    ends = [Endpoint(device=device.name, interface="Ethernet1/1") for device in devices]
    cable = Link(a=ends[0], b=ends[1], speed_bits_per_s=10**10, length_m=1.0)
    testbed = Testbed(name="two", file=Path("x"), devices=tuple(devices), links=(cable,))
    return CliSwitch(SimulatedLab(testbed, seed=1), devices[0], cli)


POLICY = (setting("description <name>"),)
CLASS = (setting("pause pfc-cos <cos>"), setting("mtu <size>"))
NESTED = replace(
    NEXUS,
    arguments=lambda ports: {
        "name": AnyName(40),
        "cos": Number(0, 7),
        "size": Number(1500, 9216),
    },
    views={
        "exec": View(prompt="{host}# ", commands={"configure terminal": to_view("config")}),
        "config": View(
            prompt="{host}(config)# ",
            up="exec",
            commands={"policy-map type network-qos <name>": enter("policy", create=True)},
        ),
        "policy": View(
            prompt="{host}(config-pmap-nqos-{name})# ",
            up="config",
            commands={
                "class type network-qos <name>": enter("class", create=True),
                "exit": leave,
                **settings("policy", "no", POLICY),
            },
        ),
        "class": View(
            prompt="{host}(config-pmap-nqos-c)# ",
            up="policy",
            commands={
                "class type network-qos <name>": enter("class", create=True),
                "exit": leave,
                **settings("class", "no", CLASS),
            },
        ),
    },
    kinds={
        "": SectionKind(),
        "interface": SectionKind(header="interface {name}"),
        "policy": SectionKind(header="policy-map type network-qos {name}", settings=POLICY),
        "class": SectionKind(
            header="class type network-qos {name}", settings=CLASS, inside="policy"
        ),
    },
)


def test_sections_stand_inside_sections() -> None:
    switch = switch_with(NESTED)
    session = switch.session()
    for line in (
        "configure terminal",
        "policy-map type network-qos fabric",
        "class type network-qos lossless",
        "mtu 9216",
        "pause pfc-cos 3",
        "class type network-qos lossy",
        "mtu 1500",
        "exit",
        "description roce",
    ):
        assert session.run(line) == "", line
    assert session.prompt == "one(config-pmap-nqos-fabric)# "
    assert switch.configuration.body(session.section, indent="  ") == [
        "description roce",
        "class type network-qos lossless",
        "  pause pfc-cos 3",
        "  mtu 9216",
        "class type network-qos lossy",
        "  mtu 1500",
    ]
    assert session.run("class type network-qos lossless") == ""
    assert session.run("no pause pfc-cos") == ""
    assert [line.text for line in session.section.lines.values()] == ["mtu 9216"]


def test_a_section_that_another_session_has_removed_is_refused_in_the_switchs_words() -> None:
    kinds = {**NESTED.kinds, "policy": replace(NESTED.kinds["policy"], missing="No such policy.")}
    switch = switch_with(replace(NESTED, kinds=kinds))
    session = switch.session()
    session.run("configure terminal")
    session.run("policy-map type network-qos fabric")
    switch.configuration.remove(top("policy", "fabric"))
    assert session.run("description roce") == "No such policy.\n"


@pytest.mark.parametrize("pattern", ["show [ version", "show { a | b"])
def test_a_pattern_with_an_open_bracket_is_a_mistake(pattern: str) -> None:
    with pytest.raises(ValueError, match="a bracket is not closed"):
        Grammar({}, {pattern: NOTHING})


def test_an_argument_that_nobody_has_described_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="prot"):
        Grammar({"port": AnyName(9)}, {"show interface <prot>": NOTHING})


def test_columns_are_left_or_right_aligned_and_end_without_blanks() -> None:
    assert columns(["Eth1/1", 7, "up"], 8, -4) == "Eth1/1     7up"
    assert columns(["Eth1/1", "", ""], 8, 4) == "Eth1/1"


@pytest.mark.parametrize("cli", [COMWARE, nexus_switch.NEXUS], ids=["comware", "nexus"])
def test_every_screen_names_the_recordings_it_was_made_from(cli: SwitchCli) -> None:
    for screen in cli.screens.iterdir():
        first = screen.read_text(encoding="utf-8").splitlines()[0]
        whole = re.findall(r"[\w-]+/[\w.-]+\.txt", first)
        assert whole, f"{screen.name}: no recording is named in its first line"
        begin = whole[0].split(".")[0]
        others = [begin + rest for rest in re.findall(r"(?<=[ ,])\.[\w-]+\.txt", first)]
        for name in whole + others:
            assert (TRANSCRIPTS / name).is_file(), f"{screen.name}: no {name}"
