"""A simulated lab from the outside: its clock, its faults, and how to log in.

`LabProcess` runs it in a process of its own, so that the runner neither imports nor waits for the
packet network, and a runner that dies takes it along. Requests and answers are JSON lines on its
stdin and stdout; an answer repeats the request's "id", so one that was interrupted is not mistaken
for a later one.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Self

from labtests.core.errors import LabError
from labtests.core.interpreter import child_environment, module_command
from labtests.core.output import tell
from labtests.core.stem import start_piped
from labtests.inventory import Management, TelemetryPlace, Testbed, TlsFiles
from labtests.simlab.defects import LAB_EPOCH
from labtests.simlab.folder import (
    CA,
    CERTIFICATE,
    KEY,
    KNOWN_HOSTS,
    LOOPBACK,
    PASSWORD_ENV,
    USER_KEY,
)

READY_WITHIN_S = 600.0  # the first start after an installation compiles the network: minutes
ANSWER_WITHIN_S = 900.0  # a long advance on a slow machine
ENDS_WITHIN_S = 5.0

Message = dict[str, Any]


class SimulationFailed(LabError):
    """The simulated lab did not start, refused a request, or is gone. The text has its words."""


class RequestRefused(SimulationFailed):
    """It goes on, and has not done what was asked."""


class LabClock:
    """The clock of a driven simulated lab: time passes only in `sleep`. `epoch_s` is what devices'
    clocks show when it shows 0, in seconds since 1970.

    So the lab is asked for its time once after each: every command is stamped with it twice, and 64
    hosts would wait for one another's stamps."""

    epoch_s = LAB_EPOCH.timestamp()

    def __init__(self, lab: "RunningLab") -> None:
        self._lab = lab
        self._asking = threading.Lock()
        self._stands_at_s: float | None = None  # while it stands still

    def now_s(self) -> float:
        """Simulated seconds since the lab's start."""
        now_s = self._stands_at_s
        return self._told({"now": True}) if now_s is None else now_s

    def sleep(self, seconds: float) -> None:
        """So much simulated time has passed, and what the devices printed meanwhile is sent."""
        self._told({"advance_s": max(seconds, 0.0)})

    def _told(self, request: Message) -> float:
        with self._asking:
            self._stands_at_s = None
            now_s = self._stands_at_s = float(self._lab.ask(request)["now_s"])
        return now_s


class RunningLab:
    """What every running simulated lab offers, wherever it runs.

    `devices` has host, port and user by device name, as the lab announced them.
    """

    def __init__(self, ready: Message) -> None:
        self.devices: Mapping[str, Mapping[str, Any]] = ready["devices"]
        self.telemetry: Mapping[str, int] = ready.get("telemetry", {})
        self.password: str = ready["password"]
        self.directory = Path(ready["directory"])
        self.clock = LabClock(self)

    def ask(self, request: Message) -> Message:
        """The answer. Raises SimulationFailed when it is an error or none comes."""
        raise SimulationFailed("this lab takes no requests")

    def fault(self, **fault: Any) -> None:
        """Something goes wrong now, as fault_forms.py: `fault(kind="cut", device="S6550")`."""
        self.ask({"fault": fault})

    def trace(self, device: str, port: str, priority: int, *, after_s: float) -> None:
        """See ExactState: for 2 ms, every 4 us."""
        place = {"device": device, "port": port, "priority": priority}
        self.ask({"trace": {**place, "after_s": after_s, "every_us": 4, "for_ms": 2}})

    def traced(self, device: str, port: str, priority: int) -> list[dict[str, Any]]:
        """See ExactState."""
        place = {"device": device, "port": port, "priority": priority}
        told = self.ask({"traced": place})["traced"]
        rows = (dict(zip(told["columns"], row, strict=True)) for row in told["rows"])
        return [{**place, **row, "source": told["source"]} for row in rows]

    def reroute(self, testbed: Testbed) -> Testbed:
        """The same testbed with every management address, and every stream, pointing into this
        lab. The password of streams is then in this process's environment."""
        places = {name: testbed.device(name).telemetry for name in self.devices}
        streams = {name: self._stream(real, name) for name, real in places.items() if real}
        if streams:
            os.environ[PASSWORD_ENV] = self.password
        return testbed.rerouted(
            {
                name: self._management(testbed.device(name).management, name)
                for name in self.devices
            },
            streams,
        )

    def _stream(self, real: TelemetryPlace, name: str) -> TelemetryPlace:
        files = (str(self.directory / file) for file in (CA, CERTIFICATE, KEY))
        tls = TlsFiles(**dict(zip(("ca", "certificate", "key"), files, strict=True)))
        return replace(
            real,
            address=LOOPBACK,
            port=self.telemetry.get(name, 0),  # of a collector: a free one
            tls=tls if real.tls else None,
            user=self.devices[name]["user"],
            password_env=PASSWORD_ENV,
        )

    def _management(self, real: Management, name: str) -> Management:
        address = self.devices[name]
        return replace(
            real,
            host=address["host"],
            port=address["port"],
            user=address["user"],
            jump=None,
            password_env=None,
            key_file=str(self.directory / USER_KEY),
            host_keys="strict",
            known_hosts=str(self.directory / KNOWN_HOSTS),
            ssh_config=False,
        )


