"""A session with a switch's CLI.

netmiko, which knows 175 of them, logs in past banners, finds the prompt, turns paging off and knows
the words that lead into and out of configuration mode. Commands then go over the same channel by
terminal.py: netmiko's own send_command polls, strips white space and drops bytes that a packet's
end cuts.
"""

import inspect
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar, cast

import netmiko
import paramiko
from netmiko import base_connection
from netmiko.base_connection import BaseConnection

from labtests.core.errors import CommandRejected, CommandTimeout, Unreachable
from labtests.core.output import excerpt, last_line, lines_said
from labtests.transport.commands import Command, as_line
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Clock, Process, Reply
from labtests.transport.ssh.line import SshLine
from labtests.transport.ssh.steady import wait_steadily
from labtests.transport.ssh.terminal import (
    INTERRUPT,
    Asked,
    NoPrompt,
    Prompt,
    Terminal,
    at_the_end,
    without_echo,
    without_prompt,
)
from labtests.transport.ssh.wire import Unanswered

wait_steadily((base_connection,))

PROMPT_WITHIN_S = 15.0
INTERRUPTED_WITHIN_S = 5.0
MAY_BE_REFUSED = "try it by hand; the account needs a role that may configure (network-admin)"

# "% Unrecognized command ...", " % Incomplete command", "% Invalid input"; no log line "%Nov 21".
# Comware says of what the role may not do "Permission denied.", without a %.
_REFUSED = re.compile(r"(?m)^[^\S\n]*+%\s|^Permission denied\.[^\S\n]*+$")
_FAILED = (OSError, EOFError, ValueError, paramiko.SSHException, netmiko.NetmikoBaseException)
Answer = TypeVar("Answer")


