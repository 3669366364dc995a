"""Priority groups (PG) of a port and their buffer profiles, as far as PFC needs them.

A profile with `xoff` has headroom. `pg_lossless_<speed>_<cable>_profile`, made by buffermgrd, and
`NULL`, of the dynamic buffer model, are a port's default. How much headroom there is, is the box's
own: buffermgrd writes BUFFER_PG anew whenever `pfc_enable` changes, so labtests does not set it.
"""

from collections.abc import Iterator
from itertools import groupby

from labtests.drivers.sonic.database import Db, numbered
from labtests.drivers.sonic.session import database, set_fields
from labtests.transport.commands import Shell

_DEFAULTS = ("pg_lossless_", "NULL")
Groups = frozenset[int]


def _runs(port: str, groups: Groups) -> tuple[str, ...]:
    """`Ethernet0|3-4`, `Ethernet0|6`: as buffermgrd names its entries."""
    grouped = groupby(enumerate(sorted(groups)), key=lambda each: each[1] - each[0])
    runs = [[number for _, number in run] for _, run in grouped]
    return tuple(
        f"{port}|{run[0]}-{run[-1]}" if len(run) > 1 else f"{port}|{run[0]}" for run in runs
    )


def _entries(db: Db, port: str, *, default: bool) -> dict[str, Groups]:
    """Those of a port that have its default profile, or another one with headroom."""
    found = {}
    for key, groups in db.keys("BUFFER_PG", port):
        name = db.entry("BUFFER_PG", key).get("profile", "")
        name = name.removeprefix("[BUFFER_PROFILE|").removesuffix("]")
        usual = name.startswith(_DEFAULTS)
        if usual == default and (usual or "xoff" in db.entry("BUFFER_PROFILE", name)):
            found[key] = groups
    return found


def laid_out(db: Db, port: str, lossless: Groups) -> Db:
    """The default profile is that of exactly these groups, one entry for each run of them, as
    buffermgrd writes it; groups with another one keep it. Without a default nothing is written."""
    defaults = _entries(db, port, default=True)
    if not defaults:
        return db
    others = _entries(db, port, default=False).values()
    wanted, entry = _runs(port, lossless.difference(*others)), db.entry("BUFFER_PG", min(defaults))
    return db.having("BUFFER_PG", {**dict.fromkeys(defaults), **dict.fromkeys(wanted, entry)})


def repaired(before: Db, after: Db, port: str, earlier: Groups, wanted: Groups) -> Iterator[Shell]:
    """Lines that take away what buffermgrd makes of these groups and the tables do not say; and
    then tell again what was below that, and below what the tables have lost. What it makes for a
    port that has none stays."""
    entries, defaults = after.tables["BUFFER_PG"].keys(), _entries(after, port, default=True)
    made = {*_runs(port, earlier), *_runs(port, wanted)}
    stale = made - entries - (set() if defaults else set(_runs(port, wanted)))
    for key in sorted(stale - before.tables["BUFFER_PG"].keys()):
        yield database("DEL", "BUFFER_PG", key)
    gone = stale | (before.tables["BUFFER_PG"].keys() - entries)
    lost = {group for _, groups in numbered(gone, port) for group in groups}
    for key, groups in after.keys("BUFFER_PG", port):
        if groups & lost or (key in made and key not in defaults):
            yield set_fields("BUFFER_PG", key, dict(after.entry("BUFFER_PG", key)))
