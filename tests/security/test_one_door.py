"""What is printed or written goes through one door, which hides every password that was used."""

import ast
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from parsed import CODE, trees

from labtests.__main__ import main
from labtests.core import output
from labtests.core.output import clean
from labtests.core.printable import for_terminal
from labtests.core.private_files import write_private
from labtests.lease import command
from labtests.transport.protocol import Reply
from labtests.transport.ssh.passwords import password_named

SECRET = "Correct-Horse-7"
TESTBED = """
name: lab
devices:
  h: {platform: linux, management: {host: 192.0.2.66, user: root, password_env: LAB_PASSWORD}}
"""


class Echoing:
    """A host that says everybody's password whatever it is asked."""

    device = "h"

    def run(self, command: str, *, timeout_s: float = 0.0) -> Reply:
        said = f"{SECRET} {SECRET.upper()} {SECRET[:4]}\x00{SECRET[4:]}\n"
        facts = "me 0\ndrwxr-xr-x 1 0 0 4096 Jan 1 00:00 /\nnames\n"
        return Reply(device="h", command=command, text=facts, errors=said, status=11)

    def close(self) -> None:
        pass


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_PASSWORD", SECRET)
    assert password_named("LAB_PASSWORD") == SECRET


@pytest.mark.parametrize("words", [("who",), ("lock", "--why", "x"), ("unlock",)])
def test_a_password_that_a_host_echoes_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: None, words: tuple[str, ...]
) -> None:
    (tmp_path / "lab.yaml").write_text(TESTBED)
    monkeypatch.setattr(command, "connect", lambda *_, **__: Echoing())
    done = CliRunner().invoke(main, [words[0], str(tmp_path / "lab.yaml"), *words[1:]])
    assert "***" in done.output
    assert "horse" not in done.output.lower()


def test_a_password_is_in_no_file_that_is_written(tmp_path: Path, used: None) -> None:
    write_private(tmp_path / "snapshot.json", f'{{"unreadable": "% {SECRET.lower()}: no"}}')
    assert (tmp_path / "snapshot.json").read_text() == '{"unreadable": "% ***: no"}'


def test_a_file_that_is_written_commands_no_terminal(tmp_path: Path) -> None:
    """`cat` of a table of counters, say; also nothing that UTF-8 cannot write stops it."""
    write_private(tmp_path / "counters.csv", "a,\x1b]0;owned\x07\x9b31m\ud800\u202eb\n")
    assert (tmp_path / "counters.csv").read_text() == "a,␛]0;owned␇�31m��b\n"


def test_what_was_not_used_as_a_password_goes_out_as_it_is() -> None:
    assert clean("nothing of that kind \x00") == "nothing of that kind \x00"


@pytest.mark.parametrize(("secret", "said"), [("a***b", "aa***bb"), ("abcd***", "ababcd***cd***")])
def test_what_is_left_around_a_password_does_not_spell_it(
    monkeypatch: pytest.MonkeyPatch, secret: str, said: str
) -> None:
    monkeypatch.setattr(output, "_used", {secret})
    assert secret not in clean(said)


PRINTING = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
ITS_OWN = {"output.py"}  # and the emulated lab, which has no password of anybody


def test_nothing_is_printed_beside_the_door() -> None:
    beside = [
        f"{file.relative_to(CODE)}:{node.lineno}"
        for file, tree in trees().items()
        if file.name not in ITS_OWN and "simlab" not in file.parts
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTING
    ]
    assert beside == []


def test_what_goes_out_can_stand_in_xml() -> None:
    """junit.xml: one such character of a device, and nobody can read the file."""
    every = "".join(map(chr, range(0x10000)))
    text = for_terminal(every).translate({ord(c): None for c in "<&"})
    ElementTree.fromstring(f"<a>{text}</a>")


@pytest.mark.parametrize("between", ["\ufff9", "\ufffe", "\uffff"])
def test_no_character_that_is_none_hides_a_password(used: None, between: str) -> None:
    assert SECRET[5:] not in clean(f"{SECRET[:5]}{between}{SECRET[5:]}")
