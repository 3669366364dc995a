"""People who work in the same lab, and clocks that are wrong."""

from functools import partial

from labtests.faults.declared import MIDDLE, TRAFFIC, Declared, fault

_of = partial(Declared, family="people and clocks")
S1, S2, R, SW, OUT = "{sender1}", "{sender2}", "{receiver}", "{switch}", "{bottleneck}"
NIC_R = "{receiver.nic}"
HOURS_5 = 5 * 3600
_STORMS = "experiment 'storms of 450 ms': traffic"


def _typed(device: str, command: str) -> dict[str, str]:
    return fault("somebody", device, command=command)


FAULTS: tuple[Declared, ...] = (
    _of(
        name="host-clock-is-wrong",
        what="the first sender's clock is 5 hours ahead",
        how=(fault("clock", S1, seconds=HOURS_5),),
        red=("below",),
        unseen="no verdict reads a device's clock; the check warns",
    ),
    _of(
        name="switch-clock-is-wrong",
        what="the switch's clock is 5 hours ahead",
        how=(fault("clock", SW, seconds=HOURS_5),),
        red=("below",),
        unseen="no verdict reads a device's clock; the check warns",
    ),
    _of(
        name="host-clock-steps",
        what="the receiver's clock steps by a minute while traffic runs",
        how=(fault("clock", R, seconds=60),),
        when=MIDDLE,
        red=("s1",),
        unseen="times are taken from the runner's clock and from monotonic ones; nothing is lost",
    ),
    _of(
        name="somebody-clears-the-counters",
        what="somebody clears the counters of all ports while traffic runs",
        how=(_typed(SW, "reset counters interface"),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(SW,),
        switches=("comware",),
    ),
    _of(
        name="somebody-lengthens-the-mtu",
        what="somebody gives the receiver an MTU of 4200",
        how=(_typed(R, f"ip link set dev {NIC_R} mtu 4200"),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(R, "mtu"),
    ),
    _of(
        name="somebody-runs-iperf3-too",
        what="somebody else's iperf3 sends 2 Gb/s from the second sender, in class 0",
        how=(fault("background", S2, to="{receiver.address}", tos=0, mbit_per_s=2000),),
        when=TRAFFIC,
        red=("s1",),
        unseen="what another queue forwards is taken off the line: those under test had the rest",
    ),
    _of(
        name="somebody-kills-all-iperf3",
        what="somebody ends all iperf3 on the receiver before the traffic starts",
        how=(_typed(R, "sleep 0.5; pkill iperf3"),),
        when=TRAFFIC,
        red=("s1",),
        says=(R, "iperf3"),
    ),
    _of(
        name="somebody-logs-the-runner-out",
        what="the session to the receiver is closed while traffic runs",
        how=(fault("cut", R),),
        when=MIDDLE,
        red=("below",),
        says=(R,),
    ),
    _of(
        name="somebody-changes-the-map",
        what="somebody maps DSCP 24 to another class at the switch",
        how=(_typed(SW, "system-view\nqos map-table dscp-dot1p\nimport 24 export 1"),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(SW,),
        switches=("comware",),
    ),
    _of(
        name="somebody-saves-half-a-config",
        what="somebody applies a table of RED of his own to the bottleneck, and takes it away",
        how=(
            _typed(SW, f"system-view\ninterface {OUT}\nundo qos wred apply"),
            _typed(SW, f"system-view\ninterface {OUT}\nundo qos trust"),
        ),
        when=MIDDLE,
        red=("s2",),
        says=(SW, OUT),
        switches=("comware",),
    ),
    _of(
        name="somebody-clears-the-log",
        what="the switch's log is cleared while queues are shut and served again",
        how=(fault("somebody", SW, command="clear logging logfile", after_s=2),),
        when=_STORMS,
        red=("watchdog",),
        says=("the log of {switch} has", "watchdog_shutdowns grew by 3"),
        switches=("nxos",),
    ),
    _of(
        name="somebody-sets-the-clock-of-a-log",
        what="the switch's clock is set to an hour later while its watchdog logs",
        how=(fault("clock", SW, seconds=3600, after_s=2),),
        when=_STORMS,
        red=("watchdog",),
        says=("{switch}: its clock was set by +3600.0 s during the phase",),
        switches=("nxos",),
    ),
)
