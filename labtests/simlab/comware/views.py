"""Where a CLI session is, and what its commands work with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from labtests.network import Switch
from labtests.simlab.comware.configuration import Configuration, PortConfiguration
from labtests.simlab.comware.displays import PfcColumns
from labtests.simlab.comware.statistics import Statistics
from labtests.simlab.face import Announced
from labtests.simlab.faults import DeviceFaults

Kind = Literal["user", "system", "interface", "wred", "dscp-dot1p", "dot1p-lp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A CLI view. `ports` are those of an interface view, `name` that of a WRED table."""

    kind: Kind
    ports: tuple[str, ...] = ()
    name: str = ""

    def prompt(self, sysname: str) -> str:
        """`<H3C>`, `[H3C]`, `[H3C-Twenty-FiveGigE1/0/14]`, … (documents 000 and 002)."""
        if self.kind == "user":
            return f"<{sysname}>"
        return f"[{'-'.join([sysname, *self._where()])}]"

    def _where(self) -> list[str]:
        if self.kind == "system":
            return []
        if self.kind == "interface":
            return [self.ports[0] if len(self.ports) == 1 else "if-range"]
        return [f"wred-table-{self.name}" if self.kind == "wred" else f"maptbl-{self.kind}"]


USER = View(kind="user")
SYSTEM = View(kind="system")


class Box(Protocol):
    """The switch, as its commands see it."""

    configuration: Configuration
    statistics: Statistics
    faults: DeviceFaults
    network: Switch
    pfc_columns: PfcColumns

    def uptime_s(self) -> float:
        """Simulated seconds since it was started."""
        ...

    def now_s(self) -> float:
        """Simulated seconds since the lab's start: its clock goes on over a reboot."""
        ...

    def save(self) -> None:
        """The running configuration is what it starts with from now on."""
        ...

    def set_link(self, port: str, *, up: bool) -> None:
        """The port's cable carries packets, or loses them."""
        ...

    def hears(self, port: str) -> Announced | None:
        """Who is at the other end by LLDP; None without a cable, or when nobody speaks."""
        ...

    def rate_bits_per_s(self, port: str) -> int | None:
        """What the cable carries; None without a cable."""
        ...


@dataclass(slots=True)
class Context:
    """One CLI session's state, handed to every command."""

    box: Box
    view: View = USER
    paging: bool = True
    closing: bool = False
    question: Callable[[str], str] | None = field(default=None)
    """Takes the next line instead of the command interpreter, and returns what is printed."""

    def ports(self) -> tuple[str, ...]:
        """Those of the interface view; all ports in another view."""
        return self.view.ports or tuple(self.box.configuration.ports)

    def settings(self) -> list[PortConfiguration]:
        """What is configured on these ports, to be changed."""
        return [self.box.configuration.ports[port] for port in self.ports()]

    def apply(self) -> str:
        """The network follows the changed settings of these ports. Nothing is printed."""
        for port in self.ports():
            self.box.configuration.apply(port)
        return ""
