"""kill, pkill and pgrep."""

import re
from collections.abc import Callable, Sequence

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, only, read_options
from labtests.simlab.linux.processes import SIGNAL_NUMBERS, HostProcess

_NAMES = {number: name for name, number in SIGNAL_NUMBERS.items()}


def kill(call: Call, *, complain: Callable[[str], None]) -> int:
    """bash's kill: `-NAME`, `-s NAME`, `-0`, negative PIDs are groups, `--` ends the options."""
    words = list(call.arguments)
    signal: str | None = "TERM"
    if words[:1] == ["-s"] and len(words) > 1:
        signal = _signal(words[1])
        words = words[2:]
    elif words and words[0].startswith("-") and words[0] != "--":
        signal = _signal(words.pop(0)[1:])
    if signal is None:
        complain("kill: invalid signal specification")
        return 1
    if words[:1] == ["--"]:
        words.pop(0)
    if not words:
        call.err(
            "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or "
            "kill -l [sigspec]\n"
        )
        return 2
    return max(_kill_one(call, word, signal, complain) for word in words)


def _signal(word: str) -> str | None:
    """The name; "0" for the one that only asks; None when there is no such signal."""
    word = word.upper().removeprefix("SIG")
    if word in ("0", "EXIT"):
        return "0"
    if word.isdigit():
        return _NAMES.get(int(word))
    return word if word in SIGNAL_NUMBERS else None


def _kill_one(call: Call, word: str, signal: str, complain: Callable[[str], None]) -> int:
    if not re.fullmatch(r"-?[0-9]+", word):
        complain(f"kill: {word}: arguments must be process or job IDs")
        return 1
    kernel, number = call.host.kernel, int(word)
    if number < 0:
        targets = kernel.members(-number)
    elif number == 0:
        targets = kernel.members(call.process.group)
    else:
        targets = [kernel.table[number]] if number in kernel.table else []
    if not targets:
        complain(f"kill: ({word}) - No such process")
        return 1
    allowed = [target for target in targets if call.process.user in ("root", target.user)]
    if not allowed:
        complain(f"kill: ({word}) - Operation not permitted")
        return 1
    for target in allowed:
        if signal != "0":
            kernel.deliver(target, signal)
    return 0


def _pgrep(call: Call) -> int:
    options, processes = _matching(call.arguments, call)
    for process in processes:
        if "a" in options:
            call.out(f"{process.pid} {process.command_line}\n")
        elif "l" in options:
            call.out(f"{process.pid} {process.name}\n")
        elif "c" not in options:
            call.out(f"{process.pid}\n")
    if "c" in options:
        call.out(f"{len(processes)}\n")
    return int(not processes)


def _pkill(call: Call) -> int:
    named = {word: _signal(word[1:]) for word in call.arguments if word.startswith("-")}
    word, signal = next(((word, name) for word, name in named.items() if name), ("", "TERM"))
    words = [each for each in call.arguments if not word or each != word]
    only([each for each in named if each != word], "-f", "-x", "-o", "-n", "-fx", "-xf", "--")
    _, processes = _matching(words, call)
    for process in processes:
        if signal != "0":
            call.host.kernel.deliver(process, signal)
    return int(not processes)


def _matching(arguments: Sequence[str], call: Call) -> tuple[dict[str, str], list[HostProcess]]:
    options, words = read_options(arguments, "-faxlcon")
    if len(words) != 1:
        some = "only one pattern can be provided"
        raise BadOption(some if words else "no matching criteria specified")
    try:
        pattern = re.compile(words[0])
    except re.error as error:
        raise BadOption(str(error)) from None
    matches = pattern.fullmatch if "x" in options else pattern.search
    found = [
        process
        for process in call.host.kernel.living()
        if process.pid != call.process.pid
        and matches(process.command_line if "f" in options else process.name)
    ]
    if "o" in options or "n" in options:
        found = found[:1] if "o" in options else found[-1:]
    return options, found


TOOLS: Tools = {"pgrep": _pgrep, "pkill": _pkill}
