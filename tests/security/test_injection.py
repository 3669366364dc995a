"""No value of a testbed file, and none a caller gives, leaves its place in a shell or a CLI."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from driven import driving
from hostile import CANARY, EVERY, SHELL, generated
from hypothesis import HealthCheck, example, given, settings
from in_process import InProcessLab
from typed import typed

from labtests.capabilities.records import EcnSetting, PfcSetting, TrustSetting
from labtests.core.errors import CommandRejected, InventoryError, LabError, UnreadableOutput
from labtests.inventory import load
from labtests.transport.protocol import Reply
from labtests.transport.ssh import connect
from labtests.transport.ssh.shell import ShellTransport
from labtests.transport.ssh.supervision import supervised
from labtests.transport.ssh.surroundings import Surroundings
from labtests.workloads import iperf3, perftest

Switch = driving("comware")
Host = driving("connectx")

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@%\\[],")
FIELDS = {
    "lab name": "name: {}",
    "device": "devices: {{{}: {{platform: connectx, management: {{host: a}}}}}}",
    "interface": "devices: {{A: {{ports: {{{}: {{}}}}}}}}",
    "rdma": "devices: {{A: {{ports: {{eth0: {{rdma: {}}}}}}}}}",
    "address": "devices: {{A: {{ports: {{eth0: {{address: {}}}}}}}}}",
    "host": "devices: {{A: {{management: {{host: {}}}}}}}",
    "user": "defaults: {{user: {}}}",
    "jump": "defaults: {{jump: {}}}",
    "password_env": "defaults: {{password_env: {}}}",
    "platform": "defaults: {{platform: {}}}",
    "group": "groups: {{{}: {{}}}}",
    "member": "devices: {{A: {{groups: [{}]}}}}",
    "port of a link": "links: [{{between: [{}, 'A:eth0'], speed_gbit_per_s: 1, length_m: 1}}]",
    "role": "roles: {{{}: A}}",
    "port of a role": "roles: {{senders: [{}]}}",
}
HARMLESS = "nic0"
SHOWN_ONLY = {
    "description": "description: {}",
    "key_file": "defaults: {{key_file: {}}}",
    "known_hosts": "defaults: {{known_hosts: {}}}",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("testbeds")


def mistakes_of(folder: Path, text: str) -> list[str]:
    file = folder / "lab.yaml"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        load(file, platforms={"connectx"})
    except InventoryError as error:
        return [line.removeprefix(str(file)) for line in error.mistakes]
    return []


@pytest.mark.parametrize("field", FIELDS)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=generated)
def test_a_hostile_value_is_refused_at_its_place_or_has_only_safe_characters(
    folder: Path, field: str, value: str
) -> None:
    # JSON is YAML, so the value arrives as it is; a lone half of a character cannot be written
    text = FIELDS[field].format(json.dumps(value))
    lines = mistakes_of(folder, text)
    at_value = [line for line in lines if "is missing" not in line]
    assert at_value or (set(value) <= SAFE and not value.startswith("-") and value)
    for line in lines:
        assert line.startswith(":1:")  # file:line:column
        assert line.isprintable()
        assert len(line) < 600


@pytest.mark.parametrize("field", SHOWN_ONLY)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=generated)
def test_what_only_a_person_sees_has_nothing_that_a_terminal_obeys(
    folder: Path, field: str, value: str
) -> None:
    lines = mistakes_of(folder, SHOWN_ONLY[field].format(json.dumps(value)))
    wrong = [line for line in lines if "is missing" not in line]
    if not wrong:
        assert value.replace("\n", "").replace("\t", "").isprintable()
    assert all(line.isprintable() for line in lines)


# -- a real shell ------------------------------------------------------------------------------


class RealShell:
    """A host whose commands go to this machine's /bin/sh, the way ShellTransport sends them. Its
    tools only note their arguments; anything else that runs is not there."""

    device = "ServerA"

    def __init__(self, place: Path) -> None:
        self.place, self.tools = place / "cwd", place / "tools"
        self.log = place / "log"
        for folder in (self.place, self.tools):
            folder.mkdir()
        for name in ("mlnx_qos", "ethtool", "rdma", "grep", "cat", "test", "ib_send_bw", "iperf3"):
            tool = self.tools / name
            tool.write_text(f"#!/bin/sh\nprintf '%s\\0' {name} \"$@\" >> '{self.log}'\n")
            tool.chmod(0o700)
        (self.tools / "timeout").symlink_to("/usr/bin/timeout")
        (self.tools / "sh").symlink_to("/bin/sh")
        (self.tools / "touch").symlink_to("/usr/bin/touch")

    def sh(self, line: str) -> subprocess.CompletedProcess[str]:
        reads, writes = os.pipe()  # stays open as long as the command runs, as a channel does
        try:
            return subprocess.run(
                ["/bin/sh", "-c", line],
                cwd=self.place,
                env={"PATH": str(self.tools)},
                capture_output=True,
                text=True,
                errors="surrogateescape",
                stdin=reads,
                timeout=20,
            )
        finally:
            os.close(reads)
            os.close(writes)

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        done = self.sh(_as_sent(command))
        return Reply(
            device=self.device,
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
            time_s=0.0,
        )

    def configure(self, commands: tuple[str, ...]) -> Reply:
        return [self.run(command) for command in commands][-1]

    def asked(self) -> list[str]:
        """Every word that a tool was given since the last look."""
        words = self.log.read_bytes().decode(errors="surrogateescape") if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return words.split("\0")

    def expect_nothing_ran(self) -> None:
        assert list(self.place.iterdir()) == []


class _Sent(Exception):
    pass


def _as_sent(command: str) -> str:
    """The line that ShellTransport gives to the host's login shell."""
    sent: list[str] = []

    def execute(line: str, _: str, **__: object) -> None:
        sent.append(line)
        raise _Sent

    shell = ShellTransport.__new__(ShellTransport)
    shell.clock = SimpleNamespace(now_s=lambda: 0.0)  # type: ignore[assignment]
    shell._sudo, shell._single, shell._around = (), False, Surroundings()
    shell.execute = execute  # type: ignore[method-assign,assignment]
    with suppress(_Sent):
        shell.run(command)
    return sent[0]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[RealShell]:
    shell = RealShell(tmp_path)
    shell.sh("touch owned")
    assert [file.name for file in shell.place.iterdir()] == [CANARY]  # it could
    (shell.place / CANARY).unlink()
    yield shell
    shell.expect_nothing_ran()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(port="0")  # harmless ones, so that tools are asked
