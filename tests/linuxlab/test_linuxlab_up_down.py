"""Labs of namespaces come up, are repaired, and leave nothing. Root only."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from linux_labs import file_of, in_namespace, loaded, rules, traces
from typed import typed

from labtests.__main__ import main
from labtests.core.clock import WallClock
from labtests.core.errors import LabError
from labtests.inventory import Testbed
from labtests.journal import Begun, register, this_runner, unfinished_runs
from labtests.linuxlab import command, processes
from labtests.linuxlab.ledger import ledger_of
from labtests.transport.ssh.connecting import SHELL, connect_all

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, machine: None) -> Iterator[Testbed]:
    """A lab that is up. Tests that damage it have it repaired by the next `up`."""
    testbed = loaded(file_of(tmp_path_factory.mktemp("lab"), 0))
    command.up(testbed, _quiet)
    yield testbed
    command.down(testbed.name, _quiet)
    assert traces(testbed.name) == []


def _quiet(_: str) -> None:
    """Nobody listens."""


def _status(lab: Testbed) -> tuple[int, str]:
    said: list[str] = []
    code = command.status(lab, said.append)
    return code, "\n".join(said)


def _runners(lab: Testbed) -> dict[str, tuple[int, int]]:
    ledger = ledger_of(lab.name)
    assert ledger is not None
    return ledger.runners


def _queue_packets(lab: Testbed, port: str) -> dict[int, int]:
    text = in_namespace(lab.name, "s", "tc", "-s", "qdisc", "show", "dev", port)
    found = re.findall(r"qdisc bfifo 10(\d): .*\n Sent \d+ bytes (\d+) pkt \(dropped 0,", text)
    return {int(queue): int(packets) for queue, packets in found}


def _through(lab: Testbed, port: str, packets: int) -> dict[int, int]:
    """The queues' packets when so many are through: on a busy machine the kernel moves them, and
    counts them, some time after the sender has ended. What is lost is missing in the end."""
    deadline = time.monotonic() + 10
    while sum((found := _queue_packets(lab, port)).values()) < packets:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return found


def _send(lab: Testbed, dscp: int, packets: int) -> None:
    """Datagrams from a to b: the socket is made inside a's namespace, by a process there."""
    code = (
        "import socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
        f"s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, {dscp << 2});"
        f"[s.sendto(bytes(100), ('10.70.0.2', 9)) for _ in range({packets})]"
    )
    in_namespace(lab.name, "a", sys.executable, "-S", "-c", code)


# -- what is made ------------------------------------------------------------------------------


def test_every_device_is_a_host_of_its_own_behind_its_own_sshd(lab: Testbed) -> None:
    sessions = connect_all(lab.devices, lambda _: SHELL, clock=WallClock())
    try:
        for name, session in sessions.items():
            asked = session.run(
                typed("hostname; ps -e -o pid=,comm= | head -1; ls -A /tmp; ls /sys/class/net")
            )
            hostname, first, *interfaces = asked.text.split("\n")
            assert hostname == name
            assert first.split() == ["1", "sshd"]
            assert {"lo", "mgmt0"} < set(interfaces)
        sessions["a"].run(typed("echo left > /tmp/note; echo left > /root/note"))
        assert sessions["b"].run(typed("cat /tmp/note /root/note")).status != 0
    finally:
        for session in sessions.values():
            session.close()
    assert not Path("/tmp/note").exists()


def test_tcp_of_its_hosts_asks_for_ecn(lab: Testbed) -> None:
    """Else the suite of TCP with ECN is skipped, whatever the kernel has."""
    for host in ("a", "b"):
        assert in_namespace(lab.name, host, "cat", "/proc/sys/net/ipv4/tcp_ecn").strip() == "1"


def test_what_its_ports_receive_goes_through_one_cpu(lab: Testbed) -> None:
    """Else datagrams overtake each other, and a healthy lab is inconclusive."""
    for device, port in (("a", "eth1"), ("b", "eth1")):
        file = f"/sys/class/net/{port}/queues/rx-0/rps_cpus"
        cpus = in_namespace(lab.name, device, "cat", file)
        assert int(cpus.replace(",", ""), 16) == 1


def test_status_says_each_device_and_what_the_kernel_lacks(lab: Testbed) -> None:
    code, said = _status(lab)

    assert code == 0, said
    for device in lab.devices:
        assert f"{device.name}: ok" in said
    assert "p1 200 Mbit/s, p2 100 Mbit/s" in said
    assert "no PFC" in said


def _counted(lab: Testbed, *, dscp: int, packets: int) -> dict[int, int]:
    """How many packets each queue towards b got of so many that a sent."""
    before = _queue_packets(lab, "p2")
    _send(lab, dscp=dscp, packets=packets)
    after = _through(lab, "p2", sum(before.values()) + packets)
    assert set(before) == set(after) == set(range(8))
    return {queue: after[queue] - before[queue] for queue in after if after[queue] > before[queue]}


def _command(*words: str) -> None:
    subprocess.run(words, check=True)


