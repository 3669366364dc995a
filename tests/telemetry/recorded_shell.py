"""A host whose /bin/sh is real and whose programs print recordings."""

import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shlex import quote
from types import SimpleNamespace

from labtests.transport.protocol import Reply

PROGRAMS = ("cat", "date", "ethtool", "grep", "ibdev2netdev", "mlnx_qos", "rdma", "tc")


class RecordedShell:
    """See transport.Transport. Each exchange takes a second of `clock`; `before(command)` may do
    something first, `damage(text)` is what becomes of stdout on the way."""

    def __init__(self, device: str, replies: Iterable[Reply], folder: Path) -> None:
        self.device = device
        self.asked: list[str] = []
        self.clock = SimpleNamespace(t=0.0, now_s=lambda: self.clock.t)
        self.before = lambda command: None
        self.damage = lambda text: text
        folder.mkdir()
        self._path = folder
        cases = "".join(_case(reply, folder / str(n)) for n, reply in enumerate(replies))
        program = folder / "program"
        program.write_text(
            f'#!/bin/sh\ncase "${{0##*/}} $*" in\n{cases}'
            '*) echo "sh: 1: ${0##*/}: not found" >&2; exit 127;;\nesac\n'
        )
        program.chmod(0o755)
        for name in PROGRAMS:
            (folder / name).symlink_to(program)

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        """By `sh -f`: there are no such files here that a pattern could mean."""
        self.asked.append(command)
        self.before(command)
        done = subprocess.run(
            ["/bin/sh", "-f", "-c", command],
            env={"PATH": str(self._path)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.clock.t += 1.0
        return Reply(
            device=self.device,
            command=command,
            text=self.damage(done.stdout),
            errors=done.stderr,
            status=done.returncode,
            time_s=self.clock.t,
        )


def _case(reply: Reply, file: Path) -> str:
    file.write_text(reply.text)
    errors = file.with_suffix(".err")
    errors.write_text(reply.errors)
    said = f"/bin/cat {file}; /bin/cat {errors} >&2; exit {reply.status}"
    return f"{quote(reply.command)}) {said};;\n"


def called(reply: Reply, command: str) -> Reply:
    """The same recording as the answer to another command."""
    return replace(reply, command=command)
