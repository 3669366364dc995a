"""What a program of an emulated host does not do it says, with a status that is not 0."""

import pytest
from linux_bench import INTERFACE, Hands

from labtests.simlab.linux import toolbox

NOT_HERE = "the simulated box does not emulate this"

REAL = (
    "cat -n /dev/null", "ls -t /", "ls -lh /", "ls -R /", "tee --output-error x", "head -v x",
    "tail -f /proc/uptime", "tail /dev/null x", "rm -i x", "mkdir -v /tmp/v", "touch -d x y",
    "cp -r /tmp /root", "mv -n a b", "link --help a b", "seq -s, 3", "grep -A1 x /dev/null",
    "grep -L x /dev/null", "grep '[[:alpha:]]' /dev/null", "grep '\\<a' /dev/null",
    "wc -m /dev/null", "wc -l /dev/null /dev/null", "sort -h /dev/null", "sort -k1.2 /dev/null",
    "cut -s -d, -f1 /dev/null", "cut --complement -f1 /dev/null", "uniq -d /dev/null",
    "cut -c1 /dev/null", "tr -c a b", "tr a",
    "sed -i s/a/b/ /dev/null", "sed 2s/a/b/ /dev/null", "sed '$d' /dev/null",
    "sed '/a/,/b/p' /dev/null", "sed -e s/a/b/ -e s/c/d/ /dev/null", "awk -f x /dev/null",
    "awk '{printf \"%s\", $1}' /proc/uptime", "awk '{print FNR}' /proc/uptime",
    "awk 'BEGIN{OFS=\",\"} {print $1,$2}' /proc/uptime", "awk '/a/ || /b/' /proc/uptime",
    "awk '{s+=$2} END {print s}' /proc/uptime", "awk '$2 > 1' /proc/uptime",
    "hostname newname", "hostname -d", "uname -p", "id -g", "id nobody", "date -d @0 +%Y",
    "date -s 12:00", "date +%G", "which -a ls", "ps -C sleep", "ps -o pid,rss", "ps --sort pid",
    "systemctl restart lldpad", "systemctl stop sshd", "systemctl --user status", "ss -t", "ss -s",
    "ss -ltn sport = :22", "nproc", "uptime", "lspci", "whoami --version",
    "pgrep -u root x", "pkill -e x", "timeout -v 1 true", "timeout --foreground 1 true",
    "sudo -b true", "stdbuf -x true", "env -u X true", "nice true", "nohup --help",
    "setsid -f true", "bash -x -c true", "bash --norc", "su", "watch -g true",
    f"ip -d link show {INTERFACE}", "ip -4 addr", "ip -6 route", "ip -j addr", "ip -o link",
    "ip neigh",
    f"ip addr show dev {INTERFACE} scope global", "ip route get 192.168.10.11 from 192.168.10.10",
    f"ethtool -g {INTERFACE}", f"ethtool -k {INTERFACE}", f"ethtool -A {INTERFACE} rx off",
    f"ethtool -m {INTERFACE}", f"tc qdisc show dev {INTERFACE}",
    f"tc qdisc add dev {INTERFACE} root pfifo", "rdma -d link", "rdma -p link",
    "rdma link show mlx5_0/1 x", "rdma resource show qp", "rdma resource", "rdma dev",
    "ibdev2netdev -x", "show_gids mlx5_0", "ibv_devices", "ibv_devinfo -l",
    "ibv_devinfo -v", "ibv_devinfo -i 2",
    "ibstat", "ib_send_bw -b", "ib_write_bw -a", "ib_send_bw --out_json",
    f"mlnx_qos -i {INTERFACE} -r 1,1,1,1,1,1,1,1",
    f"mlnx_qos -i {INTERFACE} --buffer_size 1", f"mlnx_qos -i {INTERFACE} --defltprio set,1",
    "ping -f 192.168.10.11", "ping -D -c 1 192.168.10.11",
)  # fmt: skip


@pytest.mark.parametrize("command", REAL)
def test_what_only_the_real_program_does_is_refused(hands: Hands, command: str) -> None:
    session = hands.run(command)
    hands.advance(1)
    assert session.status not in (0, None)
    absent = command.split()[0] in toolbox.ELSEWHERE
    assert (f"command not found ({toolbox.BOX})" if absent else NOT_HERE) in session.err
    assert (session.status == 127) is absent
    assert session.out == ""


