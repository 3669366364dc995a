"""A record of the lease: who has the lab since when and why, as text that `cat` shows.

Five lines (`labtests-lease/1`): one of JSON, which the runner wrote; then, from the device itself,
its uptime, its boot id, its date, and `end`.
"""

import getpass
import json
import secrets
import socket
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from labtests.core.output import excerpt
from labtests.journal import Runner, state_of, this_runner

FORMAT = "labtests-lease/1"
Kind = Literal["run", "person", "free"]
SHOWN_AT_MOST = 200  # characters of a text that somebody else has written
MOST_BYTES = 16_384  # of a record
_MOST_OF_A_TEXT = 500  # characters, of which each may take 12 bytes in JSON
_MOST_OF_A_NUMBER = 10**15


class Garbage(ValueError):
    """A text that is not a record; the words say why."""


TOKEN_DIGITS = 16  # hexadecimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who has the lab, or (`free`) who had it last. `token` is of one holding only.

    `since` is the device's date. `expires_after_s` counts from the last heartbeat; None is for
    ever. `left` are changes of a run that could not be put back.
    """

    kind: Kind
    token: str
    user: str
    machine: str
    pid: int
    run: str = ""
    why: str = ""
    since: str = ""
    expires_after_s: float | None = None
    left: int = 0
    boot: str = ""
    pid_space: str = ""
    started_ticks: int = 0

    @property
    def is_mine(self) -> bool:
        """Whether it is this user on this machine."""
        return (self.user, self.machine) == (_user(), socket.gethostname())

    @property
    def is_dead(self) -> bool:
        """Whether it is a run of this very boot of this machine whose process is gone."""
        me = this_runner()
        here = self.boot != "" and (self.boot, self.pid_space) == (me.boot, me.pid_space)
        return self.kind == "run" and here and state_of(self.runner) == "dead"

    @property
    def runner(self) -> Runner:
        """The process that has it."""
        return Runner(
            pid=self.pid,
            host=self.machine,
            boot=self.boot,
            pid_space=self.pid_space,
            started_ticks=self.started_ticks,
            since=self.since,
        )

    def __str__(self) -> str:
        place = f"{shown(self.user)}@{shown(self.machine)}"
        what = f"run {shown(self.run)}" if self.run else "a program"
        who = place if self.kind == "person" else f"{what} ({place}, process {self.pid})"
        since = f" since {shown(self.since)}" if self.since else ""
        return f"{who}{since}: {shown(self.why) or 'no reason given'}"


def me(kind: Kind, **facts: Any) -> Holder:
    """This process, or the person who started it, as a holder with a token of its own. A text that
    no record can have is cut."""
    runner = this_runner()
    facts = {n: v[:_MOST_OF_A_TEXT] if isinstance(v, str) else v for n, v in facts.items()}
    return Holder(
        kind=kind,
        token=secrets.token_hex(TOKEN_DIGITS // 2),
        user=_user(),
        machine=runner.host,
        pid=runner.pid,
        boot=runner.boot,
        pid_space=runner.pid_space,
        started_ticks=runner.started_ticks,
        **facts,
    )


def as_line(holder: Holder) -> str:
    """The record's first line: plain ASCII."""
    return json.dumps({"format": FORMAT, **asdict(holder)})


def holder_of(line: str) -> Holder:
    """What `as_line` was given. Raises Garbage."""
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError):
        raise Garbage("its first line is not JSON") from None
    if not isinstance(facts, dict) or facts.pop("format", None) != FORMAT:
        raise Garbage(f"its first line is not of the format {FORMAT}")
    known = {field.name for field in fields(Holder)}
    if set(facts) != known:
        raise Garbage(f"its first line should have exactly {', '.join(sorted(known))}")
    wrong = [name for name, value in facts.items() if not _fits(name, value)]
    if wrong:
        raise Garbage(f"its first line has wrong values of {', '.join(sorted(wrong))}")
    return Holder(**facts)


def _fits(name: str, value: object) -> bool:
    if name == "kind":
        return value in get_args(Kind)
    if name == "expires_after_s":
        return value is None or (isinstance(value, int | float) and 0 < value < 1e9)
    if name in ("pid", "left", "started_ticks"):
        return type(value) is int and 0 <= value < _MOST_OF_A_NUMBER
    return type(value) is str and len(value) <= _MOST_OF_A_TEXT


def shown(text: str) -> str:
    """What somebody else wrote, fit for a terminal: without secrets, printable, not without end."""
    known = excerpt(text, SHOWN_AT_MOST + 1)
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in known)
    return plain if len(plain) <= SHOWN_AT_MOST else plain[:SHOWN_AT_MOST] + "..."


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such entry in passwd, as in some containers
        return "unknown"
