"""Programs on hosts that are missing, die, hang, or stop in the middle of a word."""

from functools import partial

from labtests.faults.declared import MIDDLE, Declared, fault

_of = partial(Declared, family="tools and processes")
S1, S2, R = "{sender1}", "{sender2}", "{receiver}"


def _without(device: str, tool: str) -> dict[str, str]:
    return fault("remove-tool", device, tool=tool)


def _killed(device: str, after_s: float, tool: str = "iperf3") -> dict[str, str]:
    return fault("somebody", device, command=f"sleep {after_s}; pkill -KILL {tool}")


FAULTS: tuple[Declared, ...] = (
    _of(
        name="sender-without-iperf3",
        what="iperf3 is not installed on the first sender",
        how=(_without(S1, "iperf3"),),
        red=("s1",),
        says=(S1, "iperf3"),
    ),
    _of(
        name="receiver-without-iperf3",
        what="iperf3 is not installed on the receiver",
        how=(_without(R, "iperf3"),),
        red=("tcp",),
        says=(R, "iperf3"),
    ),
    _of(
        name="sender-without-perftest",
        what="ib_send_bw is not installed on the first sender",
        how=(_without(S1, "ib_send_bw"),),
        red=("s2",),
        says=(S1, "ib_send_bw"),
    ),
    _of(
        name="receiver-without-perftest",
        what="ib_send_bw is not installed on the receiver",
        how=(_without(R, "ib_send_bw"),),
        red=("s2",),
        says=(R, "ib_send_bw"),
    ),
    _of(
        name="sender-without-mlnx-qos",
        what="mlnx_qos is not installed on the second sender",
        how=(_without(S2, "mlnx_qos"),),
        red=("s2",),
        says=(S2, "mlnx_qos"),
        hosts=("connectx",),
    ),
    _of(
        name="receiver-without-ethtool",
        what="ethtool is not installed on the receiver",
        how=(_without(R, "ethtool"),),
        red=("below",),
        says=(R, "ethtool"),
    ),
    _of(
        name="other-perftest",
        what="the first sender has perftest 6.20, the others 5.96",
        how=(fault("perftest", S1, version="6.20"),),
        red=("s2",),
        unseen="two versions that understand each other send as asked; the check only warns",
    ),
    _of(
        name="sender-tool-is-killed",
        what="iperf3 is killed on the first sender while it sends",
        how=(_killed(S1, 0),),
        when=MIDDLE,
        red=("below", "tcp"),
        says=(S1, "iperf3"),
    ),
    _of(
        name="receiver-tool-is-killed",
        what="iperf3 is killed on the receiver while it receives",
        how=(_killed(R, 0),),
        when=MIDDLE,
        red=("below", "s1"),
        says=(R, "iperf3"),
    ),
    _of(
        name="rdma-sender-tool-is-killed",
        what="ib_send_bw is killed on the second sender while it sends",
        how=(_killed(S2, 0, "ib_send_bw"),),
        when=MIDDLE,
        red=("s2",),
        says=(S2, "ib_send_bw"),
    ),
    _of(
        name="rdma-receiver-tool-is-killed",
        what="ib_send_bw is killed on the receiver while it receives",
        how=(_killed(R, 0, "ib_send_bw"),),
        when=MIDDLE,
        red=("s2",),
        says=(R, "ib_send_bw"),
    ),
    _of(
        name="tools-of-a-control-are-killed",
        what="iperf3 is killed on both senders in the control",
        how=(_killed(S1, 0.2), _killed(S2, 0.2)),
        when="control *: traffic",
        red=("below",),
        says=(S1, S2, "did not run"),
    ),
    _of(
        name="late-tools-of-a-control-are-killed",
        what="iperf3 is killed on both senders in the control, when each has sent for a while",
        how=(_killed(S1, 0.2), _killed(S2, 2.2)),
        when="control 'PFC off at the switch': traffic",
        red=("s1",),
        says=("control", S1, S2),
    ),
    _of(
        name="sender-tool-hangs",
        what="iperf3 on the first sender does not begin",
        how=(fault("hang", S1, command="iperf3 -c"),),
        red=("below",),
        says=(S1, "iperf3"),
    ),
    _of(
        name="sender-tool-stops-in-mid-report",
        what="the report of iperf3 on the first sender ends in the middle",
        how=(fault("truncate", S1, command="iperf3"),),
        red=("below", "tcp"),
        says=(S1, "iperf3"),
    ),
    _of(
        name="rdma-tool-stops-in-mid-report",
        what="the report of ib_send_bw on the first sender ends in the middle",
        how=(fault("truncate", S1, command="ib_send_bw"),),
        red=("s2",),
        says=(S1, "ib_send_bw"),
    ),
    _of(
        name="counters-of-a-nic-stop-in-mid-output",
        what="`ethtool -S` on the receiver ends in the middle",
        how=(fault("truncate", R, command="ethtool -S"),),
        red=("below",),
        says=(R,),
        hosts=("connectx",),
    ),
    _of(
        name="ethtool-hangs",
        what="`ethtool -S` on the receiver does not end",
        how=(fault("hang", R, command="ethtool -S"),),
        red=("below",),
        says=(R, "ethtool"),
        hosts=("connectx",),
    ),
    _of(
        name="mlnx-qos-hangs",
        what="mlnx_qos on the first sender does not end",
        how=(fault("hang", S1, command="mlnx_qos"),),
        red=("s1",),
        says=(S1, "mlnx_qos"),
        hosts=("connectx",),
    ),
    _of(
        name="a-process-of-a-dead-run",
        what="iperf3 of a run that died still listens on the receiver",
        how=(fault("leftover", R, command="iperf3 -s -p 5201", run="20240101-000000-abcdef"),),
        red=("below",),
        says=(R, "leftovers", "iperf3 -s"),
    ),
    _of(
        name="lldpad-manages-the-nic",
        what="lldpad runs on the first sender",
        how=(fault("lldpad", S1),),
        red=("s1",),
        says=(S1, "lldpad"),
        hosts=("connectx",),
    ),
    _of(
        name="receiver-cannot-send-pauses",
        what="mausezahn is not installed on the receiver",
        how=(_without(R, "mausezahn"),),
        red=("slow-receiver", "lossy-pauses", "host-warning"),
        says=(R, "mausezahn"),
    ),
    _of(
        name="receiver-cannot-send-pauses-to-a-watchdog",
        what="the same before a switch with a watchdog",
        how=(_without(R, "mausezahn"),),
        red=("watchdog",),
        says=(R, "mausezahn"),
        switches=("sonic",),
    ),
)
