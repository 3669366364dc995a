"""Serving a simulated lab: over SSH for whoever logs in, and its clock for whoever drives it.

Driven, time stands still except during a request for it. Free-running, it follows the wall clock as
near as the machine can.
"""

import asyncio
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from labtests.core.errors import WrongOption
from labtests.core.private_files import private_folder
from labtests.inventory import Testbed
from labtests.network.code_folder import NOTICE
from labtests.network.compiled import must_be_compiled
from labtests.protocols.needed import needed
from labtests.simlab.control import Message
from labtests.simlab.faults import UnknownFault
from labtests.simlab.folder import PASSWORD_ENV
from labtests.simlab.injection import listening
from labtests.simlab.keys import Keyring
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.live_testbed import LiveTestbed
from labtests.simlab.server import Servers
from labtests.simlab.timeline import NS_PER_S
from labtests.transport.ssh.passwords import password_named

PUMP_EVERY_S = 0.01
PUMP_AT_MOST_NS = 20_000_000  # simulated time per step, so that logins are answered in between
BEHIND_S = 1.0  # a backlog that is given up, with a notice
NOTICE_EVERY_S = 10.0
MISTAKES_AT_MOST = 20  # of emulated programs, before a free-running lab gives up
GRACE_S = 1.0  # for a clean end when the runner has died in the middle of an advance


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """How a lab is come into: on these ports, with the password of this environment variable,
    by this testbed file. Where nothing is asked for: free ports, a new password, no file."""

    ports_from: int | None = None
    password_env: str | None = None
    live: LiveTestbed | None = None

    @classmethod
    def as_asked(
        cls,
        source: Path,
        *,
        ports_from: int | None = None,
        password_env: str | None = None,
        write: Path | None = None,
    ) -> "Doors":
        """By the command line: the file to `write` says what `source` does, with other
        addresses."""
        live = None if write is None else LiveTestbed(source=source, target=write)
        return cls(ports_from=ports_from, password_env=password_env, live=live)

    def password(self) -> str | None:
        """The one that was asked for. Raises WrongOption where nobody has it."""
        if self.password_env is None:
            return None
        if (found := password_named(self.password_env)) is None:
            raise WrongOption(
                f"--password-env {self.password_env}: there is no such password\n"
                f"  remedy: export {self.password_env}=…"
            )
        return found


def serve(
    testbed: Testbed,
    source: Path,
    *,
    seed: int,
    driven: bool,
    directory: Path | None,
    **asked: Any,
) -> None:
    """Serve until SIGINT, SIGTERM or, when driven, the end of stdin. Without a directory, a private
    one is made and removed at the end; with one, its keys are those of the start before. For what
    else may be `asked`, and the testbed's `source`, see Doors.as_asked."""
    doors = Doors.as_asked(source, **asked)
    place = ServingFolder(directory)
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # not a line per write to a lost client
    if driven and must_be_compiled():
        _say({"waiting_for": NOTICE})  # nobody reads what a driven lab prints on stderr
    try:
        asyncio.run(_serve(SimulatedLab(testbed, seed=seed), place, driven, doors))
    finally:
        place.remove()


class ServingFolder:
    """The folder for keys and ssh_config: given, or private and temporary."""

    def __init__(self, directory: Path | None) -> None:
        self._temporary = directory is None
        if directory is None:
            self.directory = Path(tempfile.mkdtemp(prefix="labtests-simlab-"))  # mode 0700
        else:
            self.directory = directory.absolute()
            private_folder(self.directory)

    def remove(self) -> None:
        """Nothing is left of it, if it was temporary."""
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)


