"""Streams of an open lab: who streams, what opens it, and the subscription of those that dial."""

from collections.abc import Callable

from labtests.capabilities.records import DialOut, StreamSetting
from labtests.capabilities.settings import STREAM, WATERMARK_POLLS
from labtests.capabilities.streams import Streaming
from labtests.core.errors import DeviceError
from labtests.inventory import Device, Endpoint
from labtests.lab.lab import Lab
from labtests.streams import Collectors, StreamSource
from labtests.transport.ssh.passwords import password_named

MS_PER_S = 1000


def open_streams(lab: Lab, say: Callable[[str], None], *, epoch_s: float = 0.0) -> None:
    """`lab.streams` are those that the testbed names, None where it names none. Switches that dial
    are told to; that is undone with all other changes. `epoch_s` is what devices' clocks show,
    since 1970, when the lab's clock shows 0. A switch polls its watermarks as often as the testbed
    says.

    Raises DeviceError for a device that does not stream so, WrongOption where the packages for it
    are not installed.
    """
    sources = [_source(lab, device) for device in lab.testbed.devices if device.telemetry]
    if not sources:
        return
    say(f"opening the streams of {', '.join(source.device for source in sources)}")
    if lab.planned is None:
        lab.streams = Collectors(sources, epoch_s=epoch_s)
        sources = list(lab.streams.sources.values())
    for source in sources:
        if source.place.kind == "dial-out":
            _subscribe(lab, source)
        if source.place.watermarks_every_s is not None:
            _poll(lab, source.device, source.place.watermarks_every_s)
    if lab.streams is not None:
        lab.streams.settle()


def _source(lab: Lab, device: Device) -> StreamSource:
    place = device.telemetry
    assert place is not None
    streaming = lab.drivers[device.name].able(Streaming)
    dials = lab.has(device.name, STREAM)
    if streaming is None or dials != (place.kind == "dial-out"):
        way = "by dial-out only" if dials else "by gNMI only" if streaming else "nothing"
        raise DeviceError(
            device.name,
            f"telemetry: {place.kind}",
            f"{device.platform} streams {way}, as far as labtests knows",
            "correct `telemetry:` of this device in the testbed file",
        )
    user = place.user or device.management.user
    name = place.password_env or device.management.password_env
    password = None if name is None or place.kind == "dial-out" else password_named(name)
    return StreamSource(
        device=device.name,
        host=device.management.host,
        place=place,
        table=streaming.stream_table(),
        login=(user, password) if user and password else None,
    )


def _poll(lab: Lab, device: str, every_s: int) -> None:
    at = Endpoint(device=device, interface="")
    polls = lab.ask(device, lab.setting(at, WATERMARK_POLLS).read(""))
    lab.change(at, WATERMARK_POLLS, tuple((name, MS_PER_S * every_s) for name, _ in polls))


def _subscribe(lab: Lab, source: StreamSource) -> None:
    """A port of 0 is one that is found when a run begins: in a plan any may stand for it."""
    place, table = source.place, source.table
    ours = DialOut(
        address=place.address or "",
        port=place.port or 65535,
        every_s=place.sample_every_s,
        sampled=tuple(sorted(table.sampled)),
        changes=tuple(sorted(table.changes)),
    )
    at = Endpoint(device=source.device, interface="")
    now = lab.ask(at.device, lab.setting(at, STREAM).read(""))
    drop_alarms = place.drop_alarms or now.drop_alarms
    lab.change(at, STREAM, StreamSetting(on=True, ours=ours, drop_alarms=drop_alarms))
