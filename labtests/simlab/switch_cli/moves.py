"""Commands that every switch has under some name: handlers, and settings as commands."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from labtests.simlab.switch_cli.configuration import Path, Section, Setting
from labtests.simlab.switch_cli.grammar import Call, Command, Handler
from labtests.simlab.switch_cli.session import Session
from labtests.simlab.switch_cli.switch import EmulatedSwitch


def settings(kind: str, undo: str, these: Iterable[Setting]) -> dict[str, Command]:
    """The commands that make and undo these settings of sections of a kind."""
    commands: dict[str, Command] = {}
    for each in these:
        commands[each.pattern] = Command(_change(kind, each, each.put), changes=True)
        for pattern in each.undo:
            commands[f"{undo} {pattern}"] = Command(_change(kind, each, each.drop), changes=True)
    return commands


def _change(kind: str, setting: Setting, act: Callable[[Section, Call], None]) -> Handler:
    def change(session: Session, call: Call) -> str:
        sections = session.sections(kind)
        for section in sections:
            setting.before(session.switch, section, call)
        for section in sections:
            act(section, call)
            session.switch.changed(section)
        return ""

    return change


Values = Callable[[EmulatedSwitch, str], dict[str, Any] | None]
"""What a screen shows of a port; None: nothing."""


def per_port(screen: str, values: Values) -> Command:
    """The screen of the port named, or of each: those that have something to say."""

    def block(session: Session, port: str) -> str:
        switch, shown = session.switch, values(session.switch, port)
        if shown is None:
            return ""
        return switch.show(screen, port=port, hidden=switch.hidden(port), **shown)

    return Command(lambda session, call: session.blocks(call, partial(block, session)))


def rows(screen: str, values: Values) -> Command:
    """One table, with a row for the port named, or for each."""

    def table(session: Session, call: Call) -> str:
        switch = session.switch
        shown = ((switch.short(port), values(switch, port)) for port in session.ports(call))
        return switch.show(screen, rows=[{"name": name, **row} for name, row in shown if row])

    return Command(table)


def to_view(view: str, said: str = "") -> Command:
    """The session is in a view of the whole switch."""

    def go(session: Session, call: Call) -> str:
        session.go(view)
        return said

    return Command(go)


def enter(kind: str, *, create: bool = False) -> Command:
    """The session is in the view of the section that the command's last word names. `create`: the
    section is there from then on."""

    def go(session: Session, call: Call) -> str:
        path = _path(session, kind, call.words[-1])
        if create and not session.switch.faults.lies:
            session.switch.configuration.create(path)
        session.go(kind, path)
        return ""

    return Command(go)


def _path(session: Session, kind: str, name: str) -> Path:
    """Inside the section where the session is, as far as sections of this kind stand inside."""
    around = session.paths[0]
    while around and around[-1][0] != session.cli.kinds[kind].inside:
        around = around[:-1]
    return (*around, (kind, name))


def _leave(session: Session, call: Call) -> str:
    session.go(session.cli.views[session.view].up, *(path[:-1] for path in session.paths[:1]))
    return ""


def _to_top(session: Session, call: Call) -> str:
    session.go(session.cli.first_view)
    return ""


def _close(session: Session, call: Call) -> str:
    session.closing = True
    return ""


leave, to_top, close = Command(_leave), Command(_to_top), Command(_close)


def paging(on: bool) -> Command:
    """Long outputs stop after a page, or do not, in this session."""

    def switch(session: Session, call: Call) -> str:
        session.paging = on
        return ""

    return Command(switch)


def save(said: str) -> Command:
    """The running configuration is what the switch starts with."""

    def act(session: Session, call: Call) -> str:
        session.switch.save()
        return said

    return Command(act)


def _reset(session: Session, call: Call) -> str:
    session.switch.statistics.reset(session.ports(call))
    return ""


reset = Command(_reset)
"""The counters of the port named, or of all, start from zero."""
