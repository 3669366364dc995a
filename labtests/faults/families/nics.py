"""Settings of NICs that are wrong, or that somebody changes."""

from functools import partial

from labtests.faults.declared import MIDDLE, TRAFFIC, Declared, fault

_of = partial(Declared, family="NIC settings", hosts=("connectx",))
S1, S2, R = "{sender1}", "{sender2}", "{receiver}"
NIC1, NIC2, NIC_R = "{sender1.nic}", "{sender2.nic}", "{receiver.nic}"
REVERSED = [7 - (dscp >> 3) for dscp in range(64)]


def _typed(device: str, command: str) -> dict[str, str]:
    return fault("somebody", device, command=command)


def _rp(device: str, nic: str, name: str, value: int) -> dict[str, str]:
    return _typed(device, f"echo {value} > /sys/class/net/{nic}/ecn/roce_rp/{name}")


STUCK = {"clamp_tgt_rate": 1, "rpg_byte_reset": 0, "rpg_time_reset": 100_000}
USUAL = {"clamp_tgt_rate": 0, "rpg_time_reset": 300}


FAULTS: tuple[Declared, ...] = (
    _of(
        name="nic-pfc-is-switched-off",
        what="PFC goes off at the first sender's NIC",
        how=(_typed(S1, f"mlnx_qos -i {NIC1} --pfc 0,0,0,0,0,0,0,0"),),
        when=MIDDLE,
        red=("s1",),
        says=(S1, NIC1, "pfc"),
    ),
    _of(
        name="nic-pfc-of-another-priority",
        what="PFC of the second sender's NIC works for another priority",
        how=(_typed(S2, f"mlnx_qos -i {NIC2} --pfc 0,1,0,0,0,0,0,0"),),
        when=MIDDLE,
        red=("s1",),
        says=(S2, NIC2, "pfc"),
    ),
    _of(
        name="nic-trusts-802.1p",
        what="the first sender's NIC no longer classifies by DSCP",
        how=(_typed(S1, f"mlnx_qos -i {NIC1} --trust pcp"),),
        when=MIDDLE,
        red=("s1", "below"),
        says=(S1, NIC1, "trust"),
    ),
    _of(
        name="receiver-nic-trusts-802.1p",
        what="the receiver's NIC no longer classifies by DSCP",
        how=(_typed(R, f"mlnx_qos -i {NIC_R} --trust pcp"),),
        when=MIDDLE,
        red=("s2", "below"),
        says=(R, NIC_R),
    ),
    _of(
        name="nic-map-is-changed",
        what="DSCP 24 gets another priority at the first sender's NIC",
        how=(_typed(S1, f"mlnx_qos -i {NIC1} --dscp2prio set,24,1"),),
        when=MIDDLE,
        red=("s1", "below"),
        says=(S1, NIC1),
    ),
    _of(
        name="reaction-point-is-switched-off",
        what="the second sender no longer slows down by CNPs",
        how=(_typed(S2, f"echo 0 > /sys/class/net/{NIC2}/ecn/roce_rp/enable/2"),),
        when=MIDDLE,
        red=("s2",),
        says=(S2, NIC2, "reaction_point"),
    ),
    _of(
        name="notification-point-is-switched-off",
        what="the receiver no longer answers marks of priority 3",
        how=(_typed(R, f"echo 0 > /sys/class/net/{NIC_R}/ecn/roce_np/enable/3"),),
        when=MIDDLE,
        red=("s2",),
        says=(R, NIC_R, "notification_point"),
    ),
    _of(
        name="cnps-in-another-class",
        what="the receiver's CNPs have DSCP 0, and cnp_dscp says 48",
        how=(fault("cnp-dscp", R, NIC_R, dscp=0),),
        when=MIDDLE,
        red=("s2", "s3"),
        says=("CNP", "{sender1.switch}"),
    ),
    _of(
        name="cnps-are-rare",
        what="the receiver sends a CNP every 4 ms at most",
        how=(_typed(R, f"echo 4000 > /sys/class/net/{NIC_R}/ecn/roce_np/min_time_between_cnps"),),
        when=MIDDLE,
        red=("s2",),
        says=(("{switch}", R),),
    ),
    _of(
        name="sender-mtu-is-larger",
        what="the first sender has an MTU of 9000, the others 1500",
        how=(fault("mtu", S1, NIC1, bytes=9000),),
        red=("s2",),
        says=(S1, NIC1, "mtu"),
    ),
    _of(
        name="receiver-mtu-is-smaller",
        what="the receiver has an MTU of 1400, the others 1500",
        how=(fault("mtu", R, NIC_R, bytes=1400),),
        red=("below",),
        says=(R, "mtu"),
    ),
    _of(
        name="sender-map-is-reversed",
        what="the first sender's NIC has another map from DSCP to priority than the rest",
        how=({"kind": "dscp-map", "device": S1, "classes": REVERSED},),
        red=("s1",),
        says=(S1,),
        skips=True,
    ),
    _of(
        name="receiver-map-is-reversed",
        what="the receiver's NIC has another map from DSCP to priority than the rest",
        how=({"kind": "dscp-map", "device": R, "classes": REVERSED},),
        red=("s2",),
        says=(R,),
        skips=True,
    ),
    _of(
        name="dcbx-is-in-the-firmware",
        what="the first sender's NIC takes its settings from its peer",
        how=(fault("willing-dcbx", S1, NIC1),),
        red=("s1",),
        says=(S1, NIC1, "dcbx"),
    ),
    _of(
        name="vlan-egress-map-is-wrong",
        what="the first sender's VLAN interface gives tags another priority",
        how=(fault("egress-map", "{tagged}", "{tagged.nic}", map="4:1"),),
        red=("s19",),
        says=("{tagged}",),
    ),
    _of(
        name="nobody-slows-down-beside-pfc",
        what="no sender slows down by CNPs any more, and PFC holds them instead",
        how=tuple(
            _typed(who, f"echo 0 > /sys/class/net/{nic}/ecn/roce_rp/enable/3")
            for who, nic in ((S1, NIC1), (S2, NIC2))
        ),
        when=MIDDLE,
        red=("both", "victim"),
        says=(S1, S2, "reaction_point"),
    ),
    _of(
        name="a-notification-point-ignores-its-interval",
        what="the receiver sends a CNP each 4 us, whatever min_time_between_cnps says",
        how=(fault("cnp-interval", R, NIC_R, microseconds=4),),
        red=("np",),
        says=(f"{R} sent", "more than one each 1000 us"),
    ),
    _of(
        name="a-notification-point-is-slow",
        what="the receiver sends a CNP each 50 ms at most, whatever min_time_between_cnps says",
        how=(fault("cnp-interval", R, NIC_R, microseconds=50_000),),
        when=TRAFFIC,
        red=("np",),
        says=(f"{R} sent", "not one each 4000 us"),
    ),
    _of(
        name="a-notification-point-forgets-a-sender",
        what="the receiver sends no CNP to the second sender",
        how=(fault("forgets-cnps", R, NIC_R, to="{sender2.address}"),),
        red=("s2", "both"),
        says=(S2,),
    ),
    _of(
        name="a-reaction-point-stays-slow",
        what="the rate of the first sender comes back by next to nothing after the last CNP",
        how=tuple(_rp(S1, NIC1, name, value) for name, value in STUCK.items()),
        when=TRAFFIC,
        red=("recovery",),
        says=(S1, "its rate has not come back"),
    ),
    _of(
        name="a-reaction-point-forgets-its-alpha",
        what="the first sender has its usual parameters of alpha again, which CNPs hardly move",
        how=(_rp(S1, NIC1, "dce_tcp_g", 1019), _rp(S1, NIC1, "dce_tcp_rtt", 1)),
        when=TRAFFIC,
        red=("alpha",),
        says=(f"{S1} had", "less than its CNPs ask for"),
    ),
    _of(
        name="a-reaction-point-is-set-back",
        what="both senders speed up as usual, though one of them was told to be slower",
        how=tuple(
            _rp(who, nic, name, value)
            for who, nic in ((S1, NIC1), (S2, NIC2))
            for name, value in USUAL.items()
        ),
        when=TRAFFIC,
        red=("slower-rp",),
        says=((S1, S2), "no fifth less"),
    ),
)
