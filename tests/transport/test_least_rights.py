"""`become: commands` with the sudoers file of docs/security.md, against real sudo: the commands of
the drivers run, and nothing else does."""

import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from driven import driving
from sudo_host import ALL, USER, SudoHost, sudo_host, why_not
from typed import typed

from labtests.capabilities.records import (
    DcbxControl,
    DcqcnSetting,
    EtsSetting,
    PfcSetting,
    TrustSetting,
)
from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected
from labtests.drivers.connectx.dcbx import firmware_command
from labtests.drivers.linux.host import RIGHTS
from labtests.transport.commands import Shell, if_done, program, root, write
from labtests.transport.ssh import SHELL, connect
from labtests.transport.ssh.shell import ShellTransport

ConnectX = driving("connectx")

NOT_HERE = why_not()
pytestmark = pytest.mark.skipif(bool(NOT_HERE), reason=NOT_HERE)
DOCS = Path(__file__).parents[2] / "docs" / "security.md"
PORT = "enp3s0f0np0"
FOLDER = f"/sys/class/net/{PORT}/ecn"


def rules() -> list[str]:
    """As in the documentation, for the user of this host and a mlnx_qos that is there."""
    block = re.search(r"```\n# /etc/sudoers\.d/labtests (.*?)```", DOCS.read_text(), re.DOTALL)
    assert block is not None
    text = re.sub(r"\blabtests\b", USER, block[1].partition("\n")[2])
    for tool in TOOLS:
        text = text.replace(f"/usr/bin/{tool}", f"/mnt/{tool}")
    return [text, PATH]


TOOLS = ("mlnx_qos", "mlxconfig")
PATH = "Defaults secure_path=/usr/sbin:/usr/bin:/sbin:/bin:/mnt"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SudoHost]:
    with sudo_host(tmp_path_factory.mktemp("least")) as running:
        running.sudoers(ALL)
        with login(running, become=True) as shell:
            for tool in TOOLS:
                made = shell.run(typed(f"printf '#!/bin/sh\\necho ran' > /mnt/{tool}"))
                assert made.status == 0, made.errors
                assert shell.run(typed(f"chmod 755 /mnt/{tool}")).status == 0
        running.sudoers(*rules())
        yield running


@contextmanager
def login(host: SudoHost, *, become: bool | str) -> Iterator[ShellTransport]:
    transport = connect(host.device(become=become), SHELL, clock=WallClock())
    assert isinstance(transport, ShellTransport)
    try:
        yield transport
    finally:
        transport.close()


@pytest.fixture(scope="module")
def shell(host: SudoHost) -> Iterator[ShellTransport]:
    with login(host, become="commands") as transport:
        yield transport


def changes() -> Iterator[Shell]:
    """What drivers change settings with, of each kind one; of tc as tests/linux_switch have it."""
    nic = ConnectX(SimpleNamespace(device="h1"))  # nothing is asked
    yield RIGHTS
    yield from nic.mtu_commands(PORT, 1500, 9000)
    pfc = (
        PfcSetting(mode="off", priorities=frozenset()),
        PfcSetting(mode="on", priorities=frozenset({3})),
    )
    yield from nic.pfc_commands(PORT, *pfc)
    trust = (
        TrustSetting(source="dot1p", override=False),
        TrustSetting(source="dscp", override=False),
    )
    yield from nic.trust_commands(PORT, *trust)
    yield from nic.dscp_map_commands(PORT, (0,) * 64, (*(0,) * 63, 7))
    yield from nic.cable_length_commands(PORT, 5, 100)
    ets = EtsSetting(
        class_of_priority=(1, 0, *range(2, 8)),
        algorithms=("ets", "ets", "strict", "vendor", "ets", "ets", "ets", "ets"),
        percent=(50, 50, 0, 0, 0, 0, 0, 0),
    )
    yield from nic.ets_commands(PORT, replace(ets, percent=(0, *ets.percent[1:])), ets)
    owned = DcbxControl(by="os", pfc=frozenset({3}), ets=ets)
    yield from nic.dcbx_control_commands(PORT, owned, DcbxControl(by="firmware"))
    yield from nic.dcbx_control_commands(PORT, DcbxControl(by="firmware"), owned)
    yield firmware_command("0000:03:00.1", ("LLDP_NB_DCBX_P2", "DCBX_WILLING_P2"))
    yield from nic.reaction_point_commands(PORT, frozenset(), frozenset({0, 7}))
    yield from nic.notification_point_commands(PORT, frozenset({3}), frozenset())
    values = [DcqcnSetting(side="roce_rp", values=(("rpg_ai_rate", n),)) for n in (5, 50)]
    yield from nic.dcqcn_rp_commands(PORT, *values)
    for line in (
        "class change dev tcs0 parent 1:1 classid 1:13 htb rate 77777777bit ceil 6Mbit burst 1600b "
        "cburst 1599b prio 0 quantum 1514",
        "qdisc change dev tcs0 parent 1:1 handle 2: ets bands 8 strict 1 quanta 1514 1514 3028 "
        "1514 1514 1514 1514 priomap 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7",
        "qdisc change dev tcs0 root handle 24: bfifo limit 50000",
        "qdisc replace dev tcs0 parent 2:1 handle fe01: red limit 400000 min 30000 max 90000 "
        "avpkt 1000 burst 31 probability 0.1 bandwidth 1000000bit ecn harddrop",
        "qdisc del dev tcs0 parent fe02:1",
    ):
        yield root("tc", *line.split())


