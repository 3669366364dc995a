"""A switch that lives in memory, and its lab with a change journal on the disk."""

from types import SimpleNamespace

from labtests.capabilities.device import PriorityFlowControl, Resuming
from labtests.capabilities.records import PfcSetting
from labtests.core.errors import CommandRejected
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


class Box:
    """Remembers settings and every command it was sent. `at_set` is called in the middle of it."""

    def __init__(self):
        self.device, self.state, self.sent = "sw", {"p1": OFF, "p2": OFF}, []
        self.refuses, self.resumed, self.closed = set(), [], 0
        self.at_set = lambda port, wanted: None

    def close(self):
        self.closed += 1


class Driver(PriorityFlowControl, Resuming):
    def __init__(self, box):
        self.box = box

    def resume(self, setting, values):
        self.box.resumed.append((setting, values))

    def pfc(self, port):
        return self.box.state[port]

    def pfc_commands(self, port, earlier, wanted):
        return () if earlier == wanted else (f"{port} pfc {wanted.mode}",)

    def set_pfc(self, port, wanted):
        self.box.sent += self.pfc_commands(port, self.pfc(port), wanted)
        if (port, wanted.mode) in self.box.refuses:
            raise CommandRejected("sw", f"{port} pfc {wanted.mode}", "% no", "ask somebody")
        self.box.state[port] = wanted
        self.box.at_set(port, wanted)


MODULE = SimpleNamespace(Driver=Driver, SESSION="toy")


def toy_module(platform):
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


def open_lab(box, folder, journal=None):
    """The lab of one box; with a folder its changes are journalled there."""
    testbed = Testbed(name="toys", file=folder / "toys.yaml", devices=(DEVICE,))
    clock = SimpleNamespace(now_s=lambda: 1.0)
    lab = Lab(testbed, {"sw": box}, clock=clock, backend="hardware", journal=journal)
    lab.ahead = ChangeJournal.begin(folder / "changes.jsonl", begun(folder), Redaction())
    return lab
