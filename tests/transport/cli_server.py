"""A switch CLI in the manner of Comware, for the transport's tests only.

Views, prompts, paging at 24 lines unless `screen-length disable` was typed, refusals with a caret,
a question, an output that never ends. The wording of prompts and refusals is that of the
recordings under tests/transcripts; the rest is made up.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import asyncssh

from labtests.inventory import Device, Management

PASSWORD = "open sesame"
PAGE_LINES = 24
LONG = "".join(f"line {number:05} of a long display, padded {'x' * 40}\n" for number in range(3000))
INDENTED = "   begins with blanks\n\n  and ends with them   \n"
LOOKALIKE = "first\n<H3C>\n<H3C>display nested\n[H3C]\nlast\n"
TEXTS = {
    "long": LONG,
    "indented": INDENTED,
    "lookalike": LOOKALIKE,
    "empty": "",
    "coloured": "\x1b[01;32mgreen\x1b[0m\n\x1b]0;title\x07",
}
REFUSAL = "  ^\n % Unrecognized command found at '^' position.\n"


class _Cli:
    def __init__(self, process: asyncssh.SSHServerProcess[str]) -> None:
        self._process = process
        self._view, self._name, self._paging = "", "H3C", True

    async def serve(self) -> None:
        self._write("\n******\n* Copyright *\n******\n\n")
        with suppress(asyncssh.BreakReceived, asyncssh.TerminalSizeChanged, EOFError):
            while True:
                self._write(self._prompt())
                try:
                    line = await self._process.stdin.readline()
                except asyncssh.BreakReceived:
                    self._write("\n")
                    continue
                if not line or not await self._answer(" ".join(line.split())):
                    break
        self._process.exit(0)

    def _prompt(self) -> str:
        return f"[{self._name}{self._view[1:]}]" if self._view else f"<{self._name}>"

    def _write(self, text: str) -> None:
        self._process.stdout.write(text.replace("\n", "\r\n"))

    async def _answer(self, line: str) -> bool:
        if line == "quit" and not self._view:
            return False
        if self._view and line in ("quit", "return"):
            self._view = "" if line == "return" or self._view == "/" else "/"
            return True
        if line.startswith("display "):
            await self._display(line.removeprefix("display "))
        elif line == "hang":
            await self._hang()
        elif line == "deaf":
            await asyncio.sleep(60)
        elif line == "reboot":
            self._write("This command will reboot the device. Continue? [Y/N]:")
            answer = await self._process.stdin.readline()
            self._write(f"you said {answer.strip()}\n")
        elif line and not self._configured(line):
            self._write(REFUSAL)
        return True

    def _configured(self, line: str) -> bool:
        if line == "screen-length disable":
            self._paging = False
        elif line == "screen-length enable":
            self._paging = True
        elif line == "system-view" and self._name != "Readonly":
            self._view = "/"
            self._write("System View: return to User View with Ctrl+Z.\n")
        elif self._view and line.startswith("sysname "):
            self._name = line.split()[1]
        elif self._view and line.startswith("interface Twenty-FiveGigE"):
            self._view = "/-" + line.split()[1]
        elif not (self._view and line.startswith("qos ")):
            return False
        return True

    async def _hang(self) -> None:
        self._write("working...\n")
        with suppress(asyncssh.BreakReceived):
            await self._process.stdin.readline()

    async def _display(self, what: str) -> None:
        if what == "slow":
            for piece in ("one ", "line\n", "<H", "3C> is my prompt\n", "end\n"):
                self._write(piece)
                await asyncio.sleep(0.05)
        elif what == "noisy":
            self._write(f"one line\n{self._prompt()}%Nov 21 09:00:00:123 2026 H3C IFNET/3/X: up.\n")
            await self._process.stdin.readline()
        elif what == "name":
            self._write(f"{self._name}\n")
        elif what == "other":  # in another session somebody has given the device this name
            self._name = "Spine-2.lab"
        else:
            await self._page(TEXTS.get(what, REFUSAL))

    async def _page(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        if not self._paging:
            self._write(text)
            return
        for start in range(0, len(lines), PAGE_LINES):
            self._write("".join(lines[start : start + PAGE_LINES]))
            if start + PAGE_LINES < len(lines):
                self._write("---- More ----")
                await self._key()
                self._write("\x1b[16D                \x1b[16D")

    async def _key(self) -> None:
        channel = self._process.channel
        channel.set_line_mode(False)  # type: ignore[union-attr]
        channel.set_echo(False)  # type: ignore[union-attr]
        await self._process.stdin.read(1)
        channel.set_line_mode(True)  # type: ignore[union-attr]
        channel.set_echo(True)  # type: ignore[union-attr]


class _Server(asyncssh.SSHServer):
    def __init__(self, opened: Callable[[asyncssh.SSHServerConnection], None]) -> None:
        self._opened = opened

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._opened(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return username == "admin" and password == PASSWORD


class CliServer:
    """The switch, in a thread of its own, until the end of the `with`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="switch")
        self._up = threading.Event()
        self._stop = asyncio.Event()
        self._connections: list[asyncssh.SSHServerConnection] = []

    def device(self, name: str = "switch", **management: object) -> Device:
        given = {
            "host": "127.0.0.1",
            "port": self.port,
            "user": "admin",
            "password_env": "SWITCH_PASSWORD",
            "known_hosts": str(self.folder / "known_hosts"),
            "ssh_config": False,
        }
        return Device(
            name=name,
            platform="comware",
            management=Management(**(given | management)),  # type: ignore[arg-type]
        )

    def cut(self) -> None:
        """Every connection is dropped, as when the switch reboots."""
        for connection in list(self._connections):
            self._loop.call_soon_threadsafe(connection.abort)
        self._connections.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._up.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        key = asyncssh.generate_private_key("ssh-ed25519")
        server = await asyncssh.create_server(
            lambda: _Server(self._connections.append),
            "127.0.0.1",
            0,
            server_host_keys=[key],
            process_factory=lambda process: _Cli(process).serve(),
            line_editor=True,
        )
        self.port = server.get_port()
        public = key.export_public_key("openssh").decode().strip()
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {public}\n")
        self._up.set()
        await self._stop.wait()
        for connection in self._connections:
            connection.abort()
        server.close()
        await server.wait_closed()
