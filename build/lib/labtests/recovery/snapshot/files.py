"""A snapshot as a value and as a file (`labtests-snapshot/1`).

    format    labtests-snapshot/1
    testbed   name of the lab; `file` is the testbed file it was read with
    backend   "hardware", "namespaces" (of one machine) or "simulated"
    taken     when, ISO 8601
    devices   name -> versions, and ports: interface -> settings, link, roce

Each fact is {"value": ...} or {"unreadable": why}; settings in the form of journal/values.py. The
same state gives the same bytes but for `taken`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import write_private
from labtests.core.trusted_files import believed, handed, json_of

FORMAT = "labtests-snapshot/1"
BEFORE, AFTER = "state-before.json", "state-after.json"
"""In a run folder."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a lab was like at one moment."""

    testbed: str
    file: str
    backend: str
    taken: str
    devices: Mapping[str, Json]

    def plain(self) -> Json:
        """As its file has it."""
        return {"format": FORMAT, **asdict(self)}


def write(snapshot: Snapshot, path: Path) -> None:
    """For its owner's eyes. Raises LabError."""
    try:
        write_private(path, text(snapshot))
    except OSError as error:
        raise LabError(f"{path}: the snapshot cannot be written: {error.strerror}") from error


def text(snapshot: Snapshot) -> str:
    """The file's text."""
    return json.dumps(snapshot.plain(), indent=1, sort_keys=True) + "\n"


def is_snapshot(path: Path) -> bool:
    """Whether a file says that it is one."""
    try:
        return path.is_file() and _json(path, handed).get("format") == FORMAT
    except LabError:
        return False


def read(path: Path, *, to_be_done: bool = False) -> Snapshot:
    """A file's snapshot; of a run folder what the run found. Raises LabError, and where it is to be
    done what it says, NotPrivate for a file that somebody else could have written."""
    found = _json(path / BEFORE if path.is_dir() else path, believed if to_be_done else handed)
    if found.pop("format", None) != FORMAT:
        raise LabError(f"{path} is not a snapshot ({FORMAT})")
    try:
        return _formed(Snapshot(**found))
    except (TypeError, ValueError) as error:
        raise LabError(f"{path} is not a whole snapshot: {error}") from error


def _formed(snapshot: Snapshot) -> Snapshot:
    """Every part is of its kind. Raises ValueError."""
    facts = [snapshot.testbed, snapshot.file, snapshot.backend, snapshot.taken]
    kinds = {True} | {isinstance(fact, str) for fact in facts}
    states = list(_mapping(snapshot.devices).values())
    for state in map(_mapping, states):
        spread = [_mapping(state.get("versions", {}))]
        for port in map(_mapping, _mapping(state.get("ports", {})).values()):
            kinds |= {
                isinstance(part, dict) for part in _mapping(port.get("settings", {})).values()
            }
            spread += [_mapping(port.get(name, {})) for name in ("link", "roce")]
        for part in spread:
            _mapping(part.get("value", {}))
    if False in kinds:
        raise ValueError("a part of it is of another kind")
    return snapshot


def _mapping(value: Any) -> Json:
    if not isinstance(value, dict):
        raise ValueError("a part of it is not an object")
    return value


def _json(path: Path, read_file: Callable[[Path], bytes]) -> Json:
    try:
        found = json_of(read_file(path), most_parts=None)
    except OSError as error:
        raise LabError(
            f"{path}: {error.strerror}\n  remedy: name a file of `labtests snapshot`, or the "
            "folder of a run that changed a lab, such as reports/latest"
        ) from error
    except ValueError as error:
        raise LabError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise LabError(f"{path} is not a snapshot ({FORMAT})")
    return found
