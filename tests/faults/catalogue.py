"""What may go wrong, row by row: fault, suite, and what the suite has to say of it.

A row is never a pass. `says`: texts that its sentences contain, one of each tuple. One row of each
cause is run by default (`usual`), all of them by `make faults`.
"""

from dataclasses import dataclass
from typing import Any

from labtests.verdicts import Outcome

FAIL, OPEN = Outcome.FAIL, Outcome.INCONCLUSIVE
RED = frozenset({FAIL, OPEN})
OPEN_ONLY = frozenset({OPEN})
Words = tuple[str | tuple[str, ...], ...]

S1 = ("test_s1_pfc", "test_pfc_holds_a_udp_incast_without_loss")
S2 = ("test_s2_dcqcn", "test_dcqcn_slows_an_rdma_incast_without_loss")
S3 = ("test_s3_reaction_point", "test_a_sender_without_reaction_point_drops_in_its_own_queue_only")
BELOW = ("test_below_bottleneck", "test_nothing_is_lost_below_the_bottleneck")
OVERLOAD = ("test_overload", "test_drops_are_in_the_overloaded_queue_only")
SOCKET = ("test_overload", "test_a_small_socket_loses_in_the_host_not_in_the_switch")
CLASSES = ("test_classification", "test_each_dscp_gets_the_queue_that_the_map_says")
SHARES = ("test_scheduling", "test_each_queue_gets_the_share_that_the_scheduler_owes_it")
TCP = ("test_tcp_ecn", "test_a_tcp_incast_is_marked_instead_of_dropped")
SUITES = (S1, S2, S3, BELOW, OVERLOAD, SOCKET, CLASSES, SHARES, TCP)

EXPERIMENT = {
    S1: "experiment 'PFC on': traffic",
    S2: "experiment 'ECN on': traffic",
    S3: "experiment 'RP off for priority 2 of ServerB': traffic",
    BELOW: "experiment '80 % of line rate': traffic",
    OVERLOAD: "experiment 'queue 3 overloaded': traffic",
    SOCKET: "experiment 'sockets of 4096 bytes': traffic",
    CLASSES: "experiment 'round 1 of",
    SHARES: ": equal': traffic",
    TCP: "experiment 'ECN on': traffic",
}
"""What the progress says when the traffic starts that a suite judges."""

H3C, LINUX, LEAVES = "h3c-s6550-cx4", "linux-lab", "two-leaves"
CUMULUS, ONYX = "cumulus-cx5", "onyx-cx5"
SWITCH, OUT = "S6550", "Twenty-FiveGigE1/0/13"
FROM_A, FROM_B = "Twenty-FiveGigE1/0/14", "Twenty-FiveGigE1/0/15"
A, NIC_A = "ServerA", "enp3s0f0np0"
B, NIC_B = "ServerB", "ens6f0np0"
C, NIC_C = "ServerC", "ens6f0np0"
MIDDLE_S = {S1: 3.0, S2: 3.0, S3: 3.0, CLASSES: 0.0}
"""Everybody sends by then."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing that goes wrong: in the middle of the traffic, or when the progress says `at`."""

    name: str
    suite: tuple[str, str]
    faults: tuple[dict[str, Any], ...]
    says: Words
    outcomes: frozenset[Outcome] = RED
    testbed: str = H3C
    at: str | None = None
    usual: bool = False
    anew: bool = False  # nothing is remembered of earlier runs
    theirs: dict[str, Any] | None = None  # puts back what labtests has not set and leaves alone

    def moments(self) -> list[tuple[str, float, dict[str, Any]]]:
        """When each fault comes: progress, seconds after it, fault."""
        if self.at is not None:
            return [(self.at, 0.0, fault) for fault in self.faults]
        after_s = MIDDLE_S.get(self.suite, 0.3)
        return [(EXPERIMENT[self.suite], after_s, fault) for fault in self.faults]


def fault(kind: str, device: str, port: str = "", **more: Any) -> dict[str, Any]:
    """As `labtests simlab fault` takes it."""
    return {"kind": kind, "device": device, **({"port": port} if port else {}), **more}


def discards(per_million: int = 50_000, counted: str = "rx_discards_phy") -> dict[str, Any]:
    return fault("nic-discards", C, NIC_C, per_million=per_million, counted=counted)


def grows(device: str, port: str, counter: str, by: int = 1) -> dict[str, Any]:
    return {"kind": "growing-counter", "device": device, "port": port, "counter": counter, "by": by}


def typed(device: str, command: str) -> dict[str, Any]:
    return fault("somebody", device, command=command)


def on_port(port: str, line: str) -> str:
    return f"system-view\ninterface {port}\n{line}"


