"""Mutations that stand for no loss and no missing proof, each with the reason: data."""

import re
from dataclasses import dataclass

from mutating import Mutation


@dataclass(frozen=True)
class Harmless:
    """Which mutations: by regular expressions that match all of their kind, place, counter and
    phase, and the name of the suite."""

    because: str
    kind: str = ".*"
    place: str = ".*"
    counter: str = ".*"
    phase: str = ".*"  # its kind and its name
    suite: str = ".*"
    idle: bool = False  # only of queues, classes and ports that no flow uses
    unnamed: bool = False  # only of counters that labtests has no name for

    def has(self, suite: str, mutation: Mutation) -> bool:
        """Whether this is one of them."""
        seen = mutation.seen
        pairs = (
            (self.kind, mutation.kind),
            (self.place, mutation.place),
            (self.counter, mutation.counter),
            (self.phase, f"{seen.kind} {seen.name}"),
            (self.suite, suite),
        )
        fits = all(re.fullmatch(pattern, text) for pattern, text in pairs)
        return fits and not (self.idle and mutation.load) and not (self.unnamed and mutation.named)


ONE = "one less|more|frozen|halved|reset|wrapped|missing|stale|twice or negative|swapped .*|samples"
"""Kinds that make one counter tell something else."""
COUNTED = f"lost and counted|{ONE}"
UDP = (
    r"(below|classi|dcbx|early|latency|marking|mixed|overload|pauses_of|pfc_watchdog|s1_|sched|"
    r"deadlock|pfc_escape|soak|tcp_|thresh|tunnels).*"
)
"""Suites without RDMA in the flows that they judge."""

