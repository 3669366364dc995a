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
    beside: bool = False  # only of queues that no data of the flows uses: CNPs', at most
    by_class: bool = False  # only of phases whose NICs count the packets of each class

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
        asked = (
            self.idle and mutation.load,
            self.unnamed and mutation.named,
            self.beside and mutation.data,
            self.by_class and not seen.by_class,
        )
        return fits and not any(asked)


ONE = "one less|more|frozen|halved|reset|wrapped|missing|stale|twice or negative|swapped .*|samples"
"""Kinds that make one counter tell something else."""
COUNTED = f"lost and counted|{ONE}"
HURT = (
    r"rx_(crc|frame|length|symbol|pcs_symbol|fifo|missed|over|icrc|discarded|fragments|jabbers|"
    r"undersize|oversize).*|(rx|tx)_errors|link_down_events|carrier_changes|nic_.*|out_of_buffer|"
    r"tx_(carrier|aborted|fifo|dropped).*"
)
"""Counters of what NICs and cables lose: whatever else a suite claims, it asks for these."""
REPEATED = (
    "out_of_sequence|packet_seq_err|local_ack_.*|implied_.*|req_cqe_.*|resp_cqe_.*|roce_adp.*"
)
"""Counters of what RDMA missed and sent again: a rate of that is none of a reaction point."""
UDP = (
    r"(below|classi|dcbx|early|latency|limited|link_|marking|mixed|overload|pause|pfc_watchdog|s1_|"
    r"sched|deadlock|pfc_escape|soak|tcp_|thresh|tunnels).*"
)
"""Suites without RDMA in the flows that they judge."""

STRICT = "(deaf|latency|limited_queue.the_class).*"
"""Suites whose loads only fill a port."""