DISCARDED: Words = (f"{C} {NIC_C}", "discard")
UNCOUNTED: Words = (C,)
"""Of what nobody counts: the receiver that it was on its way to."""

_RECEIVER = [
    Row(name=f"the receiver's NIC discards packets: {suite[1]}", suite=suite,
        faults=(discards(),), says=DISCARDED, usual=suite is BELOW)
    for suite in (S1, S2, S3, BELOW, OVERLOAD, SOCKET, SHARES, TCP)
] + [
    Row(name=f"it has no receive request for them: {suite[1]}", suite=suite,
        faults=(discards(counted="rx_out_of_buffer"),),
        says=(f"{C} {NIC_C}", "out_of_buffer"))
    for suite in (S1, S2, BELOW)
] + [
    Row(name=f"it discards them and counts nothing: {suite[1]}", suite=suite,
        faults=(discards(counted="nothing"),), says=UNCOUNTED, usual=suite is BELOW)
    for suite in (S1, S2, BELOW, TCP)
] + [
    Row(name="one failed reassembly beside a thousand lost datagrams", suite=S1,
        faults=(
            fault("dead-counter", C, NIC_C, counter="ip_reasm_fails"),
            grows(C, "", "IpReasmFails"),
            discards(2_000, "nothing"),
        ), at=EXPERIMENT[S1], says=(*UNCOUNTED, "datagrams")),
    Row(name="one full socket beside a thousand lost datagrams", suite=BELOW,
        faults=(grows(C, "", "UdpRcvbufErrors"), grows(C, "", "UdpInErrors"),
                discards(20_000, "nothing")),
        says=UNCOUNTED),
]  # fmt: skip

_CABLES = [
    Row(name=f"frames are damaged on the cable to the switch: {suite[1]}", suite=suite,
        faults=(fault("lossy-cable", SWITCH, FROM_A, per_million=1000),),
        says=(f"{SWITCH} {FROM_A}", ("crc", "CRC")), usual=suite is BELOW)
    for suite in (S1, S2, BELOW, TCP)
] + [
    Row(name=f"frames are damaged on the last cable: {suite[1]}", suite=suite,
        faults=(fault("lossy-cable", C, NIC_C, per_million=1000),),
        says=(f"{C} {NIC_C}", ("crc", "CRC")))
    for suite in (S1, S2, S3, BELOW, SHARES, TCP)
] + [
    Row(name=f"symbols are wrong on the last cable: {suite[1]}", suite=suite,
        faults=(fault("lossy-cable", C, NIC_C, per_million=1000, counted="symbol"),),
        says=(f"{C} {NIC_C}", "symbol"))
    for suite in (S1, BELOW)
] + [
    Row(name=f"a cable loses frames and nobody counts them: {suite[1]}", suite=suite,
        faults=(fault("lossy-cable", C, NIC_C, per_million=1000, counted="nothing"),),
        says=UNCOUNTED)
    for suite in (S1, S2, S3, BELOW, OVERLOAD, SHARES, TCP)
] + [
    Row(name=f"one single frame is lost on the last cable: {suite[1]}", suite=suite,
        faults=(fault("lossy-cable", C, NIC_C, frames=1, counted="nothing"),),
        says=UNCOUNTED, usual=suite is TCP)
    for suite in (S1, S2, BELOW, TCP)
] + [
    Row(name=f"the carrier of a sender is gone for 50 ms: {suite[1]}", suite=suite,
        faults=(fault("carrier-flap", A, NIC_A, milliseconds=50),),
        says=(f"{A} {NIC_A}", ("tx_dropped", "carrier", "link_down")), usual=suite is BELOW)
    for suite in (S1, S2, BELOW, SHARES, TCP)
]  # fmt: skip

_BACKGROUND = [
    Row(name=f"background does not excuse losses on the last cable: {suite[1]}", suite=suite,
        testbed=LINUX, says=("h3",), usual=suite is BELOW, at=f"{quiet}: quiet window",
        faults=(fault("background", "h2", to="10.71.0.3", tos=32, mbit_per_s=4),
                fault("lossy-cable", "h3", "eth1", per_million=30_000, counted="nothing")))
    for suite, quiet in ((BELOW, "experiment '80 % of line rate'"),
                         (OVERLOAD, "experiment 'queue 3 overloaded'"))
]  # fmt: skip

_SLOW = [
    Row(name=f"losses behind counters that are refreshed every {seconds} s: {suite[1]}",
        suite=suite, anew=True, at="measuring", says=(SWITCH,),
        usual=(suite, seconds) == (BELOW, 8),
        faults=(fault("slow-counters", SWITCH, seconds=seconds),
                fault("drop-packets", SWITCH, OUT, queue=3, per_million=4000)))
    for suite in (S1, BELOW) for seconds in (8, 30)
]  # fmt: skip