DECLARED: tuple[Harmless, ...] = (
    Harmless(
        "a device's own word: no verdict speaks of it, and packets are balanced by others",
        kind=COUNTED,
        unnamed=True,
    ),
    Harmless(
        "of a queue, class, port or host that no flow of the phase uses",
        kind="lost and counted|one less|more|halved|reset|wrapped|missing|stale|twice.*",
        idle=True,
    ),
    Harmless(
        "of a whole host, whatever program it is of: every datagram of the flows is accounted for",
        kind=COUNTED,
        place=".* host",
        counter="(udp_(no_ports|in_|rcvbuf|sndbuf|mem|out)|ip_|icmp_|tcp_).*",
    ),
    Harmless(
        "of a whole host: NICs count the packets of the class that it sent, and got",
        kind="device stands still",
        place=".* host",
        suite="(dcbx|dcqcn|deadlock|early|marking|mixed|pfc_escape|tcp_|verbs).*",
    ),
    Harmless(
        "that traffic goes on is claimed of a ring: its own cables are held against each other, "
        "and the tools tell what came out of it",
        kind="device stands still",
        place="bottleneck|sender's (NIC|switch port)",
        suite="(deadlock|pfc_escape).*",
    ),
    Harmless(
        "bytes beside packets that another counter has, to the packet",
        kind=COUNTED,
        counter="(tx|rx|forwarded)_bytes",
    ),
    Harmless(
        "bytes that were dropped are asked only whether they grew beside no packet that was",
        kind="(?!more)(" + ONE + ")",
        counter="dropped_bytes",
    ),
    Harmless(
        "packets of a whole port, or of its qdisc, where NICs count the classes of the flows",
        kind=COUNTED,
        counter="(tx|rx)_packets|qdisc_(sent|dropped|requeued)_packets|rx_dropped",
    ),
    Harmless(
        "counts nothing of UDP or TCP",
        kind=COUNTED,
        suite=UDP,
        counter="out_of_sequence|packet_seq_err|.*_cqe_error|duplicate_request|rnr_.*|local_ack_.*|"
        "implied_.*|roce_adp.*|np_.*|rp_.*|out_of_buffer|rx_icrc.*",
    ),
    Harmless(
        "a host counts it of the other part that it may have: requester, or responder",
        kind=COUNTED,
        place="sender.*",
        counter="out_of_sequence|duplicate_request|resp_.*|np_.*",
    ),
    Harmless(
        "a host counts it of the other part that it may have: requester, or responder",
        kind=COUNTED,
        place="receiver.*",
        counter="packet_seq_err|implied_.*|local_ack_.*|rnr_.*|roce_adp.*|req_cqe.*|rp_.*",
    ),
    Harmless(
        "how long pauses were, and how often they ended, beside how many there were",
        kind=COUNTED,
        counter="pfc_.*_(pause_us|transitions)|pause_(rx|tx)_frames|tx_pause_storm_warning_events",
    ),
    Harmless(
        "a control loses on purpose: asked is that its traffic ran, and that its queues' counters "
        "of drops have all that was lost through them",
        kind=f"{COUNTED}|lost uncounted|device stands still|watermarks",
        phase="control .*",
        place=".*(NIC|host|switch port|switches)|before (the NIC|the receiver's NIC|its IP.*|UDP)",
    ),
    Harmless(
        "a queue pair of a control whose queue drops begins again with each loss, and may have "
        "completed nothing: its NIC sent",
        kind="tool",
        phase="control .*",
        counter="failed|goodput_bits_per_s .*|iterations .*|a row .*|no rows",
        suite="(pfc_and|priority_tags|s2_|s3_|verbs).*",
    ),
    Harmless(
        "a control by datagrams, or TCP, loses them on purpose, and its queues' counters tell of "
        "it: its tools are asked whether they sent",
        kind="tool",
        phase="control .*",
        counter=".*_datagrams .*|one datagram fewer|retransmits .*|a row .*|no rows",
        suite=f"{UDP}|(deaf|dcqcn|priority_tags).*",
    ),
    Harmless(
        "a phase without congestion or mechanism, in which a wrong claim has to be red",
        kind=f"{COUNTED}|lost uncounted|device stands still",
        phase="experiment (told to hosts whose OS sets PFC|no early warning|storms, no early.*)",
    ),
    Harmless(
        "warnings are claimed of this phase, and no loss is judged",
        kind=f"{COUNTED}|lost uncounted",
        phase="experiment (early warning, .*|storms, early.*)",
        counter="(?!pfc_(rx|tx)_frames).*",
    ),
    Harmless(
        "a switch warns of the pauses that it counts: NICs are not asked",
        kind=COUNTED,
        place=".*NIC",
        phase="experiment (early warning, .*|storms, early.*)",
        counter="pfc_(rx|tx)_frames",
    ),
    Harmless(
        "warnings and settings are claimed of this phase, and no datagrams: but its tools ran",
        kind="tool",
        phase="experiment (early warning, .*|(storms, |)(no |)early.*|told to hosts whose OS.*)",
        counter=".*_datagrams .*|.*_bytes .*|a row .*|no rows|one datagram fewer|.* halved",
        suite="(early|dcbx).*",
    ),
    Harmless(
        "marks are counted by queue and by port: one of the two is judged, with the notification "
        "point",
        kind=COUNTED,
        counter="marked_packets|ecn_marked_packets",
        suite="(?!marking).*",
    ),
    Harmless(
        "the control's marks have to have grown, whatever they are",
        kind=COUNTED,
        counter="marked_packets|ecn_marked_packets",
        suite="marking.*",
        phase="control .*",
    ),
    Harmless(
        "of an idle port or queue, or of packets that are not lost",
        kind=COUNTED,
        counter="rx_oversize_packets|rx_corrected_bits",
    ),
    Harmless(
        "pauses are no claim of this suite: what a sender did not send is held against its NIC's",
        kind=COUNTED,
        suite="(below|classif|deadlock|deaf|edge|latency|marking|mixed|overload|pauses_of|"
        "pfc_watchdog|sched|tcp_|tunnels|s3_|pfc_escape|victim).*",
        counter="pfc_(rx|tx)_frames",
    ),
    Harmless(
        "frames to the receiver, which sends next to nothing, and from it: its NIC tells of these, "
        "too, and one of the two has to be known",
        kind="stale|missing|twice or negative|samples",
        place="bottleneck|receiver.*|sender's NIC",
        counter="pfc_(rx|tx)_frames",
    ),
    Harmless(
        "the watchdog is told by how often it shut queues; what it dropped, by the queue",
        kind=COUNTED,
        counter="watchdog_(dropped_.*|last_.*|restored)",
    ),
    Harmless(
        "loads have to fill a port, and are told so by what it forwarded: what of them is lost is "
        "not claimed",
        kind=f"{COUNTED}|lost uncounted|device stands still|tool",
        suite="(classif|deaf|latency|early_warning).*",
        place="(?!probe|phase).*",
        phase="experiment (?!early warning$).*",
    ),
    Harmless(
        "in which queues packets are is claimed, by what these forwarded, and not that none is "
        "lost",
        kind=f"{COUNTED}|lost uncounted|device stands still|tool",
        phase="experiment round .*",
        suite="edge.*",
    ),
    Harmless(
        "that RoCE is marked and slowed is claimed, without PFC, and not that no packet is lost",
        kind="lost uncounted|lost and counted|missing|twice or negative|one less|more",
        phase="experiment RoCE at the edge",
        counter="|forwarded_packets|buffer_.*|roce_adp.*|local_ack_.*|req_cqe.*",
        suite="edge.*",
    ),
    Harmless(
        "in which queue packets are is claimed, to some of them, and not that none is lost",
        kind="lost uncounted|missing|stale|twice or negative|tool",
        counter="|buffer_.*|one datagram fewer|a row .*|no rows",
        suite="tunnels.the_class.*",
    ),
    Harmless(
        "without DSCP all are in one queue: how many of each flow they are is not asked",
        kind="tool",
        phase="control .*",
        counter=".*_datagrams .*",
        suite="tunnels.the_class.*",
    ),
    Harmless(
        "TCP sends again what is lost; that it is marked and not dropped is asked of the queue",
        kind="lost uncounted|tool",
        counter="|retransmits (halved|untold)|a row .*|no rows",
        suite="tunnels.marks.*",
    ),
    Harmless(
        "a NIC makes the packets of RoCE: none is lost before it, and no UDP of the host has them",
        kind="lost uncounted",
        suite="(deaf|pfc_and|priority_tags|s2_|s3_|verbs|victim).*",
        place="before (the NIC|its IP stack|UDP)",
    ),
    Harmless(
        "what a host loses above its NIC is not claimed of switches' thresholds, or TCP, or marks",
        kind="lost uncounted",
        suite="(marking|tcp_|thresholds|verbs|early).*",
        place="before (its IP stack|UDP)",
    ),
    Harmless(
        "thresholds, marks and pauses of a host are claimed, and no loss that nobody counts",
        kind="lost uncounted",
        suite="(marking|thresholds).*",
    ),
    Harmless(
        "packets towards the senders, whose class no question is about",
        kind=COUNTED,
        place="sender's switch port",
        counter="(dropped|forwarded)_packets",
        suite="(?!s2_|pfc_and|victim).*",
    ),
    Harmless(
        "a figure of a tool beside others that are exact: datagrams, or packets of NICs",
        kind="tool",
        counter="goodput_bits_per_s halved|(received|sent)_bytes .*|lost_datagrams (halved|0)|"
        "iterations (halved|untold)",
    ),
    Harmless(
        "what a paced flow sent in all is held against what it was asked; its rows are not",
        kind="tool",
        counter="a row .*|no rows",
        suite="(below|dcbx|early|marking|mixed|overload|pauses_of|pfc_watchdog|s1_|s3_|sched|"
        "priority_tags|thresh|verbs).*",
    ),
    Harmless(
        "switches are asked here, and no socket",
        kind="tool",
        counter=".*_datagrams .*|one datagram fewer",
        suite="(marking|thresh|verbs|pfc_watchdog|sched).*",
    ),
    Harmless(
        "a balance that cannot be made leaves a control's counters unproven: none of these is one "
        "that has to have stayed 0 afterwards",
        kind=f"{COUNTED}|device stands still",
        phase="control .*",
        place="bottleneck",
    ),
    Harmless(
        "one sender's rounds are told apart by numbers, in whatever order",
        kind="phase",
        counter="flows swapped",
        suite="(classif|edge).*",
    ),
    Harmless(
        "a ring that is locked pauses for ever: it never settles",
        kind="phase",
        phase="control .*",
        counter="not settled",
        suite="(deadlock|pfc_escape).*",
    ),
    Harmless(
        "a ring that is locked holds what the tools tell each other, too: they may fail",
        kind="tool",
        phase="control .*",
        counter="failed",
        suite="(deadlock|pfc_escape).*",
    ),
    Harmless(
        "a ring that is locked stands still, whosever its flows are",
        kind="phase",
        phase="control .*",
        counter="flows swapped",
        suite="(deadlock|pfc_escape).*",
    ),
    Harmless(
        "what a released or opened ring drops is known between two bounds, and its loss is not "
        "judged: that traffic goes on is",
        kind=f"{COUNTED}|lost uncounted|tool",
        suite="(deadlock|pfc_escape).*",
        place="(?!phase).*",
        counter="(?!failed).*",
    ),
    Harmless(
        "the control is red by what its tools tell, and proves no counter",
        kind="phase",
        phase="control .*",
        counter="no counters at the (start|end)",
        suite="(deaf|dcqcn_points.a_sender_speeds).*",
    ),
    Harmless(
        "of queues between switches S2 asks drops, and in which queue CNPs are; RDMA that is lost "
        "there uncounted is told by NICs, which see the gap",
        kind="halved|one less|more",
        place="between switches",
        counter="forwarded_packets",
        suite="s2_.*",
    ),
    Harmless(
        "behind the bottleneck only drops are asked: RDMA that is lost there uncounted is told by "
        "NICs, which see the gap",
        kind=ONE,
        place="between switches|receiver's switch port",
        counter="forwarded_packets|tx_(packets|bytes)",
        suite="priority_tags.*",
    ),
    Harmless(
        "of pauses those are asked that the senders' ports sent",
        kind="stale|missing|twice or negative",
        place="sender's switch port",
        counter="pfc_rx_frames",
        suite="priority_tags.*",
    ),
    Harmless(
        "of pauses totals are asked, where marks do not slow the senders",
        kind="samples",
        place="sender's switch port",
        counter="pfc_tx_frames",
        suite="priority_tags.*",
    ),
    Harmless(
        "marks are asked where they slow the senders, and no pauses",
        kind="stale|twice or negative",
        place="sender's switch port",
        counter="pfc_tx_frames",
        phase="experiment senders that marks slow",
        suite="priority_tags.*",
    ),
    Harmless(
        "of pauses those are asked that the senders' ports sent",
        kind="stale|missing|twice or negative",
        place="between switches",
        counter="pfc_(rx|tx)_frames",
        suite="priority_tags.*",
    ),
    Harmless(
        "congestion is proven by marks, or pauses, without samples",
        kind="samples",
        place="bottleneck",
        counter="forwarded_packets|queue_length_packets",
        suite="(dcbx|early|pfc_and|pfc_watchdog|priority_tags|s2_|verbs).*",
    ),
    Harmless(
        "of the probe in the load's own class, by which the control is red all the same; that of "
        "the strict class is judged (test_strict_latency)",
        kind="probe",
        counter="no messages",
        suite="latency.*",
    ),
    Harmless(
        "a long queue of what is not ECN-capable is proven by its drops, without samples",
        kind="samples",
        counter="forwarded_packets",
        phase=".* not ECN-capable",
        suite="marking.*",
    ),
    Harmless(
        "a control has to drop in its queue: which of its flows lost them is not asked",
        kind="phase",
        counter="flows swapped",
        phase="control .*",
        suite="overload.*",
    ),
    Harmless(
        "pauses from a sender to its switch, of which the sender's NIC tells, too",
        kind="stale|missing|twice or negative|samples",
        place="sender's switch port",
        counter="pfc_rx_frames",
        suite="(dcbx|early|pfc_and|s1_|s2_|verbs).*",
    ),
    Harmless(
        "a port that no flow of the phase passes",
        kind=COUNTED,
        place="elsewhere",
        suite="(marking|threshold_from).*",
    ),
    Harmless(
        "it only sizes the headroom of what comes after, which is judged by what was refused",
        kind=f"{COUNTED}|lost uncounted|tool|device stands still",
        phase="experiment fast",
        suite="threshold_from.*",
    ),
    Harmless(
        "that the port paused is asked here, and not how often",
        kind="one less|more|halved|wrapped",
        phase="experiment a quarter .*",
        counter="pfc_(rx|tx)_frames",
        suite="threshold_from.*",
    ),
    Harmless(
        "pauses of the receiver's program are counted by the switch, which they hold",
        kind=COUNTED,
        place="receiver's NIC",
        counter="pfc_tx_frames",
        suite="threshold_from.*",
    ),
    Harmless(
        "how often a port paused is asked of counters at the end, samples of it of cycles alone",
        kind="samples",
        counter="pfc_(rx|tx)_frames",
        suite="(thresholds|verbs).*",
    ),
    Harmless(
        "rates and the time between CNPs are claimed, PFC is on, and what is lost and counted by "
        "hosts and cables is red",
        kind=f"lost uncounted|{COUNTED}",
        place="(?!sender's switch port).*",
        phase="experiment .*",
        counter="(?!np_|rp_).*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "pauses and refusals of a port are no claim beside rates",
        kind=COUNTED,
        place="sender's switch port",
        counter="(?!forwarded|dropped_p).*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "that CNPs held a sender is asked, and not how many: its rate tells what they did",
        kind="lost and counted|one less|more|halved|wrapped|reset|twice or negative|swapped .*",
        phase="experiment (the usual increase|one of them slower)",
        counter="(np|rp)_.*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "a CNP that is ignored slows nobody, and that they were slowed is told by their rates",
        kind="missing|stale",
        phase="experiment (the usual increase|one of them slower)",
        counter="rp_cnp_ignored",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "how many CNPs the receiver sent is no claim about rates",
        kind=COUNTED,
        place="receiver's NIC",
        phase="experiment (the usual increase|one of them slower)",
        counter="np_.*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "a phase in which the claim has to be red, by rates",
        kind=COUNTED,
        phase="experiment the same parameters",
        counter="(np|rp)_.*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "samples of NICs are asked of a held queue alone",
        kind="samples",
        place=".*NIC",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "marks of the bottleneck's queue are asked, to senders go acknowledgements",
        kind=COUNTED,
        place="sender's switch port",
        counter="marked_packets|ecn_marked_packets",
        suite="marking.*",
    ),
    Harmless(
        "of a lossy class its drops are asked: the balance is that of the lossless one beside it",
        kind="one less|more",
        place="bottleneck",
        counter="forwarded_packets",
        suite="mixed.*",
    ),
    Harmless(
        "that a full queue drops proves that it is long: how many is not asked here",
        kind="one less|more|halved",
        place="bottleneck",
        counter="dropped_(packets|bytes)|forwarded_packets",
        phase="experiment 150 %, not ECN-capable",
        suite="marking.*",
    ),
    Harmless(
        "bytes of what goes to senders, of which packets are counted",
        kind="lost and counted|more",
        place="sender's switch port",
        counter="dropped_bytes",
    ),
    Harmless(
        "no CNP is asked of PFC alone: packets to senders are acknowledgements, told by NICs",
        kind=COUNTED,
        place="sender's switch port",
        counter="(dropped|forwarded)_packets",
        phase="experiment PFC alone",
        suite="pfc_and.*",
    ),
    Harmless(
        "marks are as many as are needed, and as many again",
        kind="one less|more|halved",
        phase="experiment (a CNP each|alpha) .*",
        counter="np_ecn_marked_.*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "what a flow had is held against bounds far from it, or is the time in which all sent",
        kind="tool",
        counter="a row (still|a tenth)|one datagram fewer|.*_datagrams .*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "what flows had in all is held against what is left to them: rows are not",
        kind="tool",
        counter="a row (still|a tenth)|no rows",
        suite="victim.*",
    ),
    Harmless(
        "TCP sends again what its host loses, and is held to a bound over the whole time",
        kind="lost uncounted|tool",
        place="before the NIC|tool",
        counter="|a row (still|a tenth)",
        suite="tcp_.*",
    ),
    Harmless(
        "a queue pair of this phase loses on purpose, and sends again: how often is not asked",
        kind=ONE,
        phase="experiment RP off .*",
        counter="out_of_sequence|packet_seq_err|duplicate_request|implied_.*|local_ack_.*",
        suite="s3_.*",
    ),
    Harmless(
        "hosts send datagrams here, and each packet of them is counted by NICs at both ends",
        kind=COUNTED,
        phase="experiment .*each host overloaded in turn",
        place=".* host|.*NIC",
        counter="udp_.*|out_of_sequence|packet_seq_err|duplicate_request|implied_.*|local_ack_.*|"
        "roce_adp.*|.*_cqe_error",
        suite="verbs.*",
    ),
    Harmless(
        "DCQCN is not asked: PFC holds these",
        kind=COUNTED,
        counter="(rp|np)_.*",
        suite="(verbs|priority_tags|s3_).*",
    ),
)


def why_harmless(suite: str, mutation: Mutation) -> str:
    """The reason that is declared; "" for none."""
    return next((each.because for each in DECLARED if each.has(suite, mutation)), "")