@asynccontextmanager
async def open_lab(
    lab: SimulatedLab, place: ServingFolder, doors: Doors | None = None
) -> AsyncIterator[Message]:
    """Its SSH servers listen; what is said to whoever is to log in."""
    doors = doors or Doors()
    keyring = Keyring(lab.devices, place.directory, password=doors.password())
    servers = Servers(lab.devices, lab.faults, keyring)
    try:
        addresses = await servers.open(doors.ports_from)
        keyring.write(addresses)
        async with streaming(lab, place.directory, keyring.password) as telemetry:
            if doors.live is not None:
                live = doors.live
                live.write(addresses, place.directory, doors.password_env, telemetry)
            yield {
                "ready": True,
                "directory": str(place.directory),
                "devices": {
                    a.name: {"host": a.host, "port": a.port, "user": a.user} for a in addresses
                },
                "telemetry": telemetry,
                "password": keyring.password,
            }
    finally:
        await servers.close()


@asynccontextmanager
async def streaming(
    lab: SimulatedLab, directory: Path, password: str
) -> AsyncIterator[dict[str, int]]:
    """Its switches stream, where the testbed names that; ports of gNMI servers by device. Raises
    WrongOption without the packages for it."""
    if all(device.telemetry is None for device in lab.testbed.devices):
        yield {}
        return
    for package in ("grpc", "google.protobuf"):
        needed(package)
    from labtests.simlab.streaming.serving import ServedStreams

    streams = ServedStreams(lab, directory, password)
    try:
        yield await streams.open()
    finally:
        await streams.close()


async def _serve(lab: SimulatedLab, place: ServingFolder, driven: bool, doors: Doors) -> None:
    ending = Ending(of_mistakes=driven)
    lab.network.advance_to(0)  # whatever must be compiled is compiled before anybody waits for it
    async with open_lab(lab, place, doors) as ready:
        if driven:
            _say(ready)
            Requests(lab, place, ending).start()
            await ending.wait()
            return
        pump = asyncio.create_task(run_freely(lab, click.echo))
        pump.add_done_callback(lambda _: ending.end())  # it ends only by an error
        async with listening(place.directory, partial(answer, lab)):
            click.echo(_welcome(lab.testbed, ready, doors))
            await ending.wait()
        if pump.done():
            pump.result()
        pump.cancel()


