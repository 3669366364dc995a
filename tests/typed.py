"""Commands that a test types by hand: labtests makes its own of words (transport/commands.py)."""

from typing import Any

from labtests.transport.commands import CliLine, Shell, script


class Typed(Shell, CliLine):
    """For whatever device."""

    __slots__ = ()


def typed(command: Any) -> Any:
    """This text, or each of these, as a command."""
    if not isinstance(command, str):
        return tuple(map(typed, command))
    made = str.__new__(Typed, command)
    made._by_sudo = str(script(command))
    return made
