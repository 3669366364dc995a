"""Counters that stand still, disappear, start again, lag, or grow alone."""

from functools import partial

from labtests.faults.declared import MIDDLE, Declared, fault, grows

_of = partial(Declared, family="counters that lie")
S1, S2, R = "{sender1}", "{sender2}", "{receiver}"
NIC1, NIC2, NIC_R = "{sender1.nic}", "{sender2.nic}", "{receiver.nic}"
SW, OUT, SW1, PORT1 = "{switch}", "{bottleneck}", "{sender1.switch}", "{sender1.port}"
SW2, PORT2 = "{sender2.switch}", "{sender2.port}"

QUIET = "experiment *: quiet window"  # they are read next, and stand still from then on


def _dead(device: str, port: str, counter: str) -> dict[str, object]:
    return {"kind": "dead-counter", "device": device, "port": port, "counter": counter}


def _gone(device: str, port: str, counter: str) -> dict[str, object]:
    return fault("missing-counter", device, port, counter=counter)


_PORTS = (
    ("output-drops", SW, OUT, "Output dropped", ("below", "socket", "s1")),
    ("input-drops", SW1, PORT1, "Input dropped", ("overload", "shares", "s3")),
    ("input-drops-of-the-second", SW2, PORT2, "Input dropped", ("tcp", "s3")),
    ("output-drops-of-a-sender", SW1, PORT1, "Output dropped", ("overload", "s3")),
    ("wred-drops", SW, OUT, "Packets of WRED dropped", ("below",)),
)

