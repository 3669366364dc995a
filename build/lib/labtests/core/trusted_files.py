"""Files that somebody may have put there or handed over: what is checked is what is read.

Opened once, without waiting for a pipe's other end; whose it is, what it is, how long it is and
what was passed on the way are asked of what is open, and no more is read than it may have. Where
nothing is, nothing is read: no path is looked at first and opened then.
"""

import json
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.private_files import OpenedFile, expect_ours, opened

MOST_BYTES = 2**28
"""Of a journal, a snapshot, a run: hours of a large lab."""
MOST_PARTS = 600_000
"""Of an answer in JSON: some 200 000 values. All interfaces of a large switch have a tenth."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class NotAFile(LabError):
    """What has this path is not a regular file, or a link to one where none is followed, or longer
    than such a file is."""


class TooLong(NotAFile):
    """It goes on behind what such a file may have."""


Reader = Callable[..., bytes]
"""Of a path, with `most_bytes`: what the file says, for those who may have written it."""


def handed(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What anybody's file says. Raises NotAFile, OSError."""
    return _read(os.open(path, _FLAGS), path, most_bytes)


def own(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The same of a file that may be reached through anybody's link, as people keep their own
    settings. Raises NotPrivate, NotAFile, OSError."""
    descriptor = os.open(path, _FLAGS)
    return _judged(descriptor, path, most_bytes, lambda found: expect_ours(path, found))


def believed(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What a file says that only this user, or root, can have written or put there: commands are
    sent to devices because of it. Raises NotPrivate, NotAFile, OSError (ELOOP for a link)."""
    return _passed(opened(path, _FLAGS, follows=False), most_bytes, OpenedFile.expect_ours)


def owned(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """The same, also through a link that only they can have put there."""
    return _passed(opened(path, _FLAGS), most_bytes, OpenedFile.expect_ours)


def chosen(path: Path, *, named: bool, most_bytes: int = MOST_BYTES) -> bytes:
    """What a file says because of which devices may be dialled (OpenedFile.expect_chosen).
    Raises NotPrivate, NotAFile, OSError."""
    judge = partial(OpenedFile.expect_chosen, named=named)
    return _passed(opened(path, _FLAGS), most_bytes, judge)


def credible(path: Path, beside: Path | None = None, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What a file says that has keys which may be trusted (OpenedFile.expect_credible).
    Raises NotPrivate, NotAFile, OSError."""
    judge = partial(OpenedFile.expect_credible, beside=beside)
    return _passed(opened(path, _FLAGS), most_bytes, judge)


def _passed(file: OpenedFile, most_bytes: int, judge: Callable[[OpenedFile], None]) -> bytes:
    return _judged(file.descriptor, file.path, most_bytes, lambda _: judge(file))


def _judged(
    descriptor: int, path: Path, most_bytes: int, judge: Callable[[os.stat_result], None]
) -> bytes:
    """What is no file is said first: whose it is does not matter then."""
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            judge(found)
    except BaseException:
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


def json_of(text: str | bytes, *, most_parts: int | None = MOST_PARTS) -> Any:
    """What a text of JSON says; by default one of a device, which is read while others wait. Raises
    ValueError, also for what would exhaust the reader."""
    if most_parts is not None:
        expect_parts(text, most_parts)
    try:
        return json.loads(text)
    except (RecursionError, MemoryError, OverflowError) as error:
        raise ValueError(f"it is nested too deeply, or too large: {type(error).__name__}") from None


def expect_parts(text: str | bytes, most: int) -> None:
    """Counted before anything is made of them: no other thread runs while JSON is read, and hosts
    that hear nothing for some seconds end what they do. Raises ValueError."""
    marks = text.encode() if isinstance(text, str) else text
    if (parts := sum(map(marks.count, (b",", b":", b"[", b"{")))) > most:
        raise ValueError(f"it has {parts} parts; more than {most} are not read")
