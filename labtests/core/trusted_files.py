"""Files that somebody may have put there or handed over: what is checked is what is read.

Opened once, without following a link and without waiting for a pipe's other end; whose it is, what
it is and how long it is are asked of the open file, and no more is read than it may have.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, expect_ours, expect_safe_way

MOST_BYTES = 2**28
"""Of a journal, a snapshot, a run: hours of a large lab."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class NotAFile(LabError):
    """What has this path is not a regular file, or a link to one where none is followed, or longer
    than such a file is."""


class TooLong(NotAFile):
    """It goes on behind what such a file may have."""


def handed(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What anybody's file says. Raises NotAFile, OSError."""
    return _read(os.open(path, _FLAGS), path, most_bytes)


def own(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The same of a file that may be reached through a link, as people keep their own settings.
    Raises NotPrivate, NotAFile, OSError."""
    return _if_ours(os.open(path, _FLAGS), path, most_bytes)


def believed(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What a file says that only this user, or root, can have written or put there: commands are
    sent to devices because of it. Raises NotPrivate, NotAFile, OSError (ELOOP for a link)."""
    expect_safe_way(path)
    return _if_ours(os.open(path, _FLAGS | os.O_NOFOLLOW), path, most_bytes)


def _if_ours(descriptor: int, path: Path, most_bytes: int) -> bytes:
    try:
        expect_ours(path, os.fstat(descriptor))
    except NotPrivate:
        os.close(descriptor)
        raise
    return _read(descriptor, path, most_bytes)


def _read(descriptor: int, path: Path, most_bytes: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotAFile(f"{path} is not a regular file")
        content = file.read(most_bytes + 1) or b""  # None: one that has nothing yet
    if len(content) > most_bytes:
        raise TooLong(f"{path} has more than {most_bytes} bytes: no such file needs that")
    return content


def json_of(text: str | bytes) -> Any:
    """What a text of JSON says. Raises ValueError, also for what would exhaust the reader."""
    try:
        return json.loads(text)
    except (RecursionError, MemoryError, OverflowError) as error:
        raise ValueError(f"it is nested too deeply, or too large: {type(error).__name__}") from None