def test_a_packet_goes_through_the_queue_of_its_dscp_and_no_other_is_touched(lab: Testbed) -> None:
    back = _queue_packets(lab, "p1")
    back.pop(6)  # there ICMP says that nobody listens: its DSCP is 48

    found = [_counted(lab, dscp=9 * queue, packets=queue + 1) for queue in range(8)]

    assert found == [{queue: queue + 1} for queue in range(8)]
    assert _queue_packets(lab, "p1").items() >= back.items()


# -- up twice, repair --------------------------------------------------------------------------


def test_up_twice_is_the_same_lab(lab: Testbed) -> None:
    packets = sum(_queue_packets(lab, "p2").values())
    _send(lab, dscp=24, packets=1)
    before = _runners(lab), _through(lab, "p2", packets + 1)

    command.up(lab, _quiet)

    assert (_runners(lab), _queue_packets(lab, "p2")) == before


def _other_limit(lab: Testbed) -> None:
    leaf = ["parent", "1:13", "handle", "103:", "bfifo", "limit", "9000"]
    in_namespace(lab.name, "s", "tc", "qdisc", "change", "dev", "p2", *leaf)


def _repaired(lab: Testbed, damage: Callable[[], None]) -> str:
    """What status says after the damage; the next `up` has repaired it."""
    damage()
    code, said = _status(lab)
    command.up(lab, _quiet)
    assert code == command.NOT_USABLE
    assert _status(lab)[0] == 0
    return said


def test_a_damaged_network_is_told_by_device_and_repaired_and_no_sshd_is_touched(
    lab: Testbed,
) -> None:
    def damage() -> None:
        _other_limit(lab)
        in_namespace(lab.name, "a", "ip", "link", "set", "eth1", "mtu", "1400")
        in_namespace(lab.name, "b", "ip", "addr", "flush", "dev", "eth1")
        in_namespace(lab.name, "s", "ip", "link", "set", "p1", "nomaster")

    before = _runners(lab)

    said = _repaired(lab, damage)

    assert "a: WRONG: eth1 has MTU 1400, not 1500" in said
    assert "b: WRONG: eth1 does not have the address 10.70.0.2/24" in said
    assert "s: WRONG: p1 is not a port of br0; queues of p2 are not as they were made: " in said
    assert "`qdisc bfifo 103: parent 1:13 limit 1Mb` is missing" in said
    assert _runners(lab) == before


def test_a_cable_that_is_gone_and_a_killed_sshd_come_back_and_the_others_go_on(
    lab: Testbed,
) -> None:
    def damage() -> None:
        in_namespace(lab.name, "b", "ip", "link", "del", "eth1")
        os.kill(before["a"][0], signal.SIGKILL)

    before = _runners(lab)

    said = _repaired(lab, damage)

    assert "b: WRONG: eth1 is missing" in said
    assert "s: WRONG: p2 is missing" in said
    assert re.search(r"a: WRONG: its sshd \(\S+:22\) does not run", said)
    after = _runners(lab)
    assert after["a"] != before["a"]
    assert (after["b"], after["s"]) == (before["b"], before["s"])
    assert _counted(lab, dscp=40, packets=3) == {5: 3}


def test_a_namespace_that_was_deleted_by_hand_comes_back(lab: Testbed) -> None:
    before = _runners(lab)

    said = _repaired(lab, lambda: _command("ip", "netns", "del", f"labtests:{lab.name}:b"))

    assert "b: WRONG: namespace" in said
    assert not processes.alive(before["b"])
    assert _counted(lab, dscp=0, packets=2) == {0: 2}


def test_other_users_of_the_machine_reach_no_sshd_and_the_runner_does(lab: Testbed) -> None:
    management = lab.device("a").management
    dial = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"
    words = [sys.executable, "-I", "-c", dial, management.host, str(management.port)]
    python = ["/usr/bin/python3", *words[1:]]  # anybody may run it
    if not Path(python[0]).exists():
        pytest.skip("no python that another user may run")
    theirs = subprocess.run(python, user=65534, group=65534, cwd="/", capture_output=True)
    assert b"PermissionError" in theirs.stderr
    assert subprocess.run(words, check=False).returncode == 0


def test_a_lab_that_goes_takes_its_routing_rule_along(tmp_path: Path) -> None:
    testbed = loaded(file_of(tmp_path, 3))
    network = testbed.device("a").management.host.rpartition(".")[0]
    command.up(testbed, _quiet)
    command.up(testbed, _quiet)
    during = rules().count(f" {network}.")
    command.down(testbed.name, _quiet)
    assert (during, rules().count(f" {network}.")) == (1, 0)


# -- nothing is left ---------------------------------------------------------------------------


def test_two_labs_stand_side_by_side_and_one_goes_without_the_other(
    lab: Testbed, tmp_path: Path
) -> None:
    other = loaded(file_of(tmp_path, 1, section="scheduling: strict, mtu: 9000"))
    command.up(other, _quiet)
    stranger = subprocess.Popen(["ip", "netns", "exec", f"labtests:{other.name}:a", "sleep", "60"])

    both = _status(lab)[0], _status(other)[0]
    command.down(other.name, _quiet)

    assert both == (0, 0)
    assert traces(other.name) == []
    assert stranger.wait(5) == -signal.SIGKILL  # whatever ran in a namespace of the lab
    assert _status(lab)[0] == 0


