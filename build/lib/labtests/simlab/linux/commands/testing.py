"""`test` and `[`."""

from collections.abc import Callable, Mapping

from labtests.simlab.linux.calls import Call
from labtests.simlab.tree import SCRATCH

_INTEGERS: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}


def test(call: Call) -> int:
    """The status: 0 true, 1 false, 2 not understood."""
    words = list(call.arguments)
    if call.name == "[":
        if words[-1:] != ["]"]:
            call.err("bash: line 1: [: missing `]'\n")
            return 2
        words.pop()
    try:
        return int(not _true(call, words))
    except ValueError as error:
        call.err(f"bash: line 1: {call.name}: {error}\n")
        return 2


def _true(call: Call, words: list[str]) -> bool:
    if words[:1] == ["!"] and len(words) > 1:
        return not _true(call, words[1:])
    return _single(call, words)


def _single(call: Call, words: list[str]) -> bool:
    if not words:
        return False
    if len(words) == 1:
        return words[0] != ""
    if len(words) == 2:
        return _unary(call, words[0], words[1])
    if len(words) == 3 and words[1] == "-ef":  # nothing has two names here
        one, other = call.path(words[0]), call.path(words[2])
        return one == other and call.host.tree.exists(one)
    if len(words) == 3:
        return _binary(*words)
    raise ValueError("too many arguments")


def _unary(call: Call, operator: str, word: str) -> bool:
    tree, path = call.host.tree, call.path(word)
    checks: Mapping[str, Callable[[], bool]] = {
        "-z": lambda: word == "",
        "-n": lambda: word != "",
        "-e": lambda: tree.exists(path),
        "-f": lambda: tree.is_file(path),
        "-d": lambda: tree.is_folder(path),
        "-r": lambda: tree.exists(path),
        "-w": lambda: tree.writable(path, call.process.user) or path.startswith(SCRATCH),
        "-x": lambda: tree.is_folder(path) or call.host.program(word) is not None,
        "-s": lambda: tree.is_file(path) and bool(tree.read(path)),
        "-O": lambda: tree.exists(path),  # files have no owners here
        "-L": lambda: False,
        "-h": lambda: False,
    }
    if operator not in checks:
        raise ValueError(f"{operator}: unary operator expected")
    return checks[operator]()


def _binary(left: str, operator: str, right: str) -> bool:
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    if operator not in _INTEGERS:
        raise ValueError(f"{operator}: binary operator expected")
    numbers = []
    for word in (left, right):
        try:
            numbers.append(int(word))
        except ValueError:
            raise ValueError(f"{word}: integer expression expected") from None
    return _INTEGERS[operator](numbers[0], numbers[1])
