"""Recordings of traffic tools: the first lines say the command, the source and the exit status."""

from dataclasses import dataclass
from pathlib import Path

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.transport.protocol import Reply

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"


@dataclass(frozen=True)
class Recording:
    path: Path
    reply: Reply

    @property
    def expected(self) -> str:
        return self.path.with_suffix(".expected").read_text()

    def cut(self, length: int) -> Reply:
        """The same output, but only so many characters of it."""
        return Reply(device="host", command=self.reply.command, text=self.reply.text[:length])


def recordings(kind: str, suffix: str = ".txt") -> list[Recording]:
    return [_recording(path) for path in sorted((TRANSCRIPTS / kind).glob(f"*{suffix}"))]


def recording(kind: str, name: str) -> Recording:
    return _recording(TRANSCRIPTS / kind / name)


def _recording(path: Path) -> Recording:
    text, command, status = path.read_bytes().decode(), "", None
    while text.startswith(("$ ", "# source: ", "# status: ")):
        line, _, text = text.partition("\n")
        if line.startswith("$ "):
            command = line.removeprefix("$ ")
        elif line.startswith("# status: "):
            status = int(line.removeprefix("# status: "))
    errors = path.with_suffix(".err")
    said = errors.read_text() if errors.exists() else ""
    reply = Reply(device="host", command=command, text=text, errors=said, status=status)
    return Recording(path, reply)


def blank(tool: str) -> FlowResult:
    """Before it was judged."""
    return FlowResult(
        sender="ServerA",
        receiver="ServerC",
        tool=tool,
        tos=0,
        status=FlowStatus.INFRASTRUCTURE,
        because="",
        command="",
    )
