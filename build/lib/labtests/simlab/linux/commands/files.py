"""cat, ls, tee, head, tail and the like."""

from collections.abc import Callable, Generator, Sequence
from pathlib import PurePosixPath

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, only, read_options, whole
from labtests.simlab.linux.processes import Pause, Program
from labtests.simlab.tree import SCRATCH


def texts(
    call: Call, names: list[str], *, quiet: bool = False
) -> Generator[Pause, None, tuple[list[tuple[str, str]], int]]:
    """(name, text) of every file, stdin for none or `-`; and 1 when one could not be read.
    `quiet`: nothing is said of those."""
    found: list[tuple[str, str]] = []
    status = 0
    for name in names or ["-"]:
        if name == "-":
            found.append(("-", (yield from call.read_all())))
            continue
        try:
            found.append((name, call.host.tree.read(call.path(name))))
        except OSError as error:
            status = 1 if quiet else call.fail(f"{name}: {error.strerror}")
    return found, status


def _cat(call: Call) -> Program:
    status = 0
    _, names = read_options(call.arguments, "-u")
    for name in names or ["-"]:
        if name == "-":
            while text := (yield from call.read_some()):
                call.out(text)
            continue
        found, failed = yield from texts(call, [name])
        call.out("".join(text for _, text in found))
        status = status or failed
    return status


def _ls(call: Call) -> int:
    options, names = read_options(call.arguments, "-1lAdn -a,--all")
    tree, status = call.host.tree, 0
    files: list[str] = []
    folders: list[str] = []
    for name in names or ["."]:
        path = call.path(name)
        if not tree.exists(path):
            status = call.fail(f"cannot access '{name}': No such file or directory", 2)
        else:
            inside = tree.is_folder(path) and "d" not in options
            (folders if inside else files).append(name)
    listed = [_listing(call, files, options, "")] if files else []
    for folder in folders:
        title = f"{folder}:\n" if len(names) > 1 else ""
        listed.append(title + _inside(call, folder, options))
    call.out("\n".join(listed))
    return status


def _inside(call: Call, folder: str, options: dict[str, str]) -> str:
    names = call.host.tree.entries(call.path(folder))
    if not {"a", "A"} & set(options):
        names = [name for name in names if not name.startswith(".")]
    dots = [".", ".."] if "a" in options else []
    held = [_blocks(call, call.path(f"{folder}/{name}")) for name in names]
    total = f"total {sum(held)}\n" if "l" in options else ""
    return total + _listing(call, dots + names, options, folder + "/")


def _listing(call: Call, names: list[str], options: dict[str, str], prefix: str) -> str:
    if "l" not in options:
        return "".join(f"{name}\n" for name in names)
    tree = call.host.tree
    lines = []
    for name in names:
        path = call.path(prefix + name)
        mode = "drwxr-xr-x" if tree.is_folder(path) else "-r--r--r--"
        if tree.writable(path, "root"):
            mode = "-rw-r--r--"
        size = 0 if tree.is_folder(path) else _size(call, path)
        owner = "0 0" if "n" in options else "root root"
        lines.append(f"{mode} 1 {owner} {size:4} May 29 08:00 {name}\n")
    return "".join(lines)


def _size(call: Call, path: str) -> int:
    """In bytes; files of sysfs and proc are a page."""
    tree = call.host.tree
    return len(tree.read(path).encode()) if path.startswith(SCRATCH) else 4096


