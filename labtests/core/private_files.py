"""Files and folders for their owner only, whatever the umask; never through a symbolic link."""

import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from labtests.core.errors import LabError
from labtests.core.output import clean, excerpt
from labtests.core.printable import visible

FOLDER_MODE, FILE_MODE = 0o700, 0o600
_PARENT_MODE = 0o755
_OTHERS_WRITE = 0o022
_ALL_WRITE = 0o002
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_STEP = getattr(os, "O_PATH", 0) | _FOLDER  # one may pass where one may not list
_MOST_LINKS = 40  # as the kernel has it


class NotPrivate(LabError):
    """A folder or file is not ours alone, or is a symbolic link. The text has the remedy."""


def private_folder(folder: Path) -> None:
    """The folder is there, ours, and 0700. Raises NotPrivate, OSError.

    Nobody else can put another one, or a link, in its place. One that was there may have files of
    ours, but no symbolic link: what is written there must not end up elsewhere."""
    expect_safe_way(folder)
    above, _ = _walked(folder, _expect_trusted_link, follows=False, makes=True)
    try:
        _make_private(folder, above)
    finally:
        os.close(above)
    expect_safe_way(folder)  # as it is now: what was missing may have been made by another


def _make_private(folder: Path, above: int) -> None:
    name = folder.absolute().name
    try:
        os.mkdir(name, FOLDER_MODE, dir_fd=above)
    except FileExistsError:
        _expect_ours(folder)
        for entry in folder.iterdir():
            if entry.is_symlink():
                raise NotPrivate(
                    f"{entry} is a symbolic link, and nothing is written through one\n"
                    "  remedy: give a new folder"
                ) from None
    made = os.open(name, _FOLDER, dir_fd=above)
    try:
        if os.fstat(made).st_uid != os.geteuid():
            raise NotPrivate(f"{folder} belongs to another user\n  remedy: give a new folder")
        os.fchmod(made, FOLDER_MODE)
    finally:
        os.close(made)


@dataclass(frozen=True, slots=True)
class _PassedStep:
    """A folder or link that was passed on the way to `path`, as it was then. `last`: what the path
    itself names is this link."""

    path: Path
    place: Path
    found: os.stat_result
    last: bool = False


def _walked(
    path: Path, passing: Callable[[_PassedStep], object], *, follows: bool, makes: bool = False
) -> tuple[int, str]:
    """A descriptor of the folder that a path ends in, and the name of its end there. Each step is
    opened in the one before it, so that nobody's link leads elsewhere meanwhile, and `passing` is
    told what was passed. Whose folders do not let strangers replace what they hold, and whose links
    are trusted, has then opened what was asked for. `makes` the folders that are missing (0755).

    Raises NotPrivate, OSError, and what `passing` raises."""
    parts, links, place = list(reversed(path.absolute().parts[1:])), 0, Path("/")
    name, here = ".", os.open("/", _STEP)
    try:
        while parts:
            name = parts.pop()
            link = _link(name, here) if parts or follows else None
            if link is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise _nowhere(path, OSError("links in a circle"))
                passing(_PassedStep(path, place / name, link, last=not parts))
                parts += reversed(Path(os.readlink(name, dir_fd=here)).parts)
            elif parts:
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(name, _PARENT_MODE, dir_fd=here)
                here, before = os.open(name, _STEP, dir_fd=here), here
                os.close(before)
                place /= name
                passing(_PassedStep(path, place, os.fstat(here)))
    except BaseException:
        os.close(here)
        raise
    return here, name


def _link(name: str, here: int) -> os.stat_result | None:
    """This entry of an open folder, if it is a link. Where no stranger can replace it, it stays
    one."""
    try:
        found = os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found if stat.S_ISLNK(found.st_mode) else None


