"""The command line of a perftest program, and its builds' differences."""

from dataclasses import dataclass, replace
from typing import Literal

from labtests.simlab.linux.calls import screen
from labtests.simlab.linux.options import (
    BadOption,
    NumberOption,
    Refused,
    only,
    read_numbers,
    read_options,
)

Verb = Literal["send", "write", "read"]
VERBS: dict[str, Verb] = {
    "ib_send_bw": "send",
    "ib_write_bw": "write",
    "ib_read_bw": "read",
    "ib_send_lat": "send",
    "ib_write_lat": "write",
}
LATENCY_BYTES, LATENCY_ITERATIONS = 2, 1000
DEFAULT_PORT = 18515
DEFAULT_DURATION_S = 5
DEFAULT_ITERATIONS: dict[Verb, int] = {"send": 1000, "write": 5000, "read": 1000}
LARGE_MESSAGE_BYTES = 8192  # above it every completion is asked for: CQ moderation 1
CQ_MODERATION = 100
LARGEST_SIZE = 2**31 - 1

_OPTIONS = """-a,--all -b,--bidirectional -c,--connection= -d,--ib-dev= -D,--duration= -f,--margin=
-F,--CPU-freq -h,--help -i,--ib-port= -I,--inline_size= -m,--mtu= -n,--iters= -N,--noPeak -p,--port=
-q,--qp= -Q,--cq-mod= -r,--rx-depth= -R,--rdma_cm -s,--size= -S,--sl= -t,--tx-depth= -T,--tos=
-u,--qp-timeout= -V,--version -x,--gid-index= --out_json --out_json_file= --tclass= --report_gbits
--run_infinitely --retry_count= --source_ip,--bind_source_ip= --report-both --disable_pcie_relaxed
--use_old_post_send -egOzU -lLMwWyX="""
_NOT_EMULATED = ("a", "b", "out_json", "out_json_file")


def usage(tool: str) -> str:
    """The text of perftest 6.06 for ib_send_bw, as recorded; the others' differ in a few lines."""
    return screen("perftest-usage", tool=tool)


def _refused(text: str, printed: str = "") -> Refused:
    return Refused(f"{text} Parser function exited with Error\n", printed=printed)


RDMA_CM_TIMEOUT_EXPONENT = 18
"""Of a QP that rdma_cm connects (-R), 1.07 s: perftest gives the connection its retry count and its
TOS alone, so -u has no effect on it. The kernel chooses: packet lifetime 16 (cma.c; 18 in older
kernels) + 1, and one more where the NIC's own delay is as large, as of ConnectX (cm.c)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerftestPlan:
    """One run, as its options say."""

    tool: str
    server: str | None = None
    device: str | None = None
    port: int = DEFAULT_PORT
    size_bytes: int = 65536
    tx_depth: int = 128
    rx_depth: int = 512
    qps: int = 1
    timeout_exponent: int = 14
    retry_limit: int = 7
    mtu_bytes: int | None = None
    gid_index: int | None = None
    rdma_cm: bool = False
    tos: int | None = None
    duration_s: int | None = None
    iterations: int = 1000
    forever: bool = False
    gbits: bool = False
    connection: str = "RC"

    @property
    def verb(self) -> Verb:
        """What the requester does."""
        return VERBS[self.tool]

    @property
    def latency(self) -> bool:
        """Whether it measures times: one message at a time, to and fro."""
        return self.tool.endswith("_lat")

    @property
    def moderation(self) -> int:
        """Completions are asked for every so many messages."""
        if self.size_bytes > LARGE_MESSAGE_BYTES:
            return 1
        return min(CQ_MODERATION, self.depth)

    @property
    def depth(self) -> int:
        """The send queue: not longer than the run."""
        if self.latency:
            return 1
        return self.tx_depth if self.duration_s else min(self.tx_depth, self.iterations)

    @property
    def margin_s(self) -> int:
        """What a run of so many seconds does not measure at each of its ends: a quarter, in whole
        seconds (recorded: 3 of 5 s count, 6 of 10, 2 of 4, 3 of 3)."""
        return (self.duration_s or 0) // 4


def read_plan(tool: str, arguments: tuple[str, ...]) -> tuple[PerftestPlan, dict[str, str]]:
    """The plan and its raw options. Raises Refused in perftest's words."""
    try:
        options, words = read_options(arguments, _OPTIONS)
    except BadOption as error:
        again = " Invalid Command or flag.\n Please check command line and run again.\n\n"
        raise _refused(f"{tool}: {error}\n{again}", printed=usage(tool)) from None
    plan = PerftestPlan(
        tool=tool,
        server=words[0] if words else None,
        device=options.get("d"),
        rdma_cm="R" in options or "z" in options,
        forever="run_infinitely" in options,
        gbits="report_gbits" in options,
        connection=options.get("c", "RC"),
        iterations=DEFAULT_ITERATIONS[VERBS[tool]],
    )
    if plan.latency:
        plan = replace(plan, size_bytes=LATENCY_BYTES, iterations=LATENCY_ITERATIONS)
    not_here = (*_NOT_EMULATED, *(("D", "q", "run_infinitely") if plan.latency else ()))
    only([name for name in not_here if name in options])
    plan = replace(plan, **read_numbers(options, _NUMBERS, _number, _out_of_bounds))
    if "R" in options:
        plan = replace(plan, timeout_exponent=RDMA_CM_TIMEOUT_EXPONENT)
    if plan.forever and plan.duration_s is None:
        plan = replace(plan, duration_s=DEFAULT_DURATION_S)
    return plan, options


_NUMBERS = {
    "p": NumberOption("port", "Port", 1, 65535),
    "s": NumberOption("size_bytes", "Message Size", 1, LARGEST_SIZE),
    "t": NumberOption("tx_depth", "Tx depth", 1, 15000),
    "r": NumberOption("rx_depth", "Rx depth", 1, 16384),
    "q": NumberOption("qps", "num of Qps", 1, 16384),
    "x": NumberOption("gid_index", "Gid index", 0, 64),
    "T": NumberOption("tos", "TOS", 0, 255),
    "D": NumberOption("duration_s", "Duration", 1, 2**31 - 1),
    "n": NumberOption("iterations", "Iteration num", 5, 2**32),
    "m": NumberOption("mtu_bytes", "MTU", 256, 4096),
    "u": NumberOption("timeout_exponent", "QP timeout", 0, 31),
    "retry_count": NumberOption("retry_limit", "Retry count", 0, 7),
    "tclass": NumberOption("tos", "Traffic Class", 0, 255),
}


def _number(number: NumberOption, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise _refused(f" {number.words} argument {text} should be int\n") from None


def _out_of_bounds(number: NumberOption) -> Refused:
    return _refused(f" {number.words} should be between {number.low} and {number.high}\n")
