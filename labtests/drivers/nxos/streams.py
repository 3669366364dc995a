"""What NX-OS streams by gNMI (`feature grpc`): the queues of its ports, from its own model.

Paths and names: Cisco-NX-OS-device (DME), `ipqos...QueuingStats`, with ports as `eth1/1` and
classes as the 8-queue template has them; pause frames by the class's priority. Depths are in bytes,
and `maxQueueDepth` is the most since somebody cleared it. The model tells of no headroom.
"""

from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.streams import Streaming, StreamLeaf, StreamTable
from labtests.drivers.parts import PlatformPart
from labtests.drivers.streamed import Streamed, leaves_of

_QUEUES = (
    "/System/ipqos-items/queuing-items/policy-items/out-items/intf-items/"
    "If-list[name={port}]/queCmap-items"
)
_LIST, _KEY = "QueuingStats-list", "cmapName"
_CLASS = f"{_QUEUES}/{_LIST}[{_KEY}=c-out-8q-q"
_CLASSES = ((_CLASS + "{index}]", None), (_CLASS + "-default]", 0))
_FIELDS: Streamed = {
    "txPackets": (c.QUEUE_FORWARDED_PACKETS, "queue", "packets"),
    "txBytes": (c.QUEUE_FORWARDED_BYTES, "queue", "bytes"),
    "dropPackets": (c.QUEUE_DROPPED_PACKETS, "queue", "packets"),
    "currQueueDepth": (c.QUEUE_LENGTH_BYTES, "queue", "bytes"),
    "maxQueueDepth": (c.QUEUE_MOST_BYTES, "queue", "bytes"),
    "randEcnMarkedPackets": (c.QUEUE_MARKED_PACKETS, "queue", "packets"),
    "pfcRxPpp": (c.PFC_RX_FRAMES, "priority", "frames"),
    "pfcTxPpp": (c.PFC_TX_FRAMES, "priority", "frames"),
    "ingQDepthBytes": (c.INGRESS_BYTES, "priority", "bytes"),
}


def _leaves() -> Iterator[StreamLeaf]:
    for path, index in _CLASSES:
        for leaf in leaves_of({f"{path}/{name}": told for name, told in _FIELDS.items()}):
            yield replace(leaf, path=f"(?:device:)?{leaf.path}", index=index)


LEAVES = tuple(_leaves())


class NxosStreams(PlatformPart, Streaming):
    """What a switch streams of its ports."""

    def stream_table(self) -> StreamTable:
        """See Streaming. The default class is queue 0."""
        told = {port: port.lower().replace("ethernet", "eth") for port in self.ports}
        sampled = (f"device:{_QUEUES}",)
        return StreamTable(sampled=sampled, leaves=LEAVES, keys={_LIST: _KEY}, told=told)
