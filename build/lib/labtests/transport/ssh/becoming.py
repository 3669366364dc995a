"""Why `sudo -n` did not run a command, by its own words, and what to do about it.

The words are those of sudo 1.8 to 1.9 and of sudo-rs in English; in another language, or in words
not known here, sudo's refusal is only seen while the session is opened (`unknown`).
"""

import re
from dataclasses import dataclass

from labtests.core.errors import CommandRejected, DeviceError, ToolMissing
from labtests.core.output import last_line, lines_said
from labtests.transport.commands import SUDO
from labtests.transport.protocol import Reply

OR_ROOT = "or log in as root and drop `become` from the testbed file"

_RULE = (
    "let this user run everything as root without a password: a line `USER ALL=(ALL) NOPASSWD: "
    "ALL` in sudoers (`visudo -f /etc/sudoers.d/labtests`); a rule for some programs is not "
    f"enough, since labtests runs `sh` and `timeout`; {OR_ROOT}"
)
_OF_SINGLE = (
    "the rules of docs/security.md (`Rights on a host`) in sudoers let this user run this program "
    f"so; or `become: true` and a rule for everything, {OR_ROOT}"
)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A line that sudo (or the shell instead of it) prints, and the remedy."""

    says: re.Pattern[str]
    remedy: str


def _says(words: str, remedy: str) -> _Refusal:
    return _Refusal(re.compile(words, re.IGNORECASE), remedy)


_REFUSALS = (
    _says(
        r"^sudo(?:-rs)?: .*\btty\b",
        "this host's sudoers has `requiretty`: say there `Defaults:USER !requiretty` for this "
        f"user; {OR_ROOT}",
    ),
    _says(
        r"^sudo(?:-rs)?: (?:.*(?:account validation failure|password expired|account is locked)"
        r"|(?>.*?account ).*expired)",
        "this user's account or password has expired on the host: look at `chage -l USER`, and "
        f"set it right with `chage -E -1 -M -1 USER`; {OR_ROOT}",
    ),
    _says(
        r"^sudo(?:-rs)?: .*(?:no new privileges|effective uid is not 0|setuid bit)",
        "sudo cannot become root there: is it in a container with no-new-privileges, or on a "
        f"file system mounted nosuid? Change that, {OR_ROOT}",
    ),
    _says(
        r"^sudo(?:-rs)?: .*(?:no valid sudoers sources|unable to initialize policy plugin"
        r"|invalid configuration|/sudoers\S{0,255} is (?:world writable|owned by|mode ))",
        f"sudo cannot use its own sudoers file: `visudo -c` as root says why; {OR_ROOT}",
    ),
    _says(
        r"^sudo(?:-rs)?: '?(?:sh|timeout)'?: command not found",
        "sudo does not find the programs that labtests needs: `secure_path` in this host's sudoers "
        f"must have /usr/bin and /bin, where sh and timeout (coreutils) are; {OR_ROOT}",
    ),
    _says(
        r"^timeout: failed to run command (?=\S*sh)\S+: Permission denied"
        r"|^sh: .*exec: timeout: Permission denied",
        "what sudo runs may run nothing itself: this host's sudoers has `noexec`; say there "
        f"`Defaults:USER !noexec` for this user; {OR_ROOT}",
    ),
    _says(
        r"^sudo(?:-rs)?: .*(?:password|terminal|interactive|not allowed|may not|sudoers|I'm afraid)"
        r"|not in the sudoers file|^Sorry, user .*(?:is not allowed to|may not) "
        r"|is not allowed to run sudo on",
        _RULE,
    ),
)
_NO_SUDO_AT_ALL = re.compile(
    r"(?:^|: )sudo: (?:command )?not found$|(?:command not found|unknown command): sudo$",
    re.IGNORECASE,
)


def refusal(reply: Reply, *, single: bool = False) -> DeviceError | None:
    """The error for an answer that is sudo's own refusal; None when it is not known as one.
    `single`: this login runs single programs as root, and not everything."""
    lines = lines_said(reply.errors)
    command = reply.command if single else f"{SUDO}{reply.command}"
    for line in lines:
        if _NO_SUDO_AT_ALL.search(line):
            remedy = f"install sudo on the host, {OR_ROOT}"
            return ToolMissing(reply.device, command, line, remedy)
    for known in _REFUSALS:
        for line in lines:
            if known.says.search(line):
                remedy = _OF_SINGLE if single and known.remedy is _RULE else known.remedy
                return CommandRejected(reply.device, command, line, remedy)
    return None


def unknown(reply: Reply) -> CommandRejected | None:
    """The error for a failed first command of which nothing was run: sudo's, in whatever words;
    None where nobody complained."""
    if not reply.errors.strip():
        return None
    remedy = (
        "try the same command by hand as this user: if it is sudo that refuses, let this user run "
        f"everything as root without a password (NOPASSWD: ALL in sudoers), {OR_ROOT}"
    )
    problem = last_line(reply.errors, "")
    return CommandRejected(reply.device, f"{SUDO}{reply.command}", problem, remedy)
