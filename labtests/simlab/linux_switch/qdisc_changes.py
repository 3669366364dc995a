"""`tc qdisc add|change|replace|del`: what becomes of a port's tree, or the kernel's refusal.

The order of the checks is the kernel's (net/sched/sch_api.c, tc_modify_qdisc), the words are those
of Linux 6.18. This kernel has htb, bfifo, pfifo, red and netem, and says of all others that it has
not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from labtests.network import QueueCounters
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux_switch.arguments import Words, kernel_says
from labtests.simlab.linux_switch.netem import netem_options
from labtests.simlab.linux_switch.nodes import DEFAULT_PACKETS, UNNAMED, PortTree, QdiscNode
from labtests.simlab.linux_switch.quantities import Id, read_size
from labtests.simlab.linux_switch.red import red_options

Now = Callable[[], tuple[QueueCounters, ...]]
FIFOS = ("bfifo", "pfifo")
KINDS = (*FIFOS, "red", "netem", "htb")
_SIGNS = {"add": (True, False), "change": (False, False), "replace": (True, True)}
_FIFO_USAGE = "Usage: ... <[p|b]fifo | pfifo_head_drop> [ limit NUMBER ]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class QdiscPlace:
    """Where a qdisc is, or is to be. `place` is None for the root; handle 0: not named."""

    verb: str
    place: Id | None
    handle: int
    kind: str

    @property
    def creates(self) -> bool:
        """NLM_F_CREATE."""
        return _SIGNS[self.verb][0]

    @property
    def replaces(self) -> bool:
        """NLM_F_REPLACE."""
        return _SIGNS[self.verb][1]

    @property
    def excludes(self) -> bool:
        """NLM_F_EXCL."""
        return self.verb == "add"


def asked(verb: str, words: Words) -> QdiscPlace:
    """The words up to the kind of the qdisc."""
    place: Id | None = None
    handle, kind, placed = 0, "", False
    while words and not kind:
        word = words.take()
        if word == "root":
            placed = True
        elif word == "parent":
            place, placed = words.place(), True
        elif word == "handle":
            handle = words.handle()
        elif word in ("ingress", "clsact"):
            raise NotEmulated(f"qdisc {word}")
        elif word in ("estimator", "stab", "ingress_block", "egress_block"):
            raise NotEmulated(f"`{word}` of a qdisc")
        else:
            kind = word
    if not placed:
        raise NotEmulated("a change of a qdisc without `root` or `parent`")
    return QdiscPlace(verb=verb, place=place, handle=handle, kind=kind)


def change(tree: PortTree, want: QdiscPlace, words: Words, now: Now) -> str:
    """Do it; what tc remarks. Raises Refused, NotEmulated."""
    made = QdiscNode(kind=want.kind, handle=want.handle, parent=want.place, made=0, born=now())
    remarks = _options(made, words)
    if want.kind not in KINDS:
        raise kernel_says("Specified qdisc kind is unknown")
    there = _there(tree, want)
    if there is not None and want.handle not in (0, there.handle):
        if not want.replaces:
            raise kernel_says("NLM_F_REPLACE needed to override")
        there = tree.named_as(want.handle)
        if there is not None:
            raise kernel_says("Cannot move an existing qdisc to a different parent")
    elif there is None and tree.named_as(want.handle) is not None:
        raise kernel_says(
            "Exclusivity flag on, cannot override"
            if want.excludes
            else "Cannot move an existing qdisc to a different parent"
        )
    if there is None or (want.replaces and there.kind != want.kind and not want.handle):
        _graft(tree, want, made)
    else:
        _modify(tree, there, want, made)
    return remarks


def delete(tree: PortTree, want: QdiscPlace, now: Now) -> None:
    """The class has the kernel's default again. Raises Refused."""
    if want.place is not None and tree.named_as(want.place.major) is None:
        raise kernel_says("Failed to find qdisc with specified classid")
    there = tree.root if want.place is None else tree.below(want.place)
    if want.place is not None and not tree.has_class(want.place):
        raise kernel_says("Specified class not found")
    if there is None or there.handle == UNNAMED:
        raise kernel_says("Cannot delete qdisc with handle of zero")
    if want.handle not in (0, there.handle):
        raise kernel_says("Invalid handle")
    if want.kind not in ("", there.kind):
        raise kernel_says("Invalid qdisc name: must match existing qdisc")
    if want.place is None:
        raise NotEmulated("a port without its htb")
    tree.remove(there)
    if tree.named_as(want.place.major) is not tree.root:
        raise NotEmulated("a RED without a qdisc below it")
    default_fifo(tree, want.place, now, listed=False)


