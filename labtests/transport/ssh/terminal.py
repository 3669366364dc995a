"""One interactive CLI: lines go in, and what comes back is cut at the prompt, byte for byte."""

import codecs
import re
import time
from dataclasses import dataclass

import paramiko

from labtests.transport.ssh.streams import READ_BYTES, Bell
from labtests.transport.ssh.wire import Wire

BARRIER_WITHIN_S = 10.0  # for the answer to a round trip; then this device is taken to give none
QUIET_S = 0.05  # silence that counts as the end where there is no round trip
LOOK_EVERY_S = 0.2
INTERRUPT = "\x03"

_LINE_ENDS = re.compile(r"\r{1,64}\n|\n\r")
_MORE = r"[ \t]*-{2,} ?\(?more\)? ?[^\n]{0,40}?-{2,80}[ \t]{0,80}"
_PAGER = re.compile(rf"(?:^|\n){_MORE}\Z", re.IGNORECASE)
# how pagers wipe their own line: Comware moves the cursor, others return or step back
_WIPED = r"(?:\x1b\[\d*D {1,80}\x1b\[\d*D|\r {1,80}\r|\x08++ ++\x08++|\r?\x1b\[2?K\r?)*"
_PAGED = re.compile(rf"(?m)^{_MORE}{_WIPED}", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?<![^\n])[^\n]*(?:\[y(?:es)?/n(?:o)?\]|\(y(?:es)?/n(?:o)?\)|to continue\?)[^\n]{0,30}\Z",
    re.IGNORECASE,
)
_PROMPT_ENDS = (">", "]", "#", "$", "%")
# colours, window titles, bracketed paste: how a prompt looks, not what it says (ECMA-48, xterm)
_LOOKS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[=>]")
_NAME = re.compile(r"[\w.-]+")
_CONTROL = re.compile(r"[\r\x08\x07\x00]")
# log lines that `terminal monitor` prints behind the prompt: "%Nov 21 09:00:00:123 2026 H3C ..."
_LOGGED = r"(?:\s*+%[A-Z][a-z]{2} ++\d++ \d\d:\d\d:\d\d[^\n]*+)*+\s*+"
_MOST = 2**24  # characters of an answer: a device that prints for ever is interrupted
_AT_ONCE = 2**22
_TAIL = 2000  # characters in which the end of an output is looked for
_LONGEST_PROMPT = 200


class NoPrompt(Exception):
    """The prompt did not come in time. `text` is what did, uncut: what is told of it is hidden
    first."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Asked(Exception):
    """The device wants a yes or no. It was told no. `text` is what it has printed: the question is
    its last line."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of a session, as it was found: `<H3C>`, `switch#`, `admin@sonic:~$`."""

    text: str

    @property
    def here(self) -> re.Pattern[str]:
        """The end of an output that leaves the view as it is."""
        return re.compile(rf"(?:\A|\n){re.escape(self.text)} ?{_LOGGED}\Z")

    @property
    def any_view(self) -> re.Pattern[str]:
        """The end of an output that may have changed the view, and also the device's name."""
        if self.text[:1] in "<[":  # Comware and VRP: <H3C>, [H3C], [~H3C-Twenty-FiveGigE1/0/13]
            return re.compile(rf"(?:\A|\n)(?:[A-Z]+_[A-Z])?[<\[][^<>\[\]\n]+[>\]] ?{_LOGGED}\Z")
        name = re.escape(self.text.rstrip(" #>$%"))
        return re.compile(rf"(?:\A|\n){name}[^\n#>$%]{{0,80}}[#>$%] ?\Z")

    def differs_by_name(self, other: "Prompt") -> bool:
        """Whether this is the same prompt, but for its first word: `leaf1#` and `leaf2#`."""
        shapes = [_NAME.sub("", prompt.text, count=1) for prompt in (self, other)]
        return self != other and shapes[0] == shapes[1]


