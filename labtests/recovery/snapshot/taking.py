"""Reading the state of every device."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from labtests.capabilities.device import Versions
from labtests.capabilities.facts import LinkState, RoceFacts, RocePorts
from labtests.core.errors import DeviceError, LabError, Unreachable
from labtests.inventory import Testbed
from labtests.journal.values import pack
from labtests.recovery.snapshot.files import Snapshot
from labtests.recovery.snapshot.reader import Reader, in_parallel

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
        return _read(reader)
    except Unreachable as error:
        return {"unreadable": error.problem}


def _read(reader: Reader) -> Json:
    with reader.asked_at_once(lambda ahead: ahead.state_commands(reader.ports)):
        versions = reader.able(Versions)
        return {
            "versions": {} if versions is None else _told(versions.versions, _plain),
            "ports": {port: _port(reader, port) for port in reader.ports},
        }


def _port(reader: Reader, port: str) -> Json:
    found: Json = {
        "settings": {
            name: _told(lambda name=name: reader.setting(port, name), pack)  # type: ignore[misc]
            for name in reader.settings
        }
    }
    if (links := reader.able(LinkState)) is not None:
        found["link"] = _told(lambda: asdict(links.link(port)), _plain)
    if (roce := reader.able(RocePorts)) is not None:
        facts = _told(lambda: roce.roce(port), _facts)
        if facts != {"value": None}:  # no RDMA device, and none is needed
            found["roce"] = facts
    return found


def _told(ask: Callable[[], object], form: Callable[[Any], Any]) -> Json:
    """{"value": ...}, or {"unreadable": why}. The why is a sentence that stays the same as long as
    the reason does."""
    try:
        return {"value": form(ask())}
    except Unreachable:
        raise
    except DeviceError as error:
        return {"unreadable": error.problem}
    except LabError as error:
        return {"unreadable": str(error)}


def _facts(facts: RoceFacts | None) -> Json | None:
    return None if facts is None else _plain(asdict(facts))


def _plain(facts: dict[str, object]) -> Json:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in facts.items()
    }
