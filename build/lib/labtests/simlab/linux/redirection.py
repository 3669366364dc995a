"""Where a command's streams go: `>`, `>>`, `<`, `2>`, `2>&1`, `&>`, `<<<`, `3<&0`, `<&3`."""

import errno
import os
from collections.abc import Generator
from dataclasses import replace

from labtests.simlab.linux import expansion
from labtests.simlab.linux.execution import Execution
from labtests.simlab.linux.grammar import Redirection
from labtests.simlab.linux.processes import Pause, StandardStreams
from labtests.simlab.linux.streams import (
    FileOutput,
    Output,
    TextSource,
    nothing,
)


def redirected(
    shell: Execution, redirections: tuple[Redirection, ...], line: int
) -> Generator[Pause, None, StandardStreams | None]:
    """The streams after all redirections; None when one failed, which the shell has said."""
    streams = shell.process.streams
    for redirection in redirections:
        target = yield from expansion.single(shell, redirection.target)
        try:
            streams = _apply(shell, streams, redirection, target)
        except OSError as error:
            shell.complain(f"{target}: {error.strerror}", line)
            return None
    return streams


def _apply(
    shell: Execution, streams: StandardStreams, redirection: Redirection, target: str
) -> StandardStreams:
    operator, descriptor = redirection.operator, redirection.descriptor
    if operator == "<<<":
        return replace(streams, input=TextSource(target + "\n", ended=True))
    if operator == "<":
        return _with_input(shell, streams, descriptor, _opened_input(shell, target))
    if operator == "<&":
        return _with_input(shell, streams, descriptor, _duplicated(shell, streams, target))
    if operator == ">&" and target in ("1", "2", "-"):
        duplicate: Output = streams.out if target == "1" else streams.err
        if target == "-":
            duplicate = Output()  # closed; what is written to it is lost
        return _with_output(streams, descriptor, duplicate)
    if descriptor not in (1, 2) or (operator == ">&" and target.isdigit()):
        shell.refuse(f"{descriptor}{operator}{target}")
    output = _opened(shell, target, operator)
    if operator.startswith("&") or operator == ">&":
        return replace(streams, out=output, err=output)
    return _with_output(streams, descriptor, output)


def _duplicated(shell: Execution, streams: StandardStreams, target: str) -> TextSource | None:
    """What a descriptor reads from; None for `-`, which closes."""
    if target == "-":
        return None
    inputs = {0: streams.input, **shell.process.inputs}
    if not target.isdecimal() or int(target) not in inputs:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return inputs[int(target)]


def _with_input(
    shell: Execution, streams: StandardStreams, descriptor: int, source: TextSource | None
) -> StandardStreams:
    """Descriptors beside stdin stay as they are made, which is what `exec` wants of them."""
    if descriptor == 0:
        return replace(streams, input=nothing() if source is None else source)
    if source is None:
        shell.process.close_input(descriptor)
    else:
        shell.process.open_input(descriptor, source)
    return streams


def _with_output(streams: StandardStreams, descriptor: int, output: Output) -> StandardStreams:
    if descriptor == 2:
        return replace(streams, err=output)
    return replace(streams, out=output)


def _opened(shell: Execution, target: str, operator: str) -> Output:
    path = shell.resolve(target)
    if path == "/dev/stderr":
        return shell.process.streams.err
    if path == "/dev/stdout":
        return shell.process.streams.out
    keeps = "C" in shell.flags and operator == ">" and path != "/dev/null"
    if keeps and shell.host.tree.is_file(path):
        raise OSError(errno.EEXIST, "cannot overwrite existing file")
    append = operator.endswith(">>")
    return FileOutput(shell.host.tree.writer(path, append=append, user=shell.process.user))


def _opened_input(shell: Execution, target: str) -> TextSource:
    if target == "/dev/null":
        return nothing()
    return TextSource(shell.host.tree.read(shell.resolve(target)), ended=True)
