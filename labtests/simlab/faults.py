"""Things that go wrong on purpose, for tests and demonstrations.

Which there are, and what each needs to be told: fault_forms.py. What a device says of itself (MTU,
LLDP, versions, clock, ...) is changed by defects.py, what is lost or held up on packets' way by
losses.py; the rest is here. `cut` and `reboot` happen at once, or when a command comes.

Faces look into their device's `DeviceFaults` whenever they print or accept something.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from labtests.simlab import losses
from labtests.simlab.defects import SETTERS, Defects
from labtests.simlab.fault_forms import mistake_in
from labtests.simlab.losses import Losses

T = TypeVar("T")
Handler = Callable[["DeviceFaults", Mapping[str, Any]], object]
REBOOT_S = 3.0  # how long a device is away unless the fault says so: short, for tests
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trap:
    """What happens at the next command with this text: before it is obeyed, or after."""

    text: str
    after: bool
    act: Callable[[], None]


@dataclass(slots=True)
class DeviceFaults:
    """What is wrong with one device at present, and whom to tell when something happens to it."""

    lying: bool = False  # accepts configuration and does nothing
    happened: Counter[str] = field(default_factory=Counter)
    """What it has really suffered, whatever was asked for: "cut" (each connection that broke),
    "reboot", "hang" and "lie" (each command)."""
    truncated_commands: set[str] = field(default_factory=set)  # beginnings of commands
    missing_counters: set[tuple[str, str]] = field(default_factory=set)  # (port, counter)
    removed_tools: set[str] = field(default_factory=set)
    no_ecn_folder: bool = False
    read_only: bool = False
    lldpad: bool = False
    defects: Defects = field(default_factory=Defects)
    losses: Losses = field(default_factory=Losses)
    on_reset: list[Callable[[], None]] = field(default_factory=list)
    on_kill: list[Callable[[str], None]] = field(default_factory=list)  # gets the process's name
    on_cut: list[Callable[[], int]] = field(default_factory=list)  # the SSH server: how many broke
    on_loss: list[Callable[[str, int, int], None]] = field(default_factory=list)
    dead_counters: dict[tuple[str, str], object] = field(default_factory=dict)
    hanging_commands: set[str] = field(default_factory=set)  # texts in them
    traps: list[Trap] = field(default_factory=list)
    booting: bool = False  # nobody can log in
    on_down: list[Callable[[], None]] = field(default_factory=list)  # it loses all that is running
    on_up: list[Callable[[], None]] = field(default_factory=list)
    later: Callable[[int, Callable[[], None]], object] = lambda after_ns, act: None
    """Has something happen when so much simulated time has passed; the lab's timeline."""

    def cut(self) -> None:
        """Every SSH connection breaks."""
        self.happened["cut"] += sum(act() for act in self.on_cut)

    @property
    def lies(self) -> bool:
        """Whether what is to be made now is not: asked wherever configuration is made."""
        self.happened["lie"] += self.lying
        return self.lying

    def reboot(self, seconds: float) -> None:
        """Everything that is not saved is gone; back in so many simulated seconds."""
        self.cut()
        self.happened["reboot"] += 1
        self.losses.reset()
        self.booting = True
        for act in self.on_down:
            act()
        self.later(round(seconds * NS_PER_S), self._up)

    def _up(self) -> None:
        self.booting = False
        for act in self.on_up:
            act()

    def given(self, command: str) -> bool:
        """A command has come. Whether the device gets to obey it."""
        for trap in [trap for trap in self.traps if trap.text in command]:
            if trap.after:
                self.cut()  # what it is going to answer is lost
            else:
                self.traps.remove(trap)
                trap.act()
                return False
        return not self.booting

    def obeyed(self, command: str) -> None:
        """It has done what the command asked for."""
        for trap in [trap for trap in self.traps if trap.after and trap.text in command]:
            self.traps.remove(trap)
            trap.act()

    def hangs(self, command: str) -> bool:
        """Whether this command, which has come, does not end."""
        hung = any(text in command for text in self.hanging_commands)
        self.happened["hang"] += hung
        return hung

    def heal(self) -> None:
        """It does what it is told again. What has happened stays as it is."""
        self.lying = False
        self.truncated_commands.clear()
        self.hanging_commands.clear()
        self.traps.clear()
        self.losses.heal()

    def reading(self, port: str, counter: str, live: Callable[[], T]) -> T:
        """The counter as the device shows it: alive, or stuck at what it was when it died.

        A dead counter sticks at its first reading after the fault was injected.
        """
        key = (port, counter)
        if key not in self.dead_counters:
            return live()
        if self.dead_counters[key] is None:
            self.dead_counters[key] = live()
        stuck: Any = self.dead_counters[key]
        return stuck  # type: ignore[no-any-return]

    def lacks(self, tool: str) -> bool:
        """Whether this program is not installed. OFED's is there only with a version to tell."""
        return tool in self.removed_tools or (tool == "ofed_info" and not self.defects.ofed)

    def missing(self, port: str, counter: str) -> bool:
        """Whether this counter has disappeared from the output."""
        return (port, counter) in self.missing_counters

    def truncates(self, command: str) -> bool:
        """Whether the output of this command ends early."""
        return any(command.startswith(beginning) for beginning in self.truncated_commands)

    def truncate(self, command: str, output: str) -> str:
        """The output as it arrives: whole, or cut in the middle."""
        return output[: len(output) // 2] + "\n" if self.truncates(command) else output


class UnknownFault(ValueError):
    """A fault that cannot be injected; the text says why and what can be."""


def inject(
    faults: Mapping[str, DeviceFaults], fault: Mapping[str, Any], kinds: Mapping[str, str]
) -> None:
    """The device named in the fault suffers it from now on. `kinds`: "host" or "switch"."""
    if mistake := mistake_in(fault, kinds):
        raise UnknownFault(mistake)
    KINDS[fault["kind"]](faults[fault["device"]], fault)


def _reset_counters(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
    faults.losses.reset()
    for reset in faults.on_reset:
        reset()


def _kill(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
    process = fault["process"]
    for kill in faults.on_kill:
        kill(process)


def _drop_packets(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
    port, queue, per_million = fault["port"], fault["queue"], fault["per_million"]
    for lose in faults.on_loss:
        lose(port, queue, per_million)


def _cut(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
    _now_or_then(faults, fault, faults.cut)


def _reboot(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
    seconds = float(fault.get("seconds", REBOOT_S))
    _now_or_then(faults, fault, partial(faults.reboot, seconds))


def _now_or_then(faults: DeviceFaults, fault: Mapping[str, Any], act: Callable[[], None]) -> None:
    if "command" not in fault:
        act()
        return
    after = bool(fault.get("after", False))
    faults.traps.append(Trap(text=str(fault["command"]), after=after, act=act))


def _defect(kind: str) -> Handler:
    return lambda faults, fault: SETTERS[kind](faults.defects, fault)


def _loss(kind: str) -> Handler:
    def suffer(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
        if kind not in faults.losses.acts:
            raise UnknownFault(f"{fault['device']} has nothing that {kind!r} could happen to")
        faults.losses.acts[kind](fault)

    return suffer


KINDS: Mapping[str, Handler] = {
    "dead-counter": lambda has, f: has.dead_counters.setdefault((f["port"], f["counter"]), None),
    "missing-counter": lambda has, f: has.missing_counters.add((f["port"], f["counter"])),
    "reset-counters": _reset_counters,
    "kill": _kill,
    "lie": lambda has, f: setattr(has, "lying", True),
    "truncate": lambda has, f: has.truncated_commands.add(f["command"]),
    "drop-packets": _drop_packets,
    "remove-tool": lambda has, f: has.removed_tools.add(f["tool"]),
    "no-ecn-folder": lambda has, f: setattr(has, "no_ecn_folder", True),
    "read-only": lambda has, f: setattr(has, "read_only", True),
    "lldpad": lambda has, f: setattr(has, "lldpad", True),
    "cut": _cut,
    "reboot": _reboot,
    "hang": lambda has, f: has.hanging_commands.add(str(f["command"])),
    "heal": lambda has, f: has.heal(),
    **{kind: _defect(kind) for kind in SETTERS},
    **{kind: _loss(kind) for kind in losses.KINDS},
}
