"""Recorded refusals of sudo, and what each has to be told."""

import re
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parents[1] / "transcripts" / "sudo" / "refusals.txt"
_RULE = "NOPASSWD: ALL"
REMEDIES = {
    "no NOPASSWD": _RULE,
    "no NOPASSWD, with a lecture": _RULE,
    "not in sudoers, asked for a password first": _RULE,
    "not in sudoers": _RULE,
    "a rule for one program": _RULE,
    "a rule for one program, nobody is asked for a password": _RULE,
    "all but one program": _RULE,
    "a rule for another host": _RULE,
    "not as root": _RULE,
    "requiretty": "!requiretty",
    "secure_path without programs": "secure_path",
    "sudoers that anybody may write": "visudo -c",
    "the account's last day is over": "chage -l",
    "noexec, a command": "!noexec",
    "no new privileges": "no-new-privileges",
    "no sudo, bash": "install sudo",
    "no sudo, dash": "install sudo",
}


@dataclass(frozen=True)
class Refused:
    """A case: its sudoers file, what sudo said on stderr, and a word of the remedy."""

    name: str
    sudoers: tuple[str, ...]
    said: str
    remedy: str

    def __str__(self) -> str:
        return self.name


def _cases() -> list[Refused]:
    _, *blocks = re.split(r"(?m)^== ", _FILE.read_text())
    found = []
    for block in blocks:
        name, *lines = block.rstrip("\n").split("\n")
        rules = [line.removeprefix("sudoers: ") for line in lines if line.startswith("sudoers: ")]
        said = "\n".join(lines[len(rules) :]) + "\n"
        found.append(Refused(name, tuple(rules), said, REMEDIES[name]))
    return found


REFUSALS = _cases()
