"""A host without ping still tells whether it reaches an address. Answers of Debian 12's dash, bash
5.2 and coreutils' timeout in a lab of network namespaces without iputils-ping."""

from dataclasses import dataclass, field

import pytest

from labtests.experiment.reachability import unreachable
from labtests.transport.protocol import Reply

NO_PING = (127, "sh: 1: ping: not found\n")
REFUSED = (
    1,
    "bash: connect: Connection refused\nbash: line 1: /dev/tcp/10.77.0.3/9: Connection refused\n",
)
NO_ROUTE = (
    1,
    "bash: connect: Network is unreachable\n"
    "bash: line 1: /dev/tcp/10.77.0.3/9: Network is unreachable\n",
)
SILENCE = (124, "")
TAKEN = (0, "")
PING_OK = (0, "")
PING_LOST = (1, "")


@dataclass
class Answers:
    """A session that gives these answers in turn."""

    answers: list[tuple[int, str]]
    device: str = "h1"
    asked: list[str] = field(default_factory=list)

    def run(self, command: str, *, timeout_s: float = 30.0) -> Reply:
        self.asked.append(command)
        status, errors = self.answers.pop(0)
        return Reply(device="h1", command=command, text="", errors=errors, status=status)


@pytest.mark.parametrize(
    "answers",
    [[PING_OK], [PING_LOST, PING_LOST, PING_OK], [NO_PING, REFUSED], [NO_PING, TAKEN]],
)
def test_a_ping_a_refusal_or_a_connection_is_an_answer(answers: list[tuple[int, str]]) -> None:
    session = Answers(list(answers))

    assert unreachable("h1", session, "10.77.0.3") is None
    assert len(session.asked) == len(answers)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([PING_LOST] * 3, "ping -c 1 -W 2 10.77.0.3': no answer"),
        ([NO_PING, SILENCE], "/dev/tcp/10.77.0.3/9"),
        ([NO_PING, NO_ROUTE], "Network is unreachable"),
        ([NO_PING, (127, "sh: 1: timeout: not found\n")], "timeout: not found"),
    ],
)
def test_silence_and_anything_else_is_not(answers: list[tuple[int, str]], said: str) -> None:
    told = unreachable("h1", Answers(list(answers)), "10.77.0.3")

    assert told is not None
    assert told.startswith("h1 cannot reach 10.77.0.3: ")
    assert said in told