def _expect_trusted_link(step: _PassedStep) -> None:
    """A stranger's is not followed; folders were looked at before (expect_safe_way)."""
    if stat.S_ISLNK(step.found.st_mode) and step.found.st_uid not in _trusted():
        raise NotPrivate(
            f"{step.place}, on the way to {step.path}, is a link of another user "
            f"({step.found.st_uid})\n  remedy: a folder of yours elsewhere"
        )


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that is open, and all that was passed on the way to it: whoever reads the descriptor
    reads what was looked at here, whatever has that path by now."""

    path: Path
    descriptor: int
    found: os.stat_result
    passed: tuple[_PassedStep, ...]

    def expect_ours(self) -> None:
        """What it says may be believed: it is ours, or root's, and nobody else may write it, or put
        another in its place. Raises NotPrivate."""
        _expect_passed(self.passed, _trusted())
        expect_ours(self.path, self.found)

    def expect_chosen(self, *, named: bool) -> None:
        """Devices may be dialled because of this file: nobody has put it in the user's way, nor can
        others change it. One that was only found, by a bare name or none, is ours, root's, or of
        whoever owns the code; one that the user has `named` by its path may be another user's, who
        is believed then. Those of one's group are trusted. Raises NotPrivate."""
        strangers = self._owners() - _trusted()
        if strangers and not named:
            raise NotPrivate(
                f"{self.path} belongs to another user ({min(strangers)}) and was only found here, "
                "so no device is contacted because of it\n  remedy: look who made it; if it is "
                f"meant, name it by its path: {_as_path(self.path)}"
            )
        if self.found.st_mode & _ALL_WRITE:
            raise NotPrivate(
                f"{self.path} can be written by everybody ({_told(self.found)}), so it is not "
                "used to contact devices\n"
                f"  remedy: look at what it says, then: chmod o-w {self.path}"
            )
        _expect_passed(self.passed, _trusted() | strangers)

    def expect_credible(self, beside: Path | None = None) -> None:
        """The keys of this file may be trusted: it is ours, root's, of whoever owns the code or the
        folder `beside`, and nobody else may write it or put another in its place. Those of one's
        group are trusted. Raises NotPrivate."""
        trusted = _trusted()
        if beside is not None and beside.exists():
            trusted |= {beside.stat().st_uid}
        _expect_passed(self.passed, trusted)
        if not self._owners() <= trusted or self.found.st_mode & _ALL_WRITE:
            raise NotPrivate(
                f"{self.path} belongs to another user, or can be written by everybody "
                f"({_told(self.found)}), so it is not believed\n  remedy: look at what it says; if "
                f"it is right: chmod o-w {self.path}, or a copy"
            )

    def _owners(self) -> set[int]:
        links = {step.found.st_uid for step in self.passed if step.last}
        return {self.found.st_uid, *links}


def opened(path: Path, flags: int, *, follows: bool = True) -> OpenedFile:
    """A file, and how it was come to; one that `flags` make is 0600. `follows`: also where a link
    has that path. The descriptor is the caller's to close. Raises NotPrivate, OSError (ELOOP for a
    link that is not followed)."""
    passed: list[_PassedStep] = []
    try:
        folder, name = _walked(path, passed.append, follows=follows)
    except ValueError as error:  # characters that no path has
        raise _nowhere(path, error) from error
    try:
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, FILE_MODE, dir_fd=folder)
    finally:
        os.close(folder)
    return OpenedFile(path, descriptor, os.fstat(descriptor), tuple(passed))


def _nowhere(path: Path, error: Exception) -> NotPrivate:
    told = excerpt(repr(str(path)), 200)
    return NotPrivate(f"{told} leads nowhere: {error}\n  remedy: correct or remove it")


def _told(found: os.stat_result) -> str:
    return f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}"


def expect_owned(path: Path) -> None:
    """What this file or folder says may be believed: it is ours, or root's, and nobody else may
    write it, or put another in its place. A path where nothing is passes. Raises NotPrivate."""
    expect_safe_way(path)
    try:
        found = path.stat()
    except OSError:
        return
    expect_ours(path, found)


def safe_folder(folder: Path) -> None:
    """The folder is there, and nobody else can replace what we put into it; others may have files
    of their own there, as in /tmp. Raises NotPrivate, OSError."""
    expect_safe_way(folder / "any")
    for each in (*reversed(folder.parents), folder):
        each.mkdir(mode=_PARENT_MODE, exist_ok=True)
    expect_safe_way(folder / "any")  # as it is now


def expect_code(folder: Path) -> None:
    """What is in this folder may be run: it is no link, it is ours, root's, or of whoever owns the
    code, and nobody else may write there or put another in its place.

    Raises NotPrivate, OSError."""
    expect_safe_way(folder)
    found = folder.lstat()
    trusted = stat.S_ISDIR(found.st_mode) and found.st_uid in _trusted()
    if not trusted or found.st_mode & _OTHERS_WRITE or not os.access(folder, os.R_OK | os.X_OK):
        raise NotPrivate(
            f"{folder} is not a folder of yours that only you can write to ({_told(found)}), so "
            "no code of it is run\n"
            "  remedy: look who made it, and remove it"
        )


