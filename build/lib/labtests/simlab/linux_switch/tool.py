"""The command `tc` of an emulated Linux switch.

What is not emulated exits with 1 and says so on stderr, in words that no real tc has.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux_switch import class_changes, filter_changes, qdisc_changes, showing
from labtests.simlab.linux_switch.arguments import Words
from labtests.simlab.linux_switch.counting import Counting
from labtests.simlab.linux_switch.nodes import PortTree, listed
from labtests.simlab.linux_switch.showing import Form, ShownQdisc

VERSION = "tc utility, iproute2-6.1.0, libbpf 1.1.2\n"
_FORMS = {"s": "statistics", "d": "details", "j": "json"}
_OBJECTS = ("qdisc", "class", "filter")
_NOT_HERE = ("chain", "action", "actions", "monitor", "exec")
_SHOW = ("show", "list", "ls")
_CHANGES = {
    "qdisc": ("add", "change", "replace", "delete"),
    "class": ("add", "change"),
    "filter": ("add",),
}
_OTHERS = ("change", "replace", "link", "get", "help", "delete")
_ROOT_REFERENCES = 3  # as recorded of a veth with two transmit queues


class QueuedBox(Protocol):
    """The switch, as far as tc has to do with it: its ports' queues, by interface."""

    trees: dict[str, PortTree]
    counting: Counting
    running: bool

    def changing(self, interface: str) -> AbstractContextManager[PortTree]:
        """A copy of a port's tree, which takes its place when the block ends without an error."""
        ...


@dataclass(slots=True)
class _Asked:
    """What `show` is to show."""

    device: str = ""
    parent: int | None = None
    invisible: bool = False
    hook: bool = False


def tc(box: QueuedBox, call: Call) -> str:
    """What it prints. Raises Refused and NotEmulated."""
    words = Words(call.arguments)
    flags, first = _flags(words)
    if "version" in flags:
        return VERSION
    if not first:
        raise NotEmulated("tc without an object")
    name = _whole(first, _OBJECTS) or ""
    if not name:
        if first in _NOT_HERE:
            raise NotEmulated(f"tc {first}")
        raise Refused(f'Object "{first}" is unknown, try "tc help".\n', 255)
    form = Form(**dict.fromkeys(flags, True))
    verb = words.take() if words else "show"
    if _whole(verb, _SHOW):
        return _show(box, name, words, form)
    return _change(box, call, (name, verb), words)


def _flags(words: Words) -> tuple[set[str], str]:
    """Options before the object, and the object."""
    found: set[str] = set()
    while words:
        word = words.take()
        if not word.startswith("-"):
            return found, word
        option = word.lstrip("-")
        if option in ("V", "Version"):
            return {"version"}, ""
        for letter in option if word[:2] != "--" and set(option) <= set(_FORMS) else [option]:
            name = next((long for short, long in _FORMS.items() if letter in (short, long)), None)
            if name is None:
                raise NotEmulated(f"the option {word}")
            found.add(name)
    return found, ""


def _whole(word: str, names: tuple[str, ...]) -> str | None:
    """The name that a word begins, as tc takes abbreviations."""
    return next((name for name in names if word and name.startswith(word)), None)


def _show(box: QueuedBox, name: str, words: Words, form: Form) -> str:
    asked = _asked(box, name, words)
    if name == "qdisc":
        rows = _rows(box, asked.device, invisible=asked.invisible)
        return showing.qdiscs(rows, form)
    tree = box.trees.get(asked.device, PortTree())  # without a device tc shows nothing of these
    if name == "class":
        return showing.classes(tree, form)
    if form.json or form.statistics:
        raise NotEmulated("filters with -j or -s")
    return "" if asked.hook else showing.filters(tree.filters, parent=asked.parent)


def _asked(box: QueuedBox, name: str, words: Words) -> _Asked:
    asked = _Asked()
    while words:
        word = words.take()
        if word == "dev":
            asked.device = _device(box, words.take())
        elif word == "invisible" and name == "qdisc":
            asked.invisible = True
        elif word == "parent" and name == "filter":
            asked.parent = words.handle()
        elif word in ("ingress", "egress") and name == "filter":
            asked.hook = True  # this box has no clsact: nothing is there
        elif word in ("root", "parent", "handle", "classid"):
            raise NotEmulated(f"show with `{word}`")
        else:
            raise Refused(f'What is "{word}"? Try "tc {name} help".\n', 255)
    return asked


def _device(box: QueuedBox, name: str) -> str:
    if name not in box.trees:
        raise Refused(f'Cannot find device "{name}"\n', 1)
    return name


def _rows(box: QueuedBox, device: str, *, invisible: bool) -> list[ShownQdisc]:
    return [
        ShownQdisc(
            qdisc=each,
            counts=box.counting.of(name, tree, each),
            device="" if device else name,
            ends=_ROOT_REFERENCES,
        )
        for name, tree in box.trees.items()
        if device in ("", name)
        for each in listed(tree.qdiscs)
        if (each.handle or invisible) and each.listed and box.counting.shows(name, tree, each)
    ]


def _change(box: QueuedBox, call: Call, what: tuple[str, str], words: Words) -> str:
    name, written = what
    verb = _whole(written, _CHANGES[name])
    if verb is None:
        if _whole(written, _OTHERS):
            raise NotEmulated(f"tc {name} {written}")
        raise Refused(f'Command "{written}" is unknown, try "tc {name} help".\n', 255)
    if words.take() != "dev":
        raise NotEmulated("a change without `dev` as its first word")
    device = _device(box, words.take())
    if call.process.user != "root":
        raise Refused("RTNETLINK answers: Operation not permitted\n", 2)
    if box.running and (name == "filter" or (name, verb) == ("class", "add")):
        raise NotEmulated(f"{name} add after the switch has booted")
    with box.changing(device) as tree:
        remarks = alter(box, (device, name, verb), tree, words)
    call.err(remarks)
    return ""


def alter(box: QueuedBox, what: tuple[str, str, str], tree: PortTree, words: Words) -> str:
    """Make the change in a tree; what tc remarks. Raises Refused, NotEmulated."""
    device, name, verb = what
    now = partial(box.counting.now, device)
    if name == "filter":
        filter_changes.add_filter(tree, words)
        return ""
    if name == "class":
        return class_changes.change_class(tree, verb, words, now)
    want = qdisc_changes.asked(verb, words)
    if verb == "delete":
        qdisc_changes.delete(tree, want, now)
        return ""
    return qdisc_changes.change(tree, want, words, now)