_REVISIONS = [
    Row(name="somebody applies a revision without PFC on a Cumulus switch", suite=S1, usual=True,
        testbed=CUMULUS, says=("dropped_packets grew",),
        faults=(fault("somebody", "SN2700", command="nv unset interface swp1-3 qos pfc profile && "
                      "nv config apply -y"),)),
    Row(name="a Cumulus switch hides what its queues drop", suite=S1, testbed=CUMULUS,
        faults=(fault("missing-counter", "SN2700", "swp1", counter="queue-drops"),),
        says=("does not show it",)),
]  # fmt: skip

_ONYX = [
    Row(name="somebody switches PFC off at the ports of an Onyx switch", suite=S1, testbed=ONYX,
        says=("dropped_packets grew",), usual=True,
        faults=(fault("somebody", "SN2700", command="enable\nconfigure terminal\n"
                      "interface ethernet 1/1-1/3 no dcb priority-flow-control mode force"),)),
    Row(name="an Onyx switch hides what its queues drop", suite=S1, testbed=ONYX,
        faults=(fault("missing-counter", "SN2700", "Eth1/1", counter="queue-drops"),),
        says=("shows no such line",)),
]  # fmt: skip

_SETTINGS = [
    Row(name="the second sender's port ignores DSCP", suite=CLASSES, usual=True,
        faults=(fault("ignores-dscp", SWITCH, FROM_B),), says=(("ServerB", FROM_B),)),
    Row(name="a sender's port ignores DSCP under load", suite=OVERLOAD,
        faults=(fault("ignores-dscp", SWITCH, FROM_B),), says=(("ServerB", FROM_B, OUT),)),
    *(Row(name=f"a port between switches ignores DSCP: {suite[1]}", suite=suite, testbed=LEAVES,
          faults=(fault("ignores-dscp", "leaf2", "HundredGigE1/0/25"),), at=EXPERIMENT[suite],
          outcomes=frozenset({FAIL}), says=("queue 0 forwarded_packets",)) for suite in (S1, S2)),
    Row(name="CNPs in another class than the setting says", suite=S2,
        faults=(fault("cnp-dscp", C, NIC_C, dscp=0),), says=("CNP", SWITCH)),
    Row(name="CNPs in another class, without a reaction point", suite=S3,
        faults=(fault("cnp-dscp", C, NIC_C, dscp=0),), says=("CNP", SWITCH)),
]  # fmt: skip

_RDMA = [
    Row(name=f"{counter} of {device} grows without a drop: {suite[1]}", suite=suite,
        faults=(grows(device, nic, counter, 5),), says=(f"{device} {nic}", counter),
        usual=(suite, counter) == (S2, "implied_nak_seq_err"))
    for suite, device, nic, counter in (
        (S2, C, NIC_C, "duplicate_request"), (S2, A, NIC_A, "implied_nak_seq_err"),
        (S2, C, NIC_C, "out_of_sequence"), (S2, A, NIC_A, "packet_seq_err"),
        (S2, C, NIC_C, "out_of_buffer"), (S2, C, NIC_C, "rx_icrc_encapsulated"),
        (S3, A, NIC_A, "implied_nak_seq_err"), (S3, A, NIC_A, "packet_seq_err"),
        (S3, C, NIC_C, "out_of_buffer"), (S3, A, NIC_A, "local_ack_timeout_err"),
    )
]  # fmt: skip