FAULTS: tuple[Declared, ...] = (
    _of(
        name="drops-are-never-counted",
        what="the bottleneck's queues count no drop",
        how=(_dead(SW, OUT, "queue-drops"),),
        red=("below", "overload", "s1", "s2"),
        says=(SW, OUT),
    ),
    _of(
        name="pauses-are-never-counted",
        what="the first sender's port counts no pause frame",
        how=(_dead(SW1, PORT1, "pfc"),),
        red=("s1",),
        says=(SW1, PORT1, "pfc"),
    ),
    _of(
        name="drop-reasons-are-never-counted",
        what="the bottleneck's port counts no reason of a drop",
        how=(_dead(SW, OUT, "packet-drop"),),
        red=("below",),
        unseen="queues count every drop, and packets are balanced: reasons stand beside",
        switches=("comware",),
    ),
    _of(
        name="queue-drops-are-hidden",
        what="the switch does not show what the bottleneck's queues drop",
        how=(_gone(SW, OUT, "queue-drops"),),
        red=("below", "s1"),
        says=(SW, OUT, "lacks the line"),
    ),
    _of(
        name="a-queue-is-hidden",
        what="the switch does not show queue 3 of the bottleneck",
        how=(_gone(SW, OUT, "queue-3"),),
        red=("below",),
        says=(SW, "queue 3"),
    ),
    _of(
        name="pauses-are-hidden",
        what="the switch does not show pause frames of the first sender's port",
        how=(_gone(SW1, PORT1, "pfc"),),
        red=("s1",),
        says=(SW1, PORT1),
    ),
    _of(
        name="drop-reasons-are-hidden",
        what="the switch does not show why packets are dropped at the bottleneck",
        how=(_gone(SW, OUT, "packet-drop"),),
        red=("below",),
        says=(SW,),
        switches=("comware",),
    ),
    _of(
        name="received-packets-stand-still",
        what="the receiver's NIC no longer counts packets of priority 3",
        how=(_dead(R, NIC_R, "rx_prio3_packets"),),
        when=QUIET,
        red=("below", "s1", "s2"),
        says=(R, "rx_packets"),
        hosts=("connectx",),
    ),
    _of(
        name="sent-packets-stand-still",
        what="the first sender's NIC no longer counts packets of priority 3",
        how=(_dead(S1, NIC1, "tx_prio3_packets"),),
        when=QUIET,
        red=("below", "s1"),
        says=(S1, "tx_packets"),
        hosts=("connectx",),
    ),
    _of(
        name="naks-stand-still",
        what="the first sender's NIC counts no NAK that it gets",
        how=(_dead(S1, NIC1, "packet_seq_err"),),
        red=("go-back-n",),
        switches=("linux-switch",),
        says=(f"{S1} {NIC1} packet_seq_err grew by 0 where", "packets were lost"),
    ),
    _of(
        name="packets-out-of-sequence-stand-still",
        what="the receiver's NIC counts no packet that comes out of sequence",
        how=(_dead(R, NIC_R, "out_of_sequence"),),
        red=("go-back-n",),
        switches=("linux-switch",),
        says=(f"{R} {NIC_R} out_of_sequence grew by 0 where", "packets were lost"),
    ),
    _of(
        name="nic-pauses-stand-still",
        what="the first sender's NIC counts no pause frame of priority 3",
        how=(_dead(S1, NIC1, "rx_prio3_pause"),),
        red=("s1",),
        says=(S1, NIC1),
        hosts=("connectx",),
    ),
    _of(
        name="cnps-stand-still",
        what="the receiver counts no CNP that it sends",
        how=(_dead(R, NIC_R, "np_cnp_sent"),),
        red=("s2",),
        says=(R, "np_cnp_sent"),
        hosts=("connectx",),
    ),
    _of(
        name="a-cnp-queue-counts-drops",
        what="the queue of CNPs at the first sender's port counts 7 drops, and drops nothing",
        how=(grows(SW1, PORT1, "queue-6 drops", by=7),),
        when=MIDDLE,
        red=("s2", "both", "alpha"),
        says=(f"queue 6 of {SW1} {PORT1}, that of the CNPs, dropped 7", "every CNP arrived"),
        hosts=("connectx",),
        switches=("comware",),
    ),
    _of(
        name="handled-cnps-stand-still",
        what="the second sender counts no CNP that it handles",
        how=(_dead(S2, NIC2, "rp_cnp_handled"),),
        red=("s2",),
        says=(S2, "rp_cnp_handled"),
        hosts=("connectx",),
    ),
    _of(
        name="marked-packets-stand-still",
        what="the receiver counts no marked packet",
        how=(_dead(R, NIC_R, "np_ecn_marked_roce_packets"),),
        red=("s2",),
        says=(R, "np_ecn_marked"),
        hosts=("connectx",),
    ),
    _of(
        name="discards-are-never-counted",
        what="the receiver's NIC discards 5 % of the packets, and rx_discards_phy stands still",
        how=(
            _dead(R, NIC_R, "rx_discards_phy"),
            _dead(R, NIC_R, "rx_prio3_discards"),
            fault("nic-discards", R, NIC_R, per_million=50_000),
        ),
        when=QUIET,
        red=("below", "s1"),
        says=(R,),
        hosts=("connectx",),
    ),
    _of(
        name="delivered-datagrams-stand-still",
        what="the receiver's UDP no longer counts datagrams",
        how=(_dead(R, NIC_R, "udp_in_datagrams"),),
        when=QUIET,
        red=("below",),
        says=(R,),
    ),
    _of(
        name="switch-counters-start-again",
        what="all counters of the switch start from zero while traffic runs",
        how=(fault("reset-counters", SW),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=(SW,),
    ),
    *(
        _of(
            name=f"counters-lag-{seconds}-s",
            what=f"the switch refreshes its counters every {seconds} s, and nothing is lost",
            how=(fault("slow-counters", SW, seconds=seconds),),
            when="measuring",
            red=(suite,),
            unseen="what is shown is late, not wrong: it is waited for",
        )
        for seconds, suite in ((8, "below"), (30, "s1"))
    ),
    _of(
        name="counters-lag-8-s-and-hide-drops",
        what="the switch refreshes its counters every 8 s, and a queue drops 1 in 250 packets",
        how=(fault("slow-counters", SW, seconds=8),
             fault("drop-packets", SW, OUT, queue=3, per_million=4000)),
        when="measuring",
        red=("below", "s1"),
        says=(SW, "dropped_packets"),
    ),
    _of(
        name="counters-lag-30-s-and-hide-drops",
        what="the switch refreshes its counters every 30 s, and a queue drops 1 in 250 packets",
        how=(fault("slow-counters", SW, seconds=30),
             fault("drop-packets", SW, OUT, queue=3, per_million=4000)),
        when="measuring",
        red=("s1",),
        says=(SW,),
    ),
    _of(
        name="counters-become-slow",
        what="the switch refreshes its counters every 6 s from the control on",
        how=(fault("slow-counters", SW, seconds=6, after_s=1.0),),
        when="control *: traffic",
        red=("s1",),
        says=(f"{SW} had not counted a packet",),
    ),
    *(
        _of(
            name=f"{name}-grow-alone",
            what=f"'{counter}' of a port grows by one, and nothing was lost",
            how=(grows(device, port, counter),),
            when=MIDDLE,
            red=red,
            says=(f"{device} {port}", "drop"),
            switches=("comware",),
        )
        for name, device, port, counter, red in _PORTS
    ),
)  # fmt: skip