class CliTransport:
    """See transport.Transport. One exchange at a time, whatever thread asks."""

    def __init__(self, line: SshLine, *, device_type: str, clock: Clock) -> None:
        """Raises Unreachable when the device shows no prompt."""
        self.device = line.device
        self.clock = clock
        self.line = line
        self._lock = threading.RLock()
        self._session = self._log_in(device_type)
        self._terminal = Terminal(cast(paramiko.Channel, self._session.remote_conn), line.wire)
        self._prompt = self._find_prompt()
        self._enable()

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport. The text is what the device printed between echo and prompt; only line
        ends are made \\n."""
        self._expect_one_line(as_line(command))
        with self._lock:
            end = self._prompt.here
            text = self._guarded(
                command, timeout_s, lambda: self._terminal.ask(command, end, timeout_s=timeout_s)
            )
        return self._reply(command, without_prompt(without_echo(text, command), end))

    def start(self, command: Command, *, limit_s: float) -> Process:
        """See Transport: refused."""
        raise CommandRejected(
            self.device,
            command,
            "a CLI session runs one command at a time and cannot leave one running",
            "start it on a Linux host, or use run",
        )

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """See Transport. Nothing more is sent after a line that the device refuses with `% ...`,
        because a refused `interface X` would make the next lines apply to something else."""
        printed: list[str] = []
        for command in commands:
            self._expect_one_line(as_line(command))
        with self._lock:
            if commands:
                self._configure(commands, printed)
        return self._reply("; ".join(commands), "".join(printed))

    def close(self) -> None:
        """See Transport."""
        self.line.close()

    # -- opening -----------------------------------------------------------------------------

    def _log_in(self, device_type: str) -> BaseConnection:
        try:
            return _netmiko(self.line, device_type)
        except Unanswered as error:
            raise self._not_as_expected(f"{error} to the request for a terminal") from error
        except _FAILED as error:
            raise self._not_as_expected(
                f"its CLI does not behave like {device_type}: {_first_line(error)}"
            ) from error

    def _not_as_expected(self, problem: str) -> Unreachable:
        return Unreachable(
            self.device,
            f"ssh {self.line.address}",
            f"logged in, but {problem}",
            "log in by hand: is there a prompt at once, without a question? Is `platform` right in "
            "the testbed file?",
        )

    def _find_prompt(self) -> Prompt:
        try:
            return self._terminal.settle(timeout_s=PROMPT_WITHIN_S)
        except NoPrompt as silence:
            words = last_line(silence.text, "nothing")
            raise self._not_as_expected(f"it shows no prompt but {words!r}") from silence
        except EOFError as error:
            raise self._not_as_expected(str(error)) from error

    def _enable(self) -> None:
        """A CLI that has `enable` shows little and changes nothing while its prompt ends in `>`.
        Where the account may not do more, it stays so, and is told at the first change."""
        words = _default(self._session.enable, "cmd")
        if words != "enable" or not self._prompt.text.endswith(">"):  # of Comware: system-view
            return
        try:
            text = self._terminal.ask(words, self._prompt.any_view, timeout_s=PROMPT_WITHIN_S)
        except (NoPrompt, Asked) as silence:
            asked = last_line(silence.text, "nothing")
            raise self._not_as_expected(f"{words!r} leads to no prompt but {asked!r}") from silence
        except EOFError as error:
            raise self._not_as_expected(str(error)) from error
        if not at_the_end(self._prompt.here, text):
            self._prompt = Prompt(text.rpartition("\n")[2].strip())

    # -- configuration mode ------------------------------------------------------------------

    def _configure(self, commands: tuple[str, ...], printed: list[str]) -> None:
        printed.append(self._enter())
        try:
            for command in commands:
                printed.append(self._line_of_configuration(command))
                if _REFUSED.search(printed[-1]):
                    break
        finally:
            printed.append(self._leave())

    def _enter(self) -> str:
        words = _default(self._session.config_mode, "config_command")
        text = self._line_of_configuration(words)
        if at_the_end(self._prompt.here, text):  # still the prompt of before
            said = without_echo(text, words).strip()
            raise CommandRejected(
                self.device, words, f"no configuration mode: {said!r}", MAY_BE_REFUSED
            )
        return text

    def _leave(self) -> str:
        words = _default(self._session.exit_config_mode, "exit_config")
        text = self._line_of_configuration(words)
        if not at_the_end(
            self._prompt.here, text
        ):  # the block may have given the device a new name
            self._prompt = Prompt(text.rpartition("\n")[2].strip())
        return text

    def _line_of_configuration(self, command: str) -> str:
        end, limit_s = self._prompt.any_view, DEFAULT_TIMEOUT_S
        return self._guarded(
            command, limit_s, lambda: self._terminal.ask(command, end, timeout_s=limit_s)
        )

    # -- answers ---------------------------------------------------------------------------------

    def _reply(self, command: str, text: str) -> Reply:
        return Reply(device=self.device, command=command, text=text, time_s=self.clock.now_s())

    def _expect_one_line(self, command: str) -> None:
        if not command.isprintable():  # a line end would be a second command, a Tab a completion
            raise CommandRejected(
                self.device,
                command,
                "it holds control characters, which a CLI takes for keys",
                "send one line per command, without tabs",
            )
        if "?" in command:
            raise CommandRejected(
                self.device,
                command,
                "it holds a question mark, which a CLI takes for a request for help",
                "look it up by hand; no command of labtests needs one",
            )

    def _guarded(self, command: str, timeout_s: float, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except Asked as question:
            raise CommandRejected(
                self.device,
                command,
                f"the device asked {last_line(question.text, '')!r} and was told no",
                "labtests confirms nothing; if the command is meant, do it by hand",
            ) from question
        except NoPrompt as silence:
            self._timed_out(command, timeout_s, silence)
        except EOFError as error:
            raise self.line.broken(command, error) from error

    def _timed_out(self, command: str, timeout_s: float, silence: NoPrompt) -> NoReturn:
        """The command was interrupted. If the prompt does not come back, also as that of a device
        that somebody has renamed meanwhile, the session is closed."""
        fate, before = "it was interrupted", self._prompt
        try:
            self._terminal.send(INTERRUPT)
            with suppress(NoPrompt):
                self._terminal.read(before.any_view, timeout_s=INTERRUPTED_WITHIN_S)
            now = self._terminal.settle(timeout_s=INTERRUPTED_WITHIN_S)
            if before.differs_by_name(now):
                self._prompt = now
                fate = f"the device has another name by now: its prompt is {now.text!r}"
            elif not at_the_end(before.any_view, now.text):
                raise NoPrompt(now.text)
        except (NoPrompt, Asked, EOFError):
            self.line.close()
            fate = "it could not be interrupted, so the session was closed"
        raise CommandTimeout(
            self.device,
            command,
            f"no prompt within {timeout_s:g} s ({fate}); the last it printed: "
            f"{excerpt(silence.text, 80, last=True)!r}",
            "run it by hand to see what it waits for",
        ) from silence


class _Opened:
    """An SSH client that is connected already, as netmiko wants to be given one."""

    def __init__(self, client: paramiko.SSHClient) -> None:
        self._client = client

    def connect(self, **_: Any) -> None:
        """It is."""

    def invoke_shell(self, **settings: Any) -> paramiko.Channel:
        """An interactive channel."""
        return self._client.invoke_shell(**settings)

    def close(self) -> None:
        """Whoever opened it closes it."""


def _netmiko(line: SshLine, device_type: str) -> BaseConnection:
    kind = netmiko.ssh_dispatcher(device_type)
    # netmiko would connect by itself, with its own host keys and at most one jump host
    opened = type(kind.__name__, (kind,), {"_build_ssh_client": lambda _: _Opened(line.client)})
    host, _, port = line.address.rpartition(":")
    return cast(BaseConnection, opened(device_type=device_type, host=host, port=int(port)))


def _default(method: Callable[..., Any], parameter: str) -> str:
    return str(inspect.signature(method).parameters[parameter].default)


def _first_line(error: Exception) -> str:
    return [*lines_said(str(error)), type(error).__name__][0]
