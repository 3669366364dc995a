"""Scripts that somebody wrote with netmiko and Fabric, knowing nothing of labtests."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fabric
import netmiko
import pytest
from invoke.exceptions import CommandTimedOut, UnexpectedExit
from served_lab import INTERFACES, RECEIVER, ServedLab

A = INTERFACES["ServerA"]
PORT = "Twenty-FiveGigE1/0/14"


@pytest.fixture(scope="module")
def switch(served: ServedLab) -> Iterator[Any]:
    connection = netmiko.ConnectHandler(
        device_type="hp_comware",
        host="127.0.0.1",
        port=served.ports["S6550"],
        username="admin",
        password=served.password,
    )
    yield connection
    connection.disconnect()


@pytest.fixture(scope="module")
def host(served: ServedLab) -> Iterator[fabric.Connection]:
    with fabric.Connection("ServerA", config=configuration(served)) as connection:
        yield connection


def configuration(served: ServedLab) -> fabric.Config:
    """What a script would have, but for stdin, which pytest guards."""
    return fabric.Config(
        runtime_ssh_path=str(served.config), overrides={"run": {"in_stream": False}}
    )


def test_netmiko_configures_pfc_and_wred(switch: Any) -> None:
    pfc = ("priority-flow-control enable", "priority-flow-control no-drop dot1p 3")
    table = ("queue 3 drop-level 0 low-limit 10 high-limit 20", "queue 3 ecn")
    applied = ("qos trust dscp", "qos wred apply By-Hand")
    shown = switch.send_config_set(
        ["qos wred queue table By-Hand", *table, f"interface {PORT}", *pfc, *applied]
    )
    assert "%" not in shown
    running = switch.send_command(f"display current-configuration interface {PORT}")
    for line in ("priority-flow-control enable", "qos trust dscp", "qos wred apply By-Hand"):
        assert f"\n {line}\n" in running
    assert re.search(
        r"WGE1/0/14 +On +On +3", switch.send_command("display priority-flow-control interface")
    )
    assert "\n3     10    20    10 " in switch.send_command("display qos wred table name By-Hand")
    assert "Saved the current configuration" in switch.save_config()
    lines = ("qos wred apply", *("priority-flow-control" + n for n in (" no-drop dot1p", "")))
    undo = [f"undo {line}" for line in (*lines, "qos trust")]
    undone = switch.send_config_set(
        [f"interface {PORT}", *undo, "quit", "undo qos wred queue table By-Hand"]
    )
    assert "%" not in undone
    assert "By-Hand" not in switch.send_command("display current-configuration")


@pytest.mark.filterwarnings("ignore:path is deprecated")  # ntc-templates' own
def test_netmiko_reads_displays_that_ntc_templates_understand(switch: Any) -> None:
    ports = switch.send_command("display interface brief", use_textfsm=True)
    assert [port["interface"] for port in ports] == ["WGE1/0/13", "WGE1/0/14", "WGE1/0/15"]
    assert {port["link"] for port in ports} == {"UP"}
    assert len(switch.send_command("display interface").splitlines()) > 100  # nothing was paged
    assert "% Unrecognized command" in switch.send_command("show version")
    assert "display" in switch.send_command_timing("display foo", strip_command=False)


def test_netmiko_works_on_the_hosts_too(served: ServedLab) -> None:
    connection = netmiko.ConnectHandler(
        device_type="linux",
        host="127.0.0.1",
        port=served.ports["ServerB"],
        username="root",
        use_keys=True,
        key_file=str(served.directory / "id_ed25519"),
    )
    assert connection.send_command("hostname") == "ServerB"
    assert "rx_prio3_bytes" in connection.send_command("ethtool -S ens6f0np0 | grep prio3")
    assert connection.send_config_set(["echo 1 > /tmp/x", "cat /tmp/x"]).count("1") >= 1
    connection.disconnect()


def test_fabric_runs_fails_and_times_out(host: fabric.Connection) -> None:
    assert host.run("hostname", hide=True).stdout == "ServerA\n"
    assert host.run(f"mlnx_qos -i {A}", hide=True).ok
    assert host.run("false", warn=True, hide=True).exited == 1
    assert host.sudo("whoami", hide=True).stdout == "root\n"
    assert host.run("whoami", pty=True, hide=True).stdout == "root\r\n"
    with host.cd("/tmp"):
        assert host.run("pwd", hide=True).stdout == "/tmp\n"
    with pytest.raises(UnexpectedExit) as failure:
        host.run("mlnx_qoss", hide=True)
    assert failure.value.result.stderr == "bash: line 1: mlnx_qoss: command not found\n"
    assert failure.value.result.exited == 127
    # invoke asks whether its timer's thread is over, which has just closed the channel: when that
    # thread is slow to end it says UnexpectedExit, of a command without a status
    with pytest.raises((CommandTimedOut, UnexpectedExit)) as late:
        host.run("sleep 20", timeout=1, hide=True)
    assert late.value.result.exited == -1


def test_fabric_puts_a_script_and_gets_its_result(host: fabric.Connection, tmp_path: Path) -> None:
    script = f"for i in 3 4; do ethtool -S {A} | grep rx_prio${{i}}_packets; done > /tmp/result\n"
    host.put(io.BytesIO(script.encode()), "/tmp/counters.sh")
    host.run("bash /tmp/counters.sh", hide=True)
    host.get("/tmp/result", str(tmp_path / "result"))
    result = (tmp_path / "result").read_text()
    assert re.fullmatch(r" +rx_prio3_packets: \d+\n +rx_prio4_packets: \d+\n", result)


def test_fabric_runs_an_incast_of_a_group(served: ServedLab, host: fabric.Connection) -> None:
    config = configuration(served)
    with fabric.Connection("ServerC", config=config) as receiver:
        server = receiver.run("ib_send_bw -D 1 -p 18700", asynchronous=True, hide=True)
        served.wait_for("ServerC", "ss -tln", ":18700")
        client = host.run(f"ib_send_bw -D 1 -p 18700 {RECEIVER} --report_gbits", hide=True)
        assert "BW average[Gb/sec]" in client.stdout
        assert server.join().ok
    group = fabric.ThreadingGroup(*INTERFACES, config=config)
    assert sorted(result.stdout for result in group.run("hostname", hide=True).values()) == [
        "ServerA\n",
        "ServerB\n",
        "ServerC\n",
    ]
    group.close()
