"""What sudo says when it refuses, as recorded, and what is no refusal of its own."""

import pytest
from sudo_refusals import REFUSALS, REMEDIES, Refused

from labtests.core.errors import CommandRejected, ToolMissing
from labtests.transport.protocol import Reply
from labtests.transport.ssh.becoming import refusal, unknown


def answer(errors: str, status: int = 1) -> Reply:
    return Reply(device="h", command="ip link", text="", errors=errors, status=status, time_s=0.0)


@pytest.mark.parametrize("case", REFUSALS, ids=str)
def test_every_recorded_refusal_is_known_and_names_its_remedy(case: Refused) -> None:
    error = refusal(answer(case.said))
    assert isinstance(error, ToolMissing if case.name.startswith("no sudo") else CommandRejected)
    assert (error.device, error.command) == ("h", "sudo -n ip link")
    assert error.problem in case.said.splitlines()
    assert case.remedy in error.remedy
    assert "or log in as root and drop `become`" in error.remedy


def test_the_recordings_are_all_there() -> None:
    assert [case.name for case in REFUSALS] == list(REMEDIES)


@pytest.mark.parametrize(
    ("said", "remedy"),
    [  # sudo-rs: the sentences of its src/common/error.rs
        ("sudo: interactive authentication is required", "NOPASSWD"),
        ("sudo-rs: I'm sorry ops. I'm afraid I can't do that", "NOPASSWD"),
        ("sudo: Sorry, user ops may not run /usr/bin/sh on vm.", "NOPASSWD"),
        ("sudo: sudo must be owned by uid 0 and have the setuid bit set", "nosuid"),
        ("sudo: 'sh': command not found", "secure_path"),
    ],
)
def test_sudo_rs_refuses_in_words_of_its_own(said: str, remedy: str) -> None:
    error = refusal(answer(f"{said}\n"))
    assert error is not None
    assert remedy in error.remedy


@pytest.mark.parametrize(
    "said",
    [
        "sudo: nosuch: command not found",  # as recorded: the host lacks a tool, sudo is well
        "sudo: unable to resolve host vm: Name or service not known\nno such device",
        "kill: (-999999): No such process",
        "RTNETLINK answers: Operation not permitted",
        "",
    ],
)
def test_what_is_no_refusal_of_sudo_is_left_to_who_asked(said: str) -> None:
    assert refusal(answer(said)) is None


def test_a_first_command_refused_in_another_language_is_sudo_s_doing() -> None:
    said = answer("sudo: Ein Passwort ist notwendig\n")  # de/LC_MESSAGES/sudoers.mo of 1.9.13p3
    assert refusal(said) is None
    error = unknown(said)
    assert error is not None
    assert error.problem == "sudo: Ein Passwort ist notwendig"
    assert "NOPASSWD" in error.remedy
    assert unknown(answer("")) is None
