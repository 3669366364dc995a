"""A device that places its password across the character at which labtests cuts its words: half a
secret is no longer known as one, so a text is cleaned before it is cut."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from _pytest._io.saferepr import saferepr
from parsed import CODE, trees

from labtests.core import output
from labtests.core.errors import LabError
from labtests.core.output import clean, excerpt, last_line
from labtests.drivers.linux_switch.qdiscs import parse_qdiscs
from labtests.drivers.parsing import whole_number
from labtests.lease.record import SHOWN_AT_MOST, shown
from labtests.transport.protocol import Reply
from labtests.transport.ssh.terminal import Asked, NoPrompt, Prompt, Terminal

SECRET = "Hunter2-Geheim"
OWN = (
    "simlab",
    "network",
    "study",
    "topology",
)  # emulated, or computed here: no device speaks there


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_used", {SECRET})


def said(text: str) -> Reply:
    return Reply(device="A", command="show", text=text, time_s=0)


CUT: dict[str, Callable[[str], object]] = {
    "qdiscs": lambda text: parse_qdiscs(said(text)),
    "number": lambda text: whole_number(said(""), text, "a counter"),
}


@pytest.mark.parametrize("where", CUT)
@pytest.mark.parametrize("before", range(66, 81))
def test_an_error_has_no_part_of_a_secret(where: str, before: int) -> None:
    with pytest.raises(LabError) as raised:
        CUT[where]("x" * before + SECRET + " and more")
    assert "xHunte" not in clean(str(raised.value))


@pytest.mark.parametrize("before", range(SHOWN_AT_MOST - 14, SHOWN_AT_MOST + 1))
def test_what_a_record_says_has_no_part_of_one(before: int) -> None:
    assert "Hunte" not in clean(shown("x" * before + SECRET))


@pytest.mark.parametrize(
    "between", ["\x1b[31m", "\x9b31m", "\x1b]0;title\x07", "\x1b\x07[31m", "\x1b[31\x18"]
)
def test_what_a_record_says_is_cleaned_before_it_is_made_printable(between: str) -> None:
    assert shown(f"by Hunter{between}2-Geheim.") == "by ***."


def test_the_last_characters_have_no_end_of_one() -> None:
    assert excerpt(SECRET + "z" * 67, 80, last=True) == "***" + "z" * 67
    assert excerpt("ab", 1, last=True) == "b"


def test_a_text_that_is_too_long_to_look_at_is_not_shown() -> None:
    assert excerpt(SECRET * 100_000, 80) == "1400000 characters"


@pytest.mark.parametrize("before", range(104, 124))
def test_what_pytest_cuts_out_of_a_local_leaves_no_part_of_a_secret(before: int) -> None:
    local = saferepr("x" * before + SECRET + "z" * 300)
    assert "xHunter" not in clean(local)
    last = saferepr("x" * 300 + SECRET + "z" * before)
    assert "-Geheimz" not in clean(last)


class Device:
    """The other end of a session that prints this, and no more."""

    closed = eof_received = False

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *news: str) -> None:
        self._news = list(news)
        self.terminal = Terminal(self, self)  # type: ignore[arg-type]
        monkeypatch.setattr(self.terminal, "_take", self._take)
        monkeypatch.setattr(self.terminal, "_late_news", str)

    def set_event(self, bell: object) -> None:
        pass

    @property
    def in_buffer(self) -> "Device":
        return self

    def sendall(self, data: bytes) -> None:
        pass

    def _take(self) -> str:
        return self._news.pop(0) if self._news else ""


TAIL = 2000  # characters of an output in which a prompt or a question is looked for


@pytest.mark.parametrize("behind", range(TAIL - len(SECRET), TAIL + 1))
def test_a_login_without_a_prompt_tells_no_part_of_one(
    monkeypatch: pytest.MonkeyPatch, behind: int
) -> None:
    shows = "y" * 3000 + SECRET + "z" * behind
    for news in (["", shows], ["", "H3C", "", shows[: -behind - 3], "", shows[-behind - 3 :]]):
        with pytest.raises(NoPrompt) as raised:
            Device(monkeypatch, *news).terminal.settle(timeout_s=0.1)
        assert shows in raised.value.text
        assert last_line(raised.value.text, "").strip("yz") == ""


@pytest.mark.parametrize("behind", range(TAIL - len(SECRET) - 16, TAIL + 1, 3))
def test_a_question_tells_no_part_of_one(monkeypatch: pytest.MonkeyPatch, behind: int) -> None:
    shows = "y" * 3000 + SECRET + "z" * behind + " Continue? [Y/N]:"
    device = Device(monkeypatch, "", shows, "\n<H3C>").terminal
    with pytest.raises(Asked) as raised:
        device.ask("reboot", Prompt("<H3C>").here, timeout_s=1.0)
    assert raised.value.text == shows
    assert last_line(shows, "").strip("yz") == " Continue? [Y/N]:"


def test_what_is_said_after_a_no_is_not_cut_either(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "Long-Password-" * 8
    shows = secret * 20
    device = Device(monkeypatch, "", "Continue? [Y/N]:", shows).terminal
    with pytest.raises(NoPrompt) as raised:
        device.ask("reboot", Prompt("<H3C>").here, timeout_s=0.1)
    assert raised.value.text == shows


def cuts(tree: ast.AST) -> Iterator[int]:
    """Lines on which a text may be cut before it is hidden: `text[:80]`, `text[-TAIL:]`, and a line
    of several, `text.splitlines()[-1]`; or `f"{text:.80}"`."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper)) if any(
                map(_is_many, (lower, upper))
            ):
                yield node.lineno
            case ast.Subscript(
                value=ast.Call(func=ast.Attribute(attr="splitlines")), slice=ast.Slice() | _
            ):
                yield node.lineno
            case ast.FormattedValue(
                format_spec=ast.JoinedStr(values=[ast.Constant(value=str(width))])
            ) if re.fullmatch(r".*\.\d{2,}s?", width):
                yield node.lineno
            case ast.BoolOp(values=[ast.Call(func=ast.Attribute(attr="splitlines")), *_]):
                yield node.lineno