def _blocks(call: Call, path: str) -> int:
    """What it takes of a disk, in kB; nothing in sysfs and proc."""
    if call.host.tree.is_folder(path) or not path.startswith(SCRATCH):
        return 0
    return 4 * -(-_size(call, path) // 4096)


def _tee(call: Call) -> Program:
    options, names = read_options(call.arguments, "-a,--append -i")
    status = 0
    writers: dict[str, Callable[[str], None]] = {}
    for name in names:
        try:
            writers[name] = call.host.tree.writer(
                call.path(name), append="a" in options, user=call.process.user
            )
        except OSError as error:
            status = call.fail(f"{name}: {error.strerror}")
    while text := (yield from call.read_some()):
        call.out(text)
        for name, write in list(writers.items()):
            try:
                write(text)
            except OSError as error:
                status = call.fail(f"{name}: {error.strerror}")
                del writers[name]
    return status


def _head_tail(call: Call) -> Program:
    arguments = list(call.arguments)
    if arguments and arguments[0][:1] == "-" and arguments[0][1:].isdigit():
        arguments[:1] = ["-n", arguments[0][1:]]
    options, names = read_options(arguments, "-n,--lines= -c,--bytes=")
    only(names[1:])
    count = whole(options, "n", 10, "number of lines")
    if not names and call.name == "head" and "c" not in options and count >= 0:
        return (yield from _first_lines(call, count))
    found, status = yield from texts(call, names)
    for _, text in found:
        pieces = text if "c" in options else text.splitlines(keepends=True)
        call.out("".join(_part(call, pieces, options)))
    return status


def _first_lines(call: Call, count: int) -> Program:
    """Lines of stdin as they come; the writer learns that nobody reads on."""
    source = call.process.streams.input
    while count > 0:
        line = source.take_line()
        if line is None:
            yield Pause(on=(source.changed,))
            continue
        if not line:
            break
        call.out(line)
        count -= 1
    return 0


def _part(call: Call, pieces: Sequence[str], options: dict[str, str]) -> Sequence[str]:
    """The first, or the last, so many lines or characters; of `tail -n +N` those from the Nth."""
    letter, what = ("c", "number of bytes") if "c" in options else ("n", "number of lines")
    count = whole(options, letter, 10, what)
    if call.name == "head":
        return pieces[:count]
    if options.get(letter, "").startswith("+"):
        return pieces[max(count - 1, 0) :]
    return pieces[-abs(count) :] if count else ""


def _each(call: Call, names: list[str], words: str, act: Callable[[str], object]) -> int:
    """Done with every path; what fails is said in these words."""
    status = 0
    for name in names:
        try:
            act(call.path(name))
        except OSError as error:
            status = call.fail(f"{words.format(name)}: {error.strerror}")
    return status


def _rm(call: Call) -> int:
    options, names = read_options(call.arguments, "-rfR")
    tree, whole = call.host.tree, {"r", "R"} & set(options)

    def remove(path: str) -> None:
        if tree.exists(path) or "f" not in options:
            (tree.remove_folder if whole and tree.is_folder(path) else tree.remove)(path)

    return _each(call, names, "cannot remove '{}'", remove)


def _mkdir(call: Call) -> int:
    options, names = read_options(call.arguments, "-p -m=")
    tree = call.host.tree

    def make(path: str) -> None:
        way = [path]
        if "p" in options:
            above = [*map(str, reversed(PurePosixPath(path).parents)), path]
            way = [folder for folder in above if not tree.is_folder(folder)]
        for folder in way:
            tree.make_folder(folder)

    return _each(call, names, "cannot create directory ‘{}’", make)


def _touch(call: Call) -> int:
    _, names = read_options(call.arguments, "-am")
    tree, user = call.host.tree, call.process.user
    wanted = [name for name in names if not tree.exists(call.path(name))]
    return _each(
        call, wanted, "cannot touch '{}'", lambda path: tree.writer(path, append=True, user=user)
    )


def _from_to(call: Call, names: list[str]) -> tuple[str, str]:
    """Two paths; a folder as the second means what has the first one's name in it."""
    if len(names) != 2:
        raise BadOption("missing file operand" if len(names) < 2 else "too many operands")
    source, target = (call.path(name) for name in names)
    inner = call.host.tree.is_folder(target) and call.name != "link"
    return source, f"{target}/{source.rpartition('/')[2]}" if inner else target


def _copy(call: Call) -> int:
    """cp and mv of single files."""
    _, names = read_options(call.arguments, "-afp")
    tree, (source, target) = call.host.tree, _from_to(call, names)
    try:
        text = tree.read(source)
    except OSError as error:
        return call.fail(f"cannot stat '{names[0]}': {error.strerror}")
    try:
        tree.writer(target, append=False, user=call.process.user)(text)
        if call.name == "mv" and source != target:
            tree.remove(source)
    except OSError as error:
        return call.fail(f"cannot create regular file '{names[1]}': {error.strerror}")
    return 0


def _link(call: Call) -> int:
    """A second name of a single file."""
    _, names = read_options(call.arguments, "")
    source, target = _from_to(call, names)
    try:
        call.host.tree.link(source, target)
    except OSError as error:
        words = f"cannot create link '{names[1]}' to '{names[0]}'"
        return call.fail(f"{words}: {error.strerror}")
    return 0


TOOLS: Tools = {
    "cat": _cat,
    "ls": _ls,
    "tee": _tee,
    "head": _head_tail,
    "tail": _head_tail,
    "rm": _rm,
    "mkdir": _mkdir,
    "touch": _touch,
    "cp": _copy,
    "mv": _copy,
    "link": _link,
}
