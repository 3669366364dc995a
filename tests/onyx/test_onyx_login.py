"""A CLI whose first prompt ends in `>` is enabled at login, where the account may do so."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from in_process import InProcessLab
from switch_over_ssh import connected, served
from typed import typed

from labtests.core.errors import LabError, LabErrors
from labtests.simlab.faces import onyx
from labtests.simlab.onyx.cli import ONYX
from labtests.simlab.switch_cli import CliCall, CliCommand, CliSession
from labtests.transport.ssh import cli

TESTBED, BOX = "onyx-cx5", "SN2700"


def enabling(monkeypatch: pytest.MonkeyPatch, command: CliCommand) -> None:
    """`enable` does this on the emulated switch."""
    first = ONYX.views["exec"]
    views = {**ONYX.views, "exec": replace(first, commands={**first.commands, "enable": command})}
    monkeypatch.setattr(onyx, "ONYX", replace(ONYX, views=views))


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcessLab]:
    """One whose `enable` wants a password."""

    def ask(session: CliSession, call: CliCall) -> str:
        session.question = lambda answer: "% Wrong password.\n"
        return "Password: "

    enabling(monkeypatch, CliCommand(ask))
    monkeypatch.setattr(cli, "PROMPT_WITHIN_S", 3.0)
    with served(TESTBED) as lab:
        yield lab


@pytest.fixture
def refuses(monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcessLab]:
    """One that enables nobody."""
    refusal = '% Unrecognized command "enable".\nType "?" for help.\n'
    enabling(monkeypatch, CliCommand(lambda session, call: refusal))
    with served(TESTBED) as lab:
        yield lab


def test_the_session_may_configure_after_login(tmp_path: Path) -> None:
    with served(TESTBED) as simulated, connected(simulated, TESTBED, tmp_path) as lab:
        reply = lab.transports[BOX].configure((typed("interface ethernet 1/1 mtu 9000 force"),))
        assert "(config) # interface ethernet 1/1 mtu 9000 force" in reply.text
        assert reply.text.splitlines()[-1] == "SN2700 [standalone: master] # "


def test_a_password_for_it_is_not_guessed(asks: InProcessLab, tmp_path: Path) -> None:
    with pytest.raises(LabErrors) as refused, connected(asks, TESTBED, tmp_path) as lab:
        lab.transports[BOX].run(typed("show clock"))
    (error,) = refused.value.exceptions
    assert "'enable' leads to no prompt but 'Password:'" in str(error)
    assert "log in by hand" in str(error)


def test_who_may_not_asks_nevertheless(refuses: InProcessLab, tmp_path: Path) -> None:
    with connected(refuses, TESTBED, tmp_path) as lab:
        assert lab.transports[BOX].run(typed("show clock")).text.startswith("Time: ")
        with pytest.raises(LabError, match="no configuration mode"):
            lab.transports[BOX].configure((typed("interface ethernet 1/1 shutdown"),))
