"""Many questions in one exchange: each answer is the command's own, whatever it printed."""

import subprocess

import pytest

from labtests.exchanges import Exchanges
from labtests.transport import Reply


class Shell:
    """A real /bin/sh."""

    device = "here"

    def __init__(self, damage=lambda text: text):
        self.ran, self._damage = [], damage

    def run(self, command, *, timeout_s=30.0):
        self.ran.append(command)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        return Reply(
            device="here",
            command=command,
            text=self._damage(done.stdout),
            errors=done.stderr,
            status=done.returncode,
        )

    def configure(self, commands):
        return self.run("; ".join(commands))


COMMANDS = (
    "printf 'no newline at the end'",
    "echo out; echo err >&2; exit 3",
    "true",
    "exit 7",
    "printf 'two\\nlines\\n'",
    "cd /; false",
)


def test_each_answer_is_as_if_it_had_been_asked_alone():
    shell = Shell()
    asked = Exchanges(shell)
    with asked.remembered():
        asked.ask_ahead(COMMANDS)
        assert len(shell.ran) == 1
        for command in COMMANDS:
            alone, together = Shell().run(command), asked.run(command)
            assert (together.text, together.errors, together.status) == (
                alone.text,
                alone.errors,
                alone.status,
            )
    assert (len(shell.ran), asked.sent) == (1, 1)


def test_nothing_is_asked_twice_until_something_is_changed_or_the_scope_ends():
    shell = Shell()
    asked = Exchanges(shell)
    with asked.remembered():
        asked.run("echo 1")
        asked.run("echo 1")
        assert shell.ran == ["echo 1"]
        asked.configure(("true",))
        asked.run("echo 1")
    asked.run("echo 1")
    assert shell.ran == ["echo 1", "true", "echo 1", "echo 1"]


@pytest.mark.parametrize("damage", [lambda text: text[: len(text) // 2], lambda text: ""])
def test_an_answer_that_is_cut_off_is_asked_for_again(damage):
    shell = Shell(damage)
    asked = Exchanges(shell)
    with asked.remembered():
        asked.ask_ahead(("echo first", "echo second"))
        asked.run("echo second")
    assert shell.ran[1:] == ["echo second"]
