"""The emulated switch `sw` as an open session, its lab, and recordings to hold it against."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labtests.network import Switch, TcpRequest, UdpRequest
from labtests.simlab.lab import SimulatedLab
from labtests.transport.protocol import Process, Reply

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
PORT = "swp3"  # towards h3, the receiver of testbeds/linux-lab.yaml
TO = "10.71.0.3"
MBIT = 1_000_000


@dataclass
class Shell:
    """One SSH session of a command, as the face sees it."""

    username: str = "root"
    pty: bool = False
    width: int = 80
    height: int = 24
    congested: bool = False
    out: str = ""
    err: str = ""
    status: int | None = None
    on_line: Any = None
    on_key: Any = None
    on_question: Any = None
    on_data: Any = None
    on_eof: Any = None
    on_interrupt: Any = None
    on_suspend: Any = None
    on_signal: Any = None

    def write(self, text: str) -> None:
        self.out += text

    def write_error(self, text: str) -> None:
        self.err += text

    def exit(self, status: int) -> None:
        self.status = status


@dataclass
class SimulatedBox:
    """A transport to the emulated switch without SSH, and time to let pass."""

    lab: SimulatedLab
    device: str = "sw"
    changed: list[str] = field(default_factory=list)

    @property
    def network(self) -> Switch:
        return self.lab.network.switch(self.device)

    def shell(self, command: str, username: str = "root") -> Shell:
        console = Shell(username=username)
        self.lab.devices[self.device].execute(command, console)
        return console

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        done = self.shell(command)
        return Reply(
            device=self.device,
            command=command,
            text=done.out,
            errors=done.err,
            status=done.status,
            time_s=self.lab.timeline.now_ns / 1e9,
        )

    def configure(self, commands: tuple[str, ...]) -> Reply:
        for command in commands:
            self.changed.append(command)
            reply = self.run(command)
            if reply.status:
                break
        return reply

    def start(self, command: str, *, limit_s: float) -> Process:
        raise AssertionError(f"a driver starts no long command: {command}")

    def close(self) -> None:
        pass

    # -- traffic --

    def pass_time(self, seconds: float) -> None:
        self.lab.advance(round(seconds * 1e9))

    def send(self, host: str, *, tos: int, mbit_per_s: float) -> Any:
        """UDP to h3 in full frames."""
        return self.lab.network.start_udp(
            UdpRequest(
                device=host,
                interface="eth1",
                destination=TO,
                tos=tos,
                rate_bits_per_s=mbit_per_s * MBIT,
                datagram_bytes=1472,
            )
        )

    def send_tcp(self, host: str, *, tos: int, ecn: bool) -> Any:
        request = TcpRequest(device=host, interface="eth1", destination=TO, tos=tos, ecn=ecn)
        return self.lab.network.start_tcp(request)

    def send_for(self, seconds: float, *flows: Any) -> None:
        """They send for so long, and what is queued then goes out."""
        self.pass_time(seconds)
        for flow in flows:
            flow.stop()
        self.pass_time(0.5)

    # -- tc --

    def qdiscs(self, port: str = PORT) -> dict[str, dict[str, Any]]:
        """By place: "root" or the parent."""
        shown = json.loads(self.shell(f"tc -s -d -j qdisc show dev {port} invisible").out)
        return {each.get("parent", "root"): each for each in shown}

    def do(self, command: str) -> None:
        done = self.shell(command)
        assert done.status == 0, (command, done.err)


def recorded(name: str) -> Iterator[tuple[str, str, int]]:
    """(command, stdout and stderr, exit status), one after the other."""
    text = (TRANSCRIPTS / "linux_switch_face" / f"{name}.txt").read_text("utf-8")
    for match in re.finditer(r"^\$ (.*)\n((?:(?!exit ).*\n)*?)exit (\d+)$", text, re.MULTILINE):
        yield match[1], match[2], int(match[3])