def _is_many(bound: ast.expr | None) -> bool:
    """A number of characters rather than of things: 20 or more, or one that has a name."""
    for part in ast.walk(bound) if bound else ():
        match part:
            case ast.Constant(value=int(most)) if most >= 20:
                return True
            case ast.Name(id=name) if name.strip("_").isupper() or name == "most":
                return True
    return False


OTHERWISE = {  # what is cut there is no device's text, or was hidden before
    "cli/new.py": 1,  # the first line of a mistake in what labtests has written
    "cli/runs.py": 1,  # a list of lines, of a journal that has no secret
    "core/output.py": 4,  # the door
    "drivers/nxos/box.py": 1,  # a list of lines
    "faults/matrix.py": 1,  # of run.json, which has no secret
    "faults/running.py": 3,  # the same; a list of suites
    "experiment/streaming.py": 1,  # a list of ports
    "history/background.py": 1,  # a list of runs
    "history/command.py": 1,  # a list of lines
    "history/reds.py": 1,  # a list of lines
    "history/site.py": 6,  # of run.json; lists of runs; a hash
    "history/store.py": 3,  # a database's own words, which the door cleans; lists of numbers
    "inventory/mistakes.py": 1,  # a list of words
    "lease/record.py": 2,  # the user's own words; behind an excerpt
    "night/command.py": 1,  # the first line of what there is of a history
    "night/telling.py": 1,  # a list of lines
    "pytest_plugin/outcomes.py": 3,  # docstrings; the testbed file's own words
    "recovery/snapshot/command.py": 1,  # a value, each line of which is shown
    "report/answer.py": 1,  # a list of suites
    "report/details.py": 1,  # of a journal, which has no secret
    "report/earlier.py": 1,  # a list of folders
    "report/marks.py": 1,  # a list of facts
    "report/picture.py": 1,  # a list of senders
    "report/sealing.py": 1,  # a page
    "report/suites.py": 2,  # of run.json; the id of a case
    "report/text.py": 4,  # of run.json, which has no secret
    "streams/gnmi.py": 2,  # lists of elements of a path
    "transport/batching.py": 1,  # a hash
    "transport/chronicle.py": 1,  # bytes of a journal, all of which come
    "transport/ssh/terminal.py": 2,  # where a prompt is looked for; what is told is whole
    "verdicts/classes.py": 1,  # a list of sentences
    "verdicts/soak.py": 1,  # a list of parts of a load
}


def test_no_text_is_cut_outside_of_the_door() -> None:
    source = "a[:80]; f'{b[-80:]}'; c[:3]; d[-_TAIL:]; e.splitlines()[-1]; f.splitlines() or ['x']"
    assert list(cuts(ast.parse(source + "; f'{g!r:.80}'"))) == [1] * 6
    found = Counter(
        str(file.relative_to(CODE))
        for file, tree in trees().items()
        if file.relative_to(CODE).parts[0] not in OWN
        for _ in cuts(tree)
    )
    assert found == OTHERWISE
