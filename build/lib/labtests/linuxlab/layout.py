"""The queues of a port, as tc commands: eight by DSCP at a switch, one of line rate at a host."""

from labtests.inventory import LinuxLab
from labtests.linuxlab.plan import BoxPort
from labtests.linuxlab.programs import run

QUEUES = 8
ETHERNET_BYTES = 14
STRICT_RATE = "8kbit"
"""What a class has by itself is next to nothing: nearly all is borrowed, by prio and quantum."""

HOST_LIMIT_BYTES = 4 * 2**20
"""More than a socket's buffer, so that a sender waits instead of losing."""


def switch_queues(port: BoxPort, lab: LinuxLab, *, red: bool) -> list[str]:
    """The tree at a switch port: `htb` of line rate, a leaf class 1:1q for each queue q, chosen by
    the three highest bits of the DSCP (q = DSCP >> 3); what is not IP goes to queue 0."""
    dev, rate, frame = port.interface, f"{port.rate_bits_per_s}bit", _frame_bytes(lab)
    lines = [
        f"qdisc add dev {dev} root handle 1: htb default 10",
        f"class add dev {dev} parent 1: classid 1:1 "
        f"htb rate {rate} ceil {rate} quantum {frame * 10}",
    ]
    for queue in range(QUEUES):
        share = f"prio {_priority(queue, lab)} quantum {frame * _weight(queue, lab)}"
        lines += [
            f"class add dev {dev} parent 1:1 classid 1:1{queue} "
            f"htb rate {STRICT_RATE} ceil {rate} {share}",
            f"qdisc add dev {dev} parent 1:1{queue} handle 10{queue}: {_leaf(port, lab, red)}",
            f"filter add dev {dev} parent 1: protocol ip prio 1 u32 "
            f"match ip dsfield {queue << 5:#04x} 0xe0 flowid 1:1{queue}",
            f"filter add dev {dev} parent 1: protocol ipv6 prio 2 u32 "
            f"match ip6 priority {queue << 5:#04x} 0xe0 flowid 1:1{queue}",
        ]
    return lines


def host_shaper(port: BoxPort, lab: LinuxLab) -> list[str]:
    """A host's port sends at line rate, in bursts of a millisecond at most."""
    if not lab.shaped_senders:
        return []
    burst = max(port.rate_bits_per_s // 8000, 10 * _frame_bytes(lab))
    return [
        f"qdisc add dev {port.interface} root handle 1: "
        f"tbf rate {port.rate_bits_per_s}bit burst {burst} limit {HOST_LIMIT_BYTES}"
    ]


def layout_now(namespace: str, interface: str, device: str) -> str:
    """The whole tree of a port as tc prints it, without counters."""
    return "".join(
        run(["tc", "-n", namespace, "-d", kind, "show", "dev", interface], device=device)
        for kind in ("qdisc", "class", "filter")
    )


def difference(should: str, now: str) -> str:
    """The first line of a tree that is not as it should be; "" when there is none."""
    wanted, there = should.splitlines(), now.splitlines()
    for line in wanted:
        if line not in there:
            return f"`{line.strip()}` is missing"
    for line in there:
        if line not in wanted:
            return f"`{line.strip()}` is there but should not be"
    return "" if wanted == there else "its parts are in a different order"


def _leaf(port: BoxPort, lab: LinuxLab, red: bool) -> str:
    limit = lab.queue_limit_bytes
    if lab.ecn is None or not red:
        return f"bfifo limit {limit}"
    low, high = lab.ecn.min_bytes, lab.ecn.max_bytes
    burst = (2 * low + high) // 3000 + 1  # packets of 1000 bytes: tc-red(8)
    return (
        f"red limit {limit} min {low} max {high} avpkt 1000 burst {burst} "
        f"probability {lab.ecn.probability} bandwidth {port.rate_bits_per_s}bit ecn"
    )


def _frame_bytes(lab: LinuxLab) -> int:
    return lab.mtu_bytes + ETHERNET_BYTES


def _priority(queue: int, lab: LinuxLab) -> int:
    """htb serves the lowest first."""
    return QUEUES - 1 - queue if lab.scheduling == "strict" else 0


def _weight(queue: int, lab: LinuxLab) -> int:
    return lab.weights[queue] if lab.weights else 1
