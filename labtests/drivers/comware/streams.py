"""What Comware streams by gRPC, dial-out or gNMI, and the settings that make it do so.

Commands, views and the proto: H3C, gRPC white paper (4.2); `buffer packet-drop alarm enable` and
its `undo`: H3C, "Data buffer commands" (S6850 and others). Sensor paths: configurations published
for collectors of H3C data-centre switches (`sensor path buffermonitor/...`). Fields of the rows: a
public collector for the S9867. AlarmType 1, 2, 3 (ingress, egress, headroom): the white paper,
5.3.1. From memory: the rows' names of the two events, that BPS are bit/s and *IntervalPeak bytes,
that headroom has one, too, and each `undo`.

By gNMI: that there is Subscribe, of samples and events: H3C, Telemetry white paper (2.1.3); that
paths are module, table and row of NETCONF: a user's subscription (openconfig/gnmic, issue 878);
that these tables and events are among them is inferred from dial-out. The switch's own certificate
(`grpc pki domain`) is its user's business.
"""

from collections.abc import Iterator
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Scope
from labtests.capabilities.records import DialOut, StreamSetting
from labtests.capabilities.settings import STREAM, Commands
from labtests.capabilities.streams import Streaming, StreamLeaf, StreamTable
from labtests.drivers.comware.session import QUIT, ComwareSetting, included, line
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import Section
from labtests.drivers.parsing import refuse
from labtests.drivers.parts import PlatformPart
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

OURS, EVENTS = "labtests", "labtests-events"
_ROOM = "BufferMonitor"
_FIELDS: dict[str, tuple[str, Scope, str]] = {
    "CommBufferUsages/IngressQueLenInBytes": (c.INGRESS_BYTES, "priority", "bytes"),
    "CommBufferUsages/UnicastQueLenInBytes": (c.QUEUE_LENGTH_BYTES, "queue", "bytes"),
    "CommBufferUsages/UnicastBPS": (c.QUEUE_BITS_PER_S, "queue", "bit/s"),
    "CommBufferUsages/InIntervalPeak": (c.INGRESS_PEAK_BYTES, "priority", "bytes"),
    "CommBufferUsages/OutIntervalPeak": (c.QUEUE_PEAK_BYTES, "queue", "bytes"),
    "CommHeadroomUsages/HeadroomQueLenInBytes": (c.HEADROOM_BYTES, "priority", "bytes"),
    "CommHeadroomUsages/HeadroomIntervalPeak": (c.HEADROOM_PEAK_BYTES, "priority", "bytes"),
    "EcnAndWredStatistics/EcnMarked": (c.ECN_MARKED_PACKETS, "port", "packets"),
    "EcnAndWredStatistics/WredDropped": (c.WRED_DROPPED_PACKETS, "port", "packets"),
    "EgressDrops/UnicastDroppedPkts": (c.QUEUE_DROPPED_PACKETS, "queue", "packets"),
    "IngressDrops/NoBufferPkts": (c.BUFFER_DROPPED_IN_PACKETS, "port", "packets"),
    "PFCStatistics/PfcRecv": (c.PFC_RX_FRAMES, "priority", "frames"),
    "PFCStatistics/PfcSend": (c.PFC_TX_FRAMES, "priority", "frames"),
    "PFCSpeeds/PfcInPps": (c.PFC_RX_FRAMES_PER_S, "priority", "frames/s"),
    "PFCSpeeds/PfcOutPps": (c.PFC_TX_FRAMES_PER_S, "priority", "frames/s"),
}
"""By table and field: a row is called as its table, without the plural."""
_ALARMS = {"PortQueDrop": "drops", "PortQueOverrun": "use over its limit"}


LEAVES = (
    *(
        StreamLeaf(
            path=f"{_ROOM}/{table}/{table.removesuffix('s')}/{name}",
            counter=counter,
            scope=scope,
            unit=unit,
        )
        for path, (counter, scope, unit) in _FIELDS.items()
        for table, name in (path.split("/"),)
    ),
    *(
        StreamLeaf(path=f"{_ROOM}/{row}Event/{row}", counter="", scope="port", unit="", alarm=alarm)
        for row, alarm in _ALARMS.items()
    ),
)
TABLES, EVENTFUL = (
    tuple(
        dict.fromkeys(
            "/".join(leaf.path.split("/")[:2]) for leaf in LEAVES if bool(leaf.alarm) == alarms
        )
    )
    for alarms in (False, True)
)
"""Room and table; a sensor path is the same in small letters."""


class ComwareStreams(PlatformPart, Streaming):
    """What a switch streams of its ports: one table, two ways."""

    def stream_table(self) -> StreamTable:
        """See Streaming."""
        return StreamTable(
            sampled=tuple(f"/{table}" for table in TABLES),
            changes=tuple(f"/{table}" for table in EVENTFUL),
            sensors=tuple(table.lower() for table in TABLES),
            events=tuple(table.lower() for table in EVENTFUL),
            leaves=LEAVES,
            row="IfName",
            token=True,
            told={port: port for port in self.ports},
        )


