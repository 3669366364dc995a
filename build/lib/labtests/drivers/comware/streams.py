"""What Comware streams by gRPC dial-out, and the subscription that makes it do so.

Commands, views and the proto: H3C, gRPC white paper (4.2). Sensor paths: configurations published
for collectors of H3C data-centre switches (`sensor path buffermonitor/...`). Fields of the rows: a
public collector for the S9867. AlarmType 1, 2, 3 (ingress, egress, headroom): the white paper,
5.3.1. From memory: the rows' names of the two events, that *IntervalPeak is in bytes, that
headroom has one, too, and each `undo`. The switch's own certificate (`grpc pki domain`) is its
user's business.
"""

import re
from collections.abc import Iterator
from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.records import DialOut, StreamSetting
from labtests.capabilities.settings import STREAM, Commands
from labtests.capabilities.streams import Streaming, StreamLeaf, StreamTable
from labtests.drivers.comware.session import CLI, QUIT, ComwareSetting, line
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import Section
from labtests.drivers.parsing import refuse, whole_lines
from labtests.drivers.parts import PlatformPart
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine, cli
from labtests.transport.protocol import Reply

OURS, EVENTS = "labtests", "labtests-events"
_ROOM = "BufferMonitor"


def _of(table: str, row: str, **fields: tuple[str, Any, str]) -> tuple[StreamLeaf, ...]:
    where = f"{_ROOM}/{table}/{row}/"
    return tuple(
        StreamLeaf(path=where + name, counter=counter, scope=scope, unit=unit)
        for name, (counter, scope, unit) in fields.items()
    )


LEAVES = (
    *_of(
        "CommBufferUsages",
        "CommBufferUsage",
        IngressQueLenInBytes=(c.INGRESS_BYTES, "priority", "bytes"),
        UnicastQueLenInBytes=(c.QUEUE_LENGTH_BYTES, "queue", "bytes"),
        InIntervalPeak=(c.INGRESS_PEAK_BYTES, "priority", "bytes"),
        OutIntervalPeak=(c.QUEUE_PEAK_BYTES, "queue", "bytes"),
    ),
    *_of(
        "CommHeadroomUsages",
        "CommHeadroomUsage",
        HeadroomQueLenInBytes=(c.HEADROOM_BYTES, "priority", "bytes"),
        HeadroomIntervalPeak=(c.HEADROOM_PEAK_BYTES, "priority", "bytes"),
    ),
    *_of(
        "EcnAndWredStatistics",
        "EcnAndWredStatistic",
        EcnMarked=(c.ECN_MARKED_PACKETS, "port", "packets"),
        WredDropped=(c.WRED_DROPPED_PACKETS, "port", "packets"),
    ),
    *_of(
        "EgressDrops",
        "EgressDrop",
        UnicastDroppedPkts=(c.QUEUE_DROPPED_PACKETS, "queue", "packets"),
    ),
    *_of(
        "IngressDrops",
        "IngressDrop",
        NoBufferPkts=(c.BUFFER_DROPPED_IN_PACKETS, "port", "packets"),
    ),
    *_of(
        "PFCStatistics",
        "PFCStatistic",
        PfcRecv=(c.PFC_RX_FRAMES, "priority", "frames"),
        PfcSend=(c.PFC_TX_FRAMES, "priority", "frames"),
    ),
    *_of(
        "PFCSpeeds",
        "PFCSpeed",
        PfcInPps=(c.PFC_RX_FRAMES_PER_S, "priority", "frames/s"),
        PfcOutPps=(c.PFC_TX_FRAMES_PER_S, "priority", "frames/s"),
    ),
    *(
        StreamLeaf(
            path=f"{_ROOM}/{event}Event/{event}", counter="", scope="port", unit="", alarm=alarm
        )
        for event, alarm in (("PortQueDrop", "drops"), ("PortQueOverrun", "use over its limit"))
    ),
)
SAMPLED = tuple(
    dict.fromkeys("/".join(leaf.path.split("/")[:2]).lower() for leaf in LEAVES if not leaf.alarm)
)
CHANGES = tuple(leaf.path.rpartition("/")[0].lower() for leaf in LEAVES if leaf.alarm)


class ComwareStreams(PlatformPart, Streaming):
    """What a switch streams of its ports."""

    def stream_table(self) -> StreamTable:
        """See Streaming."""
        told = {port: port for port in self.ports}
        return StreamTable(sampled=SAMPLED, changes=CHANGES, leaves=LEAVES, told=told)


# -- the subscription ------------------------------------------------------------------------------

_CONFIGURATION = cli(
    re.compile(r"[a-z0-9|-]+"),
    *("display", "current-configuration", "|", "include"),
    "grpc|telemetry|sensor|destination-group|ipv4-address|subscription|return",
)
"""The last line of a configuration is `return`: without it, the answer was cut."""
_GRPC = "grpc enable"
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
    """gRPC, and the groups and the subscription called `labtests`; all others are left alone."""

    kind = STREAM
    wide = True

    def read(self, port: str) -> Asking[StreamSetting]:
        """As configured."""
        reply = yield from CLI.answer(_CONFIGURATION)
        texts = tuple(text.rstrip() for text in whole_lines(reply))
        if "return" not in texts[-1:]:
            refuse(reply, "the configuration does not end with `return`: it seems cut off")
        on = any(text.strip() == _GRPC for text in texts)
        return StreamSetting(on=on, ours=_ours(reply, _groups(texts)))

    def commands(
        self, port: str, earlier: StreamSetting, wanted: StreamSetting, around: Any = None
    ) -> Commands:
        """What there is of ours is taken away before another one is made."""
        lines = []
        if wanted.on and not earlier.on:
            lines.append(line("grpc", "enable"))
        if earlier.ours != wanted.ours:
            lines += [line("telemetry"), *_lines(earlier.ours, wanted.ours), QUIT]
        if earlier.on and not wanted.on:
            lines.append(line("undo", "grpc", "enable"))
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
