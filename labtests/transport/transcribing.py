"""A transport that writes down everything it is asked and everything it answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from labtests.core.errors import DeviceError
from labtests.transport.commands import Command
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Clock, Process, Reply, Signal, Transport
from labtests.transport.transcript import Kind, Transcript


class TranscribedTransport:
    """The same session, and a transcript of it, by whose clock what processes print is stamped."""

    def __init__(self, transport: Transport, transcript: Transcript) -> None:
        self.device = transport.device
        self._transport, self._transcript = transport, transcript
        self._clock = transcript.clock

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        with self._noting_errors("run", {"command": command}):
            reply = self._transport.run(command, timeout_s=timeout_s)
        self._transcript.write(self.device, "run", reply.time_s, _answer(reply))
        return reply

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """See Transport."""
        asked = {"commands": list(commands)}
        with self._noting_errors("configure", asked):
            reply = self._transport.configure(commands)
        self._transcript.write(self.device, "configure", reply.time_s, asked | _answer(reply))
        return reply

    def start(self, command: Command, *, limit_s: float) -> "TranscribedProcess":
        """See Transport."""
        asked = {"command": command, "limit_s": limit_s}
        with self._noting_errors("start", asked):
            process = self._transport.start(command, limit_s=limit_s)
        pages = _Pages(self._transcript, self._clock, self.device)
        pages.write("start", asked)
        return TranscribedProcess(process, pages)

    def close(self) -> None:
        """See Transport."""
        self._transport.close()

    @contextmanager
    def _noting_errors(self, kind: Kind, asked: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        except DeviceError as error:
            told = {"error": type(error).__name__, "problem": error.problem, "remedy": error.remedy}
            self._transcript.write(self.device, kind, self._clock.now_s(), asked | told)
            raise


class TranscribedProcess:
    """The same process; what it prints goes into the transcript when somebody looks at it."""

    def __init__(self, process: Process, pages: "_Pages") -> None:
        self.device, self.command = process.device, process.command
        self._process, self._pages = process, pages
        self._lock = threading.Lock()
        self._seen = _Seen()

    def output(self) -> str:
        """See Process."""
        text = self._process.output()
        self._note_news(text, "")
        return text

    def errors(self) -> str:
        """See Process."""
        errors = self._process.errors()
        self._note_news("", errors)
        return errors

    def status(self) -> int | None:
        """See Process. Once it is known, everything printed is in the transcript."""
        status = self._process.status()
        if status is not None and self._seen.status is None:
            self._note_news(self._process.output(), self._process.errors(), status)
        return status

    def signal(self, name: Signal) -> None:
        """See Process."""
        self._process.signal(name)
        self._pages.write("signal", {"signal": name})

    def close(self) -> None:
        """See Process. What it printed at last is in the transcript."""
        try:
            self._process.close()
        finally:
            self._note_last_words()
        self._pages.write("signal", {"signal": "close"})

    def _note_last_words(self) -> None:
        try:
            text, errors = self._process.output(), self._process.errors()
            self._note_news(text, errors, self._process.status(), final=True)
        except DeviceError as error:  # the session is gone: that is what is known of the end
            self._pages.transcript.note(self.device, f"{self.command!r}: {error.problem}")

    def _note_news(
        self, text: str, errors: str, status: int | None = None, *, final: bool = False
    ) -> None:
        final = final or status is not None
        with self._lock:
            before = self._seen
            now = _Seen(
                # another thread may have seen, and noted, more in the meantime
                max(_noted(text, final), before.text, key=len),
                max(_noted(errors, final), before.errors, key=len),
                before.status if status is None else status,
            )
            if now != before:
                self._seen = now
                self._pages.write("output", _news(before, now))


@dataclass(frozen=True, slots=True)
class _Seen:
    text: str = ""
    errors: str = ""
    status: int | None = None


def _noted(text: str, final: bool) -> str:
    """Whole lines only, until the end: half a secret would not be recognised."""
    return text if final else text[: text.rfind("\n") + 1]


def _news(before: _Seen, now: _Seen) -> dict[str, Any]:
    return {
        "text": now.text[len(before.text) :],
        "errors": now.errors[len(before.errors) :],
        "status": now.status,
    }


class _Pages:
    """The lines of one process in a transcript."""

    def __init__(self, transcript: Transcript, clock: Clock, device: str) -> None:
        self.transcript = transcript
        self._clock, self._device, self._number = clock, device, transcript.new_process()

    def write(self, kind: Kind, facts: dict[str, Any]) -> None:
        """One line about this process, now."""
        self.transcript.write(
            self._device, kind, self._clock.now_s(), {"process": self._number} | facts
        )


def _answer(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = {
        "command": reply.command,
        "text": reply.text,
        "errors": reply.errors,
        "status": reply.status,
    }
    if reply.parts:
        found["parts"] = [_answer(part) for part in reply.parts]
    return found
