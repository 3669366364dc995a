"""A lab of one box: a file of this machine that gets a line for every setting it is sent."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lease_lab import LocalShell

from labtests.capabilities.driver import Driver
from labtests.capabilities.settings import Commands, Kind, Setting
from labtests.core.clock import WallClock
from labtests.inventory import Device, Endpoint, LeasePlace, Management, Testbed
from labtests.lab.lab import Lab
from labtests.transport.asking import Asking, ask
from labtests.transport.batching import block_reply
from labtests.transport.commands import script
from labtests.transport.protocol import Reply
from labtests.transport.ssh.connecting import SHELL

PORT = Endpoint(device="here", interface="p1")


LEVEL = Kind[int]("level", "a device with a level")


class Box(LocalShell):
    """The box. `file` has its settings, one line each; the last one holds. `keeper` is the same
    machine as who keeps the lease, which may be gone while the settings still answer."""

    def __init__(self, file: Path, name: str = "") -> None:
        super().__init__()
        self.file, self.name, self.keeper = file, name, LocalShell()

    def start(self, command, *, limit_s):  # type: ignore[no-untyped-def]
        raise AssertionError("nothing runs on a toy")

    def configure(self, commands):  # type: ignore[no-untyped-def]
        return block_reply(tuple(map(self.run, commands)))

    def close(self) -> None:
        pass

    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []


class Level(Setting[int]):
    """One setting, `level`, which is a number."""

    kind = LEVEL

    def __init__(self, box: Box) -> None:
        self.box = box

    def read(self, port: str) -> Asking[int]:
        last = yield from ask(script("tail -n 1 FILE 2>/dev/null; true", FILE=str(self.box.file)))
        return int((last.text.split() or ["0"])[-1])

    def commands(self, port: str, earlier: int, wanted: int, around: object) -> Commands:
        if earlier == wanted:
            return ()
        file, name = str(self.box.file), self.box.name
        return (script("printf '%s %s\\n' NAME LEVEL >> FILE", NAME=name, LEVEL=wanted, FILE=file),)

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        assert all(reply.status == 0 for reply in replies)


BOXES: dict[str, Box] = {}
"""By the device's name: the last one that a lab was made of."""


def driver_of(device: str, ports: tuple[str, ...] = ()) -> Driver:
    return Driver(device, (Level(BOXES[device]),), ())


PLATFORM: Any = SimpleNamespace(SESSION=SHELL, KIND="host", driver_of=driver_of)


def toy_lab(box: Box, place: LeasePlace | None) -> Lab:
    BOXES["here"] = box
    device = Device(name="here", platform="toy", management=Management(host="localhost"))
    testbed = Testbed(name="toy", file=Path("toy.yaml"), devices=(device,), lease=place)
    lab = Lab(testbed, {"here": box}, clock=WallClock(), backend="simulated")
    lab.unrecorded = {"here": box.keeper}
    return lab
