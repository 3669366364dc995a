"""Commands that run another: timeout, sudo, stdbuf, env, nohup and setsid."""

import re
from dataclasses import replace

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import (
    STATUS_OF_USAGE,
    BadOption,
    Refused,
    only,
    read_options,
)
from labtests.simlab.linux.processes import (
    DEATH,
    NOT_FOUND,
    SIGNAL_NUMBERS,
    Birth,
    HostProcess,
    Pause,
    Program,
)
from labtests.simlab.linux.streams import FileOutput

NS_PER_S = 1_000_000_000
TIMED_OUT = 124
_TIMEOUT = "-k,--kill-after= -s,--signal="
_STDBUF = "-i,--input= -o,--output= -e,--error="
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_NAMES = {number: name for name, number in SIGNAL_NUMBERS.items()}


def _duration_s(call: Call, text: str) -> float:
    """`5`, `0.5`, `2m`. Raises Refused when it is no time."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+|[0-9]+\.)([smhd]?)", text)
    if match is None:
        status = STATUS_OF_USAGE.get(call.name, 1)
        raise Refused(f"{call.name}: invalid time interval ‘{text}’\n", status)
    return float(match[1]) * _UNITS[match[2]]


def _assign(call: Call, words: list[str]) -> None:
    """The assignments before a command, which are taken off."""
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        name, _, value = words.pop(0).partition("=")
        call.process.environment[name] = value


def _become(call: Call, argv: tuple[str, ...]) -> Program:
    """This process is the other program from now on, as after execvp(3)."""
    if call.host.program(argv[0]) is None:
        reason = "No such file or directory"
        text = f"‘{argv[0]}’: {reason}"
        call.fail(text if call.name == "env" else f"failed to run command {text}")
        return NOT_FOUND
    call.process.argv = argv
    return (yield from call.host.run_tool(call.process, argv))


def _timeout(call: Call) -> Program:
    options, words = read_options(call.arguments, _TIMEOUT, stop_early=True)
    if len(words) < 2:
        raise BadOption("missing operand")
    limit_s, grace_s = _duration_s(call, words[0]), _duration_s(call, options.get("k", "0"))
    argv = tuple(words[1:])
    if call.host.program(argv[0]) is None:
        return call.fail(f"failed to run command ‘{argv[0]}’: No such file or directory", NOT_FOUND)
    signal = options.get("s", "TERM").upper().removeprefix("SIG")
    call.process.group = call.process.pid  # setpgid(0, 0): what it ends is only its own
    watch = _Watch(call, _NAMES.get(int(signal), "TERM") if signal.isdigit() else signal)
    process, kernel = call.process, call.host.kernel
    birth = Birth.of(process, process.streams)
    child = kernel.spawn(birth, argv, lambda own: call.host.run_tool(own, argv))
    return (yield from watch.over(child, limit_s, grace_s))


class _Watch:
    """timeout(1) over one child: passes signals on, ends it when its time is up."""

    def __init__(self, call: Call, signal: str) -> None:
        self._call = call
        self._signal = signal
        self._timed_out = False

    def over(self, child: HostProcess, limit_s: float, grace_s: float) -> Program:
        """Until the child has ended; the status as timeout gives it."""
        process, kernel = self._call.process, self._call.host.kernel
        process.caught |= {"INT", "TERM", "HUP", "QUIT"}
        due_ns = kernel.now_ns + round(limit_s * NS_PER_S) if limit_s else None
        while child.status is None:
            yield Pause(until_ns=due_ns, on=(child.ended,))
            while (caught := process.take_signal()) is not None:
                kernel.deliver(child, caught)
            if due_ns is not None and kernel.now_ns >= due_ns and child.alive:
                self._time_is_up(child)
                due_ns = kernel.now_ns + round(grace_s * NS_PER_S) if grace_s else None
        return self._status(child)

    def _time_is_up(self, child: HostProcess) -> None:
        """First the signal, then, after the grace, KILL to the whole group with itself in it."""
        kernel, process = self._call.host.kernel, self._call.process
        signal = "KILL" if self._timed_out else self._signal
        self._timed_out = True
        for member in kernel.members(process.group):
            if member is not process:
                kernel.deliver(member, signal)
        if signal == "KILL":
            process.doom = "KILL"

    def _status(self, child: HostProcess) -> int:
        if self._timed_out:
            return TIMED_OUT if child.died_of != "KILL" else DEATH + SIGNAL_NUMBERS["KILL"]
        if child.died_of is not None:
            self._call.process.doom = child.died_of  # it raises the same signal on itself
        return child.status or 0


_ALL = "(ALL : ALL) NOPASSWD: ALL"


def _sudo(call: Call) -> Program:
    """Everybody may, without a password; so nobody is asked (`-S -p`) for one."""
    options, words = read_options(call.arguments, "-nEHSkisl -up=", stop_early=True)
    _assign(call, words)
    if not words and {"i", "s"} & set(options):
        words = ["bash"]
    if "l" in options:
        call.out(f"User root may run the following commands on {call.host.name}:\n    {_ALL}\n")
        return 0
    if not words:
        raise Refused("usage: sudo -h | -K | -k | -V\n")
    if call.host.program(words[0]) is None:
        return call.fail(f"{words[0]}: command not found")
    call.process.user = options.get("u", "root")
    return (yield from _become(call, tuple(words)))


def _stdbuf(call: Call) -> Program:
    options, words = read_options(call.arguments, _STDBUF, stop_early=True)
    if not words:
        raise BadOption("missing operand")
    if "o" in options:
        call.process.environment["_STDBUF_O"] = options["o"]
    return (yield from _become(call, tuple(words)))


def _env(call: Call) -> Program:
    words = list(call.arguments)
    _assign(call, words)
    only([word for word in words[:1] if word.startswith("-")])
    if not words:
        call.out("".join(f"{k}={v}\n" for k, v in call.process.environment.items()))
        return 0
    return (yield from _become(call, tuple(words)))


def _nohup(call: Call) -> Program:
    if not call.arguments:
        raise BadOption("missing operand")
    only([word for word in call.arguments[:1] if word.startswith("-")])
    process = call.process
    process.ignored.add("HUP")
    if process.streams.out.terminal:
        call.err("nohup: ignoring input and appending output to 'nohup.out'\n")
        path = call.path("nohup.out")
        write = call.host.tree.writer(path, append=True, user=process.user)
        call.host.redirect(process, replace(process.streams, out=FileOutput(write)))
    return (yield from _become(call, call.arguments))


def _setsid(call: Call) -> Program:
    _, words = read_options(call.arguments, "-w", stop_early=True)
    if not words:
        return call.fail("no command specified")
    call.process.group = call.process.pid
    return (yield from _become(call, tuple(words)))


def _sleep(call: Call) -> Program:
    if not call.arguments:
        raise BadOption("missing operand")
    kernel = call.host.kernel
    spent_s = sum(_duration_s(call, word) for word in call.arguments)
    due_ns = kernel.now_ns + round(spent_s * NS_PER_S)
    while kernel.now_ns < due_ns:
        yield Pause(until_ns=due_ns)
    return 0


TOOLS: Tools = {
    "timeout": _timeout,
    "sudo": _sudo,
    "stdbuf": _stdbuf,
    "env": _env,
    "nohup": _nohup,
    "setsid": _setsid,
    "sleep": _sleep,
}
