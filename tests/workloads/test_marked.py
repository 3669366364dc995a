"""Counted packets: what ping's summaries say, and perl where there is no ping."""

import socket
import subprocess
from dataclasses import dataclass

import pytest

from labtests.capabilities.flows import FlowStatus
from labtests.core.errors import WorkloadError
from labtests.transport.protocol import Reply
from labtests.workloads import Party, send_marked
from labtests.workloads.marked import perl_command

# iputils 20221126 (Debian 12), ping -q: the summary lines of an answered and an unanswered address
ANSWERED = """PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.

--- 127.0.0.1 ping statistics ---
{count} packets transmitted, {back} received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 0.015/0.015/0.015/0.000 ms
"""


@dataclass
class Answering:
    """A transport that gives these (status, text) in order and keeps the commands."""

    replies: list
    device: str = "a"

    def __post_init__(self):
        self.commands = []

    def run(self, command, timeout_s=None):
        self.commands.append(command)
        status, text = self.replies.pop(0)
        return Reply(device="a", command=command, text=text, errors="", status=status, time_s=0.0)


def sent(*replies, counts=((0x20, 1), (0x28, 2))):
    transport = Answering(list(replies))
    ends = (Party(name=n, transport=transport, address="10.0.0.3") for n in ("a", "r"))
    return send_marked(*ends, counts), transport.commands


def pinged(*pairs):
    return (0, "".join(ANSWERED.format(count=count, back=back) for count, back in pairs))


def test_each_tos_has_its_own_ping():
    results, (command,) = sent(pinged((1, 1), (2, 2)))
    assert [(r.tos, r.sent_datagrams, r.status) for r in results] == [
        (0x20, 1, FlowStatus.COMPLETE), (0x28, 2, FlowStatus.COMPLETE)
    ]  # fmt: skip
    assert "ping -q -c 1 -i 0.002 -W 2 -Q 0x20 10.0.0.3; ping -q -c 2" in command


@pytest.mark.parametrize(
    "reply", [pinged((1, 1), (2, 1)), pinged((1, 1)), (2, "connect: no route")]
)
def test_what_was_not_answered_or_not_told_is_no_evidence(reply):
    results, _ = sent(reply)
    assert results[1].status is FlowStatus.FAILED
    assert results[1].because


def test_without_ping_perl_sends_the_same_numbers():
    results, commands = sent((127, ""), (0, "1\n2\n"))
    assert [r.tool for r in results] == ["perl", "perl"]
    assert all(r.status is FlowStatus.COMPLETE for r in results)
    assert commands[1].endswith("10.0.0.3 32 1 40 2")


def test_a_count_that_cannot_be_is_refused():
    with pytest.raises(WorkloadError):
        sent(counts=((0x20, 0),))


def test_perl_really_sends_them_with_their_tos():
    """On loopback, to a socket that says the TOS byte of each datagram; the port is not 9 here."""
    if subprocess.run(["which", "perl"], capture_output=True, check=False).returncode:
        pytest.skip("no perl on this machine")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.bind(("127.0.0.1", 0))
        sink.settimeout(5)
        sink.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        command = perl_command("127.0.0.1", ((0x60, 3), (0xB8, 1)))
        there = command.replace("sockaddr_in(9,", f"sockaddr_in({sink.getsockname()[1]},")
        assert there != command
        told = subprocess.run(there, shell=True, capture_output=True, text=True, check=True)
        got = [sink.recvmsg(100, 100)[1][0][2][0] for _ in range(4)]
    assert told.stdout == "3\n1\n"
    assert got == [0x60, 0x60, 0x60, 0xB8]
