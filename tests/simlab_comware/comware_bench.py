"""A transport to an emulated Comware switch in this process: no SSH, no lab."""

from dataclasses import dataclass, field
from typing import Any

from labtests.transport.protocol import Reply


@dataclass
class ComwareBench:
    """What is asked is asked in user view, what is configured in system view."""

    switch: Any
    device: str = "S6550"
    configured: list[str] = field(default_factory=list)

    def run(self, command: Any, *, timeout_s: float = 30.0) -> Reply:
        text = self.switch.session().run(str(command))
        return Reply(device=self.device, command=command, text=text)

    def configure(self, commands: Any) -> Reply:
        session, printed = self.switch.session(), ""
        for line in ("system-view", *commands, "return"):
            self.configured.append(str(line))
            printed += session.run(str(line))
        return Reply(device=self.device, command="system-view", text=printed)

    def type(self, *lines: str) -> None:
        """By hand, and nothing is refused."""
        session = self.switch.session()
        session.run("system-view")
        for line in lines:
            assert session.run(line) == "", line

    def shown(self) -> str:
        """All that is configured."""
        text: str = self.switch.session().run("display current-configuration")
        return text
