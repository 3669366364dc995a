"""A Linux switch of recorded answers, and a real one in a network namespace of its own."""

import re
import subprocess
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from labtests.transport.protocol import Process, Reply

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts" / "linux_switch"


def recording(name: str) -> Reply:
    """A recorded answer. Line 1 is `$ command`, line 2 says where it is from, the rest is stdout;
    stderr, if there was any, is in a file of the same name with `.err`."""
    file = TRANSCRIPTS / f"{name}.txt"
    command, source, text = file.read_bytes().decode().split("\n", 2)
    status = re.search(r"; exit status ([0-9]+)$", source)
    errors = file.with_suffix(".err")
    assert command.startswith("$ ")
    assert status is not None, f"{file} does not say where it is from and how it ended"
    return Reply(
        device="sw",
        command=command.removeprefix("$ "),
        text=text,
        errors=errors.read_text() if errors.exists() else "",
        status=int(status[1]),
        time_s=1.0,
    )


def without(reply: Reply, words: str, instead: str = "") -> Reply:
    """The same recording with something in it changed; it has to be there."""
    assert words in reply.text
    return replace(reply, text=reply.text.replace(words, instead))


class RecordedSwitch:
    """Answers exactly the commands of its recordings; what it is told to change it only notes."""

    device = "sw"

    def __init__(self, replies: Iterable[Reply]) -> None:
        root = Reply(device="sw", command="id -u", text="0\n", status=0)
        self.replies = {reply.command: reply for reply in (root, *replies)}
        self.asked: list[str] = []
        self.changed: list[str] = []

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        self.asked.append(command)
        found = self.replies.get(command)
        if found is None:
            words = f"sh: 1: {command.split()[0]}: not found\n"
            return Reply(device="sw", command=command, text="", errors=words, status=127)
        return replace(found, time_s=float(len(self.asked)))

    def configure(self, commands: tuple[str, ...]) -> Reply:
        self.changed += commands
        return Reply(device="sw", command=commands[-1], text="", status=0, time_s=0.0)

    def start(self, command: str, *, limit_s: float) -> Process:
        raise AssertionError(f"a driver starts no long command: {command}")

    def close(self) -> None:
        pass


class NamespaceSwitch:
    """The shell of a network namespace on this machine, as an open session."""

    device = "sw"

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.changed: list[str] = []

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        done = subprocess.run(
            ["ip", "netns", "exec", self.namespace, "sh", "-c", command],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Reply(
            device="sw",
            command=command,
            text=done.stdout,
            errors=done.stderr,
            status=done.returncode,
            time_s=time.time(),
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
