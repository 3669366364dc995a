"""What SONiC streams by gNMI: its COUNTERS_DB, by native paths.

Paths: sonic-gnmi and "SONiC gRPC data telemetry" (target COUNTERS_DB; `COUNTERS/Ethernet0`, and the
virtual paths `.../Queues`); names of counters: SAI, as COUNTERS_DB has them. A watermark of a queue
is that of the last poll; PERIODIC_WATERMARKS have the most of all polls since a timer has set them
to 0 (watermarkorch.cpp). From memory: that `PERIODIC_WATERMARKS/Ethernet0/...` is served, and how
its priority groups are called.
"""

from labtests.capabilities import counters as c
from labtests.capabilities.streams import Streaming, StreamTable
from labtests.drivers.parts import PlatformPart
from labtests.drivers.sonic.watermarks import SonicWatermarks
from labtests.drivers.streamed import Streamed, leaves_of
from labtests.transport.asking import Asking

SAMPLED = ("/COUNTERS/{port}", "/COUNTERS/{port}/Queues")
_WATERMARKS = "/PERIODIC_WATERMARKS/{port}/PriorityGroups"
_PFC = f"{SAMPLED[0]}/SAI_PORT_STAT_PFC_{{index}}_"
_QUEUE = f"{SAMPLED[1]}/{{port}}:{{index}}/SAI_QUEUE_STAT_"
_GROUP = f"{_WATERMARKS}/{{port}}:{{index}}/SAI_INGRESS_PRIORITY_GROUP_STAT_"
_FIELDS: Streamed = {
    f"{_PFC}RX_PKTS": (c.PFC_RX_FRAMES, "priority", "frames"),
    f"{_PFC}TX_PKTS": (c.PFC_TX_FRAMES, "priority", "frames"),
    f"{_QUEUE}PACKETS": (c.QUEUE_FORWARDED_PACKETS, "queue", "packets"),
    f"{_QUEUE}BYTES": (c.QUEUE_FORWARDED_BYTES, "queue", "bytes"),
    f"{_QUEUE}DROPPED_PACKETS": (c.QUEUE_DROPPED_PACKETS, "queue", "packets"),
    f"{_QUEUE}WRED_ECN_MARKED_PACKETS": (c.QUEUE_MARKED_PACKETS, "queue", "packets"),
    f"{_QUEUE}SHARED_WATERMARK_BYTES": (c.QUEUE_PEAK_BYTES, "queue", "bytes"),
    f"{_GROUP}XOFF_ROOM_WATERMARK_BYTES": (c.HEADROOM_MOST_BYTES, "priority", "bytes"),
    f"{_GROUP}SHARED_WATERMARK_BYTES": (c.SHARED_MOST_BYTES, "priority", "bytes"),
}
LEAVES = leaves_of(_FIELDS, "Ethernet[0-9]+")


class SonicStreams(PlatformPart, Streaming):
    """What a switch streams of its ports."""

    def stream_table(self) -> StreamTable:
        """See Streaming."""
        told, optional = {port: port for port in self.ports}, (_WATERMARKS,)
        return StreamTable(
            sampled=SAMPLED, optional=optional, leaves=LEAVES, target="COUNTERS_DB", told=told
        )

    def peak_age_s(self) -> Asking[float]:
        """As old as watermarks by the command line."""
        return SonicWatermarks(self.device).watermark_age_s()
