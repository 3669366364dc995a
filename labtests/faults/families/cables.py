"""Cables, optics and what is plugged where."""

from functools import partial

from labtests.faults.declared import MIDDLE, TRAFFIC, Declared, fault, grows

_of = partial(Declared, family="cables and links")
S1, S2, R = "{sender1}", "{sender2}", "{receiver}"
NIC1, NIC_R = "{sender1.nic}", "{receiver.nic}"
SW1, SW2 = "{sender1.switch}", "{sender2.switch}"
PORT1, PORT2 = "{sender1.port}", "{sender2.port}"
CRC = ("crc", "CRC", "fcs")


def _bad(device: str, port: str, **more: object) -> dict[str, object]:
    return fault("lossy-cable", device, port, **{"per_million": 1000, **more})


def _one(device: str, port: str, frames: int = 1, **more: object) -> dict[str, object]:
    return fault("lossy-cable", device, port, frames=frames, **more)


FAULTS: tuple[Declared, ...] = (
    _of(
        name="both-ways-fail-together",
        what="when one of two uplinks fails, so does the other: they share what broke",
        how=(fault("carrier-flap", "{ways.switch}", "{ways.other}", milliseconds=3000),),
        when=MIDDLE,
        red=("link-failure",),
        says=("{sender1}", "was away for"),
    ),
    _of(
        name="the-last-cable-loses-frames-while-a-way-fails",
        what="while one of two ways fails, 20 000 frames are lost before the receiver, uncounted",
        how=(_one(R, NIC_R, 20_000, counted="nothing"),),
        when=MIDDLE,
        red=("link-failure",),
        says=(f"came to {R} {NIC_R}: lost on the cable between",),
    ),
    _of(
        name="cable-damages-frames-to-the-switch",
        what="a frame in a thousand is damaged between the first sender and its switch",
        how=(_bad(SW1, PORT1),),
        when=MIDDLE,
        red=("below", "tcp", "s1", "s2"),
        says=(f"{SW1} {PORT1}", CRC),
    ),
    _of(
        name="second-cable-damages-frames-to-the-switch",
        what="the same of the second sender's cable",
        how=(_bad(SW2, PORT2),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(f"{SW2} {PORT2}", CRC),
    ),
    _of(
        name="cable-loses-frames-to-the-switch-uncounted",
        what="a frame in a thousand is lost between the first sender and its switch, uncounted",
        how=(_bad(SW1, PORT1, counted="nothing"),),
        when=MIDDLE,
        red=("below", "tcp", "s1", "s2"),
        says=((S1, SW1),),
    ),
    _of(
        name="last-cable-damages-frames",
        what="a frame in a thousand is damaged before the receiver",
        how=(_bad(R, NIC_R),),
        when=MIDDLE,
        red=("below", "shares", "tcp", "s1", "s2", "s3"),
        says=(f"{R} {NIC_R}", CRC),
        hosts=("connectx",),
    ),
    _of(
        name="last-cable-has-wrong-symbols",
        what="a frame in a thousand is lost before the receiver by wrong symbols",
        how=(_bad(R, NIC_R, counted="symbol"),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(f"{R} {NIC_R}", "symbol"),
        hosts=("connectx",),
    ),
    _of(
        name="the-fec-of-the-last-cable-gives-up",
        what="a frame in a thousand is lost before the receiver in blocks that FEC cannot correct",
        how=(_bad(R, NIC_R, counted="fec"),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=(f"{R} {NIC_R}", "rx_pcs_symbol_errors"),
        hosts=("connectx",),
    ),
    _of(
        name="the-last-cable-is-at-the-end-of-its-fec",
        what="FEC corrects more bits on the receiver's cable than it is made for, and none is lost",
        how=(grows(R, NIC_R, "rx_corrected_bits_phy", by=200_000_000),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(f"{R} {NIC_R}", "FEC corrected"),
        hosts=("connectx",),
    ),
    _of(
        name="last-cable-loses-frames-uncounted",
        what="a frame in a thousand is lost before the receiver, and nobody counts it",
        how=(_bad(R, NIC_R, counted="nothing"),),
        when=MIDDLE,
        red=("below", "overload", "shares", "tcp", "s1", "s2", "s3"),
        says=(R,),
    ),
    _of(
        name="one-frame-is-lost",
        what="one single frame is lost before the receiver, and nobody counts it",
        how=(_one(R, NIC_R, counted="nothing"),),
        when=MIDDLE,
        red=("below", "tcp", "s1", "s2"),
        says=(R,),
    ),
    _of(
        name="one-frame-is-damaged",
        what="one single frame is damaged before the receiver",
        how=(_one(R, NIC_R),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=(f"{R} {NIC_R}", CRC),
        hosts=("connectx",),
    ),
    _of(
        name="one-frame-is-lost-before-the-switch",
        what="one single frame of the second sender is lost before the switch, uncounted",
        how=(_one(SW2, PORT2, counted="nothing"),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=((S2, SW2),),
    ),
    _of(
        name="a-burst-of-frames-is-lost",
        what="50 frames in a row are lost before the receiver, uncounted",
        how=(_one(R, NIC_R, 50, counted="nothing"),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(R,),
    ),
    _of(
        name="answers-are-damaged",
        what="a frame in a thousand is damaged on its way back to the first sender",
        how=(_bad(S1, NIC1),),
        when=MIDDLE,
        red=("tcp", "s2"),
        says=(f"{S1} {NIC1}", CRC),
        hosts=("connectx",),
    ),
    _of(
        name="answers-are-lost-uncounted",
        what="one in a thousand acknowledgements is lost on its way back, uncounted",
        how=(_bad(S1, NIC1, counted="nothing"),),
        when=MIDDLE,
        red=("s2",),
        says=(S1,),
    ),
    _of(
        name="sender-loses-its-carrier",
        what="the first sender's cable is unplugged for 50 ms",
        how=(fault("carrier-flap", S1, NIC1, milliseconds=50),),
        when=MIDDLE,
        red=("below", "shares", "tcp", "s1", "s2"),
        says=(f"{S1} {NIC1}", ("tx_dropped", "carrier", "link_down")),
        hosts=("connectx",),
    ),
    _of(
        name="receiver-loses-its-carrier",
        what="the receiver's cable is unplugged for 50 ms",
        how=(fault("carrier-flap", R, NIC_R, milliseconds=50),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=(f"{R} {NIC_R}", ("carrier", "link_down")),
        hosts=("connectx",),
    ),
    _of(
        name="cables-are-swapped",
        what="the switch has the second sender as the neighbour of the first one's port",
        how=(fault("cabling", SW1, PORT1, neighbour="{sender2}:{sender2.nic}"),),
        red=("below", "s1"),
        says=(SW1, PORT1, S2),
    ),
    _of(
        name="another-switch-port",
        what="nobody is seen at the receiver's switch port by LLDP",
        how=(fault("cabling", "{switch}", "{receiver.port}", neighbour=""),),
        red=("below",),
        unseen="LLDP that shows nobody may be off: the check says that it is not known",
    ),
    _of(
        name="link-is-slower",
        what="the first sender's link came up at 1 Gb/s",
        how=(fault("link-speed", S1, NIC1, mbit_per_s=1000),),
        red=("below", "s1"),
        says=(S1, NIC1, "speed"),
        hosts=("connectx",),
    ),
    _of(
        name="receiver-link-is-faster",
        what="the receiver's link came up at 40 Gb/s",
        how=(fault("link-speed", R, NIC_R, mbit_per_s=40_000),),
        red=("below",),
        says=(R, NIC_R, "speed"),
        hosts=("connectx",),
    ),
    _of(
        name="fec-differs",
        what="the first sender's NIC has RS-FEC in force, the others none",
        how=(fault("fec", S1, NIC1, encoding="RS"),),
        red=("below",),
        unseen="this switch does not show its FEC; the check warns that hosts differ",
        hosts=("connectx",),
        switches=("comware",),
    ),
    _of(
        name="frames-arrive-broken-all-the-time",
        what="100 broken frames a second arrive at the receiver",
        how=(fault("broken-frames", R, NIC_R, per_s=100),),
        red=("below", "s1"),
        says=(f"{R}", NIC_R, CRC),
        hosts=("connectx",),
    ),
    _of(
        name="frames-arrive-broken-at-the-switch",
        what="100 broken frames a second arrive at the first sender's switch port",
        how=(fault("broken-frames", SW1, PORT1, per_s=100),),
        red=("below", "s1"),
        says=(SW1, PORT1, CRC),
    ),
    _of(
        name="cable-between-switches-damages-frames",
        what="a frame in a thousand is damaged between the switches",
        how=(_bad("{trunk.next}", "{trunk.next_port}"),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=("{trunk.next} {trunk.next_port}", CRC),
    ),
    _of(
        name="cable-between-switches-loses-frames-uncounted",
        what="a frame in a thousand is lost between the switches, and nobody counts it",
        how=(_bad("{trunk.next}", "{trunk.next_port}", counted="nothing"),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=("{trunk.next}",),
    ),
    _of(
        name="cable-between-switches-is-unplugged",
        what="the cable between the switches is unplugged for 50 ms",
        how=(fault("carrier-flap", "{trunk.switch}", "{trunk.port}", milliseconds=50),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=("{trunk.switch}",),
    ),
    _of(
        name="switch-port-counts-crc-errors",
        what="a frame with a wrong CRC comes to the first sender's switch port",
        how=(grows(SW1, PORT1, "CRC"),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(f"{SW1} {PORT1}", CRC),
        switches=("comware",),
    ),
    _of(
        name="cable-loses-frames-of-rdma-under-pfc",
        what="a frame in a thousand is lost between the first sender and its switch, uncounted",
        how=(_bad(SW1, PORT1, counted="nothing"),),
        when=TRAFFIC,
        red=("writes", "reads", "any-to-any", "both"),
        says=((S1, SW1),),
    ),
    _of(
        name="cable-damages-frames-of-other-suites",
        what="a frame in a thousand is damaged between the first sender and its switch",
        how=(_bad(SW1, PORT1),),
        when=TRAFFIC,
        red=("any-to-any", "marking", "slow-receiver", "lossy-pauses", "dcbx"),
        says=(f"{SW1} {PORT1}", CRC),
    ),
    _of(
        name="cable-of-a-ring-loses-frames",
        what="a frame in a thousand is lost on the first cable of a ring, uncounted",
        how=(_bad("{ring.next}", "{ring.next_port}", counted="nothing"),),
        when=TRAFFIC,
        red=("escape",),  # a locked ring drops so much on its way in that a thousandth hides there
        says=("packets left the hosts and",),
    ),
)
