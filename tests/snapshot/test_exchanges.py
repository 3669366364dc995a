"""Many questions in one exchange: each answer is the command's own, whatever it printed."""

import re
import subprocess

import pytest
from typed import typed

from labtests.core.errors import CommandTimeout, Unreachable, UnreadableOutput
from labtests.transport.asking import (
    Running,
    answered,
    ask_each,
    attempt,
    both,
    outcomes,
    side_by_side,
)
from labtests.transport.batching import Joined, block_reply
from labtests.transport.exchanges import Exchanges
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
    for command, together in zip(COMMANDS, asked.answers(COMMANDS), strict=True):
        alone = Shell().run(command)
        assert (together.text, together.errors, together.status) == (
            alone.text,
            alone.errors,
            alone.status,
        )
    assert (len(shell.ran), asked.sent) == (1, 1)


def question(*texts):
    """An asking: what these print."""
    return ask_each(*typed(texts))


def text_of(replies):
    return [reply.text for reply in replies]


def test_nothing_is_asked_twice_on_one_asking_and_every_asking_asks_anew():
    def two_rounds():
        first = yield from question("echo 1")
        return (*first, *(yield from question("echo 1", "echo 2")))

    shell = Shell()
    asked = Exchanges(shell)
    assert text_of(asked.ask(two_rounds())) == ["1\n", "1\n", "2\n"]
    assert shell.ran == ["echo 1", "echo 2"]
    asked.ask(question("echo 1"))
    assert shell.ran == ["echo 1", "echo 2", "echo 1"]


def test_askings_side_by_side_are_one_exchange_a_round_and_the_same_question_is_asked_once():
    def by_the_first_answer(text):
        (said,) = yield from question(f"echo {text}")
        return text_of((yield from question(f"echo {said.text.strip()} again")))

    shell = Shell()
    found = Exchanges(shell).ask(side_by_side(map(by_the_first_answer, "aab")))
    assert found == [["a again\n"], ["a again\n"], ["b again\n"]]
    assert len(shell.ran) == 2
    assert [run.count("echo a") for run in shell.ran] == [1, 1]


def test_one_that_fails_hides_no_other_and_its_own_error_is_told():
    class Deaf(Shell):
        def run(self, command, *, timeout_s=30.0):
            if "deaf" in command:
                raise CommandTimeout("here", command, "no answer", "wait")
            return super().run(command)

    def caught():
        try:
            return (yield from question("deaf"))
        except CommandTimeout:
            return "told"

    shell = Deaf()
    asked = Exchanges(shell)
    found = asked.ask(outcomes([question("echo 1"), question("deaf"), caught()]))
    assert text_of(found[0]) == ["1\n"]
    assert isinstance(found[1], CommandTimeout)
    assert found[2] == "told"
    assert shell.ran == ["echo 1"]  # together it was too much: one by one
    with pytest.raises(CommandTimeout):
        asked.ask(both(question("echo 1"), question("deaf")))


def test_a_device_that_is_gone_is_not_asked_again_and_again():
    class Gone(Shell):
        def run(self, command, *, timeout_s=30.0):
            self.ran.append(command)
            raise Unreachable("here", command, "gone", "plug it in")

    shell = Gone()
    found = Exchanges(shell).ask(outcomes([question("echo 1"), question("echo 2", "echo 3")]))
    assert [type(each) for each in found] == [Unreachable, Unreachable]
    assert len(shell.ran) == 1


@pytest.mark.parametrize("damage", [lambda text: text[: len(text) // 2], lambda text: ""])
def test_an_answer_that_is_cut_off_is_asked_for_again(damage):
    shell = Shell(damage)
    Exchanges(shell).answers(typed(("echo first", "echo second")))
    assert shell.ran[-1] == "echo second"


def test_an_answer_without_its_middle_is_asked_for_again():
    shell = Shell(lambda text: re.sub(r"labtests-[0-9a-f]+ 1 0", "", text))
    said = Exchanges(shell).ask(question("echo first", "echo second", "echo third"))
    assert text_of(said) == ["first\n", "second\n", "third\n"]
    assert shell.ran[1:] == ["echo second", "echo third"]


@pytest.fixture
def files(tmp_path):
    shell = Shell()
    for name in "ab":
        (tmp_path / name).write_text("0\n")
    return shell, Exchanges(shell), tmp_path / "a", tmp_path / "b"


def test_changes_and_their_reading_back_are_one_exchange(files):
    shell, asked, a, b = files
    then = Running(question(f"cat {a}", f"cat {b}"))
    changes = [typed((f"echo {n} > {file}",)) for n, file in ((1, a), (2, b))]
    told = asked.change(changes, then)
    assert [[reply.status for reply in each] for each in told] == [[0], [0]]
    assert text_of(answered(then, asked.answers)) == ["1\n", "2\n"]
    assert len(shell.ran) == 1


def test_behind_a_change_that_failed_nothing_was_sent_and_what_is_there_is_asked(files):
    shell, asked, a, b = files
    then = Running(question(f"cat {a}", f"cat {b}"))
    changes = [typed((f"echo {n} > {file}",)) for n, file in ((1, a), (2, b))]
    told = asked.change([changes[0], typed(("exit 4",)), changes[1]], then)
    assert [[reply.status for reply in each] for each in told] == [[0], [4], []]
    assert text_of(answered(then, asked.answers)) == ["1\n", "0\n"]
    assert len(shell.ran) == 2


def _stumbles(command):
    (reply,) = yield from ask_each(command)
    return int(reply.text)  # nobody foresaw a word there


def _reads(command):
    (reply,) = yield from ask_each(command)
    return reply.text


def test_an_answer_that_nobody_foresaw_is_its_devices_and_others_are_read():
    """A ValueError of one driver must not end what is asked beside it, nor hide whose it is."""
    word, good = typed(("printf abc", "printf good"))
    bad, told = Exchanges(Shell()).ask(outcomes([_stumbles(word), _reads(good)]))
    assert told == "good"
    assert isinstance(bad, UnreadableOutput)
    assert isinstance(bad.__cause__, ValueError)
    assert str(bad) == (
        "here: 'printf abc': labtests fails at this answer: ValueError: invalid literal for int() "
        "with base 10: 'abc'\n"
        "  remedy: this is a defect of labtests: report it with the run's journal"
    )
    assert Exchanges(Shell()).ask(both(attempt(_reads(good)), attempt(_stumbles(word))))[0] == told
    with pytest.raises(UnreadableOutput, match="here: 'printf abc'"):
        Exchanges(Shell()).ask(_stumbles(word))


def test_a_mistake_before_anything_was_asked_is_no_devices():
    def mistaken():
        raise KeyError("ours")
        yield ()

    with pytest.raises(KeyError):
        Exchanges(Shell()).ask(mistaken())
