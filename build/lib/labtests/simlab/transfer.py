"""SFTP (and so `scp`, Fabric's put and get) over an emulated host's files.

asyncssh's SFTPServer serves this machine's own files unless every method is replaced; here every
method is, and what an emulated host cannot do is refused.
"""

import errno
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import asyncssh

from labtests.simlab.tree import FileTree

HOME = "/root"
# The flags of an open request (draft-ietf-secsh-filexfer-02, section 6.3).
FXF_WRITE, FXF_APPEND, FXF_CREAT, FXF_TRUNC, FXF_EXCL = 0x02, 0x04, 0x08, 0x10, 0x20


Files = FileTree
"""The files of an emulated device. Everything that fails raises OSError."""


@dataclass(slots=True)
class _OpenFile:
    path: str
    content: bytearray
    appends: bool = False
    changed: bool = field(default=False)


def _refuse(self: object, *_: Any, **__: Any) -> NoReturn:
    raise asyncssh.SFTPOpUnsupported("an emulated host does not do this")


class Transfer(asyncssh.SFTPServer):
    """One SFTP session. A file written to is replaced when it is closed."""

    def __init__(self, channel: Any, files: Files) -> None:
        super().__init__(channel)
        self._files = files
        self._user: str = channel.get_extra_info("username")

    # -- files -----------------------------------------------------------------------------------

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        """See SFTPServer."""
        name, files = self._name(path), self._files
        there = files.exists(name)
        if there and pflags & FXF_EXCL:
            raise _failure(errno.EEXIST)
        if not there and not pflags & FXF_CREAT:
            raise _failure(errno.ENOENT)
        keeps = there and not pflags & FXF_TRUNC
        opened = _OpenFile(
            name,
            bytearray(_encoded(files.read(name)) if keeps else b""),
            appends=bool(pflags & FXF_APPEND),
        )
        if pflags & FXF_WRITE and not keeps:
            files.replace(name, "", self._user)
        return opened

    def close(self, file_obj: object) -> None:
        """See SFTPServer."""
        opened = _opened(file_obj)
        if opened.changed:
            text = opened.content.decode("utf-8", "surrogateescape")
            self._files.replace(opened.path, text, self._user)

    def read(self, file_obj: object, offset: int, size: int) -> bytes:
        """See SFTPServer."""
        return bytes(_opened(file_obj).content[offset : offset + size])

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        """See SFTPServer."""
        opened = _opened(file_obj)
        start = len(opened.content) if opened.appends else offset
        opened.content.extend(bytes(max(start - len(opened.content), 0)))
        opened.content[start : start + len(data)] = data
        opened.changed = True
        return len(data)

    def remove(self, path: bytes) -> None:
        """See SFTPServer."""
        self._files.remove(self._name(path))

    def rename(self, oldpath: bytes, newpath: bytes) -> None:
        """See SFTPServer."""
        old, new = self._name(oldpath), self._name(newpath)
        self._files.replace(new, self._files.read(old), self._user)
        self._files.remove(old)

    posix_rename = rename

    # -- folders and attributes ------------------------------------------------------------------

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        """See SFTPServer."""
        folder = self._name(path)
        for name in [".", "..", *self._files.entries(folder)]:
            attributes = self._attributes(self._files.resolve(name, folder))
            yield asyncssh.SFTPName(name.encode(), attrs=attributes)

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """See SFTPServer."""
        self._files.make_folder(self._name(path))

    def realpath(self, path: bytes) -> bytes:
        """See SFTPServer."""
        return self._name(path).encode()

    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        """See SFTPServer."""
        return self._attributes(self._name(path))

    lstat = stat

    def fstat(self, file_obj: object) -> asyncssh.SFTPAttrs:
        """See SFTPServer."""
        return _file_attributes(len(_opened(file_obj).content))

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """See SFTPServer. Modes and times are accepted and not kept."""
        self._attributes(self._name(path))

    lsetstat = setstat

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        """See SFTPServer. A size is kept."""
        opened = _opened(file_obj)
        if attrs.size is not None:
            opened.content[:] = opened.content[: attrs.size].ljust(attrs.size, b"\0")
            opened.changed = True

    def fsync(self, file_obj: object) -> None:
        """See SFTPServer."""
        self.close(file_obj)

    def exit(self) -> None:
        """See SFTPServer. OpenSSH's scp takes a session without an exit status for a failure."""
        self.channel.exit(0)

    # -- refused ---------------------------------------------------------------------------------

    def readlink(self, path: bytes) -> bytes:
        """There are no links."""
        raise _failure(errno.EINVAL)

    open56 = rmdir = symlink = link = statvfs = fstatvfs = _refuse

    # -- inside ----------------------------------------------------------------------------------

    def _name(self, path: bytes) -> str:
        return self._files.resolve(path.decode("utf-8", "replace"), HOME)

    def _attributes(self, path: str) -> asyncssh.SFTPAttrs:
        if self._files.is_folder(path):
            mode = stat.S_IFDIR | 0o755
            return asyncssh.SFTPAttrs(
                size=4096, permissions=mode, uid=0, gid=0, atime=0, mtime=0, nlink=1
            )
        if not self._files.exists(path):
            raise _failure(errno.ENOENT)
        return _file_attributes(len(_encoded(self._files.read(path))))


def _opened(file_obj: object) -> _OpenFile:
    assert isinstance(file_obj, _OpenFile)
    return file_obj


def _file_attributes(size: int) -> asyncssh.SFTPAttrs:
    mode = stat.S_IFREG | 0o644
    return asyncssh.SFTPAttrs(size=size, permissions=mode, uid=0, gid=0, atime=0, mtime=0, nlink=1)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _failure(number: int) -> OSError:
    return OSError(number, errno.errorcode[number])
