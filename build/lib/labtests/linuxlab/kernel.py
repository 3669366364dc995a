"""What this kernel has for a lab, found by trying, and what follows from what it lacks."""

import socket
from dataclasses import dataclass
from pathlib import Path

from labtests.core.errors import CommandRejected, ToolMissing
from labtests.linuxlab.programs import MACHINE, attempt, batch

BUFFER_BYTES = 4 * 2**20
"""The socket buffer with which a receiver of iperf3 kept up with 1 Gbit/s; 208 KiB did not."""

_TRIED = {
    "htb": ["qdisc add dev lo root handle 1: htb"],
    "tbf": ["qdisc add dev lo root handle 1: tbf rate 1mbit burst 5000 limit 10000"],
    "bfifo": ["qdisc add dev lo root handle 1: bfifo limit 10000"],
    "prio": ["qdisc add dev lo root handle 1: prio bands 8 priomap" + " 0" * 16],
    "ets": ["qdisc add dev lo root handle 1: ets bands 8 strict 8"],
    "red": [
        "qdisc add dev lo root handle 1: red limit 90000 min 9000 max 30000 avpkt 1000 burst 20 "
        "bandwidth 10mbit ecn"
    ],
    "u32": [
        "qdisc add dev lo root handle 1: htb",
        "filter add dev lo parent 1: protocol ip u32 match ip dsfield 0x20 0xe0 flowid 1:1",
    ],
}
_NEEDED = ("htb", "tbf", "bfifo", "u32")

_LACKING = {
    "red": "no red: queues drop at their limit and mark nothing, so what needs ECN marks of the "
    "switch is skipped",
    "prio": "no prio: strict priority is htb's here; no loss of function",
    "ets": "no ets: weights are htb's here; no loss of function",
    "dctcp": "no DCTCP: TCP reacts to ECN marks as cubic or reno does",
    "rdma": "no soft-RoCE (rdma_rxe): no RDMA device, so suites of ib_send_bw and DCQCN are "
    "skipped",
}

_RDMA_OUTSIDE = (
    "no RDMA device is made in here although the kernel has soft-RoCE: rdma_rxe of Linux 6.12 "
    "receives in the machine's first network namespace only, whatever `rdma link add` in a device "
    "says; that of Linux 7.3 receives in each, and `rdma link add rxe1 type rxe netdev eth1` there "
    "makes one"
)


@dataclass(frozen=True, slots=True)
class KernelFeatures:
    """Which of the tried parts it has."""

    has: frozenset[str]

    def notes(self) -> list[str]:
        """A sentence for each missing part, what no kernel can show, and what is too small."""
        said = [text for part, text in _LACKING.items() if part not in self.has]
        if "rdma" in self.has:
            said.append(_RDMA_OUTSIDE)
        said.append("no PFC: veth links have no pause frames, whatever the kernel")
        allowed = _rmem_max()
        if allowed < BUFFER_BYTES:
            said.append(
                f"net.core.rmem_max is {allowed} bytes: receivers may lose in their sockets above "
                f"some 400 Mbit/s; sysctl -w net.core.rmem_max={BUFFER_BYTES}"
            )
        return said


def tried(namespace: str) -> KernelFeatures:
    """What can be set up on the loopback device of this namespace. Raises CommandRejected when
    something is missing that a lab cannot do without."""
    has = {part for part, lines in _TRIED.items() if _works(namespace, lines)}
    missing = [part for part in _NEEDED if part not in has]
    if missing:
        raise CommandRejected(
            MACHINE,
            "tc qdisc add",
            f"the kernel has no {', '.join(missing)}",
            "load the modules sch_htb, sch_tbf, cls_u32 (modprobe), or use a kernel that has them",
        )
    has |= {part for part, there in (("dctcp", _dctcp()), ("rdma", _soft_roce())) if there}
    return KernelFeatures(frozenset(has))


def _works(namespace: str, lines: list[str]) -> bool:
    attempt(["tc", "-n", namespace, "qdisc", "del", "dev", "lo", "root"])
    try:
        batch("tc", namespace, lines, device=MACHINE)
    except CommandRejected:
        return False
    finally:
        attempt(["tc", "-n", namespace, "qdisc", "del", "dev", "lo", "root"])
    return True


def _dctcp() -> bool:
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp")
        except OSError:
            return False
    return True


def _soft_roce() -> bool:
    if Path("/sys/module/rdma_rxe").exists():
        return True
    try:
        return attempt(["modprobe", "-n", "-q", "rdma_rxe"]).returncode == 0
    except ToolMissing:
        return False


def _rmem_max() -> int:
    return int(Path("/proc/sys/net/core/rmem_max").read_text())
