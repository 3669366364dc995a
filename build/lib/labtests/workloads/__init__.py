"""Traffic: perftest and iperf3 as servers and clients on the hosts, joined to an incast.

    incast(streams, clock=..., duration_s=...) -> one FlowResult a stream

Only FlowStatus.COMPLETE is evidence of traffic.
"""

from labtests.workloads.attempt import Attempt, Party
from labtests.workloads.incast import incast
from labtests.workloads.iperf3 import Iperf3
from labtests.workloads.marked import send_marked
from labtests.workloads.pause_storm import PauseStorm
from labtests.workloads.perftest import Perftest
from labtests.workloads.perftest_latency import LatencyProbe
from labtests.workloads.streams import Stream
from labtests.workloads.tool import FlowTool

__all__ = [
    "Attempt",
    "FlowTool",
    "Iperf3",
    "LatencyProbe",
    "Party",
    "PauseStorm",
    "Perftest",
    "Stream",
    "incast",
    "send_marked",
]
