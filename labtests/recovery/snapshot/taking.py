"""Reading the state of every device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from labtests.capabilities.device import Versions
from labtests.capabilities.facts import LinkFacts, LinkState, RoceFacts, RocePorts
from labtests.core.errors import DeviceError, LabError, Unreachable
from labtests.inventory import Testbed
from labtests.journal.values import pack
from labtests.recovery.snapshot.files import Snapshot
from labtests.recovery.snapshot.reader import Reader, in_parallel
from labtests.transport.asking import Asking, T, both, by_name, known

Json = dict[str, Any]


def take(testbed: Testbed, readers: Sequence[Reader], *, backend: str) -> Snapshot:
    """Every setting, link fact and version of every port of the testbed, all devices side by side.

    What a device does not tell is there as `unreadable`, with the reason."""
    return Snapshot(
        testbed=testbed.name,
        file=str(testbed.file.absolute()),
        backend=backend,
        taken=datetime.now(UTC).isoformat(timespec="seconds"),
        devices=in_parallel(readers, _state),
    )


def _state(reader: Reader) -> Json:
    """{"versions": ..., "ports": ...}, or {"unreadable": why} of a device that is gone."""
    try:
        return reader.ask(_read(reader))
    except Unreachable as error:
        return {"unreadable": error.problem}


def _read(reader: Reader) -> Asking[Json]:
    versions = reader.able(Versions)
    told = known({}) if versions is None else _told(versions.versions(), _plain)
    ports = by_name({port: _port(reader, port) for port in reader.ports})
    said, found = yield from both(told, ports)
    return {"versions": said, "ports": found}


def _port(reader: Reader, port: str) -> Asking[Json]:
    settings = {kind.name: _told(reader.setting(port, kind), pack) for kind in reader.settings}
    facts: dict[str, Asking[Json]] = {}
    if (links := reader.able(LinkState)) is not None:
        facts["link"] = _told(_as_dict(links.link(port)), _plain)
    if (roce := reader.able(RocePorts)) is not None:
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
