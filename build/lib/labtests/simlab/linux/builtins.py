"""Commands that the shell does itself, and the shell as a program."""

import re
from collections.abc import Mapping

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands import printing, signals, testing
from labtests.simlab.linux.execution import LoopJump, ShellExit, Steps
from labtests.simlab.linux.options import NotEmulated, read_options
from labtests.simlab.linux.processes import (
    NOT_FOUND,
    SIGNAL_NUMBERS,
    Pause,
    Program,
)
from labtests.simlab.linux.shell import Builtin, HostShell


def _cd(shell: HostShell, call: Call) -> int:
    name = call.arguments[0] if call.arguments else "/root"
    path = call.path(name)
    if not shell.host.tree.is_folder(path):
        reason = "Not a directory" if shell.host.tree.is_file(path) else "No such file or directory"
        shell.complain(f"cd: {name}: {reason}", 1)
        return 1
    shell.process.directory = path
    return 0


def _pwd(shell: HostShell, call: Call) -> int:
    call.out(shell.process.directory + "\n")
    return 0


def _exit(shell: HostShell, call: Call) -> int:
    if not call.arguments:
        raise ShellExit(shell.status)
    if not re.fullmatch(r"[-+]?[0-9]+", call.arguments[0]):
        shell.complain(f"{call.name}: {call.arguments[0]}: numeric argument required", 1)
        raise ShellExit(2)
    raise ShellExit(int(call.arguments[0]) % 256)


def _jump(shell: HostShell, call: Call) -> int:
    """`break` and `continue`, of the innermost loop."""
    if call.arguments:
        shell.refuse(f"{call.name} of several loops")
    if not shell.loops:
        shell.complain(f"{call.name}: only meaningful in a `for', `while', or `until' loop", 1)
        return 0
    raise LoopJump(ends=call.name == "break")


def _export(shell: HostShell, call: Call) -> int:
    for argument in call.arguments:
        name, equals, value = argument.partition("=")
        shell.process.environment[name] = value if equals else shell.variable(name)
        shell.local.pop(name, None)
    return 0


def _unset(shell: HostShell, call: Call) -> int:
    for name in call.arguments:
        shell.local.pop(name, None)
        shell.process.environment.pop(name, None)
    return 0


def _command(shell: HostShell, call: Call) -> int:
    """`command -v NAME…`."""
    if call.arguments[:1] != ("-v",):
        shell.refuse("command but for -v")
    places = [_place(shell, name) for name in call.arguments[1:]]
    call.out("".join(f"{place}\n" for place in places if place))
    return int("" in places)


def _place(shell: HostShell, name: str) -> str:
    """The path of a program, the name of a builtin, "" for what is neither."""
    if name in shell.builtins:
        return name
    if shell.host.program(name) is None:
        return ""
    return name if "/" in name else shell.host.path_of(name)


def _type(shell: HostShell, call: Call) -> int:
    status = 0
    for name in call.arguments:
        place = _place(shell, name)
        if place:
            call.out(f"{name} is {'a shell builtin' if place == name else place}\n")
        else:
            shell.complain(f"type: {name}: not found", 1)
            status = 1
    return status


def _exec(shell: HostShell, call: Call) -> Steps:
    if not call.arguments:
        return 0
    status = yield from shell.replace(call.arguments, shell.process.streams, 1)
    raise ShellExit(status)


def _wait(shell: HostShell, call: Call) -> Steps:
    status = 0
    wanted = set(call.arguments)
    for job in list(shell.jobs):
        if not wanted or str(job.pid) in wanted:
            status = yield from shell.wait_for(job)
            shell.jobs.remove(job)
    return status


def _read(shell: HostShell, call: Call) -> Steps:
    source = shell.process.streams.input
    line = source.take_line()
    while line is None:
        yield Pause(on=(source.changed,))
        shell.heed_interrupt()
        line = source.take_line()
    names = [name for name in call.arguments if not name.startswith("-")] or ["REPLY"]
    whole = len(names) == 1 and shell.local.pop("IFS", None) is not None
    values = [line.removesuffix("\n")] if whole else line.split(None, len(names) - 1)
    for name, value in zip(names, values + [""] * len(names), strict=False):
        shell.local[name] = value if whole else value.strip()
    return 0 if line.endswith("\n") else 1


def _kill(shell: HostShell, call: Call) -> Steps:
    status = signals.kill(call, complain=lambda text: shell.complain(text, 1))
    shell.process.wake()  # a shell that killed itself ends here
    yield Pause()
    return status


