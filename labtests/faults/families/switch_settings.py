"""Settings of switches that are wrong, or that change under a run."""

from functools import partial

from labtests.faults.declared import MIDDLE, TRAFFIC, Declared, fault

_of = partial(Declared, family="switch settings")
_comware = partial(_of, switches=("comware",))
SW, OUT, SW1, PORT1 = "{switch}", "{bottleneck}", "{sender1.switch}", "{sender1.port}"
S1, SW2, PORT2 = "{sender1}", "{sender2.switch}", "{sender2.port}"
REVERSED = [7 - (dscp >> 3) for dscp in range(64)]


def _on(device: str, port: str, line: str) -> dict[str, str]:
    return fault("somebody", device, command=f"system-view\ninterface {port}\n{line}")


_LOWERED = (
    'sudo sonic-db-cli CONFIG_DB HSET "BUFFER_PROFILE|pg_lossless_25000_3m_profile" dynamic_th -5'
)


_UNLIMITED = (
    'sudo sonic-db-cli CONFIG_DB HSET "SCHEDULER|theirs" type STRICT; '
    'sudo sonic-db-cli CONFIG_DB HSET "QUEUE|{bottleneck}|5" scheduler theirs'
)


FAULTS: tuple[Declared, ...] = (
    _comware(
        name="switch-pfc-is-switched-off",
        what="PFC goes off at the first sender's port",
        how=(_on(SW1, PORT1, "undo priority-flow-control"),),
        when=MIDDLE,
        red=("s1",),
        says=(SW1, PORT1, "pfc"),
    ),
    _comware(
        name="switch-pfc-of-another-priority",
        what="PFC at the second sender's port works for priority 1 only",
        how=(_on(SW2, PORT2, "undo priority-flow-control no-drop dot1p\n"
                 "priority-flow-control no-drop dot1p 1"),),
        when=MIDDLE,
        red=("s1",),
        says=(SW2, PORT2, "pfc"),
    ),
    _comware(
        name="switch-trust-is-changed",
        what="the first sender's port no longer trusts DSCP",
        how=(_on(SW1, PORT1, "undo qos trust"),),
        when=MIDDLE,
        red=("s1", "below", "classes"),
        says=(SW1, PORT1, "trust"),
    ),
    _comware(
        name="ecn-is-switched-off",
        what="the queues of the bottleneck no longer mark",
        how=(_on(SW, OUT, "undo qos wred apply"),),
        when=MIDDLE,
        red=("s2", "tcp"),
        says=(SW, OUT, "ecn"),
    ),
    _comware(
        name="weights-are-changed",
        what="a queue of the bottleneck gets another weight",
        how=(_on(SW, OUT, "qos wrr 3 group 1 byte-count 1"),),
        when=MIDDLE,
        red=("shares", "weights"),
        says=(SW, OUT, "scheduling"),
    ),
    _comware(
        name="the-port-to-the-receiver-is-shut",
        what="the bottleneck's port is shut down",
        how=(_on(SW, OUT, "shutdown"),),
        when=MIDDLE,
        red=("below", "s2"),
        says=((SW, "{receiver}"),),
    ),
    _comware(
        name="a-sender-port-is-shut",
        what="the second sender's port is shut down",
        how=(_on(SW2, PORT2, "shutdown"),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(("{sender2}", PORT2),),
    ),
    _comware(
        name="pfc-is-off-for-a-moment",
        what="PFC goes off at the first sender's port, and on again after 100 ms",
        how=(
            {**_on(SW1, PORT1, "undo priority-flow-control"), "after_s": 3.0},
            {**_on(SW1, PORT1, "priority-flow-control enable"), "after_s": 3.1},
        ),
        when=TRAFFIC,
        red=("s1",),
        says=(f"what queue 3 lost came in at {SW1} {PORT1} (from {S1}) alone",),
    ),
    _comware(
        name="somebody-takes-the-policy-off",
        what="the port opposite the receiver no longer classifies what comes in: CNPs",
        how=(_on(SW, OUT, "undo qos apply policy inbound"),),
        when="experiment 'RoCE at the edge': traffic",
        red=("edge",),
        says=(f"edge of {SW} {OUT} was changed externally",),
    ),
    _comware(
        name="a-policy-forgets-cnps",
        what="somebody has changed what the policy of all ports does with CNPs: they are the rest",
        how=(fault("somebody", SW, command="system-view\nqos policy labtests-edge-3-2128cfd4\n"
                   "undo classifier labtests-edge-3-2128cfd4-2"),),
        when="experiment 'RoCE at the edge': quiet window",
        red=("edge",),
        says=("edge of", "changed externally"),
        hosts=("connectx",),
    ),
    _comware(
        name="red-drops-what-it-should-mark",
        what="RED of the bottleneck drops: its queues no longer mark",
        how=(fault("somebody", SW, command="system-view\nqos wred queue table surprise\n"
                   "queue 3 low-limit 10 high-limit 20 discard-probability 100\n"
                   f"interface {OUT}\nqos wred apply surprise"),),
        when=MIDDLE,
        red=("below", "s2"),
        says=(SW, OUT),
    ),
    _comware(
        name="the-log-in-may-only-look",
        what="who logs in to the switch may not configure it",
        how=(fault("role", SW, role="network-operator"),),
        red=("s1",),
        says=(SW, ("role", "network-operator", "permission", "denied")),
    ),
    _of(
        name="switch-map-is-reversed",
        what="the switch has another map from DSCP to class than the NICs",
        how=({"kind": "dscp-map", "device": SW, "classes": REVERSED},),
        red=("s1",),
        says=(SW,),
        hosts=("connectx",),
        skips=True,
    ),
    _comware(
        name="switch-takes-short-frames-only",
        what="the receiver's port takes frames of 1400 bytes at most",
        how=(fault("mtu", SW, OUT, bytes=1400),),
        red=("below",),
        says=(SW, OUT, ("mtu", "frame")),
    ),
    _of(
        name="a-revision-without-pfc-is-applied",
        what="somebody applies a revision without PFC",
        how=(fault("somebody", SW, command="nv unset interface swp1-3 qos pfc profile && "
                   "nv config apply -y"),),
        when=MIDDLE,
        red=("s1",),
        says=("dropped_packets grew",),
        switches=("cumulus",),
    ),
    _of(
        name="roce-mode-becomes-lossy",
        what="somebody makes RoCE mode lossy",
        how=(fault("somebody", SW, command="nv set qos roce mode lossy && nv config apply -y"),),
        when=MIDDLE,
        red=("roce-mode",),
        says=("dropped_packets grew",),
        switches=("cumulus",),
    ),
    _of(
        name="a-port-is-no-part-of-roce-mode",
        what="the first sender's port has a PFC profile of its own, without priorities",
        how=(fault("somebody", SW1, command="nv set qos pfc theirs tx disable; nv set interface "
                   "{sender1.port} qos pfc profile theirs; nv config apply -y"),),
        red=("roce-mode",),
        says=("dropped_packets grew", SW1),
        switches=("cumulus",),
    ),
    _of(
        name="pfc-is-switched-off-at-all-ports",
        what="somebody switches PFC off at all ports",
        how=(fault("somebody", SW, command="enable\nconfigure terminal\n"
                   "interface ethernet 1/1-1/3 no dcb priority-flow-control mode force"),),
        when=MIDDLE,
        red=("s1",),
        says=("dropped_packets grew",),
        switches=("onyx",),
    ),
    _comware(
        name="pfc-goes-off-behind-a-slow-receiver",
        what="PFC goes off at the first sender's port while the receiver pauses",
        how=(_on(SW1, PORT1, "undo priority-flow-control"),),
        when=TRAFFIC,
        red=("slow-receiver",),
        says=(SW1, PORT1, "pfc"),
    ),
    _comware(
        name="pfc-comes-on-for-a-lossy-class",
        what="PFC of the receiver's port works for the class that is paused, too",
        how=(_on(SW, OUT, "priority-flow-control no-drop dot1p 0-7"),),
        when=TRAFFIC,
        red=("lossy-pauses",),
        says=(SW, OUT, "pfc"),
    ),
    _comware(
        name="pfc-comes-on-for-the-lossy-one-of-two-classes",
        what="PFC of the first sender's port works for the class that may lose, too",
        how=(_on(SW1, PORT1, "priority-flow-control no-drop dot1p 0-7"),),
        when=TRAFFIC,
        red=("mixed",),
        says=(SW1, PORT1, "pfc"),
    ),
    _comware(
        name="a-strict-queue-is-served-like-others",
        what="the strict queue of the bottleneck gets a weight like the others",
        how=(_on(SW, OUT, "qos wrr 5 group 1 byte-count 12"),),
        when="experiment '150 % of line rate': traffic",
        red=("strict",),
        says=(SW, OUT, "scheduling"),
    ),
    _comware(
        name="marks-end-beside-pfc",
        what="the queues of the bottleneck no longer mark while PFC is on",
        how=(_on(SW, OUT, "undo qos wred apply"),),
        when=TRAFFIC,
        red=("both", "victim", "marking"),
        says=(SW, OUT, "ecn"),
    ),
    _comware(
        name="early-warning-is-taken-away",
        what="the first sender's port no longer warns of pause frames",
        how=(_on(SW1, PORT1, "undo priority-flow-control early-warning dot1p 0-7 outpps"),),
        when=TRAFFIC,
        red=("warning",),
        says=(SW1, PORT1),
    ),
    _comware(
        name="early-warning-of-a-host-is-taken-away",
        what="the receiver's port no longer warns of pause frames",
        how=(_on(SW, OUT, "undo priority-flow-control early-warning dot1p 0-7 inpps"),),
        when=TRAFFIC,
        red=("host-warning",),
        says=(SW, OUT),
    ),
    _comware(
        name="the-switch-tells-nothing-by-dcbx",
        what="the first sender's port no longer tells of PFC by DCBX",
        how=(_on(SW1, PORT1, "undo lldp tlv-enable dot1-tlv dcbx"),),
        when=TRAFFIC,
        red=("dcbx",),
        says=((SW1, S1),),
        hosts=("connectx",),
    ),
    _comware(
        name="deadlock-detection-is-switched-off",
        what="a port of a ring no longer looks for deadlocks",
        how=(_on("{ring.switch}", "{ring.port}", "undo priority-flow-control deadlock enable"),),
        when="experiment 'detection, recovery by hand': quiet window",
        red=("deadlock",),
        says=("{ring.switch}",),
    ),
    _comware(
        name="pfc-stays-on-at-a-port-of-a-ring",
        what="somebody switches PFC on again at a port of a ring that is set free",
        how=(_on("{ring.switch}", "{ring.port}",
                 "priority-flow-control enable\npriority-flow-control no-drop dot1p 0-7"),),
        when=TRAFFIC,
        red=("escape",),
        says=("{ring.switch}", "pfc"),
    ),
    _of(
        name="somebody-stops-the-watchdog",
        what="the PFC watchdog is stopped at all ports",
        how=(fault("somebody", SW, command="sudo pfcwd stop"),),
        when="experiment 'storms of 450 ms': quiet window",
        red=("watchdog",),
        says=(SW, "watchdog"),
        switches=("sonic",),
    ),
    _of(
        name="somebody-ends-the-pause-timeout",
        what="the pause time-out of all edge ports is switched off",
        how=(fault("somebody", SW,
                   command="configure terminal\nno system default interface pause mode edge"),),
        when="experiment 'storms of 450 ms': quiet window",
        red=("timeout",),
        says=(SW, "pause"),
        switches=("nxos",),
    ),
    _of(
        name="a-rate-limit-is-taken-away",
        what="the strict queue of the bottleneck gets another scheduler, without a rate",
        how=(fault("somebody", SW, command=_UNLIMITED),),
        when=TRAFFIC,
        red=("limit",),
        says=(SW, OUT, "scheduling"),
        switches=("sonic",),
    ),
    _of(
        name="a-threshold-is-lowered",
        what="a lossless priority may hold a quarter of what it might, from now on",
        how=(fault("somebody", SW, command=_LOWERED),),
        when=TRAFFIC,
        red=("outside",),
        says=("{sender1.switch} {sender1.port} priority 3 held", "it paused below its threshold"),
        switches=("sonic",),
    ),
)  # fmt: skip
