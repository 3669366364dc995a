"""What a login on a host brings along, found out once: words of its shell, a PATH, a locale.

The first command on a host has the question around it, in the same exchange, and words before it
that do for every login. Most hosts are as their tools need them and get every command after that as
it is. Where a login is different, a few words go before the command inside its `sh -c`:

- A ~/.bashrc that prints would be part of every output. A mark is printed on both streams before
  the command says anything, and what comes before it is dropped.
- A user's PATH often has no /usr/sbin, where ip, tc, ethtool and rdma are.
- In another locale than C, tools print other words, other decimal points and other orders.
"""

import re
import secrets
from dataclasses import dataclass, field

SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
PLAIN_LOCALES = frozenset({"", "C", "POSIX", "C.UTF-8", "C.utf8"})
_EVERYWHERE = f"LC_ALL=C; export LC_ALL; PATH=$PATH:{':'.join(SBIN)}; export PATH"
_LOCALES = ("LC_ALL", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "LC_COLLATE", "LANG")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`preface` goes before every command; `mark` is the line after which its output begins, ""
    where the login shell is silent."""

    preface: str = ""
    mark: str = ""

    def around(self, command: str) -> str:
        """The command with its preface, for `sh -c`."""
        return self.preface + command


@dataclass(frozen=True, slots=True)
class Opening:
    """The question around the first command. `mark` is a word that nobody else prints:

    NOISE  MARK  PATH and locales  MARK  what the command prints  MARK  (on stderr: NOISE MARK)
    """

    mark: str = field(default_factory=lambda: f"labtests-{secrets.token_hex(8)}")

    def around(self, command: str) -> str:
        """The command and the question, for `sh -c`. The question changes nothing. A command that
        leaves the shell leaves before the last mark, and all is well, too."""
        names = " ".join(f'"${name}"' for name in ("PATH", *_LOCALES))
        return (
            f'echo {self.mark} >&2; printf "%s\\n" {self.mark} {names} {self.mark}\n'
            f"{_EVERYWHERE}\n{{ {command}\n}}\ns=$?; echo {self.mark}; exit $s"
        )

    def asked_in(self, text: str) -> bool:
        """Whether the login shell is through, and the command's turn has come."""
        return f"{self.mark}\n" in text

    def answered(self, text: str, errors: str) -> "Opened | None":
        """What was learned of the login, and what the command printed itself; None when the answer
        makes no sense: then the login shell does not run commands as they are."""
        end = f"{self.mark}\n"
        noise, found, rest = text.partition(end)
        complaints, there, own_errors = errors.partition(end)
        answer, complete, own = rest.partition(end)
        lines = answer.split("\n")
        own, after = own.rpartition(end)[::2] if end in own else (own, "")
        if not (found and there and complete) or len(lines) != len(_LOCALES) + 2 or after:
            return None
        path, *locales = lines[:-1]
        preface, mark = _locale(locales) + _path(path), ""
        if noise or complaints:
            preface, mark = f"echo {self.mark}; echo {self.mark} >&2; {preface}", self.mark
        return Opened(Surroundings(preface=preface, mark=mark), own, own_errors)


@dataclass(frozen=True, slots=True)
class Opened:
    """What the answer to an opening says."""

    surroundings: Surroundings
    text: str
    errors: str


def own_output(text: str, mark: str, *, ended: bool) -> str:
    """The part of a stream that the command itself has printed. A stream that ended without its
    mark is given whole: the command was not run, and what was said instead must not look like an
    empty answer."""
    _, found, own = text.partition(f"{mark}\n")
    if not mark or (ended and not found):
        return text
    return own


def _locale(values: list[str]) -> str:
    return "" if set(values) <= PLAIN_LOCALES else "LC_ALL=C; export LC_ALL; "


def _path(path: str) -> str:
    """Where a PATH is not told, or nothing is missing, it stays as it is."""
    folders = path.split(":")
    missing = [folder for folder in SBIN[1:] if folder not in folders]
    if not path or not missing or re.search(r"[^\x20-\x7e]", path):
        return ""
    return f"PATH=$PATH:{':'.join(SBIN)}; export PATH; "
