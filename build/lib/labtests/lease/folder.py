"""Whether the lease's folder can be believed: nobody but root and the login can put another thing
in its place, or in the place of a file there.

Checked by `ls -ldn` of it and of each folder on the way to it. What holds at a look goes on
holding: a stranger can change none of the things that were checked.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from labtests.transport.commands import Shell, script

ROOT = "0"
_FOR_ALL = (PurePosixPath("/tmp"), PurePosixPath("/var/tmp"))

_LISTED = re.compile(
    r"([a-z-])([a-zA-Z-]{9})[.+@]? +[0-9]+ +([0-9]+) +[0-9]+ .*? (/\S*)(?s: -> .*)?"
)


def facts_script(folder: str) -> Shell:
    """Prints who asks, and what stands on the way to the folder, as far as anything does."""
    way = [*reversed(PurePosixPath(folder).parents), PurePosixPath(folder)]
    return script('echo "me $(id -u)"; ls -ldn WAY 2>/dev/null', WAY=list(map(str, way)))


def why_not_made(folder: str) -> str:
    """What speaks against making it, so that everybody may write there: another program could read
    what is in it (units, settings, jobs). "" when nothing does."""
    path = PurePosixPath(folder)
    own = path.name.startswith("labtests") and "." not in path.name
    if own or any(place in path.parents for place in _FOR_ALL):
        return ""
    return (
        "it is not there, and a folder where everybody may write is made only below /tmp and "
        "/var/tmp, or with a name that begins with `labtests` and has no dot"
    )


def why_not_safe(lines: Sequence[str], folder: str) -> str:
    """What is wrong with the folder or the way to it, and how to fix it; "" when it is safe."""
    me = lines[0].removeprefix("me ") if lines else ""
    if not me.isdecimal():
        return "the host does not say who is logged in (`id -u`)"
    listed = {found[4]: found for line in lines[1:] if (found := _LISTED.fullmatch(line))}
    if len(listed) != len(lines) - 1 or "/" not in listed:
        return "what stands on the way to it cannot be read (`ls -ldn`)"
    wrong = (_wrong(found, me, last=path == folder) for path, found in listed.items())
    return next((text for text in wrong if text), "")


def _wrong(found: re.Match[str], me: str, *, last: bool) -> str:
    kind, mode, owner, path = found.groups()
    if owner not in (ROOT, me):
        return (
            f"{path} belongs to user {owner}, who could put anything there: an administrator makes "
            f"the lease's folder: sudo install -d -m 1777 FOLDER"
        )
    if last and kind != "d":
        what = "a symbolic link" if kind == "l" else "not a folder"
        return f"{path} is {what}: remove it"
    others_write = kind == "d" and "w" in (mode[4], mode[7])
    if others_write and mode[8] not in "tT":
        return f"others may replace files in {path}: chmod +t {path}, or chmod go-w {path}"
    return ""
