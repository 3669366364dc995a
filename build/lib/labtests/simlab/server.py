"""SSH servers in front of the emulated devices: one each, on loopback only."""

import asyncio
import hmac
import resource
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, repeat
from typing import Any

import asyncssh

from labtests.core.errors import LabError
from labtests.simlab.face import Face
from labtests.simlab.faults import DeviceFaults
from labtests.simlab.folder import LOOPBACK
from labtests.simlab.keys import Address, Keyring
from labtests.simlab.session import ConsoleSession
from labtests.transport.protocol import EMULATED

USERS = frozenset({"root", "admin"})
"""Who may log in besides the testbed's own management user."""


@dataclass(slots=True)
class Gate:
    """Who may log in to one device, and how."""

    face: Face
    keyring: Keyring
    faults: DeviceFaults

    @property
    def users(self) -> frozenset[str]:
        """Names that are let in."""
        return USERS | {self.face.user}


CLOSES_WITHIN_S = 2.0
LOGIN_WITHIN_S = 120.0  # as sshd's LoginGraceTime
MOST_STRANGERS = 64
"""Connections of one device that have not logged in. Each takes a file descriptor, and who has not
to log in can be anybody on this machine."""
_SHARE_OF_FILES = 0.5


class Connections:
    """Those of one device. Of strangers no more than `most` stay: the one that has waited longest
    goes, so that who logs in at once gets in, however many only hold the line."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._strangers: dict[asyncssh.SSHServerConnection, None] = {}  # the oldest first
        self._known: set[asyncssh.SSHServerConnection] = set()

    @property
    def all(self) -> tuple[asyncssh.SSHServerConnection, ...]:
        """Whoever is connected."""
        return (*self._strangers, *self._known)

    def add(self, new: asyncssh.SSHServerConnection) -> None:
        """Somebody has connected."""
        self._strangers[new] = None
        while len(self._strangers) > self._most:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.abort()

    def log_in(self, known: asyncssh.SSHServerConnection) -> None:
        """It is not a stranger any more."""
        self._strangers.pop(known, None)
        self._known.add(known)

    def discard(self, gone: asyncssh.SSHServerConnection) -> None:
        """It is over."""
        self._strangers.pop(gone, None)
        self._known.discard(gone)


def most_strangers(devices: int) -> int:
    """For each device: together they leave this process files for those who log in."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(min(MOST_STRANGERS, int(files * _SHARE_OF_FILES) // max(devices, 1)), 1)


class Connection(asyncssh.SSHServer):
    """One SSH connection to one device."""

    def __init__(self, gate: Gate, connections: Connections) -> None:
        self._gate, self._all = gate, connections
        self._connection: asyncssh.SSHServerConnection | None = None
        self._username = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """A client has connected."""
        if self._gate.faults.booting:
            conn.abort()
            return
        self._connection = conn
        self._all.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        if self._connection is not None:
            self._all.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        """Nobody comes in without proof."""
        self._username = username
        return True

    def auth_completed(self) -> None:
        """The client has logged in."""
        if self._connection is not None:
            self._all.log_in(self._connection)

    def password_auth_supported(self) -> bool:
        """The generated password works."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Whether user and password are right."""
        right = hmac.compare_digest(password.encode(), self._gate.keyring.password.encode())
        return right and username in self._gate.users

    def public_key_auth_supported(self) -> bool:
        """The generated user key works."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Whether user and key are right."""
        right = key.public_data == self._gate.keyring.user_key.public_data
        return right and username in self._gate.users

    def session_requested(self) -> asyncssh.SSHServerSession[str]:
        """A session channel."""
        return ConsoleSession(self._gate.face, self._username)


class Servers:
    """The SSH servers of a lab."""

    def __init__(
        self, devices: Mapping[str, Face], faults: Mapping[str, DeviceFaults], keyring: Keyring
    ) -> None:
        self._devices, self._faults, self._keyring = devices, faults, keyring
        self._listeners: list[asyncssh.SSHAcceptor] = []
        self._connections: dict[str, Connections] = {}

    async def open(self, ports_from: int | None = None) -> tuple[Address, ...]:
        """One server per device listens on loopback: on this port and those after it, in the order
        of the testbed file, or each on a free one. Raises LabError for one that is taken."""
        ports = count(ports_from) if ports_from else repeat(0)
        devices = self._devices.items()
        return tuple(
            [
                await self._listen(name, face, port)
                for (name, face), port in zip(devices, ports, strict=False)
            ]
        )

    async def close(self) -> None:
        """No server listens, no connection is open."""
        connections = [each for of_device in self._connections.values() for each in of_device.all]
        for listener in self._listeners:
            listener.close()
        for connection in connections:
            connection.close()
        for connection in connections:
            with suppress(TimeoutError):
                await asyncio.wait_for(connection.wait_closed(), CLOSES_WITHIN_S)
            connection.abort()  # of a client that does not read what it is sent
        for listener in self._listeners:
            await listener.wait_closed()
        await asyncio.sleep(0)  # the transports close their sockets in the loop's next round

    async def _listen(self, name: str, face: Face, port: int) -> Address:
        gate = Gate(face, self._keyring, self._faults[name])
        connections = Connections(most_strangers(len(self._devices)))
        self._connections[name] = connections
        options: dict[str, Any] = {
            "server_host_keys": [self._keyring.host_keys[name]],
            "server_version": EMULATED,
            "encoding": "utf-8",
            "errors": "surrogateescape",  # bytes that are not text go through unharmed
            "line_editor": False,  # the Session has its own, see session.py
            "compression_algs": None,
            "allow_scp": False,
            "agent_forwarding": False,
            "login_timeout": LOGIN_WITHIN_S,
        }
        try:
            listener = await asyncssh.create_server(
                lambda: Connection(gate, connections), LOOPBACK, port, **options
            )
        except (OSError, OverflowError) as error:
            raise LabError(
                f"{name}: port {port} of {LOOPBACK} cannot be listened on: {error}\n"
                "  remedy: another --ports-from, or none: then free ports are taken"
            ) from error
        self._listeners.append(listener)
        self._faults[name].on_cut.append(lambda: self._cut(name))
        return Address(name=name, port=listener.get_port(), user=face.user)

    def _cut(self, name: str) -> int:
        broken = self._connections[name].all
        for connection in broken:
            connection.abort()
        return len(broken)
