"""The PFC watchdog: on at a port, and its times, which are the whole switch's.

A queue is shut when pauses held it for `robustness` polling intervals, and served again when none
came in one of them: nothing else can be told, and what was dropped is not counted (user guide). Of
the display only the table is printed in a manual, so it is what is read.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities import settings as s
from labtests.capabilities.device import WatchdogTelemetry
from labtests.capabilities.readings import Reading
from labtests.capabilities.records import PortWatchdog, WatchdogTimes
from labtests.drivers.cumulus import profiles as p
from labtests.drivers.cumulus.session import expected
from labtests.drivers.displays import read_ruled
from labtests.drivers.parsing import refuse
from labtests.drivers.parts import PlatformPart
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

_POLL, _POLLS = ("polling-interval",), ("robustness",)
_TIMES = {_POLL: (range(100, 5001), "100"), _POLLS: (range(1, 1001), "3")}
"""What the switch takes (`nv list-commands`), and what it has by itself."""
_TIMEDELTA = re.compile(r"0:00:0([0-9])(?:\.([0-9]{3})000)?")
_WORDS = {"enable": "on", "enabled": "on", "disable": "off", "disabled": "off", "": "unset"}
_OWN_TIMES = "it drops, serves a queue again when no pause came in one polling interval"


class CumulusWatchdogTimes(p.NvueSetting[WatchdogTimes]):
    """The polling interval, and how many of them are `robustness`."""

    kind = s.WATCHDOG_TIMES
    feature = p.WATCHDOG
    wide = True

    def value(self, applied: p.Applied, port: str) -> WatchdogTimes:
        """As applied."""
        told = self._told(applied)
        return WatchdogTimes(
            on=True,
            interval_ms=told[_POLL],
            shutdown_multiplier=told[_POLLS],
            auto_restore_multiplier=None,
            fixed_restore_multiplier=None,
        )

    def _told(self, applied: p.Applied) -> dict[tuple[str, ...], int]:
        leaves, where = dict(applied.profiles.get("", {})), f"qos {p.WATCHDOG}"
        if not leaves:
            problem = "this release shows no PFC watchdog"
            raise self.reject(where, problem, "Cumulus Linux has one from 5.6 on")
        if match := _TIMEDELTA.fullmatch(leaves.get(_POLL, "")):
            leaves[_POLL] = str(1000 * int(match[1]) + int(match[2] or 0))
        with self.clear(where):
            p.expect_shapes(p.WATCHDOG, leaves)
            return {path: p.number(leaves, path, int(usual), taken[-1])
                    for path, (taken, usual) in _TIMES.items()}  # fmt: skip

    def _made(self, applied: p.Applied, port: str, wanted: WatchdogTimes) -> p.Applied:
        told = {_POLL: wanted.interval_ms, _POLLS: wanted.shutdown_multiplier}
        for path, (taken, _) in _TIMES.items():
            if told[path] not in taken:
                problem = f"{told[path]} is not in {taken[0]}..{taken[-1]}"
                raise self.reject(f"qos {p.WATCHDOG} {path[0]}", problem, "choose another time")
        own = wanted.suiting(self.value(applied, port))
        if not wanted.on or own != wanted or wanted.action != "drop":
            remedy = "switch it off at the ports" if not wanted.on else "leave that to the switch"
            problem = f"{_OWN_TIMES}, and has no switch of its own"
            raise self.reject(f"qos {p.WATCHDOG}", problem, remedy)
        leaves: p.Leaves = {path: str(number) for path, number in told.items()}
        return replace(applied, profiles={"": leaves})

    def _lines(self, port: str, before: p.Applied, after: p.Applied) -> Iterator[Shell]:
        """What the switch has by itself is unset."""
        was, wanted = self._told(before), self._told(after)
        for path, (_, usual) in _TIMES.items():
            at = ("qos", p.WATCHDOG, *path)
            if was[path] != wanted[path]:
                plain = str(wanted[path]) == usual
                yield p.nv("unset", *at) if plain else p.nv("set", *at, wanted[path])


class CumulusWatchdog(p.NvueSetting[PortWatchdog]):
    """Whether the port's lossless priorities are watched, all of them."""

    kind = s.PFC_WATCHDOG
    feature = p.WATCHDOG

    def value(self, applied: p.Applied, port: str) -> PortWatchdog:
        """As applied."""
        if applied.profile not in _WORDS:
            problem = f"its state is {applied.profile}"
            raise self.reject(self.where(port), problem, "`nv set` it to enable or disable")
        return _WORDS[applied.profile]

    def _made(self, applied: p.Applied, port: str, wanted: PortWatchdog) -> p.Applied:
        word = next((word for word, each in _WORDS.items() if each == wanted), None)
        if word is None:
            problem = "all lossless priorities are watched, or none"
            raise self.reject(self.where(port), problem, "use on or off")
        return applied.applying(word)

    def _lines(self, port: str, before: p.Applied, after: p.Applied) -> Iterator[Shell]:
        at = ("interface", port, "qos", p.WATCHDOG)
        if self.value(before, port) != self.value(after, port):
            word = after.profile
            yield p.nv("set", *at, "state", word) if word else p.nv("unset", *at)


# -- what it did -----------------------------------------------------------------------------------

_STATUS = "PFC WD Status"
_QUEUE = {"traffic-class": "[0-7]", "status": "OK|DEADLOCK", "deadlock-count": "[0-9]{1,20}"}


def parse_watchdog(reply: Reply) -> dict[int, tuple[int, bool]]:
    """By queue: deadlocks so far, and whether it is in one."""
    shown = read_ruled(reply)
    shown.only("", _STATUS)
    shown.values({"state": "enabled?|disabled?"})
    rows = list(shown.rows(_STATUS, _QUEUE)) if shown.blocks.get(_STATUS) else []
    told = ((int(row["deadlock-count"]), row["status"] == "DEADLOCK") for row in rows)
    found = {int(row["traffic-class"]): each for row, each in zip(rows, told, strict=True)}
    if len(found) < len(rows):
        refuse(reply, "it has a traffic class twice")
    return found


class CumulusWatchdogCounters(PlatformPart, WatchdogTelemetry):
    """Each deadlock but the one that lasts has ended."""

    def watchdog_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """See WatchdogTelemetry."""
        at = ("interface", port, "qos", p.WATCHDOG)
        reply = expected((yield from ask(program("nv", "show", *at))))
        found = parse_watchdog(reply)
        return tuple(each for n in range(8) for each in _of_queue(reply, port, n, found.get(n)))


def _of_queue(
    reply: Reply, port: str, queue: int, told: tuple[int, bool] | None
) -> Iterator[Reading]:
    at, words = Answered(reply, port, "priority", queue), f"{reply.command}: {queue} deadlock-count"
    begun, lasts = told or (None, False)
    why = "it shows no such traffic class"
    yield at.reading((c.WATCHDOG_SHUTDOWNS, "events"), begun, words, why)
    ended = None if begun is None else begun - lasts
    cleared = "the count was cleared while it was shut" if told else why
    yield at.reading((c.WATCHDOG_RESTORED, "events"), ended if ended != -1 else None,
                     f"{words}, less one while DEADLOCK", cleared)  # fmt: skip
    for name in (c.WATCHDOG_DROPPED_OUT_PACKETS, c.WATCHDOG_DROPPED_IN_PACKETS):
        yield at.reading((name, "packets"), None, reply.command, "this switch does not count it")
