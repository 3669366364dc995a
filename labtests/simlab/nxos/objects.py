"""`| json`: what displays have as objects, by templates like the others.

Of `show version` and `show interface` by mocked replies (recordings); of the others by the schema
in the command reference of Cisco and programs that read them. What a counter is called where only
the text is recorded is the word of the text; that numbers are texts is from memory.
"""

import json
from collections.abc import Callable
from typing import Any

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import displays, watchdog
from labtests.simlab.nxos.displays import Shown


def _as_json(
    screen: str, of_port: Callable[[kit.EmulatedSwitch, str], Shown] = lambda *_: {}
) -> kit.CliCommand:
    """On one line, as an answer of a device has it."""

    def show(session: kit.CliSession, call: kit.CliCall) -> str:
        switch = session.switch
        shown = session.show(
            f"{screen}-json",
            ports=[{"port": port, **of_port(switch, port)} for port in session.ports(call)],
            **displays.box_told(switch),
            **watchdog.of_switch(switch),
        )
        return json.dumps(json.loads(shown, object_pairs_hook=_object)) + "\n"

    return kit.CliCommand(show)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """One row is an object, several are a list."""
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in pairs
    }


DISPLAYS = {
    **displays.DISPLAYS,
    "show version | json": _as_json("version"),
    "show interface [ <port> ] | json": _as_json("interface", displays.interface_shown),
    "show queuing interface [ <port> ] | json": _as_json("queuing", displays.queuing_shown),
    "show queuing tabular [ interface <port> ] | json": _as_json("tabular", displays.queuing_shown),
    "show queuing pfc-queue [ interface <port> ] | json": _as_json("pfc-queue", watchdog.shown),
}
