"""`lab.connection("ServerA")`: Fabric's Connection, over the session that a lab has with a host.

What a suite runs and copies by it is journalled and ended like everything labtests does there. In a
plan nothing is sent: every command answers nothing, with status 0, and stands in the plan. Fabric's
own configuration is not read: a `warn: true` in somebody's ~/.fabric.yaml would let a suite pass
for this person only.
"""

import posixpath
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from os import PathLike, fspath
from shlex import quote
from typing import IO, Any, NoReturn, Protocol

import fabric
import paramiko
from fabric.transfer import Result as Moved
from fabric.transfer import Transfer
from invoke.runners import Result

from labtests.core.errors import CommandRejected, DeviceError, Unreachable
from labtests.drivers import driver_module
from labtests.inventory import Device
from labtests.lab.changes import Leased, Planned
from labtests.transport.commands import root
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Clock
from labtests.transport.ssh.connecting import SHELL
from labtests.transport.ssh.fabric_runner import SuiteSession, SupervisedRunner
from labtests.transport.ssh.file_transfer import CountedSftp, HostFiles
from labtests.transport.ssh.line import SshLine

Local = str | PathLike[str] | IO[Any]
_RIGHTS = root("id", "-u")


class SessionsOfLab(Protocol):
    """What a connection takes of the lab that is open."""

    clock: Clock
    lease: Leased | None
    lines: Mapping[str, SshLine]
    planned: Planned | None
    transports: dict[str, Exchanges]

    def note(self, device: str, text: str) -> None:
        """For the transcript, if there is one."""
        ...


