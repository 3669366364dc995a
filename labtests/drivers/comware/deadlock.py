"""PFC deadlock detection: a priority that pauses hold without end is released.

Commands: H3C, "Configuring PFC" (S6850, S9850; white paper, 3.2.3), and published configurations of
data-centre switches, which also show the lines for the switch as they are stored. How long a tick
is, no document at hand says: those of `_TICK_MS` are what the timers of Broadcom's switch chips
have (OpenBCM, bcmCosqPFCDeadlockTimerInterval...). From memory: each `undo`, that `include` takes
alternatives, and that `recover` is taken where nothing is to be recovered.

No command was found that shows what the detection did: only packets tell.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from labtests.capabilities import settings as s
from labtests.capabilities.device import DeadlockDetecting
from labtests.capabilities.records import DeadlockTimes, PortDeadlockDetection
from labtests.capabilities.settings import Commands
from labtests.drivers.comware.session import ComwareSetting, Numbered, PortSetting, included, line
from labtests.drivers.comware.values import COMWARE
from labtests.drivers.displays import Section
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply

_TICK_MS = {"high": 1, "normal": 10, "low": 100}
_MOST_TICKS = 15  # of those timers
_WORDS = ("priority-flow-control", "deadlock")
_DETECT = Numbered("priority-flow-control deadlock cos", "interval", undone_by="")
_RELEASE = Numbered("priority-flow-control deadlock auto-recover cos", "delay", undone_by="")
_PRECISION = COMWARE.shape("priority-flow-control deadlock precision <word:high|normal|low>")
_ACTION = COMWARE.shape(
    "priority-flow-control deadlock auto-recover action <word:forwarding|discard>"
)
_RECOVERY = COMWARE.shape("priority-flow-control deadlock recover-mode <word:auto|manual>")
_ENABLED = COMWARE.shape("priority-flow-control deadlock enable")
_FINENESS = {"precision": ("priority-flow-control deadlock precision {}", _TICK_MS)}
_DOING = {
    "action": ("priority-flow-control deadlock auto-recover action {}", ("forwarding", "discard"))
}
_ABOUT = r"(?:undo )?priority-flow-control deadlock"
_OF_A_PORT = (_RECOVERY, _ENABLED)
_ALL = (_PRECISION, _ACTION, _DETECT.shape, _RELEASE.shape, *_OF_A_PORT)
"""A display by lines has those of ports, too."""


class ComwareDeadlockTimes(ComwareSetting[DeadlockTimes], DeadlockDetecting):
    """What is configured for the whole switch."""

    kind = s.DEADLOCK_TIMES
    wide = True

    def read(self, port: str) -> Asking[DeadlockTimes]:
        """As configured; what is not there is the default."""
        reply, texts = yield from included("deadlock")
        said = Section(head="the switch", lines=tuple(text.strip() for text in texts))
        said.expect_known(reply, _ABOUT, *_ALL)
        return DeadlockTimes(
            precision=_word(said, reply, _PRECISION) or "normal",
            action=_word(said, reply, _ACTION) or "forwarding",
            detect=_DETECT.read(reply, said),
            release=_RELEASE.read(reply, said),
        )

    def commands(
        self, port: str, earlier: DeadlockTimes, wanted: DeadlockTimes, around: Any = None
    ) -> Commands:
        """One line for each that differs."""
        return tuple(self._lines(earlier, wanted))

    def _lines(self, earlier: DeadlockTimes, wanted: DeadlockTimes) -> Iterator[CliLine]:
        yield from self.each_that_differs(earlier, wanted, _FINENESS)
        for numbers, before, after in (
            (_DETECT, earlier.detect, wanted.detect),
            (_RELEASE, earlier.release, wanted.release),
        ):
            yield from numbers.undone(before, after)
            yield from numbers.made(before, after)
        yield from self.each_that_differs(earlier, wanted, _DOING)

    def deadlock_times_for(
        self, priorities: AbstractSet[int], *, detect_ms: int, release_ms: int
    ) -> DeadlockTimes:
        """By the finest ticks that both times have room in."""
        longest_ms = max(detect_ms, release_ms)
        fine = [word for word, ms in _TICK_MS.items() if longest_ms <= ms * _MOST_TICKS]
        if not fine or min(detect_ms, release_ms) < 1:
            raise self.reject(
                " ".join(_WORDS),
                f"no timer takes {detect_ms} ms and {release_ms} ms",
                f"ask for 1 to {_TICK_MS['low'] * _MOST_TICKS} ms",
            )
        precision: Any = fine[0]
        detect, release = (
            tuple((p, max(1, round(ms / _TICK_MS[precision]))) for p in sorted(priorities))
            for ms in (detect_ms, release_ms)
        )
        return DeadlockTimes(precision=precision, detect=detect, release=release)


def _word(said: Section, reply: Reply, shape: Any) -> Any:
    return (said.said(reply, shape) or {}).get("word")


class ComwareDeadlockDetection(PortSetting[PortDeadlockDetection]):
    """What is configured on a port."""

    kind = s.DEADLOCK_DETECTION

    def read(self, port: str) -> Asking[PortDeadlockDetection]:
        """From the port's configuration."""
        reply, section = yield from self.configured(port)
        section.expect_known(reply, _ABOUT, *_OF_A_PORT)
        recovery: Literal["auto", "manual"] = _word(section, reply, _RECOVERY) or "auto"
        on = section.said(reply, _ENABLED) is not None
        return PortDeadlockDetection(on=on, recovery=recovery)

    def lines(
        self, port: str, earlier: PortDeadlockDetection, wanted: PortDeadlockDetection
    ) -> Iterator[CliLine]:
        """Who leaves the manual mode recovers what it may have released: nothing else would."""
        if earlier.recovery == "manual" and wanted != earlier:
            yield line(*_WORDS, "recover")
        if earlier.recovery != wanted.recovery:
            yield line(*_WORDS, "recover-mode", wanted.recovery)
        if earlier.on != wanted.on:
            yield self.cli.switched(wanted.on, *_WORDS, "enable")
