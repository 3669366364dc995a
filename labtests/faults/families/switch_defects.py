"""Switches that do not do what they are told, or do not answer."""

from functools import partial

from labtests.faults.declared import MIDDLE, TRAFFIC, Declared, fault

_of = partial(Declared, family="switch defects")
SW, OUT, SW1, PORT1 = "{switch}", "{bottleneck}", "{sender1.switch}", "{sender1.port}"
SW2, PORT2 = "{sender2.switch}", "{sender2.port}"


def _drops(queue: int, per_million: int, device: str = SW, port: str = OUT) -> dict[str, object]:
    return fault("drop-packets", device, port, queue=queue, per_million=per_million)


FAULTS: tuple[Declared, ...] = (
    _of(
        name="a-port-ignores-dscp",
        what="the second sender's port puts all into queue 0 and says that it trusts DSCP",
        how=(fault("ignores-dscp", SW2, PORT2),),
        when=MIDDLE,
        red=("classes", "overload", "below"),
        says=(("{sender2}", PORT2, OUT),),
    ),
    _of(
        name="a-port-always-ignored-dscp",
        what="the same, before the run begins",
        how=(fault("ignores-dscp", SW2, PORT2),),
        red=("classes", "s1"),
        says=(("{sender2}", PORT2, OUT),),
    ),
    _of(
        name="a-port-puts-a-strict-class-behind-its-load",
        what="the first sender's port puts all into queue 0 and says that it trusts DSCP",
        how=(fault("ignores-dscp", SW1, PORT1),),
        when=TRAFFIC,
        red=("strict", "mixed"),
        says=(("{sender1}", PORT1, OUT),),
    ),
    _of(
        name="a-port-puts-a-deaf-sender-into-another-queue",
        what="the second sender's port, and the first's, put all into queue 0",
        how=(fault("ignores-dscp", SW1, PORT1), fault("ignores-dscp", SW2, PORT2)),
        when=TRAFFIC,
        red=("deaf",),
        says=(("{sender1}", "{sender2}", OUT),),
    ),
    _of(
        name="a-port-between-switches-ignores-dscp",
        what="the port between the switches puts all into queue 0",
        how=(fault("ignores-dscp", "{trunk.next}", "{trunk.next_port}"),),
        when="experiment *: traffic",
        red=("s1", "s2"),
        says=("queue 0 forwarded_packets",),
    ),
    _of(
        name="a-queue-drops-at-random",
        what="a queue of the bottleneck drops 1 in 250 packets",
        how=(_drops(3, 4000),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=(SW, OUT, "queue 3 dropped_packets grew by"),
    ),
    _of(
        name="a-queue-drops-rarely",
        what="a queue of the bottleneck drops 1 in 50 000 packets",
        how=(_drops(3, 20),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(SW, OUT, "queue 3 dropped_packets grew by"),
    ),
    _of(
        name="a-queue-begins-to-drop-in-a-soak",
        what="after some seconds of a long load a queue drops 1 in 10 000 packets",
        how=(_drops(3, 100),),
        when=MIDDLE,
        red=("soak",),
        says=(SW, OUT, "queue 3 dropped_packets grew by", "of the load (minute 1)"),
    ),
    _of(
        name="the-other-queue-drops",
        what="the queue of the second class drops 1 in 1000 packets",
        how=(_drops(5, 1000),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(SW, OUT, "queue 5 dropped_packets grew by"),
    ),
    _of(
        name="queues-always-dropped",
        what="a queue of the bottleneck drops 1 in 1000 packets, before the run begins",
        how=(_drops(3, 1000),),
        red=("s1", "overload"),
        says=(SW, OUT, "queue 3"),
    ),
    _of(
        name="the-queue-of-answers-drops",
        what="1 in 100 packets towards the first sender is dropped in queue 3",
        how=(_drops(3, 10_000, SW1, PORT1),),
        when=MIDDLE,
        red=("s2",),
        says=(SW1, PORT1),
    ),
    _of(
        name="the-queue-of-cnps-drops",
        what="half of the CNPs towards the first sender are dropped",
        how=(_drops(6, 500_000, SW1, PORT1),),
        when=MIDDLE,
        red=("s2",),
        says=(SW1, PORT1),
    ),
    _of(
        name="the-port-between-switches-drops",
        what="the port to the next switch drops 1 in 1000 packets of a class",
        how=(_drops(3, 1000, "{trunk.switch}", "{trunk.port}"),),
        when=MIDDLE,
        red=("below", "s1", "s2"),
        says=("{trunk.switch}", "{trunk.port}"),
    ),
    _of(
        name="switch-obeys-nothing",
        what="the switch accepts configuration and does nothing",
        how=(fault("lie", SW),),
        red=("below", "s2"),
        says=(SW,),
    ),
    _of(
        name="switch-reboots",
        what="the switch reboots while packets are on their way",
        how=(fault("reboot", SW),),
        when=MIDDLE,
        red=("below",),
        says=(SW,),
    ),
    _of(
        name="switch-rebooted-before-the-traffic",
        what="the switch reboots when its settings have been made",
        how=(fault("reboot", SW, seconds=1),),
        when="experiment *: quiet window",
        red=("s1",),
        says=(SW,),
    ),
    _of(
        name="session-to-the-switch-breaks",
        what="the SSH session to the switch breaks while traffic runs",
        how=(fault("cut", SW),),
        when=MIDDLE,
        red=("s1",),
        says=(SW,),
    ),
    _of(
        name="switch-cuts-its-counters-short",
        what="the display of queue counters ends in the middle",
        how=(fault("truncate", SW, command="display qos queue-statistics"),),
        red=("below",),
        says=(SW, "display qos queue-statistics"),
        switches=("comware",),
    ),
    _of(
        name="switch-cuts-its-drop-counters-short",
        what="the display of packet drops ends in the middle",
        how=(fault("truncate", SW, command="display packet-drop"),),
        red=("below",),
        says=(SW, "display packet-drop"),
        switches=("comware",),
    ),
    _of(
        name="switch-hangs-at-its-counters",
        what="the display of queue counters does not end",
        how=(fault("hang", SW, command="display qos queue-statistics"),),
        red=("below",),
        says=(SW, "display qos queue-statistics"),
        switches=("comware",),
    ),
    _of(
        name="switch-hangs-in-mid-traffic",
        what="the display of queue counters does not end any more while traffic runs",
        how=(fault("hang", SW, command="display qos queue-statistics"),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(SW, "display qos queue-statistics"),
        switches=("comware",),
    ),
    _of(
        name="a-queue-drops-beside-pfc",
        what="a queue of the bottleneck drops 1 in 250 packets though PFC is on",
        how=(_drops(3, 4000),),
        when=TRAFFIC,
        red=("writes", "reads", "both", "slow-receiver", "lossy-pauses", "warning", "dcbx"),
        says=(SW, OUT, "queue 3 dropped_packets grew by"),
    ),
    _of(
        name="a-queue-to-a-sender-drops",
        what="a queue towards the first sender drops 1 in 5000 packets, while all send to all",
        how=(_drops(3, 200, SW1, PORT1),),
        when=TRAFFIC,
        red=("any-to-any",),
        says=(f"{SW1} {PORT1} queue 3 dropped_packets grew by",),
    ),
    _of(
        name="a-queue-drops-within-its-threshold",
        what="a queue of the bottleneck drops 1 in 250 packets, and no threshold is reached",
        how=(_drops(3, 4000),),
        when=TRAFFIC,
        red=("thresholds", "watchdog"),
        says=(SW, OUT, "queue 3 dropped_packets grew by"),
        switches=("sonic",),
    ),
)
