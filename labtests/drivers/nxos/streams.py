"""What NX-OS streams by gNMI (`feature grpc`): the queues of its ports, from its own model.

Paths and names: Cisco-NX-OS-device (DME), `ipqos...QueuingStats`, with ports as `eth1/1` and
classes as the 8-queue template has them; pause frames by the class's priority. Depths are in bytes,
and `maxQueueDepth` is the most since somebody cleared it. The model tells of no headroom.
"""

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Scope
from labtests.capabilities.streams import Streaming, StreamLeaf, StreamTable
from labtests.drivers.parts import PlatformPart

_QUEUES = (
    "device:/System/ipqos-items/queuing-items/policy-items/out-items/intf-items/"
    "If-list[name={port}]/queCmap-items"
)
_LIST, _KEY = "QueuingStats-list", "cmapName"
_CLASS = rf"{_LIST}\[{_KEY}=c-out-8q-q(?P<index>[0-7])(?:-default)?\]"
_HEAD, _, _TAIL = _QUEUES.partition("{port}")
_AT = rf"(?:device:)?{_HEAD.removeprefix('device:')}".replace("[", r"\[")
_FIELDS: dict[str, tuple[str, Scope, str]] = {
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
_DEFAULT = f"{_LIST}[{_KEY}=c-out-8q-q-default]"


class NxosStreams(PlatformPart, Streaming):
    """What a switch streams of its ports."""

    def stream_table(self) -> StreamTable:
        """See Streaming. The default class is queue 0."""
        leaves = (
            StreamLeaf(
                path=rf"{_AT}(?P<port>[^\]]+)\]/queCmap-items/{each}/{name}",
                counter=counter,
                scope=scope,
                unit=unit,
                index=index,
            )
            for name, (counter, scope, unit) in _FIELDS.items()
            for each, index in ((_CLASS, None), (_DEFAULT.replace("[", r"\["), 0))
        )
        told = {port: port.lower().replace("ethernet", "eth") for port in self.ports}
        return StreamTable(sampled=(_QUEUES,), leaves=tuple(leaves), keys={_LIST: _KEY}, told=told)