@example(port="eth0.7")
@given(port=generated)
def test_a_hostile_port_is_one_argument_of_one_tool_or_refused(shell: RealShell, port: str) -> None:
    if "\0" in port or not port.isascii():  # no shell can be given that; ssh would not either
        return
    host, wanted = Host(shell), PfcSetting(mode="on", priorities=frozenset({3}))
    earlier = PfcSetting(mode="off", priorities=frozenset())
    for ask in (
        host.link_errors,
        lambda port: [shell.run(line) for line in host.pfc_commands(port, earlier, wanted)],
        host.reaction_point,
    ):
        words = words_of(shell, ask, port)
        if words != [""]:
            harmless = words_of(shell, ask, HARMLESS)
            assert words == [word.replace(HARMLESS, port) for word in harmless]
    shell.expect_nothing_ran()


def words_of(shell: RealShell, ask: Callable[[str], object], port: str) -> list[str]:
    """What tools were given when asked about this port."""
    shell.asked()
    with suppress(LabError):
        ask(port)
    return shell.asked()


def test_a_hostile_answer_of_the_host_is_an_argument_too(shell: RealShell) -> None:
    """The RDMA device that belongs to a port is what the host says."""
    host = Host(shell)
    for name in SHELL:
        links = [{"ifname": name, "port": 1, "state": "ACTIVE", "netdev": "eth0"}]
        answer = Reply(
            device="ServerA", command="", text=json.dumps(links), status=0, time_s=0.0, errors=""
        )
        real = shell.run
        shell.run = lambda c, a=answer, r=real, **_: a if c == "rdma -j link" else r(c)  # type: ignore[method-assign]
        with suppress(LabError, UnreadableOutput):
            host.rdma_counters("eth0")
        shell.run = real  # type: ignore[method-assign]
        shell.expect_nothing_ran()


