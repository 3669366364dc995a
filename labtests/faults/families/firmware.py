"""NICs whose firmware or driver does not do, or does not show, what it says."""

from functools import partial

from labtests.faults.declared import MIDDLE, Declared, fault, grows

_of = partial(Declared, family="firmware and drivers", hosts=("connectx",))
S1, S2, R = "{sender1}", "{sender2}", "{receiver}"
NIC1, NIC2, NIC_R = "{sender1.nic}", "{sender2.nic}", "{receiver.nic}"


def _discards(**more: object) -> dict[str, object]:
    return fault("nic-discards", R, NIC_R, **{"per_million": 50_000, **more})


def _hidden(device: str, port: str, counter: str) -> dict[str, object]:
    return fault("missing-counter", device, port, counter=counter)


_RDMA = (
    ("duplicate_request", R, NIC_R, "the receiver gets requests twice"),
    ("implied_nak_seq_err", S1, NIC1, "the first sender infers a lost packet from an answer"),
    ("out_of_sequence", R, NIC_R, "the receiver misses packets in a sequence"),
    ("packet_seq_err", S1, NIC1, "the first sender gets NAKs"),
    ("out_of_buffer", R, NIC_R, "the receiver has no receive request for packets"),
    ("rx_icrc_encapsulated", R, NIC_R, "the receiver gets RoCE packets with a wrong ICRC"),
    ("local_ack_timeout_err", S1, NIC1, "acknowledgements to the first sender time out"),
)