class Terminal:
    """The channel of an interactive session whose prompt has been seen. Not for several threads."""

    def __init__(self, channel: paramiko.Channel, wire: Wire) -> None:
        self._channel, self._wire = channel, wire
        self._bell = Bell()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._answers_round_trips = True
        channel.in_buffer.set_event(self._bell)

    def settle(self, *, timeout_s: float) -> Prompt:
        """The prompt, after everything printed at login: what two empty lines in a row lead to."""
        deadline_s = time.monotonic() + timeout_s
        before = text = ""
        while True:
            text += self._take()
            begun = len(text)
            self.send("\n")
            text += self._wait(deadline_s, text)
            while time.monotonic() < deadline_s and (late := self._late_news()):
                text += late
                if len(text) > _MOST:
                    raise NoPrompt(text)
            tail = _LOOKS.sub("", text[max(begun, len(text) - _TAIL) :])
            prompt = _CONTROL.sub("", tail).rpartition("\n")[2].strip()
            if prompt == before and _can_be_a_prompt(prompt):
                return Prompt(prompt)
            if time.monotonic() > deadline_s:
                raise NoPrompt(text)
            before = prompt

    def ask(self, line: str, end: re.Pattern[str], *, timeout_s: float) -> str:
        """What is printed after this line, up to and with the prompt that matches `end`.

        Raises NoPrompt, Asked, or EOFError when the session is over.
        """
        self.forget()
        self.send(line + "\n")
        return self.read(end, timeout_s=timeout_s)

    def forget(self) -> None:
        """What came after the last prompt (log lines of `terminal monitor`) belongs to nobody."""
        self._take()

    def send(self, text: str) -> None:
        """Type this. Raises EOFError when the session is over."""
        try:
            self._channel.sendall(text.encode())
        except (OSError, paramiko.SSHException) as error:
            raise EOFError(str(error)) from error

    def read(self, end: re.Pattern[str], *, timeout_s: float) -> str:
        """See `ask`. `timeout_s` is wall time: a CLI answers without lab time passing."""
        deadline_s = time.monotonic() + timeout_s
        text, paged = "", False
        while True:
            text += self._take()
            tail = _LOOKS.sub("", _LINE_ENDS.sub("\n", text[-_TAIL:]))
            if len(text) > _MOST:
                raise NoPrompt(text)
            ended = at_the_end(end, tail, cut=len(text) > _TAIL)
            late = self._late_news() if ended else None
            if late == "":
                break
            if time.monotonic() > deadline_s:  # there are always news of one that never stops
                raise NoPrompt(text)
            if late:
                text += late
            elif _PAGER.search(tail):
                self.send(" ")
                text, paged = text + self._wait(deadline_s, text), True
            elif _QUESTION.search(tail):
                self._decline(end, deadline_s)
                raise Asked(text)
            else:
                text += self._wait(deadline_s, text)
        text = _LINE_ENDS.sub("\n", text)
        return _LOOKS.sub("", _PAGED.sub("", text) if paged else text)

    def _decline(self, end: re.Pattern[str], deadline_s: float) -> None:
        self.send("n\n")
        text = ""
        while not at_the_end(end, text) and time.monotonic() < deadline_s:
            text += self._wait(deadline_s, text)
            if len(text) > _MOST:
                raise NoPrompt(text)

    def _wait(self, deadline_s: float, text: str) -> str:
        """The next news. Raises NoPrompt at the deadline and EOFError at the end."""
        while True:
            news = self._take()
            if news:
                return news
            if self._channel.closed or self._channel.eof_received:
                raise EOFError("the device closed the session")
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise NoPrompt(text)
            self._bell.hear(min(left_s, LOOK_EVERY_S))

    def _late_news(self) -> str:
        """What was still on its way behind something that looks like the prompt."""
        if self._answers_round_trips:
            self._answers_round_trips = self._wire.round_trip(BARRIER_WITHIN_S)
        if not self._answers_round_trips:
            self._bell.hear(QUIET_S)
        return self._take()

    def _take(self) -> str:
        text = ""
        while self._channel.recv_ready() and len(text) < _AT_ONCE:
            text += self._decoder.decode(self._channel.recv(READ_BYTES))
        return text


def without_echo(text: str, command: str) -> str:
    """The text without its first line, if that is the echo of the command."""
    first, newline, rest = text.partition("\n")
    if newline and _CONTROL.sub("", first).strip().endswith(command.strip()):
        return rest
    return text


def at_the_end(end: re.Pattern[str], text: str, *, cut: bool = False) -> re.Match[str] | None:
    """Where a text has this end. Only its last whole lines are looked at: a device chooses the text
    and its prompt, and a whole text takes time that grows with the square of its length. Of a text
    that was `cut` before, the first line is none."""
    start = max(len(text) - _TAIL, 0)
    if start or cut:
        start = text.find("\n", start)
    return end.search(text, start) if start >= 0 else None


def without_prompt(text: str, end: re.Pattern[str]) -> str:
    """The text without the prompt at its end; the line end before it stays."""
    match = at_the_end(end, text)
    if match is None:
        return text
    return text[: match.start()] + ("\n" if match[0].startswith("\n") else "")


def _can_be_a_prompt(line: str) -> bool:
    """Not a log line, either: behind a prompt those are skipped."""
    return (
        line.endswith(_PROMPT_ENDS)
        and len(line) <= _LONGEST_PROMPT
        and not re.fullmatch(_LOGGED, line)
    )
