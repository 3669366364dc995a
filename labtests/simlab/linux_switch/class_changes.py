"""`tc class add|change`: classes of the port's htb (iproute2: q_htb.c; net/sched/sch_htb.c)."""

from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux_switch.arguments import Words, kernel_error
from labtests.simlab.linux_switch.nodes import ClassNode, PortTree
from labtests.simlab.linux_switch.qdisc_changes import Now, default_fifo
from labtests.simlab.linux_switch.quantities import Id, read_class, read_rate, read_size

_R2Q = 10
_LEAST_QUANTUM, _MOST_QUANTUM = 1000, 200_000
_MTU = 1600  # what tc takes a packet for
_PRIOS = 8
_RATES, _SIZES = ("rate", "ceil"), ("burst", "cburst", "buffer", "cbuffer")


def change_class(tree: PortTree, verb: str, words: Words, now: Now) -> str:
    """Do it; what the kernel warns of. Raises Refused, NotEmulated."""
    parent, which = _names(words)
    options = _options(words)
    root = tree.root
    if which is None or root is None or which.major != root.handle:
        raise kernel_error("No such file or directory")
    old = tree.classes.get(which)
    if old is None and verb == "change":
        raise kernel_error("No such file or directory")
    if old is not None and verb == "add":
        raise kernel_error("File exists")
    above = None if parent is None or parent.minor == 0 else parent
    if (above is not None and above not in tree.classes) or (
        old is not None and old.parent != above
    ):
        raise kernel_error("Invalid argument")
    made = _made(tree, which, above, options, old)
    tree.classes[which] = made
    if old is None:
        _settle(tree, made, now)
    return _with_quantum(made)


def _names(words: Words) -> tuple[Id | None, Id | None]:
    parent = which = None
    while words:
        word = words.take()
        if word == "parent":
            parent = words.place()
        elif word == "root":
            parent = None
        elif word == "classid":
            text = words.take()
            which = read_class(text)
            if which is None:
                raise Refused(f'Error: argument "{text}" is wrong: invalid class ID\n', 255)
        elif word == "htb":
            break
        else:
            raise NotEmulated(f"`{word}` of a class")
    return parent, which


def _options(words: Words) -> dict[str, int]:
    found: dict[str, int] = {}
    while words:
        name = words.take()
        if name in ("prio", "quantum"):
            found[name] = words.number("htb", name)
        elif name in _RATES or name in _SIZES:
            text = words.take()
            value = read_rate(text) if name in _RATES else read_size(text)
            if value is None:
                raise Refused(f'Illegal "{name}"\n', 1)
            found[name.replace("buffer", "burst")] = value
        else:
            raise NotEmulated(f"`{name}` of an htb class")
    if "rate" not in found:
        raise Refused('"rate" is required.\n', 1)
    return found


def _made(
    tree: PortTree, which: Id, parent: Id | None, options: dict[str, int], old: ClassNode | None
) -> ClassNode:
    rate = options["rate"]
    ceil = options.get("ceil", rate)
    return ClassNode(
        id=which,
        parent=parent,
        made=tree.count() if old is None else old.made,
        rate=rate,
        ceil=ceil,
        burst=options.get("burst", rate // 8 // 10**9 + _MTU),
        cburst=options.get("cburst", ceil // 8 // 10**9 + _MTU),
        prio=min(options.get("prio", 0), _PRIOS - 1),
        quantum=options.get("quantum", 0),
    )


def _settle(tree: PortTree, made: ClassNode, now: Now) -> None:
    """A new class has a fifo; the one above it now has classes instead."""
    default_fifo(tree, made.id, now)
    old = None if made.parent is None else tree.below(made.parent)
    if old is not None:
        tree.remove(old)


def _with_quantum(made: ClassNode) -> str:
    """A quantum that is not given follows from the rate; the kernel warns where that is odd."""
    if made.quantum:
        return ""
    by_rate = made.rate // 8 // _R2Q
    made.quantum = min(max(by_rate, _LEAST_QUANTUM), _MOST_QUANTUM)
    if made.quantum == by_rate:
        return ""
    size = "small" if by_rate < _LEAST_QUANTUM else "big"
    number = f"{made.id.major << 16 | made.id.minor:X}"
    return f"Warning: sch_htb: quantum of class {number} is {size}. Consider r2q change.\n"
