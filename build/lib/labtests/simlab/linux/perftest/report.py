"""What perftest prints: header, addresses, result rows. Formats: linux-rdma/perftest,
perftest_parameters.h, held against recordings of 6.06 and 6.24."""

import ipaddress
import math
from collections.abc import Sequence
from dataclasses import dataclass

from labtests.simlab.linux.calls import screen
from labtests.simlab.linux.perftest.meeting import QueuePair
from labtests.simlab.linux.perftest.plan import PerftestPlan
from labtests.simlab.linux.perftest_builds import Build

RULER = "-" * 87 + "\n"
WARNING = " WARNING: BW peak won't be measured in this run.\n"
WAITING = "\n" + "*" * 36 + "\n* Waiting for client to connect... *\n" + "*" * 36 + "\n"
WAITING_RDMA_CM = (
    " Waiting for client rdma_cm QP to connect\n"
    " Please run the same command with the IB/RoCE interface IP\n"
) + RULER
MIB = 0x100000
PRECISE_BELOW_GBIT_PER_S = 0.1
_TITLES = {"send": "Send", "write": "RDMA_Write", "read": "RDMA_Read"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One side's view of the connection."""

    plan: PerftestPlan
    build: Build
    device: str
    mtu_bytes: int
    gid_index: int

    @property
    def is_server(self) -> bool:
        """Whether it waits for a client."""
        return self.plan.server is None

    @property
    def title(self) -> str:
        """`Send BW Test` and the like."""
        return f"{_TITLES[self.plan.verb]} {'Latency' if self.plan.latency else 'BW'} Test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a row says. Rates follow from the count, size and time."""

    size_bytes: int
    iterations: int
    seconds: float
    peak_known: bool

    @property
    def messages_per_s(self) -> float:
        """Messages a second."""
        return self.iterations / self.seconds if self.seconds else 0.0

    def goodput(self, *, gbits: bool) -> float:
        """Gbit/s or MiB/s."""
        bytes_per_s = self.messages_per_s * self.size_bytes
        return bytes_per_s * 8 / 1e9 if gbits else bytes_per_s / MIB


def header(setup: Setup) -> str:
    """From the first ruler to the one above the addresses."""
    return screen("perftest-head", setup=setup, plan=setup.plan, build=setup.build)


def addresses(setup: Setup, side: str, address: str, pairs: Sequence[QueuePair]) -> str:
    """One side's queue pairs; GIDs are decimal."""
    gid = [0] * 10 + [255, 255, *ipaddress.IPv4Address(address).packed]
    shown = ":".join(f"{octet:02}" for octet in gid)
    text = ""
    for pair in pairs:
        text += f" {side} address: LID 0000 QPN 0x{pair.number:04x} PSN 0x{pair.psn:x}"
        if setup.plan.verb != "send" and not setup.plan.rdma_cm:
            out = f" OUT 0x{setup.build.outstanding_reads:02x}" if setup.plan.verb == "read" else ""
            text += f"{out} RKey 0x{pair.remote_key:06x} VAddr 0x{pair.address:014x}"
        text += f"\n GID: {shown}\n"
    return text


LATENCY_HEADER = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
    "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
)


def latency_row(size_bytes: int, times_us: Sequence[float]) -> str:
    """Of so many messages."""
    told, mean = sorted(times_us), sum(times_us) / len(times_us)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in told) / len(told))
    last = len(told) - 1
    p99, p999 = (told[min(math.ceil(share * len(told)), last)] for share in (0.99, 0.999))
    middle = told[len(told) // 2]
    return latency_line(
        size_bytes, len(told), (told[0], told[-1], middle, mean, deviation, p99, p999)
    )


def latency_line(size_bytes: int, messages: int, figures: Sequence[float]) -> str:
    """perftest's REPORT_FMT_LAT."""
    least, most, middle, mean, deviation, p99, p999 = (f"{each:<7.2f}" for each in figures)
    return (
        f" {size_bytes:<7} {messages}          {least}        {most}      {middle}  \t       "
        f"{mean}     \t{deviation}\t\t{p99} \t\t{p999}"
    )


def table_header(plan: PerftestPlan) -> str:
    """The columns' names, above a row."""
    if plan.latency:
        return LATENCY_HEADER
    unit = "Gb/sec" if plan.gbits else "MiB/sec"
    return f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n"


def row(result: Result, build: Build, *, gbits: bool) -> str:
    """A result without its line end. Below 0.1 Gb/s there are six decimals and other columns."""
    average = result.goodput(gbits=gbits)
    peak = average if result.peak_known else 0.0
    rate = result.messages_per_s / 1e6
    if gbits and average < PRECISE_BELOW_GBIT_PER_S:
        return (
            f" {result.size_bytes:<7}    {result.iterations}           {peak:<7.6f}            "
            f"{average:<7.6f}            {rate:<7.6f}"
        )
    return (
        f" {result.size_bytes:<7}    {result.iterations:<10}       {peak:<7.2f}            "
        f"{average:<7.2f}\t\t{' ' * build.rate_blanks}{rate:<7.6f}"
    )
