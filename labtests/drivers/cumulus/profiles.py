"""QoS is profiles: a port applies one of each feature, else `default-global`.

A profile may be another port's, too, and somebody else's: it is never changed. A port gets one of
its own, `labtests-`, the port and the name of what it stands for, so that any later process knows
the way back. What is read is what is applied; pending changes are not in force.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from labtests.capabilities.settings import Commands, T
from labtests.core.errors import CommandRejected, UnreadableOutput
from labtests.core.output import excerpt
from labtests.drivers.cumulus.roce import Leaves as Leaves
from labtests.drivers.cumulus.roce import roce_status, roce_view
from labtests.drivers.cumulus.session import (
    NAME,
    PENDING,
    expect_applied,
    expected,
    revision,
    shown,
)
from labtests.drivers.displays.trees import Node, parse
from labtests.drivers.parsing import READ_AGAIN, refuse, whole_lines
from labtests.drivers.standing import OURS, base_of, is_own, own_name
from labtests.drivers.states import StateSetting
from labtests.transport.asking import Asking, ask_each
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

DEFAULT = "default-global"
MOST_LEAVES = 256
"""Of a profile. A map of all DSCPs and tags has 75."""
USUAL_CABLE_M, ROCE_CABLE_M = "10", "100"
"""Of a profile that does not tell it (guide), and of RoCE mode (command reference)."""
FEATURES = ("pfc", "congestion-control", "egress-scheduler", "mapping")
MAP = "egress-queue-mapping"
WATCHDOG = "pfc-watchdog"
_SHAPES: Mapping[str, frozenset[str]] = {
    feature: frozenset(text.split(", "))
    for feature, text in {
        "pfc": "switch-priority #, tx, rx, cable-length, port-buffer, xoff-threshold, "
        "xon-threshold",
        "congestion-control": "traffic-class # ecn, traffic-class # red, "
        "traffic-class # min-threshold, traffic-class # max-threshold, traffic-class # probability",
        "egress-scheduler": "traffic-class # mode, traffic-class # bw-percent",
        "mapping": "trust, port-default-sp, dscp # switch-priority, pcp # switch-priority",
        MAP: "switch-priority # traffic-class",
        WATCHDOG: "polling-interval, robustness",
        "roce": "enable, mode, cable-length",
    }.items()
}
"""What a profile may have, in the words of `nv list-commands`; # is a number."""
_MADE = re.compile(
    rf"qos (?:{'|'.join(FEATURES)}) {OURS}\S+(?: .*)?|qos roce(?: (?:enable|mode) \S+)?"
    rf"|qos (?:{MAP} {DEFAULT}|{WATCHDOG})(?: .*)?"
    rf"|interface (\S+) (?:qos (?:{'|'.join(FEATURES)}) profile|qos {WATCHDOG}(?: state)?|link mtu)"
    r"(?: \S+)?"
)
"""Lines that labtests gives, after `nv set` or `nv unset`."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What is applied of one feature, and at one port. `profile` is what the port applies, ""
    where that is the default unsaid; `roomy`: the priorities that have memory for lossless traffic;
    `roce`: the mode, where it is on, and `unknown` why what it makes of the default is not."""

    profiles: Mapping[str, Leaves]
    profile: str = ""
    mtu: int | None = None
    roce: str = ""
    roomy: frozenset[int] = frozenset()
    unknown: str = ""
    pending: tuple[str, ...] = ()

    @property
    def leaves(self) -> Leaves:
        """Of the profile that is in force at the port."""
        return self.profiles.get(self.profile or DEFAULT, {})

    def applying(self, name: str, leaves: Leaves | None = None) -> "Applied":
        """The port applies this, which has these leaves."""
        profiles = self.profiles if leaves is None else {**self.profiles, name: leaves}
        return replace(self, profiles=profiles, profile=name)


# -- reading ---------------------------------------------------------------------------------------


def leaves_of(node: Node) -> Leaves:
    """All values below."""
    found = dict(sorted(_leaves(node, ())))
    if len(found) > MOST_LEAVES:
        node.refuse(f"has {len(found)} values, and no profile has")
    return found


