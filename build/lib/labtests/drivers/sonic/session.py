"""What a SONiC box is asked and told, and how it says no.

Configuration is read table by table as JSON (`sonic-cfggen`). It is written by `sonic-db-cli`: for
most of it there is no command of `config`, which writes the same fields. A table is added empty to
what is in the database, so that one which is not there is `{}`, and not an empty answer.
"""

import re
from collections.abc import Callable, Mapping

from labtests.core.output import excerpt
from labtests.drivers import displays
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.displays import Notation, Unfit, ValueKind
from labtests.drivers.parsing import kept, refuse
from labtests.drivers.readings import Counted
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, Word, program, root
from labtests.transport.protocol import Reply

PORTS_REMEDY = "check the interface name in the testbed file against `show interfaces status`"
_COMPLAINTS = {
    r"Root privileges are required": "log in as root, or set `become: true` for this device",
    r"No such command|No such option|Got unexpected extra argument": "this release of SONiC has no "
    "such command; try it by hand with --help",
    r"^Error: |^Usage: |Cannot find interface|Port (doesn't|does not) exist": PORTS_REMEDY,
    r"connect to redis|connection refused|^\(error\)|^ERR |WRONGTYPE": "look at `docker ps`: the "
    "container `database` has to run",
}
SONIC = Tool(
    name="sonic",
    install="not a SONiC switch, or no sonic-utilities: check `platform` in the testbed file",
    complaints=tuple(Complaint(says=says, remedy=do) for says, do in _COMPLAINTS.items()),
)


def count(text: str) -> int | None:
    """`1,234`; None for N/A."""
    if text == "N/A":
        return None
    if re.fullmatch(r"(?=.{1,40}\Z)([0-9]{1,3}(,[0-9]{3})*|[0-9]+)", text) is None:
        raise Unfit(f"{excerpt(text, 80)!r} is not a whole number")
    return int(text.replace(",", ""))


NOTATION = Notation().also(
    count=ValueKind(r"[0-9,]{1,40}|N/A", count),
    port=ValueKind(r"[A-Za-z][A-Za-z0-9_./|-]*"),
    rest=ValueKind(r"\S+(?: \S+)*"),
)
"""How the displays of this switch are declared."""
PASSED = re.compile(
    r"(?:\S+ )?Last cached time.* was .*|The rates are calculated within .*"
    r"|Reminder: Please execute .*|For namespace *:"
)
"""Lines beside a table, which change nothing but what its numbers are counted from."""
_CACHED = re.compile(r'Last cached time was (.+)|"cached_time": "([^"]+)"')


def since(reply: Reply) -> str:
    """Since when an answer counts, where somebody has given `sonic-clear`."""
    found = _CACHED.search(reply.text)
    if found is None:
        return ""
    return f", since {kept(reply, (found[1] or found[2]).strip(), 'that time')}"


def show(*named: Word) -> Asking[Reply]:
    """The answer to a `show`. Raises CommandRejected, ToolMissing."""
    reply = yield from ask(program("show", *named))
    expect_success(reply, SONIC)
    return reply


def database(verb: str, table: str, key: str, *words: Word) -> Shell:
    """One change of an entry: HSET and HDEL of fields, DEL."""
    return root("sonic-db-cli", "CONFIG_DB", verb, f"{table}|{key}", *words)


def set_fields(table: str, key: str, fields: Mapping[str, str]) -> Shell:
    """Of one entry, all at once."""
    return database("HSET", table, key, *(word for pair in fields.items() for word in pair))


Counts = dict[str, dict[str, int | None]]
"""By queue, group or priority, and the switch's own word; None for N/A."""
Parser = Callable[[Reply], dict[str, Counts]]


def counted(port: str, parse: Parser, *words: Word) -> Asking[Counted]:
    """What a `show` counts at a port."""
    reply = yield from show(*words)
    return counted_by(reply, port, parse)


def counted_by(reply: Reply, port: str, parse: Parser) -> Counted:
    """The same, of an answer."""
    return Counted(
        reply=reply,
        port=port,
        counts=of_port(reply, port, parse(reply)),
        source=f"{reply.command}{since(reply)}",
        missing="the switch says N/A: it is not polled (`counterpoll show`), or not supported",
    )


def of_port(reply: Reply, port: str, found: Mapping[str, displays.lines.T]) -> displays.lines.T:
    """What is shown of this port."""
    if port not in found:
        refuse(reply, f"{port} is not shown", PORTS_REMEDY)
    return found[port]
