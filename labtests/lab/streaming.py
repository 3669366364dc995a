"""Streams of an open lab: who streams, what opens it, and the subscription of those that dial."""

from collections.abc import Callable

from labtests.capabilities.records import DialOut, StreamSetting
from labtests.capabilities.settings import STREAM, WATERMARK_POLLS
from labtests.capabilities.streams import Streaming
from labtests.core.errors import DeviceError
from labtests.drivers import driver_module
from labtests.inventory import Device, Endpoint, Testbed
from labtests.lab.lab import Lab
from labtests.protocols.needed import needed
from labtests.streams import Collectors, StreamSource
from labtests.transport.ssh.passwords import password_named

MS_PER_S = 1000


def expect_packages(testbed: Testbed) -> None:
    """Raises WrongOption where a testbed names a stream and what reads it is not installed: before
    a lab is dialled, or a simulated one is made."""
    if any(device.telemetry for device in testbed.devices):
        needed("grpc")


def is_told(device: Device) -> bool:
    """Whether it has to be told something before it streams as the testbed says."""
    place = device.telemetry
    if place is None:
        return False
    driver = driver_module(device.platform).driver_of(device.name)
    return place.watermarks_every_s is not None or driver.setting(STREAM) is not None


def open_streams(lab: Lab, say: Callable[[str], None], *, epoch_s: float = 0.0) -> None:
    """`lab.streams` are those that the testbed names, None where it names none. What a switch has
    to be told first is undone with all other changes. `epoch_s` is what devices' clocks show,
    since 1970, when the lab's clock shows 0. A switch polls its watermarks as often as the testbed
    says.

    Raises DeviceError for a device that does not stream so, WrongOption where the packages for it
    are not installed.
    """
    sources = [_source(lab, device) for device in lab.testbed.devices if device.telemetry]
    if not sources:
        return
    say(f"opening the streams of {', '.join(source.device for source in sources)}")
    for source in sources:
        if source.place.kind == "gnmi":
            _tell(lab, source)
    if lab.planned is None:
        lab.streams = Collectors(sources, epoch_s=epoch_s)
        sources = list(lab.streams.sources.values())
    for source in sources:
        if source.place.kind == "dial-out":
            _tell(lab, source, _dialled(source))
        _poll(lab, source)
    if lab.streams is not None:
        lab.streams.settle()


def _source(lab: Lab, device: Device) -> StreamSource:
    place = device.telemetry
    assert place is not None
    streaming = lab.drivers[device.name].able(Streaming)
    table = None if streaming is None else streaming.stream_table()
    if table is None or place.kind not in table.ways:
        way = "nothing" if table is None else f"by {' or '.join(table.ways)} only"
        raise _wrong(device, f"{device.platform} streams {way}, as far as labtests knows")
    if place.kind == "gnmi" and table.row and place.encoding != "json_ietf":
        why = f"{device.platform} tells tables, as JSON: there is no {place.encoding} of them"
        raise _wrong(device, why)
    polls = lab.drivers[device.name].setting(WATERMARK_POLLS)
    if place.watermarks_every_s is not None and polls is None:
        raise _wrong(device, f"{device.platform} polls no watermarks: no `watermarks_every_s`")
    user = place.user or device.management.user
    name = place.password_env or device.management.password_env
    password = None if name is None or place.kind == "dial-out" else password_named(name)
    return StreamSource(
        device=device.name,
        host=device.management.host,
        place=place,
        table=table,
        login=(user, password) if user and password else None,
    )


def _wrong(device: Device, why: str) -> DeviceError:
    assert device.telemetry is not None
    asked = f"telemetry: {device.telemetry.kind}"
    return DeviceError(
        device.name, asked, why, "correct `telemetry:` of this device in the testbed file"
    )


def _poll(lab: Lab, source: StreamSource) -> None:
    every_s = source.place.watermarks_every_s
    if every_s is None:
        return
    at = Endpoint(device=source.device, interface="")
    polls = lab.ask(at.device, lab.setting(at, WATERMARK_POLLS).read(""))
    lab.change(at, WATERMARK_POLLS, tuple((name, MS_PER_S * every_s) for name, _ in polls))


def _dialled(source: StreamSource) -> DialOut:
    """A port of 0 is one that is found when a run begins: in a plan any may stand for it."""
    place, table = source.place, source.table
    return DialOut(
        address=place.address or "",
        port=place.port or 65535,
        every_s=place.sample_every_s,
        sampled=tuple(sorted(table.sensors)),
        changes=tuple(sorted(table.events)),
    )


def _tell(lab: Lab, source: StreamSource, dials: DialOut | None = None) -> None:
    """To stream, if that is a setting of it, and to whom, if it `dials`."""
    if not lab.has(source.device, STREAM):
        return
    at = Endpoint(device=source.device, interface="")
    now = lab.ask(at.device, lab.setting(at, STREAM).read(""))
    drop_alarms = source.place.drop_alarms or now.drop_alarms
    wanted = StreamSetting(on=True, ours=dials or now.ours, drop_alarms=drop_alarms)
    lab.change(at, STREAM, wanted)