DECLARED: tuple[Harmless, ...] = (
    Harmless(
        "a device's own word: no verdict speaks of it, and packets are balanced by others",
        kind=COUNTED,
        unnamed=True,
    ),
    Harmless(
        "of a queue, class, port or host that no flow of the phase uses",
        kind="lost and counted|one less|more|halved|reset|wrapped|missing|stale|twice.*|watermarks",
        idle=True,
    ),
    Harmless(
        "of a whole host, whatever program it is of: every datagram of the flows is accounted for",
        kind=COUNTED,
        place=".* host",
        counter="(udp_(no_ports|in_|rcvbuf|sndbuf|mem|out)|ip_(?!in_(ce|ect0)_)|icmp_).*",
    ),
    Harmless(
        "a host's TCP: no flow of these suites is one",
        kind=COUNTED,
        place=".* host",
        counter="tcp_.*",
        suite="(?!tcp_|tunnels.marks).*",
    ),
    Harmless(
        "a host's TCP is asked for segments that it sent again, by the senders",
        kind=COUNTED,
        place=".* host",
        counter="tcp_(?!retransmitted).*",
        suite="(tcp_|tunnels.marks).*",
    ),
    Harmless(
        "TCP sends some again needlessly: a tenth of those without ECN are allowed",
        kind="lost and counted|one less|more",
        place="sender's host",
        counter="tcp_retransmitted_segments",
        suite="(tcp_|tunnels.marks).*",
    ),
    Harmless(
        "what came to a host with which ECN field is asked of tunnels",
        kind=COUNTED,
        place=".* host",
        counter="ip_in_(ce|ect0)_packets",
        suite="(?!tunnels).*",
    ),
    Harmless(
        "what came with which ECN field is asked of the receiver",
        kind=COUNTED,
        place="sender's host",
        counter="ip_in_(ce|ect0)_packets",
        suite="tunnels.*",
    ),
    Harmless(
        "of TCP marks are claimed, CE: where there are some",
        kind=COUNTED,
        place="receiver's host",
        counter="ip_in_ect0_packets",
        suite="tunnels.marks.*",
    ),
    Harmless(
        "twice as many as were marked, within 2 %",
        kind="one less|more",
        place="receiver's host",
        counter="ip_in_ce_packets",
        suite="tunnels.marks.*",
    ),
    Harmless(
        "without ECN nothing has to be marked",
        kind=COUNTED,
        place="receiver's host",
        counter="ip_in_ce_packets",
        phase="control .*",
        suite="tunnels.marks.*",
    ),
    Harmless(
        "senders get acknowledgements, and their NICs tell what they sent",
        kind="device stands still",
        place="sender's host",
        suite="tunnels.*",
    ),
    Harmless(
        "of a whole host: NICs count the packets of the class that it sent, and got",
        kind="device stands still",
        place=".* host",
        suite="(dcbx|dcqcn|deadlock|early|marking|mixed|pfc_escape|s1_|tcp_|thresholds|verbs).*",
    ),
    Harmless(
        "that traffic goes on is claimed of a ring: its own cables are held against each other, "
        "and the tools tell what came out of it",
        kind="device stands still",
        place="bottleneck|between switches|sender's (NIC|switch port)",
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
        by_class=True,
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
        suite="(?!verbs.(every|.*reads)).*",  # where a sender receives, or answers
    ),
    Harmless(
        "a host counts it of the other part that it may have: requester, or responder",
        kind=COUNTED,
        place="receiver.*",
        counter="packet_seq_err|implied_.*|local_ack_.*|rnr_.*|roce_adp.*|req_cqe.*|rp_.*",
        suite="(?!verbs.(every|.*reads)).*",
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
        suite="(pfc_and|priority_tags|roce_mode|s2_|s3_|verbs).*",
    ),
    Harmless(
        "a control by datagrams, or TCP, loses them on purpose, and its queues' counters tell of "
        "it: its tools are asked whether they sent",
        kind="tool",
        phase="control .*",
        counter=".*_datagrams .*|one datagram fewer|retransmits .*|a row .*|no rows",
        suite=f"{UDP}|(deaf|dcqcn|paths|priority_tags|scale).*",
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
        "bits that were corrected are of packets that are not lost",
        kind=COUNTED,
        counter="rx_corrected_bits",
    ),
    Harmless(
        "pauses are no claim of this suite: what a sender did not send is held against its NIC's",
        kind=COUNTED,
        suite="(below|classif|deaf|edge|latency|limited|link_|marking|mixed|overload|paths|sched|"
        "tcp_|tunnels|s3_).*",
        counter="pfc_(rx|tx)_frames",
    ),
    Harmless(
        "what a host is sent is asked, and not that it pauses its own port",
        kind=COUNTED,
        place="sender's switch port",
        counter="pfc_rx_frames",
        suite="(early|pauses_of|scale|victim).*",
    ),
    Harmless(
        "a port that were held would drop, or its senders would have less",
        kind="missing|stale|twice or negative",
        phase="experiment (802.3x|for no class|PFC of the other priority|from the address 0)",
        place="sender's switch port",
        counter="pfc_tx_frames",
        suite="pauses_of.*",
    ),
    Harmless(
        "what a host sends is warned of, and not what it is sent",
        kind=COUNTED,
        place="sender's switch port",
        counter="pfc_tx_frames",
        suite="early.*",
    ),
    Harmless(
        "the storm is warned of, however long it was",
        kind="more|twice or negative",
        phase="experiment storms, early warning",
        counter="pfc_rx_frames",
        suite="early.*",
    ),
    Harmless(
        "that a port paused, or was paused, is asked here, and not how often",
        kind="one less|more|halved|samples",
        suite="(deadlock|pauses_of|pause_timeout|pfc_watchdog|pfc_escape|victim).*",
        counter="pfc_(rx|tx)_frames",
    ),
    Harmless(
        "what is away is told by tools: what hosts, cables and ports lose while a link fails is "
        "told, and not judged",
        kind=f"{COUNTED}|lost uncounted|device stands still",
        phase="control all ways fail",
        place="(?!phase|tool).*",
        counter="(?!forwarded_packets).*",
        suite="link_failure.*",
    ),
    Harmless(
        "that the link that fails had traffic is asked, and not how much; of other links nothing",
        kind=COUNTED,
        phase=".* (one way fails|all ways fail)",
        counter="forwarded_packets",
        suite="link_failure.*",
    ),
    Harmless(
        "half a second of it may be away",
        kind="tool",
        phase="experiment one way fails",
        counter="a row (still|a tenth)|no rows|one datagram fewer|lost_datagrams untold",
        suite="link_failure.*",
    ),
    Harmless(
        "as few as other packets that ports count, and NICs",
        kind="lost uncounted|one less|more",
        phase="experiment one way fails",
        place="before .*",
        suite="link_failure.*",
    ),
    Harmless(
        "what the switch drops that has lost a way is told, and not judged",
        kind=COUNTED,
        phase="experiment one way fails",
        place="between switches",
        counter="dropped_packets",
        suite="link_failure.*",
    ),
    Harmless(
        "what came to a host is told by its tools, and by its NIC",
        kind="device stands still",
        phase="experiment one way fails",
        place=".* host",
        suite="link_failure.*",
    ),
    Harmless(
        "what a port drops for what it is: every packet of the flows came, by class",
        kind="lost and counted",
        phase="experiment after it",
        counter="dropped_by_.*",
        suite="link_failure.*",
        by_class=True,
    ),
    Harmless(
        "cables between switches are held within ten packets: each is in the balance of NICs",
        kind="one less",
        phase="experiment after it",
        place="between switches",
        counter="forwarded_packets",
        suite="link_failure.*",
        by_class=True,
    ),
    Harmless(
        "in which queue packets pass a port between switches is no claim: cables and NICs balance",
        kind="swapped queues",
        phase="experiment after it",
        place="between switches",
        counter="forwarded_packets",
        suite="link_failure.*",
        by_class=True,
    ),
    Harmless(
        "which ways are taken is claimed, by what ports forward; NICs of RDMA see what is lost",
        kind="lost uncounted|one less",
        phase="experiment .*",
        counter="|forwarded_packets",
        suite="paths.*",
    ),
    Harmless(
        "that ways are fast is claimed, and that their queues dropped nothing: what ports count "
        "beside these, NICs of RDMA would have missed",
        kind=COUNTED,
        phase="experiment (hosts to one other each|many queue pairs)",
        place="between switches|.*switch port",
        counter="dropped_bytes|dropped_by_watchdog|buffer_dropped_.*",
        suite="paths.*",
    ),
    Harmless(
        "no CNP is asked of: its queue is not that of a load",
        kind=COUNTED,
        phase="experiment (hosts to one other each|many queue pairs)",
        counter="dropped_packets",
        suite="paths.*",
        beside=True,
    ),
    Harmless(
        "by which ways they went is told by ports, however often one was sent again",
        kind="stale|twice or negative",
        phase="experiment many queue pairs",
        counter=REPEATED,
        suite="paths.*",
    ),
    Harmless(
        "nothing is claimed of DCQCN",
        kind=COUNTED,
        phase="experiment .*",
        place=".*NIC",
        counter="(np|rp)_.*",
        suite="paths.*",
    ),
    Harmless(
        "which ways are taken is told by ports, and not by rows of the tools",
        kind="tool",
        phase="experiment .*",
        counter="a row (still|a tenth)|no rows",
        suite="paths.*",
    ),
    Harmless(
        "whether a port counts pauses of a class without PFC is up to it: a control has shown that "
        "they come",
        kind=COUNTED,
        place="bottleneck",
        suite="pauses_of_a_host.pauses_of_a_lossy.*",
        phase="experiment .*",
        counter="pfc_rx_frames",
    ),
    Harmless(
        "that a storm holds a sender is asked of its switch port, and of one of them",
        kind=COUNTED,
        place="sender's (NIC|switch port)",
        suite="(pause_timeout|pfc_watchdog).*",
        counter="pfc_(rx|tx)_frames",
    ),
    Harmless(
        "bytes beside packets that queues count as dropped",
        kind="more",
        place="bottleneck",
        suite="(limited|overload|pause_timeout|pfc_watchdog|sched).*",
        counter="dropped_bytes",
    ),
    Harmless(
        "of what a time-out drops queues tell how much: that the port's own counter is no more",
        kind="one less|halved|more",
        place="bottleneck",
        suite="pause_timeout.*",
        counter="dropped_by_watchdog",
    ),
    Harmless(
        "pauses are asked of the cables of a ring",
        kind=COUNTED,
        suite="(deadlock|pfc_escape).*",
        place="(?!between switches).*",
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
        by_class=True,
    ),
    Harmless(
        "in which queue each DSCP is is claimed, by what these forwarded to the packet",
        kind=f"{COUNTED}|tool",
        suite="classif.*",
        place="bottleneck|tool",
        phase="experiment .*",
        counter="(?!forwarded_packets|failed|sent_).*",
    ),
    Harmless(
        "lost behind the port whose queues are claimed, which has forwarded it",
        kind="lost uncounted",
        suite="classif.*",
        place="before (the receiver's NIC|its IP stack|UDP)",
        phase="experiment .*",
    ),
    Harmless(
        "a phase without the rate, in which the claim has to be red by what its queues forwarded",
        kind=f"{COUNTED}|lost uncounted|tool|device stands still",
        suite="limited_queue.a_strict.*",
        phase="experiment queue . is strict",
        counter="(?!forwarded_packets|failed).*",
    ),
    Harmless(
        "loads have to fill a port, and are told so by what it forwarded: what of them is lost is "
        "not claimed, but by NICs and cables",
        kind=f"{COUNTED}|lost uncounted",
        suite=STRICT,
        place="before .*|bottleneck|between switches|.*switch port",
        phase="experiment .*",
        counter="|(buffer_|wred_|)dropped_.*|forwarded_packets",
    ),
    Harmless(
        "of loads and their hosts it is claimed that they ran, as fast as was asked",
        kind="tool|device stands still",
        suite=STRICT,
        place="tool|.* host",
        phase="experiment .*",
        counter="(?!failed|goodput_bits_per_s (0|untold|negative|NaN)).*",
    ),
    Harmless(
        "that CNPs told a sender to slow down is claimed, and not how many",
        kind=COUNTED,
        suite="deaf.*",
        place=".*NIC",
        phase="experiment .*",
        counter="(np|rp)_.*",
    ),
    Harmless(
        "a switch warns of pauses that it gets: what it hands on is not asked",
        kind=COUNTED,
        suite="early_warning.*",
        place="sender's switch port",
        phase="experiment storms, early warning",
        counter="pfc_tx_frames",
    ),
    Harmless(
        "in which queues packets are is claimed, by what these forwarded, and not that none is "
        "lost",
        kind=f"{COUNTED}|lost uncounted|device stands still|tool",
        counter="(?!forwarded_packets|failed|sent_).*",
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
        "what is no RoCE may be in any queue but those of RoCE",
        kind="swapped queues",
        place="bottleneck",
        counter="forwarded_packets",
        phase="experiment round .*",
        suite="edge.*",
    ),
    Harmless(
        "of RoCE that a port drops beside its queues NICs see the gap, and are asked",
        kind=COUNTED,
        phase="experiment (RoCE at the edge|many queue pairs|PFC and DCQCN)",
        counter="(buffer|wred)_dropped_.*",
        suite="(edge|paths|victim).*",
    ),
    Harmless(
        "in which queue packets are is claimed, to some of them, and not that none is lost",
        kind="lost uncounted|lost and counted|missing|stale|twice or negative|tool",
        counter="|buffer_.*|one datagram fewer|a row .*|no rows",
        suite="tunnels.the_class.*",
    ),
    Harmless(
        "in which queue packets are is claimed, and nothing of marks",
        kind=COUNTED,
        place="receiver's host",
        counter="ip_in_ce_packets",
        suite="tunnels.the_class.*",
    ),
    Harmless(
        "as many as were received, within 2 %: some are sent before their TOS is set",
        kind="one less|more",
        place="receiver's host",
        counter="ip_in_ect0_packets",
        suite="tunnels.the_class.*",
    ),
    Harmless(
        "what was received is held against what was sent",
        kind="tool",
        counter="lost_datagrams untold",
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
        suite="(deaf|go_back|pfc_and|priority_tags|s2_|s3_|scale|verbs|victim).*",
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
        suite="(?!s2_|pfc_and|victim|verbs).*",
    ),
    Harmless(
        "acknowledgements in another queue of data: that they are in none of CNPs is asked",
        kind="swapped queues",
        place="sender's switch port",
        counter="forwarded_packets",
        phase="experiment .*",
        suite="(s2_|pfc_and|victim).*",
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
        suite="(below|dcbx|early|limited|link_failure|marking|mixed|overload|pause|pfc_watchdog|s1_|"
        "s3_|sched|priority_tags|thresh|verbs).*",
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
        place="bottleneck|between switches|sender's switch port|before .*|tool",
        counter="(?!failed|forwarded_packets|goodput_bits_per_s (0|negative|untold|NaN)|"
        f"(?:{HURT})$).*",
    ),
    Harmless(
        "that a ring's ports forward is asked, and not how much: half of it moves, too, as another "
        "port's does",
        kind="one less|more|samples|swapped ports",
        suite="(deadlock|pfc_escape).*",
        place="between switches",
        counter="forwarded_packets",
    ),
    Harmless(
        "what a port of a ring loses outside of its queues is missing in the balance of NICs",
        kind=COUNTED,
        suite="(deadlock|pfc_escape).*",
        place="bottleneck|between switches|sender's switch port",
        counter="tx_(errors|fifo_errors|aborted_errors|dropped)|rx_(missed|over|fifo)_errors",
    ),
    Harmless(
        "what leaves a ring to a host is told by its NIC",
        kind="one less|more|frozen|halved|reset|wrapped|stale|missing|twice.*|swapped .*|samples",
        suite="(deadlock|pfc_escape).*",
        place="bottleneck|sender's switch port",
        counter="forwarded_packets",
    ),
    Harmless(
        "what a locked ring's tools tell of their rate is next to nothing",
        kind="tool",
        phase="control .*",
        suite="(deadlock|pfc_escape).*",
        counter="goodput_bits_per_s (0|negative|untold|NaN)",
    ),
    Harmless(
        "the control is red by what its tools tell, and proves no counter",
        kind="phase",
        phase="control .*",
        counter="no counters at the (start|end)",
        suite="(deaf|dcqcn_points.a_sender_speeds|link_|scale).*",
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
        suite="(dcbx|early|mixed|overload|pause|pfc_and|pfc_watchdog|priority_tags|roce_mode|s1_|s2_|"
        "verbs).*",
    ),
    Harmless(
        "of the probe in the load's own class, by which the control is red all the same; that of "
        "the strict class is judged (test_strict_latency)",
        kind="probe",
        counter="no messages",
        suite="(latency|limited_queue.the_class).*",
    ),
    Harmless(
        "what is not ECN-capable is proven by its drops, a short queue by its marks",
        kind="samples",
        counter="forwarded_packets",
        phase=".* (not ECN-capable|60 %.*)",
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
        suite="(dcbx|early|pfc_and|roce_mode|s1_|s2_|thresholds|verbs).*",
    ),
    Harmless(
        "a port that no flow of the phase passes",
        kind=COUNTED,
        place="elsewhere",
        suite="(go_back|link_|marking|paths|threshold_from).*",
    ),
    Harmless(
        "it only sizes the headroom of what comes after, which is judged by what was refused",
        kind=f"{COUNTED}|lost uncounted|tool|device stands still",
        phase="experiment fast",
        suite="threshold_from.*",
    ),
    Harmless(
        "it only says where the curves of what comes after are to lie",
        kind=f"{COUNTED}|lost uncounted|tool|device stands still",
        phase="experiment no curve",
        suite="marking_curve.*",
    ),
    Harmless(
        "marks of the queue itself are judged, as they are while nothing moves: not those behind "
        "it, nor the port's sum of them",
        kind="one less|more|halved|reset|frozen|wrapped|missing|stale|twice.*|swapped ports",
        phase="experiment a (step|slope)",
        place="bottleneck",
        counter="ecn_marked_packets",
        suite="marking_curve.*",
    ),
    Harmless(
        "marks behind the moment at which nothing moves are not judged",
        kind="more",
        phase="experiment a (step|slope)",
        place="bottleneck",
        counter="marked_packets",
        suite="marking_curve.*",
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
        suite="(threshold_from|pause|pfc_watchdog).*",
    ),
    Harmless(
        "of the pauses that a program sends at least so many have to come",
        kind="more",
        place="bottleneck",
        counter="pfc_rx_frames",
        suite="threshold_from.*",
    ),
    Harmless(
        "how often a port paused is asked of counters at the end, samples of it of cycles alone",
        kind="samples",
        counter="pfc_(rx|tx)_frames",
        suite="(dcbx|roce_mode|s1_|thresholds|verbs).*",
    ),
    Harmless(
        "without DCQCN pauses are asked in all, and not when they began",
        kind="samples",
        phase="experiment PFC alone",
        counter="pfc_(rx|tx)_frames",
        suite="pfc_and.*",
    ),
    Harmless(
        "rates and the time between CNPs are claimed, PFC is on, and what is lost and counted by "
        "hosts and cables is red",
        kind=f"lost uncounted|{COUNTED}",
        place="(?!sender's switch port).*",
        phase="experiment .*",
        counter=f"(?!np_|rp_|(?:{HURT}|{REPEATED})$).*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "pauses and refusals of a port are no claim beside rates",
        kind=COUNTED,
        place="sender's switch port",
        counter=f"(?!forwarded|dropped_p|(?:{HURT})$).*",
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
        counter=f"(np|rp)_.*|{REPEATED}",
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
        counter="|a row (still|a tenth)|no rows",
        suite="tcp_.*",
    ),
    Harmless(
        "a queue pair of this phase loses on purpose, and sends again: how often is not asked",
        kind=COUNTED,
        phase="experiment RP off .*",
        counter=f"{REPEATED}|duplicate_request|rnr_.*",
        suite="s3_.*",
    ),
    Harmless(
        "hosts send datagrams here, and each packet of them is counted by NICs at both ends",
        kind=COUNTED,
        phase="experiment .*each host overloaded in turn",
        place=".* host|.*NIC",
        counter="udp_.*|out_of_sequence|packet_seq_err|duplicate_request|implied_.*|local_ack_.*|"
        "roce_adp.*|rnr_.*|.*_cqe_error",
        suite="verbs.*",
    ),
    Harmless(
        "what a transfer had in all is held against the closed form: a time-out makes rows still",
        kind="tool",
        counter="a row (still|a tenth)|no rows",
        suite="go_back.*",
    ),
    Harmless(
        "a NIC counts the first packet behind a gap, or each: no fewer than NAKs, and no more than "
        "were sent again",
        kind="one less|halved",
        place="receiver's NIC",
        counter="out_of_sequence",
        phase="experiment .* lost",
        suite="go_back.*",
    ),
    Harmless(
        "one, of so many that chance may have it",
        kind="one less",
        place="sender's NIC",
        counter="packet_seq_err",
        phase="experiment .* lost",
        suite="go_back.*",
    ),
    Harmless(
        "time-outs are no more than chance has, which may have one: with fewer of them the goodput "
        "has less of an excuse",
        kind="lost and counted|one less|halved",
        place="sender's NIC",
        counter="local_ack_timeout_err",
        phase="experiment .* lost",
        suite="go_back.*",
    ),
    Harmless(
        "losses on purpose are held against NAKs and time-outs; after one of these all from the "
        "last answer on comes again, and reads have other words",
        kind=COUNTED,
        counter="duplicate_request|roce_adp.*|implied_.*",
        phase="experiment .* lost",
        suite="go_back.*",
    ),
    Harmless(
        "totals are asked here",
        kind="samples",
        suite="go_back.*",
    ),
    Harmless(
        "one sender, no faster than its receiver: nothing is marked, and its goodput is asked",
        kind=COUNTED,
        counter="(rp|np)_.*",
        suite="go_back.*",
    ),
    Harmless(
        "samples of a reaction point are asked where its sender was alone and filled no port",
        kind="samples",
        place="sender's NIC",
        counter="rp_.*",
        suite="(edge|victim).*",
    ),
    Harmless(
        "requests of reads, of which each sender gets as many, within ten; acknowledgements of "
        "writes, told by NICs",
        kind="one less|swapped .*",
        place="sender's switch port",
        counter="forwarded_packets",
        phase="experiment .*",
        suite="verbs.pfc_holds.*",
    ),
    Harmless(
        "DCQCN is not asked, so that nothing has to come through the queue of CNPs",
        kind=COUNTED,
        counter="(dropped|forwarded)_packets|marked_packets",
        suite="verbs.*",
        beside=True,
    ),
    Harmless(
        "DCQCN is not asked: PFC holds these",
        kind=COUNTED,
        counter="(rp|np)_.*",
        suite="(scale|verbs|priority_tags|roce_mode|s3_).*",
    ),
    Harmless(
        "who is late is told by perftest itself, of the time that all took",
        kind="tool",
        counter="a row .*|no rows",
        suite="scale.*",
    ),
    Harmless(
        "a phase in which the claim has to be red, by the time that each transfer took",
        kind=f"{COUNTED}|lost uncounted|device stands still",
        phase="control one sender with .*",
        suite="scale.*",
    ),
    Harmless(
        "a phase in which a queue's counter has to count drops: of other ports nothing is asked",
        kind=COUNTED,
        place="elsewhere",
        phase="control no PFC, .*",
        suite="scale.*",
    ),
    Harmless(
        "no CNP is asked of PFC alone",
        kind=COUNTED,
        phase="experiment PFC alone",
        counter="(rp|np)_.*",
        suite="pfc_and.*",
    ),
    Harmless(
        "how many packets met which length is known but for the few at its ends",
        kind="one less",
        phase="experiment a (step|slope)",
        place="bottleneck",
        counter="marked_packets",
        suite="marking_curve.*",
    ),
    Harmless(
        "marks of the queue are asked, and not the port's sum of them",
        kind="samples",
        place="bottleneck",
        counter="ecn_marked_packets",
        suite="marking_curve.*",
    ),
    Harmless(
        "the share of a queue is held against bounds a hundred thousand packets wide",
        kind="one less|more",
        place="bottleneck",
        counter="forwarded_packets",
        suite="limited_queue.*",
    ),
    Harmless(
        "peaks are asked, and not how much went by; no load comes in at the bottleneck",
        kind="lost and counted|one less|more|stale|swapped queues|samples",
        place="bottleneck",
        counter="forwarded_packets|buffer_dropped_in_packets",
        suite="thresholds.*",
    ),
    Harmless(
        "a queue that has to drop: how much is not asked",
        kind="more",
        place="bottleneck",
        counter="dropped_(packets|bytes)",
        suite="(mixed|s3_).*",
    ),
    Harmless(
        "who starves is asked, and what its queue drops; not that none is sent again",
        kind="lost and counted|twice or negative",
        place="receiver's NIC",
        counter=REPEATED,
        suite="deaf.*",
    ),
    Harmless(
        "marks and CNPs are asked in all, and not when",
        kind="samples",
        place=".*NIC",
        counter="(np|rp)_.*",
        suite="(pfc_and|s2_|victim).*",
    ),
    Harmless(
        "a receiver of TCP sends acknowledgements: what it sends again is no segment of a load",
        kind="lost and counted",
        place="receiver's host",
        counter="tcp_retransmitted_segments",
        suite="tcp_.*",
    ),
    Harmless(
        "which ways are taken is told by ports between switches",
        kind="swapped queues",
        place="bottleneck",
        counter="forwarded_packets",
        suite="paths.*",
    ),
    Harmless(
        "that nothing is lost and nobody late is claimed, and no pause",
        kind=COUNTED,
        place="sender's switch port",
        counter="pfc_tx_frames",
        suite="scale.*",
    ),
    Harmless(
        "what was dropped is asked in all, and how long a queue was is not",
        kind="samples",
        place="bottleneck",
        counter="queue_length_packets|dropped_(packets|by_watchdog)",
        suite="(mixed|overload|scale|pause_timeout).*",
    ),
    Harmless(
        "as many as there were losses, but for those that chance has behind one another",
        kind="one less|more",
        place="sender's NIC",
        counter="packet_seq_err",
        suite="go_back.*",
    ),
    Harmless(
        "whose marks have ceased is asked for its rate: that CNPs ceased for all is in the others",
        kind="missing",
        phase="experiment the usual increase",
        place="sender's NIC",
        counter="rp_.*",
        suite="dcqcn_points.*",
    ),
    Harmless(
        "the port's sum of marks: those of the queue are asked",
        kind="stale|missing",
        phase="experiment .*not ECN-capable",
        place="bottleneck",
        counter="ecn_marked_packets",
        suite="marking.*",
    ),
    Harmless(
        "bytes of packets that the queue does not count as dropped",
        kind="lost and counted|more",
        place="bottleneck|between switches",
        counter="dropped_bytes",
        suite="(link_failure|marking_curve|paths|scheduling).*",
    ),
)


def why_harmless(suite: str, mutation: Mutation) -> str:
    """The reason that is declared; "" for none."""
    return next((each.because for each in DECLARED if each.has(suite, mutation)), "")