def as_root(command: Shell) -> list[str]:
    """What sudo is given."""
    found = re.findall(r"sudo -n (.*?)(?: > /dev/null|$)", command.by_sudo)
    assert found
    return list(found)


def may(shell: ShellTransport, command: str) -> bool:
    """By sudo's own word; nothing is run."""
    reply = shell.run(program("sudo", "-n", "-l", *shlex.split(command)))
    assert reply.status in (0, 1), reply
    return reply.status == 0


def test_every_command_that_changes_a_setting_is_in_the_documented_rules(shell) -> None:
    asked = [command for change in changes() for command in as_root(change)]
    assert len(asked) > 15
    assert [command for command in asked if not may(shell, command)] == []


BEYOND = (
    "sh -c id",
    "id",
    "timeout 5 id",
    f"ip link set dev {PORT} mtu 1500 down",
    f"ip link set dev {PORT} down",
    "ip link set dev ../../etc mtu 1500",
    "ip netns exec x sh",
    "ip -batch /tmp/x",
    "ip link set dev a/b mtu 1500",
    "tc -batch /tmp/x",
    "tc qdisc replace dev tcs0 root handle 1: bpf object-file /tmp/x",
    "tc qdisc change dev tcs0 root handle 24: bfifo limit 5 /etc/shadow",
    "tc exec bpf import /tmp/x",
    "tc qdisc del dev tcs0 root; id",
    "tc qdisc del dev tcs0 parent ffff:fff1",
    "tc qdisc del dev tcs0 parent ffff:",
    "tc qdisc del dev tcs0 parent 0ffff:fff1",
    "tc qdisc del dev tcs0 parent 1ffff:fff1",
    "tc qdisc del dev tcs0 parent 11111111111111111:fff1",
    "tc qdisc replace dev tcs0 parent ffff:fff1 handle 1: pfifo limit 1",
    "tc class change dev tcs0 parent ffff:fff1 classid 1:1 htb rate 1",
    f"mlnx_qos -i {PORT} -f '0 --help'",
    f"mlnx_qos -i {PORT} -d os",
    f"mlnx_qos -i {PORT} -a",
    "mlxconfig -d 0000:03:00.0 set LLDP_NB_DCBX_P1=0",
    "mlxconfig -d 0000:03:00.0 q LLDP_NB_DCBX_P1 -f /etc/shadow",
    "mlxconfig -y -d 0000:03:00.0 reset",
    "tee /etc/sudoers",
    "tee -a /etc/sudoers",
    f"tee {FOLDER}/roce_rp/rpg_gd /etc/sudoers",
    f"tee {FOLDER}/../../../../../etc/sudoers",
    f"tee {FOLDER}/roce_rp/../../../../../../etc/sudoers",
    f"tee {FOLDER}/roce_rp/enable/8",
    "tee /sys/class/net/../../etc/ecn/roce_rp/x",
    "cat /etc/shadow",
)


def test_nothing_beyond_them_is(shell) -> None:
    assert [command for command in BEYOND if may(shell, command)] == []


def test_what_needs_root_is_root_s_and_what_does_not_is_the_login_s(shell) -> None:
    assert shell.run(RIGHTS).text == "0\n"
    assert shell.run(program("id", "-u")).text != "0\n"
    mtu = Path("/sys/class/net/lo/mtu").read_text().strip()  # as it is: nothing changes
    both = if_done(root("ip", "link", "set", "dev", "lo", "mtu", mtu), program("id", "-u"))
    reply = shell.run(both)
    assert (reply.status, reply.text != "0\n", reply.errors) == (0, True, "")
    block = (root("mlnx_qos", "-i", PORT, "-f", "0,0,0,1,0,0,0,0"), program("id", "-un"))
    parts = shell.configure(block).parts
    assert [(part.text, part.command) for part in parts] == [
        ("ran\n", block[0]),
        (f"{USER}\n", block[1]),
    ]


def test_a_write_is_root_s_and_its_failure_is_seen(shell) -> None:
    reply = shell.run(write(1, f"{FOLDER}/roce_rp/enable/3"))
    assert reply.status != 0
    assert "No such file or directory" in reply.errors
    assert reply.command == f"echo 1 > {FOLDER}/roce_rp/enable/3"  # as it is told, and recorded


def test_what_the_rules_do_not_have_is_refused_with_the_command_and_the_remedy(shell) -> None:
    with pytest.raises(CommandRejected) as refused:
        shell.run(root("ip", "link", "set", "dev", "lo", "down"))
    assert refused.value.command == "ip link set dev lo down"
    assert "docs/security.md" in refused.value.remedy


def test_traffic_runs_as_the_login_and_is_ended(shell) -> None:
    process = shell.start(program("sh", "-c", "id -un; exec sleep 4711"), limit_s=60)
    until = time.monotonic() + 30
    while not process.output() and time.monotonic() < until:
        time.sleep(0.05)
    process.close()
    assert process.output() == f"{USER}\n"


def test_a_rule_for_everything_does_as_well(host) -> None:
    host.sudoers(ALL)
    try:
        for become in (True, "commands"):
            with login(host, become=become) as transport:
                assert transport.run(RIGHTS).text == "0\n"
    finally:
        host.sudoers(*rules())