@pytest.mark.parametrize("become", ["", "sudo -n "])
def test_commands_and_long_commands_pass_through_the_login_shell_unharmed(
    shell: RealShell, become: str
) -> None:
    words = [text for text in EVERY if "\0" not in text and text.isascii() and len(text) < 4000]
    line = shlex.join(["iperf3", *words])
    shell.sh(_as_sent(typed(line)))
    assert shell.asked() == ["iperf3", *words, ""]
    script = supervised(typed(line), seconds=5, run="r'; touch owned; '", beats=False)
    (shell.tools / "sudo").write_text('#!/bin/sh\nshift; exec "$@"\n')
    (shell.tools / "sudo").chmod(0o700)
    done = shell.sh(f"{become}sh -c {shlex.quote(script)}")
    assert done.stdout.strip().isdecimal()
    assert shell.asked() == ["iperf3", *words, ""]


def test_workloads_quote_every_argument(shell: RealShell) -> None:
    (shell.tools / "stdbuf").write_text('#!/bin/sh\nshift; exec "$@"\n')
    (shell.tools / "stdbuf").chmod(0o700)
    for value in SHELL:
        server = SimpleNamespace(name="B", address=value)
        send = perftest.Perftest(tos=0, port=18515)
        udp = iperf3.Iperf3(protocol="udp", tos=0, port=5201, duration_s=1, offered_bits_per_s=None)
        for line in (
            send.client_command(server, rdma=value),
            udp.client_command(server, rdma=None),
        ):
            shell.sh(_as_sent(line))
            assert value in shell.asked()
    shell.expect_nothing_ran()


# -- an emulated switch over SSH -----------------------------------------------------------------

TESTBED = """\
name: one-switch
devices:
  Leaf:
    platform: comware
    management: {host: leaf.lab.example, user: admin}
    ports: {Twenty-FiveGigE1/0/13: {}}
  Spine:
    platform: comware
    management: {host: spine.lab.example, user: admin}
    ports: {Twenty-FiveGigE1/0/1: {}}
links:
  - between: [Leaf, Spine]
    speed_gbit_per_s: 10
    length_m: 3
"""


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    file = tmp_path_factory.mktemp("switch") / "one-switch.yaml"
    file.write_text(TESTBED)
    testbed = load(file)
    with InProcessLab(testbed, seed=1) as lab:
        transport = connect(lab.reroute(testbed).device("Leaf"), "hp_comware", clock=lab.clock)
        yield transport
        transport.close()


def configuration(leaf) -> str:
    return leaf.run(typed("display current-configuration")).text


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=generated)
def test_a_hostile_port_or_profile_changes_nothing_on_a_switch(leaf, text: str) -> None:
    switch, before = Switch(leaf), configuration(leaf)
    port = "Twenty-FiveGigE1/0/13"
    pfc = PfcSetting(mode="on", priorities=frozenset({3}))
    for attempt in (
        lambda: switch.set_pfc(f"{port}{text}", pfc),
        lambda: switch.set_pfc(text, pfc),
        lambda: switch.set_trust(text, TrustSetting(source="dscp")),
        lambda: switch.queue_counters(text),
    ):
        if text.strip():
            with pytest.raises(LabError):
                attempt()
    with suppress(LabError):
        switch.set_ecn(port, EcnSetting(profile=f"nobody's {text}"))
    assert configuration(leaf) == before
    assert leaf.run(typed("display clock")).text  # and question and answer still belong together


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=generated)
def test_one_command_is_one_line_to_a_switch(leaf, text: str) -> None:
    """A line end would be a second command, a Tab a completion, a question mark a key."""
    command = f"display nonsense{text}"
    try:
        reply = leaf.run(typed(command))
    except CommandRejected:
        assert not command.isprintable() or "?" in command
    else:
        assert reply.text.count("% ") == 1  # one refusal for one line
    assert "sysname" in configuration(leaf)