class HostConnection(fabric.Connection):  # type: ignore[misc]  # Fabric has no types
    """See fabric.Connection. Closing it ends nothing: the session is the lab's."""

    session: SuiteSession
    files: HostFiles | None
    _beside: list[SupervisedRunner]
    _is_root: bool | None = None

    def __init__(self, device: Device, session: SuiteSession, files: HostFiles | None) -> None:
        """`files` is None where there is no SFTP: in a lab made of a recording."""
        super().__init__(
            device.management.host,
            user=device.management.user,
            port=device.management.port,
            config=fabric.Config(
                lazy=True,
                ssh_config=paramiko.SSHConfig(),
                overrides={"run": {"in_stream": False}, "runners": {"remote": SupervisedRunner}},
            ),
            forward_agent=False,
        )
        self._set(session=session, files=files, _beside=[])

    @property
    def device(self) -> str:
        """Its name in the testbed."""
        return self.session.device

    def run(self, command: str, **options: Any) -> Result:
        """See Fabric: a text for `sh`, ended after `timeout` (without one: fabric_runner.LIMIT_S).
        Raises CommandFailed (an UnexpectedExit too) and CommandOverdue (a CommandTimedOut too)."""
        return self._supervised(command, options, by_sudo=False)

    def sudo(
        self, command: str, *, user: str | None = None, password: object = None, **options: Any
    ) -> Result:
        """See Fabric: in the way that `become` of the testbed file says, and `sudo -n` for another
        `user`. No password: labtests has none to lose. Raises CommandRejected where root is out
        of reach."""
        if password is not None:
            remedy = "let the login use passwordless sudo (docs/security.md, Rights on a host)"
            self._refuse(command, "labtests gives sudo no password", remedy)
        return self._supervised(self._as(user, command, options), options, by_sudo=True)

    def get(self, remote: str, local: Local | None = None, preserve_mode: bool = True) -> Moved:
        """See Fabric; a relative name is one in the run's folder on the host."""

        def get(by: Transfer, place: str) -> Moved:
            return by.get(place, _named(local), preserve_mode)

        return self._transferred("get", remote, HostFiles.place, get)

    def put(self, local: Local, remote: str | None = None, preserve_mode: bool = True) -> Moved:
        """See Fabric. The file goes into the run's folder on the host (`.remote` says where), which
        is removed at the end of the run; anywhere else is refused with CommandRejected."""
        local = _named(local)
        name = remote or (posixpath.basename(local) if isinstance(local, str) else "")
        if not name:
            raise ValueError("give the file a name on the host: put(file, NAME)")

        def put(by: Transfer, place: str) -> Moved:
            return by.put(local, place, preserve_mode)

        return self._transferred("put", name, HostFiles.place_to_send, put)

    # -- what belongs to the lab, and what would go past its transcript ------------------------

    @property
    def is_connected(self) -> bool:
        """The lab keeps it open."""
        return True

    def open(self) -> None:
        """It is."""

    def close(self) -> None:
        """Nothing is ended."""

    def clean_up(self) -> None:
        """What still runs is ended, and what was sent is removed. Raises DeviceError; a session
        that broke has done both."""
        with suppress(Unreachable), ExitStack() as ending:
            if self.files is not None:
                ending.callback(self.files.clean_up)
            for runner in self._beside:
                ending.callback(runner.stop)

    def _past_the_journal(self, *_: object, **__: object) -> NoReturn:
        """Refused: a shell, bare channels and SFTP, tunnels."""
        self._refuse(
            "a shell, a channel or a tunnel of Fabric",
            "it would bypass the journal and the supervision of labtests",
            "use run, sudo, get and put",
        )

    shell = sftp = create_session = forward_local = forward_remote = _past_the_journal

    # -- inside --------------------------------------------------------------------------------

    def _supervised(self, command: str, options: Mapping[str, Any], *, by_sudo: bool) -> Result:
        runner = self._remote_runner()
        runner.by_sudo = by_sudo
        if options.get("asynchronous"):
            self._beside.append(runner)
        result: Result = self._run(runner, command, **options)
        return result

    def _as(self, user: str | None, command: str, options: Mapping[str, Any]) -> str:
        if user is None and self.session.become is True:
            return command  # everything is root's there
        if user is None and self.session.become is False:
            self._expect_root(command)
            return command
        flags = [f"-u {quote(user)} -H"] if user is not None else []
        kept = ",".join(options.get("env") or ())
        flags += [f"--preserve-env={quote(kept)}"] if kept else []
        return " ".join(["sudo -n", *flags, command])

    def _expect_root(self, command: str) -> None:
        if self._is_root is None and self.session.planned() is None:
            self._set(_is_root=self.session.transport.run(_RIGHTS).text.strip() == "0")
        if self._is_root is False:
            self._refuse(
                command,
                "the login is not root, and the testbed file does not say how it becomes root",
                "say `become: commands` or `become: true` there (docs/security.md)",
            )

    def _transferred(
        self,
        verb: str,
        remote: str,
        place_of: Callable[[HostFiles, str], str],
        act: Callable[[Transfer, str], Moved],
    ) -> Moved:
        if (plan := self.session.planned()) is not None:
            plan.append(f"{verb} {remote}")
            return Moved(
                local=None, orig_local=None, remote=remote, orig_remote=remote, connection=self
            )
        if self.files is None:
            self._refuse(f"{verb} {remote}", "a recording has no files", "connect to the lab")
        place = place_of(self.files, remote)

        def move(sftp: CountedSftp) -> Moved:
            return act(Transfer(_Endpoint(self, sftp)), place)

        moved = self.files.move(f"{verb} {place}", move)
        moved.connection = self
        return moved

    def _refuse(self, command: str, problem: str, remedy: str) -> NoReturn:
        raise CommandRejected(self.device, command, problem, remedy)


class _Endpoint:
    """What Fabric's Transfer asks of a connection."""

    def __init__(self, connection: HostConnection, sftp: CountedSftp) -> None:
        self.host, self.user, self.port = connection.host, connection.user, connection.port
        self._sftp = sftp

    def sftp(self) -> CountedSftp:
        """The client that counts."""
        return self._sftp


def connection_to(lab: SessionsOfLab, device: Device) -> HostConnection:
    """Over the session that the lab has. Raises DeviceError for a switch with a CLI."""
    if driver_module(device.platform).SESSION != SHELL:
        raise DeviceError(
            device.name,
            f"lab.connection({device.name!r})",
            f"{device.platform} is a switch with its own CLI, and Fabric needs a shell",
            "ask for a connection to a host; for a switch use lab.change and lab.driver",
        )

    def expect_lease() -> None:
        if lab.lease is not None:
            lab.lease.expect_fresh()

    def planned() -> list[str] | None:
        return None if lab.planned is None else lab.planned.beside.setdefault(device.name, [])

    session = SuiteSession(
        transport=lab.transports[device.name],
        clock=lab.clock,
        become=device.management.become,
        note=partial(lab.note, device.name),
        expect_lease=expect_lease,
        planned=planned,
    )
    line = lab.lines.get(device.name)
    return HostConnection(device, session, HostFiles(session, line) if line else None)


def _named(local: Any) -> Any:
    return fspath(local) if isinstance(local, PathLike) else local
