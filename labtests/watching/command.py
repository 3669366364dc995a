"""`labtests watch`, without the command line around it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live

from labtests.core.console import table_console
from labtests.core.errors import LabError
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.lab.streaming import is_told, open_streams
from labtests.recovery.opening import OpenRequest, opened
from labtests.watching.export import Exporting, WantedExports
from labtests.watching.view import view

Say = Callable[[str], None]
DRAWN_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """What the command line asks for. `seconds`: of the lab's clock; None: until Ctrl-C."""

    testbed: Testbed
    dry_run: bool = False
    faults: Sequence[str] = ()
    seconds: float | None = None
    every: bool = False
    wanted: WantedExports = field(default_factory=WantedExports)


def watch(asked: WatchRequest, say: Say) -> int:
    """Draw until the end; the exit code. What switches have to be told is put back at the end.
    Raises LabError: also where the testbed names no stream."""
    if all(device.telemetry is None for device in asked.testbed.devices):
        raise LabError(
            f"{asked.testbed.name}: no device of it streams\n"
            "  remedy: `telemetry:` of a switch (docs/telemetry.md)"
        )
    request = OpenRequest(
        testbed=asked.testbed,
        word="watch",
        changes=any(map(is_told, asked.testbed.devices)),
        dry_run=asked.dry_run,
        faults=asked.faults,
    )
    console = table_console()
    with opened(request, say) as there, _exporting(there.lab, asked, say) as exporting:
        _draw(there.lab, exporting, asked, console)
    board = exporting.board
    console.print(view(board, every=asked.every))  # with what was on its way
    for sentence in exporting.missing:
        say(sentence)
    say(f"{board.samples} samples, {board.alarms} alarms, {board.troubles} troubles")
    return 0


@contextmanager
def _exporting(lab: Lab, asked: WatchRequest, say: Say) -> Iterator[Exporting]:
    try:
        open_streams(lab, say, epoch_s=float(getattr(lab.clock, "epoch_s", 0.0)))
        streams = lab.streams
        assert streams is not None
        streams.begin(())  # nothing is kept for a phase
        exporting = Exporting(streams, asked.testbed.name, asked.wanted)
        try:
            yield exporting
            streams.mark(lab.clock.now_s())  # what is on its way has come
        finally:
            exporting.close()
    finally:
        if lab.streams is not None:
            lab.streams.close()
            lab.streams = None


def _draw(lab: Lab, exporting: Exporting, asked: WatchRequest, console: Console) -> None:
    """Ctrl-C is the end of a watch, and no failure."""
    until_s = None if asked.seconds is None else lab.clock.now_s() + asked.seconds
    with Live(console=console, auto_refresh=False, transient=True) as live:
        try:
            while until_s is None or lab.clock.now_s() < until_s:
                lab.clock.sleep(DRAWN_EVERY_S)
                live.update(view(exporting.board, every=asked.every), refresh=True)
        except KeyboardInterrupt:
            return
