"""What can go wrong, as a tree.

LabError
+-- WrongOption             an option has a value that no run can have
+-- InventoryError          the testbed file is wrong (every mistake, with file:line:column)
+-- WorkloadError           a traffic tool could not be run at all
+-- LeaseBusy               somebody else has the lab
+-- LeaseLost               the lease was lost: no further changes
+-- DeviceError             names the device, the command and the remedy
    +-- Unreachable         no session could be opened, or it broke
    |   +-- HostKeyRefused      the key is unknown, or changed
    |   +-- LoginRefused        wrong password or key
    |   +-- LoginUnusable       the login works, but runs no commands as they are
    +-- CommandTimeout      the command did not end in time; its remote process was ended
    +-- CommandRejected     the device answered with an error, or accepted and did nothing
    +-- ToolMissing         a program or a driver's sysfs folder is not on the host
    +-- UnreadableOutput    the output has a line that no rule explains, or ends too early
    +-- LeaseUnusable       it cannot be determined, or not be written down, who has the lab
        +-- LeaseUnwritable     it is free, but nobody can take it
"""

from collections.abc import Sequence

from labtests.core.output import told


class LabError(Exception):
    """Anything labtests raises on purpose."""


class WrongOption(LabError):
    """What was asked for cannot be, whatever the lab is like: which option, and what it takes."""


class InventoryError(LabError):
    """The testbed file is wrong. `mistakes` are lines `file:line:column: path: what is wrong`."""

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = tuple(mistakes)


class WorkloadError(LabError):
    """A traffic tool could not be run at all."""

    def __init__(self, problem: str) -> None:
        super().__init__(told(problem))


class LeaseBusy(LabError):
    """Somebody else has the lab: who, since when, why, and the remedy."""


class LeaseLost(LabError):
    """The lab was ours, and is no more: somebody else may be changing it now."""


class DeviceError(LabError):
    """A device did not do what it was asked. Says which device, which command, and the remedy: with
    no secret in them and not without end, whatever the device has said."""

    def __init__(self, device: str, command: str, problem: str, remedy: str) -> None:
        self.device = device
        self.command, self.problem, self.remedy = map(told, (command, problem, remedy))
        Exception.__init__(self, device, self.command, self.problem, self.remedy)

    def __str__(self) -> str:
        return f"{self.device}: {self.command!r}: {self.problem}\n  remedy: {self.remedy}"


class Unreachable(DeviceError):
    """No session could be opened, or it broke."""


class HostKeyRefused(Unreachable):
    """The device's SSH host key is unknown, or not the one it had before."""


class LoginRefused(Unreachable):
    """The device refused user name, key or password."""


class LoginUnusable(Unreachable):
    """The login works, but its shell does not run commands, or adds words behind them; or sudo does
    not let it. Found out by the first command."""


class CommandTimeout(DeviceError):
    """The command did not end in time. Its remote process was ended as well."""


class CommandRejected(DeviceError):
    """The device answered with an error, or said yes and did nothing."""


class ToolMissing(DeviceError):
    """A program, or a driver's sysfs folder, is not there."""


class UnreadableOutput(DeviceError):
    """The output has a line that no rule explains, or ends too early."""


class LeaseUnusable(DeviceError):
    """It cannot be determined who has the lab: the lease cannot be read, or is garbage."""


class LeaseUnwritable(LeaseUnusable):
    """Nobody has the lab, but that we have it cannot be written down."""


class LabErrors(ExceptionGroup[LabError], LabError):
    """Several devices failed; none hides another."""

    def __str__(self) -> str:
        return "\n".join([self.message, *(str(error) for error in self.exceptions)])


def unreachable(error: Exception, *others: type[LabError]) -> bool:
    """Whether it says that a device, or one of several, cannot be reached, or one of the others."""
    kinds: tuple[type[LabError], ...] = (Unreachable, *others)
    if isinstance(error, LabErrors):
        return error.subgroup(kinds) is not None
    return isinstance(error, kinds)
