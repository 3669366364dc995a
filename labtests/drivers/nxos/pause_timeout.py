"""The pause time-out of FCoE edge ports: a pause that is too long drops all that leaves the port.

It is the whole switch's, and works at ports that an F port (`interface vfc`) is bound to, which
labtests makes at none. No display is known that tells of it: a suite looks at what was dropped.
"""

from typing import Any

from labtests.capabilities.facts import Lacking
from labtests.capabilities.records import PortPauseTimeout
from labtests.capabilities.settings import PAUSE_TIMEOUT, Commands
from labtests.drivers.displays import Nested
from labtests.drivers.nxos.configuration import configured, parse_configuration
from labtests.drivers.nxos.session import NXOS, NxosPart, NxosSetting, full_name, line, show_ended
from labtests.drivers.parsing import refuse
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_PAUSE = ("system", "default", "interface", "pause")
_MODE = " ".join((*_PAUSE, "mode", "edge"))
_TIMEOUT = NXOS.shape(" ".join((*_PAUSE, "timeout <ms:number> mode edge")))
_TAKEN = range(100, 501, 100)
_USUAL_MS = 500


def parse_timeout(reply: Reply) -> PortPauseTimeout:
    """The lines of the running configuration that begin so; without any it is off."""
    lines = [each.head for each in parse_configuration(reply) if each.head != _MODE]
    on, found = len(lines) < len(parse_configuration(reply)), []
    for text in (text for text in lines if text.startswith(" ".join(_PAUSE))):
        if (match := _TIMEOUT.pattern.fullmatch(text)) is None:
            refuse(reply, f"it has a line that is unrecognised: {text!r}")
        found.append(int(match["ms"]))
    return PortPauseTimeout(on=on, timeout_ms=found[0] if found else _USUAL_MS)


class NxosPauseTimeout(NxosSetting[PortPauseTimeout]):
    """`system default interface pause`."""

    kind = PAUSE_TIMEOUT
    wide = True

    def read(self, port: str) -> Asking[PortPauseTimeout]:
        """As configured."""
        return parse_timeout((yield from show_ended("running-config", only=".".join(_PAUSE))))

    def commands(
        self, port: str, earlier: PortPauseTimeout, wanted: PortPauseTimeout, around: Any = None
    ) -> Commands:
        """The time first, so that it never works with somebody else's."""
        if wanted.timeout_ms not in _TAKEN:
            problem = f"{wanted.timeout_ms} ms is not in 100..500, steps of 100"
            raise self.reject(" ".join(_PAUSE), problem, "choose another time")
        time = line(*_PAUSE, "timeout", wanted.timeout_ms, "mode", "edge")
        mode = line(*(() if wanted.on else ("no",)), *_MODE.split())
        lines = (time,) if wanted.timeout_ms != earlier.timeout_ms else ()
        if wanted.on == earlier.on:
            return lines
        return (*lines, mode) if wanted.on else (mode, *lines)


class NxosFcoe(NxosPart, Lacking):
    """Whether the ports of the testbed are edge ports."""

    def lacks(self) -> Asking[dict[str, str]]:
        """See Lacking."""
        edges = {port for each in (yield from configured()).virtual if (port := bound_to(each))}
        others = [port for port in map(self.port, self.ports) if port not in edges]
        if not others:
            return {}
        problem = f"{', '.join(others)}: no FCoE edge port (`bind interface` of a vfc)"
        return {PAUSE_TIMEOUT.name: f"{problem}, so no pause time-out works there"}


def bound_to(vfc: Nested) -> str | None:
    """The port of an F port that is not shut down; it is, until somebody says otherwise (guide)."""
    modes = [text for text in vfc.lines if text.startswith("switchport mode")]
    bound = [text.rpartition(" ")[2] for text in vfc.lines if text.startswith("bind interface ")]
    edge = all(text.lower().endswith(" f") for text in modes) and "no shutdown" in vfc.lines
    return full_name(bound[0]) if edge and bound else None
