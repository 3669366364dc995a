"""A lab of one box: a file of this machine that gets a line for every setting it is sent."""

from pathlib import Path

from lease_lab import LocalShell

from labtests.core.clock import WallClock
from labtests.inventory import Device, Endpoint, LeasePlace, Management, Testbed
from labtests.lab.lab import Lab

PORT = Endpoint(device="here", interface="p1")


class Box(LocalShell):
    """The box. `file` has its settings, one line each; the last one holds."""

    def __init__(self, file: Path, name: str = "") -> None:
        super().__init__()
        self.file, self.name = file, name

    def start(self, command, *, limit_s):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def configure(self, commands):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def close(self) -> None:
        pass

    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []


class ToyDriver:
    """One setting, `level`, which is a number."""

    def __init__(self, box: Box) -> None:
        self.box = box

    def level(self, port: str) -> int:
        return int(self.box.lines()[-1].split()[-1]) if self.box.lines() else 0

    def level_commands(self, port: str, earlier: int, wanted: int) -> tuple[str, ...]:
        return (f"level {wanted}",)

    def set_level(self, port: str, wanted: int) -> None:
        with self.box.file.open("a") as file:
            file.write(f"{self.box.name} {wanted}\n")


def toy_lab(box: Box, place: LeasePlace | None) -> Lab:
    device = Device(name="here", platform="toy", management=Management(host="localhost"))
    testbed = Testbed(name="toy", file=Path("toy.yaml"), devices=(device,), lease=place)
    return Lab(testbed, {"here": box}, clock=WallClock(), backend="simulated")
