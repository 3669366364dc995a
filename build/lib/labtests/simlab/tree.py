"""The emulated file tree: files that are read and written through functions, and plain ones.

Errors are OSError with the errno of the real call; the tools turn them into their own words.
"""

import errno
import fnmatch
import os
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

IN_MEMORY = ("/tmp/", "/run/", "/dev/shm/")
SCRATCH = ("/tmp", "/root", "/var/tmp", "/home", "/run", "/dev/shm")


@dataclass(slots=True, kw_only=True)
class File:
    """A file. Without `write` it can only be read, by anybody; plain files also hold `text`."""

    read: Callable[[], str]
    write: Callable[[str], None] | None = None
    hidden: Callable[[], bool] = field(default=lambda: False)
    plain: bool = False


def failure(number: int) -> OSError:
    """The error of this number with its usual words."""
    return OSError(number, os.strerror(number))


class FileTree:
    """Paths to files. Folders exist because something is in them, or because they were made."""

    def __init__(self, read_only: Callable[[], bool] = lambda: False) -> None:
        self._read_only = read_only  # the file system of plain files
        self._files: dict[str, File] = {}
        self._folders: dict[str, Callable[[], bool]] = {}
        for folder in ("/", *SCRATCH):
            self.add_folder(folder)

    def add(self, path: str, file: File) -> None:
        """The file is there, and its folders are."""
        self._files[path] = file
        self.add_folder(posixpath.dirname(path), file.hidden)

    def add_folder(self, path: str, hidden: Callable[[], bool] = lambda: False) -> None:
        """The folder is there. The folders above it are never hidden."""
        if path not in self._folders:
            self._folders[path] = hidden
        if path != "/":
            self.add_folder(posixpath.dirname(path))

    def resolve(self, name: str, directory: str) -> str:
        """An absolute path without `.` and `..`."""
        return posixpath.normpath(posixpath.join(directory, name)).replace("//", "/")

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder of this path."""
        return path in self._folders and not self._folders[path]()

    def is_file(self, path: str) -> bool:
        """Whether there is a file of this path."""
        return self._file(path) is not None

    def exists(self, path: str) -> bool:
        """Whether anything has this path."""
        return self.is_folder(path) or self.is_file(path)

    def writable(self, path: str, user: str) -> bool:
        """Whether opening it for writing would succeed."""
        file = self._file(path)
        if file is None:
            return False
        return file.plain or (file.write is not None and user == "root")

    def entries(self, folder: str) -> list[str]:
        """The names in a folder, in order. Raises OSError when it is none."""
        if not self.is_folder(folder):
            raise failure(errno.ENOTDIR if self.is_file(folder) else errno.ENOENT)
        prefix = folder.rstrip("/") + "/"
        names = {
            path[len(prefix) :]
            for path in [*self._files, *self._folders]
            if path.startswith(prefix) and "/" not in path[len(prefix) :] and path != folder
        }
        return sorted(name for name in names if name and self.exists(prefix + name))

    def read(self, path: str) -> str:
        """The file's text at present. Raises OSError."""
        return self._present(path).read()

    def writer(self, path: str, *, append: bool, user: str) -> Callable[[str], None]:
        """Open for writing: what each write(2) does. Raises OSError as open(2) does."""
        if path == "/dev/null":
            return lambda text: None
        if self.is_folder(path):
            raise failure(errno.EISDIR)
        file = self._file(path)
        if (file is None or file.plain) and self._read_only():
            raise failure(errno.EROFS)
        if file is None:
            return self._create(path)
        if file.plain:
            return self._plain_writer(path, file.read() if append else "")
        if file.write is None or user != "root":
            raise failure(errno.EACCES)
        return file.write

    def replace(self, path: str, text: str, user: str) -> None:
        """The file holds this text now, or was written it. Raises OSError."""
        self.writer(path, append=False, user=user)(text)

    def remove(self, path: str) -> None:
        """The plain file is gone. Raises OSError."""
        if not self._present(path).plain:
            raise failure(errno.EPERM)
        self._expect_writable(path, errno.EPERM)
        del self._files[path]

    def remove_folder(self, path: str) -> None:
        """The folder that somebody made, with the plain files in it, is gone. Raises OSError."""
        if not path.startswith(tuple(f"{folder}/" for folder in SCRATCH)):
            raise failure(errno.EPERM)
        for name in self.entries(path):
            inner = f"{path}/{name}"
            (self.remove_folder if self.is_folder(inner) else self.remove)(inner)
        self._expect_writable(path, errno.EPERM)
        del self._folders[path]

    def link(self, path: str, name: str) -> None:
        """The plain file has this second name (link(2)). Raises OSError, EEXIST above all."""
        file = self._present(path, folder=errno.EPERM)
        self._expect_room(name)
        self._expect_writable(name if file.plain else "", errno.EXDEV)
        self.add(name, file)

    def drop(self, path: str) -> None:
        """The file and its folder are gone, such as those of a process."""
        self._files.pop(path, None)
        self._folders.pop(posixpath.dirname(path), None)

    def forget_memory(self) -> None:
        """What was written into file systems that are only in memory is gone, as after a reboot."""
        for path in [path for path in self._files if path.startswith(IN_MEMORY)]:
            del self._files[path]
        for path in [path for path in self._folders if path.startswith(IN_MEMORY)]:
            del self._folders[path]

    def make_folder(self, path: str) -> None:
        """An empty folder is there. Raises OSError."""
        self._expect_room(path)
        self._expect_writable(path, errno.EPERM)
        self._folders[path] = lambda: False

    def _expect_room(self, path: str) -> None:
        """There is a folder for it, and nothing of its name."""
        if self.exists(path):
            raise failure(errno.EEXIST)
        if not self.is_folder(posixpath.dirname(path)):
            raise failure(errno.ENOENT)

    def _expect_writable(self, path: str, otherwise: int) -> None:
        """It is where plain files may be, and they may be changed."""
        if not path.startswith(SCRATCH):
            raise failure(otherwise)
        if self._read_only():
            raise failure(errno.EROFS)

    def _present(self, path: str, folder: int = errno.EISDIR) -> File:
        """The file; OSError where there is none, another one where a folder has the name."""
        file = self._file(path)
        if file is None:
            raise failure(folder if self.is_folder(path) else errno.ENOENT)
        return file

    def glob(self, pattern: str) -> list[str]:
        """The absolute paths that match an absolute pattern, in order."""
        found = [""]
        for part in pattern.strip("/").split("/"):
            found = [path for start in found for path in self._matches(start, part)]
        return sorted(found)

    def _matches(self, start: str, part: str) -> Iterator[str]:
        if not any(character in part for character in "*?["):
            if self.exists(f"{start}/{part}"):
                yield f"{start}/{part}"
        elif self.is_folder(start or "/"):
            for name in self.entries(start or "/"):
                if fnmatch.fnmatchcase(name, part) and (part[0] == "." or name[0] != "."):
                    yield f"{start}/{name}"

    def _file(self, path: str) -> File | None:
        file = self._files.get(path)
        return None if file is None or file.hidden() else file

    def _create(self, path: str) -> Callable[[str], None]:
        if not self.is_folder(posixpath.dirname(path)):
            raise failure(errno.ENOENT)
        if not path.startswith(SCRATCH):
            raise failure(errno.EACCES)
        return self._plain_writer(path, "")

    def _plain_writer(self, path: str, text: str) -> Callable[[str], None]:
        content = [text]
        self.add(path, File(read=lambda: "".join(content), plain=True))
        return content.append
