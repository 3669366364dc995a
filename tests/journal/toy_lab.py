"""A switch that lives in memory, and its lab with a change journal on the disk."""

from types import SimpleNamespace

from toys import ToyBox, ToySetting, platform, toy_driver

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.core.redaction import Redaction
from labtests.inventory import Endpoint
from labtests.inventory.testbed import Device, Management, Testbed
from labtests.journal import Begun, ChangeJournal, this_runner
from labtests.lab.lab import Lab

P1, P2 = (Endpoint(device="sw", interface=name) for name in ("p1", "p2"))
OFF = PfcSetting(mode="off", priorities=frozenset())
ON = PfcSetting(mode="on", priorities=frozenset({3}))
AUTO = PfcSetting(mode="auto", priorities=frozenset({3, 4}))
DEVICE = Device(name="sw", platform="toy", management=Management(host="192.0.2.7"))


class Box(ToyBox):
    """`state` is the PFC of each port."""

    def __init__(self):
        super().__init__("sw")
        self.values = {("pfc", "p1"): OFF, ("pfc", "p2"): OFF}
        BOXES["sw"] = self

    @property
    def state(self):
        return {port: value for (_, port), value in self.values.items()}


BOXES = {}
MODE = lambda wanted: wanted.mode  # noqa: E731


def driver_of(device, ports=()):
    box = BOXES[device]
    return toy_driver(box, ToySetting(box, PFC, OFF, MODE))


MODULE = platform(driver_of)


def toy_module(name):
    return MODULE


def begun(folder, run="run-1", **facts):
    said = {
        "runner": this_runner(),
        "testbed": "toys",
        "file": str(folder / "toys.yaml"),
        "backend": "hardware",
        "dry_run": False,
        "devices": (DEVICE,),
    }
    return Begun(run=run, **(said | facts))


def open_lab(box, folder, transcript=None):
    """The lab of one box; with a folder its changes are journalled there."""
    testbed = Testbed(name="toys", file=folder / "toys.yaml", devices=(DEVICE,))
    clock = SimpleNamespace(now_s=lambda: 1.0)
    lab = Lab(testbed, {"sw": box}, clock=clock, backend="hardware", transcript=transcript)
    lab.ahead = ChangeJournal.begin(folder / "changes.jsonl", begun(folder), Redaction())
    return lab