class Ending:
    """Why and when the lab ends: a signal, its driver's end, or a mistake in the lab itself.

    A mistake must not leave the driver waiting for an answer, nor with a wrong one: the process
    ends with a traceback. Free-running, it is shown, and the others' sessions go on.
    """

    def __init__(self, *, of_mistakes: bool) -> None:
        self._of_mistakes = of_mistakes
        self.loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._mistake: BaseException | None = None
        self.loop.set_exception_handler(self._fail)
        for number in (signal.SIGINT, signal.SIGTERM):
            self.loop.add_signal_handler(number, self.end)

    def end(self) -> None:
        """The lab ends soon."""
        self._ended.set()

    async def wait(self) -> None:
        """The lab is to end now. Raises the mistake, if that is the reason."""
        await self._ended.wait()
        if self._mistake is not None:
            raise self._mistake

    def _fail(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        mistake = context.get("exception")
        if mistake is None or isinstance(mistake, OSError) or not self._of_mistakes:
            loop.default_exception_handler(context)  # e.g. a client that broke its connection
        else:
            self._mistake = mistake
            self.end()


def answer(lab: SimulatedLab, request: Message) -> Message:
    """What the lab answers to one request of its driver, after doing it."""
    acts: dict[str, Callable[[Any], Message | None]] = {
        "advance_s": lambda seconds: lab.advance(round(seconds * NS_PER_S)),
        "now": lambda _: None,
        "fault": lab.inject,
        "happened": lambda device: {"happened": lab.happened(device)},
        "trace": lab.tracing.begin,
        "traced": lambda asked: {"traced": lab.tracing.told(asked)},
        "faults_not_met": lambda _: {"faults_not_met": lab.not_met()},
    }
    named = next((name for name in acts if name in request), None)
    if named is None:
        return {"error": f"unknown request; known: {', '.join(acts)} ({sorted(request)})"}
    try:
        told = acts[named](request[named])
    except (UnknownFault, TypeError, ValueError) as error:
        return {"error": str(error)}
    if told is not None:
        return told
    streamed = {"streamed": dict(lab.streamed)} if lab.streamed else {}
    return {"now_s": lab.timeline.now_ns / NS_PER_S, **streamed}


class Requests:
    """JSON lines on stdin, answered on stdout in the event loop.

    Read by a thread, which also ends the process when its driver died while the loop is busy.
    """

    def __init__(self, lab: SimulatedLab, place: ServingFolder, ending: Ending) -> None:
        self._lab, self._place, self._ending = lab, place, ending

    def start(self) -> None:
        """Requests are answered from now on; the end of stdin ends the lab."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            self._ending.loop.call_soon_threadsafe(self._answer, line)
        self._ending.loop.call_soon_threadsafe(self._ending.end)
        time.sleep(GRACE_S)  # wall time: the loop is busy or the process is already ending
        self._place.remove()
        os._exit(0)

    def _answer(self, line: bytes) -> None:
        try:
            request = json.loads(line)
        except ValueError as error:
            _say({"error": f"not JSON: {error}"})
            return
        if not isinstance(request, dict):
            _say({"error": "a request is a JSON object"})
            return
        _say({**answer(self._lab, request), "id": request.get("id")})


def _say(message: Message) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def run_freely(lab: SimulatedLab, notify: Callable[[str], Any]) -> None:
    """Simulated time follows the wall clock. Where it cannot, it runs slower and says so."""
    origin_s, noticed_s = time.monotonic() - lab.timeline.now_ns / NS_PER_S, -NOTICE_EVERY_S
    advance = Forgiving(lab)
    while True:
        behind_s = time.monotonic() - origin_s - lab.timeline.now_ns / NS_PER_S
        if behind_s > BEHIND_S:
            origin_s += behind_s
            if time.monotonic() - noticed_s > NOTICE_EVERY_S:
                noticed_s = time.monotonic()
                notify(
                    "simulated time runs slower than the wall clock: this traffic is more than "
                    "this machine can simulate in real time"
                )
        advance.by(min(max(round(behind_s * NS_PER_S), 0), PUMP_AT_MOST_NS))
        await asyncio.sleep(0 if behind_s > 2 * PUMP_EVERY_S else PUMP_EVERY_S)


class Forgiving:
    """Advances a lab that people are in: a mistake is shown, and ends only the program."""

    def __init__(self, lab: SimulatedLab) -> None:
        self._lab, self._mistakes = lab, 0

    def by(self, step_ns: int) -> None:
        """Time passes, unless a mistake stops it on the way."""
        try:
            self._lab.advance(step_ns)
        except Exception as mistake:
            self._mistakes += 1
            if self._mistakes > MISTAKES_AT_MOST:
                raise
            asyncio.get_running_loop().call_exception_handler(
                {"message": "an emulated device failed", "exception": mistake}
            )


def _welcome(testbed: Testbed, ready: Message, doors: Doors) -> str:
    kept = doors.password_env
    password = f"what {kept} says" if kept else ready["password"]
    width = max(len(name) for name in ready["devices"])
    config = Path(ready["directory"]) / "ssh_config"
    lines = [f"{testbed.name}: a simulated lab, on this machine only. Log in with", ""]
    for name in ready["devices"]:
        platform = testbed.device(name).platform
        lines.append(f"  ssh -F {config} {name:{width}}   # {platform}")
    lines += ["", f"or with any SSH client; the password is {password}", ""]
    for name, address in ready["devices"].items():
        target = f"{address['user']}@{address['host']}"
        lines.append(f"  ssh -p {address['port']} {target:24} # {name}")
    if doors.live is not None:
        file = doors.live.target
        lines += ["", f"labtests finds them by {file}: pytest suites --testbed {file}"]
        if ready.get("telemetry") and kept is None:
            lines += [f"  before that: export {PASSWORD_ENV}={password}   # gNMI asks for it"]
    return "\n".join([*lines, "", "Ctrl-C ends it."])
