"""Files and folders for their owner only, whatever the umask; never through a symbolic link."""

import os
import stat
from contextlib import suppress
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
    above = _open_way(folder.absolute().parent)
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


def _open_way(folder: Path) -> int:
    """A descriptor of this folder, made with those above it where missing (0755). Each step is
    opened in the one before it, so that no stranger's link leads elsewhere meanwhile."""
    parts, links = list(reversed(folder.parts[1:])), 0
    here = os.open("/", _STEP)
    try:
        while parts:
            name = parts.pop()
            if (target := _trusted_link(name, here, folder)) is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise NotPrivate(f"{folder} leads nowhere: links in a circle")
                parts += reversed(Path(target).parts)
                continue
            with suppress(FileExistsError):
                os.mkdir(name, _PARENT_MODE, dir_fd=here)
            here, before = os.open(name, _STEP, dir_fd=here), here
            os.close(before)
    except BaseException:
        os.close(here)
        raise
    return here


def _trusted_link(name: str, here: int, folder: Path) -> str | None:
    """Where this entry of an open folder leads, if it is a link; a stranger's is refused. Nobody
    else can replace one that is not, where the folder was looked at (expect_safe_way)."""
    try:
        found = os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(found.st_mode):
        return None
    if found.st_uid not in _trusted():
        raise NotPrivate(
            f"{name}, on the way to {folder}, is a link of another user ({found.st_uid})\n"
            "  remedy: a folder of yours elsewhere"
        )
    return os.readlink(name, dir_fd=here)


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
            f"{folder} is not a folder of yours that only you can write to (owner "
            f"{found.st_uid}, mode "
            f"{stat.S_IMODE(found.st_mode):04o}), so no code of it is run\n"
            "  remedy: look who made it, and remove it"
        )


def expect_chosen(path: Path, *, named: bool) -> None:
    """Devices may be dialled because of this file: nobody has put it in the user's way, nor can
    others change it. One that was only found, by a bare name or none, is ours, root's, or of
    whoever owns the code; one that the user has `named` by its path may be another user's, who is
    believed then. Those of one's group are trusted. What is not a file, its reader refuses.

    Raises NotPrivate."""
    try:
        link, found = path.lstat(), path.stat()
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(found.st_mode):
        return
    strangers = {link.st_uid, found.st_uid} - _trusted()
    if strangers and not named:
        raise NotPrivate(
            f"{path} belongs to another user ({min(strangers)}) and was only found here, so "
            "nobody is dialled because of it\n"
            f"  remedy: look who made it; if it is meant, name it by its path: {_as_path(path)}"
        )
    if found.st_mode & _ALL_WRITE:
        raise NotPrivate(
            f"{path} can be written by everybody (owner {found.st_uid}, mode "
            f"{stat.S_IMODE(found.st_mode):04o}), so it is not used to contact devices\n"
            f"  remedy: look at what it says, then: chmod o-w {path}"
        )
    _expect_way(path, _trusted() | strangers)


def expect_credible(path: Path, beside: Path | None = None) -> None:
    """The keys of this file may be trusted: it is ours, root's, of whoever owns the code or the
    folder `beside`, and nobody else may write it or put another in its place. Those of one's group
    are trusted. What is not a file, its reader refuses. Raises NotPrivate."""
    trusted = _trusted()
    try:
        trusted |= {beside.stat().st_uid} if beside else set()
        link, found = path.lstat(), path.stat()
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(found.st_mode):
        return
    _expect_way(path, trusted)
    if not {link.st_uid, found.st_uid} <= trusted or found.st_mode & _ALL_WRITE:
        raise NotPrivate(
            f"{path} belongs to another user, or can be written by everybody (owner "
            f"{found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}), so it is not believed\n"
            f"  remedy: look at what it says; if it is right: chmod o-w {path}, or a copy"
        )


def expect_ours(path: Path, found: os.stat_result) -> None:
    """The same of what fstat(2) tells of an open file, which cannot change any more."""
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & _OTHERS_WRITE:
        raise NotPrivate(
            f"{path} can be written by somebody else (owner {found.st_uid}, mode "
            f"{stat.S_IMODE(found.st_mode):04o}), so it is not believed\n"
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


def write_private(path: Path, text: str) -> None:
    """The file has this text, without any secret (output.py), and with nothing that a terminal
    would obey (printable.py). Raises NotPrivate, OSError."""
    expect_safe_way(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(open_private(path, flags), "w", encoding="utf-8") as file:
        file.write(visible(clean(text)))


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
    _expect_way(path, _trusted())


def _expect_way(path: Path, trusted: set[int]) -> None:
    above_code = set(Path(__file__).resolve().parents)
    written = path.absolute()
    try:
        resolved = written.resolve()
    except (RuntimeError, ValueError) as error:  # links in a circle; characters no path has
        raise NotPrivate(f"{excerpt(repr(str(path)), 200)} leads nowhere: {error}") from error
    for step in dict.fromkeys([*written.parents, *resolved.parents]):
        if step in above_code:
            continue
        try:
            found = step.lstat()
        except OSError:
            continue  # made by us, then
        open_to_all = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if found.st_uid not in trusted or (open_to_all and not step.is_symlink()):
            raise NotPrivate(
                f"{step}, on the way to {path}, belongs to another user or lets everybody replace "
                f"what is in it (owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o})\n"
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