def test_a_management_network_that_is_in_use_is_refused_with_whose_it_is(
    lab: Testbed, tmp_path: Path
) -> None:
    clashing = loaded(file_of(tmp_path, 0, name="clashing"))

    with pytest.raises(LabError) as caught:
        command.up(clashing, _quiet)

    assert re.search(rf"\(lab {lab.name}\) has .* overlaps .*\n  remedy: ", str(caught.value))
    assert traces("clashing") == []


def test_a_namespace_that_somebody_else_made_is_refused_and_left(tmp_path: Path) -> None:
    theirs = loaded(file_of(tmp_path, 2))
    namespace = f"labtests:{theirs.name}:b"
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    try:
        with pytest.raises(LabError) as caught:
            command.up(theirs, _quiet)
        assert f"namespace {namespace} exists" in str(caught.value)
        assert traces(theirs.name) == [f"namespace {namespace}"]
    finally:
        subprocess.run(["ip", "netns", "del", namespace], check=True)


def test_an_up_that_fails_names_the_device_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = loaded(file_of(tmp_path, 3))
    real = processes.program
    monkeypatch.setattr(
        processes, "program", lambda name: "/bin/false" if name == "sshd" else real(name)
    )

    with pytest.raises(LabError, match=r"a: 'sshd on .*ended.*\n.*remedy"):
        command.up(failing, _quiet)

    assert traces(failing.name) == []


@pytest.mark.parametrize("when", ["box.a/host_key", "box.s/sshd.log"])
def test_what_a_killed_up_has_left_is_removed_by_the_next_down(tmp_path: Path, when: str) -> None:
    file = file_of(tmp_path, 4)
    name = loaded(file).name
    code = (
        "import sys; from labtests.inventory import load; from labtests.linuxlab import command;"
        "command.up(load(sys.argv[1]), print)"
    )
    runner = subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not Path(f"/run/labtests/linuxlab/{name}/{when}").exists():
        assert time.monotonic() < deadline
        assert runner.poll() is None
        time.sleep(0.005)
    runner.kill()
    runner.wait(5)
    assert traces(name) != []

    said: list[str] = []
    command.down(name, said.append)

    assert traces(name) == []
    assert said == [f"{name} is down"]


def test_the_command_line_says_that_a_lab_is_not_up_and_down_by_name_is_fine(
    tmp_path: Path,
) -> None:
    file = file_of(tmp_path, 5)
    name = loaded(file).name

    status = CliRunner().invoke(main, ["linuxlab", "status", str(file)])
    down = CliRunner().invoke(main, ["linuxlab", "down", name])

    assert (status.exit_code, status.output) == (10, f"{name} is not up\n")
    assert (down.exit_code, down.output) == (0, f"{name} is not up: nothing to remove\n")
    assert traces(name) == []


def _died(testbed: Testbed, *, run: str, started_ticks: int) -> Begun:
    return Begun(
        run=run,
        runner=replace(this_runner(), started_ticks=started_ticks),
        testbed=testbed.name,
        file=str(testbed.file),
        backend="namespaces",
        dry_run=False,
        devices=testbed.devices,
    )


@pytest.mark.parametrize("end", ["down", "reboot"])
def test_what_a_run_that_died_changed_is_gone_with_its_lab_and_holds_no_later_one_up(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    lab = loaded(file_of(tmp_path, 6))
    other = loaded(file_of(tmp_path, 7))
    alive = this_runner().started_ticks
    for number, (testbed, ticks) in enumerate([(lab, 1), (other, 1), (lab, alive)]):
        run = f"20260101-12000{number}-abcdef"
        register(tmp_path / "changes.jsonl", _died(testbed, run=run, started_ticks=ticks))
    said: list[str] = []
    if end == "down":
        with monkeypatch.context() as earlier:  # the run died while the lab was up
            earlier.setenv("LABTESTS_STATE_DIR", str(tmp_path / "unused"))
            command.up(lab, _quiet)
        command.down(lab.name, said.append)
    else:
        command.up(lab, said.append)
        command.down(lab.name, _quiet)

    left = [run.run for run in unfinished_runs()]
    assert left == ["20260101-120001-abcdef", "20260101-120002-abcdef"]
    assert [line for line in said if "did not end properly" in line] == [
        f"run 20260101-120000-abcdef ({lab.name}) did not end properly: "
        "what it changed went with the lab, so nothing is to be put back"
    ]


def test_a_lab_that_is_repaired_keeps_what_a_run_that_died_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    lab = loaded(file_of(tmp_path, 8))
    command.up(lab, _quiet)
    try:
        left = _died(lab, run="20260101-120000-abcdef", started_ticks=1)
        register(tmp_path / "changes.jsonl", left)
        command.up(lab, _quiet)
        assert [run.run for run in unfinished_runs()] == [left.run]
    finally:
        command.down(lab.name, _quiet)
    assert unfinished_runs() == []
