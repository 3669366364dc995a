"""A file of JSON lines that survives a crash: a line is on the disk before `write` returns."""

import errno
import fcntl
import json
import os
import stat
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.trusted_files import believed, json_of


class NotWritten(LabError):
    """A line could not be put on the disk: it is full, read-only or gone."""


class InUse(LabError):
    """Another process has the file open for writing."""


class Pages:
    """Private (0600), locked while it is open, only appended to.

    A write that was cut off leaves a torn line; the next one begins on a line of its own.
    """

    def __init__(self, path: Path, *, fresh: bool) -> None:
        self.path = path
        self._lock = threading.Lock()
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if fresh else 0)
        try:
            self._file = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise NotWritten(f"{path}: {error.strerror}") from error
        self._expect_ours()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise InUse(f"{path} is being written by another process") from error
        self._open, self._torn = True, not fresh and not _ends_whole(path)
        self._syncing = threading.Lock()
        self._written = self._synced = self._lost = 0  # writes so far; up to which they are (not)

    def _expect_ours(self) -> None:
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in (os.geteuid(), 0):
            os.close(self._file)
            raise NotWritten(f"{self.path} does not belong to this user")

    def write(self, *lines: Mapping[str, Any]) -> None:
        """The lines are on the disk, by one fsync, which threads that write meanwhile share. Raises
        NotWritten; those before the place where it was cut off may be there then."""
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        try:
            self._sync(self._append(data))
        except OSError as error:
            raise NotWritten(f"{self.path}: {error.strerror}") from error

    def _append(self, data: bytes) -> int:
        with self._lock:
            data = b"\n" + data if self._torn else data
            self._torn = True  # until it is whole; also when an exception comes from anywhere
            while data:
                data = data[os.write(self._file, data) :]
            self._torn = False
            self._written += 1
            return self._written

    def _sync(self, number: int) -> None:
        """This write is on the disk: by its own fsync, or by one that began after it."""
        with self._syncing:
            if self._synced >= number:
                return
            if self._lost >= number:  # the system tells of a failure only once
                raise OSError(errno.EIO, "an fsync failed")
            upto = self._written
            try:
                os.fsync(self._file)
            except OSError:
                self._lost = upto
                raise
            self._synced = upto

    def close(self) -> None:
        """Free the file and its lock. Closing twice is allowed."""
        with self._syncing, self._lock:
            if self._open:
                self._open = False
                os.close(self._file)


def sync_folder(folder: Path) -> None:
    """The names in this folder are on the disk, too. Raises NotWritten."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NotWritten(f"{folder}: {error.strerror}") from error
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise NotWritten(f"{folder}: {error.strerror}") from error
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether some process has it open as Pages. False when it cannot be opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


@dataclass(frozen=True, slots=True)
class Torn:
    """A line that is not JSON: its write was cut off, so what it announces was not sent."""

    number: int


def read_lines(path: Path) -> Iterator[dict[str, Any] | Torn]:
    """Every line that has something, whole or torn, of a file that nobody else can have written.
    Raises NotPrivate, NotAFile, OSError."""
    for _, line in numbered_lines(path):
        yield line


def numbered_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | Torn]]:
    """The same, each with its number."""
    text = believed(path).decode("utf-8", errors="replace")
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json_of(line, most_parts=None)
        except ValueError:
            found = None
        yield number, found if isinstance(found, dict) else Torn(number)


def _ends_whole(path: Path) -> bool:
    data = believed(path)
    return not data or data.endswith(b"\n")
