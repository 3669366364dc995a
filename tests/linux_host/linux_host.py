"""A plain Linux host as it answers, from recordings of real ones."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "connectx"))

from connectx_host import Answer, FakeHost, recording

VETH, VIRTIO = "eth1", "enp0s3"
STATISTICS = (
    "grep -s -H . /sys/class/net/{0}/statistics/* /sys/class/net/{0}/carrier_down_count"
    " /sys/class/net/{0}/carrier_changes"
)
HW = "/sys/class/infiniband/rxe0/ports/1/hw_counters"
PHYSICAL = "ls -d /sys/class/net/*/device"


def namespace_host(**more):
    """A network namespace with one veth port, on a kernel without RDMA; no ethtool."""
    names = ("ip_link--veth", "net_statistics--veth", "tc_qdiscs--noqueue", "physical--none",
             "rdma_links--kernel-without-rdma", "version--iproute2",
             "proc_net_snmp--kernel618", "proc_net_snmp--netstat-kernel618")  # fmt: skip
    return FakeHost(_answers(*names) | more)


def rxe_host(without=(), **more):
    """A Debian guest with soft-RoCE over virtio."""
    names = ("ip_link--virtio", "net_statistics--virtio", "tc_qdiscs--fq_codel", "physical--two",
             "rdma_links--rxe", "sysfs_links--rxe", "gids--rxe", "hw_counters--rxe",
             "ibv_devinfo--rxe", "ethtool_statistics--virtio-rings", "ethtool_driver--virtio",
             "speed--virtio")  # fmt: skip
    answers = _answers(*names) | more
    return FakeHost({c: a for c, a in answers.items() if not c.startswith(tuple(without))})


def _answers(*names):
    replies = [recording(name) for name in names]
    found = {reply.command: reply for reply in replies}
    # recorded before the last file was asked as well
    old = [command for command in found if command.endswith("/carrier_down_count")]
    return found | {STATISTICS.format(command.split("/")[4]): found.pop(command) for command in old}


def of(readings):
    """By counter."""
    return {reading.counter: reading for reading in readings}


__all__ = ["Answer", "FakeHost", "namespace_host", "of", "recording", "replace", "rxe_host"]
