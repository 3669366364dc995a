"""The project's tests in two halves side by side: rooms that run whole labs mostly wait.

    python tests/side_by_side.py [OPTION OF PYTEST ...]

What the second half prints comes when the first has ended; then a line for each half, with what
failed in it. Ctrl-C and SIGTERM end both.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

WHOLE_LABS = ("story", "endtoend", "byhand", "lease", "profiles", "linuxlab")
NOTHING_COLLECTED = 5
TAIL_BYTES = 200_000
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_RED = re.compile(rb"^(?:\x1b\[\d*m)*(?:FAILED|ERROR)(?:\x1b\[\d*m)* .*$", re.M)


@dataclass
class Half:
    """Some of the tests, as a process of its own session: signals come from us, once."""

    name: str
    command: Sequence[str]
    shown: IO[bytes]
    code: int = 0
    seconds: float = 0.0
    tail: bytes = b""
    process: "subprocess.Popen[bytes]" = field(init=False)
    reader: threading.Thread = field(init=False)

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*self.command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.reader = threading.Thread(target=self._read, args=(time.monotonic(),))
        self.reader.start()

    def _read(self, begun_s: float) -> None:
        assert self.process.stdout is not None
        while chunk := os.read(self.process.stdout.fileno(), 65536):
            self.shown.write(chunk)
            self.shown.flush()
            self.tail = (self.tail + chunk)[-TAIL_BYTES:]
        self.code, self.seconds = self.process.wait(), time.monotonic() - begun_s
        self.process.stdout.close()

    def lines(self) -> Iterator[str]:
        """How it ended, and what was red."""
        ended = "passed" if self.code == 0 else f"exit code {self.code}"
        yield f"{self.name}: {ended}, {self.seconds:.0f} s"
        for line in _RED.findall(self.tail) if self.code else ():
            yield f"    {line.decode(errors='replace')}"


def run(halves: Mapping[str, Sequence[str]]) -> int:
    """Both at once, the first one shown at once; 0 when both are green."""
    with tempfile.TemporaryFile() as later:
        shown = (sys.stdout.buffer, later)
        both = [
            Half(name, words, to) for (name, words), to in zip(halves.items(), shown, strict=True)
        ]
        for number in SIGNALS:
            signal.signal(number, lambda *_: _interrupt(both))
        for half in both:
            half.start()
        both[0].reader.join()
        both[1].reader.join()
        later.seek(0)
        sys.stdout.buffer.write(later.read())
    for half in both:
        print("\n".join(half.lines()), flush=True)  # noqa: T201
    codes = {half.code for half in both}
    if 0 in codes:
        codes.discard(NOTHING_COLLECTED)
    return max(code if code >= 0 else 128 - code for code in codes)


def _interrupt(both: Sequence[Half]) -> None:
    for half in both:
        with contextlib.suppress(ProcessLookupError):
            half.process.send_signal(signal.SIGINT)


def main() -> int:
    """Both halves, with the options of the command line."""
    pytest, rooms = [sys.executable, "-m", "pytest"], [f"tests/{room}" for room in WHOLE_LABS]
    options = sys.argv[1:] + (["--color=yes"] if sys.stdout.isatty() else [])
    others = ["tests", *(f"--ignore={room}" for room in rooms)]
    return run(
        {
            "all other rooms": [*pytest, *others, *options],
            f"rooms that run whole labs ({', '.join(WHOLE_LABS)})": [*pytest, *rooms, *options],
        }
    )


if __name__ == "__main__":
    sys.exit(main())
