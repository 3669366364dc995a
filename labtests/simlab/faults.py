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
Met = Callable[[], str]
"""Why a fault has acted on nothing so far; "" once it has."""
Handler = Callable[["DeviceFaults", Mapping[str, Any]], Met | None]  # None: it acts at once
_QUOTES = str.maketrans("", "", "'\"\\")
REBOOT_S = 3.0  # how long a device is away unless the fault says so: short, for tests
NS_PER_S = 1_000_000_000


def names(text: str, command: str) -> bool:
    """Whether a command is one with this text, however often a shell around it has quoted it."""
    return text.translate(_QUOTES) in command.translate(_QUOTES)


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
    "reboot", "hang" and "lie" (each command); "refused" is each line that a CLI did not take."""
    met: set[tuple[str, ...]] = field(default_factory=set)
    """Counters, commands and tools that a fault names and that were really asked for."""
    truncated_commands: set[str] = field(default_factory=set)  # beginnings of commands
    missing_counters: set[tuple[str, str]] = field(default_factory=set)  # (port, counter)
    removed_tools: set[str] = field(default_factory=set)
    no_ecn_folder: bool = False
    read_only: bool = False
    lldpad: bool = False
    defects: Defects = field(default_factory=Defects)
    losses: Losses = field(default_factory=Losses)
    on_reset: list[Callable[[], None]] = field(default_factory=list)
    on_kill: list[Callable[[str], int]] = field(default_factory=list)  # name: how many there were
    on_cut: list[Callable[[], int]] = field(default_factory=list)  # the SSH server: how many broke
    on_loss: list[Callable[[str, int, int], None]] = field(default_factory=list)
    lost: Callable[[str, int], int] = lambda port, queue: 0  # packets that this queue has dropped
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
        for trap in [trap for trap in self.traps if names(trap.text, command)]:
            if trap.after:
                self.cut()  # what it is going to answer is lost
            else:
                self.traps.remove(trap)
                trap.act()
                return False
        return not self.booting

    def obeyed(self, command: str) -> None:
        """It has done what the command asked for."""
        for trap in [trap for trap in self.traps if trap.after and names(trap.text, command)]:
            self.traps.remove(trap)
            trap.act()

    def refuses_files(self) -> bool:
        """Whether no file may be written: asked whenever one is to be."""
        if self.read_only:
            self.met.add(("read-only",))
        return self.read_only

    def hangs(self, command: str) -> bool:
        """Whether this command, which has come, does not end."""
        hung = [text for text in self.hanging_commands if names(text, command)]
        self.met |= {("hang", text) for text in hung}
        self.happened["hang"] += bool(hung)
        return bool(hung)

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
        self.met.add(("dead", *key))
        if self.dead_counters[key] is None:
            self.dead_counters[key] = live()
        stuck: Any = self.dead_counters[key]
        return stuck  # type: ignore[no-any-return]

    def lacks(self, tool: str) -> bool:
        """Whether this program, which is asked for, is not installed."""
        if tool in self.removed_tools:
            self.met.add(("tool", tool))
        return self.without(tool)

    def without(self, tool: str) -> bool:
        """Whether it is not installed. OFED's is there only with a version to tell."""
        return tool in self.removed_tools or (tool == "ofed_info" and not self.defects.ofed)

    def missing(self, port: str, counter: str) -> bool:
        """Whether this counter has disappeared from the output."""
        gone = (port, counter) in self.missing_counters
        if gone:
            self.met.add(("missing", port, counter))
        return gone

    def hidden(self, port: str) -> "HiddenCounters":
        """All of a port that have disappeared."""
        return HiddenCounters(self, port)

    def truncates(self, command: str) -> bool:
        """Whether the output of this command ends early."""
        cut = [start for start in self.truncated_commands if command.startswith(start)]
        self.met |= {("truncate", start) for start in cut}
        return bool(cut)

    def truncate(self, command: str, output: str) -> str:
        """The output as it arrives: whole, or cut in the middle."""
        return output[: len(output) // 2] + "\n" if self.truncates(command) else output


@dataclass(frozen=True, slots=True)
class HiddenCounters:
    """Which counters of a port have disappeared: `in` asks."""

    faults: DeviceFaults
    port: str

    def __contains__(self, counter: object) -> bool:
        return self.faults.missing(self.port, str(counter))


class UnknownFault(ValueError):
    """A fault that cannot be injected; the text says why and what can be."""


@dataclass(slots=True, eq=False)
class Injected:
    """One fault that was asked for, and what has become of it."""

    fault: Mapping[str, Any]
    not_met: Met

    def suffer(self, faults: Mapping[str, DeviceFaults]) -> None:
        """The device has it from now on. Raises UnknownFault for what only the lab can judge."""
        act = KINDS[self.fault["kind"]]
        self.not_met = act(faults[self.fault["device"]], self.fault) or (lambda: "")

    def suffer_late(self, faults: Mapping[str, DeviceFaults]) -> None:
        """The same while time passes, when nobody waits for an answer."""
        try:
            self.suffer(faults)
        except (UnknownFault, TypeError, ValueError) as error:
            why = str(error)
            self.not_met = lambda: why


def asked_for(fault: Mapping[str, Any], kinds: Mapping[str, str]) -> Injected:
    """A fault that a lab of these devices ("host" or "switch" by name) can have; else raises
    UnknownFault."""
    if mistake := mistake_in(fault, kinds):
        raise UnknownFault(mistake)
    if "at" in fault:
        raise UnknownFault('"at" is for a run of pytest: nobody else says how far it is')
    return Injected(fault, lambda: f"the run ended within {fault.get('after_s', 0):g} s")


def _reset_counters(faults: DeviceFaults, fault: Mapping[str, Any]) -> None:
    faults.losses.reset()
    for reset in faults.on_reset:
        reset()


def _kill(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    killed = sum(kill(fault["process"]) for kill in faults.on_kill)
    return lambda: "" if killed else f"no process {fault['process']!r} was there"


def _drop_packets(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    port, queue, per_million = fault["port"], fault["queue"], fault["per_million"]
    for lose in faults.on_loss:
        lose(port, queue, per_million)
    before = faults.lost(port, queue)
    return lambda: "" if faults.lost(port, queue) != before else "no packet was dropped by it"


def _cut(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    return _now_or_then(faults, fault, faults.cut)


def _reboot(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    seconds = float(fault.get("seconds", REBOOT_S))
    return _now_or_then(faults, fault, partial(faults.reboot, seconds))


def _now_or_then(faults: DeviceFaults, fault: Mapping[str, Any], act: Callable[[], None]) -> Met:
    if "command" not in fault:
        act()
        return lambda: ""
    text, after = str(fault["command"]), bool(fault.get("after", False))
    acted: list[str] = []

    def suffer() -> None:
        acted.append(text)
        act()

    faults.traps.append(Trap(text=text, after=after, act=suffer))
    return lambda: "" if acted else f"no command with {text!r} came"


def _forbid_files(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    faults.read_only = True
    faults.met.discard(("read-only",))
    return lambda: "" if ("read-only",) in faults.met else "no file was to be written"


def _lie(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    faults.lying, before = True, faults.happened["lie"]
    return lambda: "" if faults.happened["lie"] > before else "nothing was configured"


def _log_line(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
    find = str(fault["find"])
    faults.defects.log_lines[find] = str(fault.get("instead", ""))
    faults.met.discard(("log-line", find))
    return lambda: "" if ("log-line", find) in faults.met else f"nothing with {find!r} was logged"


def _named(what: str, collection: Callable[[DeviceFaults], Any], *keys: str, why: str) -> Handler:
    """What is added to a collection of the device's, and met when the device looks for it."""

    def suffer(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met:
        named = tuple(str(fault[key]) for key in keys)
        there, one = collection(faults), named if len(named) > 1 else named[0]
        there.setdefault(one, None) if isinstance(there, dict) else there.add(one)
        faults.met.discard((what, *named))  # by an earlier one
        return lambda: "" if (what, *named) in faults.met else why.format(named[-1])

    return suffer


def _defect(kind: str) -> Handler:
    return lambda faults, fault: SETTERS[kind](faults.defects, fault)


def _loss(kind: str) -> Handler:
    def suffer(faults: DeviceFaults, fault: Mapping[str, Any]) -> Met | None:
        if kind not in faults.losses.acts:
            raise UnknownFault(f"{fault['device']} has nothing that {kind!r} could happen to")
        return faults.losses.acts[kind](fault)

    return suffer


NOT_READ = "no counter {!r} was read"


KINDS: Mapping[str, Handler] = {
    "dead-counter": _named("dead", lambda has: has.dead_counters, "port", "counter", why=NOT_READ),
    "missing-counter": _named(
        "missing", lambda has: has.missing_counters, "port", "counter", why=NOT_READ
    ),
    "reset-counters": _reset_counters,
    "kill": _kill,
    "lie": _lie,
    "log-line": _log_line,
    "truncate": _named(
        "truncate", lambda has: has.truncated_commands, "command", why="no command {!r} came"
    ),
    "drop-packets": _drop_packets,
    "remove-tool": _named("tool", lambda has: has.removed_tools, "tool", why="nobody called {!r}"),
    "no-ecn-folder": lambda has, f: setattr(has, "no_ecn_folder", True),
    "read-only": _forbid_files,
    "lldpad": lambda has, f: setattr(has, "lldpad", True),
    "cut": _cut,
    "reboot": _reboot,
    "hang": _named(
        "hang", lambda has: has.hanging_commands, "command", why="no command with {!r} came"
    ),
    "heal": lambda has, f: has.heal(),
    **{kind: _defect(kind) for kind in SETTERS},
    **{kind: _loss(kind) for kind in losses.KINDS},
}
