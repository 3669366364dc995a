"""Everything an engineer types in the first ten minutes is answered as a box would, or refused."""

import re
from collections.abc import Iterator

import paramiko
import pytest
from served_lab import INTERFACES, RECEIVER, ServedLab

A = INTERFACES["ServerA"]
NET = f"/sys/class/net/{A}"
HW = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"

ANSWERED = {  # command: what its output has to match somewhere
    f"mlnx_qos -i {A}": r"Priority trust state: pcp\n(?s:.*)PFC configuration:\n",
    f"mlnx_qos -i {A} --pfc 0,0,0,0,0,0,0,0": r"\tenabled     0   0   0   0   0   0   0   0   \n",
    "mlnx_qos -h": r"\AUsage: mlnx_qos -i <interface> \[options\]\n",
    "mlnx_qos --help | grep -c trust": r"^[1-9]",
    f"ethtool {A}": rf"\ASettings for {A}:\n(?s:.*)Speed: 10000Mb/s\n",
    f"ethtool -a {A}": r"\APause parameters for",
    f"ethtool -i {A}": r"\Adriver: mlx5_core\n",
    f"ethtool -S {A} | grep prio3_bytes": r"\A     rx_prio3_bytes: \d+\n",
    f"ethtool -S {A} | grep -E 'rx_prio[34]_packets' | sed 's/ //g'": r"\Arx_prio3_packets:\d+\n",
    f"ethtool -S {A} | awk '/rx_prio3_bytes/ {{print $2}}'": r"\A\d+\n\Z",
    f"ethtool -S {A} | grep pause | sort -t: -k2 -nr | head -3": r"pause",
    "ethtool --version": r"\Aethtool version 5\.\d+\n",
    "ip a": rf"\n2: {A}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 ",
    f"ip addr show {A} | grep 'inet '": r"\A    inet 192\.168\.10\.10/24 brd 192\.168\.10\.255 ",
    "ip -s link": rf"\n2: {A}: ",
    "ip -br link": rf"\n{A} +UP +b8:59:9f",
    "ip -br addr": r"192\.168\.10\.10/24 \n",
    "ip route": rf"\A192\.168\.10\.0/24 dev {A} ",
    f"ip route get {RECEIVER}": rf"\A{RECEIVER} dev {A} src 192\.168\.10\.10 ",
    "cat /proc/net/snmp | grep Udp": r"\AUdp: InDatagrams NoPorts InErrors OutDatagrams Rcv",
    f"for i in 0 1 2 3 4 5 6 7; do cat {NET}/ecn/roce_rp/enable/$i; done": r"\A([01]\n){8}\Z",
    f"for f in {NET}/ecn/roce_np/*; do [ -f $f ] && echo $f; done": r"/min_time_between_cnps\n",
    f"ls {NET}/ecn/roce_rp": r"(?s)\Aclamp_tgt_rate.*rpg_time_reset\n\Z",
    f"cat {NET}/ecn/roce_np/cnp_dscp": r"\A\d+\n\Z",
    f"grep . {NET}/ecn/roce_np/*": r"/cnp_dscp:\d+\n",
    "ls /sys/class/net": rf"^{A}$",
    "ls -l /sys/class/infiniband": r"mlx5_0\n",
    f"cat {NET}/mtu {NET}/operstate {NET}/speed": r"\A1500\nup\n10000\n\Z",
    f"cat {HW}/out_of_sequence": r"\A\d+\n\Z",
    f"grep . {HW}/*cnp*": r"/rp_cnp_handled:\d+\n",
    "ibv_devinfo -d mlx5_0": r"(?s)\Ahca_id:\tmlx5_0\n.*PORT_ACTIVE",
    "ibdev2netdev -v": r"mlx5_0",
    "show_gids": r"\tv2\t",
    "rdma link": rf"\Alink mlx5_0/1 state ACTIVE physical_state LINK_UP netdev {A} \n",
    "rdma statistic show link mlx5_0/1": r"np_cnp_sent \d+ ",
    "cma_roce_tos -d mlx5_0": r"\A\d+\n\Z",
    "which ib_send_bw": r"\A/usr/bin/ib_send_bw\n\Z",
    "type mlnx_qos": r"\Amlnx_qos is /usr/bin/mlnx_qos\n\Z",
    f"ping -c 1 {RECEIVER}": r", 0% packet loss, time 0ms\nrtt min/avg/max/mdev = ",
    f"ping -c 3 -i 0.05 -q {RECEIVER}": r"\n3 packets transmitted, 3 received, 0% packet loss",
    f"ping -c 1 -s 1472 -M do {RECEIVER}": r"\n1480 bytes from ",
    "hostname": r"\AServerA\n\Z",
    "uname -a": r"\ALinux ServerA 5\.15\.",
    "cat /etc/os-release": r"Ubuntu",
    "date": r" UTC 2024\n",
    "whoami; id; pwd": r"\Aroot\nuid=0\(root\)",
    "ps aux": r"\AUSER +PID ",
    "ps -ef | grep ib_": r"",
    "ss -tlnp": r":22 ",
    "env | grep HOME": r"\AHOME=/root\n\Z",
    "seq 3 | sed -n '2,3p'": r"\A2\n3\n\Z",
    "for i in 1 2 3 4; do [ $i = 3 ] && break; echo $i; done": r"\A1\n2\n\Z",
    "while read l; do echo got $l; done < /etc/hostname": r"\Agot ServerA\n\Z",
    "touch /tmp/a; cp /tmp/a /tmp/b; mv /tmp/b /tmp/c; ls /tmp/[ac]": r"\A/tmp/a\n/tmp/c\n\Z",
    "iperf3 --version": r"\Aiperf 3\.12\n",
    "sudo -n whoami": r"\Aroot\n\Z",
    "echo $((2*8)) $(hostname) `pwd` ${HOME}": r"\A16 ServerA /root /root\n\Z",
    "cat <<< hi": r"\Ahi\n\Z",
}
REFUSED = {  # command: its exit status, and what it complains
    "nosuchcommand": (127, "bash: line 1: nosuchcommand: command not found\n"),
    "/usr/bin/nosuch": (127, "bash: line 1: /usr/bin/nosuch: No such file or directory\n"),
    "cat /nonexistent": (1, "cat: /nonexistent: No such file or directory\n"),
    "ls /nope": (2, "ls: cannot access '/nope': No such file or directory\n"),
    "cd /nope": (1, "bash: line 1: cd: /nope: No such file or directory\n"),
    "mlnx_qos -i eth9": (1, "Netlink error: No such device\n"),
    "ethtool -z": (1, "ethtool: bad command line argument(s)\n"),
    "ping nosuchhost": (2, "ping: nosuchhost: Name or service not known\n"),
    "ping": (2, "ping: usage error: Destination address required\n"),
    f"ping -c 1 -s 8972 -M do {RECEIVER}": (1, "local error: message too long, mtu=1500\n"),
    "ping -c x 1.2.3.4": (2, "ping: invalid argument: ‘x’\n"),
    "systemctl status lldpad": (4, "Unit lldpad.service could not be found.\n"),
    "iperf3": (1, "iperf3: parameter error"),
    "echo 1 > /sys/nope": (1, "bash: line 1: /sys/nope: Permission denied\n"),
    "if true; then": (2, "syntax error: unexpected end of file\n"),
    "echo 'open": (2, "unexpected EOF while looking for matching `''\n"),
    "awk '{print substr($1,1)}' /etc/hostname": (
        2,
        "awk: the simulated box does not emulate this: ",
    ),
    "nproc": (127, "nproc: command not found (the simulated box is no whole Linux host)\n"),
    "rdma dev": (1, "rdma: the simulated box does not emulate this: rdma dev\n"),
    "head -n x /etc/hostname": (1, "head: invalid number of lines: ‘x’\n"),
    "grep '(' -E /etc/hostname": (2, "grep: Invalid regular expression\n"),
    "kill 99999": (1, "bash: line 1: kill: (99999) - No such process\n"),
    "sudo -n nosuch": (1, "sudo: nosuch: command not found\n"),
    "watch date": (1, "Error opening terminal: unknown.\n"),
    "python3 --version": (1, "emulate this: Python; of Ansible, use raw\n"),
    "chmod +x /tmp/a": (1, "of Ansible, whose modules bring Python, use raw\n"),
    "exit nonsense": (2, "exit: nonsense: numeric argument required\n"),
}
DISPLAYS = {
    "display version": r"\AH3C Comware Software, Version 7\.1\.070, ",
    "display clock": r"\A\d\d:\d\d:\d\d UTC ",
    "display interface brief": r"\nWGE1/0/14 +UP +10G\(a\) ",
    "display interface twe1/0/13": r"\ATwenty-FiveGigE1/0/13\nCurrent state: UP\n",
    "display current-configuration": r"\n sysname S6550\n",
    "display current-configuration interface twe1/0/13": r"\n port link-mode bridge\n",
    "dis cur | begin 1/0/15": r"\Ainterface Twenty-FiveGigE1/0/15\n",
    "dis cur | exclude port": r"\A#\n",
    "display priority-flow-control interface": r"\nWGE1/0/13 ",
    "display qos queue-statistics interface twe1/0/13 outbound": r" Queue 7\n  Forwarded: \d+ ",
    "display packet-drop interface twe1/0/13": r"Packets of ECN marked: \d+\n",
    "display packet-drop summary": r"\n",
    "display qos wred table": r"\ATable name: Default\n",
    "display qos map-table dscp-dot1p": r"MAP-TABLE NAME: dscp-dot1p",
    "display qos map-table": r"dscp-lp",
    "display qos trust interface": r"Twenty-FiveGigE1/0/14",
    "display qos queue wrr interface twe1/0/13": r"Twenty-FiveGigE1/0/13",
    "system-view\ndisplay this": r"System View: return to User View with Ctrl\+Z\.\n#\n sysname",
    "display this": r"\A#\n",
}
CLI_REFUSED = {
    "show version": "Unrecognized command",
    "display": "Incomplete command",
    "display qos queue-statistics": "Incomplete command",
    "display interface twe1/0/99": "Wrong parameter",
    "display clock now": "Too many parameters",
    "s": "Ambiguous command",
    "interface twe1/0/13": "Unrecognized command",  # of system view
    "reboot": "Unrecognized command",
    "configure terminal": "Unrecognized command",
}


