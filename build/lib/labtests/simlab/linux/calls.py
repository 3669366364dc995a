"""A command as it runs: what the tools in `commands/`, `perftest/` and `iperf3/` get."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.processes import HostProcess, Pause, Program
from labtests.simlab.linux.streams import Stdio
from labtests.simlab.screens import render

screen = partial(render, Path(__file__).parent / "screens")
"""What a program prints, from the template of this name in `screens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One run of a tool by a process of a host."""

    host: Machine
    process: HostProcess
    argv: tuple[str, ...]

    @property
    def name(self) -> str:
        """How it was called, without folders."""
        return self.argv[0].rpartition("/")[2]

    @property
    def arguments(self) -> tuple[str, ...]:
        """What follows the name."""
        return self.argv[1:]

    def out(self, text: str) -> None:
        """Print on stdout at once. Raises OSError as write(2) does."""
        if text:
            self.process.streams.out.write(text)

    def err(self, text: str) -> None:
        """Print on stderr at once."""
        if text:
            self.process.streams.err.write(text)

    def fail(self, text: str, status: int = 1) -> int:
        """Complain with `name: text` on stderr; the exit status."""
        self.err(f"{self.name}: {text}\n")
        return status

    def stdio(self) -> Stdio:
        """Stdout behind stdio's buffer, which `stdbuf -oL` may have changed."""
        mode = self.process.environment.get("_STDBUF_O", "")
        return Stdio(self.process.streams.out, line_buffered=mode in ("L", "0"))

    def read_all(self) -> Generator[Pause, None, str]:
        """All of stdin, to its end."""
        source, text = self.process.streams.input, ""
        while True:
            text += source.take()
            if source.ended:
                return text
            yield Pause(on=(source.changed,))

    def read_some(self) -> Generator[Pause, None, str]:
        """What is next on stdin, as soon as it is there; "" at its end."""
        source = self.process.streams.input
        while True:
            text = source.take()
            if text or source.ended:
                return text
            yield Pause(on=(source.changed,))

    def path(self, name: str) -> str:
        """An absolute path of a name as the process sees it."""
        return self.host.tree.resolve(name, self.process.directory)


Tool = Callable[[Call], int | str | Program]
"""Ends at once, with a status or a text that it prints, or is a program that takes its time."""
Tools = Mapping[str, Tool]
