"""What Cumulus Linux streams by gNMI (port 9339 unless set otherwise): queues, pauses, headroom and
whether links are up.

Paths: NVIDIA, "gNMI Streaming" (OpenConfig's models with NVIDIA's own leaves). Lengths are in
bytes; `max-queue-len` is the most since watermarks were cleared.
"""

from labtests.capabilities import counters as c
from labtests.capabilities.streams import Streaming, StreamLeaf, StreamTable
from labtests.drivers.parts import PlatformPart
from labtests.drivers.streamed import Streamed, leaves_of, pattern

_QOS = "/qos/interfaces/interface[interface-id={port}]"
_QUEUE = "/output/queues/queue[name={index}]/state/"
_PRIORITY = "/switch-priority[priority={index}]/state/counters/"
_GROUP = "/input/headroom-buffer[buffer-type=primary]/priority-group[pg-id={index}]/state/"
_STATUS = "/interfaces/interface[name={port}]/state/oper-status"
_FIELDS: Streamed = {
    f"{_QUEUE}transmit-pkts": (c.QUEUE_FORWARDED_PACKETS, "queue", "packets"),
    f"{_QUEUE}transmit-octets": (c.QUEUE_FORWARDED_BYTES, "queue", "bytes"),
    f"{_QUEUE}ecn-marked-pkts": (c.QUEUE_MARKED_PACKETS, "queue", "packets"),
    f"{_QUEUE}no-buffer-uc-dropped-pkts": (c.QUEUE_DROPPED_PACKETS, "queue", "packets"),
    f"{_QUEUE}instant-queue-len": (c.QUEUE_LENGTH_BYTES, "queue", "bytes"),
    f"{_QUEUE}max-queue-len": (c.QUEUE_MOST_BYTES, "queue", "bytes"),
    f"{_PRIORITY}in-pause-pkts": (c.PFC_RX_FRAMES, "priority", "frames"),
    f"{_PRIORITY}out-pause-pkts": (c.PFC_TX_FRAMES, "priority", "frames"),
    f"{_GROUP}instant-occupancy": (c.HEADROOM_BYTES, "priority", "bytes"),
    f"{_GROUP}max-occupancy-since-last-sample": (c.HEADROOM_PEAK_BYTES, "priority", "bytes"),
}


class CumulusStreams(PlatformPart, Streaming):
    """What a switch streams of its ports."""

    def stream_table(self) -> StreamTable:
        """See Streaming."""
        leaves = leaves_of({_QOS + path: told for path, told in _FIELDS.items()})
        link = StreamLeaf(path=pattern(_STATUS), counter="", scope="port", unit="", alarm="link")
        return StreamTable(
            sampled=tuple(
                _QOS + part.rpartition("/")[0].replace("{index}", "*")
                for part in (_QUEUE, _PRIORITY, _GROUP)
            ),
            changes=(_STATUS,),
            leaves=(*leaves, link),
            told={port: port for port in self.ports},
        )
