"""Many questions in one exchange: each answer is the command's own, whatever it printed."""

import re
import subprocess
import threading
from dataclasses import replace

import pytest
from typed import typed

from labtests.transport.batching import Joined, block_reply
from labtests.transport.exchanges import FRESH_S, Exchanges
from labtests.transport.protocol import Reply


class Shell:
    """A real /bin/sh."""

    device = "here"

    def __init__(self, damage=lambda text: text):
        self.ran, self._damage = [], damage

    def run(self, command, *, timeout_s=30.0):
        self.ran.append(command)
        return self._answer(command)

    def _answer(self, command):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        return Reply(
            device="here",
            command=command,
            text=self._damage(done.stdout),
            errors=done.stderr,
            status=done.returncode,
        )

    def configure(self, commands):
        joined = Joined(commands, stopping=True)
        self.ran.append("; ".join(commands))
        return block_reply(joined.answers(self._answer(joined.script)))


COMMANDS = typed(
    (
        "printf 'no newline at the end'",
        "echo out; echo err >&2; exit 3",
        "true",
        "exit 7",
        "printf 'two\\nlines\\n'",
        "cd /; false",
    )
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
        asked.run(typed("echo 1"))
        asked.run(typed("echo 1"))
        assert shell.ran == ["echo 1"]
        asked.configure(typed(("true",)))
        asked.run(typed("echo 1"))
    asked.run(typed("echo 1"))
    assert shell.ran == ["echo 1", "true", "echo 1", "echo 1"]


@pytest.mark.parametrize("damage", [lambda text: text[: len(text) // 2], lambda text: ""])
def test_an_answer_that_is_cut_off_is_asked_for_again(damage):
    shell = Shell(damage)
    asked = Exchanges(shell)
    with asked.remembered():
        asked.ask_ahead(typed(("echo first", "echo second")))
        asked.run("echo second")
    assert shell.ran[1:] == ["echo second"]


def test_an_answer_without_its_middle_is_asked_for_again():
    shell = Shell(lambda text: re.sub(r"labtests-[0-9a-f]+ 1 0", "", text))
    asked = Exchanges(shell)
    with asked.remembered():
        asked.ask_ahead(typed(("echo first", "echo second", "echo third")))
        assert [asked.run(f"echo {n}").text for n in ("first", "second", "third")] == [
            "first\n", "second\n", "third\n",
        ]  # fmt: skip
    assert shell.ran[1:] == ["echo second", "echo third"]


def test_what_one_thread_remembers_another_asks():
    shell = Shell()
    asked = Exchanges(shell)
    with asked.remembered():
        asked.run(typed("echo 1"))
        other = threading.Thread(
            target=lambda: (asked.run(typed("echo 1")), asked.configure(typed(("true",))))
        )
        other.start()
        other.join()
        assert shell.ran == ["echo 1", "echo 1", "true"]
        asked.run(typed("echo 1"))  # the other one has changed something since
    assert shell.ran[3:] == ["echo 1"]


class File:
    """A file of the host, set as a driver sets something."""

    def __init__(self, asked, path):
        self._asked, self._path = asked, path

    def now(self):
        return self._asked.run(typed(f"cat {self._path}")).text.strip()

    def command(self, wanted):
        return typed((f"echo {wanted} > {self._path}",))

    def set(self, wanted):
        """Before, the device's answer, after."""
        return self.now(), self._asked.configure(self.command(wanted)).status, self.now()


@pytest.fixture
def files(tmp_path):
    shell = Shell()
    asked = Exchanges(shell)
    for name in "ab":
        (tmp_path / name).write_text("0\n")
    return shell, asked, File(asked, tmp_path / "a"), File(asked, tmp_path / "b")


def test_changes_made_ahead_show_before_answer_and_after_in_one_exchange(files):
    shell, asked, a, b = files
    with asked.remembered():
        assert (a.now(), b.now()) == ("0", "0")
        batch = asked.change_ahead([a.command(1), b.command(2)], [a_cat := shell.ran[0]])
        assert len(shell.ran) == 3
        with asked.made_ahead(batch):
            assert a.set(1) == ("0", 0, "1")
        assert len(shell.ran) == 3
        with asked.made_ahead(batch):
            assert b.set(2) == ("0", 0, "2")
        assert shell.ran[3:] == [shell.ran[1]]  # what was not asked ahead is asked
        assert asked.run(a_cat).text == "1\n"


def test_a_change_behind_one_that_failed_was_not_sent(files):
    shell, asked, a, b = files
    with asked.remembered():
        a.now(), b.now()
        batch = asked.change_ahead([typed(("exit 4",)), b.command(2)], shell.ran[:2])
        with asked.made_ahead(batch):
            assert asked.configure(typed(("exit 4",))).status == 4
        assert len(shell.ran) == 4
        with asked.made_ahead(batch):
            assert b.set(2) == ("0", 0, "2")  # now it is, by itself
    assert shell.ran[4:] == [b.command(2)[0], shell.ran[1]]


def test_what_was_made_ahead_is_out_of_date_once_something_else_is_changed(files):
    shell, asked, a, b = files
    with asked.remembered():
        a.now(), b.now()
        batch = asked.change_ahead([a.command(1), b.command(2)], shell.ran[:2])
        asked.configure(a.command(7))
        with asked.made_ahead(batch):
            assert a.now() == "7"
            assert a.set(1) == ("7", 0, "1")


def test_what_is_kept_is_known_again_until_something_is_changed_or_it_is_old(files):
    shell, asked, a, b = files
    with asked.remembered():
        a.now()
        kept = asked.kept()

    def asks(known, now_s=0.0):
        before = len(shell.ran)
        with asked.remembered():
            asked.recall(known, now_s)
            a.now()
        return len(shell.ran) - before

    assert asks(kept) == asks(kept, FRESH_S) == 0
    assert (
        asks(kept, FRESH_S + 0.1) == asks(kept, -0.1) == 1
    )  # of the lab's clock; a clock set back
    assert asks(replace(kept, since_s=kept.since_s - FRESH_S - 0.1)) == 1
    assert asks(replace(kept, since_s=kept.since_s + 60)) == 1
    asked.configure(b.command(7))
    assert asks(kept) == 1


def test_what_another_thread_changes_while_it_is_read_is_not_kept(files):
    _, asked, a, b = files
    with asked.remembered():
        a.now()
        other = threading.Thread(target=lambda: asked.configure(b.command(7)))
        other.start()
        other.join()
        assert asked.kept().answers == {}
