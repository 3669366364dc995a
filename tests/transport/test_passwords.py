"""Passwords: where they may come from, and that they show themselves nowhere."""

import os
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli_server import PASSWORD, CliServer
from sshd_server import Sshd, children_of
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import LoginRefused
from labtests.inventory import Device, Management
from labtests.transport.ssh import connect, passwords
from labtests.transport.ssh.passwords import Password, password_named, passwords_of

WRONG = "correct-horse-battery-staple"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_given", {})
    monkeypatch.delenv("LABTESTS_ASK_PASSWORDS", raising=False)
    monkeypatch.delenv("SWITCH_PASSWORD", raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)


def keyring(monkeypatch: pytest.MonkeyPatch, kept: dict[tuple[str, str], str]) -> None:
    class KeyringError(Exception):
        pass

    def get_password(service: str, name: str) -> str | None:
        if not kept:
            raise KeyringError("no keyring can be opened")
        return kept.get((service, name))

    fake = SimpleNamespace(
        get_password=get_password, errors=SimpleNamespace(KeyringError=KeyringError)
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)


def asked(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    prompts: list[str] = []
    left = list(answers)

    def getpass(prompt: str) -> str:
        prompts.append(prompt)
        if not left:
            raise EOFError
        return left.pop(0)

    monkeypatch.setattr(passwords.getpass, "getpass", getpass)
    return prompts


def test_the_environment_comes_first_then_the_keyring_then_the_person(monkeypatch) -> None:
    monkeypatch.setenv("LABTESTS_ASK_PASSWORDS", "1")
    prompts = asked(monkeypatch, "typed word")
    keyring(monkeypatch, {("labtests", "KEPT"): "kept word"})
    monkeypatch.setenv("SET", "environment word")
    found = [password_named(name) for name in ("SET", "KEPT", "TYPED", "TYPED")]
    assert found == ["environment word", "kept word", "typed word", "typed word"]
    assert prompts == ["password TYPED: "]  # once


def test_nobody_is_asked_unless_that_was_wished(monkeypatch) -> None:
    prompts = asked(monkeypatch, "typed word")
    assert password_named("NOBODY_KNOWS") is None
    assert prompts == []


def test_a_keyring_that_cannot_be_opened_and_a_person_who_goes_away_are_no_password(
    monkeypatch, switch: CliServer
) -> None:
    monkeypatch.setenv("LABTESTS_ASK_PASSWORDS", "1")
    keyring(monkeypatch, {})
    asked(monkeypatch)
    with pytest.raises(LoginRefused) as caught:
        connect(switch.device(), "hp_comware", clock=WallClock())
    assert "keyring set labtests SWITCH_PASSWORD" in caught.value.remedy
    assert "LABTESTS_ASK_PASSWORDS=1" in caught.value.remedy


def test_a_kept_password_logs_in(monkeypatch, switch: CliServer) -> None:
    keyring(monkeypatch, {("labtests", "SWITCH_PASSWORD"): PASSWORD})
    connect(switch.device(), "hp_comware", clock=WallClock()).close()
    assert passwords_of([switch.device()]) == (PASSWORD,)


def test_devices_without_a_password_have_none(sshd: Sshd) -> None:
    assert (
        passwords_of(
            [sshd.device(), Device(name="a", platform="x", management=Management(host="a"))]
        )
        == ()
    )


def test_a_password_does_not_show_itself() -> None:
    word = Password("hunter2 and more")
    assert "hunter2" not in repr(word) + repr({"password": word}) + repr([word]) + f"{word!r}"
    assert word == "hunter2 and more"  # it still is what is sent


def shown_by(error: BaseException | None) -> str:
    """Every frame of an exception and of its causes with all local variables, as `pytest -l`."""
    text = ""
    while error is not None:
        seen = traceback.TracebackException.from_exception(error, capture_locals=True)
        text += "".join(seen.format())
        error = error.__cause__ or error.__context__
    return text


def test_no_local_variable_of_ours_shows_the_password_of_a_refused_login(
    monkeypatch, switch: CliServer
) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", WRONG)
    with pytest.raises(LoginRefused) as caught:
        connect(switch.device(), "hp_comware", clock=WallClock())
    text = shown_by(caught.value)
    assert "Authentication" in text  # the cause is told
    assert WRONG not in text


def test_a_password_is_in_no_process_list_and_no_child(monkeypatch, switch: CliServer) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    transport = connect(switch.device(), "hp_comware", clock=WallClock())
    transport.run(typed("display name"))
    lists = [Path(f"/proc/{pid}/cmdline") for pid in (os.getpid(), *children_of(os.getpid()))]
    shown = b"".join(path.read_bytes() for path in lists if path.exists())
    transport.close()
    assert PASSWORD.encode() not in shown