def default_fifo(tree: PortTree, place: Id, now: Now, *, listed: bool = True) -> None:
    """What the kernel puts into a class of htb."""
    made = QdiscNode(
        kind="pfifo",
        handle=UNNAMED,
        parent=place,
        made=tree.count(),
        born=now(),
        limit=DEFAULT_PACKETS,
        listed=listed,
    )
    tree.qdiscs.append(made)


def _there(tree: PortTree, want: QdiscPlace) -> QdiscNode | None:
    """The qdisc that is there now, unless it is a default one."""
    if want.place is None:
        return tree.root
    if tree.named_as(want.place.major) is None:
        raise kernel_says("Failed to find specified qdisc")
    if not tree.has_class(want.place):
        raise kernel_says("Specified class not found")
    found = tree.below(want.place)
    return None if found is None or found.handle == UNNAMED else found


def _modify(tree: PortTree, there: QdiscNode, want: QdiscPlace, made: QdiscNode) -> None:
    """Counters go on. A RED gets a new fifo (net/sched/sch_red.c, red_change)."""
    if want.excludes:
        raise kernel_says("Exclusivity flag on, cannot modify")
    if there.kind != want.kind:
        raise kernel_says("Invalid qdisc name: must match existing qdisc")
    if there.kind == "htb":
        raise kernel_says("Change operation not supported by specified qdisc")
    if there.kind == "red":
        _drop_child(tree, there)
        _default_child(tree, made, there.handle, made.born)
    there.red, there.limit, there.loss = made.red, made.limit, made.loss


def _graft(tree: PortTree, want: QdiscPlace, made: QdiscNode) -> None:
    """The new one takes the place of whatever was there; what that held is lost."""
    if not want.creates:
        raise kernel_says("Qdisc not found. To create specify NLM_F_CREATE flag")
    if want.place is None and want.kind != "htb":
        raise NotEmulated(f"a port whose root is {want.kind}")
    if want.place is not None and want.kind == "htb":
        raise NotEmulated("an htb below another qdisc")
    if want.place is not None and tree.is_inner(want.place):
        raise NotEmulated("a qdisc in a class that has classes")
    old = None if want.place is None else tree.below(want.place)
    if old is not None:
        tree.remove(old)
    made.handle = made.handle or tree.own_handle()
    made.made = tree.count()
    tree.qdiscs.append(made)
    if made.kind == "red":
        _default_child(tree, made, made.handle, made.born)


def _drop_child(tree: PortTree, red: QdiscNode) -> None:
    child = tree.below(Id(red.handle, 1))
    if child is not None:
        tree.remove(child)


def _default_child(
    tree: PortTree, red: QdiscNode, handle: int, born: tuple[QueueCounters, ...]
) -> None:
    """A RED holds its packets in a fifo of its limit."""
    child = QdiscNode(
        kind="bfifo",
        handle=UNNAMED,
        parent=Id(handle, 1),
        made=tree.count(),
        born=born,
        limit=red.limit,
    )
    tree.qdiscs.append(child)


def _options(made: QdiscNode, words: Words) -> str:
    if made.kind == "red":
        made.red, remarks = red_options(words)
        made.limit = made.red.limit
        return remarks
    if made.kind in FIFOS:
        _fifo(made, words)
    elif made.kind == "netem":
        netem_options(made, words)
    elif made.kind == "htb":
        _htb(made, words)
    return ""


def _fifo(made: QdiscNode, words: Words) -> None:
    """Without `limit` the kernel takes as many packets as the port's own queue has."""
    made.limit = DEFAULT_PACKETS * (1514 if made.kind == "bfifo" else 1)
    while words:
        word = words.take()
        if word != "limit":
            raise Refused(f'{made.kind}: unknown parameter "{word}"\n{_FIFO_USAGE}', 1)
        text = words.take()
        limit = read_size(text)
        if limit is None:
            raise Refused(f'{made.kind}: Illegal value for "limit": "{text}"\n', 1)
        made.limit = limit


def _htb(made: QdiscNode, words: Words) -> None:
    while words:
        word = words.take()
        if word != "default":
            raise NotEmulated(f"`{word}` of an htb")
        made.default_minor = int(words.take(), 16)
