"""An emulated switch as a device of the simulated lab: its command line behind SSH."""

from labtests.inventory import Device
from labtests.simlab.face import Console
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli.cli import SwitchCli
from labtests.simlab.switch_cli.grammar import Grammar
from labtests.simlab.switch_cli.session import CliSession
from labtests.simlab.switch_cli.switch import EmulatedSwitch
from labtests.simlab.switch_cli.terminal import CliTerminal
from labtests.simlab.transfer import Files


class CliSwitch(EmulatedSwitch):
    """See Face."""

    files: Files | None = None  # SFTP is off on such a switch until it is configured

    def __init__(self, lab: SimulatedLab, device: Device, cli: SwitchCli) -> None:
        super().__init__(lab, device, cli)
        self.user = device.management.user or "admin"
        arguments = cli.arguments(self.ports)
        self._grammars = {
            name: Grammar(arguments, view.commands) for name, view in cli.views.items()
        }
        self._obey(cli.delivered(self.ports))
        self.changed_at = None
        self.faults.defects.on_map.append(
            lambda classes: self._obey(cli.map_lines(classes, self.ports))
        )

    def session(self) -> CliSession:
        """A new session."""
        return CliSession(self, self._grammars)

    def execute(self, command: str, console: Console) -> None:
        """See Face: the lines of the command, one after the other, without prompts or pages."""
        if not self.faults.given(command):
            return
        session = self.session()
        console.write("".join(session.run(line) for line in command.splitlines()))
        self.faults.obeyed(command)
        console.exit(0)

    def shell(self, console: Console) -> None:
        """See Face: an interactive session."""
        CliTerminal(self.session(), console).open()

    def hang_up(self, console: Console) -> None:
        """See Face: nothing depends on a session."""

    def _obey(self, lines: list[str]) -> None:
        session = self.session()
        for line in lines:
            session.obey(line)
        self.save()
