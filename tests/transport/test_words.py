"""Words become a command, whatever is in them: what runs has just these arguments."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labtests.drivers.comware.session import line
from labtests.transport.commands import (
    CliLine,
    NotAWord,
    if_done,
    in_turn,
    program,
    root,
    script,
    write,
)

EVIL = (
    "",
    "-x",
    "a b",
    "a;id",
    "$(id)",
    "`id`",
    "a'b",
    'a"b',
    "*",
    "~",
    "a\nb",
    "|cat",
    ">x",
    "\\",
)
words = st.lists(
    st.sampled_from(EVIL)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
    min_size=1,
    max_size=4,
)


def ran(command: str, **environment: str) -> str:
    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"} | environment,
    )
    return done.stdout.decode()


@given(words)
@settings(max_examples=60, deadline=None)
def test_each_word_is_one_argument_of_the_program(given_words: list[str]) -> None:
    shown = "".join(f"<{word}>" for word in given_words)
    assert ran(program("printf", "<%s>", *given_words)) == shown
    assert ran(script("printf '<%s>' WORDS", WORDS=given_words)) == shown
    assert ran(script("for w in WORDS; do printf '<%s>' \"$w\"; done", WORDS=given_words)) == shown


@given(words)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_sudo_is_given_the_same_words_and_writes_the_same_file(
    tmp_path: Path, given_words: list[str]
) -> None:
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n')
    sudo.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    command = root("printf", "<%s>", *given_words)
    assert command.by_sudo == f"sudo -n {command}"
    assert ran(command.by_sudo, PATH=path) == ran(command)
    file = tmp_path / "a file; id"
    both = if_done(write(7, str(file)), root("cat", str(file)))
    assert ran(both) == ran(both.by_sudo, PATH=path) == "7\n"


def test_a_word_of_a_script_is_put_in_once_and_is_not_looked_at_again() -> None:
    assert script("[ -e NEXT ] && rm OLD", NEXT="OLD", OLD=["NEXT", 1]) == "[ -e OLD ] && rm NEXT 1"


def test_what_is_put_together_keeps_what_needs_root_and_what_does_not() -> None:
    command = in_turn(program("id"), root("tc", "qdisc"), script("( COMMAND )", COMMAND=root("ip")))
    assert command == "id; tc qdisc; ( ip )"
    assert command.by_sudo == "id; sudo -n tc qdisc; ( sudo -n ip )"


def test_words_that_need_no_quotes_have_none() -> None:
    command = program("tc", "qdisc", "change", "handle", "1:", "burst", 3, "+%s.%N", "a=b", "/x")
    assert command == "tc qdisc change handle 1: burst 3 +%s.%N a=b /x"


@pytest.mark.parametrize(
    "word", ["", "a b", "a\nquit", "a\tb", "?", "a?", "|", "a;b", '"a"', "'", "\\", "é", "a" * 81]
)
def test_a_word_that_a_switch_could_take_for_more_is_refused(word: str) -> None:
    with pytest.raises(NotAWord, match="cannot be a word"):
        line("interface", word)


def test_a_line_for_a_switch_is_its_words() -> None:
    made = line("undo", "qos", "wred", "queue", "table", "labtests-ecn-3", 7)
    assert (made, type(made)) == ("undo qos wred queue table labtests-ecn-3 7", CliLine)


@pytest.mark.parametrize(
    "made",
    [f"{program('ip')}", program("ip") + " x", "{}".format(program("ip")), program("ip").upper()],
)
def test_what_is_made_of_a_command_is_a_plain_text(made: object) -> None:
    assert type(made) is str
