"""Commands that every switch has, whatever it calls them."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from labtests.simlab.switch_cli.configuration import CliSection, CliSetting, CommandRefused, Path
from labtests.simlab.switch_cli.grammar import CliCall, CliCommand, Handler
from labtests.simlab.switch_cli.session import CliSession
from labtests.simlab.switch_cli.switch import EmulatedSwitch


def settings(kind: str, undo: str, these: Iterable[CliSetting]) -> dict[str, CliCommand]:
    """The commands that set and undo these settings in sections of a kind."""
    commands: dict[str, CliCommand] = {}
    for each in these:
        commands[each.pattern] = CliCommand(_change(kind, each, each.put), changes=True)
        for pattern in each.undo:
            commands[f"{undo} {pattern}"] = CliCommand(_change(kind, each, each.drop), changes=True)
    return commands


def _change(kind: str, setting: CliSetting, act: Callable[[CliSection, CliCall], None]) -> Handler:
    def change(session: CliSession, call: CliCall) -> str:
        for section in session.sections(kind):
            setting.before(session.switch, section, call)
            act(section, call)
            session.switch.changed(section)
        return ""

    return change


Values = Callable[[EmulatedSwitch, str], dict[str, Any] | None]
"""The values that a screen shows for a port; None: the port is left out."""


def per_port(screen: str, values: Values) -> CliCommand:
    """The screen of the port named, or of every port."""

    def block(session: CliSession, port: str) -> str:
        switch, shown = session.switch, values(session.switch, port)
        if shown is None:
            return ""
        return switch.show(screen, port=port, hidden=switch.hidden(port), **shown)

    return CliCommand(lambda session, call: session.blocks(call, partial(block, session)))


def rows(screen: str, values: Values) -> CliCommand:
    """One table with a row for the port named, or for every port."""

    def table(session: CliSession, call: CliCall) -> str:
        switch = session.switch
        shown = ((switch.short(port), values(switch, port)) for port in session.ports(call))
        return switch.show(screen, rows=[{"name": name, **row} for name, row in shown if row])

    return CliCommand(table)


def to_view(view: str, said: str = "") -> CliCommand:
    """Enter a view of the whole switch."""

    def go(session: CliSession, call: CliCall) -> str:
        session.go(view)
        return said

    return CliCommand(go)


def enter(kind: str, *, create: bool = False) -> CliCommand:
    """Enter the view of the section that the command's last word names; `create`: create it if it
    does not exist."""

    def go(session: CliSession, call: CliCall) -> str:
        path = _path(session, kind, call.words[-1])
        session.cli.kinds[kind].entering(session.switch, call.words[-1])
        if create and not session.switch.faults.lies:
            session.switch.configuration.create(path, call.keywords)
        session.go(kind, path)
        return ""

    return CliCommand(go)


def remove(kind: str, kept: Callable[[EmulatedSwitch, str], str] = lambda *_: "") -> CliCommand:
    """Delete the section that the command's last word names; `kept`: why it has to stay, if so."""

    def act(session: CliSession, call: CliCall) -> str:
        configuration, path = session.switch.configuration, _path(session, kind, call.words[-1])
        section = configuration.find(path)
        if problem := kept(session.switch, call.words[-1]):
            raise CommandRefused(problem)
        configuration.remove(path)
        session.switch.changed(section)
        return ""

    return CliCommand(act, changes=True)


def _path(session: CliSession, kind: str, name: str) -> Path:
    """The section's path, inside the current section if this kind is nested there."""
    around = session.paths[0]
    while around and around[-1][0] != session.cli.kinds[kind].inside:
        around = around[:-1]
    return (*around, (kind, name))


def _enter_ports(session: CliSession, call: CliCall) -> str:
    session.go("interface", *(_path(session, "interface", name) for name in call.values["ports"]))
    return ""


enter_ports = CliCommand(_enter_ports)
"""Enter the view of all interfaces that are named."""


def _leave(session: CliSession, call: CliCall) -> str:
    session.go(session.cli.views[session.view].up, *(path[:-1] for path in session.paths[:1]))
    return ""


def _to_top(session: CliSession, call: CliCall) -> str:
    session.go(session.cli.first_view)
    return ""


def _close(session: CliSession, call: CliCall) -> str:
    session.closing = True
    return ""


leave, to_top, close = CliCommand(_leave), CliCommand(_to_top), CliCommand(_close)


def paging(on: bool) -> CliCommand:
    """Switch paging on or off for this session."""

    def switch(session: CliSession, call: CliCall) -> str:
        session.paging = on
        return ""

    return CliCommand(switch)


def clock() -> CliCommand:
    """The switch's time, on the screen `clock`."""
    return CliCommand(lambda session, call: session.show("clock", now=session.switch.now))


def save(said: str) -> CliCommand:
    """Save the running configuration as the startup configuration."""

    def act(session: CliSession, call: CliCall) -> str:
        session.switch.save()
        return said

    return CliCommand(act)


def _reset(session: CliSession, call: CliCall) -> str:
    session.switch.statistics.reset(session.ports(call))
    return ""


reset = CliCommand(_reset)
"""Reset the counters of the port named, or of all ports."""
