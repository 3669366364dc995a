"""A lab of one device that only echoes, behind the real SSH server, in a thread."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import paramiko
import pytest

from labtests.simlab.face import Console
from labtests.simlab.faults import DeviceFaults
from labtests.simlab.keys import Address, Keyring
from labtests.simlab.server import Servers


@dataclass
class EchoFace:
    """Answers at once, except `later`, which answers when the test says so."""

    user: str = "operator"
    later: list[Console] = field(default_factory=list)
    hung_up: list[Console] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    def execute(self, command: str, console: Console) -> None:
        console.on_interrupt = lambda: self._interrupted(console)
        console.on_signal = self.events.append
        if command == "later":
            self.later.append(console)
        elif command == "stdin":
            received: list[str] = []
            console.on_data = received.append
            console.on_eof = lambda: self._finish(console, "".join(received))
        else:
            amount, _, rest = command.partition(" ")
            self._finish(console, rest * int(amount) if amount.isdigit() else command)

    def shell(self, console: Console) -> None:
        console.write("welcome\n> ")
        console.on_interrupt = lambda: console.write("^C\n> ")
        console.on_eof = lambda: console.exit(0)
        console.on_line = lambda line: self._answer(console, line)

    def hang_up(self, console: Console) -> None:
        self.hung_up.append(console)

    def _answer(self, console: Console, line: str) -> None:
        if line == "key":
            console.on_key = lambda key: self._one_key(console, key)
            return
        console.write(f"[{line}]\n> ")

    def _one_key(self, console: Console, key: str) -> None:
        console.write(f"<{key}>\n> ")
        console.on_key = None

    def _interrupted(self, console: Console) -> None:
        self.events.append("interrupt")
        console.exit(130)

    def _finish(self, console: Console, text: str) -> None:
        console.write(text)
        console.write_error("done\n")
        console.exit(7)


@dataclass
class EchoLab:
    face: EchoFace
    faults: DeviceFaults
    keyring: Keyring
    directory: Path
    loop: asyncio.AbstractEventLoop
    address: Address

    def client(self, **options: object) -> paramiko.SSHClient:
        """A logged-in paramiko client that checks the host key."""
        client = paramiko.SSHClient()
        client.load_host_keys(str(self.directory / "known_hosts"))
        arguments = {
            "hostname": self.address.host,
            "port": self.address.port,
            "username": self.face.user,
            "key_filename": str(self.directory / "id_ed25519"),
            "allow_agent": False,
            "look_for_keys": False,
            **options,
        }
        client.connect(**arguments)
        client.get_transport().sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def in_loop(self, call: object) -> None:
        """Do something in the server's event loop and wait for it."""
        done: Future[None] = Future()
        self.loop.call_soon_threadsafe(lambda: done.set_result(call()))
        done.result(5)


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[EchoLab]:
    face, faults, keyring = EchoFace(), DeviceFaults(), Keyring(["echo"], tmp_path)
    started: Future[tuple[Address, ...]] = Future()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def live() -> None:
        servers = Servers({"echo": face}, {"echo": faults}, keyring)
        started.set_result(await servers.open())
        await stop.wait()
        await servers.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()), daemon=True)
    thread.start()
    addresses = started.result(10)
    keyring.write(addresses)
    yield EchoLab(face, faults, keyring, tmp_path, loop, addresses[0])
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()