class LabProcess(RunningLab):
    """A driven simulated lab in a child process, which ends when this object or its owner does."""

    def __init__(
        self,
        testbed_file: Path,
        *,
        seed: int,
        without: Collection[str] = (),
        tell: Callable[[str], object] = tell,
    ) -> None:
        """`without` are environment variables that are none of the child's business: passwords.
        `tell` hears what is waited for, if it is long."""
        self._lock = threading.Lock()
        self._requests = 0
        self._unread = b""
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by _end
        # in a session of its own: a Ctrl-C is for the runner, which still needs its lab then
        piped = start_piped(_command(testbed_file, seed), child_environment(without), self._stderr)
        self._child, self._stdin, self._stdout = piped.process, piped.stdin, piped.stdout
        try:
            super().__init__(self._ready(time.monotonic() + READY_WITHIN_S, tell))
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    def ask(self, request: Message) -> Message:
        """The child's answer. Safe to call from several threads."""
        with self._lock:
            self._requests += 1
            number = self._requests
            self._send({**request, "id": number})
            deadline = time.monotonic() + ANSWER_WITHIN_S
            answer = self._read_message(deadline)
            while answer.get("id") != number:  # of a request that was interrupted
                answer = self._read_message(deadline)
        if "error" in answer:
            raise RequestRefused(f"the simulated lab refused {request}: {answer['error']}")
        return answer

    def close(self) -> None:
        """The child has ended; its temporary files are gone. Closing twice is allowed."""
        self._end()
        shutil.rmtree(self.directory, ignore_errors=True)  # if it could not do so itself

    def _end(self) -> None:
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()
        try:
            self._child.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._stderr.close()

    def _send(self, message: Message) -> None:
        try:
            self._stdin.write(json.dumps(message).encode() + b"\n")
            self._stdin.flush()
        except (OSError, ValueError) as error:
            raise self._failure("the simulated lab is gone") from error

    def _ready(self, deadline: float, tell: Callable[[str], object]) -> Message:
        while "ready" not in (message := self._read_message(deadline)):
            tell(str(message.get("waiting_for")))
        return message

    def _read_message(self, deadline: float) -> Message:
        while b"\n" not in self._unread:
            self._read_more(deadline)
        line, self._unread = self._unread.split(b"\n", 1)
        try:
            message: Message = json.loads(line)
        except ValueError as error:
            raise self._failure(f"the simulated lab wrote {line!r}") from error
        return message

    def _read_more(self, deadline: float) -> None:
        descriptor = self._stdout.fileno()
        if not select.select([descriptor], [], [], max(deadline - time.monotonic(), 0.0))[0]:
            raise self._failure("the simulated lab does not answer")
        chunk = os.read(descriptor, 65536)
        if not chunk:
            raise self._failure("the simulated lab has ended")
        self._unread += chunk

    def _failure(self, problem: str) -> SimulationFailed:
        if self._stderr.closed:
            return SimulationFailed(f"{problem}: it was closed")
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(0.5)
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace").strip()
        status = self._child.poll()
        state = "still running" if status is None else f"exit status {status}"
        return SimulationFailed(f"{problem} ({state})" + (f"; it said:\n{words}" if words else ""))


def _command(testbed_file: Path, seed: int) -> list[str]:
    words = module_command("labtests", "simlab", "serve", str(testbed_file))
    return [*words, "--driven", "--seed", str(seed)]
