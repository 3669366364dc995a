"""A port that is shut (`shutdown` in its view) and opened again."""

from collections.abc import Iterator

from labtests.capabilities.records import PortState
from labtests.capabilities.settings import PORT_STATE
from labtests.drivers.comware.session import PortSetting, line
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine


class ComwarePortState(PortSetting[PortState]):
    """As configured: whether the cable has a link is another thing."""

    kind = PORT_STATE

    def read(self, port: str) -> Asking[PortState]:
        """From the port's configuration, which says nothing of a port in use."""
        _, section = yield from self.configured(port)
        return "down" if "shutdown" in section.lines else "up"

    def lines(self, port: str, earlier: PortState, wanted: PortState) -> Iterator[CliLine]:
        """One line."""
        yield line("shutdown") if wanted == "down" else line("undo", "shutdown")
