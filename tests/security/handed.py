"""Change journals and snapshots as somebody else might make them; and who would be dialled."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labtests.__main__ import main
from labtests.core.errors import LabError
from labtests.core.redaction import Redaction
from labtests.inventory import Device, Endpoint, LeasePlace, Management, Port, Testbed
from labtests.journal import Begun, ChangeJournal, Intent, this_runner
from labtests.journal.known import remember, remember_lease

HOST = Device(
    name="h",
    platform="linux",
    management=Management(host="192.0.2.7", user="root"),
    ports=(Port(device="h", interface="eth0"),),
)
TESTBED = """
name: lab
devices:
  h: {platform: linux, management: {host: 192.0.2.66, user: root}, ports: {eth0: {}}}
"""
EVIL = "1500; touch owned"
STRANGER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


class Dialled:
    """Every host that was dialled; none answers."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    def __call__(self, device: Device, *_: object, **__: object) -> None:
        self.hosts.append(device.management.host)
        raise LabError("nobody there")


def journal_of(folder: Path, change: dict[str, Any], begun: dict[str, Any]) -> Path:
    """A run that changed one MTU and died, with these facts put in place of its own."""
    folder.mkdir(exist_ok=True)
    path = folder / "changes.jsonl"
    path.unlink(missing_ok=True)
    first = Begun(
        run="run-1",
        runner=this_runner(),
        testbed="lab",
        file=str(folder / "lab.yaml"),
        backend="hardware",
        dry_run=False,
        devices=(HOST,),
        lease=None,
    )
    ahead = ChangeJournal.begin(path, first, Redaction())
    at = Endpoint(device="h", interface="eth0")
    ahead.ahead(
        [Intent(at=at, setting="mtu", earlier=1500, wanted=9000, commands=("a",), undo=("b",))]
    )
    assert ahead.pages is not None
    ahead.pages.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    text = json.dumps(lines[0] | {"runner": dead(lines[0])} | begun) + "\n"
    path.write_text(text + json.dumps(lines[1] | change) + "\n")
    return path


def dead(first: dict[str, Any]) -> dict[str, Any]:
    """Its runner, which is not there any more."""
    runner: dict[str, Any] = first["runner"]
    runner["fields"]["started_ticks"] = 1
    return runner


def managed(**facts: Any) -> dict[str, Any]:
    """The devices of a journal, with another way to them."""
    ways = {"host": "192.0.2.7", "port": 22, "user": "root"} | facts
    management = {"record": "labtests.inventory.testbed:Management", "fields": ways}
    device = {"name": "h", "platform": "linux", "management": management}
    return {"devices": [{"record": "labtests.inventory.testbed:Device", "fields": device}]}


def restore(*words: str, said: str | None = None) -> Result:
    return CliRunner().invoke(main, ["restore", *words], input=said)


def snapshot_of(folder: Path, settings: dict[str, Any], **more: Any) -> Path:
    (folder / "lab.yaml").write_text(TESTBED)
    ports = {"eth0": {"settings": {name: {"value": v} for name, v in settings.items()}}}
    facts = {
        "format": "labtests-snapshot/1",
        "testbed": "lab",
        "file": str(folder / "lab.yaml"),
        "backend": "hardware",
        "taken": "2026-01-01T00:00:00+00:00",
        "devices": {"h": {"versions": {}, "ports": ports}},
    }
    path = folder / "snapshot.json"
    path.write_text(json.dumps(facts | more))
    path.chmod(0o600)
    return path


def known_under(lease: LeasePlace | None, folder: Path, *more: Device) -> Testbed:
    """This user has changed the lab before, under this lease."""
    testbed = Testbed(name="lab", file=folder / "lab.yaml", devices=(*more, HOST), lease=lease)
    remember(testbed)
    remember_lease(testbed, testbed.devices[0])
    return testbed


def leased(**facts: Any) -> dict[str, Any]:
    """The lease of a journal."""
    return {"lease": {"record": "labtests.inventory.testbed:LeasePlace", "fields": facts}}


def given_to(owner: int, *paths: Path) -> None:
    for path in paths:
        os.chown(path, owner, owner, follow_symlinks=False)
