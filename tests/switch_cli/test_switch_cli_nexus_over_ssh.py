"""A switch of another vendor, built from tables alone (nexus_switch.py), behind the real SSH
server: prompts, its own refusals, settings shown back and acting on packets, pages, faults."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nexus_switch
import paramiko
import pytest
from in_process import InProcessLab

from labtests.inventory import load

TESTBED = """\
name: one-nexus
devices:
  N9K:
    platform: small-nexus
    management: {host: n9k.lab.example, user: admin}
    ports: {Ethernet1/1: {}, Ethernet1/2: {}, Ethernet1/27: {}}
  S6550:
    platform: comware
    management: {host: s6550.lab.example, user: admin}
    ports: {Twenty-FiveGigE1/0/1: {}}
links:
  - between: [N9K:Ethernet1/1, S6550:Twenty-FiveGigE1/0/1]
    speed_gbit_per_s: 10
    length_m: 3
"""
PLATFORMS = ("comware", "small-nexus")
TRANSCRIPTS = Path(__file__).parents[1] / "transcripts" / "nexus-face"


class Shell:
    """An interactive session in a window of ten lines."""

    def __init__(self, client: paramiko.SSHClient) -> None:
        self._channel = client.invoke_shell(width=80, height=10)
        self._channel.settimeout(10)

    def until(self, end: str) -> str:
        text = ""
        while not text.endswith(end):
            text += self._channel.recv(4096).decode()
        return text.replace("\r\n", "\n")

    def __call__(self, line: str, end: str = "# ") -> str:
        """What is printed between the echo and the end of the next prompt."""
        self._channel.send(f"{line}\r".encode())
        return self.until(end).removeprefix(f"{line}\n")

    def key(self, key: str, end: str) -> str:
        self._channel.send(key.encode())
        return self.until(end)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcessLab]:
    monkeypatch.setitem(sys.modules, "labtests.simlab.faces.small_nexus", nexus_switch)
    file = tmp_path / "one-nexus.yaml"
    file.write_text(TESTBED, encoding="utf-8")
    with InProcessLab(load(file, platforms=PLATFORMS), seed=1) as lab:
        yield lab


@pytest.fixture
def client(lab: InProcessLab) -> Iterator[paramiko.SSHClient]:
    address = lab.devices["N9K"]
    with paramiko.SSHClient() as client:
        client.load_host_keys(str(lab.directory / "known_hosts"))
        client.connect(
            address["host"],
            address["port"],
            address["user"],
            key_filename=str(lab.directory / "id_ed25519"),
            allow_agent=False,
            look_for_keys=False,
        )
        yield client


@pytest.fixture
def shell(client: paramiko.SSHClient) -> Shell:
    shell = Shell(client)
    assert shell.until("# ") == "N9K# "
    return shell


def recording(name: str) -> str:
    lines = (TRANSCRIPTS / f"{name}.txt").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("$ ", "# ")))


def test_prompts_lead_from_view_to_view(shell: Shell) -> None:
    assert shell("configure terminal") == "N9K(config)# "
    assert shell("int eth1/1") == "N9K(config-if)# "
    assert shell("interface ethernet 1/2") == "N9K(config-if)# "
    assert shell("exit") == "N9K(config)# "
    assert shell("hostname leaf1") == "leaf1(config)# "
    assert shell("end") == "leaf1# "


@pytest.mark.parametrize(
    ("line", "place", "sentence"),
    [
        ("shw version", 0, "% Invalid command at '^' marker."),
        ("show interface eth1/9 counters", 15, "% Invalid command at '^' marker."),
        ("show interface", 15, "% Incomplete command at '^' marker."),
        ("co", 0, "% Ambiguous command at '^' marker."),
    ],
)
def test_what_is_no_command_is_refused_in_the_words_of_this_vendor(
    shell: Shell, line: str, place: int, sentence: str
) -> None:
    caret = " " * (len("N9K# ") + place) + "^"
    assert shell(line) == f"{caret}\n{sentence}\nN9K# "


def test_a_setting_is_shown_back_undone_and_reaches_the_packets(
    lab: InProcessLab, shell: Shell
) -> None:
    network = lab.lab.network.switch("N9K")
    assert network.pfc("Ethernet1/1") == ("auto", {3})
    for line in ("configure terminal", "interface Ethernet1/1", "priority-flow-control mode on"):
        shell(line)
    assert network.pfc("Ethernet1/1") == ("on", {3})
    shell("description genie test")
    shown = shell("show running-config interface Ethernet1/1")
    assert "  description genie test\n  priority-flow-control mode on\n" in shown
    assert "Ethernet1/1        On   On  (8)       0          0\n" in shell(
        "show interface eth1/1 priority-flow-control"
    )
    shell("no priority-flow-control mode")
    assert network.pfc("Ethernet1/1") == ("auto", {3})
    assert "priority-flow-control" not in shell("show running-config interface Ethernet1/1")


def test_the_running_configuration_has_the_form_of_the_recording(shell: Shell) -> None:
    for line in ("configure terminal", "interface Ethernet1/1", "description genie test"):
        shell(line)
    recorded = recording("running-config-interface").splitlines(keepends=True)[:3]
    assert shell("show run interface Ethernet1/1") == "".join(recorded) + "N9K(config-if)# "
    shell("end")
    shell("terminal length 0")
    whole = shell("show running-config")
    assert whole.startswith("\nhostname N9K\n\ninterface Ethernet1/1\n  description genie test\n")


def test_counters_have_the_form_of_the_recordings(shell: Shell) -> None:
    shell("terminal length 0")
    shown = shell("show interface Eth1/27 priority-flow-control")
    assert shown == recording("priority-flow-control").rpartition("Ethernet1/28")[0] + "N9K# "
    recorded = recording("interface-counters").replace("Eth1/33 ", "Eth1/27 ")
    for number in ("1162614", "14178", "12199396", "23366", " 64", " 65", " 1\n"):
        recorded = recorded.replace(number, re.sub(r"\d+", lambda n: "0".rjust(len(n[0])), number))
    assert shell("show interface Eth1/27 counters") == recorded + "N9K# "


def test_a_long_output_stops_at_the_end_of_the_window(shell: Shell) -> None:
    more = "--More--\x1b[27m"
    first = shell("show interface counters", more)
    assert first.count("\n") == 9
    assert shell.key("\r", more).count("\n") == 1
    assert shell.key(" ", more).count("\n") == 9
    assert shell.key("q", "# ").endswith("N9K# ")
    shell("terminal length 0")
    assert "--More--" not in shell("show interface counters")


def test_an_operator_is_denied_what_changes_in_the_words_of_this_vendor(
    lab: InProcessLab, shell: Shell
) -> None:
    lab.fault(kind="role", device="N9K", role="network-operator")
    assert shell("configure terminal") == "% Permission denied for the role\nN9K# "
    assert shell("show running-config interface eth1/1") == "\ninterface Ethernet1/1\nN9K# "


def test_what_was_saved_is_there_after_a_reboot_and_a_lie_is_not_made(
    lab: InProcessLab, client: paramiko.SSHClient
) -> None:
    lines = "configure terminal\ninterface eth1/1\n"
    client.exec_command(f"{lines}description kept\nend\ncopy running-config startup-config")
    client.exec_command(f"{lines}shutdown")[1].read()
    switch = lab.lab.devices["N9K"]
    assert "shutdown" in switch.port("Ethernet1/1").lines
    lab.fault(kind="reboot", device="N9K", seconds=1)
    assert switch.configuration.body(switch.port("Ethernet1/1")) == ["description kept"]
    lab.fault(kind="lie", device="N9K")
    session = switch.session()
    for line in ("configure terminal", "interface eth1/1", "no description"):
        assert session.run(line) == ""
    assert switch.configuration.body(switch.port("Ethernet1/1")) == ["description kept"]