class Session:
    """One SSH connection by plain paramiko."""

    def __init__(self, served: ServedLab, device: str, user: str) -> None:
        self.client = paramiko.SSHClient()
        self.client.load_host_keys(str(served.directory / "known_hosts"))
        self.client.connect(
            "127.0.0.1",
            served.ports[device],
            username=user,
            password=served.password,
            allow_agent=False,
            look_for_keys=False,
        )

    def run(self, command: str) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        _, out, err = self.client.exec_command(command, timeout=10)
        texts = out.read().decode(), err.read().decode()
        return out.channel.recv_exit_status(), *texts


@pytest.fixture(scope="module")
def host(served: ServedLab) -> Iterator[Session]:
    session = Session(served, "ServerA", "root")
    yield session
    session.client.close()


@pytest.fixture(scope="module")
def switch(served: ServedLab) -> Iterator[Session]:
    session = Session(served, "S6550", "admin")
    yield session
    session.client.close()


@pytest.mark.parametrize("command", ANSWERED)
def test_a_host_answers(host: Session, command: str) -> None:
    _, out, err = host.run(command)
    assert re.search(ANSWERED[command], out or err, re.MULTILINE), (out, err)
    assert "Traceback" not in out + err


@pytest.mark.parametrize("command", REFUSED)
def test_a_host_refuses(host: Session, command: str) -> None:
    status, words = REFUSED[command]
    seen, out, err = host.run(command)
    assert seen == status
    assert words in out + err


@pytest.mark.parametrize("command", DISPLAYS)
def test_the_switch_shows(switch: Session, command: str) -> None:
    status, out, err = switch.run(command)
    assert re.search(DISPLAYS[command], out), out
    assert (status, err) == (0, "")


@pytest.mark.parametrize("command", CLI_REFUSED)
def test_the_switch_refuses(switch: Session, command: str) -> None:
    _, out, _ = switch.run(command)
    assert f"% {CLI_REFUSED[command]} found at '^' position.\n" in out
    assert re.search(r"^ +\^", out)
