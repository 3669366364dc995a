"""What a host runs, and what on it would undo or prevent a setting."""

import re
from collections.abc import Iterable, Mapping, Sequence

from labtests.capabilities.device import Obstacles, RdmaDevices, Versions
from labtests.capabilities.facts import Caveats, Lacking, RdmaEcn, TcpEcn
from labtests.core.errors import CommandRejected, ToolMissing
from labtests.drivers.answers import expect_success, last_words
from labtests.drivers.linux.ethtool import parse_ethtool_driver
from labtests.drivers.linux.link import IP
from labtests.drivers.linux.links import PHYSICAL, parse_physical
from labtests.drivers.linux.qdisc import netem_in, netem_sentence, qdisc_command
from labtests.drivers.linux.rdma import RDMA_STATISTIC, counts
from labtests.drivers.linux.session import HostPart
from labtests.drivers.parsing import kept, whole
from labtests.transport.asking import Asking, ask, ask_each, both
from labtests.transport.commands import Shell, program, root, script
from labtests.transport.protocol import Reply

# name -> command, and where its answer has the version. `ib_send_bw --version` exits with 1.
PERFTEST = (program("ib_send_bw", "--version"), r"^Version: (\S+)\s*$")
IPERF3 = (program("iperf3", "--version"), r"^iperf (\S+)")
KERNEL = (program("uname", "-r"), r"\A([0-9]\S*)\s*\Z")
IPROUTE2 = (program("ip", "-V"), r"^ip utility, iproute2-([^\s,]+)")
_VERSION_OF = {"perftest": PERFTEST, "iperf3": IPERF3, "iproute2": IPROUTE2, "kernel": KERNEL}

RIGHTS = root("id", "-u")

TCP_ECN = program("cat", "/proc/sys/net/ipv4/tcp_ecn")
_NO_TCP_ECN = (
    "its TCP does not ask for ECN (net.ipv4.tcp_ecn is not 1), so a switch drops its packets and "
    "marks none; `sysctl -w net.ipv4.tcp_ecn=1` there changes that"
)
RXE_PACKETS = script("grep -s -H . /sys/class/infiniband/*/ports/*/hw_counters/sent_pkts")
_NO_RDMA_ECN = (
    "its RDMA devices are not soft-RoCE (rdma_rxe has a counter sent_pkts): whether a packet is "
    "ECN-capable is up to the NIC there, not to the TOS byte"
)
_NO_RDMA_DEVICE = (
    "there is no RDMA device on this host (`rdma link` shows none): perftest suites cannot run; "
    "`rdma link add rxe0 type rxe netdev IF` makes one where the kernel has rdma_rxe"
)


def card_command(interface: str) -> Shell:
    """Reads what drives an interface."""
    return program("ethtool", "-i", interface)


def parse_version(reply: Reply, pattern: str) -> str:
    """The version in an answer, "" when there is none: a tool that is not there has no version."""
    match = re.search(pattern, whole(reply), re.MULTILINE)
    return kept(reply, match[1], "the version") if match else ""


def without_rights(reply: Reply) -> tuple[str, ...]:
    """`id -u`: the sentence for a user who may read and change nothing, and for a host that does
    not tell."""
    user = whole(reply).strip()
    if user == "0" and reply.status in (0, None):
        return ()
    if reply.status not in (0, None) or not user.isdecimal():
        return (
            f"whether settings can be changed there is not known: `{reply.command}` as root "
            f"failed: {last_words(reply)}",
        )
    return (
        f"commands run there as user {user} and not as root: no setting can be changed; log in as "
        "root, or set `become: true` for this device in the testbed file",
    )


def versions_of(table: Mapping[str, tuple[Shell, str]]) -> Asking[dict[str, str]]:
    """By name: what the commands of such a table say, "" for what is not there."""
    replies = yield from ask_each(*(command for command, _ in table.values()))
    patterns = (pattern for _, pattern in table.values())
    return dict(zip(table, map(parse_version, replies, patterns), strict=True))


class HostState(HostPart, Versions, Obstacles, Caveats):
    """Versions of what takes part, what stands in the way of a setting, what to keep in mind."""

    def versions(self) -> Asking[dict[str, str]]:
        """Tools and kernel, "" for what is not there; and driver and firmware of the physical ports
        where ethtool tells them."""
        found, physical = yield from both(versions_of(_VERSION_OF), ask(PHYSICAL))
        cards = yield from self._cards(sorted(parse_physical(physical)))
        return found | {name: text for name, text in cards.items() if text}

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """Without `ip` no MTU can be set and no link be read; without root's rights nothing can be
        set."""
        user, ip = yield from ask_each(RIGHTS, IPROUTE2[0])
        return (*without_rights(user), *_without_ip(ip))

    def caveats(self) -> Asking[tuple[str, ...]]:
        """Ports of the testbed that lose or delay packets on purpose."""
        replies = yield from ask_each(*(qdisc_command(self._interface(p)) for p in self.ports))
        told = map(netem_sentence, self.ports, map(netem_in, replies))
        return tuple(filter(None, told))

    def _cards(self, ports: Sequence[str]) -> Asking[dict[str, str]]:
        """Driver and firmware of these ports, each once."""
        replies = yield from ask_each(*(card_command(self._interface(port)) for port in ports))
        cards = [card for reply in replies if (card := _card(reply))]
        drivers = (f"{card['driver']} {card.get('version', '')}".strip() for card in cards)
        return {
            "driver": _each_once(drivers),
            "firmware": _each_once(card["firmware-version"] for card in cards),
        }


class Without(Lacking, TcpEcn, RdmaEcn):
    """What the abilities of this driver need and a host may not have."""

    def __init__(self, rdma: RdmaDevices) -> None:
        self._rdma = rdma

    def lacks(self) -> Asking[dict[str, str]]:
        """RDMA, when no RDMA device has a net device; ECN, when TCP does not ask for it."""
        marks, links = yield from both(
            both(self.tcp_ecn(), self.rdma_ecn()), self._rdma.rdma_links()
        )
        tcp_ecn, rdma_ecn = marks
        found = {} if tcp_ecn else {"tcp_ecn": _NO_TCP_ECN}
        if any(link.interface for link in links):
            return found if rdma_ecn else found | {"rdma_ecn": _NO_RDMA_ECN}
        return found | dict.fromkeys(("rdma_links", "rdma_counters", "rdma_ecn"), _NO_RDMA_DEVICE)

    def tcp_ecn(self) -> Asking[bool]:
        """net.ipv4.tcp_ecn is 1. (2, the default, only accepts it; ip-sysctl of the kernel.)"""
        return whole((yield from ask(TCP_ECN))).strip() == "1"

    def rdma_ecn(self) -> Asking[bool]:
        """rdma_rxe writes the byte as it is (Linux, drivers/infiniband/sw/rxe/rxe_net.c). In a
        network namespace its counters are not in sysfs, only where `rdma` reads them."""
        if "/sent_pkts:" in whole((yield from ask(RXE_PACKETS))):
            return True
        return counts((yield from ask(RDMA_STATISTIC)), "sent_pkts")


def _without_ip(reply: Reply) -> tuple[str, ...]:
    try:
        expect_success(reply, IP)
    except ToolMissing as error:
        return (f"{error.problem}: {error.remedy}",)
    except CommandRejected:  # some ip that does not know -V
        pass
    return ()


def _card(reply: Reply) -> dict[str, str] | None:
    try:
        return parse_ethtool_driver(reply)
    except (CommandRejected, ToolMissing):
        return None


def _each_once(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(text for text in texts if text))
