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

import re
from collections.abc import Iterable, Iterator
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


def _leaves() -> Iterator[StreamLeaf]:
    for path, (counter, scope, unit) in _FIELDS.items():
        table, name = path.split("/")
        where = f"{_ROOM}/{table}/{table.removesuffix('s')}/{name}"
        yield StreamLeaf(path=where, counter=counter, scope=scope, unit=unit)
    for row, alarm in _ALARMS.items():
        where = f"{_ROOM}/{row}Event/{row}"
        yield StreamLeaf(path=where, counter="", scope="port", unit="", alarm=alarm)


LEAVES = tuple(_leaves())


def _tables(leaves: Iterable[StreamLeaf]) -> tuple[str, ...]:
    return tuple(dict.fromkeys("/".join(leaf.path.split("/")[:2]) for leaf in leaves))


TABLES = _tables(leaf for leaf in LEAVES if not leaf.alarm)
EVENTFUL = _tables(leaf for leaf in LEAVES if leaf.alarm)
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
_GROUP = re.compile(r" (sensor-group|destination-group|subscription) (\S+)")
_PATH = COMWARE.shape("sensor path <path>")
_PLACE = COMWARE.shape("ipv4-address <address> port <port:number>")
_SAMPLES = COMWARE.shape(f"sensor-group {OURS} sample-interval <every_s:number>")
_TELLS = COMWARE.shape(f"sensor-group {EVENTS}")
_GOES = COMWARE.shape(f"destination-group {OURS}")
_KNOWN = {
    ("sensor-group", OURS): (_PATH,),
    ("sensor-group", EVENTS): (_PATH,),
    ("destination-group", OURS): (_PLACE,),
    ("subscription", OURS): (_SAMPLES, _TELLS, _GOES),
}
"""The groups of ours, and the lines that they have."""


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
        lines = []
        switched = (
            (_DROPS, earlier.drop_alarms, wanted.drop_alarms),
            (_GRPC, earlier.on, wanted.on),
        )
        for text, before, after in switched:
            lines += [line(*text.split())] if after and not before else []
        if earlier.ours != wanted.ours:
            lines += [line("telemetry"), *_lines(earlier.ours, wanted.ours), QUIT]
        for text, before, after in switched:
            lines += [line("undo", *text.split())] if before and not after else []
        return tuple(lines)


def _groups(texts: tuple[str, ...]) -> dict[tuple[str, str], Section]:
    """The groups under `telemetry`, each with its lines. One blank is one view deeper."""
    found: dict[tuple[str, str], list[str]] = {}
    inside, key = False, None
    for text in texts:
        if not text.startswith(" "):
            inside, key = text == "telemetry", None
        elif inside and (head := _GROUP.fullmatch(text)):
            key = (head[1], head[2])
            found[key] = []
        elif inside and key is not None and text.startswith("  "):
            found[key].append(text.strip())
    return {key: Section(head=" ".join(key), lines=tuple(each)) for key, each in found.items()}


def _ours(reply: Reply, groups: dict[tuple[str, str], Section]) -> DialOut | None:
    """None where there is nothing of ours; a part of it is refused: it could not be put back."""
    ours = {key: section for key, section in groups.items() if key in _KNOWN}
    if not ours:
        return None
    for key, section in ours.items():
        section.expect_known(reply, ".*", *_KNOWN[key])
    if len(ours) != len(_KNOWN):
        refuse(reply, f"it has a part of the telemetry {OURS} only", "take away what is left of it")
    place = ours["destination-group", OURS].said(reply, _PLACE)
    subscribed = ours["subscription", OURS]
    samples = subscribed.said(reply, _SAMPLES)
    if not (place and samples and subscribed.said(reply, _TELLS) is not None):
        refuse(reply, f"the subscription {OURS} is not whole", "take away what is left of it")
    paths = {
        name: tuple(sorted(each["path"] for each in ours["sensor-group", name].each(reply, _PATH)))
        for name in (OURS, EVENTS)
    }
    return DialOut(**place, **samples, sampled=paths[OURS], changes=paths[EVENTS])


def _lines(earlier: DialOut | None, wanted: DialOut | None) -> Iterator[CliLine]:
    if earlier is not None:
        yield line("undo", "subscription", OURS)
        yield line("undo", "destination-group", OURS)
        yield from (line("undo", "sensor-group", name) for name in (EVENTS, OURS))
    if wanted is None:
        return
    for name, paths in ((OURS, wanted.sampled), (EVENTS, wanted.changes)):
        yield line("sensor-group", name)
        yield from (line("sensor", "path", path) for path in paths)
        yield QUIT
    yield from (line("destination-group", OURS), _place(wanted), QUIT)
    yield line("subscription", OURS)
    yield line("sensor-group", OURS, "sample-interval", wanted.every_s)
    yield from (line("sensor-group", EVENTS), line("destination-group", OURS), QUIT)


def _place(wanted: DialOut) -> CliLine:
    return line("ipv4-address", wanted.address, "port", wanted.port)
