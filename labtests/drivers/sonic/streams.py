"""What SONiC streams by gNMI: its COUNTERS_DB, by native paths.

Paths: sonic-gnmi and "SONiC gRPC data telemetry" (target COUNTERS_DB; `COUNTERS/Ethernet0`, and the
virtual paths `.../Queues`); names of counters: SAI, as COUNTERS_DB has them. A watermark of a queue
is that of the last poll; PERIODIC_WATERMARKS have the most of all polls since a timer has set them
to 0 (watermarkorch.cpp). From memory: that `PERIODIC_WATERMARKS/Ethernet0/...` is served, and how
its priority groups are called.
"""

from labtests.capabilities import counters as c
from labtests.capabilities.streams import Streaming, StreamLeaf, StreamTable
from labtests.drivers.parts import PlatformPart
from labtests.drivers.sonic.watermarks import SonicWatermarks
from labtests.transport.asking import Asking

_PORT = "(?P<port>Ethernet[0-9]+)"
_EACH = r"Ethernet[0-9]+:(?P<index>[0-7])"
_QUEUE = "SAI_QUEUE_STAT_"
_GROUP = "SAI_INGRESS_PRIORITY_GROUP_STAT_"
_QUEUES = {
    f"{_QUEUE}PACKETS": (c.QUEUE_FORWARDED_PACKETS, "packets"),
    f"{_QUEUE}BYTES": (c.QUEUE_FORWARDED_BYTES, "bytes"),
    f"{_QUEUE}DROPPED_PACKETS": (c.QUEUE_DROPPED_PACKETS, "packets"),
    f"{_QUEUE}WRED_ECN_MARKED_PACKETS": (c.QUEUE_MARKED_PACKETS, "packets"),
    f"{_QUEUE}SHARED_WATERMARK_BYTES": (c.QUEUE_PEAK_BYTES, "bytes"),
}
_GROUPS = {
    f"{_GROUP}XOFF_ROOM_WATERMARK_BYTES": c.HEADROOM_MOST_BYTES,
    f"{_GROUP}SHARED_WATERMARK_BYTES": c.SHARED_MOST_BYTES,
}
LEAVES = (
    *(
        StreamLeaf(
            path=rf"/COUNTERS/{_PORT}/SAI_PORT_STAT_PFC_(?P<index>[0-7])_{way}_PKTS",
            counter=counter,
            scope="priority",
            unit="frames",
        )
        for way, counter in (("RX", c.PFC_RX_FRAMES), ("TX", c.PFC_TX_FRAMES))
    ),
    *(
        StreamLeaf(
            path=f"/COUNTERS/{_PORT}/Queues/{_EACH}/{name}",
            counter=counter,
            scope="queue",
            unit=unit,
        )
        for name, (counter, unit) in _QUEUES.items()
    ),
    *(
        StreamLeaf(
            path=f"/PERIODIC_WATERMARKS/{_PORT}/PriorityGroups/{_EACH}/{name}",
            counter=counter,
            scope="priority",
            unit="bytes",
        )
        for name, counter in _GROUPS.items()
    ),
)
SAMPLED = (
    "/COUNTERS/{port}",
    "/COUNTERS/{port}/Queues",
)
_WATERMARKS = "/PERIODIC_WATERMARKS/{port}/PriorityGroups"


class SonicStreams(PlatformPart, Streaming):
    """What a switch streams of its ports."""

    def stream_table(self) -> StreamTable:
        """See Streaming."""
        told = {port: port for port in self.ports}
        return StreamTable(
            sampled=SAMPLED,
            optional=(_WATERMARKS,),
            leaves=LEAVES,
            target="COUNTERS_DB",
            told=told,
        )

    def peak_age_s(self) -> Asking[float]:
        """As old as watermarks by the command line."""
        return SonicWatermarks(self.device).watermark_age_s()
