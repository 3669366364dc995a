"""What a Cumulus switch is asked and told, and how it says no.

A change is one revision: all its lines and `nv config apply -y` are one command, so that what was
refused on the way leaves nothing pending behind.
"""

import re
from collections.abc import Sequence

from labtests.drivers.answers import Complaint, Tool, expect_success, reject
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, Word, if_done, program, script
from labtests.transport.protocol import Reply

PORTS_REMEDY = "check the interface name in the testbed file against `nv show interface`"
_COMPLAINTS = {
    r"^Error: .*(does not exist|is not a 'interface-name')": PORTS_REMEDY,
    r"^Error: (Ambiguous|Invalid) Command": "this release of Cumulus Linux has no such command; "
    "try it by hand with --help",
    r"^Invalid config": "what the switch would not apply is given up; look at the same line by "
    "hand, by `nv config diff`",
    r"permission|not allowed|not authori[sz]ed": "log in as a user of the groups nvset and "
    "nvapply, such as `cumulus`",
    r"^Error: |^Usage: ": "try it by hand; `nv list-commands` has what this release knows",
}
NVUE = Tool(
    install="this is not Cumulus Linux 5 with NVUE: check `platform` in the testbed file",
    complaints=tuple(
        Complaint(says=says, remedy=do, only_failed=not says.startswith("^"))
        for says, do in _COMPLAINTS.items()
    ),
)
_APPLIED = re.compile(r"^applied(?:_and_saved)? \[rev_id: [^\]\n]{1,64}\]", re.MULTILINE)


def show(*named: Word) -> Asking[Reply]:
    """The answer to a `nv show`, in JSON. Raises CommandRejected, ToolMissing."""
    return expected((yield from ask(shown(*named))))


def expected(reply: Reply) -> Reply:
    """The same. Raises CommandRejected, ToolMissing."""
    expect_success(reply, NVUE)
    return reply


def shown(*named: Word) -> Shell:
    """The question."""
    return program("nv", "show", *named, "-o", "json")


PENDING = program("nv", "config", "diff", "-o", "commands")
"""What this account has set and not applied, as the lines that would set it."""
# of all accounts; that each has a `state`, and `pending` and `confirm` are some: programs read it
REVISIONS = program("nv", "config", "revision", "-o", "json")


def revision(lines: Sequence[Shell], *, afresh: bool) -> tuple[Shell, ...]:
    """One revision of these lines, if there are any. `afresh`: without what is pending."""
    if not lines:
        return ()
    begin = (program("nv", "config", "detach"),) if afresh else ()
    change = if_done(*begin, *lines, program("nv", "config", "apply", "-y"))
    return (script("CHANGE || { nv config detach; false; }", CHANGE=change),)


def expect_applied(replies: Sequence[Reply]) -> None:
    """Raises CommandRejected, ToolMissing."""
    for reply in replies:
        expect_success(reply, NVUE)
        if not _APPLIED.search(reply.text):
            reject(reply, "it does not say `applied`", "look at `nv config revision`")


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
"""Of a profile. No document says what one may have; all that are shown are such."""
