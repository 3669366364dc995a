"""watch and clear: what is done to a terminal's screen."""

from collections.abc import Generator

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands.system import wall_clock
from labtests.simlab.linux.options import BadOption, read_options
from labtests.simlab.linux.processes import Birth, Pause, Program, StandardStreams
from labtests.simlab.linux.streams import Capture, nothing

NS_PER_S = 1_000_000_000
CLEAR = "\x1b[H\x1b[2J"
SHORTEST_S = 0.1
_OPTIONS = "-n,--interval= -d,--differences -t,--no-title -x,--exec"


def _watch(call: Call) -> Program:
    """The command's output again and again on a cleared screen, until a signal ends it."""
    options, words = read_options(call.arguments, _OPTIONS, stop_early=True)
    if not words:
        raise BadOption("a command is missing")
    try:
        every_s = max(float(options.get("n", "2")), SHORTEST_S)
    except ValueError:
        return call.fail(f"failed to parse argument: '{options['n']}'")
    if not call.process.streams.out.terminal:
        call.err("Error opening terminal: unknown.\n")
        return 1
    kernel, line = call.host.kernel, " ".join(words)
    while True:
        shown = yield from _once(call, line)
        left = f"Every {every_s:.1f}s: {line}"
        right = f"{call.host.name}: {wall_clock(call):%a %b %e %H:%M:%S %Y}"
        title = "" if "t" in options else f"{left}{right:>{max(80 - len(left), 1)}}\n\n"
        call.out(f"{CLEAR}{title}{shown}")
        due_ns = kernel.now_ns + round(every_s * NS_PER_S)
        while kernel.now_ns < due_ns:
            yield Pause(until_ns=due_ns)


def _once(call: Call, line: str) -> Generator[Pause, None, str]:
    """What the command prints this time."""
    shown = Capture()
    streams = StandardStreams(input=nothing(), out=shown, err=shown)
    birth = Birth.of(call.process, streams)
    argv = ("sh", "-c", line)
    child = call.host.kernel.spawn(birth, argv, lambda own: call.host.run_tool(own, argv))
    while child.status is None:
        yield Pause(on=(child.ended,))
    return shown.text


TOOLS: Tools = {"watch": _watch, "clear": lambda call: CLEAR}
