"""Reading the state of every device."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from labtests.capabilities.device import Versions
from labtests.capabilities.facts import LinkFacts, LinkState, RoceFacts, RocePorts
from labtests.capabilities.settings import KINDS
from labtests.core.errors import DeviceError, LabError, Unreachable
from labtests.inventory import Device, Endpoint
from labtests.journal.values import pack_setting
from labtests.lab.lab import Lab
from labtests.recovery.snapshot.files import Snapshot
from labtests.transport.asking import Asking, T, both, by_name, known

Json = dict[str, Any]


def take(lab: Lab) -> Snapshot:
    """Every setting, link fact and version of every port of the testbed, all devices side by side.

    What a device does not tell is there as `unreadable`, with the reason."""
    return Snapshot(
        testbed=lab.testbed.name,
        file=str(lab.testbed.file.absolute()),
        backend=lab.backend,
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        devices=lab.of_each(lambda device: _state(lab, device)),
    )


def _state(lab: Lab, device: Device) -> Json:
    """{"versions": ..., "ports": ...}, or {"unreadable": why} of a device that is gone."""
    try:
        return lab.ask(device.name, _read(lab, device))
    except Unreachable as error:
        return {"unreadable": error.problem}


def _read(lab: Lab, device: Device) -> Asking[Json]:
    versions = lab.drivers[device.name].able(Versions)
    told = known({}) if versions is None else _told(versions.versions(), _plain)
    ports = by_name({port.interface: _port(lab, port.endpoint) for port in device.ports})
    said, found = yield from both(told, ports)
    return {"versions": said, "ports": found}


def _port(lab: Lab, at: Endpoint) -> Asking[Json]:
    able, port = lab.drivers[at.device].able, at.interface
    kinds = [kind for kind in KINDS if lab.has(at.device, kind)]
    settings = {kind.name: _told(lab.setting(at, kind).read(port), pack_setting) for kind in kinds}
    facts: dict[str, Asking[Json]] = {}
    if (links := able(LinkState)) is not None:
        facts["link"] = _told(_as_dict(links.link(port)), _plain)
    if (roce := able(RocePorts)) is not None:
        facts["roce"] = _told(roce.roce(port), _facts)
    read, told = yield from both(by_name(settings), by_name(facts))
    if told.get("roce") == {"value": None}:  # no RDMA device, and none is needed
        del told["roce"]
    return {"settings": read, **told}


def _as_dict(asking: Asking[LinkFacts]) -> Asking[dict[str, Any]]:
    return asdict((yield from asking))


def _told(asking: Asking[T], form: Callable[[T], Any]) -> Asking[Json]:
    """{"value": ...}, or {"unreadable": why}. The why is a sentence that stays the same as long as
    the reason does."""
    try:
        return {"value": form((yield from asking))}
    except Unreachable:
        raise
    except DeviceError as error:
        return {"unreadable": error.problem}
    except LabError as error:
        return {"unreadable": str(error)}


def _facts(facts: RoceFacts | None) -> Json | None:
    return None if facts is None else _plain(asdict(facts))


def _plain(facts: Mapping[str, object]) -> Json:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in facts.items()
    }
