"""Of all suites, and of several that have little in common."""

from harmless_words import COUNTED, OF_MOMENTS, ONE, UDP, Harmless

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
        "what came to a host with which ECN field is asked of tunnels",
        kind=COUNTED,
        place=".* host",
        counter="ip_in_(ce|ect0)_packets",
        suite="(?!tunnels).*",
    ),
    Harmless(
        "of a whole host: NICs count the packets of the class that it sent, and got",
        kind="device stands still",
        place=".* host",
        suite="(dcbx|dcqcn|deadlock|early|marking|mixed|pfc_escape|s1_|tcp_|thresholds|verbs).*",
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
        "marks are counted by queue and by port: one of the two is judged, with the notification "
        "point",
        kind=COUNTED,
        counter="marked_packets|ecn_marked_packets",
        suite="(?!marking).*",
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
        "that a port paused, or was paused, is asked here, and not how often",
        kind="one less|more|halved|samples",
        suite="(deadlock|pauses_of|pause_timeout|pfc_watchdog|pfc_escape|victim).*",
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
        "of RoCE that a port drops beside its queues NICs see the gap, and are asked",
        kind=COUNTED,
        phase="experiment (RoCE at the edge|many queue pairs|PFC and DCQCN)",
        counter="(buffer|wred)_dropped_.*",
        suite="(edge|paths|victim).*",
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
        "the control is red by what its tools tell, and proves no counter",
        kind="phase",
        phase="control .*",
        counter="no counters at the (start|end)",
        suite="(deaf|dcqcn_points.a_sender_speeds|link_|scale).*",
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
        "bytes of what goes to senders, of which packets are counted",
        kind="lost and counted|more",
        place="sender's switch port",
        counter="dropped_bytes",
    ),
    Harmless(
        "a queue that has to drop: how much is not asked",
        kind="more",
        place="bottleneck",
        counter="dropped_(packets|bytes)",
        suite="(mixed|s3_).*",
    ),
    Harmless(
        "bytes of packets that the queue does not count as dropped",
        kind="lost and counted|more",
        place="bottleneck|between switches",
        counter="dropped_bytes",
        suite="(link_failure|marking_curve|paths|scheduling|tcp_|threshold_from).*",
    ),
    Harmless(
        "totals are asked here, of the start and the end of a phase: without one sample all is as "
        "green",
        kind="samples",
        suite=f"(?!{OF_MOMENTS}).*",
    ),
)
