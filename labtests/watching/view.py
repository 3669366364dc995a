"""The board in a terminal: a line for each port and priority that has something to tell."""

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from labtests.capabilities import counters as c
from labtests.core.output import clean
from labtests.watching.board import Board, BoardRow, Now

COLUMNS = (
    *("port", "priority", "Gbit/s", "queue kB", "peak kB", "headroom kB"),
    *("pause in", "pause out", "marks", "drops"),
)
_QUIET = Text("nothing has come yet", style="dim")


def view(board: Board, *, every: bool = False) -> Group:
    """What is drawn. Places at which all is 0 are left out, unless `every` is asked for."""
    table = Table(title=f"{board.time_s:.1f} s on the lab's clock, {board.samples} samples")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "port" else "right")
    for place, now in sorted(board.places.items()):
        if every or any(now.values.values()):
            table.add_row(*_row(place, now))
    told = [Text(clean(line), style="yellow") for line in board.told]
    return Group(table if board.places else _QUIET, *told)


def _row(place: BoardRow, now: Now) -> Iterator[Text]:
    yield Text(clean(f"{place.device}:{place.port}"))
    yield Text("" if place.index < 0 else str(place.index))
    rate = now.bits_per_s
    yield Text("" if rate is None else f"{rate / 1e9:.2f}")
    yield _kilobytes(now.first(c.QUEUE_LENGTH_BYTES, c.INGRESS_BYTES))
    yield _kilobytes(now.first(c.QUEUE_PEAK_BYTES, c.QUEUE_MOST_BYTES, c.INGRESS_PEAK_BYTES))
    yield _kilobytes(now.first(c.HEADROOM_PEAK_BYTES, c.HEADROOM_MOST_BYTES, c.HEADROOM_BYTES))
    yield _count(now.first(c.PFC_RX_FRAMES), "cyan")
    yield _count(now.first(c.PFC_TX_FRAMES), "cyan")
    yield _count(now.first(c.QUEUE_MARKED_PACKETS, c.ECN_MARKED_PACKETS), "magenta")
    drops = (c.QUEUE_DROPPED_PACKETS, c.BUFFER_DROPPED_IN_PACKETS, c.BUFFER_DROPPED_OUT_PACKETS)
    yield _count(now.first(*drops), "bold red")


def _kilobytes(size: int | None) -> Text:
    return Text("" if size is None else f"{size / 1000:.1f}")


def _count(number: int | None, style: str) -> Text:
    return Text("" if number is None else str(number), style=style if number else "dim")
