"""Faults for a lab that is served by hand: JSON lines over a Unix socket in its private folder.

    labtests simlab fault FOLDER '{"kind": "reboot", "device": "S6550"}'

Only who can read the folder (0700) and the socket (0600) can ask; nothing listens on the network.
"""

import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from labtests.core.trusted_files import json_of
from labtests.simlab.control import Message, SimulationFailed

NAME = "faults.sock"
ANSWER_WITHIN_S = 30.0
MOST_BYTES, _CHUNK = 2**20, 2**16
LONGEST_PATH_BYTES = 107  # of a Unix socket: unix(7)


@asynccontextmanager
async def listening(folder: Path, answer: Callable[[Message], Message]) -> AsyncIterator[None]:
    """Whoever connects gets answers. A folder with too long a name has no socket."""
    path = folder / NAME
    if len(os.fsencode(path)) > LONGEST_PATH_BYTES:
        yield
        return

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line in reader:
            writer.write(json.dumps(_answered(line, answer)).encode() + b"\n")
        writer.close()

    path.unlink(missing_ok=True)  # of a lab that was killed
    server = await asyncio.start_unix_server(serve, path)
    path.chmod(0o600)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)


def _answered(line: bytes, answer: Callable[[Message], Message]) -> Message:
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"error": f"not JSON: {error}"}
    asked = {} if not isinstance(request, dict) else request
    for name in ("fault", "happened"):
        if name in asked:
            return answer({name: asked[name]})
    return {"error": 'a request is {"fault": {"kind": ..., "device": ...}} or {"happened": DEVICE}'}


def inject(folder: Path, fault: Message) -> None:
    """It has happened when this returns. Raises SimulationFailed."""
    _ask(folder, {"fault": fault})


def happened(folder: Path, device: str) -> Mapping[str, int]:
    """What the device has really suffered so far: connections cut, reboots, commands that hung,
    lies (faults.DeviceFaults.happened). Raises SimulationFailed."""
    found: Mapping[str, int] = _ask(folder, {"happened": device})["happened"]
    return found


def _ask(folder: Path, request: Message) -> Message:
    path = folder / NAME
    try:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(ANSWER_WITHIN_S)
            asked.connect(os.fspath(path))
            asked.sendall(json.dumps(request).encode() + b"\n")
            line = _line_of(asked)
    except OSError as error:
        raise SimulationFailed(
            f"{path}: {error.strerror or error}\n  remedy: give the --directory of a lab that "
            "`labtests simlab serve` is serving now"
        ) from error
    try:
        answer: Message = json_of(line) if line else {"error": "it gave no answer"}
    except ValueError as error:
        raise SimulationFailed(f"{path}: the answer is not JSON: {error}") from error
    if not isinstance(answer, dict) or "error" in answer:
        said = answer["error"] if isinstance(answer, dict) else "its answer is not an object"
        raise SimulationFailed(f"the simulated lab refused {request}: {said}")
    return answer


def _line_of(asked: socket.socket) -> bytes:
    """One line, of so many bytes and within the time that the socket has. Raises OSError."""
    line, until_s = b"", time.monotonic() + ANSWER_WITHIN_S
    while not line.endswith(b"\n"):
        asked.settimeout(max(until_s - time.monotonic(), 0.001))
        more = asked.recv(_CHUNK)
        line += more
        if not more or len(line) > MOST_BYTES:
            break
    return line[:MOST_BYTES]
