"""Named objects of a configuration, such as policy-maps and tables: the commands that make, enter
and remove one, its view, and the lines that refer to it, and keep it while they do.
"""

from collections.abc import Callable, Mapping

from labtests.simlab.switch_cli.cli import View
from labtests.simlab.switch_cli.commands import enter, remove, settings
from labtests.simlab.switch_cli.configuration import CliSection, SectionKind
from labtests.simlab.switch_cli.grammar import CliCall, CliCommand
from labtests.simlab.switch_cli.switch import EmulatedSwitch

Kinds = Mapping[str, SectionKind]


def objects(kinds: Kinds, undo: str, inside: str = "") -> dict[str, CliCommand]:
    """What makes, enters and removes the objects of these kinds that stand there."""
    commands: dict[str, CliCommand] = {}
    for name, kind in kinds.items():
        if kind.typed and kind.inside == inside:
            commands[kind.typed] = enter(name, create=True)
        if kind.typed and kind.inside == inside and kind.removable:
            commands[f"{undo} {kind.typed}"] = remove(name, kind.kept)
    return commands


def object_views(
    kinds: Kinds, undo: str, up: str, below: Mapping[str, CliCommand], *, beside: bool = False
) -> dict[str, View]:
    """The view of each kind that has a prompt, which also knows the commands `below` it. `up` is
    the one above those at the top; `beside`: one inner object may follow another."""
    return {
        name: View(
            prompt=kind.prompt,
            several=kind.several,
            up=kind.inside or up,
            commands={
                **below,
                **(objects(kinds, undo, kind.inside) if beside and kind.inside else {}),
                **objects(kinds, undo, name),
                **settings(name, undo, kind.settings),
                **kind.more,
            },
        )
        for name, kind in kinds.items()
        if kind.prompt
    }


def refers(
    kind: str, argument: str, but: str = ""
) -> Callable[[EmulatedSwitch, CliSection, CliCall], None]:
    """`before` of a line whose argument names an object of this kind, which stands where the
    line's section does. None is needed for `but`, or where the argument is not given."""

    def there(switch: EmulatedSwitch, section: CliSection, call: CliCall) -> None:
        name = call.values.get(argument, but)
        if name != but:
            switch.configuration.find((*section.path[:-1], (kind, name)))

    return there


def kept_by(
    sentence: str, *, line: str = "", argument: str = "", section: str = ""
) -> Callable[[EmulatedSwitch, str], str]:
    """`kept` of an object that some line (by the beginning of its key) has as its argument, or
    some section of a kind as its name."""

    def why(switch: EmulatedSwitch, name: str) -> str:
        used = any(
            each.path[-1] == (section, name)
            or (line and any(found.values.get(argument) == name for found in each.under(line)))
            for each in switch.configuration.everything()
        )
        return sentence if used else ""

    return why
