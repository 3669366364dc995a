"""The lab that is broken: as it was found, and how runs are started on it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import fast_starts
import sabotage
from recovery_lab import QUICK_START, Project, ServedLab, everything, opened
from tripped import Evidence, sufferings
from ways import Point

from labtests.core.errors import LabErrors
from labtests.journal import FILE_NAME, unfinished_runs
from labtests.lab.lab import Lab
from labtests.recovery import forget
from labtests.simlab.injection import inject

BOOTS_WITHIN_S = 20
OTHER_ENDS_WITHIN_S = 60
SMALL_DISK = "size=8m"
LOOK = "def test_look(lab):\n    pass\n"
SUITE = '''
from dataclasses import replace

from labtests.capabilities.device import EcnMarking
from labtests.capabilities.settings import (
    BUFFER_THRESHOLDS, DEADLOCK_TIMES, ECN, NOTIFICATION_POINT, PFC, PFC_ALARM, REACTION_POINT,
    TRUST,
)
from labtests.lab.changes import Wanted
from labtests.capabilities.records import (
    BufferThresholds, DeadlockTimes, PfcAlarm, PfcSetting, TrustSetting
)
from labtests.transport.commands import program

GUARDS = {
    DEADLOCK_TIMES: DeadlockTimes(precision="low", detect=((3, 10),), release=((3, 10),)),
    PFC_ALARM: PfcAlarm(sent=((3, 100), (4, 100))),
}
SONIC = BufferThresholds(
    priority=3, unit="bytes", dynamic_exponent=-2, xon=19_456, xon_offset=2_496, reserved=0,
    headroom=40_000,
)
THRESHOLDS = {
    "comware": (BufferThresholds(priority=3, static=3000, xon_offset=100),),
    "nxos": (BufferThresholds(priority=3, unit="bytes", static=83_200, xon=62_400),),
    "sonic": (SONIC, replace(SONIC, priority=4)),
}
"""Where the switch has them. (That it looks for deadlocks would stop another run: an obstacle.)"""
SERVER = program("iperf3", "-s", "-p", 5333)
POINTS = (REACTION_POINT, NOTIFICATION_POINT)


def test_broken(incast):
    """Something on every kind of device, one setting twice, and traffic tools that run."""
    lab, sender, receiver = incast.lab, incast.senders[0].nic, incast.senders[1].nic
    (out,) = lab.testbed.roles["receiver"]
    port = lab.testbed.peer(out)
    ecn = lab.part(port.device, EcnMarking).ecn_on({2, 3})
    other_mode = "auto" if lab.testbed.device(port.device).platform == "comware" else "on"
    server = lab.transports[out.device].start(SERVER, limit_s=600)
    lab.change(sender, TRUST, TrustSetting(source="dscp"))
    lab.change(port, PFC, PfcSetting(mode="on", priorities=frozenset({3})))
    lab.change(port, ECN, ecn)
    lab.change(port, PFC, PfcSetting(mode=other_mode, priorities=frozenset({3, 4})))
    platform = lab.testbed.device(port.device).platform
    if platform in THRESHOLDS:
        lab.change(lab.place(port, BUFFER_THRESHOLDS), BUFFER_THRESHOLDS, THRESHOLDS[platform])
    for kind, value in GUARDS.items():
        if lab.has(port.device, kind):
            lab.change(lab.place(port, kind), kind, value)
    points = [Wanted(receiver, kind, frozenset({1, 2})) for kind in POINTS]
    lab.change_all(receiver.device, points)
    lab.change(sender, PFC, PfcSetting(mode="on", priorities=frozenset({5})))
    server.close()
'''
OTHER = '''
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.capabilities.settings import PFC, REACTION_POINT, TRUST


def test_other(incast):
    """The same settings, to other values."""
    lab, sender, receiver = incast.lab, incast.senders[0].nic, incast.senders[1].nic
    port = lab.testbed.peer(*lab.testbed.roles["receiver"])
    other_trust = "dot1p" if lab.current(sender, TRUST).source == "dscp" else "dscp"
    for at, kind, wanted in (
        (port, PFC, PfcSetting(mode="on", priorities=frozenset({6}))),
        (sender, TRUST, TrustSetting(source=other_trust)),
        (receiver, REACTION_POINT, frozenset({7})),
        (sender, PFC, PfcSetting(mode="on", priorities=frozenset({7}))),
    ):
        lab.change(at, kind, wanted)
        assert lab.current(at, kind) == wanted
'''


@dataclass
class Bench:
    """The lab as it was found, and how runs are started on it."""

    project: Project
    disk: Path | None
    found: dict[str, object] = field(default_factory=dict)
    _runs: int = 0

    def run(self, *words: str, point: Point | None = None) -> tuple[int, str, Path]:
        """One pytest run of the suite: exit code, what it printed, its folder."""
        self._runs += 1
        small = self.disk if point is not None and point.way == "full disk" else None
        folder = (small or self.project.folder) / f"run-{self._runs}"
        env = dict(self.project.environment) | {
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])
        }
        if point is not None:
            asked = {"kind": point.way, "step": point.step, "how": point.how}
            asked |= {"lab": str(self.project.served.directory)}
            asked |= {"filler": str(small / "filler") if small else ""}
            asked |= {"evidence": str(self.evidence)}
            env["BREAK"] = json.dumps(asked)
        argv = ["pytest", "test_broken.py", "-q", *QUICK_START, "-p", "sabotage"]
        argv += ["--testbed=served.yaml", f"--run-dir={folder}", *words]
        code, said = fast_starts.run(argv, cwd=self.project.folder, env=env)
        return code, said, folder

    @property
    def evidence(self) -> Path:
        """What the runner tells of what happens to it."""
        return self.project.folder / "evidence.txt"

    @property
    def second(self) -> Path:
        """What the other runner of a point said."""
        return self.project.folder / "second.txt"

    def broken(self, point: Point) -> tuple[str, Evidence]:
        """The run that is broken at this point: what it printed, and what happened."""
        self.evidence.write_text("")
        self.second.unlink(missing_ok=True)
        names = tuple(device.name for device in self.project.testbed.devices)
        before = sufferings(self.project.served.directory, names)
        code, said, folder = self.run(point=point)
        if point.way == "frozen":
            self._wait_for_other()
        suffered = sufferings(self.project.served.directory, names) - before
        told = tuple(self.evidence.read_text().splitlines())
        second = self.second.read_text() if self.second.exists() else ""
        return said, Evidence(code, told, suffered, second, folder)

    def _wait_for_other(self) -> None:
        until_s = time.monotonic() + OTHER_ENDS_WITHIN_S
        while not self.second.exists() or "\nexit " not in self.second.read_text():
            if time.monotonic() > until_s:
                return
            time.sleep(0.1)

    def differences(self, lab: Lab) -> list[str]:
        """What is not as it was found."""
        now = everything(lab)
        return [name for name in self.found if now[name] != self.found[name]]

    def heal(self) -> None:
        """Devices do what they are told again; there is room on the disk."""
        for device in self.project.testbed.devices:
            for fault in ({"kind": "heal"}, {"kind": "clock", "seconds": 0}):
                inject(self.project.served.directory, fault | {"device": device.name})
        if self.disk is not None:
            (self.disk / "filler").unlink(missing_ok=True)

    def start_again(self) -> None:
        """For the next point, whatever this one has left."""
        for run in unfinished_runs():
            forget(run)
        for device in self.project.testbed.devices:
            fault = {"kind": "reboot", "device": device.name, "seconds": 0.1}
            inject(self.project.served.directory, fault)


@contextmanager
def when_up(bench: Bench) -> Iterator[Lab]:
    """The lab, as soon as every device lets us in."""
    until_s = time.monotonic() + BOOTS_WITHIN_S
    while True:
        try:
            with opened(bench.project.testbed) as lab:
                yield lab
            return
        except LabErrors:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.2)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of its own for run folders; None where this user cannot mount one."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", SMALL_DISK, "labtests-small-disk", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def bench_of(served: ServedLab, folder: Path) -> Iterator[Bench]:
    """A project in this folder, on this lab."""
    project = Project(folder, served, forked=True)
    (folder / "test_broken.py").write_text(SUITE)
    (folder / "test_look.py").write_text(LOOK)
    (folder / "test_other.py").write_text(OTHER)
    with (
        patch.dict(os.environ, LABTESTS_STATE_DIR=str(project.state / "labtests")),
        sabotage.patience(sabotage.PATIENCE_S),
        small_disk(folder) as disk,
    ):
        bench = Bench(project, disk)
        with opened(project.testbed) as lab:
            bench.found = everything(lab)
        yield bench


def journal_of(bench: Bench) -> list[str]:
    """The kinds of the lines of a run that nothing breaks."""
    code, said, folder = bench.run()
    assert code == 0, said
    lines = (folder / FILE_NAME).read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]
