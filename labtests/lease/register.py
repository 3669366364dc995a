"""The lease's place on a device: a register that only one of several writers can set next.

A folder with files `g.000000000001`, `g.000000000002`, ...: the generations. The one with the
highest number is what holds. Who wants to write reads generation n, writes its record to a file of
its own and gives that the second name n + 1 by link(2), which is atomic, and fails when the name is
taken: so of all who have read n exactly one writes n + 1, and a record is whole from its first
moment. A heartbeat, a takeover and a release are all such steps. Numbers are never used again, and
the highest file is never removed; so who read long ago, froze, and writes now is not heard: his
number is below the highest.

Time is the device's own: its uptime, which no clock setting moves, and its boot id. After a reboot
at least the new uptime has passed. A host without /proc/uptime counts by its date.
"""

import re
from dataclasses import dataclass
from shlex import quote

from labtests.errors import LeaseUnusable, LeaseUnwritable
from labtests.lease.record import TOKEN_DIGITS, Garbage, Holder, as_line, holder_of, shown
from labtests.transport import Reply, Transport

KEPT = 8  # generations: a reader that lists the folder meanwhile finds one of them
TRIES = 5
TIMEOUT_S = 20.0
_NAME = re.compile(r"g\.[0-9]{12}")
_CLOCK = re.compile(r"([0-9]{1,15}(?:\.[0-9]+)?) (?:[0-9.]+|(wall))")
_NONE = "none"

_STAMP = """{ cat /proc/uptime 2>/dev/null || echo "$(date +%s) wall"; } &&
{ cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo none; } &&
date -u +%Y-%m-%dT%H:%M:%SZ && echo end"""

_LOOK = """if [ -d FOLDER ]; then cd FOLDER && [ -r . ] || exit 11
elif [ -e FOLDER ]; then echo 'it is not a folder' >&2; exit 11; fi
last=
if [ -d FOLDER ]; then for f in g.*; do printf 'name %s\\n' "$f"; last=$f; done; fi
echo now
STAMP
if [ -n "$last" ] && [ -e "$last" ]; then echo found; cat "./$last" || echo gone; fi"""

