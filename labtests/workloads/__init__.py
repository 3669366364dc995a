"""Traffic: perftest and iperf3 as servers and clients on the hosts, joined to an incast.

    incast(streams, clock=..., duration_s=...) -> one FlowResult a stream

Only FlowStatus.COMPLETE is evidence of traffic. The parsers are `parse_report` (perftest's
tables) and `parse_json` (iperf3).
"""

from labtests.workloads.attempt import Attempt, Party
from labtests.workloads.incast import incast
from labtests.workloads.iperf3 import Iperf3
from labtests.workloads.iperf3_json import parse_json
from labtests.workloads.marked import send_marked
from labtests.workloads.pause_storm import PauseStorm
from labtests.workloads.perftest import Perftest
from labtests.workloads.perftest_report import parse_report
from labtests.workloads.streams import Stream

__all__ = [
    "Attempt",
    "Iperf3",
    "Party",
    "PauseStorm",
    "Perftest",
    "Stream",
    "incast",
    "parse_json",
    "parse_report",
    "send_marked",
]
