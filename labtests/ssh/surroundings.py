"""What a login on a host brings along, found out once: words of its shell, a PATH, a locale.

Most hosts are as their tools need them and get every command as it is. Where a login is different,
a few words go before the command inside its `sh -c`:

- A ~/.bashrc that prints would be part of every output. A mark is printed on both streams before
  the command says anything, and what comes before it is dropped.
- A user's PATH often has no /usr/sbin, where ip, tc, ethtool and rdma are.
- In another locale than C, tools print other words, other decimal points and other orders.
"""

import re
import secrets
from dataclasses import dataclass
from shlex import quote

SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
PLAIN_LOCALES = frozenset({"", "C", "POSIX", "C.UTF-8", "C.utf8"})
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


def new_mark() -> str:
    """A word that nobody else prints."""
    return f"labtests-{secrets.token_hex(8)}"


def question(mark: str) -> str:
    """The command whose answer `surroundings_of` reads. It changes nothing."""
    names = " ".join(f'"${name}"' for name in ("PATH", *_LOCALES))
    script = rf'echo {mark}; echo {mark} >&2; printf "%s\n" {names}'
    return f"sh -c {quote(script)}"


def surroundings_of(text: str, errors: str, mark: str) -> Surroundings | None:
    """What has to be said before each command on this host; None when the answer makes no sense."""
    noise, found, answer = text.partition(f"{mark}\n")
    complaints, there, _ = errors.partition(f"{mark}\n")
    lines = answer.split("\n")
    if not (found and there) or len(lines) != len(_LOCALES) + 2 or lines[-1]:
        return None
    path, *locales = lines[:-1]
    preface = _locale(locales) + _path(path)
    if noise or complaints:
        return Surroundings(preface=f"echo {mark}; echo {mark} >&2; {preface}", mark=mark)
    return Surroundings(preface=preface)


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