PROGRAMS = (
    *[
        "awk",
        "bash",
        "cat",
        "cma_roce_tos",
        "cp",
        "cut",
        "date",
        "dash",
        "egrep",
        "env",
        "ethtool",
        "gawk",
        "grep",
        "head",
        "hostname",
    ],
    *[
        "ib_send_bw",
        "ib_write_bw",
        "ibdev2netdev",
        "ibv_devinfo",
        "id",
        "ip",
    ],
    *[
        "iperf3",
        "kill",
        "link",
        "ls",
        "mausezahn",
        "mawk",
        "mkdir",
        "mlnx_qos",
        "mlxconfig",
        "mv",
        "nohup",
        "pgrep",
        "ping",
        "pkill",
        "ps",
    ],
    *[
        "rdma",
        "rm",
        "sed",
        "seq",
        "setsid",
        "sh",
        "show_gids",
        "sleep",
        "sort",
        "ss",
        "stdbuf",
        "sudo",
        "systemctl",
        "tail",
        "tc",
    ],
    *["tee", "timeout", "touch", "uname", "watch", "wc", "which", "whoami"],
)


@pytest.mark.parametrize("option", ["--no-such-option", "-@"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_option_that_does_not_exist_is_refused(hands: Hands, program: str, option: str) -> None:
    session = hands.run(f"{program} {option} 1 2 </dev/null")
    hands.advance(1)
    assert session.status not in (0, None)
    assert len(session.err + session.out) > 10


def test_the_table_has_every_program(hands: Hands) -> None:
    without = {"[", "test", "true", "false", "echo", "printf", "clear"}
    absent = {*toolbox.ELSEWHERE, *toolbox.PYTHONS, *toolbox.MODES}
    assert {name for name in hands.lab.devices["ServerA"].tools() if "ib_" not in name} == {
        *(name for name in PROGRAMS if "ib_" not in name), *without, *absent
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("printf 'a\\nb\\nc\\n' | head -n -1", "a\nb\n"),
        ("printf 'ab' | tail -c 1", "b"),
        ("printf 'a-b a\\n' | grep -on a", "1:a\n1:a\n"),
        ("printf 'a 10\\nb 9\\n' | sort -k2n", "b 9\na 10\n"),
        ("printf 'a b\\na a\\n' | sort -k1,1 | head -n1", "a a\n"),
        ("echo a,b,c | cut -d, -f3,1", "a,c\n"),
        ("printf 'a:b c\\nd\\n' | awk -F: '/a/ && /b/ {print $2, \"x\", NF, NR, $5}'",
         "b c x 2 1 \n"),
        ("printf 'a b\\n' | awk '{print}'; printf 'a\\nb\\n' | awk '/b/'", "a b\nb\n"),
        ("printf 'ab\\n' | sed 's/a/[&]/p'; seq 3 | sed -n '2,$p'", "[a]b\n[a]b\n2\n3\n"),
        ("seq 3 | sed 2d; seq 2 4 | sed /3/d", "1\n3\n2\n4\n"),
        ("cat /dev/null /dev/null; grep -c . /dev/null", "0\n"),
        ("touch /tmp/.x /tmp/y; ls /tmp; ls -A /tmp", "y\n.x\ny\n"),
        ("sleep 5 & ps -o etimes= -p $!", "0\n"),
        (f"ethtool --show-fec {INTERFACE} | tail -1", "Active FEC encoding: None\n"),
        ("date -u +%Y-%m-%d", "2024-05-29\n"),
    ],
)  # fmt: skip
def test_what_a_program_does_it_does_right(hands: Hands, command: str, printed: str) -> None:
    assert hands.run(command).out == printed


def test_options_are_read_as_the_c_library_does_it_in_whatever_surroundings(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSIXLY_CORRECT", "1")  # of who runs the lab, not of the emulated host
    assert hands.run("printf 'a\\nb\\n' > /tmp/f; head /tmp/f -n 1").out == "a\n"
    assert hands.run("touch -- -x; ls -- -x; timeout 1 echo -n -k").out == "-x\n-k"
    assert hands.run("head -n").err.startswith("head: option requires an argument -- 'n'\n")
    assert hands.run("head --lines").err.startswith("head: option '--lines' requires an argument")
    assert hands.run("ls --nosuch").err.endswith("unrecognized option '--nosuch'\n")