def _trap(shell: HostShell, call: Call) -> int:
    """`trap "" SIGNAL...` ignores, `trap - SIGNAL...` no longer. Handlers are not emulated, but
    for `:`, which labtests' own scripts have."""
    words = [word for word in call.arguments if word != "--"]
    if words[:1] not in ([], [""], ["-"], [":"]) or words[1:] == ["EXIT"]:
        shell.refuse(f"trap {' '.join(words)}")
    names = {word.upper().removeprefix("SIG") for word in words[1:]} & set(SIGNAL_NUMBERS)
    if words[:1] == [""]:
        shell.process.ignored |= names
    elif words[:1] == ["-"]:
        shell.process.ignored -= names
    return 0


def _set(shell: HostShell, call: Call) -> int:
    """`set -euC -o pipefail`, `set +e`, `set -- WORD…`."""
    words, flags = list(call.arguments), set(shell.flags)
    if not words:
        shell.refuse("set without arguments")
    while words and re.match("[-+][^-]", words[0]):
        sign, letters = words[0][0], words.pop(0)[1:]
        for letter in letters:
            name = words.pop(0) if letter == "o" and words else letter
            flag = {"errexit": "e", "nounset": "u", "noclobber": "C"}.get(name, name)
            if sign == "-" and flag not in ("e", "u", "C", "pipefail"):
                shell.refuse(f"set -{'o ' if letter == 'o' else ''}{name}")
            (flags.add if sign == "-" else flags.discard)(flag)
    shell.flags = frozenset(flags)
    if words:
        shell.parameters = (shell.name, *(words[1:] if words[0] == "--" else words))
    return 0


def _refuse(shell: HostShell, call: Call) -> int:
    shell.refuse(call.name)


def _with(flags: str, builtin: Builtin) -> Builtin:
    """These options are done, or change nothing; any other is refused."""

    def checked(shell: HostShell, call: Call) -> int | Steps:
        first = (*call.arguments, "")[0]
        if re.match("-[^-]", first) and not re.fullmatch(f"-[{flags}-]+", first):
            shell.refuse(f"{call.name} {first}")
        return builtin(shell, call)

    return checked


_OF_BASH = (
    *(".", "alias", "bg", "declare", "eval", "fg", "getopts", "history", "jobs", "let", "local"),
    *("mapfile", "readarray", "readonly", "shift", "shopt", "source", "time", "typeset", "ulimit"),
)
BUILTINS: Mapping[str, Builtin] = {
    **dict.fromkeys((":", "true"), lambda shell, call: 0),
    **dict.fromkeys(_OF_BASH, _refuse),
    "umask": lambda shell, call: 0 if call.arguments else shell.refuse("umask without a mask"),
    "set": _set,
    "[": lambda shell, call: testing.test(call),
    "test": lambda shell, call: testing.test(call),
    "false": lambda shell, call: 1,
    "echo": lambda shell, call: printing.echo(call),
    "printf": _with("", lambda shell, call: printing.printf(call)),
    "cd": _with("", _cd),
    "pwd": _with("LP", _pwd),
    "exit": _exit,
    "logout": _exit,
    "break": _jump,
    "continue": _jump,
    "export": _with("", _export),
    "unset": _with("v", _unset),
    "trap": _trap,
    "type": _with("", _type),
    "command": _command,
    "exec": _with("", _exec),
    "wait": _with("", _wait),
    "read": _with("r", _read),
    "kill": _kill,
}


def _sh(call: Call) -> Program:
    """`sh -c TEXT [NAME …]`, a script, or commands on stdin."""
    options, words = read_options(call.arguments, "-liseu -c= -o=", stop_early=True)
    if "c" in options:
        parameters = tuple(words)
        text = options["c"]
    elif words:
        parameters = tuple(words)
        try:
            text = call.host.tree.read(call.path(words[0]))
        except OSError as error:
            return call.fail(f"{words[0]}: {error.strerror}", NOT_FOUND)
    elif call.process.streams.out.terminal:
        raise NotEmulated("a shell in the shell of a terminal")
    else:
        parameters = ()
        text = yield from call.read_all()
    flags = "".join(f"-{x} {options[x]} " for x in "euo" if x in options)
    text = f"set {flags};{text}" if flags else text
    name = (words or [call.name])[0]
    shell = HostShell(
        host=call.host,
        builtins=BUILTINS,
        process=call.process,
        name=name,
        parameters=parameters,
    )
    return (yield from shell.run(text))


SHELLS: Tools = dict.fromkeys(("sh", "bash", "dash"), _sh)
