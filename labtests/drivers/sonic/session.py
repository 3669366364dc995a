"""What a SONiC box is asked and told, and how it says no.

Configuration is read table by table as JSON (`sonic-cfggen`). It is written by `sonic-db-cli`: for
most of it there is no command of `config`, which writes the same fields. A table is added empty to
what is in the database, so that one which is not there is `{}`, and not an empty answer.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from labtests.core.output import excerpt
from labtests.drivers.answers import Complaint, Tool, expect_success
from labtests.drivers.displays import Notation, Table, Unfit, ValueKind, read_variant, variants
from labtests.drivers.parsing import kept, refuse
from labtests.drivers.readings import Counted
from labtests.transport.asking import Asking, ask_each
from labtests.transport.commands import Shell, Word, program, root
from labtests.transport.protocol import Reply

T = TypeVar("T")
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
    told = (found[1] or found[2]).strip() if found else ""
    return f", since {kept(reply, told, 'that time')}" if found else ""


def asked(*questions: Shell) -> Asking[tuple[Reply, ...]]:
    """Their answers. Raises CommandRejected, ToolMissing."""
    replies = yield from ask_each(*questions)
    for reply in replies:
        expect_success(reply, SONIC)
    return replies


def show(*named: Word) -> Asking[Reply]:
    """The answer to a `show`. Raises CommandRejected, ToolMissing."""
    (reply,) = yield from asked(program("show", *named))
    return reply


def database(verb: str, table: str, key: str, *words: Word) -> Shell:
    """One change of an entry: HSET and HDEL of fields, DEL."""
    return root("sonic-db-cli", "CONFIG_DB", verb, f"{table}|{key}", *words)


def set_fields(table: str, key: str, fields: Mapping[str, str]) -> Shell:
    """Of one entry, all at once."""
    return database("HSET", table, key, *(word for pair in fields.items() for word in pair))


# -- displays of ports -----------------------------------------------------------------------------

Numbers = dict[str, int | None]
"""By the switch's own word; None for N/A."""
Counts = dict[str, Numbers]
"""By queue, group or priority."""
Parser = Callable[[Reply], dict[str, T]]


def by_port(*tables: Table[tuple[str, T]]) -> Parser[T]:
    """Reads a display that is one of these tables, whose records are of ports."""
    return lambda reply: dict(read_variant(reply, tables))


def releases(heads: Mapping[str, str], make: Callable[..., tuple[str, T]]) -> Parser[T]:
    """Reads a display that has some columns in some releases only (tables.variants)."""
    return by_port(*variants(NOTATION, heads, make=make, passed=PASSED))


def of_numbers(
    head: str, names: Iterable[str], word: str = "", beside: re.Pattern[str] = PASSED
) -> Table[tuple[str, Any]]:
    """A table of numbers, a row for each port. `word`: by which one each is kept, if by any."""

    def row(port: str, **found: int | None) -> tuple[str, Any]:
        return port, {name: {word: n} for name, n in found.items()} if word else found

    columns = {head: "port:port"} | {name: f"{name}:count" for name in names}
    return Table(about=NOTATION.columns(columns), make=row, passed=beside)


def of_port(reply: Reply, port: str, parse: Parser[T]) -> T:
    """What is shown of this port."""
    found = parse(reply)
    if port not in found:
        refuse(reply, f"{port} is not shown", PORTS_REMEDY)
    return found[port]


def counted(port: str, parse: Parser[Counts], *words: Word) -> Asking[Counted]:
    """What a `show` counts at a port."""
    return counted_by((yield from show(*words)), port, parse)


def counted_by(reply: Reply, port: str, parse: Parser[Counts]) -> Counted:
    """The same, of an answer."""
    counts: Counts = of_port(reply, port, parse)
    return Counted(
        reply=reply,
        port=port,
        counts=counts,
        source=f"{reply.command}{since(reply)}",
        missing="the switch says N/A: it is not polled (`counterpoll show`), or not supported",
    )