_APPEND = """umask 0
[ -d FOLDER ] || mkdir FOLDER || [ -d FOLDER ] || exit 12
cd FOLDER || exit 12
BASE
{ printf '%s\\n' RECORD &&
STAMP
} > OWN || { rm -f OWN; exit 12; }
ln OWN NEXT
status=$?
[ -e OWN ] || status=gone
rm -f OWN OLD 2>/dev/null
SWEEP
for f in g.*; do printf 'name %s\\n' "$f"; done
if [ "$status" = 0 ]; then exit 0; fi
if [ "$status" = gone ] || [ -e NEXT ]; then exit 13; fi
exit 12"""
_OWN_NAME = "t." + "[0-9a-f]" * TOKEN_DIGITS
_SWEEP = (
    f"find . ! -name . -prune -type f -name '{_OWN_NAME}' -mtime +0 "
    "-exec rm -f '{}' + 2>/dev/null"
)
"""Files of writers that were killed before they could remove them, a day old or more (POSIX find).
A writer that slept so long finds its file gone, and has lost."""
_UNREADABLE, _UNWRITABLE, _LOST = 11, 12, 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment on the device's own clock."""

    clock_s: float
    wall: bool
    boot: str
    date: str

    def since(self, earlier: "Moment") -> float:
        """Seconds that have passed, at the least."""
        same_clock = (self.wall, self.boot) == (earlier.wall, earlier.boot)
        if same_clock and (self.wall or self.boot != _NONE or self.clock_s >= earlier.clock_s):
            return max(self.clock_s - earlier.clock_s, 0.0)
        return 0.0 if self.wall else self.clock_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the register held at a look. `age_s` is since its last heartbeat.

    `garbage` says why what is there is no record; then `holder` is None, as when nothing is there.
    """

    generation: int
    names: tuple[str, ...]
    now: Moment
    holder: Holder | None = None
    age_s: float = 0.0
    garbage: str = ""

    @property
    def left_s(self) -> float | None:
        """Seconds until it runs out; 0 or less when it has; None for ever."""
        after_s = None if self.holder is None else self.holder.expires_after_s
        return None if after_s is None else after_s - self.age_s


class Register:
    """See above. `place` is `device:folder`, for messages."""

    def __init__(self, transport: Transport, folder: str) -> None:
        self._transport, self._folder = transport, folder
        self.device = transport.device
        self.place = f"{transport.device}:{folder}"

    def look(self) -> Seen:
        """What holds now. Raises LeaseUnusable for a folder that cannot be read, or an answer that
        is none; DeviceError when the device does not answer."""
        for _ in range(TRIES):
            seen = self._looked()
            if seen.generation == 0 or seen.holder is not None or seen.garbage:
                return seen
        raise LeaseUnusable(
            self.device,
            f"look at {self._folder}",
            "the newest record vanished again and again while it was read",
            f"who else removes files from {self.place}? Run again",
        )

    def append(self, seen: Seen, holder: Holder) -> bool:
        """The record comes after what was seen; False when somebody else was quicker.

        Raises LeaseUnwritable when it cannot be written."""
        following = seen.generation + 1
        own = f"t.{holder.token}"
        old = [n for n in seen.names if not _NAME.fullmatch(n) or _number(n) <= following - KEPT]
        base = f"[ -e {_file(seen.generation)} ] || exit 13" if seen.generation else ""
        script = _filled(
            _APPEND,
            {
                "FOLDER": quote(self._folder),
                "BASE": base,
                "STAMP": _STAMP,
                "RECORD": quote(as_line(holder)),
                "OWN": own,
                "NEXT": _file(following),
                "SWEEP": _SWEEP if following % KEPT == 1 else ":",
                "OLD": " ".join(quote(f"./{name}") for name in old),
            },
        )
        reply = self._transport.run(script, timeout_s=TIMEOUT_S)
        if reply.status == _LOST:
            return False
        if reply.status != 0:
            raise self._unusable(reply, "written", "make it writable, or make room there")
        return max(map(_number, filter(_NAME.fullmatch, _names(reply.text)))) == following

    def _looked(self) -> Seen:
        script = _filled(_LOOK, {"FOLDER": quote(self._folder), "STAMP": _STAMP})
        reply = self._transport.run(script, timeout_s=TIMEOUT_S)
        if reply.status == _UNREADABLE:
            raise self._unusable(reply, "read", "let everybody who uses the lab read and write it")
        names, _, rest = reply.text.partition("now\n")
        stamp, found = rest.split("\n")[:4], rest.split("\n")[4:]
        now = _moment(stamp)
        if reply.status != 0 and now is None:
            raise self._unusable(reply, "read", "look at that host")
        if now is None:
            raise self._unusable(reply, "read: no time is told", "look at its `cat /proc/uptime`")
        return _seen(_names(names), now, found, self.place)

    def _unusable(self, reply: Reply, verb: str, remedy: str) -> LeaseUnusable:
        lines = (reply.errors or reply.text).strip().splitlines() or [f"status {reply.status}"]
        said = shown(lines[-1])
        kind = LeaseUnwritable if verb == "written" else LeaseUnusable
        return kind(
            self.device,
            f"lease in {self._folder}",
            f"the lease cannot be {verb}: {said}",
            f"{remedy}; or another place in the testbed file (`lease:`), or `lease: ~` for none",
        )


def _filled(script: str, words: dict[str, str]) -> str:
    """Each placeholder replaced once over, and nothing inside what was put in."""
    return re.sub("|".join(words), lambda match: words[match[0]], script)


def _file(generation: int) -> str:
    return f"g.{generation:012}"


def _number(name: str) -> int:
    return int(name.partition(".")[2])


def _names(text: str) -> tuple[str, ...]:
    names = (line.removeprefix("name ") for line in text.splitlines() if line.startswith("name "))
    return tuple(name for name in names if name != "g.*")


def _moment(lines: list[str]) -> Moment | None:
    clock = _CLOCK.fullmatch(lines[0].strip()) if len(lines) == 4 and lines[3] == "end" else None
    if clock is None:
        return None
    return Moment(
        clock_s=float(clock[1]), wall=clock[2] is not None, boot=lines[1].strip(), date=lines[2]
    )


def _seen(names: tuple[str, ...], now: Moment, found: list[str], place: str) -> Seen:
    known = sorted(filter(_NAME.fullmatch, names))
    generation = _number(known[-1]) if known else 0
    strange = [name for name in names if name not in known]
    if strange:
        garbage = f"{place} has a file {shown(strange[0])!r}, which is no generation of a lease"
        return Seen(generation=generation, names=names, now=now, garbage=garbage)
    record = found[1:]
    if not known or found[0] != "found" or record[-2:] == ["gone", ""]:  # removed since
        return Seen(generation=generation, names=names, now=now)
    try:
        holder, written = _record(record)
    except Garbage as error:
        garbage = f"{place}/{known[-1]} is no record of a lease: {error}: {shown(record[0])!r}"
        return Seen(generation=generation, names=names, now=now, garbage=garbage)
    age_s = now.since(written)
    return Seen(generation=generation, names=names, now=now, holder=holder, age_s=age_s)


def _record(lines: list[str]) -> tuple[Holder, Moment]:
    written = _moment(lines[1:5])
    if written is None or lines[5:] != [""]:
        raise Garbage("it does not have the five lines of one")
    return holder_of(lines[0]), written