# -- the subscription ------------------------------------------------------------------------------

_ABOUT = "grpc|packet-drop|telemetry|sensor|destination-group|ipv4-address|subscription"
_GRPC = "grpc enable"
_DROPS = "buffer packet-drop alarm enable"
_PATH = COMWARE.shape("sensor path <path>")
_PLACE = COMWARE.shape("ipv4-address <address> port <port:number>")
_SAMPLES = COMWARE.shape(f"sensor-group {OURS} sample-interval <every_s:number>")
_TELLS = COMWARE.shape(f"sensor-group {EVENTS}")
_GOES = COMWARE.shape(f"destination-group {OURS}")
_SENSORS, _EVENTS, _DESTINATION, _SUBSCRIPTION = _KNOWN = {
    f"sensor-group {OURS}": (_PATH,),
    f"sensor-group {EVENTS}": (_PATH,),
    f"destination-group {OURS}": (_PLACE,),
    f"subscription {OURS}": (_SAMPLES, _TELLS, _GOES),
}
"""The groups of ours in the order in which they are made, and the lines that they have."""


class ComwareStream(ComwareSetting[StreamSetting]):
    """gRPC, the groups and the subscription called `labtests` (all others are left alone), and
    alarms of drops, which are off unless somebody has asked for them."""

    kind = STREAM
    wide = True

    def read(self, port: str) -> Asking[StreamSetting]:
        """As configured."""
        reply, texts = yield from included(_ABOUT)
        lines = {text.strip() for text in texts}
        ours = _ours(reply, _groups(texts))
        return StreamSetting(on=_GRPC in lines, ours=ours, drop_alarms=_DROPS in lines)

    def commands(
        self, port: str, earlier: StreamSetting, wanted: StreamSetting, around: Any = None
    ) -> Commands:
        """What there is of ours is taken away before another one is made."""
        switched = (
            (_DROPS, earlier.drop_alarms, wanted.drop_alarms),
            (_GRPC, earlier.on, wanted.on),
        )
        lines = [line(*text.split()) for text, before, after in switched if after and not before]
        if earlier.ours != wanted.ours:
            lines += [line("telemetry"), *_lines(earlier.ours, wanted.ours), QUIT]
        lines += [line("undo", *t.split()) for t, before, after in switched if before and not after]
        return tuple(lines)


def _groups(texts: tuple[str, ...]) -> dict[str, Section]:
    """The groups under `telemetry`, each with its lines. One blank is one view deeper."""
    found: dict[str, list[str]] = {}
    inside, lines = False, list[str]()
    for text in texts:
        if not text.startswith(" "):
            inside = text == "telemetry"
        elif inside and text.startswith("  "):
            lines.append(text.strip())
        elif inside:
            lines = found[text.strip()] = []
    return {head: Section(head=head, lines=tuple(each)) for head, each in found.items()}


def _ours(reply: Reply, groups: dict[str, Section]) -> DialOut | None:
    """None where there is nothing of ours; a part of it is refused: it could not be put back."""
    ours = {head: section for head, section in groups.items() if head in _KNOWN}
    if not ours:
        return None
    for head, section in ours.items():
        section.expect_known(reply, ".*", *_KNOWN[head])
    if len(ours) != len(_KNOWN):
        refuse(reply, f"it has a part of the telemetry {OURS} only", "take away what is left of it")
    place = ours[_DESTINATION].said(reply, _PLACE)
    samples, tells = (ours[_SUBSCRIPTION].said(reply, each) for each in (_SAMPLES, _TELLS))
    if not (place and samples and tells is not None):
        refuse(reply, f"the subscription {OURS} is not whole", "take away what is left of it")
    sampled, changes = (
        tuple(sorted(each["path"] for each in ours[head].each(reply, _PATH)))
        for head in (_SENSORS, _EVENTS)
    )
    return DialOut(**place, **samples, sampled=sampled, changes=changes)


def _lines(earlier: DialOut | None, wanted: DialOut | None) -> Iterator[CliLine]:
    if earlier is not None:
        yield from (line("undo", *head.split()) for head in reversed(_KNOWN))
    if wanted is not None:
        place = f"ipv4-address {wanted.address} port {wanted.port}"
        samples = f"{_SENSORS} sample-interval {wanted.every_s}"
        paths = ([f"sensor path {each}" for each in p] for p in (wanted.sampled, wanted.changes))
        texts = (*paths, [place], [samples, _EVENTS, _DESTINATION])
        for head, inside in zip(_KNOWN, texts, strict=True):
            yield from (line(*text.split()) for text in (head, *inside))
            yield QUIT
