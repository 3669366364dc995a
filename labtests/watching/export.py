"""Where records go while a lab streams: a board, files, and whoever scrapes it; in a thread of its
own, so that nothing waits for a slow file or scraper."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from labtests.capabilities.streams import StreamRecord
from labtests.core.errors import LabError
from labtests.core.private_files import open_private
from labtests.streams import Collectors
from labtests.watching.board import Board
from labtests.watching.exports import LineFile, serve

TAKE_WITHIN_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedExports:
    """`record`: JSON lines; `influx`: InfluxDB's; `metrics`: address and port for Prometheus."""

    record: Path | None = None
    influx: Path | None = None
    metrics: tuple[str, int] | None = None

    @property
    def anything(self) -> bool:
        """Whether there is something to export to."""
        return any((self.record, self.influx, self.metrics))


class Exporting:
    """From now until `close`. Raises LabError for a file or port that cannot be had."""

    def __init__(self, streams: Collectors, lab: str, wanted: WantedExports) -> None:
        self.board = Board()
        self._failed: list[str] = []
        self._listener = streams.listen()
        self._ended = threading.Event()
        self._stack = ExitStack()
        self._sinks: list[Callable[..., None]] = [self.board.take]
        try:
            self._open(lab, wanted)
        except OSError as error:
            self._stack.close()
            raise LabError(f"{error.filename}: {error.strerror}") from error
        except LabError:
            self._stack.close()
            raise
        self._thread = threading.Thread(target=self._run, name="export", daemon=True)
        self._thread.start()

    def _open(self, lab: str, wanted: WantedExports) -> None:
        for path, name in ((wanted.record, None), (wanted.influx, lab)):
            if path is not None:
                file = _appended(path)
                self._stack.callback(self._end, file)
                self._sinks.append(LineFile(file, name).take)
        if wanted.metrics is not None:
            server = serve(self.board, lab, *wanted.metrics)
            self._stack.callback(server.server_close)
            self._stack.callback(server.shutdown)

    @property
    def missing(self) -> Iterator[str]:
        """What is not in the exports, and why: sentences."""
        yield from self._failed
        if self._listener.lost:
            yield f"{self._listener.lost} records came faster than they could be taken"

    def close(self) -> None:
        """What has come is written, as far as that can be."""
        self._ended.set()
        self._thread.join(5.0)
        self._stack.close()

    def _end(self, file: TextIO) -> None:
        """A full disk was told when it was written to."""
        with suppress(OSError):
            file.close()

    def _run(self) -> None:
        while True:
            ended = self._ended.is_set()
            batch = self._listener.take(TAKE_WITHIN_S)
            for sink in tuple(self._sinks) if batch else ():
                self._pour(sink, batch)
            if ended and not batch:
                return

    def _pour(self, sink: Callable[..., None], batch: tuple[StreamRecord, ...]) -> None:
        """One that fails gets nothing more, and holds up no other."""
        try:
            sink(batch)
        except OSError as error:
            self._sinks.remove(sink)
            self._failed.append(f"an export of the streams ends: {error.strerror}")


def _appended(path: Path) -> TextIO:
    """Of ours alone: addresses and names of a lab are in it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.fdopen(open_private(path, flags), "a", encoding="utf-8")