def expect_ours(path: Path, found: os.stat_result) -> None:
    """The same of what fstat(2) tells of an open file, which cannot change any more."""
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & _OTHERS_WRITE:
        raise NotPrivate(
            f"{path} can be written by somebody else ({_told(found)}), so it is not believed\n"
            f"  remedy: look who made it; if it is yours: chmod go-w {path}"
        )


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file that is ours and 0600. Raises NotPrivate, OSError (ELOOP for a
    symbolic link)."""
    descriptor = _open_of(path, flags, {os.geteuid()})
    os.fchmod(descriptor, FILE_MODE)  # also when the file was there before
    return descriptor


def open_lock(path: Path) -> int:
    """A descriptor of a file that is ours, root's, or of whoever owns the code; it stays as it is.
    Raises NotPrivate, OSError."""
    return _open_of(path, os.O_RDWR | os.O_CREAT, _trusted())


def _open_of(path: Path, flags: int, owners: set[int]) -> int:
    """Emptied, if that is asked for, only after it was looked at."""
    safe = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe is not waited for
    descriptor = os.open(path, flags & ~os.O_TRUNC | safe, FILE_MODE)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid not in owners:
        os.close(descriptor)
        raise NotPrivate(
            f"{path} is not a file of this user\n  remedy: remove it, or write elsewhere"
        )
    if found.st_nlink > 1 and flags & os.O_ACCMODE != os.O_RDONLY:
        os.close(descriptor)
        raise NotPrivate(
            f"{path} has a second name, in whose place the same would be written\n"
            "  remedy: remove it, or write elsewhere"
        )
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)
    return descriptor


@contextmanager
def told_of(path: Path) -> Iterator[None]:
    """What keeps the file from being written is told of it. Raises LabError."""
    try:
        yield
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror}") from error


def write_told(path: Path, text: str) -> None:
    """Like `write_private`, of a file that somebody has asked for. Raises LabError."""
    with told_of(path):
        write_private(path, text)


def write_private(path: Path, text: str) -> None:
    """The file has this text, without any secret (output.py), and with nothing that a terminal
    would obey (printable.py). Raises NotPrivate, OSError."""
    write_bytes(path, visible(clean(text)).encode())


def write_bytes(path: Path, content: bytes) -> None:
    """The file has what was cleaned before, and packed. Raises NotPrivate, OSError."""
    expect_safe_way(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(open_private(path, flags), "wb") as file:
        file.write(content)


def replace_private(path: Path, text: str) -> None:
    """The same in one step: what was there stays until all of it is written. Raises NotPrivate,
    OSError."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        write_private(fresh, text)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """The same for a file that others read, with these rights: it has this text, or is as it was.
    Raises LabError, OSError."""
    if not path.parent.is_dir():
        raise LabError(f"{path.parent}: there is no such folder\n  remedy: make it first")
    _expect_replaceable(path)
    fresh = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        write_private(fresh, text)
        fresh.chmod(mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _expect_replaceable(path: Path) -> None:
    """Whoever may rename in /dev would have a file instead of /dev/null, or of /dev/stdout."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise NotPrivate(
                f"{path} is not a regular file, and is not replaced by one\n"
                "  remedy: remove it, or write elsewhere"
            )


def reserve(path: Path) -> Path:
    """The same path, absolute. There is a file of ours in that place, with what it had, so that a
    library may open it to write: no other user can put a link there. Raises NotPrivate."""
    place = Path(os.path.normpath(path.absolute()))
    try:
        safe_folder(place.parent)
        os.close(open_private(place, os.O_WRONLY | os.O_CREAT))
    except OSError as error:  # ELOOP for a link, EACCES for a stranger's
        raise NotPrivate(
            f"{place} cannot be written: {error.strerror}; nothing is written through a link\n"
            "  remedy: write elsewhere"
        ) from error
    return place


def expect_safe_way(path: Path) -> None:
    """Folders and links on the way to it are ours or root's, and where everybody may write nobody
    can rename what is another's (the sticky bit, as /tmp has it). Those of one's group are trusted
    with that, and whoever could replace the code that runs here: its owner, and all above it (the
    /builds of a job runner is often open to all). Raises NotPrivate."""
    steps: list[_PassedStep] = []
    try:
        with suppress(OSError):  # what is not there is made by us, then
            folder, _ = _walked(path, steps.append, follows=True)
            os.close(folder)
    except ValueError as error:  # characters that no path has
        raise _nowhere(path, error) from error
    _expect_passed(steps, _trusted())


def _expect_passed(steps: Iterable[_PassedStep], trusted: set[int]) -> None:
    above_code = [folder.stat() for folder in Path(__file__).resolve().parents]
    for step in steps:
        found = step.found
        if any(os.path.samestat(found, each) for each in above_code):
            continue
        open_to_all = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        link = stat.S_ISLNK(found.st_mode)
        if found.st_uid not in trusted or (open_to_all and not link):
            raise NotPrivate(
                f"{step.place}, on the way to {step.path}, belongs to another user or lets "
                f"everybody replace what is in it ({_told(found)})\n"
                "  remedy: a folder of yours elsewhere, or: chmod o-w"
            )


def _trusted() -> set[int]:
    return {os.geteuid(), 0, Path(__file__).stat().st_uid}


def _as_path(path: Path) -> str:
    """What no bare name is."""
    return str(path) if path.is_absolute() else f"./{path}"


def _expect_ours(folder: Path) -> None:
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        problem = "is not a folder"
    elif found.st_uid != os.geteuid():
        problem = f"belongs to another user ({found.st_uid})"
    elif found.st_mode & _OTHERS_WRITE and any(folder.iterdir()):
        problem = "holds files, and others may have written them (mode "
        problem += f"{stat.S_IMODE(found.st_mode):04o})"
    else:
        return
    raise NotPrivate(f"{folder} {problem}\n  remedy: give a new folder") from None
