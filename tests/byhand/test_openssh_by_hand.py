"""What an engineer does with nothing but an OpenSSH client."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import asyncssh
from served_lab import INTERFACES, RECEIVER, ServedLab, Terminal, password_environment

from labtests.simlab.transfer import Transfer

A = INTERFACES["ServerA"]
ECN = f"/sys/class/net/{A}/ecn"


def test_the_printed_ssh_config_opens_every_device(served: ServedLab) -> None:
    for host in INTERFACES:
        assert served.output(host, "hostname") == f"{host}\n"
    assert "H3C S6550XE-56HF-HI uptime is" in served.output("S6550", "display version")


def test_the_printed_password_opens_the_printed_port(served: ServedLab, tmp_path: Path) -> None:
    options = ["-o", "StrictHostKeyChecking=accept-new"]
    options += ["-o", f"UserKnownHostsFile={tmp_path / 'known'}", "-o", "LogLevel=ERROR"]
    environment = password_environment(tmp_path, served.password)
    for device, user in (("ServerB", "root"), ("S6550", "admin")):
        line = re.search(rf"ssh -p (\d+) ({user}@127\.0\.0\.1) +# {device}\n", served.text)
        assert line is not None, served.text
        words = "whoami" if user == "root" else "display clock"
        command = ["ssh", *options, "-p", line[1], line[2], words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=20)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.fullmatch(r"root\n|\d\d:\d\d:\d\d UTC .*\n", done.stdout)


def test_pfc_and_trust_are_set_by_mlnx_qos_and_read_back(served: ServedLab) -> None:
    served.output("ServerA", f"mlnx_qos -i {A} --pfc 0,0,0,1,0,0,0,0 --trust dscp")
    shown = served.output("ServerA", f"mlnx_qos -i {A}")
    assert "Priority trust state: dscp\n" in shown
    assert "\tenabled     0   0   0   1   0   0   0   0   \n" in shown
    assert served.output("ServerA", f"ethtool -S {A} | grep -c 'x_prio3_pause:'") == "2\n"
    served.output("ServerA", f"mlnx_qos -i {A} -f 0,0,0,0,0,0,0,0 --trust pcp")
    assert served.run("ServerA", f"ethtool -S {A} | grep -c 'x_prio3_pause:'").stdout == "0\n"


def test_sysfs_is_read_and_written_as_on_a_host(served: ServedLab) -> None:
    toggle = f"{ECN}/roce_rp/enable/2"
    assert served.output("ServerA", f"echo 0 > {toggle}; cat {toggle}") == "0\n"
    assert served.output("ServerA", f"echo 1 | sudo tee {toggle}") == "1\n"
    loop = f"for i in 0 1 2; do cat {ECN}/roce_rp/enable/$i; done"
    assert served.output("ServerA", loop) == "1\n1\n1\n"
    refused = served.run("ServerA", f"echo 99 > {ECN}/roce_np/cnp_dscp")
    assert (refused.returncode, refused.stderr.endswith("write error: Invalid argument\n")) == (
        1,
        True,
    )
    assert served.output("ServerA", f"cat {ECN}/roce_np/cnp_dscp") == "48\n"


def test_the_rdma_device_is_found_by_the_usual_tools(served: ServedLab) -> None:
    assert served.output("ServerA", "rdma link") == (
        f"link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev {A} \n"
    )
    assert served.output("ServerA", "ibdev2netdev") == f"mlx5_0 port 1 ==> {A} (Up)\n"
    gid = served.output("ServerA", "show_gids | awk '/192.168.10.10/ && /v2/ {print $3}'")
    assert gid == "3\n"


def test_ib_send_bw_by_hand_moves_the_counters(served: ServedLab) -> None:
    counter = f"ethtool -S {A} | awk '/tx_prio0_packets/ {{print $2}}'"
    before = int(served.output("ServerA", counter))
    server = served.start("ServerC", "ib_send_bw -d mlx5_0 -D 2 -p 18601")
    served.wait_for("ServerC", "ss -tln", ":18601")
    client = served.output("ServerA", f"ib_send_bw -d mlx5_0 -D 2 -p 18601 {RECEIVER}")
    row = re.search(r"^ 65536 +(\d+) +0\.00 +(\d+\.\d\d)\s", client, re.MULTILINE)
    assert row is not None, client
    assert int(row[1]) > 1000
    assert 1000 < float(row[2]) < 1110  # MiB/s; 10G carries at most 1104 of them at MTU 1024
    assert server.communicate(timeout=10)[0].count(" 65536 ") == 1
    assert server.returncode == 0
    assert int(served.output("ServerA", counter)) - before >= 64 * int(row[1])
    assert served.output("ServerA", "ps aux | grep -c [i]b_send_bw || true") == "0\n"


def test_an_endless_ib_send_bw_ends_by_control_c_and_its_server_by_pkill(
    served: ServedLab,
) -> None:
    server = served.start("ServerC", "ib_send_bw -d mlx5_0 -p 18602 --run_infinitely")
    served.wait_for("ServerC", "ss -tln", ":18602")
    with Terminal(served.ssh("ServerA")) as terminal:
        terminal.read(r"# $")
        command = f"ib_send_bw -d mlx5_0 -p 18602 --run_infinitely {RECEIVER}\r"
        terminal.type(command, r"#bytes .*\n")
        assert terminal.type("\x03", r"# $").endswith("^C\r\nroot@ServerA:~# ")
        assert "\r\n130\r\n" in terminal.type("echo $?\r", r"# $")
        terminal.type("exit 0\r", "<end>|closed")
    assert "18602" in served.output("ServerC", "ps aux | grep [i]b_send_bw")
    assert served.run("ServerC", "pkill -f 'p 18602'").returncode == 0
    server.communicate(timeout=10)
    assert server.returncode == 143


def test_a_program_on_a_closed_terminal_ends(served: ServedLab) -> None:
    server = served.start("ServerC", "ib_send_bw -d mlx5_0 -p 18603 --run_infinitely")
    served.wait_for("ServerC", "ss -tln", ":18603")
    client = served.start(
        "ServerA", f"ib_send_bw -d mlx5_0 -p 18603 --run_infinitely {RECEIVER}", "-tt"
    )
    served.wait_for("ServerA", "pgrep -a ib_send_bw", "18603")
    client.kill()
    client.communicate()
    served.wait_for("ServerA", "pgrep -fc 'p 18603'", "0\n")
    pid = served.output("ServerC", "pgrep -f 'p 18603'").strip()
    assert served.run("ServerC", f"kill {pid}").returncode == 0
    server.communicate(timeout=10)


def test_a_client_without_a_server_says_so(served: ServedLab) -> None:
    done = served.run("ServerA", f"ib_send_bw -d mlx5_0 -p 18604 {RECEIVER}")
    assert done.returncode == 1
    assert f"Couldn't connect to {RECEIVER}:18604\n" in done.stdout + done.stderr


def test_iperf3_speaks_udp_and_tcp_in_text_and_json(served: ServedLab) -> None:
    server = served.start("ServerC", "iperf3 -s -p 5301")
    served.wait_for("ServerC", "ss -tln", ":5301")
    udp = served.output("ServerA", f"iperf3 -c {RECEIVER} -p 5301 -u -b 1G -l 1400 -t 1")
    assert re.search(r"(1\.00 G|1000 M)bits/sec .* 0/\d+ \(0%\)  receiver\n", udp), udp
    tcp = json.loads(served.output("ServerA", f"iperf3 -c {RECEIVER} -p 5301 -t 1 -J"))
    assert tcp["end"]["sum_received"]["bits_per_second"] > 8e9
    assert served.output("ServerC", "cat /proc/net/snmp | grep ^Udp: | tail -1").split()[1] != "0"
    served.run("ServerC", "pkill iperf3")
    assert "Server listening on 5301" in server.communicate(timeout=10)[0]


def test_a_script_on_ssh_s_stdin_runs_without_prompts(served: ServedLab) -> None:
    script = "hostname\nfor i in 1 2\ndo echo $i\ndone\nsleep 0.1\nexit 3\n"
    done = subprocess.run(
        served.ssh("ServerB", options=["-T"]),
        input=script,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (done.returncode, done.stdout) == (3, "ServerB\n1\n2\n")


def test_files_come_and_go_by_scp(served: ServedLab, tmp_path: Path) -> None:
    sent, back = tmp_path / "sent", tmp_path / "back"
    sent.write_bytes(bytes(range(256)) * 500)
    scp = ["scp", "-q", "-F", str(served.config)]
    subprocess.run([*scp, str(sent), "ServerA:/tmp/by-hand"], check=True, timeout=20)
    assert served.output("ServerA", "wc -c < /tmp/by-hand") == f"{sent.stat().st_size}\n"
    subprocess.run([*scp, "ServerA:/tmp/by-hand", str(back)], check=True, timeout=20)
    assert back.read_bytes() == sent.read_bytes()
    done = subprocess.run(
        [*scp, "ServerA:/etc/shadow", str(tmp_path)], capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, "No such file" in done.stderr) == (1, True)
    assert not (tmp_path / "shadow").exists()
    done = subprocess.run([*scp, str(sent), "S6550:/"], capture_output=True, timeout=20)
    assert done.returncode == 255  # as a switch whose SFTP server is off


def test_bytes_that_are_no_text_go_through_a_host_unharmed(served: ServedLab) -> None:
    data = os.urandom(50_000) + b"\n"  # not to end inside a character
    done = subprocess.run(
        served.ssh("ServerA", "cat > /tmp/b; cat /tmp/b"), input=data, capture_output=True
    )
    assert done.stdout == data


def test_ping_finds_the_other_hosts_and_nobody_else(served: ServedLab) -> None:
    assert served.output("ServerA", f"ping -c 1 {RECEIVER}").splitlines()[1] == (
        f"64 bytes from {RECEIVER}: icmp_seq=1 ttl=64 time=0.051 ms"
    )
    started = time.monotonic()
    lost = served.run("ServerA", "ping -c 1 -W 1 192.168.10.99")
    assert 0.9 < time.monotonic() - started < 5
    assert lost.returncode == 1
    assert "1 packets transmitted, 0 received, 100% packet loss, time 0ms\n" in lost.stdout
    away = served.run("ServerA", "ping -c 1 10.9.9.9")
    assert (away.returncode, away.stderr) == (2, "ping: connect: Network is unreachable\n")


def test_sftp_reaches_no_file_of_this_machine() -> None:
    """asyncssh's server works on real files: every method that does must be replaced."""
    harmless = {"format_user", "format_group", "format_longname", "map_path", "reverse_map_path"}
    harmless |= {"convert_attrs", "lock", "unlock", "channel", "connection", "env", "logger"}
    methods = {name for name in vars(asyncssh.SFTPServer) if not name.startswith("_")}
    assert methods - harmless <= set(vars(Transfer))
