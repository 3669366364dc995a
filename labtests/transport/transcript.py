"""What was asked of every device and what it answered, as it happened, without secrets: the
transcript of a run (`journal.jsonl`; the journal of its changes is another file: labtests/journal).

One JSON object per line (`labtests-journal/1`). Every line has

    order       1, 2, 3, ... in the order of writing
    time_s      the lab's clock: of a reply when it was complete, else of the moment
    device      its name in the testbed; "" when no device is meant
    kind        see below

and by kind

    run         command, text, errors, status
    configure   commands (a list), command, text, errors, status; of a host that was sent several
                lines also parts: of each that was sent command, text, errors, status
    start       process (a number), command, limit_s
    output      process, text, errors: what was printed since the line before; status: its exit
                status once known. Written only when something is new.
    signal      process, signal ("INT", "TERM", "KILL", or "close" = ended and gone)
    note        text; `test: ID` before what a test does

`status` is null on a CLI. A call that raised has `problem`, `remedy` and `error` (the name in
errors.py) in place of an answer. Secrets are replaced by `***` (see redaction.py). The tests
replay such a file as a lab.
"""

import json
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self

from labtests.core.clock import WallClock
from labtests.core.packed import packed
from labtests.core.private_files import open_private
from labtests.core.redaction import Redaction
from labtests.transport.protocol import Clock

Kind = Literal["run", "configure", "start", "output", "signal", "note"]
FORMAT = "labtests-journal/1"
TEST = "test: "
"""Begins the note that stands before all that a test does; nothing behind it: no test runs."""


class Transcript:
    """JSON lines (format: above), readable by the owner only, complete after each line.

    `clock` stamps what has no time of its own; give it the lab's clock once there is one.
    """

    def __init__(
        self, path: Path | str, *, secrets: Iterable[str] = (), clock: Clock | None = None
    ) -> None:
        self.path = Path(path)
        self.redaction = Redaction(secrets)
        self.clock: Clock = clock or WallClock()
        self.problem = ""
        """Why nothing more can be written (the disk is full). Putting a lab back goes on then."""
        self._lock = threading.Lock()
        self._order = 0
        self._written_s = 0.0
        self._processes = 0
        descriptor = open_private(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8")
        self.note("", FORMAT)

    def note(self, device: str, text: str) -> None:
        """Write down something that is not an exchange: a decision, a change and its reason."""
        self.write(device, "note", self.clock.now_s(), {"text": text})

    def mark(self, test: str) -> None:
        """What follows is of this test. At the time of the line before: no clock is asked, which
        may be that of a lab that is gone."""
        self.write("", "note", self._written_s, {"text": f"{TEST}{test}"})

    def write(self, device: str, kind: Kind, time_s: float, facts: dict[str, Any]) -> None:
        """One line, given to the system before this returns. After `close`, or once the disk was
        full, nothing is written."""
        clean = self.redaction.value(facts)
        with self._lock:
            if self._file.closed or self.problem:
                return
            self._order += 1
            self._written_s = time_s
            line = {"order": self._order, "time_s": time_s, "device": device, "kind": kind} | clean
            # ensure_ascii: a lone surrogate from a broken device must not stop the transcript
            try:
                self._file.write(json.dumps(line) + "\n")
                self._file.flush()
            except OSError as error:
                self.problem = f"{self.path}: {error.strerror}"

    def new_process(self) -> int:
        """A number for a process, unique in this transcript."""
        with self._lock:
            self._processes += 1
            return self._processes

    def close(self) -> None:
        """The file is complete. Closing twice is allowed."""
        with self._lock, suppress(OSError):  # what could not be written before cannot be now
            self._file.close()

    def pack(self, target: Path) -> None:
        """The same file compressed, in place of this one; where that cannot be written (the disk is
        full), this one stays, and nothing is lost. Raises NotPrivate."""
        fresh = target.with_name(f".{target.name}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        try:
            content = packed(self.path.read_bytes())
            with os.fdopen(open_private(fresh, flags), "wb") as file:
                file.write(content)
            fresh.replace(target)
        except OSError:
            fresh.unlink(missing_ok=True)
            return
        self.path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
