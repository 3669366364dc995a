"""Hosts: slow, frozen, rebooted, full, or busy with something else."""

from functools import partial

from labtests.faults.declared import MIDDLE, TRAFFIC, Declared, fault, grows

_of = partial(Declared, family="hosts")
S1, S2, R = "{sender1}", "{sender2}", "{receiver}"

FAULTS: tuple[Declared, ...] = (
    _of(
        name="sender-stands-still",
        what="the first sender stands still for 0.4 s",
        how=(fault("freeze", S1, seconds=0.4),),
        when=MIDDLE,
        red=("below", "overload", "shares"),
        says=(S1,),
    ),
    _of(
        name="sender-stands-still-long",
        what="the first sender stands still for 1.2 s",
        how=(fault("freeze", S1, seconds=1.2),),
        when=MIDDLE,
        red=("s1",),
        says=(S1,),
    ),
    _of(
        name="late-sender-stumbles",
        what="the second sender stands still for 0.5 s",
        how=(fault("freeze", S2, seconds=0.5),),
        when=MIDDLE,
        red=("s1",),
        says=(S2, "or it stalled"),
    ),
    _of(
        name="late-rdma-sender-stands-still",
        what="the second sender of RDMA stands still for a second",
        how=(fault("freeze", S2, seconds=1.0),),
        when=MIDDLE,
        red=("s2",),
        says=(S2,),
    ),
    _of(
        name="lone-rdma-sender-stands-still",
        what="the first sender of RDMA stands still while it is alone",
        how=(fault("freeze", S1, seconds=1.2),),
        when=TRAFFIC,
        red=("s2",),
        says=(f"{S1} sent", "the limit of its host or a stall"),
    ),
    _of(
        name="sender-has-a-slow-processor",
        what="programs of the first sender run a fifth of the time",
        how=(fault("cpu-limit", S1, share=0.2),),
        when=TRAFFIC,
        red=("s1", "below", "overload", "shares"),
        says=(S1,),
    ),
    _of(
        name="rdma-sender-has-a-slow-processor",
        what="programs of the second sender run two fifths of the time",
        how=(fault("cpu-limit", S2, share=0.4),),
        when=TRAFFIC,
        red=("s2",),
        says=(f"the limit of {S2}",),
    ),
    _of(
        name="rdma-senders-are-starved",
        what="programs of both senders run a fiftieth of the time",
        how=(fault("cpu-limit", S1, share=0.02), fault("cpu-limit", S2, share=0.02)),
        when=TRAFFIC,
        red=("s2",),
        says=(S1, S2),
    ),
    _of(
        name="sender-reboots",
        what="the first sender reboots while it sends",
        how=(fault("reboot", S1),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(S1,),
    ),
    _of(
        name="receiver-reboots",
        what="the receiver reboots while it receives",
        how=(fault("reboot", R),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(R,),
    ),
    _of(
        name="sender-rebooted-before-the-traffic",
        what="the second sender reboots when its settings have been made",
        how=(fault("reboot", S2, seconds=1),),
        when="experiment *: quiet window",
        red=("s1", "s2"),
        says=(S2,),
    ),
    _of(
        name="sender-has-a-full-disk",
        what="no file can be made on the first sender",
        how=(fault("read-only", S1),),
        red=("below",),
        unseen="a run needs no file there; that the host keeps no lease is said, and no red",
    ),
    _of(
        name="full-socket-beside-lost-datagrams",
        what="one datagram found a full socket, and a thousand others are lost uncounted",
        how=(
            grows(R, "", "UdpRcvbufErrors"),
            grows(R, "", "UdpInErrors"),
            fault("nic-discards", R, "{receiver.nic}", per_million=20_000, counted="nothing"),
        ),
        when=MIDDLE,
        red=("below",),
        says=(R,),
    ),
    _of(
        name="failed-reassembly-beside-lost-datagrams",
        what="one reassembly failed, and a thousand datagrams are lost uncounted",
        how=(
            fault("dead-counter", R, "{receiver.nic}", counter="ip_reasm_fails"),
            grows(R, "", "IpReasmFails"),
            fault("nic-discards", R, "{receiver.nic}", per_million=2_000, counted="nothing"),
        ),
        when=TRAFFIC,
        red=("s1",),
        says=(R, "datagrams"),
    ),
    _of(
        name="stack-discards-on-the-way-in",
        what="the receiver's IP stack discards a datagram",
        how=(grows(R, "", "IpInDiscards"),),
        when=MIDDLE,
        red=("below",),
        unseen="the counter is of all programs of the host; of the flows every datagram is "
        "accounted for",
    ),
    _of(
        name="stack-discards-on-the-way-out",
        what="the first sender's IP stack discards a datagram",
        how=(grows(S1, "", "IpOutDiscards"),),
        when=MIDDLE,
        red=("below",),
        unseen="the counter is of all programs of the host; of the flows every datagram is "
        "accounted for",
    ),
    _of(
        name="segments-are-sent-again-without-a-loss",
        what="the first sender's TCP sends segments again that nothing has lost",
        how=(grows(S1, "", "TcpRetransSegs", 100_000),),
        when=MIDDLE,
        red=("tcp",),
        says=(S1, "retransmitted 100000 segments more than their tools report"),
    ),
    _of(
        name="somebody-sends-in-the-same-class",
        what="another program of the second sender sends 200 Mb/s in a class under test",
        how=(fault("background", S2, to="{receiver.address}", tos=96, mbit_per_s=200),),
        when=MIDDLE,
        red=("below", "overload"),
        says=(("{switch}", S2, R),),
    ),
    _of(
        name="somebody-sends-all-the-time",
        what="another program of the first sender sends 200 Mb/s in a class under test",
        how=(fault("background", S1, to="{receiver.address}", tos=96, mbit_per_s=200),),
        red=("below",),
        says=(("{switch}", S1, R),),
    ),
    _of(
        name="one-of-many-hosts-stands-still",
        what="the second sender stands still for 1.3 s while all send to all",
        how=(fault("freeze", S2, seconds=1.3),),
        when=MIDDLE,
        red=("any-to-any",),
        says=(S2, "or it stalled"),
    ),
)
