"""A host of a few exact commands, and recorded answers for it."""

from dataclasses import dataclass, replace
from pathlib import Path
from re import search

from labtests.transport.protocol import Process, Reply

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts" / "connectx"
OF_ANY_HOST = TRANSCRIPTS.parent / "linux"


def file_of(name: str) -> Path:
    """A recording of a host with ConnectX ports, or of any other."""
    own = TRANSCRIPTS / f"{name}.txt"
    return own if own.exists() else OF_ANY_HOST / own.name


def recording(name: str) -> Reply:
    """A recorded answer. Line 1 is `$ command`, line 2 says where it is from, the rest is stdout;
    stderr, if there was any, is in a file of the same name with `.err`."""
    file = file_of(name)
    command, source, text = file.read_bytes().decode().split("\n", 2)
    status = search(r"; exit status ([0-9]+)", source)
    errors = file.with_suffix(".err")
    assert command.startswith("$ ")
    assert status is not None
    return Reply(
        device="ServerA",
        command=command.removeprefix("$ "),
        text=text,
        errors=errors.read_text() if errors.exists() else "",
        status=int(status[1]),
        time_s=1.0,
    )


@dataclass(frozen=True)
class Answer:
    text: str = ""
    errors: str = ""
    status: int = 0


class FakeHost:
    """A host of a few exact commands. It answers what it was told to, and notes what it was asked;
    what it does not know it has not installed. One logs in as root unless it says otherwise."""

    device = "ServerA"

    def __init__(self, answers: dict[str, Answer | Reply | list[Answer | Reply]]) -> None:
        self.answers = {"id -u": Answer("0\n")} | answers
        self.asked: list[str] = []
        self.changed: list[str] = []
        self._time_s = 0.0

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        self.asked.append(command)
        return self._answer(command)

    def configure(self, commands: tuple[str, ...]) -> Reply:
        (command,) = commands
        self.changed.append(command)
        return self._answer(command)

    def start(self, command: str, *, limit_s: float) -> Process:
        raise AssertionError(f"a driver starts no long command: {command}")

    def close(self) -> None:
        pass

    def _answer(self, command: str) -> Reply:
        self._time_s += 1.0
        answer = self.answers.get(
            command, Answer("", f"sh: 1: {command.split()[0]}: not found\n", 127)
        )
        if isinstance(answer, list):  # one after the other, the last one for ever
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Reply):
            return replace(answer, device=self.device, command=command, time_s=self._time_s)
        return Reply(
            device=self.device,
            command=command,
            text=answer.text,
            errors=answer.errors,
            status=answer.status,
            time_s=self._time_s,
        )


def grep(folder: str, values: dict[str, object]) -> Answer:
    """What `grep -H . FOLDER/*` prints."""
    return Answer("".join(f"{folder}/{name}:{value}\n" for name, value in sorted(values.items())))


def no_such_files(pattern: str) -> Answer:
    """What GNU grep says when the shell found nothing for a pattern."""
    return Answer("", f"grep: {pattern}: No such file or directory\n", 2)