FAULTS: tuple[Declared, ...] = (
    _of(
        name="nic-discards",
        what="the receiver's NIC discards 5 % of the packets and counts them (rx_discards_phy)",
        how=(_discards(),),
        when=MIDDLE,
        red=("below", "overload", "socket", "shares", "tcp", "s1", "s2", "s3"),
        says=(f"{R} {NIC_R}", "discard"),
    ),
    _of(
        name="nic-discards-of-one-priority",
        what="the same for priority 3 only, 1 in 10 000",
        how=(_discards(priority=3, per_million=100),),
        when=MIDDLE,
        red=("below",),
        says=(f"{R} {NIC_R}", "discard"),
    ),
    _of(
        name="nic-discards-while-a-way-fails",
        what="the receiver's NIC discards 1 packet in 500 while one way of the traffic fails",
        how=(_discards(per_million=2000),),
        when=MIDDLE,
        red=("link-failure",),
        says=(f"{R} {NIC_R}", "discard"),
    ),
    _of(
        name="nic-has-no-receive-request",
        what="the receiver's NIC has no buffer for 5 % of the packets (out_of_buffer)",
        how=(_discards(counted="rx_out_of_buffer"),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=(f"{R} {NIC_R}", "out_of_buffer"),
    ),
    _of(
        name="nic-discards-uncounted",
        what="the receiver's NIC discards 5 % of the packets and counts nothing",
        how=(_discards(counted="nothing"),),
        when=MIDDLE,
        red=("below", "tcp", "s1", "s2"),
        says=(R,),
    ),
    _of(
        name="nic-ring-is-full",
        what="the receiver's NIC finds its ring full (rx_missed_errors)",
        how=(grows(R, NIC_R, "rx_missed_errors"),),
        when=MIDDLE,
        red=("below",),
        says=(R, NIC_R, "rx_missed_errors"),
    ),
    *(
        _of(
            name=f"rdma-{counter.replace('_', '-')}",
            what=f"{meaning} ({counter}), and no packet is dropped",
            how=(grows(device, port, counter, 5),),
            when=MIDDLE,
            red=("s2",),
            says=(f"{device} {port}", counter),
        )
        for counter, device, port, meaning in _RDMA
    ),
    _of(
        name="sender-nic-obeys-nothing",
        what="the first sender accepts configuration and does nothing",
        how=(fault("lie", S1),),
        red=("s1", "below"),
        says=(S1,),
    ),
    _of(
        name="receiver-nic-obeys-nothing",
        what="the receiver accepts configuration and does nothing",
        how=(fault("lie", R),),
        red=("s2",),
        says=(R,),
    ),
    _of(
        name="a-reaction-point-heeds-every-second-cnp",
        what="the first sender counts each CNP as handled, and slows down on every second one",
        how=(fault("heeds-few-cnps", S1, NIC1, one_in=2),),
        red=("alpha",),
        says=(f"{S1} had", "less than its CNPs ask for"),
    ),
    _of(
        name="driver-without-dcqcn",
        what="the second sender's driver has no ecn/ folder",
        how=(fault("no-ecn-folder", S2),),
        red=("s2", "s3"),
        says=(S2, "ecn"),
        skips=True,
    ),
    _of(
        name="receiver-driver-without-dcqcn",
        what="the receiver's driver has no ecn/ folder",
        how=(fault("no-ecn-folder", R),),
        red=("s2",),
        says=(R, "ecn"),
        skips=True,
    ),
    _of(
        name="no-gid-of-roce-v2",
        what="the first sender's address has no RoCEv2 GID",
        how=(fault("no-roce-v2", S1, NIC1),),
        red=("s2",),
        says=(S1, NIC1, "RoCE"),
    ),
    _of(
        name="rdma-link-is-down",
        what="the receiver's RDMA link is not active",
        how=(fault("rdma-down", R, NIC_R),),
        red=("s2",),
        says=(R, NIC_R),
    ),
    _of(
        name="sender-rdma-link-is-down",
        what="the second sender's RDMA link is not active",
        how=(fault("rdma-down", S2, NIC2),),
        red=("s3",),
        says=(S2, NIC2),
    ),
    _of(
        name="driver-hides-received-packets",
        what="the receiver's driver has no rx_prio3_packets",
        how=(_hidden(R, NIC_R, "rx_prio3_packets"),),
        red=("below", "s1"),
        says=(R, ("rx_packets", "rx_prio3_packets")),
    ),
    _of(
        name="driver-hides-sent-packets",
        what="the first sender's driver has no tx_prio3_packets",
        how=(_hidden(S1, NIC1, "tx_prio3_packets"),),
        red=("below", "s1"),
        says=(S1, ("tx_packets", "tx_prio3_packets")),
    ),
    _of(
        name="driver-hides-discards",
        what="the receiver's driver has no rx_discards_phy",
        how=(_hidden(R, NIC_R, "rx_discards_phy"),),
        red=("below",),
        unseen="each packet is balanced without it: forwarded, received, delivered to UDP",
    ),
    _of(
        name="driver-hides-pauses",
        what="the first sender's driver has no rx_prio3_pause",
        how=(_hidden(S1, NIC1, "rx_prio3_pause"),),
        red=("s1",),
        says=(S1, ("pfc_rx_frames", "rx_prio3_pause")),
    ),
    _of(
        name="driver-hides-cnps",
        what="the receiver's driver has no np_cnp_sent",
        how=(_hidden(R, NIC_R, "np_cnp_sent"),),
        red=("s2",),
        says=(R, "np_cnp_sent"),
    ),
    _of(
        name="driver-hides-handled-cnps",
        what="the second sender's driver has no rp_cnp_handled",
        how=(_hidden(S2, NIC2, "rp_cnp_handled"),),
        red=("s2",),
        says=(S2, "rp_cnp_handled"),
    ),
    _of(
        name="firmware-differs",
        what="the first sender's NIC has older firmware than cards of its kind",
        how=(fault("firmware", S1, version="12.20.1010"),),
        red=("below",),
        says=(S1, "firmware"),
    ),
    _of(
        name="driver-differs",
        what="the second sender has an older driver than the others",
        how=(fault("driver", S2, version="4.9"),),
        red=("below",),
        unseen="another version loses nothing by itself: the check warns",
    ),
    _of(
        name="receiver-driver-is-reloaded",
        what="the receiver's counters start from zero while traffic runs",
        how=(fault("reset-counters", R),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(R,),
    ),
    _of(
        name="sender-driver-is-reloaded",
        what="the first sender's counters start from zero while traffic runs",
        how=(fault("reset-counters", S1),),
        when=MIDDLE,
        red=("s1",),
        says=(S1,),
    ),
)