def _leaves(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if len(path) > 8:
        node.refuse("is deeper than a profile is")
    if not isinstance(node.shown, dict):
        yield path, node.word()
    elif path and not node.shown:
        yield path, ""
    for name, each in node.items() if isinstance(node.shown, dict) else ():
        yield from _leaves(each, (*path, name))


def parse_qos(reply: Reply) -> dict[str, dict[str, Leaves]]:
    """`nv show qos --applied`: the profiles of each feature, and its maps, pools and RoCE."""
    whole = parse(reply)
    if not whole.has(MAP):
        whole.refuse(f"lacks the field '{MAP}'", READ_AGAIN)
    features = (*FEATURES, MAP, "traffic-pool")
    found = {
        each: {name: leaves_of(node) for name, node in whole.below(each).items(NAME)}
        for each in features
    }
    return found | {each: {"": leaves_of(whole.below(each))} for each in ("roce", WATCHDOG)}


def parse_port(reply: Reply) -> dict[str, str]:
    """`nv show interface PORT --applied`: which profiles the port applies, and its `mtu`."""
    whole = parse(reply)
    if not whole.has("type"):
        whole.refuse("lacks the field 'type'", READ_AGAIN)
    found = {"mtu": whole.below("link", "mtu").word()} if whole.below("link").has("mtu") else {}
    for name, node in whole.below("qos").items():
        for leaf in ("profile", "state"):
            if isinstance(node.shown, dict) and node.has(leaf):
                found[name] = node.below(leaf).word()
    return found


def parse_pending(reply: Reply) -> tuple[str, ...]:
    """Lines that are set and not applied."""
    lines = tuple(text.strip() for text in whole_lines(reply) if text.strip())
    if lines in ((), ("{}",), ("[]",)):
        return ()
    for text in lines:
        if not re.match(r"nv (?:set|unset) \S", text):
            refuse(reply, f"it has {excerpt(repr(text), 80)}, which is no `nv set` or `nv unset`")
    return lines


def read_applied(feature: str, port: str) -> Asking[Applied]:
    """As it is now. `port` is "" for what is the whole switch's."""
    at_port = (shown("interface", port, "--applied"),) if port else ()
    replies = yield from ask_each(shown("qos", "--applied"), PENDING, *at_port)
    qos, told = parse_qos(expected(replies[0])), parse_port(expected(replies[2])) if port else {}
    name, mtu = told.get(feature, ""), told.get("mtu", "")
    if port and (not mtu.isdigit() or not NAME.fullmatch(name or "none")):
        refuse(replies[2], f"the port has the MTU {mtu!r} and the {feature} profile {name!r}")
    has_pool = ("memory-percent",) in qos["traffic-pool"].get("default-lossless", {})
    applied = Applied(
        profiles=qos[feature],
        profile=name,
        mtu=int(mtu) if port else None,
        roce=roce_mode(replies[0], qos["roce"][""]),
        roomy=frozenset(range(8) if has_pool else ()),
        pending=parse_pending(expected(replies[1])),
    )
    if not applied.roce or feature not in (*FEATURES, MAP):
        return applied
    cable = qos["roce"][""].get(("cable-length",), ROCE_CABLE_M)
    return (yield from _with_roce(applied, feature, port, cable))


def roce_mode(reply: Reply, leaves: Leaves) -> str:
    """What is applied of it, "" where it is off."""
    try:
        expect_shapes("roce", leaves)
        if leaves and ("enable",) not in leaves:
            raise Unclear("it has a mode, and no word of being enabled")
        return leaves.get(("mode",), "lossless") if switched(leaves, ("enable",), "off") else ""
    except Unclear as unclear:
        refuse(reply, f"of RoCE mode it is not clear whether it is on: {unclear}")


def _with_roce(applied: Applied, feature: str, port: str, cable_m: str) -> Asking[Applied]:
    """The default is what RoCE mode makes of it, if switch and port say the same. Not all releases
    show the length of cables there, so what is applied tells it."""
    try:
        view = yield from roce_view()
        usual = port and applied.profile in ("", DEFAULT)
        status = (yield from roce_status(port)) if usual else view
        odd = view.other(status, feature)
    except (CommandRejected, UnreadableOutput) as unread:
        odd = f"{unread.command}: {unread.problem}"
    told = applied.profiles.get(DEFAULT, {}).get(("cable-length",), cable_m)
    if told not in (cable_m, USUAL_CABLE_M):
        odd = f"{DEFAULT} has a cable-length of {told}, and RoCE mode one of {cable_m}"
    if odd:
        return replace(applied, roomy=frozenset(), unknown=odd)
    own = {("cable-length",): cable_m} if feature == "pfc" else {}
    profiles = {**applied.profiles, DEFAULT: {**view.told[feature], **own}}
    return replace(applied, profiles=profiles, roomy=view.roomy)


# -- changing --------------------------------------------------------------------------------------


def nv(verb: str, *words: str | int) -> Shell:
    """`nv set ...`, `nv unset ...`."""
    return program("nv", verb, *words)


def profile_lines(feature: str, name: str, leaves: Leaves) -> Iterator[Shell]:
    """Members and numbers with the same value share a line: `traffic-class 0,3 mode dwrr`."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for path, value in leaves.items():
        first, *rest = path
        if rest:
            key = (first, *rest[1:], value)
            grouped.setdefault(key, []).append(rest[0])
        else:
            grouped[(first, value)] = []
    for (first, *rest), members in grouped.items():
        listed = ",".join(sorted(members, key=lambda each: (len(each), each)))
        yield nv("set", "qos", feature, name, first, *filter(None, (listed, *rest)))


class NvueSetting(StateSetting[T, Applied]):
    """A setting that is in what is applied."""

    feature: ClassVar[str]
    remedy = (
        "look at `nv config diff` and `nv show interface PORT qos`: something else may change it, "
        "or this model takes the line and does nothing"
    )

    def where(self, port: str) -> str:
        """Where it is, for a refusal."""
        return f"interface {port} qos {self.feature}"

    @abstractmethod
    def _lines(self, port: str, before: Applied, after: Applied) -> Iterator[Shell]:
        """From one to the other."""

    def state(self, port: str) -> Asking[Applied]:
        """What is applied."""
        return read_applied(self.feature, port)

    def _change(self, port: str, before: Applied, after: Applied) -> Commands:
        for line in before.pending:
            self._expect_ours(line)
        lines = tuple(self._lines(port, before, after))
        return revision(lines, afresh=bool(before.pending))

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises CommandRejected, ToolMissing."""
        expect_applied(replies)

    @contextmanager
    def clear(self, where: str) -> Iterator[None]:
        """What is unclear inside is refused: CommandRejected."""
        try:
            yield
        except Unclear as unclear:
            raise self.reject(where, str(unclear), unclear.remedy) from unclear

    def expect_known(self, applied: Applied) -> None:
        """Of the default it is known what RoCE mode makes of it."""
        if applied.unknown:
            problem = f"RoCE mode is on ({applied.roce}), and its {self.feature} is not known"
            remedy = "`nv unset qos roce`, or give the port a profile of its own"
            raise self.reject("qos roce", f"{problem} ({applied.unknown})", remedy)

    def _expect_ours(self, line: str) -> None:
        """What is pending would be applied with our lines. What labtests was cut off in is given
        up; anybody else's is not."""
        made = _MADE.fullmatch(line.partition("set ")[2])
        if made is None or made[1] not in (None, *self.ports):
            problem = f"somebody's change is pending: {excerpt(line, 80)}"
            remedy = "`nv config apply` it, or `nv config detach` gives it up"
            raise self.reject("nv config diff", problem, remedy)


M = TypeVar("M")


class ProfileSetting(NvueSetting[T], Generic[T, M]):
    """A setting that is what the port's profile of a feature means: an M."""

    @abstractmethod
    def _meaning(self, leaves: Leaves) -> M:
        """Raises Unclear."""

    def in_force(self, applied: Applied, port: str) -> M:
        """What the port's profile means."""
        name, where = applied.profile or DEFAULT, f"qos {self.feature}"
        if name != DEFAULT and name not in applied.profiles:
            problem = f"{port} applies it, and it is not there"
            raise self.reject(f"{where} {name}", problem, "make it")
        if name == DEFAULT:
            self.expect_known(applied)
        with self.clear(f"{where} {name}"):
            return self._meaning(applied.leaves)

    def meant(self, applied: Applied, port: str, wanted: M, own: Leaves) -> Applied:
        """The port applies what means this: what its own stands for, what it applies now, else a
        profile of its own."""
        base = base_of(applied.profile, port)
        for name in (base, applied.profile):
            leaves, usual = applied.profiles.get(name or DEFAULT, {}), name in ("", DEFAULT)
            if (leaves or usual) and self._fits(applied, name or DEFAULT, leaves, wanted):
                return self._tidied(applied.applying(name), port)
        name = own_name(port, base)
        if not NAME.fullmatch(name):
            problem = f"{name} would not be a valid profile name"
            where, remedy = f"qos {self.feature} {base}", "give the profile a shorter one"
            raise self.reject(where, problem, remedy)
        return self._tidied(applied.applying(name, own), port)

    def _fits(self, applied: Applied, name: str, leaves: Leaves, wanted: M) -> bool:
        if name == DEFAULT and applied.unknown:
            return False
        try:
            return self._meaning(leaves) == wanted
        except Unclear:
            return False

    def _tidied(self, applied: Applied, port: str) -> Applied:
        """Without what was made for the port and is not applied: a change may have been cut off."""
        kept = {
            name: leaves
            for name, leaves in applied.profiles.items()
            if not is_own(name, port) or name == applied.profile
        }
        return replace(applied, profiles=kept)

    def _lines(self, port: str, before: Applied, after: Applied) -> Iterator[Shell]:
        for name, leaves in after.profiles.items():
            if before.profiles.get(name) != leaves:
                if name in before.profiles:
                    yield nv("unset", "qos", self.feature, name)
                yield from profile_lines(self.feature, name, leaves)
        if before.profile != after.profile:
            at = ("interface", port, "qos", self.feature, "profile")
            yield nv("set", *at, after.profile) if after.profile else nv("unset", *at)
        for name in before.profiles.keys() - after.profiles.keys():
            yield nv("unset", "qos", self.feature, name)


class Unclear(Exception):
    """What a profile says cannot be, or labtests cannot tell."""

    def __init__(self, problem: str, remedy: str = "correct the profile") -> None:
        super().__init__(problem)
        self.remedy = remedy


def expect_shapes(feature: str, leaves: Leaves) -> None:
    """What no manual shows may be what matters: it is not taken for something that is left out.
    Raises Unclear."""
    for path, value in leaves.items():
        shape = " ".join("#" if each.isdecimal() else each for each in path)
        if shape not in _SHAPES[feature] or (value == "") != shape.endswith("#"):
            told = excerpt(f"{' '.join(path)}: {value or '{}'}", 80)
            raise Unclear(f"it has `{told}`, which no manual of Cumulus Linux shows")


def number(leaves: Leaves, path: tuple[str, ...], default: int, most: int) -> int:
    """A value. Raises Unclear."""
    text = leaves.get(path, str(default))
    if not re.fullmatch("[0-9]{1,18}", text) or int(text) > most:
        raise Unclear(f"{' '.join(path)} is {text!r}, and no whole number up to {most}")
    return int(text)


def switched(leaves: Leaves, path: tuple[str, ...], default: str) -> bool:
    """Whether it is enabled, in the words of any release. Raises Unclear."""
    text = leaves.get(path, default)
    if text not in ("enable", "enabled", "on", "disable", "disabled", "off"):
        raise Unclear(f"{' '.join(path)} is {text!r}")
    return text in ("enable", "enabled", "on")


def members(leaves: Leaves, first: str, most: int) -> tuple[int, ...]:
    """The numbers under a name: `traffic-class 3`. Raises Unclear."""
    found = {path[1] for path in leaves if path[0] == first and len(path) > 1}
    if wrong := [each for each in found if each not in map(str, range(most))]:
        raise Unclear(f"{first} {min(wrong)}: there are {most}")
    return tuple(sorted(map(int, found)))
