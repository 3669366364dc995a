"""How the physics reaches a row of a table: `port_at(t, p).busy_until`.

Interpreted, `t` is the Tables themselves. Compiled, `t` is the address of a block that holds the
address of every table, and a row is a pointer: one number to pass from function to function
instead of a dozen arrays of seven, which made calls dearer than the work (measured: 15 times
slower, and slow to compile).
"""

from collections.abc import Callable
from typing import Any, cast

from labtests.network import tables
from labtests.network.compiled import INTERPRETED
from labtests.network.compiler import numba
from labtests.network.tables import State, Tables


def state_of(t: Tables) -> State:
    """What the functions of the event loop take as `t`. Valid while these tables are kept."""
    if INTERPRETED:
        return t
    block = t.addresses
    for number, name in enumerate(tables.TABLE_TYPES):
        block[number] = getattr(t, name).ctypes.data
    return int(block.ctypes.data)


def _interpreted_row(name: str) -> Callable[[State, int], Any]:
    def row_at(t: State, row: int) -> Any:
        return getattr(t, name)[row]

    return row_at


def _compiled_row(name: str) -> Callable[[State, int], Any]:
    from labtests.network.columns import Row  # the compiler, where it is needed

    types = numba().core.types
    number = list(tables.TABLE_TYPES).index(name)
    record = Row(name)

    def row_at(_typing: Any, _t: Any, _row: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            row = context.get_value_type(record)
            block = builder.inttoptr(arguments[0], row.as_pointer())
            place = builder.gep(block, [context.get_constant(types.int64, number)], inbounds=True)
            table = builder.load(place)
            # no table moves while compiled code runs: its address need not be loaded twice
            table.set_metadata("invariant.load", builder.module.add_metadata([]))
            return builder.gep(table, [arguments[1]], inbounds=True)

        return record(types.int64, types.int64), generate

    made: Any = numba().extending.intrinsic(row_at)
    return cast(Callable[[State, int], Any], made)


def _row(name: str) -> Callable[[State, int], Any]:
    return _interpreted_row(name) if INTERPRETED else _compiled_row(name)


clock_at = _row("clock")
slot_at = _row("slot")
bucket_at = _row("bucket")
word_at = _row("word")
level_at = _row("level")
port_at = _row("port")
queue_at = _row("queue")
lane_at = _row("lane")
control_at = _row("control")
switch_at = _row("switch")
host_at = _row("host")
packet_at = _row("packet")
flow_at = _row("flow")
delay_at = _row("delay")
edge_at = _row("edge")
route_at = _row("route")
segment_at = _row("segment")
path_at = _row("path")
guard_at = _row("guard")
script_at = _row("script")
