"""Of suites about pauses: storms, watchdogs, rings, thresholds, DCBX, early warning."""

from harmless_words import COUNTED, HURT, Harmless

DECLARED: tuple[Harmless, ...] = (
    Harmless(
        "that traffic goes on is claimed of a ring: its own cables are held against each other, "
        "and the tools tell what came out of it",
        kind="device stands still",
        place="bottleneck|between switches|sender's (NIC|switch port)",
        suite="(deadlock|pfc_escape).*",
    ),
    Harmless(
        "warnings and settings are claimed of this phase, and no datagrams: but its tools ran",
        kind="tool",
        phase="experiment (early warning, .*|(storms, |)(no |)early.*|told to hosts whose OS.*)",
        counter=".*_datagrams .*|.*_bytes .*|a row .*|no rows|one datagram fewer|.* halved",
        suite="(early|dcbx).*",
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
        "a switch warns of pauses that it gets: what it hands on is not asked",
        kind=COUNTED,
        suite="early_warning.*",
        place="sender's switch port",
        phase="experiment storms, early warning",
        counter="pfc_tx_frames",
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
        "peaks are asked, and not how much went by; no load comes in at the bottleneck",
        kind="lost and counted|one less|more|stale|swapped queues|samples",
        place="bottleneck",
        counter="forwarded_packets|buffer_dropped_in_packets",
        suite="thresholds.*",
    ),
)
