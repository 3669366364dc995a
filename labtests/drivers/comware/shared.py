"""Named objects that ports apply: WRED tables, and policies at the edge.

Those of other people are applied, never changed. One of ours is made, shared by ports that want the
same, and removed when no port applies it any more.
"""

from abc import abstractmethod
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic

from labtests.capabilities import settings as s
from labtests.drivers.comware.session import CLI, ComwareSetting, ConfigSection, Lines, interfaces
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

Users = Mapping[str, frozenset[str]]
"""Other ports, by the object that they apply."""


@dataclass(frozen=True, slots=True)
class Around(Generic[s.T]):
    """What other ports apply; and which objects of ours are there, with what they hold where that
    may not be changed."""

    users: Users = field(default_factory=dict)
    there: Mapping[str, s.T | None] = field(default_factory=dict)


class SharedSetting(ComwareSetting[s.T]):
    """The object that a port applies, and what it holds. Its name is this field of the value; None:
    the port applies none."""

    named: ClassVar[str]
    ours: ClassVar[str]
    """How the names of ours begin."""
    made_by: ClassVar[str]
    """What stands before the name where one is made."""
    applied_by: ClassVar[tuple[str, str]]
    """The lines of a port that apply one and take it off, with `{}` for its name."""

    @abstractmethod
    def applied(self, reply: Reply, section: ConfigSection) -> str | None:
        """What the port of this section applies."""

    @abstractmethod
    def found(
        self, names: Iterable[str], users: Users, *, but: Container[str]
    ) -> Asking[dict[str, s.T | None]]:
        """See Around.there: which of these are there. `but`: they need not be looked for."""

    @abstractmethod
    def making(self, earlier: s.T, wanted: s.T, *, there: bool) -> Lines:
        """One of ours; `there`: it is there already."""

    @abstractmethod
    def removing(self, name: str) -> Lines:
        """One of ours goes."""

    def is_ours(self, name: str | None) -> bool:
        """Whether labtests has made it."""
        return name is not None and name.startswith(self.ours)

    def around(self, port: str, values: tuple[s.T, ...]) -> Asking[Around[s.T]]:
        """Of every object of ours that the setting goes through, which an interrupted change may
        have left. `values` begins with what is now, and what is wanted."""
        ours = [name for each in values if self.is_ours(name := getattr(each, self.named))]
        if not ours:
            return Around()
        users: dict[str, frozenset[str]] = {}
        reply, sections = yield from interfaces()
        for section in sections:
            name = self.applied(reply, section)
            if name is not None and section.interface != self.port(port):
                users[name] = users.get(name, frozenset()) | {str(section.interface)}
        now_and_wanted = [getattr(each, self.named) for each in values[:2]]
        there = yield from self.found(dict.fromkeys(ours), users, but=now_and_wanted)
        return Around(users, there)

    def commands(
        self, port: str, earlier: s.T, wanted: s.T, around: Around[s.T] | None = None
    ) -> s.Commands:
        """Make ours, apply it, and remove those of ours that nobody applies then. Raises
        CommandRejected for one that another port applies with other values."""
        before, after = (getattr(each, self.named) for each in (earlier, wanted))
        around = Around({}, {before: None}) if around is None else around
        held = around.there.get(after)
        if held is not None and not self.same(held, wanted):
            others = ", ".join(sorted(around.users[after]))
            raise self.reject(
                f"{self.made_by} {after}",
                f"{others} applies this table with other values",
                f"give the setting of {port} another profile name that starts with {self.ours}",
            )
        lines: s.Commands = ()
        if not self.same(earlier, wanted):
            if self.is_ours(after):
                lines = tuple(self.making(earlier, wanted, there=after in around.there))
            applied = zip(reversed(self.applied_by), (before, after), strict=True)
            texts = [text.format(name) for text, name in applied if name is not None]
            changed = (CLI.line(*text.split()) for text in texts if before != after)
            lines += CLI.at(self.port(port), *changed)
        gone = {name for name in around.there if self.is_ours(name)} - around.users.keys()
        removed = (self.removing(name) for name in sorted(gone - {after}))
        return (*lines, *(each for one in removed for each in one))