_SENDERS = [
    Row(name=f"a sender stands still for a while: {suite[1]}", suite=suite,
        faults=(fault("freeze", A, seconds=seconds),), says=(A,), usual=suite is BELOW)
    for suite, seconds in ((S1, 1.2), (BELOW, 0.4), (OVERLOAD, 0.4), (SHARES, 0.4))
] + [
    Row(name=f"a sender has a fifth of the processor: {suite[1]}", suite=suite,
        faults=(fault("cpu-limit", A, share=0.2),), says=(A,), at=EXPERIMENT[suite])
    for suite in (S1, BELOW, OVERLOAD, SHARES)  # in the others nobody is asked for a rate
] + [
    Row(name="both senders of RDMA hardly send", suite=S2, at=EXPERIMENT[S2],
        faults=(fault("cpu-limit", A, share=0.02), fault("cpu-limit", B, share=0.02)),
        says=(A, B)),
    Row(name="a sender of RDMA has two fifths of the processor", suite=S2, at=EXPERIMENT[S2],
        faults=(fault("cpu-limit", B, share=0.4),), says=(f"the limit of {B}",)),
    Row(name="the late sender of S1 stands still for a moment", suite=S1, outcomes=OPEN_ONLY,
        faults=(fault("freeze", B, seconds=0.5),), says=(f"the limit of {B}, or it stalled",),
        usual=True),
    Row(name="the late sender of S2 stands still", suite=S2, outcomes=OPEN_ONLY,
        faults=(fault("freeze", B, seconds=1.0),), says=(B,)),
    Row(name="the first sender of S2 stands still alone", suite=S2, at=EXPERIMENT[S2],
        outcomes=OPEN_ONLY, faults=(fault("freeze", A, seconds=1.2),),
        says=(f"{A} sent", "the limit of its host or a stall")),
    Row(name="a sender of a namespace lab stands still", suite=BELOW, testbed=LINUX, says=("h1",),
        faults=(fault("freeze", "h1", seconds=0.4),)),
    Row(name="the tools of a control are killed", suite=S1, anew=True,
        faults=(fault("somebody", A, command="sleep 0.2; pkill -KILL iperf3"),
                fault("somebody", B, command="sleep 2.2; pkill -KILL iperf3")),
        at="control 'PFC off at the switch': traffic", says=("CONTROL", A, B)),
    Row(name="the tools of a control of loads are killed", suite=BELOW, anew=True,
        faults=(fault("somebody", A, command="sleep 0.2; pkill -KILL iperf3"),
                fault("somebody", B, command="sleep 0.2; pkill -KILL iperf3")),
        at="control '150 % of line rate': traffic", says=("did not run", A, B)),
]  # fmt: skip

_PORTS = [
    Row(name=f"{counter} grows by 1 at {port}: {suite[1]}", suite=suite,
        faults=(grows(SWITCH, port, counter),), says=(f"{SWITCH} {port}", ("drop", "CRC", "crc")),
        usual=(suite, port) == (BELOW, OUT))
    for suite, port, counter in (
        (S1, OUT, "Output dropped"), (S3, FROM_B, "Input dropped"), (S3, FROM_A, "Output dropped"),
        (OVERLOAD, FROM_A, "Input dropped"), (SOCKET, OUT, "Output dropped"),
        (SHARES, FROM_A, "Input dropped"), (TCP, FROM_B, "Input dropped"),
        (BELOW, OUT, "Packets of WRED dropped"), (BELOW, FROM_A, "CRC"), (S2, FROM_B, "CRC"),
    )
] + [
    Row(name="segments are sent again without a loss", suite=TCP,
        faults=(grows(A, "", "TcpRetransSegs", 100_000),),
        says=("retransmitted 100000 segments more than their tools report",)),
]  # fmt: skip

_PEOPLE = [
    Row(name="somebody changes the scheduling", suite=SHARES, usual=True,
        faults=(typed(SWITCH, on_port(OUT, "qos wrr 3 group 1 byte-count 1")),),
        says=(SWITCH, OUT, "scheduling")),
    Row(name="somebody switches ECN off", suite=S2,
        faults=(typed(SWITCH, on_port(OUT, "undo qos wred apply")),), says=(SWITCH, OUT, "ecn")),
    Row(name="somebody switches ECN off under TCP", suite=TCP,
        faults=(typed(SWITCH, on_port(OUT, "undo qos wred apply")),), says=(SWITCH, OUT, "ecn")),
    Row(name="somebody changes what a port trusts", suite=S1,
        faults=(typed(SWITCH, on_port(FROM_A, "undo qos trust")),), says=(SWITCH, FROM_A, "trust")),
    Row(name="somebody switches PFC off at the switch", suite=S1,
        faults=(typed(SWITCH, on_port(FROM_A, "undo priority-flow-control")),),
        says=(SWITCH, FROM_A, "pfc")),
    Row(name="somebody switches PFC off at a NIC", suite=S1,
        faults=(typed(A, f"mlnx_qos -i {NIC_A} --pfc 0,0,0,0,0,0,0,0"),), says=(A, NIC_A, "pfc")),
    Row(name="somebody switches a reaction point off", suite=S2,
        faults=(typed(B, f"echo 0 > /sys/class/net/{NIC_B}/ecn/roce_rp/enable/2"),),
        says=(B, NIC_B, "reaction_point"),
        theirs=typed(B, f"echo 1 > /sys/class/net/{NIC_B}/ecn/roce_rp/enable/2")),
]  # fmt: skip

ROWS: tuple[Row, ...] = (
    *_RECEIVER, *_CABLES, *_BACKGROUND, *_SLOW, *_SETTINGS, *_RDMA, *_SENDERS, *_PORTS, *_PEOPLE,
    *_REVISIONS, *_ONYX,
)  # fmt: skip
